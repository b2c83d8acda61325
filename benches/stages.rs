//! CPU stages on the built-in walker: one group a stage, scalar against 16 instances in lanes.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use skinbench::asset::walker::walker;
use skinbench::crowd::{BLOCK, Crowd, Layer};
use skinbench::model::{IDENTITY_ROWS, Rows};
use skinbench::pose::{Affine, CrowdPose};
use skinbench::scene::{Overrides, Scene};
use skinbench::simd::Isa;
use skinbench::skin::{Store, skin, skin_lanes};
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
    stage("palette_lanes", crowd.palette_entries(), &mut |pose, _| pose.palette_lanes(&crowd, black_box(&mut lanes)));
    stage("palette_rows", crowd.palette_entries(), &mut |pose, _| pose.palette_rows(&crowd, black_box(&mut rows)));
}

/// Sampling and blending of a whole walker's layers: 2 merged, and 4 with a masked arm and a difference.
fn layer_stages(c: &mut Criterion) {
    for name in ["layers-1", "layers-2", "layers-4"] {
        let few = Overrides { instances: Some(WALKERS.into()), ..Overrides::default() };
        let scene = Scene::load(name).and_then(|scene| scene.with(few).build(1 << 30)).expect("a built-in scene");
        let mut pose = CrowdPose::<BLOCK>::new(&scene.crowd, Isa::strongest(), false);
        let mut tick = 0;
        let mut stage = |stage: &str, run: &mut dyn FnMut(&mut CrowdPose<BLOCK>, u32)| {
            let mut group = c.benchmark_group(stage);
            group.throughput(Throughput::Elements(scene.crowd.joint_count()));
            group.bench_function(name, |b| {
                b.iter(|| {
                    tick += 1;
                    run(&mut pose, tick);
                });
            });
        };
        stage("sample", &mut |pose, tick| pose.sample(&scene.crowd, tick));
        stage("blend", &mut |pose, tick| pose.blend(&scene.crowd, tick));
    }
}

fn skin_stage(c: &mut Criterion) {
    let crowd = crowd();
    let group = &crowd.groups()[0];
    let mut scalar = CrowdPose::<1>::new(&crowd, Isa::Scalar, false);
    let mut block = CrowdPose::<BLOCK>::new(&crowd, Isa::strongest(), false);
    let mut rows: Vec<Rows> = vec![[0.0; 12]; crowd.palette_entries() as usize];
    let mut lanes: Vec<Affine<BLOCK>> = vec![[[0.0; BLOCK]; 12]; CrowdPose::<BLOCK>::block_entries(&crowd) as usize];
    let mut out = vec![0.0; crowd.output_words() as usize];
    scalar.sample(&crowd, 7);
    scalar.local_to_model(&crowd);
    scalar.palette_rows(&crowd, &mut rows);
    block.sample(&crowd, 7);
    block.local_to_model(&crowd);
    block.palette_lanes(&crowd, &mut lanes);
    let mut stage = c.benchmark_group("skin");
    stage.throughput(Throughput::Elements(crowd.vertex_count()));
    stage.bench_function("scalar", |b| {
        b.iter(|| {
            scalar.blocks().each(
                &crowd,
                &mut out,
                |b| b.first_word,
                |b, g, out| {
                    skin(g.model.mesh(), &rows[b.first_row..], group.format, out);
                },
            );
        });
    });
    for isa in Isa::available() {
        stage.bench_function(format!("lanes {isa}"), |b| {
            b.iter(|| {
                block.blocks().each(
                    &crowd,
                    &mut out,
                    |b| b.first_word,
                    |b, g, out| {
                        skin_lanes(isa, g.model.mesh(), &lanes[b.first_entry..], group.format, Store::Streamed, out)
                    },
                );
            });
        });
    }
}

fn stages(c: &mut Criterion) {
    pose_stages::<1>(c, "scalar");
    pose_stages::<BLOCK>(c, "lanes");
    layer_stages(c);
    skin_stage(c);
}

criterion_group!(benches, stages);
criterion_main!(benches);
