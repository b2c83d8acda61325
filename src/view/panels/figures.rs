//! The right panel: crowd, backends, live figures, errors, and the measurement.

use super::live::{Action, HISTORY, Live};
use super::widgets::{
    Choice, LEFT, RIGHT, at_right, button, choice, heading, number, optional, possible,
    problem_color, radio,
};
use crate::frame::{Clock, Stage, StageGroup, StageTime};
use crate::model::MAX_INFLUENCES;
use crate::registry::REGISTRY;
use crate::report::grouped;
use crate::scene::{Clips, Interpolation, Output, Settings};
use crate::vertex::{Attributes, Normals};
use crate::view::engine::SideShown;
use crate::view::heat;
use crate::view::state::{Errors, State};
use eframe::egui::{self, Color32, Sense, Vec2};

/// Shown for an option that is left to the scene.
const AS_IS: &str = "as is";
/// Most vertices of a model, and most threads, that can be chosen.
const MOST_VERTICES: u32 = 1_000_000;
const MOST_THREADS: u32 = 1_024;
/// Sizes of remarks and of figures, in points.
const SMALL: f32 = 12.0;
const FIGURES: f32 = 14.0;
/// Width of a scroll bar, in points.
const SCROLL_BAR: f32 = 10.0;
/// Widths of the name and of the time of a stage, in points.
const NAME: f32 = 140.0;
const TIME: f32 = 72.0;
/// Names of the sides, and their colours in the graph.
const NAMES: [&str; 2] = ["A", "B"];
const SIDES: [Color32; 2] = [
    Color32::from_rgb(0x2f, 0x7e, 0xd8),
    Color32::from_rgb(0xd9, 0x73, 0x1a),
];

pub fn show(ui: &mut egui::Ui, state: &mut State, live: &Live, actions: &mut Vec<Action>) {
    // Nothing reaches under the scroll bar.
    ui.set_max_width(ui.available_width() - SCROLL_BAR);
    let sizes = [
        (egui::TextStyle::Small, SMALL),
        (egui::TextStyle::Monospace, FIGURES),
    ];
    for (style, size) in sizes {
        if let Some(font) = ui.style_mut().text_styles.get_mut(&style) {
            font.size = size;
        }
    }
    heading(ui, "Crowd");
    crowd(ui, state, live);
    heading(ui, "Backends");
    backends(ui, state);
    heading(ui, "Errors");
    errors(ui, state, live);
    heading(ui, "Measurement");
    measurement(ui, state, live, actions);
    heading(ui, "Live figures");
    machine(ui, live);
    for (index, side) in live.shown.sides.iter().enumerate() {
        stages(ui, index, side);
    }
    graph(ui, live);
}

