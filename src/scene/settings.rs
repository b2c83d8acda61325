//! Settings: what a person can choose about a crowd and its run, each one row of a table. The keys of scene files, the
//! arguments of commands, the options in results, the window's command line, the hash of a scene and the combinations that
//! tests try follow from it.

use super::Lod;
use crate::compaction;
use crate::error::DataError;
use crate::frame::Retention;
use crate::model::{MAX_INFLUENCES, Model};
use crate::vertex::{Attributes, Encoding, Normals, VertexFormat};
use crate::wording;
#[cfg(feature = "cli")]
use clap::{Args as _, FromArgMatches as _};
use serde::{Deserialize, Serialize};
#[cfg(feature = "cli")]
use std::str::FromStr;

/// Storage of clips during playback.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Clips {
    /// Keys as in the file.
    #[default]
    Raw,
    /// Frames of numbers with few bits, from [`crate::compaction`].
    Compact,
}

impl Clips {
    /// A model with its clips in this form.
    pub(super) fn stored(self, model: Model) -> Result<Model, DataError> {
        match self {
            Self::Raw => Ok(model),
            Self::Compact => compaction::compacted(model, compaction::ERROR),
        }
    }
}

/// Storage of skinned vertices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Output {
    /// One `f32` for each number.
    #[default]
    F32,
    /// 16 bits for each number: [`Encoding::Packed`].
    Packed,
    /// One `f32` for each number, in [`Retention::Ring`].
    Ring,
}

/// Interpolation between linear keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Interpolation {
    /// Straight lines, as in the file.
    #[default]
    Authored,
    /// Curves.
    Smooth,
}

/// Load of the device between measured frames. Software adapters have none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum DeviceLoad {
    /// Arithmetic, so that its clock does not fall: in a game, the frame has other work.
    #[default]
    Busy,
    /// Nothing: its clock is what the driver chooses for the measured frames alone.
    Idle,
}

/// What a setting changes, which says where it may stand and what it means for results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The description of a group, which may also choose for itself.
    Group,
    /// The description of the scene.
    Scene,
    /// The crowd that is built of it.
    Crowd,
    /// Neither models nor poses, and nothing that a picture shows.
    Run,
}

/// A row of the table of settings.
#[derive(Debug)]
pub struct Setting {
    /// Its name: that of the field in [`Settings`] and of the key in scene files.
    pub name: &'static str,
    /// What it changes.
    pub effect: Effect,
    /// The value in words that means the same as none; empty if there is no such value.
    pub default: &'static str,
    /// Values in words that tests combine with those of other settings; an empty one is that of a switch.
    pub tried: &'static [&'static str],
    /// `true` if results have a column for it, so that it is not among their options.
    pub has_column: bool,
}

