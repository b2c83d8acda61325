//! CPU backends: they compute poses, then palettes in the layout that a kernel reads, and time the stages. A backend
//! has a [`CpuKernel`], or several, of which a trial finds the fastest on this machine, for this crowd and with these
//! threads: in the first frame they write the same output by turns.

use super::{
    Abilities, Backend, Context, FrameData, Joints, LaterPasses, Prepared, Skinned, Ticket,
    stage_bytes,
};
use crate::blocks::{Block, Blocks};
use crate::crowd::{BLOCK, Crowd, Group};
use crate::frame::{
    Bytes, Footprint, FrameInput, HostPoser, Job, Lack, OutputBuffers, OutputUser, PaletteLayout,
    Purpose, Result, Rounds, Stage, StageTimer, ThreadTimes, Traffic, clips_in_place, least_times,
    meshes_in_place,
};
use crate::gameplay::GameplayData;
use crate::model::{Rows, Shape};
use crate::morph::{MorphScratch, MorphedLanes};
use crate::pose::{Affine, BlockPalettes, CrowdPose, NoClock, PoseOut, Width, is_sparse};
use crate::reference::Blending;
use crate::simd::Isa;
use crate::skin::Store;
use crate::threads::{Threads, of_thread};
use std::convert::Infallible;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// About the time that one thread takes per vertex, to tell when a crowd is too small to share.
const VERTEX_NS: f64 = 1.25;
/// Measured rounds of a trial; the shortest frame of each kernel counts. Frames of one character differ by chance more
/// than kernels do, unless there are many.
const ROUNDS: Rounds = Rounds {
    fewest: 3,
    most: 64,
    within: Duration::from_millis(150),
};

/// A block to skin.
pub struct BlockJob<'a> {
    /// Instruction set of the kernel.
    pub isa: Isa,
    /// The instances.
    pub block: &'a Block,
    /// The block's group.
    pub group: &'a Group,
    /// `[instance][entry]` of the block's instances, for [`PaletteLayout::Rows`] and sparse blocks of
    /// [`PaletteLayout::Mixed`]; empty for others.
    pub rows: &'a [Rows],
    /// `[entry][12][BLOCK]`, where `rows` is empty.
    pub lanes: &'a [Affine<BLOCK>],
    /// Kind of store that writes vertices.
    pub store: Store,
    crowd: &'a Crowd,
    tick: u32,
    /// Memory to morph with, one item per thread; none if no model has targets.
    scratch: &'a [Mutex<MorphScratch>],
    /// Times of morphing and of skinning, if each is a stage.
    times: Option<&'a ThreadTimes>,
}

impl BlockJob<'_> {
    /// Calls `skin(vertices before skinning, palette, words)` for each instance of the block, with palettes in rows.
    pub fn each_instance(&self, out: &mut [f32], skin: impl Fn(Shape, &[Rows], &mut [f32])) {
        let model = &self.group.model;
        let palettes = self.rows.chunks_exact(model.palette_joints().len());
        let outputs = out.chunks_exact_mut(self.group.instance_words());
        let Some(mut scratch) = self.scratch() else {
            for (palette, out) in palettes.zip(outputs) {
                skin(model.mesh().shape(), palette, out);
            }
            return;
        };
        for (instance, (palette, out)) in self.block.instances.clone().zip(palettes.zip(outputs)) {
            let scratch = &mut *scratch;
            let shape = timed(self.times, Stage::Morph, move || {
                scratch.instance(self.isa, self.crowd, instance, self.tick)
            });
            timed(self.times, Stage::Skin, || skin(shape, palette, out));
        }
    }

    /// Calls `skin` with the block's morphed vertices in lanes; `None` if its model has no targets.
    pub fn in_lanes(&self, skin: impl FnOnce(Option<MorphedLanes>)) {
        let mut scratch = self.scratch();
        let morphed = scratch.as_deref_mut().map(|scratch| {
            timed(self.times, Stage::Morph, move || {
                scratch.block(self.isa, self.crowd, self.block, self.tick)
            })
        });
        timed(self.times, Stage::Skin, || skin(morphed));
    }

    /// The calling thread's memory to morph with; `None` if the block's model has no targets.
    fn scratch(&self) -> Option<MutexGuard<'_, MorphScratch>> {
        self.group.has_targets().then(|| of_thread(self.scratch))
    }
}

