//! The values that panels show, and the requests that they make.

use super::super::engine::{MeasuredSides, ShownFrame};
use eframe::egui;
use std::collections::VecDeque;
use std::time::Duration;

/// Frames that the graph shows.
pub const HISTORY: usize = 120;

/// Answers of the thread that draws.
#[derive(Default)]
pub struct Live {
    /// The last answer; its pictures are in `textures`.
    pub shown: ShownFrame,
    /// The sides' pictures.
    pub textures: [Option<egui::TextureHandle>; 2],
    /// Milliseconds of each side's last frames, the newest last.
    pub history: [VecDeque<f32>; 2],
    /// Current step of a measurement and the fraction that is done, 0 to 1; `None` while nothing is measured.
    pub progress: Option<(String, f64)>,
    /// The last measurement, until it is closed.
    pub measured: Option<Result<MeasuredSides, String>>,
    /// Pixels that the picture takes on the screen.
    pub size: [u32; 2],
    /// `true` while a drag moves the divider between the sides.
    pub divider_held: bool,
}

/// A request of a panel to the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Choose a scene or a model in a dialog.
    Open,
    /// Measure what is shown.
    Measure,
    /// End the measurement.
    Interrupt,
}

impl Live {
    /// Takes an answer in. Its pixels are left to the caller.
    pub fn take(&mut self, shown: ShownFrame) {
        for (index, history) in self.history.iter_mut().enumerate() {
            let side = shown.sides.get(index);
            let same = side.map(|side| &side.backend)
                == self.shown.sides.get(index).map(|side| &side.backend);
            if !same || shown.facts != self.shown.facts {
                // Times of another crowd or backend do not belong to this history.
                history.clear();
            }
            if let Some(side) = side.filter(|side| side.frame > Duration::ZERO) {
                history.push_back(1e3 * side.frame.as_secs_f32());
                if history.len() > HISTORY {
                    history.pop_front();
                }
            }
        }
        self.shown = shown;
    }
}
