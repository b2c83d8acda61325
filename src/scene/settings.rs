//! Settings: what a person can choose about a crowd and its run, described once. The keys of scene files, the arguments
//! of commands, the options in results and the window's command line follow from the fields of [`Settings`].

use crate::compaction;
use crate::error::DataError;
use crate::frame::Retention;
use crate::model::{MAX_INFLUENCES, Model};
use crate::vertex::{Attributes, Encoding, Normals, VertexFormat};
use crate::wording;
use serde::{Deserialize, Serialize};
use std::ops::Not;
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

/// Detail that is dropped from instances that are small on the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Lod {
    /// None: all instances show the full character.
    #[default]
    None,
    /// Triangles of meshes.
    Mesh,
}

/// Choices about a crowd and its run. What is not chosen is as the scene has it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", command(next_help_heading = "Crowd"))]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Instances of all groups together, distributed in proportion
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = whole::<u64>))]
    pub instances: Option<u64>,
    /// Clip of all instances, by name or number, or '*' for all in turn
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME|NUMBER"))]
    pub clip: Option<String>,
    /// Number of times that a frame draws the crowd; 0 draws nothing
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = whole::<u32>))]
    pub passes: Option<u32>,
    /// Approximate number of vertices to bring each model to
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = whole::<u32>))]
    pub vertices: Option<u32>,
    /// Skin all vertices of model files, also those that no triangle uses, and once for each primitive that shares them
    #[cfg_attr(feature = "cli", arg(long))]
    #[serde(skip_serializing_if = "Not::not")]
    pub keep_vertices: bool,
    /// Largest number of influences that a vertex keeps, 1 to 16
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = whole::<u32>))]
    pub influences: Option<u32>,
    /// Number of morph targets with a weight on each instance, of models that have some; which ones is random. All
    /// others have the weight 0
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = whole::<u32>))]
    pub active_targets: Option<u32>,
    /// Number of different people that a group of people mixes, as in the scene `city`
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = whole::<u32>))]
    pub models: Option<u32>,
    /// Detail to drop from instances that are small on the screen: none, or triangles (mesh); default: none
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "none|mesh", hide_possible_values = true)
    )]
    pub lod: Option<Lod>,
    /// Skinned attributes: position (p), normal (n), tangent (t); default: pn
    #[cfg_attr(feature = "cli", arg(long, value_name = "p|pn|pnt", value_parser = attributes))]
    pub attributes: Option<Attributes>,
    /// Treatment of normals: normalised (unit), not normalised (raw), or exact under non-uniform scale (exact);
    /// default: unit
    #[cfg_attr(feature = "cli", arg(long, value_name = "unit|raw|exact", value_parser = normals))]
    pub normals: Option<Normals>,
    /// Storage of clips: keys as they are (raw), or frames of small numbers within 1e-4 of the skeleton's size
    /// (compact); default: raw
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "raw|compact", hide_possible_values = true)
    )]
    pub clips: Option<Clips>,
    /// Interpolation between linear keys: straight lines as in the file (authored), or curves (smooth); default:
    /// authored
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "authored|smooth", hide_possible_values = true)
    )]
    pub interpolation: Option<Interpolation>,
    /// Pose instances beyond NEAR metres every second frame and beyond FAR metres every fourth, and interpolate in
    /// between
    #[cfg_attr(feature = "cli", arg(long, value_name = "NEAR,FAR", value_parser = distances))]
    pub update_rate: Option<[f64; 2]>,
    /// Share of instances that others replace in every frame, such as 1%
    #[cfg_attr(feature = "cli", arg(long, value_name = "SHARE", value_parser = share))]
    pub turnover: Option<f64>,
    /// Share of instances that keep their pose from frame to frame, such as 80%
    #[cfg_attr(feature = "cli", arg(long, value_name = "SHARE", value_parser = share))]
    pub frozen: Option<f64>,
    /// Distance of the camera, as a factor of the one at which the crowd just fits; default: as in the scene
    #[cfg_attr(feature = "cli", arg(long, value_name = "FACTOR", value_parser = wording::above_zero))]
    pub distance: Option<f64>,
    /// Storage of skinned vertices: plain floats, 16 bits per number, or floats in a ring of buffers that chunks of the
    /// crowd share (nothing is drawn); default: f32
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "f32|packed|ring", hide_possible_values = true)
    )]
    pub output: Option<Output>,
    /// Load of the device between measured frames, on graphics hardware: arithmetic that keeps its clock up (busy), or
    /// nothing (idle); default: busy
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "busy|idle", hide_possible_values = true)
    )]
    pub device: Option<DeviceLoad>,
    /// Keep the last frame's vertices too, and draw motion vectors from both
    #[cfg_attr(feature = "cli", arg(long))]
    #[serde(skip_serializing_if = "Not::not")]
    pub motion: bool,
    /// Compute a box around each instance in every frame, as gameplay does
    #[cfg_attr(feature = "cli", arg(long))]
    #[serde(skip_serializing_if = "Not::not")]
    pub bounds: bool,
    /// Read the poses of these joints of each instance in every frame, as gameplay does
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "JOINT,...", value_delimiter = ',')
    )]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sockets: Vec<String>,
}

impl Settings {
    /// Largest number of passes.
    pub const MOST_PASSES: u32 = 64;
    /// Largest number of models in a group of people.
    pub const MOST_MODELS: u32 = 4_096;

