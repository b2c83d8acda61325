//! The measurement of one scene at one point.

use super::record::{RunRecord, RunRecorder};
use super::{common, tell};
use skinbench::backend::Context;
use skinbench::harness::environment::Environment;
use skinbench::harness::run::{self, Ended};
use skinbench::harness::sweep::SweepPoint;
use skinbench::harness::{MachineLimits, Outcome, RunOptions};
use skinbench::registry::BackendEntry;
use skinbench::report::{Screen, card, findings, run_table, run_text};
use skinbench::results::{MeasuredScene, Study};
use skinbench::scene::{BuiltScene, Scene};
use skinbench::wording::counted;
use std::time::Duration;

/// What every scene of a run is measured at, and how.
pub struct Course {
    /// The points.
    pub plans: Vec<SweepPoint>,
    /// The contexts of all threads that points ask for; the first is that of points without a number.
    pub contexts: Vec<Context>,
    /// Options of each measurement.
    pub options: RunOptions,
}

/// A point that was measured.
pub struct MeasuredPoint {
    environment: Environment,
    scene: BuiltScene,
    /// Limits of the machine, if they were measured just before.
    limits: Option<MachineLimits>,
    clip_error: Option<f64>,
    outcomes: Vec<Outcome>,
    /// The outcomes in order; empty without any.
    study: Study,
    partial: Vec<&'static str>,
    /// The end of each backend, in this run or in an earlier one.
    pub ended: Vec<Ended>,
    /// `true` if an earlier run had measured all of it.
    is_kept: bool,
}

impl Course {
    /// The context of a point's threads.
    pub fn context(&self, plan: &SweepPoint) -> &Context {
        let Some(threads) = plan.threads else {
            return &self.contexts[0];
        };
        let mut contexts = self.contexts.iter();
        contexts
            .find(|context| context.threads.count() == threads as usize)
            .unwrap_or(&self.contexts[0])
    }

    /// Measures those of some backends that are not known yet at a point of a scene.
    ///
    /// # Errors
    /// The crowd cannot be built.
    pub fn point(
        &self,
        scene: &Scene,
        plan: &SweepPoint,
        racing: &[&'static BackendEntry],
        record: &mut RunRecord,
    ) -> anyhow::Result<MeasuredPoint> {
        let scene = scene.clone().with(plan.settings.clone());
        let scene = scene.build(common::memory())?;
        let context = self.context(plan);
        record.begin_point(&scene.name, context.threads.count());
        let environment = record.environment.clone();
        let point = MeasuredScene {
            environment: &environment,
            scene: &scene,
            clip_error: None,
        }
        .point(run::passes(context, &scene), self.options.disturbance);
        let mut ended = Vec::new();
        let mut missing = Vec::new();
        for &entry in racing {
            match record.known(&point, entry.name) {
                Some(known) => ended.push(known),
                None => missing.push(entry),
            }
        }
        let kept = ended.len();
        record.kept += kept;
        let is_kept = kept > 0 && missing.is_empty();
        let mut limits = None;
        let mut clip_error = None;
        let mut outcomes = Vec::new();
        let mut study = Study::default();
        let mut partial = Vec::new();
        if !missing.is_empty() {
            limits = record.limits(&scene.name, context);
            let measured = MeasuredScene::new(&environment, &scene);
            clip_error = measured.clip_error;
            let options = RunOptions {
                backends: missing,
                ..self.options.clone()
            };
            let mut recorder = RunRecorder {
                measured: &measured,
                record: &mut *record,
                partial: Vec::new(),
            };
            outcomes = run::run(&scene, context, &options, &mut recorder)?;
            partial = recorder.partial;
            if !record.keeps_partial {
                outcomes.retain(|outcome| !partial.contains(&outcome.name));
            }
            study = run_table::study_of(&measured, &outcomes);
            ended.extend(outcomes.iter().map(Ended::from));
        }
        record.ended.extend_from_slice(&ended);
        Ok(MeasuredPoint {
            environment,
            scene,
            limits,
            clip_error,
            outcomes,
            study,
            partial,
            ended,
            is_kept,
        })
    }
}

impl MeasuredPoint {
    /// The table of the point, and what stands below it.
    pub fn text(
        &self,
        with_card: bool,
        screen: Screen,
        backends: &[&'static BackendEntry],
    ) -> String {
        let Some(limits) = &self.limits else {
            return String::new();
        };
        let measured = MeasuredScene {
            environment: &self.environment,
            scene: &self.scene,
            clip_error: self.clip_error,
        };
        let mut text = run_table::measured(&measured, &self.study, limits, &self.outcomes, screen);
        if with_card {
            text += &card::text(&self.study, screen);
        }
        if common::is_interrupted() {
            text += &common::left_out(backends, &self.outcomes, &self.partial);
        }
        text + "\n"
    }

    /// The verdict on the point.
    pub fn verdict(&self, with_card: bool) -> String {
        run_text::of_run(&self.study, with_card)
    }

    /// The point and its fastest backends in a line, and warnings in lines of their own.
    pub fn lines(&self, plan: &SweepPoint) -> String {
        let kept = if self.is_kept {
            " (kept from an earlier run)"
        } else {
            ""
        };
        let place = format!("{}{}", self.scene.name, words_for(plan));
        let fastest = run_text::fastest(&self.ended);
        let mut lines = format!("{place}: {fastest}{kept}\n");
        for remark in findings::conditions_of_times(&self.study) {
            if remark.is_warning() {
                lines += &format!("warning: {place}: {remark}\n");
            }
        }
        lines
    }

    /// Returns whether frames vary so much that small differences mean nothing.
    pub fn is_noisy(&self) -> bool {
        let mut entries = self.study.entries.iter();
        entries.any(|entry| !entry.noisy_sides().is_empty())
    }

    /// The series that end here for backends whose frame took longer than `most`.
    pub fn slower_than(
        &self,
        most: Duration,
        plan: &SweepPoint,
    ) -> Vec<(SweepPoint, &'static str)> {
        let mut slow = Vec::new();
        for &Ended { backend, frame, .. } in &self.ended {
            if let Some(frame) = frame.filter(|frame| *frame > most) {
                let ms = frame.as_secs_f64() * 1e3;
                let instances = self.scene.crowd.instance_count();
                tell(format_args!(
                    "note: {backend}: {ms:.0} ms a frame of {instances} instances, more than --max-frame-time: larger crowds \
                     left out"
                ));
                slow.push((plan.series(), backend));
            }
        }
        slow
    }
}

/// The words for a plan: its number of instances and its other settings, each after a comma.
pub fn words_for(plan: &SweepPoint) -> String {
    let mut text = String::new();
    if let Some(instances) = plan.settings.instances {
        text += &format!(", {}", counted(instances, "instance"));
    }
    for chosen in plan.series().settings.chosen() {
        let name = chosen.setting.name.replace('_', " ");
        text += &format!(", {name}");
        // A switch has no words.
        if !chosen.words.is_empty() {
            text += &format!(" {}", chosen.words.join(","));
        }
    }
    if let Some(threads) = plan.threads {
        text += &format!(", threads {threads}");
    }
    text
}
