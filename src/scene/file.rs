//! The keys of a scene file, and what each accepts.

mod layer;

use super::layer::Play;
use super::{Camera, ClipChoice, Economy, Group, Layout, ModelSource, Place, Scene, SceneError};
use crate::asset::FORMATS;
use crate::text;
use layer::LayerKeys;
use serde::{Deserialize, Deserializer, de};
use std::fmt;
use std::path::Path;
use toml::Spanned;

/// A scene file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SceneKeys {
    /// Seed of everything random: same seed, same crowd. A whole number, 0 or more; default 1.
    seed: Option<u64>,
    /// How many times a frame draws the crowd. A whole number, 0 to 64; default 1.
    passes: Option<Spanned<u32>>,
    /// Width and height of the picture. Pixels, 1 to 8192 each; default `[1280, 720]`.
    resolution: Option<Spanned<[u32; 2]>>,
    /// How many poses the instances of a group that play the same clips share: phases are rounded to so many parts of a
    /// turn. 1 to 65536; default: every instance has its own.
    phase_buckets: Option<Spanned<u32>>,
    /// Distances from the camera beyond which an instance is posed every second and every fourth frame, interpolated in
    /// between. Metres, 0 or more, the second no less than the first; default: every frame.
    update_rate: Option<Spanned<[f64; 2]>>,
    /// From where the crowd is seen.
    #[serde(default)]
    camera: CameraKeys,
    /// The instances, one `[[group]]` after the other along the world's X axis. At least one.
    #[serde(default)]
    group: Vec<GroupKeys>,
}

/// `[camera]`: looks at the middle of the crowd.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct CameraKeys {
    /// Angle around the crowd. Degrees from its front (+Z) towards +X; default 25.
    orbit: Option<Spanned<f64>>,
    /// Angle above the ground. Degrees, -89 to 89; default 20.
    elevation: Option<Spanned<f64>>,
    /// Distance, as a factor of the one at which the whole crowd just fits. More than 0; default 1.
    distance: Option<Spanned<f64>>,
    /// Vertical field of view. Degrees, more than 0 and less than 180; default 40.
    field_of_view: Option<Spanned<f64>>,
}

/// `[[group]]`: instances of one model.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupKeys {
    /// A built-in model (`skinbench list` names them) or a model file, its path counted from the scene file's folder.
    model: Spanned<String>,
    /// Vertices to bring the model to, met within 10 %. 1 or more; default: its own number, 1000 for `"walker"`.
    vertices: Option<Spanned<u32>>,
    /// Most influences that a vertex keeps: the largest, renormalised. 1 to 16; default: the model's own.
    influences: Option<Spanned<u32>>,
    /// What happens between keys: `"authored"` (as the file says) or `"smooth"` (curves, where all keys of a clip are
    /// linear); default `"authored"`.
    interpolation: Option<Spanned<String>>,
    /// Number of instances, 1 or more; default 1.
    count: Option<Spanned<u64>>,
    /// How they stand: `"grid"` (square, as deep as wide), `"disc"` (evenly filled circle), `"line"` (along X) or
    /// `"street"` (two streams that pass each other along Z); default `"grid"`.
    layout: Option<Spanned<String>>,
    /// Distance between neighbours. Metres, more than 0; default 1.25 times the model's larger ground extent.
    spacing: Option<Spanned<f64>>,
    /// Name or index of the clip that plays; a number is an index unless a clip has that name. `"*"` plays all clips
    /// in turn over the instances; `"rest"`, where no clip has that name, is the rest pose. Default: the first clip,
    /// the rest pose if there is none.
    clip: Option<Spanned<ClipChoice>>,
    /// Pace of the clip: 1 as authored, negative backwards; default 1.
    speed: Option<Spanned<f64>>,
    /// Random variation of `speed`, as a part of it either way. 0 to 1; default 0.
    speed_spread: Option<Spanned<f64>>,
    /// Part of the clip's turn over which starting phases are spread. 0 (all in step) to 1; default 1.
    phase_spread: Option<Spanned<f64>>,
    /// Turn about the vertical. Degrees, counter-clockwise from above; default 0.
    yaw: Option<Spanned<f64>>,
    /// Random variation of `yaw`, either way. Degrees, 0 to 180; default 0.
    yaw_spread: Option<Spanned<f64>>,
    /// Metres per unit of the model. More than 0; default 1, or what makes the model 1.8 m tall if it were taller than
    /// 20 m or smaller than 0.2 m.
    scale: Option<Spanned<f64>>,
    /// Whole frames that the clip is shown at, as the oldest engines did. Per second, 1 to 50; default: continuous.
    frames_per_second: Option<Spanned<f64>>,
    /// How the clip's turns follow each other: `"loop"`, `"wrap"` (its last key leads back to its first),
    /// `"ping-pong"` or `"once"`; default `"loop"`.
    playback: Option<Spanned<String>>,
    /// How far the clip is on at the start. Seconds; default 0.
    offset: Option<Spanned<f64>>,
    /// Share of the clip among the merge layers. 0 or more; default 1.
    weight: Option<Spanned<f64>>,
    /// Further clips, one `[[group.layer]]` after the other, merge layers first. At most 7.
    #[serde(default)]
    layer: Vec<Spanned<LayerKeys>>,
}

