//! CPU stages on the built-in walker: one group a stage, every variant on every instruction set.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use skinbench::asset::walker::walker;
use skinbench::crowd::{BLOCK, Crowd, Layer};
use skinbench::model::{IDENTITY_ROWS, Rows};
use skinbench::pose::{Affine, CrowdPose, PaletteOut};
use skinbench::simd::{Aligned, Isa};
#[cfg(target_arch = "x86_64")]
use skinbench::skin::{Clusters, skin_clusters};
use skinbench::skin::{
    DualQuaternion, Store, dual_quaternions, skin, skin_columns, skin_dual_quaternions, skin_interleaved, skin_lanes,
};
use skinbench::vertex::{Encoding, Normals, VertexFormat};
use std::hint::black_box;
use std::sync::Arc;

const WALKERS: u32 = 64;
const VERTICES: u32 = 5_000;

fn crowd() -> Crowd {
    let model = Arc::new(walker(VERTICES).expect("5,000 vertices are within the walker's range"));
    let layer = |i: u32| Layer::looping(&model, i % model.clips().len() as u32, i.wrapping_mul(0x9e37_79b9), 1.0);
    let mut crowd = Crowd::new();
    crowd.push_group(Arc::clone(&model), (0..WALKERS).map(|i| (IDENTITY_ROWS, layer(i)))).expect("a walker has clips");
    crowd
}

fn pose_stages<const N: usize>(c: &mut Criterion, form: &str) {
    let crowd = crowd();
    let mut pose = CrowdPose::<N>::new(&crowd, Isa::strongest(), false);
    let mut tick = 0;
    let mut stage = |name: &str, items: u64, run: &mut dyn FnMut(&mut CrowdPose<N>, u32)| {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(items));
        group.bench_function(form, |b| {
            b.iter(|| {
                tick += 1;
                run(&mut pose, tick);
            });
        });
    };
    let mut lanes: Vec<Affine<N>> = vec![[[0.0; N]; 12]; CrowdPose::<N>::block_entries(&crowd) as usize];
    let mut rows: Vec<Rows> = vec![[0.0; 12]; crowd.palette_entries() as usize];
    stage("sample", crowd.joint_count(), &mut |pose, tick| pose.sample(&crowd, tick));
    stage("local_to_model", crowd.joint_count(), &mut |pose, _| pose.local_to_model(&crowd));
    stage("palette_lanes", crowd.palette_entries(), &mut |pose, _| {
        pose.palette(&crowd, PaletteOut::Lanes(black_box(&mut lanes)))
    });
    stage("palette_rows", crowd.palette_entries(), &mut |pose, _| {
        pose.palette(&crowd, PaletteOut::Rows(black_box(&mut rows)))
    });
}

/// Palettes of the crowd at one tick, in both layouts.
fn palettes(crowd: &Crowd) -> (Aligned<Rows>, Aligned<Affine<BLOCK>>) {
    let mut pose = CrowdPose::<BLOCK>::new(crowd, Isa::strongest(), false);
    let mut rows = Aligned::zeroed(crowd.palette_entries() as usize);
    let mut lanes = Aligned::zeroed(CrowdPose::<BLOCK>::block_entries(crowd) as usize);
    pose.sample(crowd, 7);
    pose.local_to_model(crowd);
    pose.palette(crowd, PaletteOut::Rows(&mut rows));
    pose.palette(crowd, PaletteOut::Lanes(&mut lanes));
    (rows, lanes)
}

fn skin_stage(c: &mut Criterion) {
    let crowd = crowd();
    let group = &crowd.groups()[0];
    let (mesh, entries) = (group.model.mesh(), group.model.palette_joints().len());
    let (rows, lanes) = palettes(&crowd);
    let mut out: Aligned<f32> = Aligned::zeroed(crowd.output_words() as usize);
    let raw = VertexFormat { normals: Normals::Raw, ..VertexFormat::default() };
    let packed = VertexFormat { encoding: Encoding::Packed, ..raw };
    let store = Store::Streamed;
    let mut stage = c.benchmark_group("skin");
    stage.throughput(Throughput::Elements(crowd.vertex_count()));
    let mut one_by_one = |name: String, format: VertexFormat, skin: &dyn Fn(&[Rows], &mut [f32])| {
        let words = mesh.vertex_count() * format.words();
        stage.bench_function(name, |b| {
            b.iter(|| {
                rows.chunks_exact(entries).zip(out.chunks_exact_mut(words)).for_each(|(rows, out)| skin(rows, out));
            });
        });
    };
    one_by_one("scalar".into(), raw, &|rows, out| skin(mesh, rows, raw, out));
    for isa in Isa::available() {
        one_by_one(format!("columns {isa}"), raw, &|rows, out| skin_columns(isa, mesh, rows, raw, out));
    }
    #[cfg(target_arch = "x86_64")]
    if Isa::Avx512.is_available() {
        let clusters = Clusters::new(mesh);
        one_by_one("cluster avx512".into(), raw, &|rows, out| skin_clusters(mesh, &clusters, rows, raw, out));
    }
    let mut dual: Aligned<DualQuaternion<BLOCK>> = Aligned::zeroed(lanes.len());
    dual_quaternions(&lanes, &mut dual);
    let blocks = |of: usize| of * entries..(of + 1) * entries;
    let mut by_block = |name: String, format: VertexFormat, skin: &dyn Fn(usize, &mut [f32])| {
        let words = BLOCK * mesh.vertex_count() * format.words();
        stage.bench_function(name, |b| {
            b.iter(|| {
                out.chunks_exact_mut(words).take(lanes.len() / entries).enumerate().for_each(|(i, out)| skin(i, out))
            });
        });
    };
    for isa in Isa::available() {
        for (name, format) in [("lanes", raw), ("lanes unit", VertexFormat::default()), ("lanes packed", packed)] {
            by_block(format!("{name} {isa}"), format, &|i, out| {
                skin_lanes(isa, mesh, &lanes[blocks(i)], format, store, out);
            });
        }
        by_block(format!("lanes-interleaved {isa}"), raw, &|i, out| {
            skin_interleaved(isa, mesh, &lanes[blocks(i)], raw, store, out);
        });
        by_block(format!("dual-quaternion {isa}"), raw, &|i, out| {
            skin_dual_quaternions(isa, mesh, &dual[blocks(i)], raw, store, out);
        });
    }
}

fn stages(c: &mut Criterion) {
    pose_stages::<1>(c, "scalar");
    pose_stages::<BLOCK>(c, "lanes");
    skin_stage(c);
}

criterion_group!(benches, stages);
criterion_main!(benches);
