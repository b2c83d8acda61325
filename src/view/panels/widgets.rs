//! Controls that several panels use.

use eframe::egui::{self, emath::Numeric};
use std::ops::RangeInclusive;

/// Width of the panel at the left, in points.
pub const LEFT: f32 = 250.0;
/// Width of the panel at the right, in points.
pub const RIGHT: f32 = 330.0;

/// A heading above a group of controls.
pub fn heading(ui: &mut egui::Ui, text: &str) {
    ui.add_space(10.0);
    ui.label(egui::RichText::new(text).strong());
    ui.add_space(2.0);
}

/// Colour of messages about problems, which can be read on either background.
pub fn problem_color(ui: &egui::Ui) -> egui::Color32 {
    if ui.visuals().dark_mode {
        egui::Color32::from_rgb(0xff, 0x8a, 0x7a)
    } else {
        egui::Color32::from_rgb(0xb0, 0x10, 0x20)
    }
}

/// A button. Returns whether it was clicked.
pub fn button(ui: &mut egui::Ui, label: &str, hint: &str) -> bool {
    ui.button(label).on_hover_text(hint).clicked()
}

/// A button that is greyed if it can do nothing, and says why. Returns whether it was clicked.
pub fn possible(
    ui: &mut egui::Ui,
    label: &str,
    hint: &str,
    obstacle: Result<(), impl Into<egui::WidgetText>>,
) -> bool {
    let is_possible = obstacle.is_ok();
    let mut button = ui.add_enabled(is_possible, egui::Button::new(label));
    button = match obstacle {
        Ok(()) => button.on_hover_text(hint),
        Err(reason) => button.on_disabled_hover_text(reason),
    };
    button.clicked()
}

/// One of several buttons, of which one is down. Returns whether it was clicked.
pub fn radio(ui: &mut egui::Ui, is_down: bool, label: &str, hint: &str) -> bool {
    ui.radio(is_down, label).on_hover_text(hint).clicked()
}

/// A number to drag or to type. It changes when the drag or the input ends.
pub fn number<T: Numeric>(value: &mut T, range: RangeInclusive<T>) -> egui::DragValue<'_> {
    egui::DragValue::new(value)
        .range(range)
        .update_while_editing(false)
}

/// A slider for a number with so many digits after the point.
pub fn slider<'a>(
    value: &'a mut f64,
    range: RangeInclusive<f64>,
    digits: usize,
    label: &str,
) -> egui::Slider<'a> {
    egui::Slider::new(value, range)
        .max_decimals(digits)
        .text(label)
}

/// Text at the right end of a line.
pub fn at_right(ui: &mut egui::Ui, text: egui::RichText) {
    let right = egui::Layout::right_to_left(egui::Align::Center);
    ui.with_layout(right, |ui| ui.label(text));
}

/// A number that can be left to the scene: 0 is shown as `none` and stands for it.
pub fn optional(
    ui: &mut egui::Ui,
    [label, hint]: [&str; 2],
    value: &mut Option<u32>,
    most: u32,
    none: &str,
) {
    let mut number = value.unwrap_or(0);
    ui.horizontal(|ui| {
        let named = ui.label(label);
        let drag = self::number(&mut number, 0..=most)
            .speed(0.1)
            .custom_formatter(move |number, _| {
                if number == 0.0 {
                    none.into()
                } else {
                    format!("{number:.0}")
                }
            })
            .custom_parser(move |text| {
                if text == none {
                    Some(0.0)
                } else {
                    text.trim().parse().ok()
                }
            });
        if ui
            .add(drag)
            .labelled_by(named.id)
            .on_hover_text(hint)
            .changed()
        {
            *value = Some(number).filter(|number| *number > 0);
        }
    });
}

/// An entry of a list.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is, in a line; may be empty.
    pub summary: &'a str,
}

impl<'a> From<&'a str> for Choice<'a> {
    fn from(name: &'a str) -> Self {
        Self { name, summary: "" }
    }
}

/// A list of choices that opens where its label is clicked. Returns the name that was chosen.
pub fn choice<'a>(
    ui: &mut egui::Ui,
    label: &str,
    shown: &str,
    choices: impl IntoIterator<Item = impl Into<Choice<'a>>>,
) -> Option<String> {
    let mut chosen = None;
    // As much of the list as the window has room for.
    let height = ui.ctx().content_rect().height() * 0.8;
    egui::ComboBox::from_id_salt(label)
        .width(ui.available_width() - 8.0)
        .height(height)
        .selected_text(shown)
        .show_ui(ui, |ui| {
            for choice in choices {
                let choice: Choice = choice.into();
                let entry = ui.selectable_label(choice.name == shown, choice.name);
                if entry.clicked() {
                    chosen = Some(choice.name.to_owned());
                }
                if !choice.summary.is_empty() {
                    let summary = egui::RichText::new(choice.summary).size(12.0).weak();
                    ui.add(egui::Label::new(summary).wrap());
                }
            }
        })
        .response
        .on_hover_text(label);
    chosen
}
