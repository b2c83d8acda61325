//! The thread that computes and draws. It owns the device; the window sends it requests and receives pictures.

use super::engine::{Engine, MeasuredSides, ShownFrame};
use super::state::State;
use crate::harness::run::{Observer, RunStep};
use crate::scene::Scene;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// Request of the window: what the engine is to do.
type WorkerRequest = Box<dyn FnOnce(&mut Engine, &mut Reporter) -> Answer + Send>;

/// Answer of the thread.
pub enum Answer {
    /// A picture.
    Shown(Box<ShownFrame>),
    /// Current step of a measurement and the fraction that is done, 0 to 1.
    Progress(String, f64),
    /// A measurement, or the reason why there is none.
    Measured(Result<MeasuredSides, String>),
}

/// The window's end of the channels to the thread.
pub struct Worker {
    requests: Sender<WorkerRequest>,
    answers: Receiver<Answer>,
    interrupted: Arc<AtomicBool>,
    /// Number of unanswered requests.
    pending: usize,
    /// The thread, until it is joined.
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the thread. `make` creates the engine on it; `wake` is called after each answer.
    ///
    /// # Errors
    /// The system refuses to create a thread.
    pub fn start(
        make: impl FnOnce() -> Engine + Send + 'static,
        wake: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        let (requests, incoming) = mpsc::channel::<WorkerRequest>();
        let (outgoing, answers) = mpsc::channel();
        let interrupted = Arc::new(AtomicBool::new(false));
        let mut reporter = Reporter {
            outgoing,
            wake: Box::new(wake),
            interrupted: Arc::clone(&interrupted),
        };
        let thread = std::thread::Builder::new()
            .name("crowd".into())
            .spawn(move || {
                let mut engine = make();
                // The channel closes when the window does.
                while let Ok(request) = incoming.recv() {
                    let answer = request(&mut engine, &mut reporter);
                    if reporter.outgoing.send(answer).is_err() {
                        return;
                    }
                    (reporter.wake)();
                }
            })?;
        Ok(Self {
            requests,
            answers,
            interrupted,
            pending: 0,
            thread: Some(thread),
        })
    }

    /// Returns whether the thread has ended, which it only does if it panics.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Returns whether a request is unanswered.
    pub fn is_busy(&self) -> bool {
        self.pending > 0 && !self.has_ended()
    }

    /// Requests a picture of a state, with this many pixels across and down.
    pub fn show(&mut self, state: State, size: [u32; 2]) {
        self.send(Box::new(move |engine, _| {
            Answer::Shown(Box::new(engine.show(&state, size)))
        }));
    }

    /// Requests a measurement.
    pub fn measure(&mut self, scene: Scene, backends: Vec<String>) {
        self.interrupted.store(false, Ordering::Relaxed);
        self.send(Box::new(move |engine, reporter| {
            Answer::Measured(engine.measure(&scene, &backends, reporter))
        }));
    }

    /// Stops a measurement after the current frame.
    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }

    /// Waits for the next answer, at most for `patience`.
    pub fn answer(&mut self, patience: Duration) -> Option<Answer> {
        let patience = if self.is_busy() {
            patience
        } else {
            Duration::ZERO
        };
        let answer = self.answers.recv_timeout(patience).ok()?;
        if !matches!(answer, Answer::Progress(..)) {
            self.pending -= 1;
        }
        Some(answer)
    }

    fn send(&mut self, request: WorkerRequest) {
        // A thread that has ended takes none.
        if self.requests.send(request).is_ok() {
            self.pending += 1;
        }
    }
}

impl Drop for Worker {
    /// Waits until the thread has closed its device: a driver that is unloaded while the process exits may crash it.
    fn drop(&mut self) {
        self.interrupt();
        // Closes the channel, which ends the thread.
        self.requests = mpsc::channel().0;
        // A panic of the thread has been shown.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// The thread's end of the channels, which also reports the progress of a measurement to the window.
struct Reporter {
    outgoing: Sender<Answer>,
    wake: Box<dyn Fn() + Send>,
    interrupted: Arc<AtomicBool>,
}

impl Observer for Reporter {
    fn progress(&mut self, step: &RunStep) {
        // Sending fails once the window is closed; the measurement is then interrupted.
        if self
            .outgoing
            .send(Answer::Progress(step.to_string(), step.done))
            .is_ok()
        {
            (self.wake)();
        }
    }

    fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::environment::Build;
    use crate::view::engine::registered;

    #[test]
    fn the_engine_ends_with_the_worker() {
        let device = Arc::new(());
        let held = Arc::clone(&device);
        let open = move || {
            let _held = &held;
            Err("no adapter".into())
        };
        let make = || Engine::new(Box::new(open), registered, || 0, Build::default());
        drop(Worker::start(make, || ()).unwrap());
        assert_eq!(Arc::strong_count(&device), 1);
    }
}
