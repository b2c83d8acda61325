//! Parsing of scene files: every key is checked, and errors state line and column.

mod keys;
mod layer;

use super::description::{ClipChoice, DEFAULT_PEOPLE, GroupDescription};
use super::expression::ExpressionPlan;
use super::model_source::{is_model_file, unknown_model};
use super::{BUILT_IN_MODELS, Camera, Effect, ModelSource, Scene, SceneFile, Settings};
use crate::error::DataError;
use keys::{TableKeys, fraction, is_held, is_size};
use toml::de::DeTable;

/// Most groups of a scene.
const MOST_GROUPS: usize = 1_024;
/// Keys of a scene, and of a group, beside settings.
const SCENE_KEYS: &str = "seed resolution camera group";
const GROUP_KEYS: &str = "model count layout spacing clip speed speed_spread phase_spread yaw yaw_spread scale \
    frames_per_second playback offset weight weights active_targets layer";

impl SceneFile {
    /// Reads it.
    ///
    /// # Errors
    /// An unknown key or a wrong value, with line and column.
    pub fn read(&self) -> Result<Scene, DataError> {
        let table = DeTable::parse(&self.text).map_err(|error| self.unreadable(&error))?;
        let keys = TableKeys {
            source: self,
            table: table.get_ref(),
            at: 0,
        };
        let settings = keys.settings(|_| true, SCENE_KEYS)?;
        let resolution = keys.get("resolution")?.unwrap_or([1280, 720]);
        if !resolution.iter().all(|pixels| (1..=8192).contains(pixels)) {
            let problem =
                format!("resolution = {resolution:?}; expected 1 to 8192 pixels each way");
            return Err(keys.error("resolution", problem));
        }
        let camera = camera(&keys.table("camera")?.unwrap_or(TableKeys {
            table: &DeTable::new(),
            ..keys
        }))?;
        let groups = keys.tables("group")?;
        if groups.is_empty() {
            return Err(self.error(
                self.text.len(),
                "no [[group]]; expected at least one".into(),
            ));
        }
        if groups.len() > MOST_GROUPS {
            let problem = format!("{} groups; expected at most {MOST_GROUPS}", groups.len());
            return Err(groups[MOST_GROUPS].fault(problem));
        }
        let scene = Scene {
            name: self.name.clone(),
            file: self.file.clone(),
            seed: keys.get("seed")?.unwrap_or(1),
            resolution,
            camera,
            settings: Settings::default(),
            beside: Settings::default(),
            groups: groups.iter().map(checked).collect::<Result<_, _>>()?,
        };
        Ok(Scene {
            beside: Settings::default(),
            ..scene.with(settings)
        })
    }
}

fn camera(keys: &TableKeys) -> Result<Camera, DataError> {
    keys.check("orbit elevation distance field_of_view")?;
    Ok(Camera {
        orbit: keys.number("orbit", 25.0, is_held, "degrees")?,
        elevation: keys.number(
            "elevation",
            20.0,
            |degrees: f64| degrees.abs() <= 89.0,
            "-89 to 89 degrees",
        )?,
        distance: keys.number(
            "distance",
            1.0,
            is_size,
            "a factor of more than 0 and at most 1e18",
        )?,
        field_of_view: keys.number(
            "field_of_view",
            40.0,
            |degrees| degrees > 0.0 && degrees < 180.0,
            "more than 0 and less than 180 degrees",
        )?,
    })
}

fn checked(keys: &TableKeys) -> Result<GroupDescription, DataError> {
    let settings = keys.settings(|setting| setting.effect == Effect::Group, GROUP_KEYS)?;
    let count = keys.number("count", 1, |n| n > 0, "1 or more")?;
    let weight = keys.number("weight", 1.0, layer::or_more, "a finite number, 0 or more")?;
    let play = layer::play(keys)?;
    let mut group = GroupDescription {
        models: models(keys, settings.models, count)?,
        count,
        layout: keys.or_default("layout")?,
        spacing: keys.optional("spacing", is_size, "metres, more than 0 and at most 1e18")?,
        clip: keys.get("clip")?.unwrap_or(ClipChoice::First),
        speed: layer::speed(keys)?,
        speed_spread: keys.number("speed_spread", 0.0, fraction, "0 to 1")?,
        weight,
        layers: layer::layers(keys, weight, &play)?,
        play,
        expression: ExpressionPlan {
            weights: keys.weights("weights.", is_held, "a number of at most 1e18")?,
            active: keys.get("active_targets")?,
            place: ["weights", "active_targets"]
                .into_iter()
                .find(|key| keys.has(key))
                .map(|key| keys.place(key)),
        },
        yaw: keys.number("yaw", 0.0, is_held, "degrees")?,
        yaw_spread: keys.number(
            "yaw_spread",
            0.0,
            |degrees| (0.0..=180.0).contains(&degrees),
            "0 to 180 degrees",
        )?,
        scale: keys.optional(
            "scale",
            is_size,
            "metres per unit, more than 0 and at most 1e18",
        )?,
        model_place: Some(keys.place(if keys.has("vertices") {
            "vertices"
        } else {
            "model"
        })),
        clip_place: keys.has("clip").then(|| keys.place("clip")),
    };
    group.choose(&settings);
    Ok(group)
}

/// The models of a group: one, or as many people as are wanted.
fn models(
    keys: &TableKeys,
    wanted: Option<u32>,
    count: u64,
) -> Result<Vec<ModelSource>, DataError> {
    let model = model(keys)?;
    if !model.is_person() {
        return match wanted {
            Some(_) => Err(keys.error(
                "models",
                "several models of one that is always the same; expected model = \"people\"",
            )),
            None => Ok(vec![model]),
        };
    }
    if let Some(models) = wanted
        && u64::from(models) > count
    {
        let problem = format!("models = {models} for {count} instances; expected at most {count}");
        return Err(keys.error("models", problem));
    }
    Ok(model.people(wanted.unwrap_or(DEFAULT_PEOPLE)))
}

fn model(keys: &TableKeys) -> Result<ModelSource, DataError> {
    let name: String = keys.required("model")?;
    let folder = &keys.source.folder;
    if BUILT_IN_MODELS.contains(&name.as_str()) || is_model_file(&folder.join(&name)) {
        return Ok(ModelSource::in_folder(name.as_ref(), folder));
    }
    Err(keys.error("model", unknown_model(&name)))
}
