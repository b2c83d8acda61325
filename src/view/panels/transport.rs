//! The bar below the picture: play, pause, stop, steps, timeline, speed.

use super::widgets::{button, slider};
use crate::view::player::{FRAMES_PER_SECOND, Looping, Speed};
use crate::view::state::State;
use eframe::egui;

/// Frames per second that the slider begins with: the pace as authored.
const AUTHORED: u32 = 25;
/// Factors of the authored pace.
const FACTORS: std::ops::RangeInclusive<f64> = 0.05..=4.0;

pub fn show(ui: &mut egui::Ui, state: &mut State) {
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        let playing = state.player.playing;
        if ui.selectable_label(playing, "Play").clicked() {
            state.player.play();
        }
        if ui
            .selectable_label(!playing && !state.player.at_bind, "Pause")
            .clicked()
        {
            state.player.pause();
        }
        let stop = ui.selectable_label(state.player.at_bind, "Stop");
        if stop
            .on_hover_text("Bind pose, first frame, no overlays")
            .clicked()
        {
            state.stop();
        }
        ui.separator();
        if button(ui, "Step back", "One whole frame back") {
            state.player.step(-1);
        }
        if button(ui, "Step on", "One whole frame on") {
            state.player.step(1);
        }
        ui.separator();
        let mut looping = state.player.looping;
        for (value, name) in [
            (Looping::Loop, "Loop"),
            (Looping::PingPong, "Ping-pong"),
            (Looping::Once, "Once"),
        ] {
            ui.radio_value(&mut looping, value, name);
        }
        if looping != state.player.looping {
            state.player.set_looping(looping);
        }
        ui.separator();
        speed(ui, state);
    });
    ui.horizontal(|ui| {
        let length = state.player.length();
        let mut position = state.player.position();
        ui.spacing_mut().slider_width = (ui.available_width() - 130.0).max(100.0);
        let timeline = egui::Slider::new(&mut position, 0.0..=length).show_value(false);
        if ui.add(timeline).on_hover_text("Timeline").changed() {
            state.player.pause();
            state.player.scrub(position);
        }
        let text = if state.player.at_bind {
            "bind pose".into()
        } else {
            format!("{position:.2} of {length:.2} s")
        };
        ui.monospace(text);
    });
    ui.add_space(4.0);
}

fn speed(ui: &mut egui::Ui, state: &mut State) {
    let mut free = matches!(state.player.speed, Speed::Free(_));
    if ui
        .checkbox(&mut free, "Free-running")
        .on_hover_text("Continuous time instead of whole frames")
        .changed()
    {
        state.player.speed = if free {
            Speed::Free(1.0)
        } else {
            Speed::Frames(AUTHORED)
        };
    }
    ui.checkbox(&mut state.player.backwards, "Backwards");
    ui.spacing_mut().slider_width = 110.0;
    match &mut state.player.speed {
        Speed::Frames(rate) => {
            let slider = egui::Slider::new(rate, FRAMES_PER_SECOND).suffix(" frames/s");
            ui.add(slider)
                .on_hover_text("Speed in whole frames per second; 25 is the pace as authored");
        }
        Speed::Free(factor) => {
            ui.add(slider(factor, FACTORS, 2, "").prefix("× "))
                .on_hover_text("Speed as a factor of the pace as authored");
        }
    }
}