    /// These settings with other choices on top.
    pub fn with(mut self, mut changes: Self) -> Self {
        let mut sockets = self.sockets.clone();
        for socket in &changes.sockets {
            if !self.sockets.contains(socket) {
                sockets.push(socket.clone());
            }
        }
        // TOML has no whole numbers of 64 bits; everything else is read as it is written.
        let before = self.instances.take();
        let instances = changes.instances.take().or(before);
        let mut chosen = self.chosen();
        chosen.extend(changes.chosen());
        Self {
            instances,
            sockets,
            ..chosen.try_into().unwrap_or_default()
        }
    }

    /// Checks the values that were chosen.
    ///
    /// # Errors
    /// The first setting with a value that is refused.
    pub fn check(&self) -> Result<(), RefusedSetting> {
        let most_influences = MAX_INFLUENCES as u32;
        check_range("instances", self.instances, 1, None)?;
        check_range("passes", self.passes, 0, Some(Self::MOST_PASSES))?;
        check_range("vertices", self.vertices, 1, None)?;
        check_range("influences", self.influences, 1, Some(most_influences))?;
        check_range("models", self.models, 1, Some(Self::MOST_MODELS))?;
        if let Some(distance) = self.distance
            && !wording::is_above_zero(distance)
        {
            let expected = "a factor of more than 0";
            return refused("distance", &[distance], expected);
        }
        let [near, far] = self.update_rate.unwrap_or_default();
        if !(near >= 0.0 && near <= far && far.is_finite()) {
            let expected = "metres, 0 or more, the second no less than the first";
            return refused("update_rate", &[near, far], expected);
        }
        for (name, value) in [("turnover", self.turnover), ("frozen", self.frozen)] {
            let Some(value) = value else { continue };
            if !(0.0..=1.0).contains(&value) {
                return refused(name, &[value], "a share, 0 to 1");
            }
            for (other, is_chosen) in [
                ("lod", self.lod == Some(Lod::Mesh)),
                ("update_rate", self.update_rate.is_some()),
            ] {
                if value > 0.0 && is_chosen {
                    return clash(name, other, None);
                }
            }
        }
        if self.output == Some(Output::Ring) && self.motion {
            return clash("motion", "output", Some("ring"));
        }
        Ok(())
    }

    /// What was chosen, by name: the keys of a scene file.
    pub fn chosen(&self) -> toml::Table {
        // A number must fit 63 bits; no crowd has as many instances.
        let instances = self.instances.map(|count| count.min(i64::MAX as u64));
        let representable = Self {
            instances,
            ..self.clone()
        };
        toml::Table::try_from(representable).unwrap_or_default()
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
    fault: Fault,
}

/// What is wrong with a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fault {
    /// Its value, in words.
    Value {
        words: Vec<String>,
        expected: String,
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
        let name = argument(self.name);
        match &self.fault {
            Fault::Value { words, expected } => {
                format!("{name} = {}; expected {expected}", words.join(","))
            }
            Fault::Clash { other, value } => {
                let value = value.map(|value| format!(" {value}")).unwrap_or_default();
                format!(
                    "{name} beside {}{value}; expected one of them",
                    argument(other)
                )
            }
        }
    }

    /// The line about the setting's key in a scene file.
    pub(super) fn of_key(&self) -> String {
        let name = self.name;
        match &self.fault {
            Fault::Value { words, expected } => match &words[..] {
                [word] => format!("{name} = {word}; expected {expected}"),
                words => format!("{name} = [{}]; expected {expected}", words.join(", ")),
            },
            Fault::Clash { other, value } => {
                let value = value.map(|value| format!(" = {value:?}"));
                let value = value.unwrap_or_default();
                format!("{name} beside {other}{value}; expected one of them")
            }
        }
    }

    /// The names of the settings that cause it.
    pub(super) fn causes(&self) -> Vec<&'static str> {
        match self.fault {
            Fault::Value { .. } => vec![self.name],
            Fault::Clash { other, .. } => vec![self.name, other],
        }
    }
}

/// The argument of commands that chooses the setting of this name.
pub fn argument(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

fn refused(
    name: &'static str,
    value: &[impl ToString],
    expected: impl Into<String>,
) -> Result<(), RefusedSetting> {
    let fault = Fault::Value {
        words: value.iter().map(ToString::to_string).collect(),
        expected: expected.into(),
    };
    Err(RefusedSetting { name, fault })
}

fn clash(
    name: &'static str,
    other: &'static str,
    value: Option<&'static str>,
) -> Result<(), RefusedSetting> {
    let fault = Fault::Clash { other, value };
    Err(RefusedSetting { name, fault })
}

fn check_range(
    name: &'static str,
    value: Option<impl Into<u64>>,
    least: u64,
    most: Option<u32>,
) -> Result<(), RefusedSetting> {
    let value = value.map_or(least, Into::into);
    if value >= least && most.is_none_or(|most| value <= most.into()) {
        return Ok(());
    }
    let range = most.map_or("or more".into(), |most| format!("to {most}"));
    refused(name, &[value], format!("{least} {range}"))
}

/// The words of a chosen value: one, or those of a list; none for a switch.
pub fn words(value: &toml::Value) -> Vec<String> {
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
