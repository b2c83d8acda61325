//! Progress on stderr: bars on a terminal, a line for each backend elsewhere.

use super::{common, tell};
use indexmap::IndexMap;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use skinbench::harness::{Observer, Outcome, Step};
use skinbench::report::run_table;
use std::io::{self, IsTerminal};

/// Steps of the bar per point.
const STEPS: u64 = 1_000;
/// Columns for the names of backends.
const NAME: usize = 24;

/// Progress over several points: a bar, and below it one line per backend of the current point. Runs that it observes end
/// when the command is interrupted.
pub struct Progress {
    all: MultiProgress,
    bar: ProgressBar,
    backends: IndexMap<String, ProgressBar>,
    /// Names of the points' scenes.
    names: Vec<String>,
    /// Number of the current point.
    point: usize,
}

impl Progress {
    /// Progress over points of scenes with these names.
    pub fn new(names: Vec<String>) -> Self {
        let target = if io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let all = MultiProgress::with_draw_target(target);
        let bar = all.add(ProgressBar::new(names.len() as u64 * STEPS));
        // Points take very different times, so that the time of one says little about the others.
        let left = if names.len() == 1 {
            "  {eta:>4} left"
        } else {
            ""
        };
        set_style(
            &bar,
            &format!("{{wide_msg}} {{bar:24}} {{percent:>3}} %{left}"),
        );
        Self {
            all,
            bar,
            backends: IndexMap::new(),
            names,
            point: 0,
        }
    }

    /// Shows the current activity, and how many points are done; a fraction stands for a part of one.
    pub fn show(&self, what: String, done: f64) {
        self.bar.set_message(what);
        self.bar.set_position((done * STEPS as f64) as u64);
    }

    /// Ends a point and prints its results.
    pub fn end_point<R>(&mut self, print: impl FnOnce() -> R) -> R {
        self.clear_lines();
        self.point += 1;
        self.bar.set_position(self.point as u64 * STEPS);
        self.suspend(print)
    }

    /// Runs `print` with everything hidden.
    pub fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        self.all.suspend(print)
    }

    /// The scene of the current point. A search measures more points than were announced.
    fn name(&self) -> &str {
        let name = self.names.get(self.point).or(self.names.last());
        name.map_or("", |name| name)
    }

    fn clear_lines(&mut self) {
        for line in std::mem::take(&mut self.backends).into_values() {
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
            format!("{}: {step}", self.name()),
            self.point as f64 + step.done,
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
        let scene = self.name();
        self.suspend(|| tell(format_args!("note: {scene}: {remark}")));
    }

    fn finished(&mut self, outcome: &Outcome) -> io::Result<()> {
        let result = run_table::result(outcome);
        if self.all.is_hidden() {
            let backend = outcome.name;
            tell(format_args!("{}: {backend}: {result}", self.name()));
        } else {
            self.set_line(outcome.name, &result);
        }
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
