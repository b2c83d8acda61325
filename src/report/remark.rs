//! Remarks on results: each kind is a variant, and has one text.

use super::places::{crowd, crowd_at, drawn, settings};
use super::units::size;
use crate::frame::Side;
use crate::harness::TAIL_SAMPLES;
use crate::results::crossover::Crossover;
use crate::results::{Axis, Point, Sheet};
use crate::wording::{self, duration, grouped};
use std::fmt;
use std::time::Duration;

/// Something that readers of results should know.
#[derive(Debug, Clone, PartialEq)]
pub enum Remark<'a> {
    /// A backend overtakes another along the axis of a sheet.
    Overtakes(&'a Sheet, Crossover),
    /// The largest crowd of a sheet that fits a frame at 60 Hz.
    Fits {
        /// The sheet.
        sheet: &'a Sheet,
        /// The backend that holds most.
        backend: &'a str,
        /// Instances.
        instances: f64,
        /// `true` if no larger crowd was measured.
        is_end: bool,
    },
    /// The best percentage of the memory bandwidth that skinning reaches.
    Bandwidth {
        /// Percent of the limit.
        percent: f64,
        /// The backend that reaches it.
        backend: &'a str,
        /// Where it does.
        point: &'a Point,
    },
    /// A backend takes the least memory: bytes on host and device.
    LeastMemory(&'a str, u64),
    /// The cheapest backends among those held to the smallest tolerance.
    Exact {
        /// That tolerance, over the diagonal of the bounding box.
        tolerance: f64,
        /// The fastest of them.
        fastest: Option<&'a str>,
        /// The one with the least memory.
        smallest: Option<&'a str>,
        /// `true` if they are those of all.
        is_same: bool,
    },
    /// Another backend takes the least memory from a value of a sheet on.
    MemoryChanges {
        /// The sheet.
        sheet: &'a Sheet,
        /// The value.
        from: u64,
        /// The backend below it.
        before: &'a str,
        /// The backend from there on.
        after: &'a str,
    },
    /// Nothing changes along a sheet.
    NothingChanges(&'a Sheet),
    /// Results of one crowd say nothing about others.
    OneCrowd,
    /// A processor emulates the adapter of this name.
    Emulated(&'a str),
    /// Drawing is emulated, so that backends are compared without it.
    DrawingLeftOut,
    /// Backends that skin while drawing where drawing is left out.
    NotRanked(Vec<&'a str>),
    /// Backends whose output cannot be drawn.
    NeverDrawn(Vec<&'a str>),
    /// The device's clock fell so that nothing can be said.
    NoVerdict,
    /// The device's clock fell to so many percent while some rows were measured.
    Unsteady(f64),
    /// Backends some of whose frames are left out, because the device had another clock.
    OtherClocks(Vec<&'a str>),
    /// A side of frames varies too much.
    Noisy(Side),
    /// Frames of backends that were slow at first.
    SlowStart(Vec<&'a str>),
    /// Backends whose frames drifted.
    Drift(Vec<&'a str>),
    /// Stages that are too short.
    Short(Vec<String>),
    /// There are too few frames for a percentile.
    Tail,
    /// These options make clips or poses inexact by so much of the skeleton's size.
    ClipError(&'a str, f64),
    /// Fences time stages on the device.
    Fenced(Duration),
    /// What the column `work` is.
    WorkColumn,
    /// What columns with a percentage are.
    PercentColumns,
    /// What the column `upload` is.
    UploadColumn,
    /// What the column `other` is.
    OtherColumn,
    /// The processor's frequency is scaled.
    Governor(String),
}

impl Remark<'_> {
    /// Returns whether it is about something that may be wrong with the measurement.
    pub fn is_warning(&self) -> bool {
        matches!(
            self,
            Self::SlowStart(_) | Self::Drift(_) | Self::Short(_) | Self::Governor(_)
        )
    }
}

impl fmt::Display for Remark<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Overtakes(sheet, crossover) => overtakes(f, sheet, crossover),
            Self::Fits {
                sheet,
                backend,
                instances,
                is_end,
            } => {
                let about = if *is_end { "More than" } else { "About" };
                let crowd = crowd(&sheet.common.scene, wording::rounded(*instances, 3));
                let way = beside(sheet);
                write!(f, "{about} {crowd} fit a 60 Hz frame on {backend}{way}.")
            }
            Self::Bandwidth {
                percent,
                backend,
                point,
            } => {
                let crowd = crowd_at(point) + &settings(point);
                write!(
                    f,
                    "Skinning reaches {percent:.0} % of this machine's bandwidth: {backend}, {crowd}."
                )?;
                if *percent > 100.5 {
                    write!(
                        f,
                        " More than 100 % is not an error: caches held some of the data, or the limit was measured at a slower \
                         moment."
                    )?;
                }
                Ok(())
            }
            Self::LeastMemory(backend, bytes) => write!(
                f,
                "{backend} takes the least memory, {} on host and device.",
                size(*bytes as f64)
            ),
            Self::Exact {
                tolerance,
                fastest,
                smallest,
                is_same,
            } => exact(f, *tolerance, *fastest, *smallest, *is_same),
            Self::MemoryChanges {
                sheet,
                from,
                before,
                after,
            } => write!(
                f,
                "From {} on, {after} takes the least memory instead of {before}{}.",
                along(sheet, *from),
                beside(sheet)
            ),
            Self::NothingChanges(sheet) => write!(
                f,
                "From {} to {}, the same backend has the smallest median{}.",
                along(sheet, sheet.values[0]),
                along(sheet, sheet.values[sheet.values.len() - 1]),
                beside(sheet)
            ),
            Self::OneCrowd => write!(
                f,
                "The same command with `--instances 10,100,1000` instead of `--card` finds where the answers change."
            ),
            Self::Emulated(adapter) => write!(
                f,
                "{adapter} runs GPU kernels on the CPU: its times compare them with each other and say nothing about graphics \
                 hardware."
            ),
            Self::DrawingLeftOut => write!(
                f,
                "A CPU emulates the adapter, and drawing dominates: it is left out."
            ),
            Self::NotRanked(backends) => write!(
                f,
                "Not ranked, as they skin while drawing: {}.",
                backends.join(", ")
            ),
            Self::NeverDrawn(backends) => write!(
                f,
                "Not ranked, as their output cannot be drawn: {}.",
                backends.join(", ")
            ),
            Self::NoVerdict => write!(f, "No verdict: the device's clock was unsteady."),
            Self::Unsteady(least) => write!(
                f,
                "unsteady: the device's clock changed, down to {least:.0} % of the one that it holds; no part in the verdict"
            ),
            Self::OtherClocks(backends) => write!(
                f,
                "left out: frames of {} during which the device's clock was not the one that it holds",
                backends.join(", ")
            ),
            Self::Noisy(Side::Host) => write!(
                f,
                "noisy host: its part deviates by more than 5 % of the frame; close other programs"
            ),
            Self::Noisy(Side::Device) => write!(
                f,
                "noisy device: its stages deviate by more than 5 %; close what uses the device"
            ),
            Self::SlowStart(backends) => write!(
                f,
                "first frames slow: {}; measure more with --frames, or run again",
                backends.join(", ")
            ),
            Self::Drift(backends) => write!(
                f,
                "times drift by more than 5 % during the run: {}; let the machine cool, then run again",
                backends.join(", ")
            ),
            Self::Short(stages) => write!(
                f,
                "below the clock's resolution: {}; measure more instances",
                stages.join(", ")
            ),
            Self::Tail => write!(
                f,
                "p99: needs {TAIL_SAMPLES} frames or more (--frames {TAIL_SAMPLES})"
            ),
            Self::ClipError(options, error) => write!(
                f,
                "{options}: joints' ends are off by up to {error:.1e} of the skeleton's size"
            ),
            Self::Fenced(empty) => write!(
                f,
                "fenced: stages on the device are submissions of their own, less {} for an empty one",
                duration(empty.as_nanos() as u64)
            ),
            Self::WorkColumn => write!(f, "work: pose + upload + skin, by which rows are sorted"),
            Self::PercentColumns => write!(
                f,
                "%: of the memory bandwidth measured just before with as many bytes"
            ),
            Self::UploadColumn => write!(
                f,
                "upload: the processor makes upload memory ready, the device copies it"
            ),
            Self::OtherColumn => write!(
                f,
                "other: the frame less its stages (submitting, gaps, waiting for the device)"
            ),
            Self::Governor(governor) => write!(
                f,
                "the processor's frequency is scaled ({governor}): for steady times, cpupower frequency-set -g performance"
            ),
        }
    }
}

fn exact(
    f: &mut fmt::Formatter,
    tolerance: f64,
    fastest: Option<&str>,
    smallest: Option<&str>,
    is_same: bool,
) -> fmt::Result {
    let among = format!("the backends with the smallest error (vertices within {tolerance:.0e})");
    if is_same {
        return write!(f, "The same holds among {among}.");
    }
    let mut answers = Vec::new();
    answers.extend(fastest.map(|backend| format!("{backend} is fastest")));
    if smallest.is_some() && smallest == fastest {
        answers.push("takes the least memory".into());
    } else {
        answers.extend(smallest.map(|backend| format!("{backend} takes the least memory")));
    }
    write!(f, "Among {among}, {}.", answers.join(" and "))
}

/// A place on the axis of a sheet over instances or passes.
fn along(sheet: &Sheet, value: u64) -> String {
    if sheet.axis == Axis::Instances {
        crowd(&sheet.common.scene, value)
    } else {
        drawn(value as u32)
    }
}

/// What else the points of a sheet share, in parentheses.
fn beside(sheet: &Sheet) -> String {
    let settings = settings(&sheet.common);
    match sheet.axis {
        Axis::Instances => format!(" ({}{settings})", drawn(sheet.common.passes)),
        Axis::Passes => format!(" ({}{settings})", crowd_at(&sheet.common)),
        _ => format!(
            " ({}, {}{settings})",
            crowd_at(&sheet.common),
            drawn(sheet.common.passes)
        ),
    }
}

fn overtakes(f: &mut fmt::Formatter, sheet: &Sheet, crossover: &Crossover) -> fmt::Result {
    let number = |value: f64| {
        if sheet.axis.is_linear() {
            format!("{value:.1}")
        } else {
            grouped(value.round() as u64)
        }
    };
    let at = match sheet.axis {
        Axis::Instances => crowd(&sheet.common.scene, wording::rounded(crossover.at, 3)),
        axis => format!("{} {}", number(crossover.at), axis.title()),
    };
    write!(
        f,
        "{} overtakes {} at {at}{}; 95 % certain between {} and {}.",
        crossover.above,
        crossover.below,
        beside(sheet),
        number(crossover.range.0),
        number(crossover.range.1)
    )
}
