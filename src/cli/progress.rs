//! A bar on stderr with the time left, on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// Steps of the bar a scene.
const STEPS: u64 = 1_000;

/// Progress over several scenes.
pub struct Progress {
    bar: ProgressBar,
    scene: u64,
}

impl Progress {
    /// A bar for so many scenes; none under NO_COLOR or where stderr is no terminal.
    pub fn new(scenes: usize) -> Self {
        let shown =
            std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(scenes as u64 * STEPS), target);
        if let Ok(style) = ProgressStyle::with_template("{wide_msg} {bar:24} {percent:>3} %  {eta:>4} left") {
            bar.set_style(style);
        }
        Self { bar, scene: 0 }
    }

    /// What happens now, and which part of the scene is done, 0 to 1.
    pub fn show(&self, scene: &str, what: &str, done: f64) {
        self.bar.set_message(format!("{scene}: {what}"));
        self.bar.set_position(self.scene * STEPS + (done * STEPS as f64) as u64);
    }

    /// Goes on to the next scene.
    pub fn next_scene(&mut self) {
        self.scene += 1;
        self.bar.set_position(self.scene * STEPS);
    }

    /// Runs `print` with the bar out of the way.
    pub fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.suspend(print)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
