//! Progress on stderr: a line for each backend that is finished, and a bar below them on a terminal.

use super::{common, tell};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use skinbench::harness::{Observer, Outcome, RunStep};
use skinbench::report::run_table;
use std::fmt::Display;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// Steps of the bar per point.
const STEPS: u64 = 1_000;

/// Progress over several points. Runs that it observes end when the command is interrupted.
pub struct Progress {
    bar: ProgressBar,
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
        let bar = ProgressBar::with_draw_target(Some(points as u64 * STEPS), target);
        // Points take very different times, so that the time of one says little about the others.
        let left = if points == 1 { "  {eta:>4} left" } else { "" };
        let template = format!("{{wide_msg}} {{bar:24}} {{percent:>3}} %{left}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        Self {
            bar,
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

    /// Prints a line above the bar.
    pub fn tell(&self, line: impl Display) {
        self.bar.suspend(|| tell(line));
    }

    /// Begins a point of a scene.
    pub fn begin_point(&mut self, scene: &str) {
        scene.clone_into(&mut self.scene);
    }

    /// Ends a point and prints its results.
    pub fn end_point<R>(&mut self, print: impl FnOnce() -> R) -> R {
        self.point += 1;
        self.bar.set_position(self.point as u64 * STEPS);
        self.bar.suspend(print)
    }

    /// Says how much is left, if that is long.
    pub fn tell_left(&self) {
        if let Some(left) = time_left(self.point, self.points, self.start.elapsed()) {
            self.tell(left);
        }
    }
}

impl Observer for Progress {
    fn progress(&mut self, step: &RunStep) {
        self.show(
            format!("{}: {step}", self.scene),
            self.point as f64 + step.done,
        );
    }

    fn interrupted(&self) -> bool {
        common::is_interrupted()
    }

    fn remark(&mut self, remark: &str) {
        self.tell(format_args!("note: {}: {remark}", self.scene));
    }

    fn finished(&mut self, outcome: &Outcome) -> io::Result<()> {
        let result = run_table::result(outcome);
        self.tell(format_args!("{}: {}: {result}", self.scene, outcome.name));
        Ok(())
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
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
