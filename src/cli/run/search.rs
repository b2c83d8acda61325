//! The search for the largest crowd within a time, within a number of bytes, or both.

use super::common;
use super::point::{Course, words_for};
use super::record::RunRecord;
use anyhow::bail;
use bytesize::ByteSize;
use skinbench::error::DataError;
use skinbench::frame::BackendError;
use skinbench::harness::Status;
use skinbench::harness::run;
use skinbench::harness::sweep::{Search, SearchBounds, SweepPoint};
use skinbench::registry::BackendEntry;
use skinbench::report::places::crowd;
use skinbench::report::size as bytes_in_words;
use skinbench::scene::Scene;
use skinbench::wording::{self, duration, grouped};
use std::time::Duration;

/// What a crowd may take.
pub struct Budgets {
    /// Time of a frame.
    pub time: Option<Duration>,
    /// Bytes on host and device.
    pub memory: Option<u64>,
}

/// Parses a time with its unit.
pub fn time(text: &str) -> Result<Duration, &'static str> {
    humantime::parse_duration(text)
        .ok()
        .filter(|time| !time.is_zero())
        .ok_or("expected a time with its unit, such as 16.7ms or 2s")
}

/// Parses a number of bytes with its unit.
pub fn size(text: &str) -> Result<u64, &'static str> {
    let has_unit = text.ends_with(['b', 'B']);
    let expected = "expected a size with its unit, such as 128MB or 64MiB";
    let size = wording::parsed(text, |size: &ByteSize| has_unit && size.0 > 0, expected)?;
    Ok(size.0)
}

/// A backend in a series of points of a scene.
struct Searched<'a> {
    scene: &'a Scene,
    plan: &'a SweepPoint,
    entry: &'static BackendEntry,
}

/// A crowd that was measured.
struct Trial {
    /// Time of its frame; `None` if it does not fit in memory.
    frame: Option<Duration>,
    /// `true` if its frames vary so much that small differences mean nothing.
    is_noisy: bool,
}

/// What is searched: every backend in each series of each scene.
fn searched<'a>(scenes: &'a [Scene], course: &'a Course) -> Vec<Searched<'a>> {
    let mut searched = Vec::new();
    for scene in scenes {
        let mut series = Vec::new();
        for plan in &course.plans {
            if !series.contains(&plan.series()) {
                series.push(plan.series());
                for &entry in &course.options.backends {
                    searched.push(Searched { scene, plan, entry });
                }
            }
        }
    }
    searched
}

/// Finds for each scene, series and backend the largest crowd within the budgets; returns the answers in lines.
pub fn run(
    scenes: &[Scene],
    course: &Course,
    record: &mut RunRecord,
    budgets: &Budgets,
) -> anyhow::Result<String> {
    let mut answers = String::new();
    for one in searched(scenes, course) {
        let answer = one.answer(course, record, budgets);
        if common::is_interrupted() {
            break;
        }
        let scene = if scenes.len() == 1 {
            String::new()
        } else {
            format!("{}: ", one.scene.name)
        };
        let backend = one.entry.name;
        let series = words_for(&one.plan.series());
        let line = format!("{scene}{backend}{series}: {answer}");
        record.progress.tell(&line);
        answers += &format!("  {line}\n");
    }
    let mut within = Vec::new();
    within.extend(
        budgets
            .time
            .map(|time| format!("{} a frame", duration(time.as_nanos() as u64))),
    );
    within.extend(
        budgets
            .memory
            .map(|bytes| format!("{} on host and device", bytes_in_words(bytes as f64))),
    );
    Ok(format!(
        "\nlargest crowd within {}:\n{answers}",
        within.join(" and ")
    ))
}

