//! Progress on stderr: bars on a terminal, a line for each backend elsewhere.

use super::{common, tell};
use indexmap::IndexMap;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use skinbench::harness::{Observer, Outcome, RunStep};
use skinbench::report::run_table;
use std::fmt::Display;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

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
    /// Name of the current point's scene.
    scene: String,
    /// Number of points that have ended.
    point: usize,
    /// Number of all points.
    points: usize,
    /// When the first began.
    start: Instant,
}

/// Time from which on an estimate is told.
const LONG: Duration = Duration::from_secs(60);

/// How many points are done, and a rough estimate of the time for the others, as if each took as long as those before;
/// `None` if that is short or nothing is known yet.
fn time_left(done: usize, all: usize, elapsed: Duration) -> Option<String> {
    if done == 0 {
        return None;
    }
    let left = elapsed.mul_f64((all - done) as f64 / done as f64);
    let minutes = left.as_secs_f64() / 60.0;
    (left >= LONG).then(|| format!("{done} of {all} crowds, about {minutes:.0} min left"))
}

impl Progress {
    /// Progress over so many points.
    pub fn new(points: usize) -> Self {
        let target = if io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let all = MultiProgress::with_draw_target(target);
        let bar = all.add(ProgressBar::new(points as u64 * STEPS));
        // Points take very different times, so that the time of one says little about the others.
        let left = if points == 1 { "  {eta:>4} left" } else { "" };
        set_style(
            &bar,
            &format!("{{wide_msg}} {{bar:24}} {{percent:>3}} %{left}"),
        );
        Self {
            all,
            bar,
            backends: IndexMap::new(),
            scene: String::new(),
            point: 0,
            points,
            start: Instant::now(),
        }
    }

    /// Shows the current activity, and how many points are done; a fraction stands for a part of one.
    pub fn show(&self, what: String, done: f64) {
        self.bar.set_message(what);
        self.bar.set_position((done * STEPS as f64) as u64);
    }

    /// Prints a line if there is no terminal, which shows bars instead.
    pub fn tell_elsewhere(&self, line: impl Display) {
        if self.all.is_hidden() {
            tell(line);
        }
    }

    /// Begins a point of a scene.
    pub fn begin_point(&mut self, scene: &str) {
        scene.clone_into(&mut self.scene);
    }

    /// Ends a point and prints its results.
    pub fn end_point<R>(&mut self, print: impl FnOnce() -> R) -> R {
        self.clear_lines();
        self.point += 1;
        self.bar.set_position(self.point as u64 * STEPS);
        self.suspend(print)
    }

    /// Says without a terminal how much is left; there, the bar shows it.
    pub fn tell_left(&self) {
        if let Some(left) = time_left(self.point, self.points, self.start.elapsed()) {
            self.tell_elsewhere(left);
        }
    }

    /// Runs `print` with everything hidden.
    pub fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        self.all.suspend(print)
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
    fn progress(&mut self, step: &RunStep) {
        self.show(
            format!("{}: {step}", self.scene),
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
        let scene = &self.scene;
        self.suspend(|| tell(format_args!("note: {scene}: {remark}")));
    }

    fn finished(&mut self, outcome: &Outcome) -> io::Result<()> {
        let result = run_table::result(outcome);
        let backend = outcome.name;
        self.set_line(backend, &result);
        self.tell_elsewhere(format_args!("{}: {backend}: {result}", self.scene));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_told_if_it_is_long() {
        let told = time_left(2, 10, Duration::from_secs(100));
        assert_eq!(told.as_deref(), Some("2 of 10 crowds, about 7 min left"));
        for (done, all, seconds) in [(0, 10, 500), (10, 10, 500), (9, 10, 500)] {
            assert_eq!(time_left(done, all, Duration::from_secs(seconds)), None);
        }
    }
}
