//! The scene that is shown, as the TOML of a scene file that controls edit. "Save scene" writes exactly this text.

use crate::crowd::TICKS_PER_SECOND;
use crate::scene::{BUILT_IN, BUILT_IN_MODELS, Camera, Economy, Overrides, Scene, SceneError};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Number of instances of a model that is opened like a scene, as in `skinbench run`.
const DEFAULT_INSTANCES: i64 = 100;

/// A scene file with the changes of this session.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneDocument {
    /// Name that was opened: a built-in scene, a scene file or a model.
    pub source: String,
    /// Second clip that is laid over the first group's model.
    pub wave: Option<Wave>,
    name: String,
    folder: PathBuf,
    table: Table,
    /// The tables as they were opened or saved.
    saved: Table,
}

/// A clip that fades in over the others and, once it is switched off, out again.
#[derive(Debug, Clone, PartialEq)]
pub struct Wave {
    /// Name or index of the clip.
    pub clip: String,
    /// Tick of its start.
    pub start: u32,
    /// Tick at which it was switched off; `None` while it is on.
    pub end: Option<u32>,
    /// Length of both fades in seconds.
    pub fade: f64,
}

/// A layer of a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerIndex {
    /// Group of the scene.
    pub group: usize,
    /// Layer of the group, in the order of the file.
    pub layer: usize,
}

/// State of a layer, for a panel.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerState {
    /// Name or index of the clip.
    pub clip: String,
    /// `merge`, `override` or `additive`.
    pub kind: String,
    /// Weight among merge layers, or strength of other layers.
    pub weight: f64,
    /// Joints with their weights, of `mask.weights`; joints of `mask.joints` have 1. Empty for a layer without a mask.
    pub mask: Vec<(String, f64)>,
    /// Roots of the subtrees that the mask names.
    pub subtrees: Vec<String>,
}

