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
    let held = live.divider_held && response.dragged();
    if let Some(pointer) = response.interact_pointer_pos()
        && held
    {
        state.divider = ((pointer.x - rect.left()) / rect.width().max(1.0)).clamp(0.02, 0.98);
    } else {
        navigate(ui, state, rect, &response);
    }
    let middle = rect.left() + rect.width() * state.divider;
    let whole = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
    ui.painter()
        .rect_filled(rect, 0.0, ui.visuals().extreme_bg_color);
    for (index, texture) in live.textures.iter().enumerate() {
        let Some(texture) = texture.as_ref().filter(|_| index == 0 || split) else {
            continue;
        };
        let mut area = rect;
        let mut uv = whole;
        if split && index == 0 {
            area.max.x = middle;
            uv.max.x = state.divider;
        } else if split {
            area.min.x = middle;
            uv.min.x = state.divider;
        }
        ui.painter().image(texture.id(), area, uv, Color32::WHITE);
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
    let left = (
        rect.left_top() + egui::vec2(10.0, 8.0),
        egui::Align2::LEFT_TOP,
    );
    let right = (
        rect.right_top() + egui::vec2(-10.0, 8.0),
        egui::Align2::RIGHT_TOP,
    );
    let labelled = if split { 2 } else { 1 };
    for ((corner, align), side) in [left, right]
        .into_iter()
        .zip(&live.shown.sides)
        .take(labelled)
    {
        let mut text = side.backend.clone();
        if let Some(worst) = side.worst {
            text += &format!(", off by {:.1e} at most", worst.error);
        }
        label(ui, corner, align, text);
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
        if response.dragged_by(egui::PointerButton::Primary) && !shift {
            state.orbit.turn(drag.into());
        } else {
            state.orbit.shift(drag.into(), rect.height());
        }
    }
    if response.hovered() {
        let scroll = ui.input(|input| input.smooth_scroll_delta().y);
        let pinch = ui.input(|input| input.zoom_delta());
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
    let galley =
        ui.painter()
            .layout_no_wrap(text, egui::FontId::proportional(13.0), Color32::WHITE);
    let place = align.anchor_size(corner, galley.size());
    ui.painter()
        .rect_filled(place.expand(4.0), 4.0, Color32::from_black_alpha(120));
    ui.painter().galley(place.min, galley, Color32::WHITE);
}

/// Shows problems on top of the picture; everything else stays usable.
fn problems(ui: &egui::Ui, state: &mut State, live: &Live, rect: Rect) {
    let mut found: Vec<String> = live.shown.problem.iter().cloned().collect();
    for side in &live.shown.sides {
        if let Some(problem) = &side.problem {
            found.push(format!("{}: {problem}", side.backend));
        }
    }
    if state.errors == Errors::Sides && live.shown.sides.len() < 2 {
        found.push("A − B needs two backends".into());
    }
    if found.is_empty() && state.problem.is_none() {
        return;
    }
    let area = egui::Area::new(egui::Id::unique("problems"))
        .fixed_pos(rect.left_bottom() + egui::vec2(10.0, -10.0));
    area.pivot(egui::Align2::LEFT_BOTTOM).show(ui.ctx(), |ui| {
        ui.set_max_width(rect.width() - 40.0);
        egui::Frame::popup(ui.style()).show(ui, |ui| {
            for problem in found {
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
