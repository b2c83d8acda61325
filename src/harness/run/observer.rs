//! Progress of a run, and the observer to whom it is reported.

use super::outcome::Outcome;
use std::fmt;
use std::io;

/// Current step of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunStep {
    /// Kind of work: `verifying`, `warming up` or `measuring`.
    pub activity: &'static str,
    /// Name of the backend at work; `None` while the machine is measured.
    pub backend: Option<&'static str>,
    /// Fraction of the scene's work that is done, 0 to 1.
    pub done: f64,
}

impl fmt::Display for RunStep {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "{} {}",
            self.activity,
            self.backend.unwrap_or("the machine")
        )
    }
}

/// Observer of a run. By default it ignores what is reported and lets the run go on; `()` is such an observer.
pub trait Observer {
    /// Reports the current step.
    fn progress(&mut self, _step: &RunStep) {}
    /// Returns whether to stop after the current frame.
    fn interrupted(&self) -> bool {
        false
    }
    /// Reports something about the scene that is no failure, such as an empty picture: one line, once for each run.
    fn remark(&mut self, _remark: &str) {}
    /// Reports the outcome of a backend when it is finished.
    ///
    /// # Errors
    /// The outcome cannot be stored: the run stops.
    fn finished(&mut self, _outcome: &Outcome) -> io::Result<()> {
        Ok(())
    }
}

impl Observer for () {}
