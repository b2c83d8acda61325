//! Progress on stderr with the time left, on a terminal only.

use super::{common, tell};
use indexmap::IndexMap;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use skinbench::harness::{Observer, Outcome, Step};
use skinbench::report::table;
use std::io::{self, IsTerminal};

/// Steps of the bar per scene.
const STEPS: u64 = 1_000;
/// Columns for the names of backends.
const NAME: usize = 24;

/// Progress over several scenes: a bar, and below it one line per backend of the current scene. Runs that it observes end
/// when the command is interrupted.
pub struct Progress {
    all: MultiProgress,
    bar: ProgressBar,
    backends: IndexMap<String, ProgressBar>,
    verdict: Option<ProgressBar>,
    /// Names of the scenes.
    scenes: Vec<String>,
    /// Number of the current scene.
    scene: usize,
}

impl Progress {
    /// Progress over scenes with these names; hidden under NO_COLOR or if stderr is no terminal.
    pub fn new<'a>(scenes: impl IntoIterator<Item = &'a String>) -> Self {
        let scenes: Vec<String> = scenes.into_iter().cloned().collect();
        let shown = std::io::stderr().is_terminal()
            && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let target = if shown {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let all = MultiProgress::with_draw_target(target);
        let bar = all.add(ProgressBar::new(scenes.len() as u64 * STEPS));
        set_style(&bar, "{wide_msg} {bar:24} {percent:>3} %  {eta:>4} left");
        Self {
            all,
            bar,
            backends: IndexMap::new(),
            verdict: None,
            scenes,
            scene: 0,
        }
    }

    /// As [`Progress::new`], for work whose steps take very different times.
    pub fn without_estimate<'a>(scenes: impl IntoIterator<Item = &'a String>) -> Self {
        let progress = Self::new(scenes);
        set_style(&progress.bar, "{wide_msg} {bar:24} {percent:>3} %");
        progress
    }

    /// Returns whether anybody can see it.
    pub fn is_shown(&self) -> bool {
        !self.all.is_hidden()
    }

    /// Shows the current activity, and how many scenes are done; a fraction stands for a part of one.
    pub fn show(&self, what: String, done: f64) {
        self.bar.set_message(what);
        self.bar.set_position((done * STEPS as f64) as u64);
    }

    /// Shows the verdict over the backends that are finished.
    pub fn show_verdict(&mut self, verdict: &str) {
        let below = self.verdict.get_or_insert_with(|| self.all.add(line()));
        below.set_message(verdict.to_owned());
    }

    /// Ends a scene and prints its results.
    pub fn end_scene<R>(&mut self, print: impl FnOnce() -> R) -> R {
        self.clear_lines();
        self.scene += 1;
        self.bar.set_position(self.scene as u64 * STEPS);
        self.suspend(print)
    }

    /// Runs `print` with everything hidden.
    pub fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        self.all.suspend(print)
    }

    fn clear_lines(&mut self) {
        let mut lines: Vec<ProgressBar> =
            std::mem::take(&mut self.backends).into_values().collect();
        lines.extend(self.verdict.take());
        for line in lines {
            line.finish_and_clear();
            self.all.remove(&line);
        }
    }

    fn set_line(&mut self, backend: &str, text: &str) {
        let below = 1 + self.backends.len();
        let bar = self
            .backends
            .entry(backend.to_owned())
            .or_insert_with(|| self.all.insert(below, line()));
        bar.set_message(format!("{backend:NAME$} {text}"));
    }
}

impl Observer for Progress {
    fn progress(&mut self, step: &Step) {
        self.show(
            format!("{}: {step}", self.scenes[self.scene]),
            self.scene as f64 + step.done,
        );
        let Some(backend) = step.backend else { return };
        let mut text = step.activity.to_string();
        if let Some(error) = step.parity.and_then(|parity| parity.max_rel) {
            text += &format!(", verified: off by {error:.1e} at most");
        }
        self.set_line(backend, &text);
    }

    fn interrupted(&self) -> bool {
        common::is_interrupted()
    }

    fn remark(&mut self, remark: &str) {
        let scene = &self.scenes[self.scene];
        self.suspend(|| tell(format_args!("note: {scene}: {remark}")));
    }

    fn finished(&mut self, outcome: &Outcome) -> io::Result<()> {
        self.set_line(outcome.name, &table::result(outcome));
        Ok(())
    }
}

/// A line of text among the bars.
fn line() -> ProgressBar {
    let line = ProgressBar::no_length();
    set_style(&line, "{wide_msg}");
    line
}

fn set_style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear_lines();
        self.bar.finish_and_clear();
    }
}
