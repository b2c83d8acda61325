//! Times of a frame's stages.

use crate::wording;
use serde::{Deserialize, Serialize};
use skinbench_kernels::crowd::Crowd;
use skinbench_kernels::pose::{CrowdPose, PoseClock, PoseOut, PoseStage};
use skinbench_kernels::threads::Threads;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use strum::{IntoStaticStr, VariantArray};

/// A part of a frame, in its order. Its serialised form is its name.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(into = "&'static str", try_from = "String")]
#[derive(IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Stage {
    /// Find the instances in view.
    Cull,
    /// Write what replaced instances play over what those before them played.
    Update,
    /// Clips to local poses.
    Sample,
    /// Layers to one local pose.
    Blend,
    /// Local poses to model poses.
    LocalToModel,
    /// Model poses to palettes.
    Palette,
    /// Clips to palettes in calls that cannot be timed apart, for code of others.
    Pose,
    /// Palettes to a box around each instance, for gameplay.
    Bounds,
    /// Palettes to the poses of some joints of each instance, for gameplay.
    Sockets,
    /// Weights and morph targets to the vertices before skinning; absent without targets.
    Morph,
    /// Clips to vertices in one pass, block by block, for backends that fuse the stages.
    PoseSkin,
    /// Host to device.
    Upload,
    /// Palettes to vertices.
    Skin,
    /// Vertices to pixels.
    Draw,
    /// The whole frame, by wall clock, with one frame in flight.
    #[default]
    Frame,
    /// The whole frame of an engine, which does more than ours: no other frame is compared with it.
    EngineFrame,
    /// From the end of a frame to the end of the next one, with two in flight.
    Throughput,
}

/// Stages with a common purpose, as tables show them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StageGroup {
    /// Stages that compute what skinning reads of a crowd: palettes, and weights or vertices of morph targets.
    Pose,
    /// Stages that gameplay reads.
    Gameplay,
    /// Host to device.
    Upload,
    /// Stages that compute vertices, including the one that also poses.
    Skin,
    /// Vertices to pixels.
    Draw,
    /// Whole frames.
    Whole,
}

impl Stage {
    /// All stages, in the order of a frame.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The group that the stage belongs to.
    pub fn group(self) -> StageGroup {
        match self {
            Self::Cull
            | Self::Update
            | Self::Sample
            | Self::Blend
            | Self::LocalToModel
            | Self::Palette
            | Self::Pose
            | Self::Morph => StageGroup::Pose,
            Self::Bounds | Self::Sockets => StageGroup::Gameplay,
            Self::Upload => StageGroup::Upload,
            Self::Skin | Self::PoseSkin => StageGroup::Skin,
            Self::Draw => StageGroup::Draw,
            Self::Frame | Self::EngineFrame | Self::Throughput => StageGroup::Whole,
        }
    }

    /// Name in tables and CSV.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The stage with a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|stage| stage.name() == name)
    }
}

impl TryFrom<String> for Stage {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        wording::named("stage", &name, Self::ALL, Self::name)
    }
}

impl From<PoseStage> for Stage {
    fn from(stage: PoseStage) -> Self {
        match stage {
            PoseStage::Sample => Self::Sample,
            PoseStage::Blend => Self::Blend,
            PoseStage::LocalToModel => Self::LocalToModel,
            PoseStage::Palette => Self::Palette,
        }
    }
}

/// Clock of a measurement. Its serialised form is its name.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(into = "&'static str", try_from = "String")]
#[derive(IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Clock {
    /// The machine's monotonic clock.
    #[default]
    Wall,
    /// CPU time of skinbench's own threads in total, without those of a driver.
    ThreadSum,
    /// Timestamp queries on the device.
    Gpu,
    /// The monotonic clock around a submission of the device that contains one stage only, without the time of an empty
    /// submission.
    Fenced,
}

/// A side of the machine, which works on a part of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The processor.
    Host,
    /// The adapter.
    Device,
}

impl Side {
    /// Both sides, in the order in which a frame reaches them.
    pub const BOTH: [Self; 2] = [Self::Host, Self::Device];

    /// The clocks of its part of a stage, the closest first.
    pub fn clocks(self) -> &'static [Clock] {
        match self {
            Self::Host => &[Clock::Wall],
            Self::Device => &[Clock::Gpu, Clock::Fenced],
        }
    }

    /// Name in tables and charts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Device => "device",
        }
    }
}

impl Clock {
    /// The clocks of a stage, the closest first. A stage that both [sides](Side) work on has a time for each.
    pub const BY_CLOSENESS: [Self; 3] = [Self::Gpu, Self::Fenced, Self::Wall];