/// Declares [`Settings`] and its table. A row is `name: type = effect (argument) { .. }`: what clap's `arg` takes beside
/// `long`, and, each only if there is one, the default in words, what is accepted, the values that tests combine, and
/// whether results have a column.
macro_rules! settings {
    ($(
        $(#[doc = $help:literal])*
        $name:ident: $type:ty = $effect:ident ($($argument:tt)*) {
            $(default: $default:literal,)?
            $(expects: $expected:literal if $accepts:expr,)?
            $(tried: $tried:expr,)?
            $(has_column: $has_column:literal,)?
        }
    )*) => {
        /// Choices about a crowd and its run. What is not chosen is as the scene has it.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "cli", derive(clap::Args))]
        #[cfg_attr(feature = "cli", command(next_help_heading = "Crowd"))]
        #[serde(default)]
        pub struct Settings {
            $(
                $(#[doc = $help])*
                #[cfg_attr(feature = "cli", arg(long, $($argument)*))]
                #[serde(skip_serializing_if = "is_default")]
                pub $name: $type,
            )*
        }

        impl Settings {
            /// The table of settings.
            pub const ALL: &[Setting] = &[$(Setting {
                name: stringify!($name),
                effect: Effect::$effect,
                default: concat!($($default)?),
                tried: [$($tried as &[&str],)? &[]][0],
                has_column: [$($has_column,)? false][0],
            }),*];

            /// These settings with other choices on top. Sockets are read besides those before.
            pub fn with(mut self, changes: Self) -> Self {
                let mut sockets = std::mem::take(&mut self.sockets);
                for socket in &changes.sockets {
                    if !sockets.contains(socket) {
                        sockets.push(socket.clone());
                    }
                }
                $(if !is_default(&changes.$name) {
                    self.$name = changes.$name;
                })*
                Self { sockets, ..self }
            }

            /// Checks the values that were chosen.
            ///
            /// # Errors
            /// The first setting with a value that is refused.
            pub fn check(&self) -> Result<(), RefusedSetting> {
                $($(
                    if self.$name.as_ref().is_some_and(|value| !accepted(value, $accepts)) {
                        return Err(self.refused(stringify!($name), $expected));
                    }
                )?)*
                self.check_together()
            }
        }
    };
}

settings! {
    /// Instances of all groups together, distributed in proportion
    instances: Option<u64> = Run (value_name = "N", value_parser = whole::<u64>) {
        expects: "1 or more" if |count| *count > 0,
        has_column: true,
    }
    /// Clip of all instances, by name or number, or '*' for all in turn
    clip: Option<String> = Scene (value_name = "NAME|NUMBER") {}
    /// Number of times that a frame draws the crowd; 0 draws nothing
    passes: Option<u32> = Run (value_name = "N", value_parser = whole::<u32>) {
        expects: "0 to 64" if |count| *count <= Settings::MOST_PASSES,
        has_column: true,
    }
    /// Approximate number of vertices to bring each model to
    vertices: Option<u32> = Group (value_name = "N", value_parser = whole::<u32>) {
        expects: "1 or more" if |count| *count > 0,
        has_column: true,
    }
    /// Skin all vertices of model files, also those that no triangle uses, and once for each primitive that shares them
    keep_vertices: bool = Scene () {}
    /// Largest number of influences that a vertex keeps, 1 to 16
    influences: Option<u32> = Group (value_name = "N", value_parser = whole::<u32>) {
        expects: "1 to 16" if |count| (1..=MAX_INFLUENCES as u32).contains(count),
        tried: &["1", "3"],
        has_column: true,
    }
    /// Number of morph targets with a weight on each instance, of models that have some; which ones is random. All
    /// others have the weight 0
    active_targets: Option<u32> = Crowd (value_name = "N", value_parser = whole::<u32>) {}
    /// Number of different people that a group of people mixes, as in the scene `city`
    models: Option<u32> = Group (value_name = "N", value_parser = whole::<u32>) {
        expects: "1 to 4096" if |count| (1..=4096).contains(count),
        has_column: true,
    }
    /// Detail to drop from instances that are small on the screen: none, or triangles (mesh); default: none
    lod: Option<Lod> = Crowd (value_name = "none|mesh", hide_possible_values = true) {
        default: "none",
        tried: &["mesh"],
    }
    /// Skinned attributes: position (p), normal (n), tangent (t); default: pn
    attributes: Option<Attributes> = Crowd (value_name = "p|pn|pnt", value_parser = attributes) {
        default: "pn",
        tried: &["p", "pnt"],
        has_column: true,
    }
    /// Treatment of normals: normalised (unit), not normalised (raw), or exact under non-uniform scale (exact);
    /// default: unit
    normals: Option<Normals> = Crowd (value_name = "unit|raw|exact", value_parser = normals) {
        default: "unit",
        tried: &["raw", "exact"],
    }
    /// Storage of clips: keys as they are (raw), or frames of small numbers within 1e-4 of the skeleton's size
    /// (compact); default: raw
    clips: Option<Clips> = Crowd (value_name = "raw|compact", hide_possible_values = true) {
        default: "raw",
        tried: &["compact"],
    }
    /// Interpolation between linear keys: straight lines as in the file (authored), or curves (smooth); default:
    /// authored
    interpolation: Option<Interpolation> = Group (value_name = "authored|smooth", hide_possible_values = true) {
        default: "authored",
        tried: &["smooth"],
    }
    /// Pose instances beyond NEAR metres every second frame and beyond FAR metres every fourth, and interpolate in
    /// between
    update_rate: Option<[f64; 2]> = Crowd (value_name = "NEAR,FAR", value_parser = distances) {
        expects: "metres, 0 or more, the second no less than the first"
            if |[near, far]| *near >= 0.0 && near <= far && far.is_finite(),
        tried: &["4,7"],
    }
    /// Share of instances that others replace in every frame, such as 1%
    turnover: Option<f64> = Crowd (value_name = "SHARE", value_parser = share) {
        default: "0",
        expects: "a share, 0 to 1" if |share| (0.0..=1.0).contains(share),
        tried: &["0.2"],
    }
    /// Share of instances that keep their pose from frame to frame, such as 80%
    frozen: Option<f64> = Crowd (value_name = "SHARE", value_parser = share) {
        default: "0",
        expects: "a share, 0 to 1" if |share| (0.0..=1.0).contains(share),
        tried: &["0.5"],
    }
    /// Distance of the camera, as a factor of the one at which the crowd just fits; default: as in the scene
    distance: Option<f64> = Scene (value_name = "FACTOR", value_parser = wording::above_zero) {
        expects: "a factor of more than 0" if |factor| wording::is_above_zero(*factor),
    }
    /// Storage of skinned vertices: plain floats, 16 bits per number, or floats in a ring of buffers that chunks of the
    /// crowd share (nothing is drawn); default: f32
    output: Option<Output> = Run (value_name = "f32|packed|ring", hide_possible_values = true) {
        default: "f32",
        tried: &["packed", "ring"],
    }
    /// Load of the device between measured frames, on graphics hardware: arithmetic that keeps its clock up (busy), or
    /// nothing (idle); default: busy
    device: Option<DeviceLoad> = Run (value_name = "busy|idle", hide_possible_values = true) {
        default: "busy",
    }
    /// Keep the last frame's vertices too, and draw motion vectors from both
    motion: bool = Run () {
        tried: &[""],
    }
    /// Compute a box around each instance in every frame, as gameplay does
    bounds: bool = Run () {
        tried: &[""],
    }
    /// Read the poses of these joints of each instance in every frame, as gameplay does
    sockets: Vec<String> = Run (value_name = "JOINT,...", value_delimiter = ',') {
        tried: &["head"],
    }
}

/// Settings that exclude each other unless one has its default, and the value that does so if others do not.
const CLASHES: [(&str, &str, Option<&str>); 5] = [
    ("turnover", "lod", None),
    ("turnover", "update_rate", None),
    ("frozen", "lod", None),
    ("frozen", "update_rate", None),
    ("motion", "output", Some("ring")),
];

/// A setting that was chosen.
#[derive(Debug)]
pub struct Chosen {
    /// Its row.
    pub setting: &'static Setting,
    /// Its value in words: one, or those of a list; none for a switch.
    pub words: Vec<String>,
}

impl Chosen {
    /// Returns whether the value means the same as none.
    pub fn is_default(&self) -> bool {
        !self.setting.default.is_empty() && self.words == [self.setting.default]
    }
}

impl Settings {
    /// Largest number of passes.
    pub const MOST_PASSES: u32 = 64;

    /// The settings of words as on a command line, such as `--lod=mesh`.
    ///
    /// # Errors
    /// A word that is no setting, or a wrong value.
    #[cfg(feature = "cli")]
    pub fn parse(words: &[String]) -> Result<Self, clap::Error> {
        let command = clap::Command::new("settings").no_binary_name(true);
        let matches = Self::augment_args(command).try_get_matches_from(words)?;
        Self::from_arg_matches(&matches)
    }

    /// The keys of a scene file that choose the same.
    fn values(&self) -> toml::Table {
        // A number must fit 63 bits; no crowd has as many instances.
        let instances = self.instances.map(|count| count.min(i64::MAX as u64));
        let representable = Self {
            instances,
            ..self.clone()
        };
        toml::Table::try_from(representable).unwrap_or_default()
    }

    /// What was chosen, in the order of the table.
    pub fn chosen(&self) -> Vec<Chosen> {
        let values = self.values();
        let mut chosen = Vec::with_capacity(values.len());
        for setting in Self::ALL {
            if let Some(value) = values.get(setting.name) {
                let words = words(value);
                chosen.push(Chosen { setting, words });
            }
        }
        chosen
    }

    fn check_together(&self) -> Result<(), RefusedSetting> {
        let mut chosen = self.chosen();
        chosen.retain(|chosen| !chosen.is_default());
        let find = |name| chosen.iter().find(|chosen| chosen.setting.name == name);
        for (name, other, value) in CLASHES {
            if let (Some(_), Some(beside)) = (find(name), find(other))
                && value.is_none_or(|value| beside.words == [value])
            {
                let fault = SettingFault::Clash { other, value };
                return Err(RefusedSetting { name, fault });
            }
        }
        Ok(())
    }

    fn refused(&self, name: &'static str, expected: &'static str) -> RefusedSetting {
        let mut chosen = self.chosen().into_iter();
        let chosen = chosen.find(|chosen| chosen.setting.name == name);
        let words = chosen.map(|chosen| chosen.words).unwrap_or_default();
        let fault = SettingFault::Value { words, expected };
        RefusedSetting { name, fault }
    }

    /// The format of skinned vertices.
    pub fn format(&self) -> VertexFormat {
        VertexFormat {
            attributes: self.attributes.unwrap_or_default(),
            normals: self.normals.unwrap_or_default(),
            encoding: if self.output == Some(Output::Packed) {
                Encoding::Packed
            } else {
                Encoding::F32
            },
        }
    }

    /// The vertices that stay on the device.
    pub fn retention(&self) -> Retention {
        match self.output {
            Some(Output::Ring) => Retention::Ring,
            _ if self.motion => Retention::TwoFrames,
            _ => Retention::Frame,
        }
    }
}

/// A setting that is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedSetting {
    /// Its name: that of its field.
    pub name: &'static str,
    /// What is wrong with it.
    fault: SettingFault,
}

/// What is wrong with a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SettingFault {
    /// Its value, in words.
    Value {
        words: Vec<String>,
        expected: &'static str,
    },
    /// Another setting that excludes it, by name, with the value that does so if others do not.
    Clash {
        other: &'static str,
        value: Option<&'static str>,
    },
}

