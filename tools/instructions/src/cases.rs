//! The kernels, and the crowds that they pose and skin.

use crate::Result;
use skinbench_characters::walker;
use skinbench_kernels::compaction::{self, compacted};
use skinbench_kernels::crowd::{BLOCK, Crowd, Layer};
use skinbench_kernels::model::{IDENTITY_ROWS, Model, Rows};
use skinbench_kernels::pose::{Affine, CrowdPose, NoClock, PoseClock, PoseOut, PoseStage, Width};
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

/// So many walkers with so many layers.
fn crowd(walkers: u32, layers: u32) -> Result<Crowd> {
    crowd_of(Arc::new(walker(VERTICES)?), walkers, layers)
}

fn crowd_of(model: Arc<Model>, walkers: u32, layers: u32) -> Result<Crowd> {
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

/// A crowd that is posed, and the stages that are counted.
struct Posing {
    walkers: u32,
    layers: u32,
    /// `true` if its clips are compact.
    is_compact: bool,
    out: Layout,
    wanted: fn(PoseStage) -> bool,
    /// Added to the names of stages, with a space before it.
    name: &'static str,
}

/// How palettes are laid out.
enum Layout {
    Lanes,
    Rows,
}

const POSINGS: [Posing; 6] = [
    Posing {
        walkers: BLOCK as u32,
        layers: 1,
        is_compact: false,
        out: Layout::Lanes,
        wanted: |stage| stage != PoseStage::Blend,
        name: "",
    },
    Posing {
        walkers: BLOCK as u32,
        layers: 2,
        is_compact: false,
        out: Layout::Lanes,
        wanted: |stage| stage == PoseStage::Blend,
        name: "",
    },
    Posing {
        walkers: BLOCK as u32,
        layers: 1,
        is_compact: false,
        out: Layout::Rows,
        wanted: |stage| stage == PoseStage::Palette,
        name: " to rows",
    },
    Posing {
        walkers: 1,
        layers: 2,
        is_compact: false,
        out: Layout::Rows,
        wanted: |_| true,
        name: " of one",
    },
    Posing {
        walkers: BLOCK as u32,
        layers: 1,
        is_compact: true,
        out: Layout::Lanes,
        wanted: |stage| stage == PoseStage::Sample,
        name: " compact",
    },
    Posing {
        walkers: 1,
        layers: 1,
        is_compact: true,
        out: Layout::Rows,
        wanted: |stage| stage == PoseStage::Sample,
        name: " compact of one",
    },
];

impl Posing {
    /// Poses the crowd once, so that nothing is prepared any more, and then counts.
    fn count(&self, isa: Isa, count: &mut Count) -> Result<()> {
        let mut model = walker(VERTICES)?;
        if self.is_compact {
            model = compacted(model, compaction::ERROR)?;
        }
        let crowd = crowd_of(Arc::new(model), self.walkers, self.layers)?;
        let mut pose = CrowdPose::new(&crowd, Width::Block, isa, &Threads::One);
        let mut lanes = Aligned::zeroed(CrowdPose::block_entries(&crowd) as usize);
        let mut rows: Aligned<Rows> = Aligned::zeroed(crowd.palette_entries() as usize);
        let stages = Stages {
            count: Mutex::new(count),
            isa,
            wanted: self.wanted,
            name: self.name,
        };
        let clocks: [&dyn PoseClock; 2] = [&NoClock, &stages];
        for clock in clocks {
            let out = match self.out {
                Layout::Lanes => PoseOut::lanes(&mut lanes),
                Layout::Rows => PoseOut::rows(&mut rows),
            };
            pose.pose(&crowd, TICK, &Threads::One, clock, out);
        }
        Ok(())
    }
}

/// Counts the pose stages that are wanted, and runs the others.
struct Stages<'a, 'b> {
    count: Mutex<&'a mut Count<'b>>,
    isa: Isa,
    wanted: fn(PoseStage) -> bool,
    /// As [`Posing::name`].
    name: &'static str,
}

impl PoseClock for Stages<'_, '_> {
    fn run(&self, stage: PoseStage, work: &mut dyn FnMut()) {
        if (self.wanted)(stage) {
            let name = format!("pose {stage:?}{} {}", self.name, self.isa);
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
        for posing in POSINGS {
            posing.count(isa, count)?;
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
        PoseOut::rows(&mut rows),
    );
    pose.pose(
        &crowd,
        TICK,
        &Threads::One,
        &NoClock,
        PoseOut::lanes(&mut lanes),
    );
    let mut dual: Aligned<DualQuaternion> = Aligned::zeroed(lanes.len());
    lane_dual_quaternions(isa, &lanes, &mut dual);
    let clusters = Clusters::new(isa, mesh, Store::Cached);
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
            skin_clusters(&clusters, &[one], format, &mut out[..words]).expect("one walker")
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
