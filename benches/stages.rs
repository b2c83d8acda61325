//! CPU stages on the built-in walker: one group a stage, every variant on every instruction set.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use skinbench::asset::walker::walker;
use skinbench::crowd::{BLOCK, Crowd, Layer};
use skinbench::model::{IDENTITY_ROWS, Rows};
use skinbench::pose::{Affine, CrowdPose, NoClock, PaletteOut, Width};
use skinbench::simd::{Aligned, Isa};
use skinbench::skin::{
    Clusters, DualQuaternion, LaneBlock, LanePalette, Store, lane_dual_quaternions, skin, skin_clusters, skin_columns,
    skin_lanes,
};
use skinbench::threads::Threads;
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

/// All pose stages together; how long each takes is for `skinbench run` to say.
fn pose_stages(c: &mut Criterion) {
    let crowd = crowd();
    let mut group = c.benchmark_group("pose");
    group.throughput(Throughput::Elements(crowd.joint_count()));
    for (name, width) in [("scalar", Width::One), ("lanes", Width::Block)] {
        let mut pose = CrowdPose::new(&crowd, width, Isa::strongest(), &Threads::One);
        let mut rows: Vec<Rows> = vec![[0.0; 12]; crowd.palette_entries() as usize];
        let mut tick = 0;
        group.bench_function(name, |b| {
            b.iter(|| {
                tick += 1;
                pose.pose(&crowd, tick, &Threads::One, &NoClock, PaletteOut::Rows(black_box(&mut rows)));
            });
        });
    }
}

/// Palettes of the crowd at one tick, in both layouts.
fn palettes(crowd: &Crowd) -> (Aligned<Rows>, Aligned<Affine<BLOCK>>) {
    let mut pose = CrowdPose::new(crowd, Width::Block, Isa::strongest(), &Threads::One);
    let mut rows = Aligned::zeroed(crowd.palette_entries() as usize);
    let mut lanes = Aligned::zeroed(CrowdPose::block_entries(crowd) as usize);
    pose.pose(crowd, 7, &Threads::One, &NoClock, PaletteOut::Rows(&mut rows));
    pose.pose(crowd, 7, &Threads::One, &NoClock, PaletteOut::Lanes(&mut lanes));
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
        one_by_one(format!("columns {isa}"), raw, &|rows, out| skin_columns(isa, mesh, mesh.shape(), rows, raw, out));
        let clusters = Clusters::new(isa, mesh);
        one_by_one(format!("cluster {isa}"), raw, &|rows, out| skin_clusters(&clusters, rows, raw, out));
    }
    let mut dual: Aligned<DualQuaternion> = Aligned::zeroed(lanes.len());
    lane_dual_quaternions(&lanes, &mut dual);
    let blocks = |of: usize| of * entries..(of + 1) * entries;
    let mut by_block = |name: String, format: VertexFormat, skin: &dyn Fn(usize, &mut [f32])| {
        let words = BLOCK * mesh.vertex_count() * format.words();
        stage.bench_function(name, |b| {
            b.iter(|| {
                out.chunks_exact_mut(words).take(lanes.len() / entries).enumerate().for_each(|(i, out)| skin(i, out))
            });
        });
    };
    let lanes_of = |i: usize| LanePalette::Matrices(&lanes[blocks(i)]);
    let dual_of = |i: usize| LanePalette::DualQuaternions(&dual[blocks(i)]);
    for isa in Isa::available() {
        let skin = |palette: LanePalette, format: VertexFormat, interleaved: bool, out: &mut [f32]| {
            skin_lanes(isa, LaneBlock { mesh, morphed: None, palette, format, store, out, interleaved });
        };
        for (name, format) in [("lanes", raw), ("lanes unit", VertexFormat::default()), ("lanes packed", packed)] {
            by_block(format!("{name} {isa}"), format, &|i, out| skin(lanes_of(i), format, false, out));
        }
        by_block(format!("lanes-interleaved {isa}"), raw, &|i, out| skin(lanes_of(i), raw, true, out));
        by_block(format!("dual-quaternion {isa}"), raw, &|i, out| skin(dual_of(i), raw, false, out));
    }
}

fn stages(c: &mut Criterion) {
    pose_stages(c);
    skin_stage(c);
}

criterion_group!(benches, stages);
criterion_main!(benches);
