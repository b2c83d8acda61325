//! The keys of a scene file: their meaning, units and defaults.

use super::super::description::ClipChoice;
use super::super::layer::PlaybackMode;
use super::super::{Interpolation, Layout};
use crate::crowd::{Fade, LayerKind};
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;
use std::fmt;
use toml::Spanned;

/// A scene file, without its settings.
#[derive(Debug, Deserialize)]
pub(super) struct SceneKeys {
    /// Seed of all randomness: the same seed gives the same crowd. A whole number, 0 or more; default 1.
    pub(super) seed: Option<u64>,
    /// Width and height of the picture. Pixels, 1 to 8192 each; default `[1280, 720]`.
    pub(super) resolution: Option<Spanned<[u32; 2]>>,
    /// Position of the camera.
    #[serde(default)]
    pub(super) camera: CameraKeys,
    /// The instances, one `[[group]]` after the other along the world's X axis. At least one.
    #[serde(default)]
    pub(super) group: Vec<GroupKeys>,
}

/// `[camera]`: the camera, which looks at the centre of the crowd.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CameraKeys {
    /// Angle around the crowd. Degrees from its front (+Z) towards +X; default 25.
    pub(super) orbit: Option<Spanned<f64>>,
    /// Angle above the ground. Degrees, -89 to 89; default 20.
    pub(super) elevation: Option<Spanned<f64>>,
    /// Distance, as a factor of the one at which the whole crowd just fits. More than 0; default 1.
    pub(super) distance: Option<Spanned<f64>>,
    /// Vertical field of view. Degrees, more than 0 and less than 180; default 40.
    pub(super) field_of_view: Option<Spanned<f64>>,
}

/// `[[group]]`: instances of one model.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupKeys {
    /// A built-in model (`skinbench list` lists them) or a model file, relative to the scene file's folder.
    pub(super) model: Spanned<String>,
    /// Number of models among the instances, for `"people"`. 1 to 4096, at most `count`; default 64.
    pub(super) models: Option<Spanned<u32>>,
    /// Vertices to bring the model to, met within 10 %. 1 or more; default: its own number, 1000 for `"walker"`.
    pub(super) vertices: Option<Spanned<u32>>,
    /// Most influences that a vertex keeps: the largest, renormalised. 1 to 16; default: the model's own.
    pub(super) influences: Option<Spanned<u32>>,
    /// Interpolation between keys: `"authored"` (as in the file) or `"smooth"` (curves, if all keys of a clip are
    /// linear); default `"authored"`.
    #[serde(default)]
    pub(super) interpolation: Interpolation,
    /// Number of instances, 1 or more; default 1.
    pub(super) count: Option<Spanned<u64>>,
    /// Arrangement: `"grid"` (square, as deep as wide), `"disc"` (evenly filled circle), `"line"` (along X) or
    /// `"street"` (two streams that pass each other along Z) or `"rings"` (rings around the middle); default `"grid"`.
    #[serde(default)]
    pub(super) layout: Layout,
    /// Distance between neighbours. Metres, more than 0; default 1.25 times the model's larger ground extent.
    pub(super) spacing: Option<Spanned<f64>>,
    /// Name or index of the clip; a number is an index unless a clip has that name. `"*"` assigns all clips to the
    /// instances in turn; `"rest"`, if no clip has that name, is the rest pose. Default: the first clip, or the rest
    /// pose if there is none.
    pub(super) clip: Option<Spanned<ClipChoice>>,
    /// Pace of the clip: 1 as authored, negative backwards; default 1.
    pub(super) speed: Option<Spanned<f64>>,
    /// Random variation of `speed`, as a fraction of it in both directions. 0 to 1; default 0.
    pub(super) speed_spread: Option<Spanned<f64>>,
    /// Fraction of the clip's cycle over which starting phases are spread. 0 (all in step) to 1; default 1.
    pub(super) phase_spread: Option<Spanned<f64>>,
    /// Rotation about the vertical. Degrees, counter-clockwise from above; default 0.
    pub(super) yaw: Option<Spanned<f64>>,
    /// Random variation of `yaw`, in both directions. Degrees, 0 to 180; default 0.
    pub(super) yaw_spread: Option<Spanned<f64>>,
    /// Metres per unit of the model. More than 0; default 1, or the scale that makes the model 1.8 m tall if it would
    /// be taller than 20 m or smaller than 0.2 m.
    pub(super) scale: Option<Spanned<f64>>,
    /// Whole frames per second at which the clip is shown, as in the oldest engines. 1 to 50; default: continuous.
    pub(super) frames_per_second: Option<Spanned<f64>>,
    /// Order of the clip's cycles: `"loop"`, `"wrap"` (the last key interpolates back to the first), `"ping-pong"` or
    /// `"once"`; default `"loop"`.
    pub(super) playback: Option<Spanned<PlaybackMode>>,
    /// Position in the clip at the start. Seconds; default 0.
    pub(super) offset: Option<Spanned<f64>>,
    /// Weight of the clip among the merge layers. 0 or more; default 1.
    pub(super) weight: Option<Spanned<f64>>,
    /// Weights of morph targets by name, which clips do not change. Default: those of the file and of clips.
    pub(super) weights: Option<Spanned<BTreeMap<String, Spanned<f64>>>>,
    /// Further morph targets of each instance that the seed chooses, with weights of 0.25 to 1; all others have the
    /// weight 0. At most as many as there are; default: weights are those of the file and of clips.
    pub(super) active_targets: Option<Spanned<u32>>,
    /// Further clips, one `[[group.layer]]` after the other, merge layers first. At most 7.
    #[serde(default)]
    pub(super) layer: Vec<Spanned<LayerKeys>>,
}

