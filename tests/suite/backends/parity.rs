//! Every registered backend agrees with the f64 reference.

use crate::backends::common::{
    self, context, crowd, crowd_of, prepare, refuses, tube, verify_prepared,
};
#[cfg(feature = "gpu")]
use crate::backends::common::{
    backends, context_with, context_with_adapter, prepare_for, verified,
};
use skinbench::backend::Context;
use skinbench::characters::walker;
use skinbench::compaction;
use skinbench::crowd::Crowd;
use skinbench::frame::Job;
#[cfg(feature = "gpu")]
use skinbench::frame::Retention;
use skinbench::harness::parity::Coverage;
use skinbench::model::{Channel, Clip, Interpolation, Keys, Model, RotationBlend};
use skinbench::registry;
use skinbench::simd::Isa;
use skinbench::threads::Threads;
use skinbench::vertex::{Attributes, Encoding, Normals, VertexFormat};

fn assert_parity(context: &Context, crowd: &Crowd, ticks: &[u32]) {
    let agreed = common::assert_parity(context, crowd, ticks, |entry, backend| {
        refuses(entry, backend, crowd, &Job::default())
    });
    for parity in agreed {
        assert_eq!(parity.vertices, ticks.len() as u64 * crowd.vertex_count());
    }
}

fn groups() -> Vec<(Model, usize)> {
    vec![
        (tube(5, 12, 4), 37),
        (tube(20, 33, 16), 16),
        (tube(1, 1, 1), 1),
        (tube(67, 100, 8), 83),
    ]
}

#[test]
fn every_backend_agrees_on_every_instance() {
    assert_parity(&context(), &crowd(groups()), &[0, 1, 59, 216_000]);
}

/// One instance, a few of a block, a whole one, one more; meshes of 1 vertex and skeletons of 1 joint among them. A crowd
/// with one instance per model is posed in another way.
#[test]
fn every_cpu_backend_agrees_on_every_instruction_set() {
    let tubes = vec![
        (tube(1, 1, 1), 1),
        (tube(2, 1, 1), 5),
        (tube(3, 2, 2), 16),
        (tube(9, 21, 16), 17),
        (tube(4, 3, 4), 3),
    ];
    let lone = vec![(tube(9, 21, 16), 1), (tube(4, 3, 4), 1)];
    let host = Context {
        threads: Threads::new(2).unwrap(),
        ..Context::default()
    };
    for crowd in [crowd(tubes), crowd(lone)] {
        for isa in Isa::available() {
            assert_parity(
                &Context {
                    isa,
                    ..host.clone()
                },
                &crowd,
                &[0, 41],
            );
        }
    }
}

/// Compact clips are no way round it.
#[test]
fn uneven_scale_is_refused_in_compact_clips_too() {
    let mut model = walker(500).unwrap();
    let times: Vec<f32> = (0..64).map(|i| i as f32 / 30.0).collect();
    let values = times
        .iter()
        .flat_map(|t| [1.0, 1.0 + 0.2 * t.sin(), 1.0])
        .collect();
    let (channel, interpolation) = (Channel::Scale, Interpolation::Linear);
    let keys = Keys {
        joint: 7,
        channel,
        interpolation,
        times,
        values,
    };
    model
        .add_clip(Clip::new("swell", None, RotationBlend::Slerp, vec![keys]).unwrap())
        .unwrap();
    let compact = compaction::compacted(model.clone(), compaction::ERROR).unwrap();
    assert!(compact.clips().last().unwrap().keys().compact().is_some());
    let name = model.skeleton().names()[7].clone();
    for model in [model, compact] {
        let entry = registry::find("cpu-simd:dual-quaternion").unwrap();
        let backend = entry.create(&Context::default()).unwrap();
        let refusal = backend
            .footprint(&crowd(vec![(model, 9)]), &Job::default())
            .unwrap_err()
            .to_string();
        assert_eq!(
            refusal,
            format!(
                "does not support uneven scale: joint {name:?} of \"walker\" in clip \"swell\""
            )
        );
    }
}

/// Dual quaternions take no uneven scale, and are held to a reference of their own.
#[test]
fn dual_quaternions_agree_where_nothing_scales() {
    let model = walker(500).unwrap();
    for encoding in [Encoding::F32, Encoding::Packed] {
        let format = VertexFormat {
            encoding,
            ..VertexFormat::default()
        };
        let clips = model.clone();
        let crowd = crowd_of(format, vec![(clips, 19)]);
        let coverage = Coverage::all(&crowd, &[0, 33]);
        let linear = skinbench::reference::reference_vertices(&crowd, 3, 33);
        for isa in Isa::available() {
            let context = Context {
                isa,
                ..Context::default()
            };
            let entry = registry::find("cpu-simd:dual-quaternion").unwrap();
            let backend = entry.create(&context).unwrap();
            let (mut backend, mut output) = prepare(&*backend, &context, &crowd);
            let parity = verify_prepared(&mut *backend, &context, &crowd, &mut output, &coverage);
            assert_eq!(parity.failure, None, "{isa}");
            if encoding == Encoding::F32 {
                let vertices = output.host_vertices(&crowd, 3..4);
                let apart = vertices
                    .iter()
                    .zip(&linear)
                    .map(|(a, b)| (f64::from(*a) - b).abs())
                    .fold(0.0, f64::max);
                assert!(apart > 1e-3, "as linear blending: {apart}");
            }
        }
    }
}