/// Adds the time of some work to a stage, if times are wanted.
fn timed<R>(times: Option<&ThreadTimes>, stage: Stage, work: impl FnOnce() -> R) -> R {
    match times {
        Some(times) => times.time(stage, work),
        None => work(),
    }
}

/// A kernel with all that it keeps for a crowd: writes the vertices of a block to its share of the output buffers.
pub type SkinBlocks = Box<dyn Fn(&BlockJob, &mut [f32]) + Sync>;

/// A way to skin blocks of instances.
pub struct CpuKernel {
    /// Name in the outcome of a trial.
    pub name: &'static str,
    /// Palettes that it reads.
    pub layout: PaletteLayout,
    /// Number of instances that are posed side by side.
    pub width: Width,
    /// Instruction set, if not the one that the run uses.
    pub isa: Option<Isa>,
    /// Abilities that it lacks.
    pub lacks: &'static [Lack],
    /// Rule by which vertices follow several joints.
    pub blending: Blending,
    /// `true` if it writes `[block][vertex][word][instance of the block]`, which nothing draws, instead of
    /// `[instance][vertex][word]`.
    pub interleaved: bool,
    /// Builds everything that does not change from frame to frame, and says how many bytes that takes. Fails with
    /// [`BackendError::Unavailable`](crate::frame::BackendError::Unavailable) if the crowd or this instruction set
    /// lacks what the kernel needs.
    pub build: fn(&Crowd, Isa) -> Result<(SkinBlocks, Bytes)>,
}

impl CpuKernel {
    /// Numbers of instances that are morphed side by side.
    fn scratch_widths(&self) -> &'static [Width] {
        match self.layout {
            PaletteLayout::Rows => &[Width::One],
            PaletteLayout::Lanes | PaletteLayout::Fused => &[Width::Block],
            PaletteLayout::Mixed => &[Width::One, Width::Block],
        }
    }
}

/// A CPU backend.
pub struct Cpu {
    /// All can do the same.
    kernels: &'static [&'static CpuKernel],
    isa: Isa,
    threads: Threads,
}

impl Cpu {
    /// Creates a backend with the fastest of some kernels on the calling thread alone.
    pub fn one_thread(
        kernels: &'static [&'static CpuKernel],
        context: &Context,
    ) -> Box<dyn Backend> {
        Box::new(Self {
            kernels,
            isa: context.isa,
            threads: Threads::One,
        })
    }

    /// Creates a backend with the fastest of some kernels on all threads of the context.
    pub fn all_threads(
        kernels: &'static [&'static CpuKernel],
        context: &Context,
    ) -> Box<dyn Backend> {
        Box::new(Self {
            kernels,
            isa: context.isa,
            threads: context.threads.clone(),
        })
    }

    /// The threads that a crowd is worth.
    fn threads(&self, crowd: &Crowd) -> Threads {
        let skin = Duration::from_nanos((VERTEX_NS * crowd.vertex_count() as f64) as u64);
        self.threads.worth_waking(CrowdPose::estimate(crowd) + skin)
    }

    /// Builds all kernels, and counts the bytes of a backend that keeps one of them: those of the others are of the trial.
    fn built(&self, crowd: &Crowd, job: &Job) -> Result<Vec<BuiltKernel>> {
        self.abilities().check(crowd, job)?;
        let threads = self.threads(crowd).count();
        let mut kernels = self.kernels.to_vec();
        if job.first_kernel {
            kernels.truncate(1);
        } else if kernels.len() > 1 && Blocks::new(crowd, false).all().iter().all(is_sparse) {
            // Nothing in such a crowd is skinned in lanes.
            kernels.retain(|kernel| kernel.layout != PaletteLayout::Mixed);
        }
        let mut all = 0;
        let mut built = Vec::with_capacity(kernels.len());
        for kernel in kernels {
            let (skin, bytes) = (kernel.build)(crowd, kernel.isa.unwrap_or(self.isa))?;
            let poser = HostPoser::bytes(crowd, job, kernel.layout, kernel.width, threads);
            let scratch = if crowd.has_targets() {
                MorphScratch::bytes(crowd, kernel.scratch_widths())
            } else {
                0
            };
            let footprint = Footprint {
                host: poser + bytes + Bytes::of(Purpose::Scratch, threads as u64 * scratch),
                in_place: clips_in_place(crowd) + meshes_in_place(crowd),
                host_output: true,
                ..Footprint::default()
            };
            all += footprint.host.total();
            built.push(BuiltKernel {
                kernel,
                skin,
                footprint,
            });
        }
        for BuiltKernel { footprint, .. } in &mut built {
            footprint.host += Bytes::of(Purpose::Staging, all - footprint.host.total());
        }
        Ok(built)
    }
}