    /// Returns whether it measures the work of the device.
    pub fn is_of_device(self) -> bool {
        Side::Device.clocks().contains(&self)
    }

    /// Name in tables and CSV.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl TryFrom<String> for Clock {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        wording::named("clock", &name, Self::VARIANTS, Self::name)
    }
}

/// Clock of the stages that run on a device: by default timestamp queries around the stages of a frame, otherwise fences,
/// with one submission per stage, waited for, in frames of their own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceClock {
    /// Time of an empty submission, which is subtracted from that of each stage, if fences time them.
    pub empty_submission: Option<Duration>,
}

impl DeviceClock {
    /// Returns whether fences time the stages.
    pub fn is_fenced(self) -> bool {
        self.empty_submission.is_some()
    }

    /// The label of its measurements.
    pub fn label(self) -> Clock {
        if self.is_fenced() {
            Clock::Fenced
        } else {
            Clock::Gpu
        }
    }
}

/// Choice of a device's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum ClockChoice {
    /// Timestamps, without a check.
    Timestamps,
    /// Fences.
    Fenced,
    /// Timestamps if the device has them and they pass a check, otherwise fences.
    #[default]
    Auto,
}

impl ClockChoice {
    /// Name on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl FromStr for ClockChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        wording::named("clock", text, Self::VARIANTS, Self::name)
    }
}

/// One stage of one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageTime {
    /// The stage.
    pub stage: Stage,
    /// Clock that measured it.
    pub clock: Clock,
    /// Nanoseconds; `None` if the clock gave a zero or negative difference.
    pub ns: Option<u64>,
}

impl StageTime {
    /// The time of a stage by a clock whose readings differ by so many nanoseconds.
    pub fn new(stage: Stage, clock: Clock, ns: u64) -> Self {
        let ns = (ns > 0).then_some(ns);
        Self { stage, clock, ns }
    }
}

/// Collects the spans of one frame.
#[derive(Default)]
pub struct StageTimer {
    /// The spans since the last [`StageTimer::clear`].
    pub spans: Vec<StageTime>,
}

impl StageTimer {
    /// Times `work` by wall clock. All parts of a stage in a frame add up to one span.
    pub fn wall<R>(&mut self, stage: Stage, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        let ns = elapsed(start);
        match self
            .spans
            .iter_mut()
            .find(|span| (span.stage, span.clock) == (stage, Clock::Wall))
        {
            Some(span) => *span = StageTime::new(stage, Clock::Wall, span.ns.unwrap_or(0) + ns),
            None => self.spans.push(StageTime::new(stage, Clock::Wall, ns)),
        }
        result
    }

    /// Brings poses of a crowd that changes to a tick, as [`CrowdPose::update`] does, and times it by wall clock if
    /// instances are replaced.
    pub fn update(&mut self, pose: &mut CrowdPose, crowd: &Crowd, tick: u32, anew: bool) {
        match crowd.turnover() {
            Some(_) => self.wall(Stage::Update, || pose.update(crowd, tick, anew)),
            None => pose.update(crowd, tick, anew),
        }
    }

    /// Computes the palettes of a tick, each step as a stage of its own.
    pub fn pose(
        &mut self,
        pose: &mut CrowdPose,
        crowd: &Crowd,
        tick: u32,
        threads: &Threads,
        out: PoseOut,
    ) {
        self.update(pose, crowd, tick, false);
        let stages = pose.stages().iter().map(|&stage| stage.into());
        self.shared_out(stages, |clock| pose.pose(crowd, tick, threads, clock, out));
    }

    /// Runs `work`, whose threads go through several stages at a pace of their own, and divides its wall time among the
    /// stages in proportion to the thread time that `work` reports for each.
    pub fn shared_out<R>(
        &mut self,
        stages: impl Iterator<Item = Stage> + Clone,
        work: impl FnOnce(&ThreadTimes) -> R,
    ) -> R {
        let times = ThreadTimes::default();
        let start = Instant::now();
        let result = work(&times);
        let ns = elapsed(start);
        let all: u64 = stages.clone().map(|stage| times.of(stage)).sum();
        for stage in stages {
            let product = u128::from(ns) * u128::from(times.of(stage));
            let share = product.checked_div(all.into()).unwrap_or(0) as u64;
            self.spans.push(StageTime::new(stage, Clock::Wall, share));
        }
        result
    }

    /// Starts the next frame; keeps the allocated memory.
    pub fn clear(&mut self) {
        self.spans.clear();
    }
}

