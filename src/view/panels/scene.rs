//! The left panel: model, clip, parts of the picture, camera, wave and layers.

use super::live::{Action, Live};
use super::widgets::{button, choice, heading, slider};
use crate::crowd::LayerKind;
use crate::view::orbit::{DISTANCE, ELEVATION};
use crate::view::scene_document::LayerIndex;
use crate::view::state::State;
use eframe::egui;
use std::collections::HashMap;

/// Length of fades in seconds.
const FADES: std::ops::RangeInclusive<f64> = 0.0..=3.0;

pub fn show(ui: &mut egui::Ui, state: &mut State, live: &Live, actions: &mut Vec<Action>) {
    let facts = live.shown.facts.clone().unwrap_or_default();
    heading(ui, "Scene or model");
    let library = state.library();
    let source = state.document.source.clone();
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
        if button(ui, "Save…", "Write what is shown as a scene file") {
            actions.push(Action::Save);
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
    let clip = state.document.clip();
    let shown = match (clip.as_str(), facts.clips.first()) {
        ("", Some(first)) => first.as_str(),
        ("*", _) => "all in turn",
        (clip, _) => clip,
    };
    let names = facts
        .clips
        .iter()
        .map(String::as_str)
        .chain(["all in turn", "rest"]);
    if let Some(chosen) = choice(ui, "Clips", shown, names) {
        state.document.set_clip(if chosen == "all in turn" {
            "*"
        } else {
            &chosen
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
    layers(ui, state, &facts.joints);
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
        let mut on = state.document.is_wave_on();
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

/// Weights, masks and fades of a group's layers. `joints` are those of each group.
fn layers(ui: &mut egui::Ui, state: &mut State, joints: &[Vec<String>]) {
    let groups = state.document.groups();
    let mut layered: Vec<usize> = (0..groups.len()).collect();
    layered.retain(|&group| !state.document.layers(group).is_empty());
    let Some(&first) = layered.first() else {
        return;
    };
    heading(ui, "Layers");
    if !layered.contains(&state.group) {
        state.group = first;
    }
    let group = state.group;
    if layered.len() > 1 {
        let names = layered.iter().map(|&group| groups[group].as_str());
        if let Some(chosen) = choice(ui, "Group", &groups[group], names) {
            state.group = layered
                .into_iter()
                .find(|&group| groups[group] == chosen)
                .unwrap_or(first);
        }
    }
    let joints = joints.get(group).map_or(&[][..], Vec::as_slice);
    let tick = state.player.tick();
    let fade = state.fade;
    for (index, layer) in state.document.layers(group).into_iter().enumerate() {
        let at = LayerIndex {
            group,
            layer: index,
        };
        ui.push_id((group, index), |ui| {
            ui.label(format!(
                "{} ({})",
                layer.clip,
                format!("{:?}", layer.kind).to_lowercase()
            ));
            let most = if layer.kind == LayerKind::Merge {
                4.0
            } else {
                1.0
            };
            let mut weight = layer.weight;
            let weighed = slider(&mut weight, 0.0..=most, 2, "Weight");
            if ui.add(weighed).changed() {
                state.document.set_layer_weight(at, weight);
            }
            ui.horizontal(|ui| {
                let hint = "From this moment on";
                if button(ui, "Fade in", hint) {
                    state.document.fade_in(at, tick, fade);
                }
                if button(ui, "Fade out", hint) {
                    state.document.fade_out(at, tick, fade);
                }
            });
            let title = if layer.mask.is_some() {
                "Mask"
            } else {
                "Mask: all joints"
            };
            ui.collapsing(title, |ui| {
                let mut weights: HashMap<&String, f64> = HashMap::new();
                if let Some(mask) = &layer.mask {
                    if !mask.subtree.is_empty() {
                        ui.label(format!("all below {}", mask.subtree.join(", ")));
                    }
                    weights.extend(mask.joints.iter().map(|joint| (joint, 1.0)));
                    for (joint, weight) in &mask.weights {
                        weights.insert(joint, *weight);
                    }
                }
                for joint in joints {
                    let mut weight = weights.get(joint).copied().unwrap_or(0.0);
                    if ui.add(slider(&mut weight, 0.0..=1.0, 2, joint)).changed() {
                        state.document.set_mask(at, joint, weight);
                    }
                }
                if layer.mask.is_some() && ui.button("All joints").clicked() {
                    state.document.clear_mask(at);
                }
            });
        });
    }
    if ui.button("Reset layers").clicked() {
        state.document.reset_layers();
    }
}