impl SceneDocument {
    /// Opens a built-in scene by name, a scene file or a model.
    ///
    /// # Errors
    /// As [`Scene::load`].
    pub fn open(source: &str) -> Result<Self, SceneError> {
        // Checks names and values; errors state line and column.
        let scene = Scene::load(source)?;
        let path = Path::new(source);
        let built_in = BUILT_IN.iter().find(|(name, _)| *name == source);
        let (text, folder) = match built_in {
            Some((_, text)) => ((*text).to_owned(), PathBuf::new()),
            None if is_scene_file(path) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|error| SceneError::new(source, format!("cannot read: {error}")))?;
                (text, path.parent().unwrap_or(Path::new("")).to_owned())
            }
            None => {
                // A scene loads its models when it is built, but a missing file is reported immediately.
                if !BUILT_IN_MODELS.contains(&source) {
                    std::fs::File::open(path)
                        .map_err(|error| SceneError::new(source, format!("cannot read: {error}")))?;
                }
                (model_scene(source), PathBuf::new())
            }
        };
        let table: Table = text.parse().map_err(|error| SceneError::new(source, format!("{error}")))?;
        let saved = table.clone();
        Ok(Self { source: source.to_owned(), wave: None, name: scene.name().to_owned(), folder, table, saved })
    }

    /// Name of the scene.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the scene has changed since it was opened or saved.
    pub fn is_modified(&self) -> bool {
        self.table != self.saved || self.wave.is_some()
    }

    /// The text of the scene file.
    pub fn text(&self) -> String {
        let mut table = self.table.clone();
        if let Some(wave) = &self.wave {
            let layer = wave.layer();
            let mut groups = groups_mut(&mut table);
            let model = groups.first().and_then(|group| group.get("model")).cloned();
            for group in groups.iter_mut().filter(|group| group.get("model") == model.as_ref()) {
                layers_mut(group).push(Value::Table(layer.clone()));
            }
        }
        table.to_string()
    }

    /// The scene that the text describes.
    ///
    /// # Errors
    /// As [`Scene::parse`]; positions refer to [`SceneDocument::text`].
    pub fn scene(&self) -> Result<Scene, SceneError> {
        Scene::parse(&self.name, &format!("{} (as shown)", self.source), &self.text(), &self.folder)
    }

    /// Clip of the first group: a name or an index, `*` or `rest`; empty for the model's first clip.
    pub fn clip(&self) -> String {
        self.group_values().first().and_then(|group| group.get("clip")).map_or_else(String::new, plain)
    }

    /// Plays another clip in the first group, and in all of the same model.
    pub fn set_clip(&mut self, clip: &str) {
        let mut groups = groups_mut(&mut self.table);
        let model = groups.first().and_then(|group| group.get("model")).cloned();
        for group in groups.iter_mut().filter(|group| group.get("model") == model.as_ref()) {
            group.insert("clip".into(), clip.into());
        }
    }

    /// Switches the wave on or off at a tick. A wave that is off stays in the scene, so that its fade can be seen.
    pub fn switch_wave(&mut self, on: bool, clip: &str, fade: f64, tick: u32) {
        match (&mut self.wave, on) {
            (_, true) => self.wave = Some(Wave { clip: clip.into(), start: tick, end: None, fade }),
            (Some(wave), false) if wave.end.is_none() => wave.end = Some(tick.max(wave.start)),
            (_, false) => {}
        }
    }

    /// Returns whether the wave is fading in or fully present.
    pub fn is_wave_on(&self) -> bool {
        self.wave.as_ref().is_some_and(|wave| wave.end.is_none())
    }

    /// Names of the groups: number and model.
    pub fn groups(&self) -> Vec<String> {
        let model = |group: &Value| group.get("model").map_or_else(String::new, plain);
        (1..).zip(self.group_values()).map(|(number, group)| format!("{number}: {}", model(group))).collect()
    }

    /// Layers of a group, without the wave.
    pub fn layers(&self, group: usize) -> Vec<LayerState> {
        let layers = self.group_values().get(group).and_then(|group| group.get("layer")).and_then(Value::as_array);
        layers.into_iter().flatten().filter_map(Value::as_table).map(LayerState::of).collect()
    }

    /// Sets the weight of a layer.
    pub fn set_layer_weight(&mut self, layer: LayerIndex, weight: f64) {
        if let Some(layer) = self.layer_mut(layer) {
            layer.insert("weight".into(), weight.into());
        }
    }

    /// Sets the weight of one joint in the mask of a layer. A layer without a mask gets one with only this joint.
    pub fn set_mask(&mut self, layer: LayerIndex, joint: &str, weight: f64) {
        let Some(layer) = self.layer_mut(layer) else { return };
        let mask = table_in(layer, "mask");
        if let Some(Value::Array(joints)) = mask.get_mut("joints") {
            joints.retain(|known| known.as_str() != Some(joint));
        }
        table_in(mask, "weights").insert(joint.into(), weight.into());
    }

    /// Removes the mask of a layer, which then moves every joint.
    pub fn clear_mask(&mut self, layer: LayerIndex) {
        if let Some(layer) = self.layer_mut(layer) {
            layer.remove("mask");
        }
    }

    /// Fades a layer in from a tick on. It stays until [`SceneDocument::fade_out`].
    pub fn fade_in(&mut self, layer: LayerIndex, tick: u32, fade: f64) {
        let Some(layer) = self.layer_mut(layer) else { return };
        for key in ["every", "lasts", "stagger", "fade_out"] {
            layer.remove(key);
        }
        layer.insert("start".into(), seconds(tick).into());
        layer.insert("fade_in".into(), fade.into());
    }

    /// Fades a layer out from a tick on. A layer that was always present then starts at tick 0.
    pub fn fade_out(&mut self, layer: LayerIndex, tick: u32, fade: f64) {
        let Some(layer) = self.layer_mut(layer) else { return };
        for key in ["every", "stagger"] {
            layer.remove(key);
        }
        let start = layer.get("start").and_then(number).unwrap_or(0.0);
        let there = (seconds(tick) - start).max(0.0);
        let fade_in = layer.get("fade_in").and_then(number).unwrap_or(0.0).min(there);
        layer.insert("fade_in".into(), fade_in.into());
        layer.insert("fade_out".into(), fade.into());
        layer.insert("lasts".into(), (there + fade).max(1.0 / TICKS_PER_SECOND).into());
    }

    /// Restores the layers as they were opened or saved, without the wave.
    pub fn reset_layers(&mut self) {
        self.wave = None;
        let saved: Vec<_> =
            groups_mut(&mut self.saved.clone()).iter().map(|group| group.get("layer").cloned()).collect();
        for (group, layers) in groups_mut(&mut self.table).iter_mut().zip(saved) {
            match layers {
                Some(layers) => group.insert("layer".into(), layers),
                None => group.remove("layer"),
            };
        }
    }

    /// The text of the document with the current camera and options, to be written to a file.
    ///
    /// # Errors
    /// As [`SceneDocument::scene`].
    pub fn with_settings(&self, camera: Camera, overrides: Overrides) -> Result<String, SceneError> {
        let scene = self.scene()?.with(overrides);
        let mut table: Table =
            self.text().parse().map_err(|error| SceneError::new(&*self.source, format!("{error}")))?;
        table.insert("passes".into(), i64::from(scene.passes()).into());
        let keys = [
            ("orbit", camera.orbit),
            ("elevation", camera.elevation),
            ("distance", camera.distance),
            ("field_of_view", camera.field_of_view),
        ];
        for (key, value) in keys {
            // Three decimals are finer than visible and keep the file readable.
            table_in(&mut table, "camera").insert(key.into(), ((value * 1e3).round() / 1e3).into());
        }
        if let Some(economy) = overrides.economy {
            table.remove("phase_buckets");
            table.remove("update_rate");
            match economy {
                Economy::Plain => {}
                Economy::PhaseBuckets(count) => {
                    table.insert("phase_buckets".into(), i64::from(count).into());
                }
                Economy::UpdateRate(distances) => {
                    table.insert("update_rate".into(), distances.to_vec().into());
                }
            }
        }
        let folder = std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
        for (group, count) in groups_mut(&mut table).iter_mut().zip(scene.group_counts()) {
            group.insert("count".into(), (count as i64).into());
            for (key, value) in [("vertices", overrides.vertices), ("influences", overrides.influences)] {
                if let Some(value) = value {
                    group.insert(key.into(), i64::from(value).into());
                }
            }
            if overrides.smooth {
                group.insert("interpolation".into(), "smooth".into());
            }
            // The scene file may be saved to another folder.
            if let Some(model) = group.get("model").and_then(Value::as_str).map(|model| folder.join(model))
                && model.is_file()
            {
                group.insert("model".into(), model.display().to_string().into());
            }
        }
        Ok(table.to_string())
    }

    fn group_values(&self) -> &[Value] {
        self.table.get("group").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    fn layer_mut(&mut self, LayerIndex { group, layer }: LayerIndex) -> Option<&mut Table> {
        let group = groups_mut(&mut self.table).into_iter().nth(group)?;
        layers_mut(group).get_mut(layer)?.as_table_mut()
    }
}

