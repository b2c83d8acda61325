//! The scene that is shown, as the text of a scene file that controls edit; its comments stay. "Save scene" writes
//! exactly this text.

use crate::asset::regular_file;
use crate::crowd::TICKS_PER_SECOND;
use crate::error::DataError;
use crate::scene::{Camera, LayerPlan, ModelSource, Scene, SceneFile, Settings};
use std::path::Path;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Value};

/// A scene file with the changes of this session.
#[derive(Debug, Clone)]
pub struct SceneDocument {
    /// Name that was opened: a built-in scene, a scene file or a model.
    pub source: String,
    /// The file with all changes but the wave.
    file: SceneFile,
    /// The text as it was opened or saved.
    saved: String,
    /// Clip that was chosen for the first group's model.
    clip: Option<String>,
    /// A layer that fades in over the first group's model and, once it is switched off, out again.
    wave: Option<Item>,
}

/// A layer of a scene.
#[derive(Debug, Clone, Copy)]
pub struct LayerIndex {
    /// Group of the scene.
    pub group: usize,
    /// Layer of the group, in the order of the file.
    pub layer: usize,
}

impl SceneDocument {
    /// Opens a built-in scene by name, a scene file or a model.
    ///
    /// # Errors
    /// As [`Scene::load`].
    pub fn open(source: &str) -> Result<Self, DataError> {
        let file = SceneFile::find(source)?;
        // Checks names and values; errors state line and column.
        file.read()?;
        // A scene loads its models when it is built, but a missing file is reported immediately.
        if Scene::is_model(source) && ModelSource::from_name(source).is_file() {
            regular_file::open(Path::new(source)).map_err(|error| {
                DataError::new("", format!("cannot read: {error}")).in_file(Path::new(source))
            })?;
        }
        Ok(Self {
            source: source.to_owned(),
            saved: file.text.clone(),
            file,
            clip: None,
            wave: None,
        })
    }

    /// Name of the scene.
    pub fn name(&self) -> &str {
        &self.file.name
    }

    /// Returns whether the scene has changed since it was opened or saved.
    pub fn is_modified(&self) -> bool {
        self.file.text != self.saved || self.wave.is_some()
    }

    /// The text of the scene file.
    pub fn text(&self) -> String {
        let mut text = self.file.text.clone();
        if let Some(wave) = self.wave.as_ref().and_then(Item::as_inline_table) {
            edit(&mut text, |scene| {
                for group in groups_of_first_model(scene) {
                    match &mut scene["group"][group]["layer"] {
                        Item::ArrayOfTables(layers) => layers.push(wave.clone().into_table()),
                        Item::Value(Value::Array(layers)) => layers.push(wave.clone()),
                        none => *none = toml_edit::value(Array::from_iter([wave.clone()])),
                    }
                }
            });
        }
        text
    }

    /// The scene that the text describes.
    ///
    /// # Errors
    /// As [`SceneFile::read`]; positions refer to [`SceneDocument::text`].
    pub fn scene(&self) -> Result<Scene, DataError> {
        SceneFile {
            file: format!("{} (as shown)", self.source),
            text: self.text(),
            ..self.file.clone()
        }
        .read()
    }

    /// Clip of the first group: a name or an index, `*` or `rest`; empty for the model's first clip.
    pub fn clip(&self) -> String {
        let scene = parsed(&self.file.text);
        scene
            .get("group")
            .and_then(|groups| groups.get(0)?.get("clip"))
            .map_or_else(String::new, plain)
    }

    /// Plays another clip in the first group, and in all of the same model.
    pub fn set_clip(&mut self, clip: &str) {
        self.clip = Some(clip.to_owned());
        edit(&mut self.file.text, |scene| {
            for group in groups_of_first_model(scene) {
                set(&mut scene["group"][group], "clip", clip);
            }
        });
    }