/// An adapter with bindings of 64 KiB: a chunk holds three of the largest instances.
#[cfg(feature = "gpu")]
#[test]
fn every_backend_agrees_over_many_bindings_and_in_a_ring() {
    let Some(context) = context_with(|gpu| gpu.adapter.binding_limit = 64 << 10) else {
        return;
    };
    let gpu = context.gpu.as_ref().unwrap();
    let crowd = crowd(groups());
    let chunks = gpu.chunks(&crowd).unwrap().len();
    assert!(chunks > 30, "{chunks} chunks");
    let coverage = Coverage::all(&crowd, &[0, 59]);
    for keep in [Retention::Frame, Retention::Ring] {
        for (entry, backend) in backends(&context) {
            let job = Job {
                keep,
                ..Job::default()
            };
            if ["gpu-baked:matrices", "gpu-vat"].contains(&entry.name) {
                // Baked clips lie in one binding.
                let refusal = backend.footprint(&crowd, &job).unwrap_err().to_string();
                assert!(
                    refusal.ends_with("in one binding; the device allows 65536"),
                    "{refusal}"
                );
                continue;
            }
            if refuses(entry, &*backend, &crowd, &job) {
                continue;
            }
            let (mut backend, mut output) = prepare_for(&*backend, &context, &crowd, &job);
            assert_eq!(
                output.device.len(),
                if keep == Retention::Ring { 3 } else { chunks }
            );
            let parity = verify_prepared(&mut *backend, &context, &crowd, &mut output, &coverage);
            assert_eq!(parity.failure, None, "{}", entry.name);
        }
    }
}

#[cfg(feature = "gpu")]
#[test]
fn dual_quaternions_agree_on_the_device_too() {
    let Some(context) = context_with_adapter() else {
        return;
    };
    let entry = registry::find("gpu-compute:dual-quaternion").unwrap();
    for (attributes, encoding) in [
        (Attributes::Pn, Encoding::F32),
        (Attributes::Pnt, Encoding::Packed),
    ] {
        let format = VertexFormat {
            attributes,
            encoding,
            ..VertexFormat::default()
        };
        let crowd = crowd_of(format, vec![(walker(500).unwrap(), 19)]);
        let backend = entry.create(&context).unwrap();
        let parity = verified(&*backend, &context, &crowd, &[0, 33]);
        assert_eq!(parity.failure, None);
    }
}

/// The stated error of 16-bit palettes holds, and is not far above the real one.
#[cfg(feature = "gpu")]
#[test]
fn half_precision_keeps_its_stated_error() {
    let Some(context) = context_with_adapter() else {
        return;
    };
    let backend = registry::find("gpu-compute:f16")
        .unwrap()
        .create(&context)
        .unwrap();
    for (normals, encoding) in [
        (Normals::Unit, Encoding::F32),
        (Normals::Exact, Encoding::F32),
        (Normals::Unit, Encoding::Packed),
    ] {
        let format = VertexFormat {
            attributes: Attributes::Pnt,
            normals,
            encoding,
        };
        let crowd = crowd_of(
            format,
            vec![(walker(500).unwrap(), 19), (walker(2_000).unwrap(), 3)],
        );
        let parity = verified(&*backend, &context, &crowd, &[0, 33]);
        assert_eq!(parity.failure, None);
        let stated = parity.approximation.unwrap();
        let [max_rel, max_normal] = [parity.max_rel, parity.max_normal].map(Option::unwrap);
        println!(
            "{max_rel:.1e} of {:.1e}, normals {max_normal:.1e} of {:.1e}",
            stated.position, stated.normal
        );
        assert_eq!(stated.clip_error, None, "poses are exact");
        if encoding == Encoding::F32 {
            assert!(max_rel < stated.position && max_rel > 0.01 * stated.position);
            assert!(max_normal < stated.normal && max_normal > 0.01 * stated.normal);
        }
    }
}

/// A format decides how a vertex is stored, not how many there are: one instance, a few of a block, and a block and one
/// more, on one device, which reads the shaders that formats share once.
#[test]
fn every_backend_agrees_in_every_format() {
    let context = context();
    let groups = || {
        vec![
            (tube(1, 1, 1), 1),
            (tube(5, 12, 4), 5),
            (tube(20, 33, 16), 17),
        ]
    };
    for attributes in [Attributes::P, Attributes::Pn, Attributes::Pnt] {
        // Positions alone are the same whatever becomes of normals.
        let all = [Normals::Unit, Normals::Raw, Normals::Exact];
        for normals in all
            .into_iter()
            .take(if attributes == Attributes::P { 1 } else { 3 })
        {
            for encoding in [Encoding::F32, Encoding::Packed] {
                let crowd = crowd_of(
                    VertexFormat {
                        attributes,
                        normals,
                        encoding,
                    },
                    groups(),
                );
                assert_parity(&context, &crowd, &[33]);
            }
        }
    }
}