impl Wave {
    /// Keys of the `[[group.layer]]`.
    fn layer(&self) -> Table {
        let mut layer = Table::new();
        layer.insert("clip".into(), self.clip.as_str().into());
        layer.insert("start".into(), seconds(self.start).into());
        let there = self.end.map(|end| seconds(end - self.start));
        layer.insert("fade_in".into(), self.fade.min(there.unwrap_or(self.fade)).into());
        if let Some(there) = there {
            layer.insert("fade_out".into(), self.fade.into());
            layer.insert("lasts".into(), (there + self.fade).max(1.0 / TICKS_PER_SECOND).into());
        }
        layer
    }
}

impl LayerState {
    fn of(layer: &Table) -> Self {
        let text = |key: &str, default: &str| layer.get(key).map_or_else(|| default.into(), plain);
        let names = |key: &str| -> Vec<String> {
            let mask = layer.get("mask").and_then(Value::as_table);
            let names = mask.and_then(|mask| mask.get(key)).and_then(Value::as_array);
            names.into_iter().flatten().map(plain).collect()
        };
        let weights = layer.get("mask").and_then(|mask| mask.get("weights")).and_then(Value::as_table);
        let weights =
            weights.into_iter().flatten().map(|(joint, weight)| (joint.clone(), number(weight).unwrap_or(0.0)));
        Self {
            clip: text("clip", ""),
            kind: text("kind", "override"),
            weight: layer.get("weight").and_then(number).unwrap_or(1.0),
            mask: names("joints").into_iter().map(|joint| (joint, 1.0)).chain(weights).collect(),
            subtrees: names("subtree"),
        }
    }
}

/// Returns whether a path names a scene file.
pub fn is_scene_file(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
}

/// A scene of a model's instances that play its clips in turn, as `Scene::load` makes it.
fn model_scene(model: &str) -> String {
    let mut group = Table::new();
    group.insert("model".into(), model.into());
    group.insert("count".into(), DEFAULT_INSTANCES.into());
    group.insert("clip".into(), "*".into());
    let mut table = Table::new();
    table.insert("group".into(), Value::Array(vec![Value::Table(group)]));
    table.to_string()
}

/// The tables of `[[group]]`.
fn groups_mut(table: &mut Table) -> Vec<&mut Table> {
    let groups = table.get_mut("group").and_then(Value::as_array_mut);
    groups.into_iter().flatten().filter_map(Value::as_table_mut).collect()
}

/// The array of layers of a group, created if it is missing.
fn layers_mut(group: &mut Table) -> &mut Vec<Value> {
    let layers = group.entry("layer").or_insert_with(|| Value::Array(Vec::new()));
    if !layers.is_array() {
        *layers = Value::Array(Vec::new());
    }
    match layers {
        Value::Array(layers) => layers,
        _ => unreachable!("made an array above"),
    }
}

