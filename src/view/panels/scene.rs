//! The left panel: model, clip, parts of the picture, camera and wave.

use super::live::{Action, Live};
use super::widgets::{button, choice, heading, slider};
use crate::scene::ClipChoice;
use crate::view::orbit::{DISTANCE, ELEVATION};
use crate::view::state::State;
use eframe::egui;

/// What the list of clips calls all of them.
const ALL: &str = "all in turn";
/// Length of the wave's fades in seconds.
const FADES: std::ops::RangeInclusive<f64> = 0.0..=3.0;

pub fn show(ui: &mut egui::Ui, state: &mut State, live: &Live, actions: &mut Vec<Action>) {
    let facts = live.shown.facts.clone().unwrap_or_default();
    heading(ui, "Scene or model");
    let library = state.library();
    let source = state.opened.source.clone();
    if let Some(chosen) = choice(
        ui,
        "Scenes and models",
        &source,
        library.iter().map(String::as_str),
    ) {
        state.switch_to(&chosen);
    }
    ui.horizontal(|ui| {
        let hint = "Open a scene or a model; files can be dropped on the window, too";
        if button(ui, "Open…", hint) {
            actions.push(Action::Open);
        }
        let dark = ui.visuals().dark_mode;
        let other = if dark { "Light" } else { "Dark" };
        if button(ui, other, "Colours of the window") {
            state.preferences.dark = Some(!dark);
            ui.ctx().set_theme(if dark {
                egui::Theme::Light
            } else {
                egui::Theme::Dark
            });
        }
    });

    heading(ui, "Clip");
    let shown = match state.opened.clip() {
        ClipChoice::First => facts.clips.first().map_or("", String::as_str),
        ClipChoice::All => ALL,
        ClipChoice::Named(clip) => clip,
    };
    let names = facts.clips.iter().map(String::as_str).chain([ALL, "rest"]);
    if let Some(chosen) = choice(ui, "Clips", shown, names) {
        state.opened.set_clip(if chosen == ALL {
            ClipChoice::All
        } else {
            ClipChoice::Named(chosen)
        });
    }

    heading(ui, "Show");
    let part = &mut state.preferences.show;
    ui.horizontal_wrapped(|ui| {
        ui.checkbox(&mut part.skin, "Skin");
        ui.checkbox(&mut part.wireframe, "Wireframe");
        ui.checkbox(&mut part.skeleton, "Skeleton")
            .on_hover_text("Each joint as axes: x red, y green, z blue");
        ui.checkbox(&mut part.ground, "Ground");
        ui.checkbox(&mut part.tint, "Tint")
            .on_hover_text("A colour of its own for each instance");
    });

    heading(ui, "Camera");
    ui.spacing_mut().slider_width = 100.0;
    let camera = &mut state.orbit.camera;
    ui.add(slider(&mut camera.orbit, -180.0..=180.0, 0, "Orbit").suffix("°"));
    ui.add(slider(&mut camera.elevation, ELEVATION, 0, "Elevation").suffix("°"));
    ui.add(slider(&mut camera.distance, DISTANCE, 2, "Distance").logarithmic(true));
    if ui.button("Reset camera").clicked() {
        state.reset_camera();
    }

    heading(ui, "Wave");
    wave(ui, state, &facts.clips);
    if !facts.notes.is_empty() {
        ui.add_space(10.0);
        ui.collapsing("Notes on the model", |ui| {
            facts.notes.iter().for_each(|note| drop(ui.small(note)))
        });
    }
}

/// A second clip over the others.
fn wave(ui: &mut egui::Ui, state: &mut State, clips: &[String]) {
    let wave = state.wave.clone();
    let shown = if wave.is_empty() {
        "second clip"
    } else {
        &wave
    };
    if let Some(chosen) = choice(
        ui,
        "Clip of the wave",
        shown,
        clips.iter().map(String::as_str),
    ) {
        state.wave = chosen;
    }
    ui.horizontal(|ui| {
        let mut on = state.opened.is_wave_on();
        if ui
            .checkbox(&mut on, "Wave")
            .on_hover_text("Fades a second clip in over the others, and out again")
            .changed()
        {
            state.switch_wave(on, clips);
        }
        ui.spacing_mut().slider_width = 70.0;
        ui.add(slider(&mut state.fade, FADES, 1, "Fade").suffix(" s"));
    });
}
