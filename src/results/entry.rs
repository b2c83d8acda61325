//! A backend at a point: its rows, and the times that follow from them.

use super::{Point, Row};
use crate::backend::LaterPasses;
use crate::frame::{Clock, Side, Stage, StageGroup};
use crate::harness::stats;
use crate::harness::uncertainty::Level;
use crate::registry;
use std::collections::{BTreeMap, HashMap};
use strum::IntoStaticStr;

/// A time by which backends are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
pub enum Quantity {
    /// The whole frame.
    #[strum(to_string = "frame")]
    Frame,
    /// Pose, upload and skin, if drawing is emulated and would hide them.
    #[strum(to_string = "pose + upload + skin")]
    Work,
}

impl Quantity {
    /// All quantities.
    pub const ALL: [Self; 2] = [Self::Frame, Self::Work];

    /// Name in headings.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A backend at a point.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The point.
    pub point: Point,
    /// Name as in `skinbench list`.
    pub backend: String,
    /// Runs, the newest last; each has one row per stage and clock, that of the whole frame last.
    pub runs: Vec<Vec<Row>>,
}

impl Entry {
    fn newest(&self) -> &[Row] {
        self.runs.last().map_or(&[], |run| run)
    }

    /// The row with the final status.
    pub fn last(&self) -> Option<&Row> {
        self.newest().last()
    }

    /// Returns whether it was measured.
    pub fn is_ok(&self) -> bool {
        self.newest().iter().any(Row::is_ok)
    }

    /// Returns whether it left out instances that are out of view, and so did less work than others at the same point.
    pub fn leaves_out(&self) -> bool {
        self.newest().iter().any(|row| row.visible.is_some())
    }

    /// Returns whether its output cannot be drawn.
    pub fn is_never_drawn(&self) -> bool {
        let known = registry::find(&self.backend);
        known.is_some_and(|known| known.abilities().later_passes == LaterPasses::NotDrawn)
    }

    /// Returns whether it takes part in verdicts: it does as much work as others, and its output can be drawn.
    pub fn competes(&self) -> bool {
        !self.leaves_out() && !self.is_never_drawn()
    }

    /// Returns whether the adapter took part in its frames.
    pub fn uses_adapter(&self) -> bool {
        let has_device_time = self.newest().iter().any(|row| row.clock.is_of_device());
        self.is_ok() && (self.point.passes > 0 || has_device_time)
    }

    /// Returns whether drawing skins, so that no stage of its own does.
    pub fn skins_in_draw(&self) -> bool {
        self.is_ok() && self.point.passes > 0 && self.total(StageGroup::Skin).is_none()
    }

    /// A stage of its newest run by the clock closest to it: the device's if it has one.
    pub fn stage(&self, stage: Stage) -> Option<&Row> {
        stage_by(self.newest(), stage, &Clock::BY_CLOSENESS)
    }

    /// A side's part of a stage in its newest run.
    pub fn stage_on(&self, stage: Stage, side: Side) -> Option<&Row> {
        stage_by(self.newest(), stage, side.clocks())
    }

    /// The stages of a group in its newest run, each by the clock closest to it.
    pub fn stages(&self, group: StageGroup) -> impl Iterator<Item = &Row> {
        stages_in(group).filter_map(|stage| self.stage(stage))
    }

    /// The row of the whole frame, which has the columns of memory and work.
    pub fn frame(&self) -> Option<&Row> {
        self.stage(Stage::Frame)
    }

    /// The sum of a group's medians on both sides, in nanoseconds; `None` if it has none of its stages.
    pub fn total(&self, group: StageGroup) -> Option<u64> {
        sum_of_medians(on_both_sides(self.newest(), |known| known == group))
    }

    /// The part of a frame that no stage has, in nanoseconds: the median, frame by frame, of the frame less its stages on
    /// both sides, which follow one another with one frame in flight. It contains the recording and submitting of commands,
    /// the gaps between stages on the device, and the time until the processor learns that the device is done.
    ///
    /// `None` without samples of a frame and its stages, if fences timed the stages, which they do in other frames, and if
    /// the stages overlap, so that they add up to more than the frame.
    pub fn other(&self) -> Option<u64> {
        let stages = on_both_sides(self.newest(), |group| group != StageGroup::Whole);
        if stages.is_empty() || stages.iter().any(|row| row.clock == Clock::Fenced) {
            return None;
        }
        let stages = frame_by_frame(&stages);
        let mut left = Vec::new();
        for (frame, ns) in &self.stage_on(Stage::Frame, Side::Host)?.samples {
            if let Some(of_stages) = stages.get(frame) {
                left.push(i128::from(*ns) - i128::from(*of_stages));
            }
        }
        left.sort_unstable();
        u64::try_from(*left.get(left.len() / 2)?).ok()
    }

