//! Every registered backend agrees with the f64 reference.

use crate::common::{backends, context, crowd, crowd_of, prepare, tube};
use skinbench::backend::Job;
use skinbench::crowd::Crowd;
use skinbench::harness::parity::{Coverage, Tolerance, verify};
use skinbench::model::Model;
use skinbench::vertex::{Attributes, Encoding, Normals, VertexFormat};

fn assert_parity(crowd: &Crowd, ticks: &[u32]) {
    let context = context();
    let coverage = Coverage::all(crowd, ticks);
    for (entry, mut backend) in backends(&context) {
        if backend.footprint(crowd, &Job { passes: 0 }).is_err() {
            println!("{}: does not write this format", entry.name);
            continue;
        }
        let mut arena = prepare(&mut *backend, &context, crowd);
        let tolerance = Tolerance::of(crowd.format());
        let parity = verify(&mut *backend, &context, crowd, &mut arena, &coverage, tolerance).unwrap();
        println!("{}: {:.2e}, normals {:.2e}", entry.name, parity.max_rel, parity.max_normal);
        assert_eq!(parity.failure, None, "{}", entry.name);
        assert_eq!(parity.vertices, ticks.len() as u64 * crowd.vertex_count());
    }
}

fn groups() -> Vec<(Model, usize)> {
    vec![(tube(5, 12, 4), 37), (tube(20, 33, 16), 16), (tube(1, 1, 1), 1), (tube(67, 100, 8), 83)]
}

#[test]
fn every_backend_agrees_on_every_instance() {
    assert_parity(&crowd(groups()), &[0, 1, 59, 216_000]);
}

#[test]
fn every_backend_agrees_in_every_format() {
    for attributes in [Attributes::P, Attributes::Pn, Attributes::Pnt] {
        for normals in [Normals::Unit, Normals::Raw, Normals::Exact] {
            for encoding in [Encoding::F32, Encoding::Packed] {
                assert_parity(&crowd_of(VertexFormat { attributes, normals, encoding }, groups()), &[33]);
            }
        }
    }
}
