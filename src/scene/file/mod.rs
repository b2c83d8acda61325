//! Parsing of scene files: every key is checked, and errors state line and column.

mod checked_text;
mod layer;
mod toml_keys;

use super::description::{ClipChoice, DEFAULT_PEOPLE, GroupDescription};
use super::expression::ExpressionPlan;
use super::layer::Play;
use super::model_source::{is_model_file, model_endings};
use super::{BUILT_IN_MODELS, Camera, Interpolation, ModelSource, Scene, SceneError, Settings};
use crate::wording;
use checked_text::{SceneText, positive};
use serde::Deserialize;
use std::path::Path;
use toml::Spanned;
use toml::de::DeTable;
use toml_keys::{GroupKeys, SceneKeys};

/// Most groups of a scene.
const MOST_GROUPS: usize = 1_024;
/// Keys of a scene beside its settings.
const SCENE_KEYS: [&str; 4] = ["seed", "resolution", "camera", "group"];

/// Parses a scene file's text; model paths are relative to `folder`.
pub(super) fn parse(name: &str, file: &str, text: &str, folder: &Path) -> Result<Scene, SceneError> {
    let source = SceneText { file, text };
    let unreadable = |error: toml::de::Error| {
        let place = source.place(error.span().map_or(0, |span| span.start));
        SceneError::at(file, place, problem(error.message()))
    };
    let mut table = DeTable::parse(text).map_err(unreadable)?;
    let all = std::mem::take(table.get_mut()).into_iter();
    let (own, chosen): (DeTable, DeTable) = all.partition(|(key, _)| SCENE_KEYS.contains(&key.get_ref().as_ref()));
    let places: Vec<_> = chosen.iter().map(|(key, value)| (key.get_ref().to_string(), value.span().start)).collect();
    let settings = Settings::deserialize(toml::Deserializer::from(Spanned::new(table.span(), chosen)));
    let settings = settings.map_err(unreadable)?;
    settings.check().map_err(|(name, problem)| {
        let at = places.iter().find(|(key, _)| key == name).map_or(0, |(_, start)| *start);
        SceneError::at(file, source.place(at), problem)
    })?;
    let keys = SceneKeys::deserialize(toml::Deserializer::from(Spanned::new(table.span(), own))).map_err(unreadable)?;
    let [width, height] = match &keys.resolution {
        None => [1280, 720],
        Some(value) => {
            let size = *value.get_ref();
            if !size.iter().all(|pixels| (1..=8192).contains(pixels)) {
                return Err(source.error(value, format!("resolution = {size:?}; expected 1 to 8192 pixels each way")));
            }
            size
        }
    };
    if keys.group.is_empty() {
        return Err(SceneError::at(file, source.place(text.len()), "no [[group]]; expected at least one".into()));
    }
    if keys.group.len() > MOST_GROUPS {
        let after = text.match_indices("[[group]]").nth(MOST_GROUPS).map_or(text.len(), |(at, _)| at);
        let problem = format!("{} groups; expected at most {MOST_GROUPS}", keys.group.len());
        return Err(SceneError::at(file, source.place(after), problem));
    }
    let camera = &keys.camera;
    let (is_angle, angle) = (|v| v > 0.0 && v < 180.0, "more than 0 and less than 180 degrees");
    let scene = Scene {
        name: name.into(),
        file: file.into(),
        seed: keys.seed.unwrap_or(1),
        resolution: [width, height],
        camera: Camera {
            orbit: source.number("orbit", &camera.orbit, 25.0, f64::is_finite, "degrees")?,
            elevation: source.number("elevation", &camera.elevation, 20.0, |v| v.abs() <= 89.0, "-89 to 89 degrees")?,
            distance: source.number("distance", &camera.distance, 1.0, positive, "a factor of more than 0")?,
            field_of_view: source.number("field_of_view", &camera.field_of_view, 40.0, is_angle, angle)?,
        },
        settings: Settings::default(),
        groups: keys.group.iter().map(|group| checked(&source, group, folder)).collect::<Result<_, _>>()?,
    };
    Ok(scene.with(settings))
}

