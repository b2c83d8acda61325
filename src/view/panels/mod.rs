//! The panels of the window. They read and change the [`State`], show what came back, and leave what needs the system
//! (dialogs, measurements) to the window as actions.

mod figures;
mod live;
mod picture;
mod scene;
mod transport;
mod widgets;

pub use live::{Action, HISTORY, Live};
pub use widgets::{LEFT, RIGHT};

use super::state::State;
use eframe::egui;

/// Shows everything. Returns what the window is to do.
pub fn show(ui: &mut egui::Ui, state: &mut State, live: &mut Live) -> Vec<Action> {
    let mut actions = Vec::new();
    egui::Panel::bottom("transport").show(ui, |ui| transport::show(ui, state));
    egui::Panel::left("scene")
        .resizable(false)
        .exact_size(LEFT)
        .show(ui, |ui| {
            egui::ScrollArea::vertical()
                .auto_shrink(false)
                .show(ui, |ui| scene::show(ui, state, live, &mut actions));
        });
    egui::Panel::right("figures")
        .resizable(false)
        .exact_size(RIGHT)
        .show(ui, |ui| {
            egui::ScrollArea::vertical()
                .auto_shrink(false)
                .show(ui, |ui| figures::show(ui, state, live, &mut actions));
        });
    egui::CentralPanel::default_margins()
        .frame(egui::Frame::NONE)
        .show(ui, |ui| picture::show(ui, state, live));
    figures::measured(ui, live);
    actions
}