    /// Switches the wave on or off at a tick. A wave that is off stays in the scene, so that its fade can be seen.
    pub fn switch_wave(&mut self, on: bool, clip: &str, fade: f64, tick: u32) {
        if on {
            let mut layer = toml_edit::value(InlineTable::new());
            set(&mut layer, "clip", clip);
            fade_in(&mut layer, tick, fade);
            self.wave = Some(layer);
        } else if let Some(layer) = self.wave.as_mut().filter(|layer| stays(layer)) {
            fade_out(layer, tick, fade);
        }
    }

    /// Returns whether the wave is fading in or fully present.
    pub fn is_wave_on(&self) -> bool {
        self.wave.as_ref().is_some_and(stays)
    }

    /// Names of the groups: number and model.
    pub fn groups(&self) -> Vec<String> {
        let scene = parsed(&self.file.text);
        let mut names = Vec::new();
        for group in list(scene.as_item(), "group") {
            names.push(format!("{}: {}", names.len() + 1, model(group)));
        }
        names
    }

    /// Layers of a group, without the wave; none while the text is no valid scene.
    pub(crate) fn layers(&self, group: usize) -> Vec<LayerPlan> {
        let scene = self.file.read().ok();
        scene
            .and_then(|scene| Some(scene.groups.get(group)?.layers.clone()))
            .unwrap_or_default()
    }

    /// Sets the weight of a layer.
    pub fn set_layer_weight(&mut self, layer: LayerIndex, weight: f64) {
        self.edit_layer(layer, |layer| set(layer, "weight", weight));
    }

    /// Sets the weight of one joint in the mask of a layer. A layer without a mask gets one with only this joint.
    pub fn set_mask(&mut self, layer: LayerIndex, joint: &str, weight: f64) {
        self.edit_layer(layer, |layer| {
            let mask = &mut layer["mask"];
            if mask.get("joints").is_some()
                && let Some(joints) = mask["joints"].as_array_mut()
            {
                joints.retain(|known| known.as_str() != Some(joint));
            }
            set(&mut mask["weights"], joint, weight);
        });
    }

    /// Removes the mask of a layer, which then moves every joint.
    pub fn clear_mask(&mut self, layer: LayerIndex) {
        self.edit_layer(layer, |layer| remove(layer, &["mask"]));
    }

    /// Fades a layer in from a tick on. It stays until [`SceneDocument::fade_out`].
    pub fn fade_in(&mut self, layer: LayerIndex, tick: u32, fade: f64) {
        self.edit_layer(layer, |layer| fade_in(layer, tick, fade));
    }

    /// Fades a layer out from a tick on. A layer that was always present then starts at tick 0.
    pub fn fade_out(&mut self, layer: LayerIndex, tick: u32, fade: f64) {
        self.edit_layer(layer, |layer| fade_out(layer, tick, fade));
    }

    /// Restores the layers as they were opened or saved, without the wave.
    pub fn reset_layers(&mut self) {
        self.wave = None;
        self.file.text = self.saved.clone();
        if let Some(clip) = self.clip.take() {
            self.set_clip(&clip);
        }
    }

    /// The text of the document with the current camera and options, to be written to a file.
    ///
    /// # Errors
    /// As [`SceneDocument::scene`].
    pub fn with_settings(&self, camera: Camera, settings: &Settings) -> Result<String, DataError> {
        self.scene()?;
        let folder =
            std::path::absolute(&self.file.folder).unwrap_or_else(|_| self.file.folder.clone());
        let mut text = self.text();
        edit(&mut text, |file| {
            // Either takes the place of the other.
            if settings.phase_buckets.is_some() || settings.update_rate.is_some() {
                remove(file, &["phase_buckets", "update_rate"]);
            }
            // The camera has it.
            remove(file, &["distance"]);
            for (name, chosen) in settings.chosen() {
                if let Ok(value) = chosen.to_string().parse::<Value>() {
                    set(file, &name, value);
                }
            }
            let keys = [
                ("orbit", camera.orbit),
                ("elevation", camera.elevation),
                ("distance", camera.distance),
                ("field_of_view", camera.field_of_view),
            ];
            for (key, value) in keys {
                // Three decimals are finer than visible and keep the file readable.
                set(&mut file["camera"], key, (value * 1e3).round() / 1e3);
            }
            // The scene file may be saved to another folder.
            for index in 0..list(file, "group").count() {
                let group = &mut file["group"][index];
                let model = group
                    .get("model")
                    .and_then(Item::as_str)
                    .map(|model| folder.join(model));
                if let Some(model) = model.filter(|model| model.is_file()) {
                    set(group, "model", model.display().to_string());
                }
            }
        });
        Ok(text)
    }