fn crowd(ui: &mut egui::Ui, state: &mut State, live: &Live) {
    let Some(facts) = &live.shown.facts else {
        return;
    };
    let run = &mut state.run;
    let shown = facts.settings.clone().with(run.clone());
    ui.horizontal(|ui| {
        let mut instances = run.instances.unwrap_or(facts.instances as u64);
        // Applied when the drag or the input ends, because every change builds the crowd again.
        let drag = number(&mut instances, 1..=10_000_000).speed(1.0);
        let label = ui.label("Instances");
        if ui.add(drag).labelled_by(label.id).changed() {
            run.instances = Some(instances);
        }
        let mut passes = shown.passes.unwrap_or(1);
        let label = ui.label("Passes");
        let drag = egui::DragValue::new(&mut passes)
            .range(0..=Settings::MOST_PASSES)
            .speed(0.05);
        if ui
            .add(drag)
            .labelled_by(label.id)
            .on_hover_text("How many times a frame draws the crowd")
            .changed()
        {
            run.passes = Some(passes);
        }
    });
    ui.collapsing("Options", |ui| {
        let all = &Attributes::ALL;
        one_of(
            ui,
            &mut run.attributes,
            shown.attributes,
            all,
            Attributes::name,
        );
        let all = &Normals::ALL;
        one_of(ui, &mut run.normals, shown.normals, all, Normals::name);
        let text = ["Packed vertices", "16 bits for each number"];
        switch(ui, text, &mut run.output, shown.output, Output::Packed);
        let text = ["Compact clips", "Frames of small numbers"];
        switch(ui, text, &mut run.clips, shown.clips, Clips::Compact);
        let text = ["Smooth clips", "Curves between linear keys"];
        let smooth = Interpolation::Smooth;
        switch(
            ui,
            text,
            &mut run.interpolation,
            shown.interpolation,
            smooth,
        );
        let text = ["Influences", "Most influences that a vertex keeps"];
        let most = MAX_INFLUENCES as u32;
        optional(ui, text, &mut run.influences, most, AS_IS);
        let text = ["Vertices", "Approximate number of vertices of each model"];
        optional(ui, text, &mut run.vertices, MOST_VERTICES, AS_IS);
        let text = ["Threads", "Threads of parallel backends"];
        optional(ui, text, &mut state.threads, MOST_THREADS, "all");
        reuse(ui, run);
    });
    ui.small(format!("{} vertices per frame", grouped(facts.vertices)));
}

/// Buttons for one of several values.
fn one_of<T: Copy + Default + PartialEq>(
    ui: &mut egui::Ui,
    chosen: &mut Option<T>,
    shown: Option<T>,
    all: &[T],
    name: fn(T) -> &'static str,
) {
    ui.horizontal(|ui| {
        for &value in all {
            if ui
                .radio(shown.unwrap_or_default() == value, name(value))
                .clicked()
            {
                *chosen = Some(value);
            }
        }
    });
}

/// A box to switch between the default and another value.
fn switch<T: Copy + Default + PartialEq>(
    ui: &mut egui::Ui,
    [label, hint]: [&str; 2],
    chosen: &mut Option<T>,
    shown: Option<T>,
    on: T,
) {
    let mut is_on = shown == Some(on);
    if ui.checkbox(&mut is_on, label).on_hover_text(hint).changed() {
        *chosen = Some(if is_on { on } else { T::default() });
    }
}

/// Controls for how often instances are posed.
fn reuse(ui: &mut egui::Ui, run: &mut Settings) {
    ui.label("Poses");
    ui.horizontal(|ui| {
        if ui.radio(run.update_rate.is_none(), AS_IS).clicked() {
            run.update_rate = None;
        }
        let hint = "Instances far from the camera are posed every second and every fourth frame";
        if radio(ui, run.update_rate.is_some(), "by distance", hint) {
            run.update_rate = Some([20.0, 40.0]);
        }
    });
    if let Some([near, far]) = &mut run.update_rate {
        ui.horizontal(|ui| {
            ui.add(number(near, 0.0..=*far).suffix(" m"));
            ui.add(number(far, *near..=1e6).suffix(" m"));
        });
    }
}

fn backends(ui: &mut egui::Ui, state: &mut State) {
    backend(ui, 0, &mut state.preferences.backends);
    ui.checkbox(&mut state.split, "A | B")
        .on_hover_text("Two backends on the same crowd, moment and camera");
    if state.backends().len() > 1 {
        backend(ui, 1, &mut state.preferences.backends);
    }
}

/// The choice of one side's backend.
fn backend(ui: &mut egui::Ui, side: usize, backends: &mut [String; 2]) {
    let name = NAMES[side];
    ui.horizontal(|ui| {
        ui.colored_label(SIDES[side], name);
        let choices = REGISTRY.iter().map(|entry| Choice {
            name: entry.name,
            summary: entry.summary,
        });
        if let Some(chosen) = choice(ui, &format!("Backend {name}"), &backends[side], choices) {
            backends[side] = chosen;
        }
    });
}

