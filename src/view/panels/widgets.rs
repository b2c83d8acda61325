//! Controls that several panels use.

use eframe::egui;

/// A heading above a group of controls.
pub(super) fn heading(ui: &mut egui::Ui, text: &str) {
    ui.add_space(10.0);
    ui.label(egui::RichText::new(text).strong());
    ui.add_space(2.0);
}

/// A combination box of names. Returns the name that was chosen.
pub(super) fn choice<'a>(
    ui: &mut egui::Ui,
    label: &str,
    shown: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let mut chosen = None;
    egui::ComboBox::from_id_salt(label)
        .width(ui.available_width() - 8.0)
        .selected_text(shown)
        .show_ui(ui, |ui| {
            for name in names {
                if ui.selectable_label(name == shown, name).clicked() {
                    chosen = Some(name.to_owned());
                }
            }
        })
        .response
        .on_hover_text(label);
    chosen
}