    fn edit_layer(
        &mut self,
        LayerIndex { group, layer }: LayerIndex,
        change: impl FnOnce(&mut Item),
    ) {
        edit(&mut self.file.text, |scene| {
            let group = scene
                .get_mut("group")
                .and_then(|groups| groups.get_mut(group));
            if let Some(layer) = group.and_then(|group| group.get_mut("layer")?.get_mut(layer)) {
                change(layer);
            }
        });
    }
}

/// Lets a layer fade in from a tick on, and stay.
fn fade_in(layer: &mut Item, tick: u32, fade: f64) {
    remove(layer, &["every", "lasts", "stagger", "fade_out"]);
    set(layer, "start", seconds(tick));
    set(layer, "fade_in", fade);
}

/// Lets a layer fade out from a tick on.
fn fade_out(layer: &mut Item, tick: u32, fade: f64) {
    remove(layer, &["every", "stagger"]);
    let start = layer.get("start").and_then(number).unwrap_or(0.0);
    let there = (seconds(tick) - start).max(0.0);
    let fade_in = layer
        .get("fade_in")
        .and_then(number)
        .unwrap_or(0.0)
        .min(there);
    set(layer, "fade_in", fade_in);
    set(layer, "fade_out", fade);
    set(layer, "lasts", (there + fade).max(1.0 / TICKS_PER_SECOND));
}

/// Returns whether a layer has no end.
fn stays(layer: &Item) -> bool {
    layer.get("lasts").is_none()
}

/// The text of a scene file, which was checked when it was opened.
fn parsed(text: &str) -> DocumentMut {
    text.parse().unwrap_or_default()
}

/// Changes the text of a scene file.
fn edit(text: &mut String, change: impl FnOnce(&mut Item)) {
    let mut scene = parsed(text);
    change(scene.as_item_mut());
    *text = scene.to_string();
}

/// The tables of a list, in either notation: `[[key]]`, or an array of tables in braces.
fn list<'a>(table: &'a Item, key: &'a str) -> impl Iterator<Item = &'a Item> {
    (0..).map_while(move |index: usize| table.get(key)?.get(index))
}

fn model(group: &Item) -> String {
    group.get("model").map_or_else(String::new, plain)
}

/// Numbers of the groups that show the first group's model.
fn groups_of_first_model(scene: &Item) -> Vec<usize> {
    let models: Vec<String> = list(scene, "group").map(model).collect();
    (0..models.len())
        .filter(|&group| models[group] == models[0])
        .collect()
}

/// Sets a key of a table, which is created if it is missing. A comment behind the old value stays.
fn set(table: &mut Item, key: &str, value: impl Into<Value>) {
    let known = &mut table[key];
    let mut value = value.into();
    if let Some(old) = known.as_value() {
        value.decor_mut().clone_from(old.decor());
    }
    *known = Item::Value(value);
}

fn remove(table: &mut Item, keys: &[&str]) {
    if let Some(table) = table.as_table_like_mut() {
        keys.iter().for_each(|key| drop(table.remove(key)));
    }
}

fn number(value: &Item) -> Option<f64> {
    value
        .as_float()
        .or_else(|| value.as_integer().map(|whole| whole as f64))
}

fn plain(value: &Item) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string().trim().to_owned(), str::to_owned)
}