/// Nanoseconds of each stage, summed over all threads.
#[derive(Debug, Default)]
pub struct ThreadTimes([AtomicU64; Stage::ALL.len()]);

impl ThreadTimes {
    /// Adds the time that the calling thread spends on some work of a stage.
    pub fn time<R>(&self, stage: Stage, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        self.add(stage, elapsed(start));
        result
    }

    fn add(&self, stage: Stage, ns: u64) {
        self.0[stage as usize].fetch_add(ns, Ordering::Relaxed);
    }

    fn of(&self, stage: Stage) -> u64 {
        self.0[stage as usize].load(Ordering::Relaxed)
    }
}

impl PoseClock for ThreadTimes {
    fn run(&self, stage: PoseStage, work: &mut dyn FnMut()) {
        self.time(stage.into(), work);
    }
}

/// Nanoseconds since a moment.
fn elapsed(start: Instant) -> u64 {
    start.elapsed().as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_and_clocks_are_read_by_the_names_that_they_are_written_by() {
        for &stage in Stage::ALL {
            let written = serde_json::to_string(&stage).unwrap();
            assert_eq!(written, format!("{:?}", stage.name()));
            assert_eq!(serde_json::from_str::<Stage>(&written).unwrap(), stage);
        }
        for &clock in Clock::VARIANTS {
            let written = serde_json::to_string(&clock).unwrap();
            assert_eq!(written, format!("{:?}", clock.name()));
            assert_eq!(serde_json::from_str::<Clock>(&written).unwrap(), clock);
        }
        let error = serde_json::from_str::<Clock>("\"cpu\"")
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("unknown clock \"cpu\";")
                && error.contains("wall, thread_sum, gpu or fenced"),
            "{error}"
        );
    }

    /// Work that is long enough for the clock.
    fn spin() {
        let start = Instant::now();
        while start.elapsed().as_nanos() < 2_000 {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn parts_of_a_frame_add_up_in_one_span_a_stage() {
        let mut timer = StageTimer::default();
        timer.spans.push(StageTime {
            stage: Stage::Sample,
            clock: Clock::Gpu,
            ns: Some(1),
        });
        for _ in 0..3 {
            timer.wall(Stage::Sample, spin);
            assert_eq!(timer.wall(Stage::Palette, || 7), 7);
        }
        let stages: Vec<_> = timer.spans.iter().map(|s| (s.stage, s.clock)).collect();
        let wall = Clock::Wall;
        assert_eq!(
            stages,
            [
                (Stage::Sample, Clock::Gpu),
                (Stage::Sample, wall),
                (Stage::Palette, wall)
            ]
        );
        assert_eq!(timer.spans[0].ns, Some(1));
        assert!(timer.spans[1].ns.unwrap() >= 6_000, "{:?}", timer.spans);
        timer.clear();
        assert_eq!(timer.spans, []);
    }

    #[test]
    fn the_time_that_stages_take_together_is_shared_out_as_threads_spent_theirs() {
        let mut timer = StageTimer::default();
        let start = Instant::now();
        timer.shared_out(
            [Stage::Sample, Stage::Blend, Stage::Palette].into_iter(),
            |times| {
                spin();
                times.add(Stage::Sample, 30_000);
                times.add(Stage::Palette, 12_000);
                times.add(Stage::Sample, 6_000);
                times.run(PoseStage::LocalToModel, &mut spin);
            },
        );
        let took = elapsed(start);
        let spans: Vec<_> = timer.spans.iter().map(|s| (s.stage, s.clock)).collect();
        assert_eq!(
            spans,
            [Stage::Sample, Stage::Blend, Stage::Palette].map(|stage| (stage, Clock::Wall))
        );
        let [sample, blend, palette] = [0, 1, 2].map(|i| timer.spans[i].ns);
        assert_eq!(blend, None, "no thread blended");
        let (sample, palette) = (sample.unwrap(), palette.unwrap());
        assert!(sample.abs_diff(3 * palette) <= 3, "{sample} {palette}");
        assert!(
            (2_000..=took).contains(&(sample + palette + 1)),
            "{sample} {palette} of {took}"
        );
    }

    #[test]
    fn threads_spend_time_on_the_stage_they_name() {
        let times = ThreadTimes::default();
        times.run(PoseStage::Palette, &mut spin);
        times.run(PoseStage::Palette, &mut spin);
        assert!(times.of(Stage::Palette) >= 4_000);
        assert_eq!(times.of(Stage::Sample), 0);
    }
}
