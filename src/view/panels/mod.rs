//! The panels of the window. They read and change the [`State`], show what came back, and leave what needs the system
//! (dialogs, clipboard, measurements) to the window as actions.

mod figures;
mod picture;
mod scene;
mod transport;

use super::engine::Shown;
use super::state::State;
use eframe::egui;
use std::collections::VecDeque;
use std::time::Duration;

/// Frames that the graph shows.
pub const HISTORY: usize = 120;

/// What came back from the thread that draws.
#[derive(Default)]
pub struct Live {
    /// The last answer; its pictures are in `textures`.
    pub shown: Shown,
    /// The sides' pictures.
    pub textures: [Option<egui::TextureHandle>; 2],
    /// Milliseconds of each side's last frames, the newest last.
    pub history: [VecDeque<f32>; 2],
    /// What a measurement is at, and which part of it is done; none while there is none.
    pub progress: Option<(String, f64)>,
    /// The table of the last measurement, until it is closed.
    pub table: Option<Result<String, String>>,
    /// Pixels that the picture takes on the screen.
    pub size: [u32; 2],
}

/// What a panel asks of the window.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Choose a scene or a model in a dialog.
    Open,
    /// Write the scene to a file that is chosen in a dialog.
    Save,
    /// Put text on the clipboard.
    Copy(String),
    /// Measure what is shown.
    Measure,
    /// End the measurement.
    Interrupt,
    /// Open the device again.
    Retry,
}

impl Live {
    /// Takes an answer in. Its pixels are left to the caller.
    pub fn take(&mut self, shown: Shown) {
        for (index, history) in self.history.iter_mut().enumerate() {
            let side = shown.sides.get(index);
            let same = side.map(|side| &side.backend) == self.shown.sides.get(index).map(|side| &side.backend);
            if !same || shown.facts != self.shown.facts {
                // Frames of another crowd or backend are no frames of this one.
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

/// Shows everything. Returns what the window is to do.
pub fn show(ui: &mut egui::Ui, state: &mut State, live: &mut Live) -> Vec<Action> {
    let mut actions = Vec::new();
    egui::Panel::bottom("transport").show(ui, |ui| transport::show(ui, state));
    egui::Panel::left("scene").resizable(false).exact_size(250.0).show(ui, |ui| {
        egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| scene::show(ui, state, live, &mut actions));
    });
    egui::Panel::right("figures").resizable(false).exact_size(290.0).show(ui, |ui| {
        egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| figures::show(ui, state, live, &mut actions));
    });
    egui::CentralPanel::default_margins()
        .frame(egui::Frame::NONE)
        .show(ui, |ui| picture::show(ui, state, live, &mut actions));
    figures::table(ui, live, &mut actions);
    actions
}

/// A heading above a group of controls.
fn heading(ui: &mut egui::Ui, text: &str) {
    ui.add_space(10.0);
    ui.label(egui::RichText::new(text).strong());
    ui.add_space(2.0);
}

/// A combination box of names. Returns the name that was chosen.
fn choice<'a>(ui: &mut egui::Ui, label: &str, shown: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut chosen = None;
    egui::ComboBox::from_id_salt(label)
        .width(ui.available_width() - 8.0)
        .selected_text(shown)
        .show_ui(ui, |ui| {
            for name in names {
                if ui.selectable_label(name == shown, name).clicked() {
                    chosen = Some(name.to_owned());
                }
            }
        })
        .response
        .on_hover_text(label);
    chosen
}