/// The time of a tick in seconds. Ticks before the start count as the start, because schedules have no earlier times.
fn seconds(tick: u32) -> f64 {
    f64::from((tick as i32).max(0)) / TICKS_PER_SECOND
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::{LayerKind, Presence};
    use crate::scene::Interpolation;

    fn built(document: &SceneDocument) -> crate::scene::BuiltScene {
        document.scene().unwrap().build(1 << 30).unwrap()
    }

    #[test]
    fn what_is_opened_is_the_scene_that_run_measures() {
        for source in ["smoke", "street", "layers-4", "sprout-glb"] {
            let scene = Scene::load(source).unwrap().build(1 << 30).unwrap();
            let document = SceneDocument::open(source).unwrap();
            assert_eq!(built(&document).hash, scene.hash, "{source}");
            assert!(!document.is_modified());
        }
        let error = SceneDocument::open("walker2").unwrap_err().to_string();
        assert!(error.contains("did you mean"), "{error}");
    }

    #[test]
    fn the_wave_fades_in_over_every_instance_and_out_again() {
        let mut document = SceneDocument::open("walkers").unwrap();
        let plain = document.text();
        document.switch_wave(true, "wave", 0.5, 120);
        assert!(document.is_wave_on());
        let layer = |document: &SceneDocument| {
            let crowd = built(document).crowd;
            let layers = crowd.layers().of(7).to_vec();
            assert_eq!(layers.len(), 2);
            layers[1]
        };
        let on = layer(&document);
        let presences = [119, 120, 149, 150, 4_000].map(|tick| on.schedule.at(tick));
        assert_eq!(
            presences,
            [
                Presence::Absent,
                Presence::In(0),
                Presence::In(29),
                Presence::Full,
                Presence::Full
            ]
        );
        document.switch_wave(false, "wave", 0.5, 300);
        assert!(!document.is_wave_on());
        let off = layer(&document);
        assert_eq!(
            [299, 300, 329, 330].map(|tick| off.schedule.at(tick)),
            [
                Presence::Full,
                Presence::Out(0),
                Presence::Out(29),
                Presence::Absent
            ]
        );
        document.reset_layers();
        assert_eq!(document.text(), plain);
    }

    #[test]
    fn a_wave_that_is_switched_off_at_once_can_be_built() {
        let mut document = SceneDocument::open("walkers").unwrap();
        document.switch_wave(true, "wave", 0.5, 60);
        document.switch_wave(false, "wave", 0.5, 60);
        built(&document);
    }

    #[test]
    fn weights_masks_and_fades_of_layers_reach_the_crowd() {
        let mut document = SceneDocument::open("layers-4").unwrap();
        let kinds: Vec<_> = document
            .layers(0)
            .into_iter()
            .map(|layer| layer.kind)
            .collect();
        assert_eq!(
            kinds,
            [LayerKind::Merge, LayerKind::Override, LayerKind::Additive]
        );
        let layer = LayerIndex { group: 0, layer: 1 };
        document.set_layer_weight(layer, 0.25);
        document.set_mask(layer, "head", 0.5);
        document.fade_in(layer, 60, 1.0);
        let scene = built(&document);
        let of_crowd = scene.crowd.layers().of(0)[2];
        assert_eq!(
            (
                of_crowd.weight,
                of_crowd.weight_at(59),
                of_crowd.weight_at(120)
            ),
            (0.25, 0.0, 0.25)
        );
        let group = &scene.crowd.groups()[0];
        let head = group
            .model
            .skeleton()
            .names()
            .iter()
            .position(|name| name == "head")
            .unwrap();
        assert_eq!(group.mask(of_crowd.mask)[head], 0.5);
        document.fade_out(layer, 240, 0.5);
        let of_crowd = built(&document).crowd.layers().of(0)[2];
        assert_eq!([239, 270].map(|tick| of_crowd.weight_at(tick)), [0.25, 0.0]);
        document.clear_mask(layer);
        assert!(document.layers(0)[1].mask.is_none());
        document.reset_layers();
        assert!(!document.is_modified());
    }

    #[test]
    fn layers_of_every_group_can_be_edited() {
        let mut document = SceneDocument::open("street").unwrap();
        let groups = document.groups();
        let layered: Vec<usize> = (0..groups.len())
            .filter(|&group| !document.layers(group).is_empty())
            .collect();
        let last = *layered.last().unwrap();
        assert!(last > 0, "{groups:?}");
        let before = document.layers(0);
        document.set_layer_weight(
            LayerIndex {
                group: last,
                layer: 0,
            },
            0.125,
        );
        assert_eq!(
            (document.layers(last)[0].weight, document.layers(0)),
            (0.125, before)
        );
        let weights = |document: &SceneDocument| {
            let crowd = built(document).crowd;
            crowd
                .layers()
                .all()
                .iter()
                .filter(|layer| layer.weight == 0.125)
                .count() as i64
        };
        let scene = parsed(&document.text());
        let count = list(scene.as_item(), "group")
            .nth(last)
            .and_then(|group| group.get("count")?.as_integer());
        assert_eq!(
            Some(weights(&document)),
            count,
            "one layer of each instance"
        );
        document.set_layer_weight(
            LayerIndex {
                group: 99,
                layer: 0,
            },
            0.5,
        );
        document.reset_layers();
        assert!(!document.is_modified());
    }

    #[test]
    fn a_saved_scene_is_the_one_that_was_shown() {
        let document = SceneDocument::open("street").unwrap();
        let camera = Camera {
            orbit: 12.345,
            elevation: -3.0,
            distance: 0.5,
            field_of_view: 40.0,
        };
        let settings = Settings {
            instances: Some(50),
            passes: Some(3),
            influences: Some(2),
            interpolation: Some(Interpolation::Smooth),
            phase_buckets: Some(8),
            sockets: vec!["head".into()],
            ..Settings::default()
        };
        let text = document.with_settings(camera, &settings).unwrap();
        let shown = document
            .scene()
            .unwrap()
            .with(settings)
            .build(1 << 30)
            .unwrap();
        let saved = SceneFile {
            name: "street".into(),
            file: "saved".into(),
            text: text.clone(),
            folder: "".into(),
        }
        .read()
        .unwrap()
        .build(1 << 30)
        .unwrap();
        assert_eq!((saved.camera, &saved.settings), (camera, &shown.settings));
        assert_eq!(saved.crowd.layers().all(), shown.crowd.layers().all());
        assert_eq!(saved.crowd.placements(), shown.crowd.placements());
        assert_eq!(saved.crowd.groups()[0].model.mesh().max_influences(), 2);
        assert!(
            text.contains("phase_buckets = 8") && text.contains("interpolation = \"smooth\""),
            "{text}"
        );
    }
    #[test]
    fn comments_of_a_scene_file_stay() {
        let mut document = SceneDocument::open("street").unwrap();
        let comments = |text: &str| {
            text.lines()
                .filter(|line| line.contains('#'))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let before = comments(&document.text());
        assert!(before.len() > 2, "{before:?}");
        document.set_clip("run");
        document.switch_wave(true, "wave", 0.5, 60);
        document.fade_in(LayerIndex { group: 0, layer: 0 }, 60, 1.0);
        document.set_mask(LayerIndex { group: 0, layer: 0 }, "head", 0.5);
        let camera = document.scene().unwrap().camera;
        let saved = document
            .with_settings(
                camera,
                &Settings {
                    influences: Some(2),
                    ..Settings::default()
                },
            )
            .unwrap();
        assert_eq!(comments(&saved), before);
        let mut text = "passes = 2 # of two\n".to_owned();
        edit(&mut text, |scene| set(scene, "passes", 3_i64));
        assert_eq!(text, "passes = 3 # of two\n");
    }
}
