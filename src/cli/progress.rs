//! A progress bar on stderr with the time left, on a terminal only.

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// Steps of the bar per scene.
const STEPS: u64 = 1_000;

/// Progress over several scenes.
pub struct Progress {
    bar: ProgressBar,
    scene: u64,
}

impl Progress {
    /// A bar for this many scenes; hidden under NO_COLOR or if stderr is no terminal.
    pub fn new(scenes: usize) -> Self {
        let shown =
            std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(scenes as u64 * STEPS), target);
        set_style(&bar, "{wide_msg} {bar:24} {percent:>3} %  {eta:>4} left");
        Self { bar, scene: 0 }
    }

    /// A bar whose time left is given by the caller, not extrapolated.
    pub fn told() -> Self {
        let progress = Self::new(1);
        set_style(&progress.bar, "{wide_msg} {bar:24} {percent:>3} %  {prefix} left");
        progress
    }

    /// Shows the current activity, the fraction of the whole that is done (0 to 1), and the time that the rest will
    /// take.
    pub fn show_left(&self, what: &str, done: f64, left: Duration) {
        self.bar.set_message(what.to_owned());
        self.bar.set_prefix(HumanDuration(left).to_string());
        self.bar.set_position((done * STEPS as f64) as u64);
    }

    /// Shows the current activity, and the fraction of the scene that is done, 0 to 1.
    pub fn show(&self, scene: &str, what: &str, done: f64) {
        self.bar.set_message(format!("{scene}: {what}"));
        self.bar.set_position(self.scene * STEPS + (done * STEPS as f64) as u64);
    }

    /// Goes on to the next scene.
    pub fn next_scene(&mut self) {
        self.scene += 1;
        self.bar.set_position(self.scene * STEPS);
    }

    /// Runs `print` with the bar hidden.
    pub fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.suspend(print)
    }
}

fn set_style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