impl Searched<'_> {
    /// The plan with another number of instances, or with as few as the scene can have.
    fn sized(&self, instances: u64) -> SweepPoint {
        let least = self.scene.least_instances();
        self.plan.with_instances(Some(instances.max(least)))
    }

    /// Bytes on host and device that the backend promises for a crowd; `None` if the crowd is too large to be built or
    /// held.
    fn promised(&self, course: &Course, instances: u64) -> Result<Option<u64>, BackendError> {
        let scene = self.scene.clone().with(self.sized(instances).settings);
        let Ok(scene) = scene.build(common::memory()) else {
            return Ok(None);
        };
        match run::promised_memory(course.context(self.plan), &scene, self.entry) {
            Ok(memory) => Ok(Some(memory.resident())),
            Err(BackendError::TooLarge(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The answer: the largest crowds by memory and by time, and what ended the search.
    fn answer(&self, course: &Course, record: &mut RunRecord, budgets: &Budgets) -> String {
        let mut answers = Vec::new();
        if let Err(error) = self.search(course, record, budgets, &mut answers) {
            answers.push(format!("{error:#}"));
        }
        answers.join("; ")
    }

    fn search(
        &self,
        course: &Course,
        record: &mut RunRecord,
        budgets: &Budgets,
        answers: &mut Vec<String>,
    ) -> anyhow::Result<()> {
        let name = &self.scene.name;
        let start = self
            .plan
            .settings
            .instances
            .unwrap_or(self.scene.instances());
        let mut most = u64::MAX;
        if let Some(budget) = budgets.memory {
            let mut search = Search::exact(budget, start);
            while let Some(instances) = search.next() {
                let bytes = self.promised(course, instances)?;
                search.record(instances, bytes.map(|bytes| bytes as f64));
            }
            let answer = found(name, search.bounds, bytes_in_words);
            answers.push(answer.unwrap_or_else(|| "not even one fits".into()));
            let Some((fits, _)) = search.bounds.fits else {
                return Ok(());
            };
            most = fits;
        }
        let Some(budget) = budgets.time else {
            // The crowd that was found is run and verified.
            if self.trial(course, record, most)?.frame.is_none() {
                bail!("{most} instances cannot be run here");
            }
            return Ok(());
        };
        let mut search = Search::new(budget, start, most);
        let mut problem = None;
        let mut is_noisy = false;
        while let Some(instances) = search.next() {
            let frame = match self.trial(course, record, instances) {
                Ok(trial) => {
                    is_noisy |= trial.is_noisy;
                    trial.frame
                }
                // A crowd that cannot be built bounds the search from above.
                Err(error) if error.is::<DataError>() && search.bounds.fits.is_some() => None,
                Err(error) => {
                    problem = Some(error);
                    break;
                }
            };
            if common::is_interrupted() {
                break;
            }
            search.record(instances, frame.map(|frame| frame.as_nanos() as f64));
        }
        let by = if answers.is_empty() { "" } else { "by time " };
        let answer = found(name, search.bounds, nanoseconds);
        let mut answer = format!("{by}{}", answer.as_deref().unwrap_or("not measured"));
        if is_noisy {
            answer += ", as far as noisy times tell";
        }
        answers.push(answer);
        problem.map_or(Ok(()), Err)
    }

    /// Measures a crowd.
    fn trial(
        &self,
        course: &Course,
        record: &mut RunRecord,
        instances: u64,
    ) -> anyhow::Result<Trial> {
        let measured = course.point(self.scene, &self.sized(instances), &[self.entry], record)?;
        let frame = match measured.ended.first() {
            Some(ended) if ended.status == Status::Ok => ended.frame,
            Some(ended) if ended.status != Status::TooLarge => {
                bail!("{} at {instances} instances", ended.status.name())
            }
            _ => None,
        };
        Ok(Trial {
            frame,
            is_noisy: measured.is_noisy(),
        })
    }
}

/// The largest crowd that was found to fit, and the smallest that does not, each with what it takes; `None` if neither is
/// known.
fn found(
    scene: &str,
    SearchBounds { fits, exceeds }: SearchBounds,
    in_words: fn(f64) -> String,
) -> Option<String> {
    let exceeds = exceeds.filter(|(_, taken)| taken.is_finite());
    let Some((instances, taken)) = fits else {
        let (_, taken) = exceeds?;
        return Some(format!("not even one fits: it takes {}", in_words(taken)));
    };
    let verb = if instances == 1 { "fits" } else { "fit" };
    let crowd = crowd(scene, instances);
    let end = match exceeds {
        Some((exceeds, _)) => format!("{} do not", grouped(exceeds)),
        None => "memory ends the search".into(),
    };
    Some(format!("{crowd} {verb} ({}), {end}", in_words(taken)))
}

fn nanoseconds(ns: f64) -> String {
    duration(ns as u64)
}
