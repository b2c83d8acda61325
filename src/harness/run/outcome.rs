//! Results of a backend in a run.

use super::options::Disturbance;
use crate::frame::{BackendError, Clock, FrameWork, Stage, StageTime};
use crate::harness::{BackendMemory, Parity, Summary};
use crate::registry::OWN;
use crate::wording;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use strum::{IntoStaticStr, VariantArray};

/// Status of a backend after a run. Its serialised form is its name.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantArray,
)]
#[serde(into = "&'static str", try_from = "String")]
#[strum(serialize_all = "snake_case")]
pub enum Status {
    /// Verified, and measured unless the run only verifies.
    #[default]
    Ok,
    /// The machine or the options do not allow it to run.
    Skipped,
    /// Its vertices or its picture are wrong; it has no times.
    ParityFailed,
    /// It does not fit in memory.
    TooLarge,
    /// It failed during the run.
    Error,
}

impl Status {
    /// Name in tables and CSV.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl TryFrom<String> for Status {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        wording::named("status", &name, Self::VARIANTS, Self::name)
    }
}

impl From<&BackendError> for Status {
    fn from(error: &BackendError) -> Self {
        match error {
            BackendError::Unavailable(_) => Self::Skipped,
            BackendError::TooLarge(_) => Self::TooLarge,
            BackendError::Device(_) | BackendError::Failed(_) => Self::Error,
            BackendError::Differs(_) => Self::ParityFailed,
        }
    }
}

/// A stage's times by one clock, frame by frame.
#[derive(Debug, Clone, Default)]
pub struct StageTimes {
    /// The stage.
    pub stage: Stage,
    /// Clock that measured it.
    pub clock: Clock,
    /// Frame numbers and nanoseconds.
    pub samples: Vec<(u32, u64)>,
    /// Frames left out because the clock gave a zero or negative difference.
    pub dropped: u32,
    /// Bytes that the stage must move and the machine's bandwidth; `None` where these are not known.
    pub floor: Option<Floor>,
    /// Clock of the device in these frames, if it works in the stage and the clock was measured.
    pub device_clock: Option<RelativeClock>,
}

/// A clock during some frames, as a fraction of its best in the run.
#[derive(Debug, Clone, Copy)]
pub struct RelativeClock {
    /// Median over the frames.
    pub median: f64,
    /// That of the slowest frame.
    pub least: f64,
    /// `true` if too many frames had a lower clock for their times to be compared.
    pub is_unsteady: bool,
}

/// The least time that a stage could take.
#[derive(Debug, Clone, Copy)]
pub struct Floor {
    /// Bytes per frame.
    pub bytes: u64,
    /// Bytes per second that the machine moved in this run, in the stage's mix of reading and writing.
    pub limit: u64,
}

impl Floor {
    /// The least time in nanoseconds.
    pub fn ns(self) -> f64 {
        self.bytes as f64 * 1e9 / self.limit as f64
    }
}

impl StageTimes {
    /// Bandwidth reached in the median, in percent of the limit.
    pub fn percent_of_limit(&self) -> Option<f64> {
        Some(100.0 * self.floor?.ns() / self.summary()?.median as f64)
    }

    /// Median and spread; `None` without a sample.
    pub fn summary(&self) -> Option<Summary> {
        Summary::of(self.samples.iter().map(|&(_, ns)| ns))
    }
}

/// Results of a backend.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Whose code it is, as [`crate::registry::BackendEntry::owner`].
    pub owner: &'static str,
    /// Name as in the registry.
    pub name: &'static str,
    /// Number of times that a frame drew the crowd; 0 without an adapter.
    pub passes: u32,
    /// What disturbed its frames.
    pub disturbance: Disturbance,
    /// Status.
    pub status: Status,
    /// Reason why it is not [`Status::Ok`].
    pub problem: Option<String>,
    /// Comparison with the reference, if the run reached it.
    pub parity: Option<Parity>,
    /// Instruction set or adapter, threads, and the variant if the backend chose one.
    pub device: String,
    /// Times in the order of the stages, [`Stage::Frame`] last; empty if it was not measured.
    pub stages: Vec<StageTimes>,
    /// Memory and device work, if it was measured.
    pub resources: Option<Resources>,
    /// Median of the device's clock at the ends of blocks of frames, in MHz, where its driver tells it.
    pub device_mhz: Option<u32>,
    /// Clock of the processor before blocks of frames.
    pub processor_clock: Option<RelativeClock>,
    /// Frames after which the processor had bounds and sockets, at most; `None` if they were not read.
    pub gameplay_delay: Option<u32>,
}

/// The status of a backend after a run, and the time of its frame.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    /// Name as in the registry.
    pub backend: &'static str,
    /// Status.
    pub status: Status,
    /// Median of its frames, if it was measured.
    pub frame: Option<Duration>,
}

impl From<&Outcome> for Ended {
    fn from(outcome: &Outcome) -> Self {
        Self {
            backend: outcome.name,
            status: outcome.status,
            frame: outcome.median(Stage::Frame).map(Duration::from_nanos),
        }
    }
}

/// Memory of a backend, and the work that each of its frames gives to the device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resources {
    /// Memory, counted from its buffers.
    pub memory: BackendMemory,
    /// Work of a frame.
    pub work: FrameWork,
}

impl Outcome {
    /// An outcome without times of a backend with this name in the registry.
    pub fn new(name: &'static str, passes: u32, status: Status) -> Self {
        Self {
            owner: OWN,
            name,
            passes,
            status,
            ..Self::default()
        }
    }

    /// The outcome of a backend that cannot continue: it has no times.
    pub(super) fn failed(self, error: &BackendError) -> Self {
        Self {
            status: error.into(),
            problem: Some(error.to_string()),
            stages: Vec::new(),
            resources: None,
            ..self
        }
    }

    /// Number of instances that it did not leave out, if it leaves out any.
    pub fn visible(&self) -> Option<u64> {
        self.parity.as_ref()?.visible
    }

    /// A stage's median in nanoseconds by the clock closest to it: the device's if it has one.
    pub fn median(&self, stage: Stage) -> Option<u64> {
        let mut closest = Clock::BY_CLOSENESS.into_iter();
        let times = closest.find_map(|clock| {
            let mut stages = self.stages.iter();
            stages.find(|times| (times.stage, times.clock) == (stage, clock))
        });
        Some(times?.summary()?.median)
    }
}

/// Adds a frame's spans. Those of one stage and clock add up to one sample, which is dropped if any of them is invalid.
pub(super) fn add(stages: &mut Vec<StageTimes>, frame: u32, spans: &[StageTime]) {
    for (at, span) in spans.iter().enumerate() {
        let same = |other: &&StageTime| (other.stage, other.clock) == (span.stage, span.clock);
        if spans[..at].iter().any(|other| same(&other)) {
            continue;
        }
        let total = spans
            .iter()
            .filter(same)
            .try_fold(0u64, |sum, s| s.ns.map(|ns| sum + ns));
        let times = times_of(stages, span.stage, span.clock);
        match total {
            Some(ns) => times.samples.push((frame, ns)),
            None => times.dropped += 1,
        }
    }
}

/// The times of a stage by a clock, added if there are none.
pub(super) fn times_of(
    stages: &mut Vec<StageTimes>,
    stage: Stage,
    clock: Clock,
) -> &mut StageTimes {
    let known = stages
        .iter()
        .position(|times| (times.stage, times.clock) == (stage, clock));
    let index = known.unwrap_or(stages.len());
    if known.is_none() {
        stages.push(StageTimes {
            stage,
            clock,
            ..StageTimes::default()
        });
    }
    &mut stages[index]
}
