//! The picture in the middle: one side or two with a divider, moved with the mouse, and what went wrong.

use super::live::Live;
use super::widgets::problem_color;
use crate::view::state::{Errors, State};
use eframe::egui::{self, Color32, Pos2, Rect, Sense};

/// Half of the divider's width that the pointer can take hold of.
const GRIP: f32 = 6.0;

pub fn show(ui: &mut egui::Ui, state: &mut State, live: &mut Live) {
    let rect = ui.available_rect_before_wrap();
    let pixels = ui.pixels_per_point();
    live.size =
        [rect.width(), rect.height()].map(|points| (points * pixels).round().max(1.0) as u32);
    let response = ui.allocate_rect(rect, Sense::click_and_drag());
    let split = state.split && live.shown.sides.len() > 1;
    let divider = rect.left() + rect.width() * state.divider;
    let on_divider = |at: Pos2| split && (at.x - divider).abs() <= GRIP;
    if response.drag_started() {
        // A slow frame sees the pointer where it has gone meanwhile, not where it was pressed.
        live.divider_held = ui
            .input(|input| input.pointer.press_origin())
            .is_some_and(on_divider);
    }
    if response.hover_pos().is_some_and(on_divider) || (live.divider_held && response.dragged()) {
        ui.ctx().set_cursor_icon(egui::CursorIcon::ResizeHorizontal);
    }
    match response
        .interact_pointer_pos()
        .filter(|_| live.divider_held && response.dragged())
    {
        Some(at) => {
            state.divider = ((at.x - rect.left()) / rect.width().max(1.0)).clamp(0.02, 0.98)
        }
        None => navigate(ui, state, rect, &response),
    }
    let middle = rect.left() + rect.width() * state.divider;
    let whole = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
    ui.painter()
        .rect_filled(rect, 0.0, ui.visuals().extreme_bg_color);
    for (index, texture) in live.textures.iter().enumerate() {
        let Some(texture) = texture.as_ref().filter(|_| index == 0 || split) else {
            continue;
        };
        let (mut part, mut uv) = (rect, whole);
        if split && index == 0 {
            (part.max.x, uv.max.x) = (middle, state.divider);
        } else if split {
            (part.min.x, uv.min.x) = (middle, state.divider);
        }
        ui.painter().image(texture.id(), part, uv, Color32::WHITE);
    }
    if split {
        ui.painter().vline(
            middle,
            rect.y_range(),
            egui::Stroke::new(2.0, Color32::WHITE),
        );
        ui.painter()
            .circle_filled(Pos2::new(middle, rect.center().y), 5.0, Color32::WHITE);
    }
    let corners = [
        (rect.left_top(), egui::Align2::LEFT_TOP),
        (rect.right_top(), egui::Align2::RIGHT_TOP),
    ];
    for ((corner, align), side) in
        corners
            .into_iter()
            .zip(&live.shown.sides)
            .take(if split { 2 } else { 1 })
    {
        let worst = side.worst.map_or_else(String::new, |worst| {
            format!(", off by {:.1e} at most", worst.error)
        });
        label(ui, corner, align, format!("{}{worst}", side.backend));
    }
    if live.textures[0].is_none() && live.shown.problem.is_none() && state.problem.is_none() {
        ui.put(
            rect,
            egui::Label::new("Preparing the crowd …").selectable(false),
        );
    }
    problems(ui, state, live, rect);
}

/// Orbits with the first button, pans with another or with shift, zooms with the wheel.
fn navigate(ui: &egui::Ui, state: &mut State, rect: Rect, response: &egui::Response) {
    let drag = response.drag_delta();
    let shift = ui.input(|input| input.modifiers.shift);
    if drag != egui::Vec2::ZERO {
        match response.dragged_by(egui::PointerButton::Primary) && !shift {
            true => state.orbit.turn(drag.into()),
            false => state.orbit.shift(drag.into(), rect.height()),
        }
    }
    if response.hovered() {
        let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
        let factor = f64::from(pinch) * (f64::from(scroll) * 0.005).exp();
        if factor != 1.0 {
            state.orbit.zoom(factor);
        }
    }
    if response.double_clicked() {
        state.reset_camera();
    }
}

fn label(ui: &egui::Ui, corner: Pos2, align: egui::Align2, text: String) {
    let inset = if align == egui::Align2::LEFT_TOP {
        egui::vec2(10.0, 8.0)
    } else {
        egui::vec2(-10.0, 8.0)
    };
    let galley =
        ui.painter()
            .layout_no_wrap(text, egui::FontId::proportional(13.0), Color32::WHITE);
    let place = align.anchor_size(corner + inset, galley.size());
    ui.painter()
        .rect_filled(place.expand(4.0), 4.0, Color32::from_black_alpha(120));
    ui.painter().galley(place.min, galley, Color32::WHITE);
}

/// Shows problems on top of the picture; everything else stays usable.
fn problems(ui: &egui::Ui, state: &mut State, live: &Live, rect: Rect) {
    let whole = live.shown.problem.iter().cloned();
    let sides = live
        .shown
        .sides
        .iter()
        .filter_map(|side| Some(format!("{}: {}", side.backend, side.problem.as_ref()?)));
    let found: Vec<String> = whole.chain(sides).collect();
    let mut note = None;
    if state.errors == Errors::Sides && live.shown.sides.len() < 2 {
        note = Some("A − B needs two backends".to_owned());
    }
    if found.is_empty() && state.problem.is_none() && note.is_none() {
        return;
    }
    let area = egui::Area::new(egui::Id::unique("problems"))
        .fixed_pos(rect.left_bottom() + egui::vec2(10.0, -10.0));
    area.pivot(egui::Align2::LEFT_BOTTOM).show(ui.ctx(), |ui| {
        ui.set_max_width(rect.width() - 40.0);
        egui::Frame::popup(ui.style()).show(ui, |ui| {
            for problem in found.iter().chain(&note) {
                ui.colored_label(problem_color(ui), problem);
            }
            if live.shown.problem.is_some() && ui.button("Try again").clicked() {
                state.attempt += 1;
            }
            if let Some(problem) = state.problem.clone() {
                ui.colored_label(problem_color(ui), problem);
                if ui.button("Dismiss").clicked() {
                    state.problem = None;
                }
            }
        });
    });
}