/// A kernel for a crowd, before poses and palettes have memory.
struct BuiltKernel {
    kernel: &'static CpuKernel,
    skin: SkinBlocks,
    footprint: Footprint,
}

impl Backend for Cpu {
    fn abilities(&self) -> Abilities {
        let later_passes = if self.kernels[0].interleaved {
            LaterPasses::NotDrawn
        } else {
            LaterPasses::Free
        };
        Abilities {
            joints: Joints::Host,
            later_passes,
            lacks: self.kernels[0].lacks.to_vec(),
        }
    }

    fn footprint(&self, crowd: &Crowd, job: &Job) -> Result<Footprint> {
        let built = self.built(crowd, job)?;
        let footprints = built.iter().map(|kernel| kernel.footprint);
        Ok(footprints
            .max_by_key(|footprint| footprint.host.resident())
            .unwrap_or_default())
    }

    fn prepare(&self, crowd: &Crowd, job: &Job) -> Result<Box<dyn Prepared>> {
        let threads = self.threads(crowd);
        let scratches = if crowd.has_targets() {
            threads.count()
        } else {
            0
        };
        let mut kernels = Vec::new();
        for built in self.built(crowd, job)? {
            let kernel = built.kernel;
            let isa = kernel.isa.unwrap_or(self.isa);
            let scratch = (0..scratches)
                .map(|_| Mutex::new(MorphScratch::new(crowd, kernel.scratch_widths())))
                .collect();
            kernels.push(PreparedKernel {
                kernel,
                skin: built.skin,
                footprint: built.footprint,
                poser: HostPoser::new(crowd, job, kernel.layout, kernel.width, isa, &threads),
                scratch,
                user: OutputUser::default(),
            });
        }
        Ok(Box::new(PreparedCpu {
            threads,
            kernels,
            trial: None,
        }))
    }
}

/// A backend with its buffers.
struct PreparedCpu {
    threads: Threads,
    /// All kernels before the first frame, then the fastest alone.
    kernels: Vec<PreparedKernel>,
    /// The outcome of the trial of several kernels.
    trial: Option<String>,
}

impl PreparedCpu {
    /// Finds the fastest kernel, and frees the memory of the others. Whole frames count: a kernel that skins faster may
    /// read palettes that take longer to make.
    fn choose(&mut self, frame: &mut FrameInput) {
        let Ok(least) = least_times(self.kernels.len(), ROUNDS, |index| {
            let kernel = &mut self.kernels[index];
            // As in a run, a measured frame follows one of the same kernel, which leaves its data in the caches.
            kernel.frame(&self.threads, frame, &mut StageTimer::default());
            let start = Instant::now();
            kernel.frame(&self.threads, frame, &mut StageTimer::default());
            Ok::<_, Infallible>(start.elapsed())
        });
        // A kernel that fails to write a vertex must not pass with that of another.
        frame.output.poison_host();
        let fastest = (0..least.len())
            .min_by_key(|&kernel| least[kernel])
            .unwrap_or_default();
        let mut times = Vec::with_capacity(least.len());
        for (kernel, time) in self.kernels.iter().zip(&least) {
            let milliseconds = 1e3 * time.as_secs_f64();
            times.push(format!("{} {milliseconds:.3} ms", kernel.kernel.name));
        }
        self.kernels.swap(0, fastest);
        self.kernels.truncate(1);
        self.trial = Some(format!(
            "skins by {}, the fastest in a trial of {}",
            self.kernels[0].kernel.name,
            times.join(", ")
        ));
    }
}

