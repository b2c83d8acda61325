//! The left panel: model, clip, parts of the picture, camera, wave and layers.

use super::live::{Action, Live};
use super::widgets::{choice, heading};
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
        if ui
            .button("Open…")
            .on_hover_text("Open a scene or a model; files can be dropped on the window, too")
            .clicked()
        {
            actions.push(Action::Open);
        }
        if ui
            .button("Save…")
            .on_hover_text("Write what is shown as a scene file")
            .clicked()
        {
            actions.push(Action::Save);
        }
        let dark = ui.visuals().dark_mode;
        if ui
            .button(if dark { "Light" } else { "Dark" })
            .on_hover_text("Colours of the window")
            .clicked()
        {
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
    ui.add(
        egui::Slider::new(&mut camera.orbit, -180.0..=180.0)
            .suffix("°")
            .max_decimals(0)
            .text("Orbit"),
    );
    ui.add(
        egui::Slider::new(&mut camera.elevation, ELEVATION)
            .suffix("°")
            .max_decimals(0)
            .text("Elevation"),
    );
    ui.add(
        egui::Slider::new(&mut camera.distance, DISTANCE)
            .logarithmic(true)
            .max_decimals(2)
            .text("Distance"),
    );
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
        ui.add(
            egui::Slider::new(&mut state.fade, FADES)
                .suffix(" s")
                .max_decimals(1)
                .text("Fade"),
        );
    });
}

/// Weights, masks and fades of a group's layers. `joints` are those of each group.
fn layers(ui: &mut egui::Ui, state: &mut State, joints: &[Vec<String>]) {
    let groups = state.document.groups();
    let mut layered = (0..groups.len()).filter(|&group| !state.document.layers(group).is_empty());
    let Some(first) = layered.next() else { return };
    heading(ui, "Layers");
    let layered: Vec<usize> = std::iter::once(first).chain(layered).collect();
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
    let (tick, fade) = (state.player.tick(), state.fade);
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
            if ui
                .add(
                    egui::Slider::new(&mut weight, 0.0..=most)
                        .max_decimals(2)
                        .text("Weight"),
                )
                .changed()
            {
                state.document.set_layer_weight(at, weight);
            }
            ui.horizontal(|ui| {
                if ui
                    .button("Fade in")
                    .on_hover_text("From this moment on")
                    .clicked()
                {
                    state.document.fade_in(at, tick, fade);
                }
                if ui
                    .button("Fade out")
                    .on_hover_text("From this moment on")
                    .clicked()
                {
                    state.document.fade_out(at, tick, fade);
                }
            });
            let title = if layer.mask.is_some() {
                "Mask"
            } else {
                "Mask: all joints"
            };
            ui.collapsing(title, |ui| {
                if let Some(mask) = layer.mask.as_ref().filter(|mask| !mask.subtree.is_empty()) {
                    ui.label(format!("all below {}", mask.subtree.join(", ")));
                }
                let named = layer
                    .mask
                    .iter()
                    .flat_map(|mask| &mask.joints)
                    .map(|name| (name, 1.0));
                let weighed = layer
                    .mask
                    .iter()
                    .flat_map(|mask| &mask.weights)
                    .map(|(name, weight)| (name, *weight));
                let weights: HashMap<_, _> = named.chain(weighed).collect();
                for joint in joints {
                    let mut weight = weights.get(joint).copied().unwrap_or(0.0);
                    if ui
                        .add(
                            egui::Slider::new(&mut weight, 0.0..=1.0)
                                .max_decimals(2)
                                .text(joint),
                        )
                        .changed()
                    {
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