fn machine(ui: &mut egui::Ui, live: &Live) {
    ui.small(format!("{}\n{}", live.shown.cpu, live.shown.adapter));
    if live.shown.software {
        ui.small(
            "This adapter is emulated on the CPU. Its figures say nothing about graphics hardware; keep crowds small.",
        );
    }
    ui.small("Times of the last frame as it came, with the window open. For figures to quote, press Measure.");
}

/// Bars of the stages of one side's last frame.
fn stages(ui: &mut egui::Ui, index: usize, side: &SideShown) {
    ui.add_space(6.0);
    let frame = side.frame.as_secs_f32() * 1e3;
    ui.horizontal(|ui| {
        ui.colored_label(SIDES[index], egui::RichText::new(&side.backend).strong());
        at_right(ui, milliseconds(frame));
    });
    ui.small(&side.device);
    ui.spacing_mut().item_spacing.y = 1.0;
    for (stage, clock, ms) in shown_stages(&side.spans) {
        ui.horizontal(|ui| {
            let clock = if clock.is_of_device() {
                " (device)"
            } else {
                ""
            };
            let name = egui::Label::new(format!("{}{clock}", stage.name()));
            let left = egui::Layout::left_to_right(egui::Align::Center);
            ui.allocate_ui_with_layout(Vec2::new(NAME, 18.0), left, |ui| {
                ui.set_min_width(NAME);
                ui.add(name);
            });
            let width = (ui.available_width() - TIME).max(20.0);
            let rect = bar(ui, width);
            let share = if frame > 0.0 {
                (ms / frame).clamp(0.0, 1.0)
            } else {
                0.0
            };
            ui.painter()
                .rect_filled(rect, 2.0, ui.visuals().extreme_bg_color);
            let filled =
                egui::Rect::from_min_size(rect.min, Vec2::new(rect.width() * share, rect.height()));
            ui.painter().rect_filled(filled, 2.0, color_of(stage));
            at_right(ui, milliseconds(ms));
        });
    }
    if let Some(problem) = &side.problem {
        ui.colored_label(problem_color(ui), problem);
    }
}

/// A time with two decimals; from 100 ms on without, which would not fit beside its bar.
fn milliseconds(ms: f32) -> egui::RichText {
    let decimals = if ms < 100.0 { 2 } else { 0 };
    egui::RichText::new(format!("{ms:.decimals$} ms")).monospace()
}

/// The area of a bar of this width.
fn bar(ui: &mut egui::Ui, width: f32) -> egui::Rect {
    let (rect, _) = ui.allocate_exact_size(Vec2::new(width, 12.0), Sense::hover());
    rect
}

/// The times of stages, on host and device where both work on one.
fn shown_stages(spans: &[StageTime]) -> Vec<(Stage, Clock, f32)> {
    let mut shown = Vec::new();
    for &stage in Stage::ALL {
        if stage.group() == StageGroup::Whole {
            continue;
        }
        for clock in [Clock::Wall, Clock::Gpu, Clock::Fenced] {
            let times = spans
                .iter()
                .filter(|span| span.stage == stage && span.clock == clock)
                .filter_map(|span| span.ns);
            if let Some(ns) = times.reduce(|sum, ns| sum + ns) {
                shown.push((stage, clock, ns as f32 * 1e-6));
            }
        }
    }
    shown
}

fn color_of(stage: Stage) -> Color32 {
    match stage.group() {
        StageGroup::Pose => Color32::from_rgb(0x4c, 0x9f, 0x70),
        StageGroup::Gameplay => Color32::from_rgb(0x8a, 0x6f, 0xb0),
        StageGroup::Upload => Color32::from_rgb(0xb0, 0x8a, 0x3e),
        StageGroup::Skin => Color32::from_rgb(0xc1, 0x4f, 0x6b),
        StageGroup::Draw => Color32::from_rgb(0x5b, 0x6f, 0xc4),
        StageGroup::Whole => Color32::GRAY,
    }
}