/// A kernel with its buffers.
struct PreparedKernel {
    kernel: &'static CpuKernel,
    skin: SkinBlocks,
    footprint: Footprint,
    poser: HostPoser,
    /// One item per thread; none if no model has targets.
    scratch: Vec<Mutex<MorphScratch>>,
    user: OutputUser,
}

impl PreparedKernel {
    /// Poses and skins a frame.
    fn frame(&mut self, threads: &Threads, frame: &mut FrameInput, timer: &mut StageTimer) {
        let Self {
            kernel,
            poser,
            skin,
            scratch,
            user,
            ..
        } = self;
        let crowd = frame.crowd;
        let tick = frame.tick;
        let kept = frame.output.hand_to(user);
        let out = &mut frame.output.host[..];
        // Once for the whole frame, so that threads are woken once.
        threads.install(|| {
            let job = FrameJob {
                isa: poser.isa,
                skin,
                scratch,
                store: Store::for_bytes(size_of_val(out) as u64),
                crowd,
                tick,
            };
            if kernel.layout == PaletteLayout::Fused {
                let out = PoseOut {
                    out,
                    first: &|block| block.first_word,
                    take: &|poses, out| {
                        poses.in_lanes(|lanes| {
                            job.skin(poses.block, BlockPalettes::Lanes(lanes), None, out);
                        });
                    },
                };
                let pose = &mut poser.crowd_pose;
                timer.update(pose, crowd, tick, !kept);
                timer.wall(Stage::PoseSkin, || {
                    pose.pose(crowd, tick, threads, &NoClock, out)
                });
                return;
            }
            poser.pose(crowd, tick, threads, timer);
            let palettes = poser.palettes();
            let pose = &poser.crowd_pose;
            let mut skin_all = |times: Option<&ThreadTimes>| {
                let first_word = |block: &Block| block.first_word;
                pose.blocks().each(crowd, out, first_word, |block, _, out| {
                    if !kept || !pose.is_idle(block) {
                        job.skin(block, palettes.of(block), times, out);
                    }
                });
            };
            if crowd.has_targets() {
                timer.shared_out([Stage::Morph, Stage::Skin].into_iter(), |times| {
                    skin_all(Some(times))
                });
            } else {
                timer.wall(Stage::Skin, || skin_all(None));
            }
        });
    }
}

/// What skinning the blocks of a frame has in common.
struct FrameJob<'a> {
    isa: Isa,
    skin: &'a SkinBlocks,
    scratch: &'a [Mutex<MorphScratch>],
    store: Store,
    crowd: &'a Crowd,
    tick: u32,
}

impl FrameJob<'_> {
    /// Skins a block, and adds its times to the stages if each is measured.
    fn skin(
        &self,
        block: &Block,
        palettes: BlockPalettes,
        times: Option<&ThreadTimes>,
        out: &mut [f32],
    ) {
        let group = &self.crowd.groups()[block.group];
        let mut job = BlockJob {
            isa: self.isa,
            block,
            group,
            rows: &[],
            lanes: &[],
            store: self.store,
            crowd: self.crowd,
            tick: self.tick,
            scratch: self.scratch,
            times,
        };
        match palettes {
            BlockPalettes::Rows(rows) => job.rows = rows,
            BlockPalettes::Lanes(lanes) => job.lanes = lanes,
        }
        if group.has_targets() {
            (self.skin)(&job, out);
        } else {
            // A kernel need not ask for vertices that nothing morphs, so their time is measured here.
            job.times = None;
            timed(times, Stage::Skin, || (self.skin)(&job, out));
        }
    }
}

impl Prepared for PreparedCpu {
    fn device(&self) -> String {
        let count = self.threads.count();
        let threads = if count == 1 { "thread" } else { "threads" };
        let mut device = format!("{}, {count} {threads}", self.kernels[0].poser.isa);
        if let Some(trial) = &self.trial {
            device += ", ";
            device += trial;
        }
        device
    }

    fn footprint(&self, _: &Crowd) -> Footprint {
        self.kernels[0].footprint
    }

    fn blending(&self) -> Blending {
        self.kernels[0].kernel.blending
    }

