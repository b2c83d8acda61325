//! Parsing of scene files: every key is checked, and errors state line and column.

mod checked_text;
mod layer;
mod toml_keys;

use super::camera::Camera;
use super::description::{ClipChoice, DEFAULT_PEOPLE, Economy, GroupDescription, MOST_PEOPLE, Scene};
use super::error::SceneError;
use super::expression::ExpressionPlan;
use super::layer::Play;
use super::lod::Lod;
use super::model_source::{BUILT_IN_MODELS, ModelSource, is_model_file};
use super::placing::Layout;
use crate::asset::FORMATS;
use crate::wording;
use checked_text::{SceneText, positive};
use std::path::Path;
use toml::Spanned;
use toml_keys::{GroupKeys, SceneKeys};

/// Parses a scene file's text; model paths are relative to `folder`.
pub(super) fn parse(name: &str, file: &str, text: &str, folder: &Path) -> Result<Scene, SceneError> {
    let source = SceneText { file, text };
    let keys: SceneKeys = toml::from_str(text).map_err(|error| {
        let place = source.place(error.span().map_or(0, |span| span.start));
        SceneError::at(file, place, problem(error.message()))
    })?;
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
    let camera = &keys.camera;
    Ok(Scene {
        name: name.into(),
        file: file.into(),
        seed: keys.seed.unwrap_or(1),
        passes: source.number("passes", keys.passes.as_ref(), 1, |n| n <= 64, "0 to 64")?,
        resolution: [width, height],
        camera: Camera {
            orbit: source.number("orbit", camera.orbit.as_ref(), 25.0, f64::is_finite, "degrees")?,
            elevation: source.number(
                "elevation",
                camera.elevation.as_ref(),
                20.0,
                |v| v.abs() <= 89.0,
                "-89 to 89 degrees",
            )?,
            distance: source.number("distance", camera.distance.as_ref(), 1.0, positive, "a factor of more than 0")?,
            field_of_view: source.number(
                "field_of_view",
                camera.field_of_view.as_ref(),
                40.0,
                |v| v > 0.0 && v < 180.0,
                "more than 0 and less than 180 degrees",
            )?,
        },
        format: Default::default(),
        clips: Default::default(),
        smooth: false,
        active_targets: None,
        economy: economy(&source, &keys)?,
        bounds: keys.bounds.unwrap_or(false),
        sockets: keys.sockets.clone(),
        lod: match &keys.lod {
            None => Lod::default(),
            Some(kinds) => Lod::from_names(kinds.get_ref().iter().map(String::as_str))
                .map_err(|problem| source.error(kinds, problem))?,
        },
        groups: keys.group.iter().map(|group| checked(&source, group, folder)).collect::<Result<_, _>>()?,
        models: None,
    })
}

fn economy(source: &SceneText, keys: &SceneKeys) -> Result<Economy, SceneError> {
    match (&keys.phase_buckets, &keys.update_rate) {
        (None, None) => Ok(Economy::Plain),
        (Some(buckets), None) => {
            let most = Economy::MOST_BUCKETS;
            let expected = format!("1 to {most}");
            source.number("phase_buckets", Some(buckets), 1, |n| (1..=most).contains(&n), &expected)?;
            Ok(Economy::PhaseBuckets(*buckets.get_ref()))
        }
        (None, Some(distances)) => Economy::update_rate(*distances.get_ref())
            .map_err(|problem| source.error(distances, format!("update_rate = {problem}"))),
        (Some(_), Some(distances)) => {
            Err(source.error(distances, "update_rate beside phase_buckets; expected one of them".into()))
        }
    }
}

fn checked(source: &SceneText, keys: &GroupKeys, folder: &Path) -> Result<GroupDescription, SceneError> {
    let part = |v: f64| (0.0..=1.0).contains(&v);
    let layout = match &keys.layout {
        None => Layout::Grid,
        Some(name) => Layout::from_name(name.get_ref())
            .ok_or_else(|| source.error(name, wording::unknown("layout", name.get_ref(), &Layout::NAMES)))?,
    };
    let mut model = model(source, keys, folder)?;
    model.vertices = source.optional("vertices", keys.vertices.as_ref(), |n| n > 0, "1 or more")?;
    model.influences = source.optional("influences", keys.influences.as_ref(), |n| (1..=16).contains(&n), "1 to 16")?;
    model.smooth = layer::interpolation(source, keys.interpolation.as_ref())?;
    let count = source.number("count", keys.count.as_ref(), 1, |n| n > 0, "1 or more")?;
    Ok(GroupDescription {
        models: models(source, keys, model, count)?,
        count,
        layout,
        spacing: source.optional("spacing", keys.spacing.as_ref(), positive, "metres, more than 0")?,
        clip: keys.clip.as_ref().map_or(ClipChoice::First, |clip| clip.get_ref().clone()),
        speed: source.number("speed", keys.speed.as_ref(), 1.0, f64::is_finite, "a finite number")?,
        speed_spread: source.number("speed_spread", keys.speed_spread.as_ref(), 0.0, part, "0 to 1")?,
        play: Play {
            mode: layer::playback(source, keys.playback.as_ref())?,
            phase_spread: source.number("phase_spread", keys.phase_spread.as_ref(), 1.0, part, "0 to 1")?,
            offset: source.number("offset", keys.offset.as_ref(), 0.0, f64::is_finite, "seconds")?,
            frames_per_second: layer::frames_per_second(source, keys.frames_per_second.as_ref())?,
        },
        weight: source.number("weight", keys.weight.as_ref(), 1.0, layer::or_more, "a finite number, 0 or more")?,
        layers: layer::layers(source, keys)?,
        expression: expression(source, keys)?,
        yaw: source.number("yaw", keys.yaw.as_ref(), 0.0, f64::is_finite, "degrees")?,
        yaw_spread: source.number(
            "yaw_spread",
            keys.yaw_spread.as_ref(),
            0.0,
            |v| (0.0..=180.0).contains(&v),
            "0 to 180 degrees",
        )?,
        scale: source.optional("scale", keys.scale.as_ref(), positive, "metres per unit, more than 0")?,
        model_place: Some(source.place(keys.vertices.as_ref().map_or(keys.model.span(), Spanned::span).start)),
        clip_place: keys.clip.as_ref().map(|clip| source.place(clip.span().start)),
    })
}

fn expression(source: &SceneText, keys: &GroupKeys) -> Result<ExpressionPlan, SceneError> {
    let mut plan = ExpressionPlan { active: keys.active_targets.as_ref().map(|n| *n.get_ref()), ..Default::default() };
    for (name, weight) in keys.weights.iter().flat_map(|weights| weights.get_ref()) {
        let value = source.number(&format!("weights.{name}"), Some(weight), 0.0, f64::is_finite, "a finite number")?;
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
    let expected = format!("1 to {MOST_PEOPLE}");
    let wanted = source.optional("models", keys.models.as_ref(), |n| (1..=MOST_PEOPLE).contains(&n), &expected)?;
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
    let endings: Vec<_> = FORMATS.iter().flat_map(|f| f.extensions).map(|e| format!("a .{e} file")).collect();
    let known: Vec<_> = BUILT_IN_MODELS.into_iter().chain(endings.iter().map(String::as_str)).collect();
    Err(source.error(&keys.model, wording::unknown("model", name, &known)))
}

/// The parser's message in one line, with the closest key if it names an unknown one.
fn problem(message: &str) -> String {
    let line = message.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let Some((name, expected)) = line.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`')) else {
        return line;
    };
    let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    wording::unknown("key", name, &known)
}