/// Frame times of the last frames.
fn graph(ui: &mut egui::Ui, live: &Live) {
    ui.add_space(6.0);
    let size = Vec2::new(ui.available_width() - 8.0, 70.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.on_hover_text("Frame times, the newest at the right");
    ui.painter()
        .rect_filled(rect, 3.0, ui.visuals().extreme_bg_color);
    let most = live
        .history
        .iter()
        .flatten()
        .fold(0.0f32, |most, &ms| most.max(ms));
    if most <= 0.0 {
        return;
    }
    let top = scale(most);
    for (history, color) in live.history.iter().zip(SIDES) {
        let first = HISTORY - history.len();
        let mut points = Vec::with_capacity(history.len());
        for (index, ms) in history.iter().enumerate() {
            let x = rect.left() + rect.width() * (first + index) as f32 / (HISTORY - 1) as f32;
            points.push(egui::pos2(x, rect.bottom() - rect.height() * ms / top));
        }
        ui.painter().line(points, egui::Stroke::new(1.5, color));
    }
    let labels = [
        (
            rect.left_top() + egui::vec2(4.0, 2.0),
            egui::Align2::LEFT_TOP,
            format!("{top} ms, live"),
        ),
        (
            rect.left_bottom() + egui::vec2(4.0, -2.0),
            egui::Align2::LEFT_BOTTOM,
            "0".into(),
        ),
    ];
    for (place, align, text) in labels {
        let font = egui::FontId::proportional(SMALL);
        ui.painter()
            .text(place, align, text, font, ui.visuals().text_color());
    }
}

/// The next of 1, 2 and 5 times a power of ten.
fn scale(most: f32) -> f32 {
    let power = 10f32.powf(most.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|top| *top >= most)
        .unwrap_or(10.0 * power)
}

fn errors(ui: &mut egui::Ui, state: &mut State, live: &Live) {
    ui.horizontal(|ui| {
        ui.radio_value(&mut state.errors, Errors::Hidden, "Hidden");
        ui.radio_value(&mut state.errors, Errors::Reference, "f64 reference")
            .on_hover_text("Paints each vertex by its distance from the f64 reference");
        ui.radio_value(&mut state.errors, Errors::Sides, "A − B")
            .on_hover_text("Paints each vertex by the sides' distance");
    });
    if state.errors == Errors::Hidden {
        return;
    }
    let width = ui.available_width() - 8.0;
    let rect = bar(ui, width);
    let [low, high] = heat::SCALE.map(f64::log10);
    let steps = 120;
    for step in 0..steps {
        let [from, to] =
            [step, step + 1].map(|step| rect.left() + width * step as f32 / steps as f32);
        let exponent = low + (high - low) * f64::from(step) / f64::from(steps - 1);
        let [r, g, b] = heat::color(10f64.powf(exponent)).map(|c| (c * 255.0).round() as u8);
        let slice = egui::Rect::from_x_y_ranges(from..=to, rect.y_range());
        ui.painter()
            .rect_filled(slice, 0.0, Color32::from_rgb(r, g, b));
    }
    ui.horizontal(|ui| {
        ui.small(format!("1e{low:.0}"));
        at_right(ui, egui::RichText::new(format!("1e{high:.0}")).small());
    });
    ui.small("of the model's diagonal, logarithmic");
    for (index, side) in live.shown.sides.iter().enumerate() {
        if let Some(worst) = side.worst {
            let text = format!(
                "{:.2e} at vertex {}, instance {}",
                worst.error, worst.item, worst.instance
            );
            ui.horizontal(|ui| {
                ui.colored_label(SIDES[index], NAMES[index]);
                ui.label(text);
            });
        }
        let instances = live.shown.facts.as_ref().map_or(0, |facts| facts.instances);
        if side.painted > 0 && side.painted < instances {
            let [painted, all] = [side.painted, instances].map(|count| grouped(count as u64));
            ui.small(format!("{painted} of {all} instances are painted"));
        }
    }
}

fn measurement(ui: &mut egui::Ui, state: &mut State, live: &Live, actions: &mut Vec<Action>) {
    let command = state.command();
    if let Some((what, done)) = &live.progress {
        ui.add(
            egui::ProgressBar::new(*done as f32)
                .text(what.as_str())
                .desired_width(ui.available_width() - 8.0),
        );
        if ui.button("Cancel").clicked() {
            actions.push(Action::Interrupt);
        }
        return;
    }
    ui.horizontal(|ui| {
        let names = state.backends().join(" and ");
        let runs = format!("Runs the harness on this scene with {names}, as `skinbench run` does");
        if button(ui, "Measure", &runs) {
            actions.push(Action::Measure);
        }
        let hint = command.as_deref().unwrap_or_default();
        let obstacle = command.as_ref().map(|_| ());
        if possible(ui, "Copy command", hint, obstacle) {
            ui.copy_text(hint.to_owned());
        }
    });
}

/// The last measurement, in a window of its own over the picture.
pub fn measured(ui: &egui::Ui, live: &mut Live) {
    let Some(measured) = &live.measured else {
        return;
    };
    let mut picture = ui.ctx().content_rect();
    picture.min.x += LEFT;
    picture.max.x -= RIGHT;
    let mut open = true;
    let window = egui::Window::new("Measured")
        .open(&mut open)
        .pivot(egui::Align2::CENTER_TOP)
        .default_pos(picture.center_top() + Vec2::new(0.0, 40.0))
        .default_width(picture.width() - 40.0)
        .constrain_to(picture);
    window.show(ui.ctx(), |ui| match measured {
        Ok(measured) => {
            ui.label(egui::RichText::new(&measured.verdict).size(15.0));
            egui::ScrollArea::both()
                .max_height(420.0)
                .show(ui, |ui| figures_of(ui, &measured.rows));
            if button(ui, "Copy as text", "All that `skinbench run` prints") {
                ui.copy_text(measured.text.clone());
            }
        }
        Err(problem) => {
            ui.colored_label(problem_color(ui), problem);
        }
    });
    if !open {
        live.measured = None;
    }
}

/// The table of a measurement: headings, then rows.
fn figures_of(ui: &mut egui::Ui, rows: &[Vec<String>]) {
    let grid = egui::Grid::new("figures").striped(true);
    grid.spacing([14.0, 6.0]).show(ui, |ui| {
        for (index, row) in rows.iter().enumerate() {
            for cell in row {
                let text = egui::RichText::new(cell);
                ui.label(if index == 0 { text.strong() } else { text });
            }
            ui.end_row();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graph_ends_at_a_round_number() {
        assert_eq!(
            [0.07, 1.0, 1.01, 34.0, 99.0]
                .map(scale)
                .map(|top| (top * 100.0).round()),
            [10.0, 100.0, 200.0, 5000.0, 10000.0]
        );
    }

    #[test]
    fn parts_of_a_stage_add_up_on_each_side() {
        let span = |stage, clock, ns| StageTime { stage, clock, ns };
        let spans = [
            span(Stage::Skin, Clock::Wall, Some(9)),
            span(Stage::Skin, Clock::Gpu, Some(1_000_000)),
            span(Stage::Skin, Clock::Gpu, Some(2_000_000)),
            span(Stage::Sample, Clock::Wall, Some(500_000)),
            span(Stage::Frame, Clock::Wall, Some(7)),
            span(Stage::Draw, Clock::Gpu, None),
        ];
        assert_eq!(
            shown_stages(&spans),
            [
                (Stage::Sample, Clock::Wall, 0.5),
                (Stage::Skin, Clock::Wall, 0.000_009),
                (Stage::Skin, Clock::Gpu, 3.0)
            ]
        );
    }
}