    fn traffic(&self, crowd: &Crowd) -> Vec<Traffic> {
        if crowd.has_frozen() {
            return Vec::new();
        }
        match self.kernels[0].kernel.layout {
            PaletteLayout::Fused => vec![stage_bytes::fused(crowd, self.threads.count())],
            PaletteLayout::Rows | PaletteLayout::Lanes | PaletteLayout::Mixed => {
                stage_bytes::host(crowd, self.threads.count())
            }
        }
    }

    fn submit(&mut self, frame: &mut FrameInput, timer: &mut StageTimer) -> Result<Ticket> {
        if self.kernels.len() > 1 {
            self.choose(frame);
        }
        self.kernels[0].frame(&self.threads, frame, timer);
        Ok(Ticket::default())
    }

    fn skinned(&self) -> Skinned {
        if self.kernels[0].kernel.interleaved {
            Skinned::HostInBlocks
        } else {
            Skinned::Host
        }
    }

    fn read_gameplay(&mut self) -> Result<Option<GameplayData>> {
        Ok(self.kernels[0].poser.gameplay().cloned())
    }

    fn gameplay_delay(&self) -> Option<u32> {
        self.kernels[0].poser.gameplay().map(|_| 0)
    }

    fn read(
        &mut self,
        crowd: &Crowd,
        output: &OutputBuffers,
        what: FrameData,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        let PreparedKernel { kernel, poser, .. } = &self.kernels[0];
        if let Some(pose) = what.pose() {
            poser.read(crowd, pose, instances, out);
            return Ok(());
        }
        if !kernel.interleaved {
            out.extend(output.host_vertices(crowd, instances));
            return Ok(());
        }
        for instance in instances {
            let block = poser.crowd_pose.blocks().of(instance).instances.clone();
            let lane = (instance - block.start) as usize;
            let lanes = block.len();
            let words = output.host_vertices(crowd, block);
            out.extend(words.iter().skip(lane).step_by(lanes));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::cpu_kernels::{CANDIDATES, LANES};
    use super::*;
    use crate::characters;
    use crate::characters::face;
    use crate::characters::walker;
    use crate::crowd::Layer;
    use crate::model::IDENTITY_ROWS;
    use crate::pose::Local;
    use std::sync::Arc;

    /// 20 blocks have the same clips as one block. Their palettes of 0.94 MiB take one huge page, those of one block 48
    /// KiB; poses have room for three blocks, which the next ones reuse.
    #[test]
    fn footprints_count_whole_pages_and_the_poses_of_a_part() {
        let host = |blocks: usize| {
            let mut crowd = Crowd::new();
            let instances = (0..blocks * BLOCK).map(|_| (IDENTITY_ROWS, Layer::held(0, 0.0)));
            crowd
                .push_group(Arc::new(characters::chain_64().unwrap()), instances)
                .unwrap();
            let backend = Cpu::one_thread(&[&LANES], &Context::default());
            backend
                .footprint(&crowd, &Job::default())
                .unwrap()
                .host
                .total()
        };
        let poses = 2 * 64 * (size_of::<Local<BLOCK>>() + size_of::<Affine<BLOCK>>());
        let palettes = (2 << 20) - 64 * size_of::<Affine<BLOCK>>();
        let beside = (host(20) - host(1)) as usize - poses - palettes;
        assert!(
            beside < 32 << 10,
            "{beside} bytes beside poses and palettes"
        );
    }

    /// Name and milliseconds of a kernel in the outcome of a trial.
    fn timed(kernel: &str) -> (&str, f64) {
        let (name, time) = kernel.split_once(' ').unwrap();
        (name, time.strip_suffix(" ms").unwrap().parse().unwrap())
    }

    #[test]
    fn the_kernel_with_the_shortest_frame_is_kept_alone() {
        let mut crowd = Crowd::new();
        let instances = (0..40).map(|_| (IDENTITY_ROWS, Layer::held(0, 0.0)));
        crowd
            .push_group(Arc::new(walker(500).unwrap()), instances)
            .unwrap();
        let mut output = OutputBuffers::default();
        output.allocate_host(&crowd);
        for backend in [
            Cpu::one_thread(CANDIDATES, &Context::default()),
            Cpu::all_threads(CANDIDATES, &Context::default()),
        ] {
            let mut prepared = backend.prepare(&crowd, &Job::default()).unwrap();
            assert!(
                !prepared.device().contains("skins by"),
                "{}",
                prepared.device()
            );
            output.poison_host();
            let mut frame = FrameInput {
                crowd: &crowd,
                tick: 7,
                output: &mut output,
            };
            prepared
                .submit(&mut frame, &mut StageTimer::default())
                .unwrap()
                .finish()
                .unwrap();
            assert!(output.host.iter().all(|number| number.is_finite()));

            let device = prepared.device();
            let (name, times) = device
                .split_once("skins by ")
                .unwrap()
                .1
                .split_once(", the fastest in a trial of ")
                .unwrap();
            let times: Vec<_> = times.split(", ").map(timed).collect();
            assert_eq!(times.len(), CANDIDATES.len(), "{device}");
            let least = times.iter().map(|(_, time)| *time).fold(f64::MAX, f64::min);
            assert!(times.contains(&(name, least)) && least > 0.0, "{device}");
            let host = prepared.footprint(&crowd).host;
            assert!(host.get(Purpose::Staging) > host.total() / 4, "{host:?}");
        }
    }

    /// With sparse blocks alone, the candidate that uses lanes elsewhere would be a second name of another one.
    #[test]
    fn trials_of_sparse_blocks_have_no_lanes() {
        let mut crowd = Crowd::new();
        let few = [(IDENTITY_ROWS, Layer::held(0, 0.0)); 5];
        crowd
            .push_group(Arc::new(walker(500).unwrap()), few)
            .unwrap();
        let backend = Cpu {
            kernels: CANDIDATES,
            isa: Isa::Scalar,
            threads: Threads::One,
        };
        let built = backend.built(&crowd, &Job::default()).unwrap();
        let names: Vec<_> = built.iter().map(|built| built.kernel.name).collect();
        assert_eq!(names, ["cluster", "columns"]);
    }

    /// Kernels round differently: a trial would choose another one in the next run.
    #[test]
    fn jobs_may_take_the_first_kernel_without_a_trial() {
        let mut crowd = Crowd::new();
        let one = [(IDENTITY_ROWS, Layer::held(0, 0.0))];
        crowd
            .push_group(Arc::new(walker(500).unwrap()), one)
            .unwrap();
        let mut output = OutputBuffers::default();
        output.allocate_host(&crowd);
        let job = Job {
            first_kernel: true,
            ..Job::default()
        };
        let backend = Cpu::one_thread(CANDIDATES, &Context::default());
        let mut prepared = backend.prepare(&crowd, &job).unwrap();
        let mut frame = FrameInput {
            crowd: &crowd,
            tick: 0,
            output: &mut output,
        };
        let ticket = prepared.submit(&mut frame, &mut StageTimer::default());
        ticket.unwrap().finish().unwrap();
        assert!(
            !prepared.device().contains("trial"),
            "{}",
            prepared.device()
        );
    }

    /// Reads palettes without asking for vertices.
    const READER: CpuKernel = CpuKernel {
        name: "reader",
        layout: PaletteLayout::Rows,
        width: Width::Block,
        isa: None,
        lacks: &[],
        blending: Blending::Linear,
        interleaved: false,
        build: |_, _| {
            Ok((
                Box::new(|job, out| out.fill(job.rows[0][0])),
                Bytes::default(),
            ))
        },
    };

    #[test]
    fn blocks_without_targets_have_times_beside_blocks_with_targets() {
        let mut crowd = Crowd::new();
        for model in [walker(500).unwrap(), face(200, 0).unwrap()] {
            let instances = (0..40).map(|_| (IDENTITY_ROWS, Layer::held(0, 0.0)));
            crowd.push_group(Arc::new(model), instances).unwrap();
        }
        let mut output = OutputBuffers::default();
        output.allocate_host(&crowd);
        let mut timer = StageTimer::default();
        let mut prepared = Cpu::one_thread(&[&READER], &Context::default())
            .prepare(&crowd, &Job::default())
            .unwrap();
        prepared
            .submit(
                &mut FrameInput {
                    crowd: &crowd,
                    tick: 7,
                    output: &mut output,
                },
                &mut timer,
            )
            .unwrap();
        assert!(
            timer
                .spans
                .iter()
                .any(|span| span.stage == Stage::Skin && span.ns > Some(0)),
            "{:?}",
            timer.spans
        );
    }
}
