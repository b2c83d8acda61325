//! The left panel: model, clip, parts of the picture, camera and overlays.

use super::live::{Action, Live};
use super::widgets::{button, choice, heading, possible, slider};
use crate::scene::ClipChoice;
use crate::view::engine::Facts;
use crate::view::orbit::{DISTANCE, ELEVATION};
use crate::view::state::State;
use eframe::egui;

/// What the list of clips calls all of them.
const ALL: &str = "all in turn";
/// What the list of joints calls all of them.
const ALL_JOINTS: &str = "all joints";
/// Length of the overlay's fades in seconds.
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
            .on_hover_text("Bones, and each joint as axes: x red, y green, z blue");
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

    heading(ui, "Overlay");
    overlay(ui, state, &facts);
    if !facts.notes.is_empty() {
        ui.add_space(10.0);
        ui.collapsing("Notes on the model", |ui| {
            facts.notes.iter().for_each(|note| drop(ui.small(note)))
        });
    }
}

/// A clip over the others, and those that were added before.
fn overlay(ui: &mut egui::Ui, state: &mut State, facts: &Facts) {
    let clips = &facts.clips;
    let is_on = state.opened.is_overlay_on();
    let mut changed = false;
    let shown = state.overlay(clips).unwrap_or_default().to_owned();
    let names = clips.iter().map(String::as_str);
    if let Some(chosen) = choice(ui, "Clip of the overlay", &shown, names) {
        state.overlay = Some(chosen);
        changed = is_on;
    }
    let shown = state.joint.as_deref().unwrap_or(ALL_JOINTS).to_owned();
    let joints = facts.joints.iter().map(String::as_str);
    let joints = [ALL_JOINTS].into_iter().chain(joints);
    if let Some(chosen) = choice(ui, "Joint that the overlay begins at", &shown, joints) {
        state.joint = Some(chosen).filter(|joint| joint != ALL_JOINTS);
        changed = is_on;
    }
    ui.horizontal(|ui| {
        let mut on = is_on;
        let hint = "Fades the clip in over the others, and out again";
        let box_of = egui::Checkbox::new(&mut on, "Overlay");
        let switch = ui.add_enabled(!clips.is_empty(), box_of);
        let switch = switch.on_hover_text(hint);
        let switch = switch.on_disabled_hover_text("The model has no clip");
        if switch.changed() || changed {
            state.switch_overlay(on, clips);
        }
        ui.spacing_mut().slider_width = 70.0;
        ui.add(slider(&mut state.fade, FADES, 1, "Fade").suffix(" s"));
    });
    let hint = "Keeps the overlay; the next one is laid over it";
    if possible(ui, "Add layer", hint, state.opened.can_add_layer()) {
        state.problem = state.opened.add_layer().err().map(String::from);
    }
    let mut removed = None;
    for (number, layer) in state.opened.layers().iter().enumerate() {
        ui.horizontal(|ui| {
            if button(ui, "Remove", "Takes this layer away") {
                removed = Some(number);
            }
            let joint = layer.joint.as_deref().unwrap_or(ALL_JOINTS);
            ui.label(format!("{}, {joint}", layer.clip));
        });
    }
    if let Some(number) = removed {
        state.opened.remove_layer(number);
    }
}