fn checked(source: &SceneText, keys: &GroupKeys, folder: &Path) -> Result<GroupDescription, SceneError> {
    let part = |v: f64| (0.0..=1.0).contains(&v);
    let half_turn = |v: f64| (0.0..=180.0).contains(&v);
    let mut model = model(source, keys, folder)?;
    model.vertices = source.optional("vertices", &keys.vertices, |n| n > 0, "1 or more")?;
    model.influences = source.optional("influences", &keys.influences, |n| (1..=16).contains(&n), "1 to 16")?;
    model.smooth = keys.interpolation == Interpolation::Smooth;
    let count = source.number("count", &keys.count, 1, |n| n > 0, "1 or more")?;
    Ok(GroupDescription {
        models: models(source, keys, model, count)?,
        count,
        layout: keys.layout,
        spacing: source.optional("spacing", &keys.spacing, positive, "metres, more than 0")?,
        clip: keys.clip.as_ref().map_or(ClipChoice::First, |clip| clip.get_ref().clone()),
        speed: source.number("speed", &keys.speed, 1.0, f64::is_finite, "a finite number")?,
        speed_spread: source.number("speed_spread", &keys.speed_spread, 0.0, part, "0 to 1")?,
        play: Play {
            mode: layer::playback(keys.playback.as_ref()),
            phase_spread: source.number("phase_spread", &keys.phase_spread, 1.0, part, "0 to 1")?,
            offset: source.number("offset", &keys.offset, 0.0, f64::is_finite, "seconds")?,
            frames_per_second: layer::frames_per_second(source, &keys.frames_per_second)?,
        },
        weight: source.number("weight", &keys.weight, 1.0, layer::or_more, "a finite number, 0 or more")?,
        layers: layer::layers(source, keys)?,
        expression: expression(source, keys)?,
        yaw: source.number("yaw", &keys.yaw, 0.0, f64::is_finite, "degrees")?,
        yaw_spread: source.number("yaw_spread", &keys.yaw_spread, 0.0, half_turn, "0 to 180 degrees")?,
        scale: source.optional("scale", &keys.scale, positive, "metres per unit, more than 0")?,
        model_place: Some(source.place(keys.vertices.as_ref().map_or(keys.model.span(), Spanned::span).start)),
        clip_place: keys.clip.as_ref().map(|clip| source.place(clip.span().start)),
    })
}

fn expression(source: &SceneText, keys: &GroupKeys) -> Result<ExpressionPlan, SceneError> {
    let mut plan = ExpressionPlan { active: keys.active_targets.as_ref().map(|n| *n.get_ref()), ..Default::default() };
    for (name, weight) in keys.weights.iter().flat_map(|weights| weights.get_ref()) {
        let value = source.checked(&format!("weights.{name}"), weight, f64::is_finite, "a finite number")?;
        plan.weights.push((name.clone(), value));
    }
    let weights = keys.weights.as_ref().map(Spanned::span);
    let place = weights.or(keys.active_targets.as_ref().map(Spanned::span));
    plan.place = place.map(|span| source.place(span.start));
    Ok(plan)
}

/// The models of a group: one, or as many people as it asks for.
fn models(
    source: &SceneText,
    keys: &GroupKeys,
    model: ModelSource,
    count: u64,
) -> Result<Vec<ModelSource>, SceneError> {
    let most = Settings::MOST_MODELS;
    let expected = format!("1 to {most}");
    let wanted = source.optional("models", &keys.models, |n| (1..=most).contains(&n), &expected)?;
    match (model.people(wanted.unwrap_or(DEFAULT_PEOPLE)), &keys.models) {
        (Some(people), Some(models)) if people.len() as u64 > count => {
            Err(source
                .error(models, format!("models = {} for {count} instances; expected at most {count}", people.len())))
        }
        (Some(people), _) => Ok(people),
        (None, Some(models)) => Err(source.error(models, "models of one model; expected model = \"people\"".into())),
        (None, None) => Ok(vec![model]),
    }
}

fn model(source: &SceneText, keys: &GroupKeys, folder: &Path) -> Result<ModelSource, SceneError> {
    let name = keys.model.get_ref();
    if BUILT_IN_MODELS.contains(&name.as_str()) || is_model_file(&folder.join(name)) {
        return Ok(ModelSource::in_folder(name, folder));
    }
    let endings = model_endings();
    let known: Vec<_> = BUILT_IN_MODELS.into_iter().chain(endings.iter().map(String::as_str)).collect();
    Err(source.error(&keys.model, wording::unknown("model", name, &known)))
}

/// The parser's message in one line, with the closest name if it says that one is unknown.
fn problem(message: &str) -> String {
    let line = message.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    for (said, kind) in [("unknown field `", "key"), ("unknown variant `", "value")] {
        let Some((name, expected)) = line.strip_prefix(said).and_then(|rest| rest.split_once('`')) else { continue };
        let mut known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        // Those of the top level are read apart.
        if known.contains(&"passes") {
            known.extend(SCENE_KEYS);
        }
        return wording::unknown(kind, name, &known);
    }
    line
}