/// `[[group.layer]]`: a clip on top of those before it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LayerKeys {
    /// Name or index of the clip, as in a group, or `"rest"`.
    pub(super) clip: Spanned<ClipChoice>,
    /// Operation that combines it with those before it: `"merge"` (averaged by weight), `"override"` or `"additive"`
    /// (its difference from its first frame); default `"override"`.
    pub(super) kind: Option<LayerKind>,
    /// Weight: 0 or more for merge layers, 0 to 1 for the others. Default 1.
    pub(super) weight: Option<Spanned<f64>>,
    /// The joints that it moves; default: all.
    pub(super) mask: Option<Spanned<MaskKeys>>,
    /// `true` if it shares phase and pace with the group's clip and all others in step. Default false.
    #[serde(default)]
    pub(super) in_step: bool,
    /// Pace of the clip, multiplied by the instance's random variation; default 1.
    pub(super) speed: Option<Spanned<f64>>,
    /// Fraction of the clip's cycle over which starting phases are spread. 0 to 1; default 1.
    pub(super) phase_spread: Option<Spanned<f64>>,
    /// Position in the clip at the start. Seconds; default 0.
    pub(super) offset: Option<Spanned<f64>>,
    /// As in a group; `"once"` restarts with each start of the layer.
    pub(super) playback: Option<Spanned<PlaybackMode>>,
    /// As in a group.
    pub(super) frames_per_second: Option<Spanned<f64>>,
    /// Time from one start of the layer to the next. Seconds, more than 0; default: it starts once.
    pub(super) every: Option<Spanned<f64>>,
    /// Time from its start to its end, at most `every`. Seconds, more than 0; default: it never ends.
    pub(super) lasts: Option<Spanned<f64>>,
    /// First start. Seconds, 0 or more; default 0.
    pub(super) start: Option<Spanned<f64>>,
    /// Fraction of `every` over which the instances' starts are spread. 0 to 1; default 1.
    pub(super) stagger: Option<Spanned<f64>>,
    /// Fade at each start. Seconds, 0 or more; default 0.
    pub(super) fade_in: Option<Spanned<f64>>,
    /// Fade at each end, within `lasts`. Seconds, 0 or more; default 0.
    pub(super) fade_out: Option<Spanned<f64>>,
    /// Kind of fade: `"cross"` (by weight) or `"inertial"` (at once, plus the difference from the old pose, which
    /// decays); default `"cross"`.
    pub(super) fade: Option<Spanned<Fade>>,
}

/// `mask` of a layer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MaskKeys {
    /// Joints that it moves fully.
    #[serde(default)]
    pub(super) joints: Vec<String>,
    /// Joints that it moves fully with all of their descendants.
    #[serde(default)]
    pub(super) subtree: Vec<String>,
    /// Joints that it moves partially: name and weight, 0 to 1. They take precedence over the other two.
    #[serde(default)]
    pub(super) weights: BTreeMap<String, Spanned<f64>>,
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