/// The table at a key, created if it is missing.
fn table_in<'a>(table: &'a mut Table, key: &str) -> &'a mut Table {
    let inner = table.entry(key).or_insert_with(|| Value::Table(Table::new()));
    if !inner.is_table() {
        *inner = Value::Table(Table::new());
    }
    match inner {
        Value::Table(inner) => inner,
        _ => unreachable!("made a table above"),
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The time of a tick in seconds. Ticks before the start count as the start, because schedules have no earlier times.
fn seconds(tick: u32) -> f64 {
    f64::from((tick as i32).max(0)) / TICKS_PER_SECOND
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::Presence;

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
        assert_eq!(presences, [Presence::Absent, Presence::In(0), Presence::In(29), Presence::Full, Presence::Full]);
        document.switch_wave(false, "wave", 0.5, 300);
        assert!(!document.is_wave_on());
        let off = layer(&document);
        assert_eq!(
            [299, 300, 329, 330].map(|tick| off.schedule.at(tick)),
            [Presence::Full, Presence::Out(0), Presence::Out(29), Presence::Absent]
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
        let kinds: Vec<_> = document.layers(0).into_iter().map(|layer| layer.kind).collect();
        assert_eq!(kinds, ["merge", "override", "additive"]);
        let layer = LayerIndex { group: 0, layer: 1 };
        document.set_layer_weight(layer, 0.25);
        document.set_mask(layer, "head", 0.5);
        document.fade_in(layer, 60, 1.0);
        let scene = built(&document);
        let of_crowd = scene.crowd.layers().of(0)[2];
        assert_eq!((of_crowd.weight, of_crowd.weight_at(59), of_crowd.weight_at(120)), (0.25, 0.0, 0.25));
        let group = &scene.crowd.groups()[0];
        let head = group.model.skeleton().names().iter().position(|name| name == "head").unwrap();
        assert_eq!(group.mask(of_crowd.mask)[head], 0.5);
        document.fade_out(layer, 240, 0.5);
        let of_crowd = built(&document).crowd.layers().of(0)[2];
        assert_eq!([239, 270].map(|tick| of_crowd.weight_at(tick)), [0.25, 0.0]);
        document.clear_mask(layer);
        assert!(document.layers(0)[1].subtrees.is_empty());
        document.reset_layers();
        assert!(!document.is_modified());
    }

    #[test]
    fn layers_of_every_group_can_be_edited() {
        let mut document = SceneDocument::open("street").unwrap();
        let groups = document.groups();
        let layered: Vec<usize> = (0..groups.len()).filter(|&group| !document.layers(group).is_empty()).collect();
        let last = *layered.last().unwrap();
        assert!(last > 0, "{groups:?}");
        let before = document.layers(0);
        document.set_layer_weight(LayerIndex { group: last, layer: 0 }, 0.125);
        assert_eq!((document.layers(last)[0].weight, document.layers(0)), (0.125, before));
        let weights = |document: &SceneDocument| {
            let crowd = built(document).crowd;
            crowd.layers().all().iter().filter(|layer| layer.weight == 0.125).count() as u64
        };
        assert_eq!(weights(&document), document.scene().unwrap().group_counts()[last], "one layer of each instance");
        document.set_layer_weight(LayerIndex { group: 99, layer: 0 }, 0.5);
        document.reset_layers();
        assert!(!document.is_modified());
    }

    #[test]
    fn a_saved_scene_is_the_one_that_was_shown() {
        let document = SceneDocument::open("street").unwrap();
        let camera = Camera { orbit: 12.345, elevation: -3.0, distance: 0.5, field_of_view: 40.0 };
        let overrides = Overrides {
            instances: Some(50),
            passes: Some(3),
            influences: Some(2),
            smooth: true,
            economy: Some(Economy::PhaseBuckets(8)),
            ..Overrides::default()
        };
        let text = document.with_settings(camera, overrides).unwrap();
        let shown = document.scene().unwrap().with(overrides).build(1 << 30).unwrap();
        let saved = Scene::parse("street", "saved", &text, Path::new("")).unwrap().build(1 << 30).unwrap();
        assert_eq!((saved.camera, saved.passes), (camera, 3));
        assert_eq!(saved.crowd.layers().all(), shown.crowd.layers().all());
        assert_eq!(saved.crowd.placements(), shown.crowd.placements());
        assert_eq!(saved.crowd.groups()[0].model.mesh().max_influences(), 2);
        assert!(text.contains("phase_buckets = 8") && text.contains("interpolation = \"smooth\""), "{text}");
    }
}
