//! The kernels, and the crowds that they pose and skin.

use crate::Result;
use skinbench_formats::walker::walker;
use skinbench_kernels::crowd::{BLOCK, Crowd, Layer};
use skinbench_kernels::model::{IDENTITY_ROWS, Rows};
use skinbench_kernels::pose::{
    Affine, CrowdPose, NoClock, PaletteOut, PoseClock, PoseStage, Width,
};
use skinbench_kernels::simd::{Aligned, Isa};
use skinbench_kernels::skin::{
    Clusters, DualQuaternion, LaneBlock, LanePalette, Store, lane_dual_quaternions, skin,
    skin_clusters, skin_columns, skin_lanes,
};
use skinbench_kernels::threads::Threads;
use skinbench_kernels::vertex::{Attributes, Encoding, VertexFormat};
use std::sync::{Arc, Mutex};

const VERTICES: u32 = 500;
const TICK: u32 = 7;

/// Runs a named kernel, and counts its instructions if it is wanted.
type Count<'a> = dyn FnMut(&str, &mut dyn FnMut()) + Send + 'a;

/// Skins into a slice.
type Skin<'a> = dyn Fn(&mut [f32]) + 'a;

/// One block of so many walkers with so many layers.
fn crowd(walkers: u32, layers: u32) -> Result<Crowd> {
    let model = Arc::new(walker(VERTICES)?);
    let mut instances = Vec::new();
    for first in 0..walkers {
        let mut playing = Vec::new();
        for index in first..first + layers {
            let clip = index % model.clips().len() as u32;
            let phase = index.wrapping_mul(0x9e37_79b9);
            playing.push(Layer::looping(&model, clip, phase, 1.0));
        }
        instances.push((IDENTITY_ROWS, playing));
    }
    let mut crowd = Crowd::new();
    crowd.push_masked_group(Arc::clone(&model), &[], instances)?;
    Ok(crowd)
}

/// Counts the pose stages that are wanted, and runs the others.
struct Stages<'a, 'b> {
    count: Mutex<&'a mut Count<'b>>,
    isa: Isa,
    wanted: fn(PoseStage) -> bool,
    /// Added to the names of stages, with a space before it.
    layout: &'static str,
}

impl PoseClock for Stages<'_, '_> {
    fn run(&self, stage: PoseStage, work: &mut dyn FnMut()) {
        if (self.wanted)(stage) {
            let name = format!("pose {stage:?}{} {}", self.layout, self.isa);
            self.count.lock().expect("one thread")(&name, work);
        } else {
            work();
        }
    }
}

/// Runs every kernel with each instruction set: once, so that nothing is prepared any more, and then counted.
pub fn run(count: &mut Count) -> Result<()> {
    for isa in [Isa::Baseline, Isa::Avx2] {
        if !isa.is_available() {
            return Err(format!("this machine lacks {isa}").into());
        }
        for (layers, wanted) in [
            (1, (|stage| stage != PoseStage::Blend) as fn(_) -> _),
            (2, |stage| stage == PoseStage::Blend),
        ] {
            let crowd = crowd(BLOCK as u32, layers)?;
            let mut pose = CrowdPose::new(&crowd, Width::Block, isa, &Threads::One);
            let mut lanes = Aligned::zeroed(CrowdPose::block_entries(&crowd) as usize);
            pose.pose(
                &crowd,
                TICK,
                &Threads::One,
                &NoClock,
                PaletteOut::Lanes(&mut lanes),
            );
            let stages = Stages {
                count: Mutex::new(count),
                isa,
                wanted,
                layout: "",
            };
            pose.pose(
                &crowd,
                TICK,
                &Threads::One,
                &stages,
                PaletteOut::Lanes(&mut lanes),
            );
        }
        let palette: fn(PoseStage) -> bool = |stage| stage == PoseStage::Palette;
        for (walkers, layers, wanted, layout) in [
            (BLOCK as u32, 1, palette, " to rows"),
            (1, 2, |_| true, " of one"),
        ] {
            let crowd = crowd(walkers, layers)?;
            let mut pose = CrowdPose::new(&crowd, Width::Block, isa, &Threads::One);
            let mut rows: Aligned<Rows> = Aligned::zeroed(crowd.palette_entries() as usize);
            let stages = Stages {
                count: Mutex::new(count),
                isa,
                wanted,
                layout,
            };
            pose.pose(
                &crowd,
                TICK,
                &Threads::One,
                &stages,
                PaletteOut::Rows(&mut rows),
            );
        }
        for (name, attributes, encoding) in [
            ("pn", Attributes::Pn, Encoding::F32),
            ("pnt", Attributes::Pnt, Encoding::F32),
            ("packed", Attributes::Pn, Encoding::Packed),
        ] {
            skinning(
                isa,
                name,
                VertexFormat {
                    attributes,
                    encoding,
                    ..VertexFormat::default()
                },
                count,
            )?;
        }
    }
    Ok(())
}

/// The skinning kernels, for one format.
fn skinning(isa: Isa, name: &str, format: VertexFormat, count: &mut Count) -> Result<()> {
    let crowd = crowd(BLOCK as u32, 1)?;
    let model = &crowd.groups()[0].model;
    let mesh = model.mesh();
    let mut pose = CrowdPose::new(&crowd, Width::Block, isa, &Threads::One);
    let mut rows: Aligned<Rows> = Aligned::zeroed(crowd.palette_entries() as usize);
    let mut lanes: Aligned<Affine<BLOCK>> =
        Aligned::zeroed(CrowdPose::block_entries(&crowd) as usize);
    pose.pose(
        &crowd,
        TICK,
        &Threads::One,
        &NoClock,
        PaletteOut::Rows(&mut rows),
    );
    pose.pose(
        &crowd,
        TICK,
        &Threads::One,
        &NoClock,
        PaletteOut::Lanes(&mut lanes),
    );
    let mut dual: Aligned<DualQuaternion> = Aligned::zeroed(lanes.len());
    lane_dual_quaternions(&lanes, &mut dual);
    let clusters = Clusters::new(isa, mesh);
    let one = &rows[..model.palette_joints().len()];
    let words = mesh.vertex_count() * format.words();
    let mut out: Aligned<f32> = Aligned::zeroed(BLOCK * words);
    let store = Store::Streamed;
    let by_block = |palette: LanePalette, interleaved: bool, out: &mut [f32]| {
        skin_lanes(
            isa,
            LaneBlock {
                mesh,
                morphed: None,
                palette,
                format,
                store,
                out,
                interleaved,
            },
        );
    };
    let kernels: [(&str, &Skin); 6] = [
        ("scalar", &|out| skin(mesh, one, format, &mut out[..words])),
        ("columns", &|out| {
            skin_columns(isa, mesh, mesh.shape(), one, format, &mut out[..words])
        }),
        ("cluster", &|out| {
            skin_clusters(&clusters, one, format, &mut out[..words])
        }),
        ("lanes", &|out| {
            by_block(LanePalette::Matrices(&lanes), false, out)
        }),
        ("lanes-interleaved", &|out| {
            by_block(LanePalette::Matrices(&lanes), true, out)
        }),
        ("dual-quaternion", &|out| {
            by_block(LanePalette::DualQuaternions(&dual), false, out)
        }),
    ];
    for (kernel, run) in kernels {
        // Scalar code is the same for all instruction sets.
        if kernel != "scalar" || isa == Isa::Baseline {
            let isa = if kernel == "scalar" { Isa::Scalar } else { isa };
            run(&mut out);
            count(&format!("skin {kernel} {name} {isa}"), &mut || {
                run(&mut out)
            });
        }
    }
    Ok(())
}
