//! The search for the largest crowd within a time, within a number of bytes, or both.

use super::point::{Course, words_for};
use super::record::RunRecord;
use super::{common, tell};
use anyhow::bail;
use bytesize::ByteSize;
use skinbench::error::DataError;
use skinbench::frame::{BackendError, Side};
use skinbench::harness::Status;
use skinbench::harness::run;
use skinbench::harness::sweep::{Search, SearchBounds, SweepPoint};
use skinbench::registry::BackendEntry;
use skinbench::report::places::crowd;
use skinbench::report::remark::Remark;
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
    let searched = searched(scenes, course);
    let mut answers = String::new();
    let mut noisy = Vec::new();
    for one in &searched {
        let answer = one.answer(course, record, budgets, &mut noisy);
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
        record.progress.suspend(|| tell(&line));
        answers += &format!("  {line}\n");
    }
    for side in Side::BOTH {
        if noisy.contains(&side) {
            answers += &format!("{}\n", Remark::Noisy(side));
        }
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

/// Checks that a single instance fits the memory on at least one backend.
pub fn check_memory(scenes: &[Scene], course: &Course, budget: u64) -> anyhow::Result<()> {
    let searched = searched(scenes, course);
    // Scenes that cannot be built and backends that cannot run are reported one by one.
    let mut least: Option<(u64, &Searched)> = None;
    for one in &searched {
        if let Ok(Some(bytes)) = one.promised(course, 1) {
            // The first that fits ends the check, since each promise builds a crowd.
            if bytes <= budget {
                return Ok(());
            }
            if least.is_none_or(|least| bytes < least.0) {
                least = Some((bytes, one));
            }
        }
    }
    let Some((least, one)) = least else {
        return Ok(());
    };
    let [budget, least] = [budget, least].map(|bytes| bytes_in_words(bytes as f64));
    bail!(
        "no crowd of {} fits {budget}: one instance takes {least} on {}",
        one.scene.name,
        one.entry.name
    );
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

    /// The answer: the largest crowds by memory and by time, and what ended the search. Adds the sides of frames that were
    /// noisy.
    fn answer(
        &self,
        course: &Course,
        record: &mut RunRecord,
        budgets: &Budgets,
        noisy: &mut Vec<Side>,
    ) -> String {
        let mut answers = Vec::new();
        if let Err(error) = self.search(course, record, budgets, &mut answers, noisy) {
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
        noisy: &mut Vec<Side>,
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
            answers.push(by_memory(name, search.bounds));
            let Some((fits, _)) = search.bounds.fits else {
                return Ok(());
            };
            most = fits;
        }
        let Some(budget) = budgets.time else {
            // The crowd that was found is run and verified.
            if self.trial(course, record, most, noisy)?.is_none() {
                bail!("{most} instances cannot be run here");
            }
            return Ok(());
        };
        let mut search = Search::new(budget, start, most);
        let mut problem = None;
        let mut noisy_here = Vec::new();
        while let Some(instances) = search.next() {
            let frame = match self.trial(course, record, instances, &mut noisy_here) {
                Ok(frame) => frame,
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
        let mut answer = format!("{by}{}", by_time(name, search.bounds));
        if !noisy_here.is_empty() {
            answer += ", as far as noisy times tell";
        }
        answers.push(answer);
        noisy.extend(noisy_here);
        problem.map_or(Ok(()), Err)
    }

    /// Measures a crowd: the time of its frame, or `None` if it does not fit in memory. Adds noisy sides of its frame.
    fn trial(
        &self,
        course: &Course,
        record: &mut RunRecord,
        instances: u64,
        noisy: &mut Vec<Side>,
    ) -> anyhow::Result<Option<Duration>> {
        let measured = course.point(self.scene, &self.sized(instances), &[self.entry], record)?;
        noisy.extend(measured.noisy_sides());
        match measured.results.first() {
            Some((_, Status::Ok, frame)) => Ok(*frame),
            Some((_, Status::TooLarge, _)) | None => Ok(None),
            Some((_, status, _)) => bail!("{} at {instances} instances", status.name()),
        }
    }
}

/// The largest crowd that fits a number of bytes.
fn by_memory(scene: &str, SearchBounds { fits, exceeds }: SearchBounds) -> String {
    let Some((instances, taken)) = fits else {
        return match exceeds {
            Some((_, taken)) if taken.is_finite() => {
                format!("not even one fits: it takes {}", bytes_in_words(taken))
            }
            _ => "not even one fits".into(),
        };
    };
    let verb = if instances == 1 { "takes" } else { "take" };
    let mut answer = format!(
        "{} {verb} {}",
        crowd(scene, instances),
        bytes_in_words(taken)
    );
    if let Some((exceeds, _)) = exceeds {
        answer += &format!(", {} would not fit", grouped(exceeds));
    }
    answer
}

/// The largest crowd that fits a time.
fn by_time(scene: &str, SearchBounds { fits, exceeds }: SearchBounds) -> String {
    let exceeds = exceeds.filter(|bound| bound.1.is_finite());
    let Some((instances, _)) = fits else {
        return match exceeds {
            Some((_, ns)) => format!("not even one fits: its frame takes {}", duration(ns as u64)),
            None => "not measured".into(),
        };
    };
    let verb = if instances == 1 { "fits" } else { "fit" };
    let answer = format!("{} {verb}", crowd(scene, instances));
    match exceeds {
        Some((exceeds, _)) => format!("{answer}, {exceeds} do not"),
        None => format!("{answer}; memory ends the search"),
    }
}