impl RefusedSetting {
    /// The line about the setting's argument.
    pub fn of_argument(&self) -> String {
        self.line(argument)
    }

    /// The line about the setting's key in a scene file.
    pub(super) fn of_key(&self) -> String {
        self.line(str::to_owned)
    }

    /// The line about the setting, as `called` calls settings.
    fn line(&self, called: fn(&str) -> String) -> String {
        let name = called(self.name);
        match &self.fault {
            SettingFault::Value { words, expected } => {
                format!("{name} = {}; expected {expected}", words.join(","))
            }
            SettingFault::Clash { other, value } => {
                let value = value.map(|value| format!(" {value}")).unwrap_or_default();
                let other = called(other);
                format!("{name} beside {other}{value}; expected one of them")
            }
        }
    }

    /// The names of the settings that cause it.
    pub(super) fn causes(&self) -> Vec<&'static str> {
        match self.fault {
            SettingFault::Value { .. } => vec![self.name],
            SettingFault::Clash { other, .. } => vec![self.name, other],
        }
    }
}

/// The argument of commands that chooses the setting of this name.
pub fn argument(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

/// Returns whether a value is accepted; tells the compiler the type that `accepts` takes.
fn accepted<T>(value: &T, accepts: impl Fn(&T) -> bool) -> bool {
    accepts(value)
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The words of a value: one, or those of a list; none for a switch.
fn words(value: &toml::Value) -> Vec<String> {
    match value {
        toml::Value::Boolean(_) => Vec::new(),
        toml::Value::Array(values) => values.iter().flat_map(words).collect(),
        toml::Value::String(word) => vec![word.clone()],
        toml::Value::Float(number) => vec![number.to_string()],
        other => vec![other.to_string()],
    }
}

/// Parses a whole number.
#[cfg(feature = "cli")]
fn whole<T: FromStr>(text: &str) -> Result<T, &'static str> {
    wording::parsed(text, |_| true, "expected a whole number")
}

/// Parses the two distances of an update rate.
#[cfg(feature = "cli")]
fn distances(text: &str) -> Result<[f64; 2], &'static str> {
    let metres: Option<Vec<f64>> = text.split(',').map(|metres| metres.parse().ok()).collect();
    metres
        .and_then(|metres| metres.try_into().ok())
        .ok_or("expected two distances in metres, such as 20,40")
}

/// Parses a share: a number from 0 to 1, or a percentage.
#[cfg(feature = "cli")]
fn share(text: &str) -> Result<f64, &'static str> {
    let percentage = text.strip_suffix('%');
    let unit = if percentage.is_some() { 100.0 } else { 1.0 };
    let number: Option<f64> = percentage.unwrap_or(text).parse().ok();
    number
        .map(|number| number / unit)
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or("expected a share, such as 5% or 0.05")
}

#[cfg(feature = "cli")]
fn attributes(name: &str) -> Result<Attributes, String> {
    wording::named("attributes", name, &Attributes::ALL, Attributes::name)
}

#[cfg(feature = "cli")]
fn normals(name: &str) -> Result<Normals, String> {
    wording::named("treatment of normals", name, &Normals::ALL, Normals::name)
}