    /// The sides whose part of a frame deviates so much that small differences of it mean nothing: more than 5 % of the
    /// frame for the host's part, more than 5 % of their sum for the device's stages, of which each has a figure of its
    /// own.
    ///
    /// Deviations are medians of absolute deviations. Those of the device's stages add up, because they follow one clock;
    /// the host's part is what the frame deviates by in addition, as independent deviations combine.
    pub fn noisy_sides(&self) -> Vec<Side> {
        let mut device_median = 0;
        let mut device_mad = 0;
        for stage in Stage::ALL {
            if let Some(row) = self.stage_on(*stage, Side::Device) {
                device_median += row.median_ns.unwrap_or(0);
                device_mad += row.mad_ns.unwrap_or(0);
            }
        }
        let whole = self.frame();
        let frame_median = whole.and_then(|row| row.median_ns).unwrap_or(0);
        let frame_mad = whole.and_then(|row| row.mad_ns).unwrap_or(0) as f64;
        let device_mad = device_mad as f64;
        let host_mad = (frame_mad.powi(2) - device_mad.powi(2)).max(0.0).sqrt();
        let mut noisy = Vec::new();
        if stats::is_noisy(host_mad, frame_median) {
            noisy.push(Side::Host);
        }
        if stats::is_noisy(device_mad, device_median) {
            noisy.push(Side::Device);
        }
        noisy
    }

    /// CPU time of our own threads per frame, in nanoseconds.
    pub fn processor(&self) -> Option<u64> {
        stage_by(self.newest(), Stage::Frame, &[Clock::ThreadSum])?.median_ns
    }

    /// Time of the device's stages per frame, in nanoseconds: the sum of their medians.
    pub fn device(&self) -> Option<u64> {
        sum_of_medians(self.newest().iter().filter(|row| row.clock.is_of_device()))
    }

    /// Bytes on host and device that frames need, without drawing; `None` if the results do not say.
    pub fn memory(&self) -> Option<u64> {
        let row = self.frame()?;
        Some(row.host_bytes?.saturating_add(row.device_bytes?))
    }

    /// The median of a quantity in nanoseconds; for several stages the sum of their medians.
    pub fn time(&self, quantity: Quantity) -> Option<u64> {
        sum_of_medians(stages_for(self.newest(), quantity))
    }

    /// Returns whether the device's clock was unsteady while its newest run measured a quantity.
    pub fn is_unsteady(&self, quantity: Quantity) -> bool {
        stages_for(self.newest(), quantity)
            .iter()
            .any(|row| row.is_unsteady())
    }

    /// Estimate of a quantity with its uncertainty, over all runs that have samples from a steady clock; `None` without
    /// any.
    pub fn level(&self, quantity: Quantity) -> Option<Level> {
        let mut runs: Vec<Vec<u64>> = Vec::new();
        for run in &self.runs {
            let stages = stages_for(run, quantity);
            let times = frame_by_frame(&stages);
            if !times.is_empty() && !stages.iter().any(|row| row.is_unsteady()) {
                runs.push(times.into_values().collect());
            }
        }
        if runs.is_empty() {
            return None;
        }
        Level::of(runs.iter().map(|run| &run[..]))
    }
}

/// A stage of a run by the first of some clocks that measured it.
fn stage_by<'a>(run: &'a [Row], stage: Stage, clocks: &[Clock]) -> Option<&'a Row> {
    clocks.iter().find_map(|clock| {
        run.iter()
            .find(|row| row.stage == stage && row.clock == *clock && row.is_ok())
    })
}

fn stages_in(group: StageGroup) -> impl Iterator<Item = Stage> {
    let all = Stage::ALL.iter().copied();
    all.filter(move |stage| stage.group() == group)
}

/// The stages of some groups on each side, in the order of frames.
fn on_both_sides(run: &[Row], is_wanted: impl Fn(StageGroup) -> bool) -> Vec<&Row> {
    let mut found = Vec::new();
    for stage in Stage::ALL {
        if is_wanted(stage.group()) {
            for side in Side::BOTH {
                found.extend(stage_by(run, *stage, side.clocks()));
            }
        }
    }
    found
}

fn sum_of_medians<'a>(stages: impl IntoIterator<Item = &'a Row>) -> Option<u64> {
    let medians = stages.into_iter().filter_map(|row| row.median_ns);
    medians.reduce(|a, b| a + b)
}

/// The stages whose sum is a quantity; none without all that it needs.
fn stages_for(run: &[Row], quantity: Quantity) -> Vec<&Row> {
    if quantity == Quantity::Frame {
        return stage_by(run, Stage::Frame, &Clock::BY_CLOSENESS)
            .into_iter()
            .collect();
    }
    let groups = [StageGroup::Pose, StageGroup::Upload, StageGroup::Skin];
    let [pose, upload, skin] = groups.map(|group| on_both_sides(run, |known| known == group));
    let poses = !pose.is_empty() || stage_by(run, Stage::PoseSkin, &Clock::BY_CLOSENESS).is_some();
    if skin.is_empty() || !poses {
        Vec::new()
    } else {
        [pose, upload, skin].concat()
    }
}

/// The sums of stages by the numbers of the frames that all of them have.
fn frame_by_frame(stages: &[&Row]) -> BTreeMap<u32, u64> {
    let Some((first, others)) = stages.split_first() else {
        return BTreeMap::new();
    };
    let mut sums: BTreeMap<u32, u64> = first.samples.iter().copied().collect();
    for stage in others {
        let times: HashMap<u32, u64> = stage.samples.iter().copied().collect();
        sums.retain(|frame, sum| {
            let time = times.get(frame);
            *sum += time.unwrap_or(&0);
            time.is_some()
        });
    }
    sums
}