impl<'de> Deserialize<'de> for ClipChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = ClipChoice;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a clip's name or index")
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<ClipChoice, E> {
                Ok(if name == "*" { ClipChoice::All } else { ClipChoice::Named(name.into()) })
            }
            fn visit_i64<E: de::Error>(self, index: i64) -> Result<ClipChoice, E> {
                Ok(ClipChoice::Named(index.to_string()))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// Turns byte positions of a text into errors with line and column.
struct Source<'a> {
    file: &'a str,
    text: &'a str,
}

impl Source<'_> {
    fn place(&self, byte: usize) -> Place {
        let before = &self.text.as_bytes()[..byte.min(self.text.len())];
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |newline| newline + 1);
        Place {
            line: before.iter().filter(|&&b| b == b'\n').count() + 1,
            // Columns count characters: continuation bytes of UTF-8 do not start one.
            column: before[line_start..].iter().filter(|&&b| b & 0xc0 != 0x80).count() + 1,
        }
    }

    fn error<T>(&self, at: &Spanned<T>, problem: String) -> SceneError {
        SceneError::at(self.file, self.place(at.span().start), problem)
    }

    /// A key's number, or its default; refuses what `accepts` does not hold for.
    fn number<T: Copy + fmt::Display>(
        &self,
        key: &str,
        value: Option<&Spanned<T>>,
        default: T,
        accepts: impl Fn(T) -> bool,
        expected: &str,
    ) -> Result<T, SceneError> {
        match value {
            None => Ok(default),
            Some(value) if accepts(*value.get_ref()) => Ok(*value.get_ref()),
            Some(value) => Err(self.error(value, format!("{key} = {}; expected {expected}", value.get_ref()))),
        }
    }

    fn optional<T: Copy + fmt::Display>(
        &self,
        key: &str,
        value: Option<&Spanned<T>>,
        accepts: impl Fn(T) -> bool,
        expected: &str,
    ) -> Result<Option<T>, SceneError> {
        value.map(|v| self.number(key, Some(v), *v.get_ref(), &accepts, expected)).transpose()
    }
}

fn positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

/// Reads a scene file's text; `folder` is where its model paths start.
pub(super) fn parse(name: &str, file: &str, text: &str, folder: &Path) -> Result<Scene, SceneError> {
    let source = Source { file, text };
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
        economy: economy(&source, &keys)?,
        groups: keys.group.iter().map(|group| checked(&source, group, folder)).collect::<Result<_, _>>()?,
    })
}

fn economy(source: &Source, keys: &SceneKeys) -> Result<Economy, SceneError> {
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

fn checked(source: &Source, keys: &GroupKeys, folder: &Path) -> Result<Group, SceneError> {
    let part = |v: f64| (0.0..=1.0).contains(&v);
    let layout = match &keys.layout {
        None => Layout::Grid,
        Some(name) => Layout::from_name(name.get_ref())
            .ok_or_else(|| source.error(name, text::unknown("layout", name.get_ref(), &Layout::NAMES)))?,
    };
    let mut model = model(source, keys, folder)?;
    model.vertices = source.optional("vertices", keys.vertices.as_ref(), |n| n > 0, "1 or more")?;
    model.influences = source.optional("influences", keys.influences.as_ref(), |n| (1..=16).contains(&n), "1 to 16")?;
    model.smooth = layer::interpolation(source, keys.interpolation.as_ref())?;
    Ok(Group {
        model,
        count: source.number("count", keys.count.as_ref(), 1, |n| n > 0, "1 or more")?,
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

fn model(source: &Source, keys: &GroupKeys, folder: &Path) -> Result<ModelSource, SceneError> {
    let name = keys.model.get_ref();
    if super::BUILT_IN_MODELS.contains(&name.as_str()) || super::is_model_file(&folder.join(name)) {
        return Ok(ModelSource::in_folder(name, folder));
    }
    let endings: Vec<_> = FORMATS.iter().flat_map(|f| f.extensions).map(|e| format!("a .{e} file")).collect();
    let known: Vec<_> = super::BUILT_IN_MODELS.into_iter().chain(endings.iter().map(String::as_str)).collect();
    Err(source.error(&keys.model, text::unknown("model", name, &known)))
}

/// The parser's message in one line, with the nearest key where it names an unknown one.
fn problem(message: &str) -> String {
    let line = message.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let Some((name, expected)) = line.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`')) else {
        return line;
    };
    let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    text::unknown("key", name, &known)
}
