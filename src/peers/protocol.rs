//! Lines of the protocol; `peers/protocol.schema.json` describes them for others.

use crate::backend::FrameData;
use crate::frame::{Approximation, Purpose, Stage};
use crate::model::RotationBlend;
use crate::vertex::{Attributes, Normals};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use strum::IntoStaticStr;

/// Version of the protocol.
pub const PROTOCOL: u32 = 1;

/// A line to a peer.
#[derive(Debug, Serialize, IntoStaticStr)]
#[serde(tag = "request", rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Request {
    /// Asks for its abilities.
    Hello {
        /// Version of the protocol.
        protocol: u32,
    },
    /// Reads a model and its instances, which join those of earlier requests of this kind.
    Load {
        /// The model as glTF binary.
        glb: PathBuf,
        /// Its companion.
        model: PathBuf,
        /// Clip and time of every instance.
        instances: PathBuf,
        /// Number of instances.
        count: usize,
        /// Attributes of skinned vertices.
        attributes: Attributes,
        /// Treatment of normals.
        normals: Normals,
        /// Threads that frames may use.
        threads: usize,
    },
    /// Computes a frame, or takes the last one of [`Request::Measure`] as it is, and writes files.
    Write {
        /// Time of the frame to compute.
        #[serde(skip_serializing_if = "Option::is_none")]
        tick: Option<u32>,
        /// The files to write.
        outputs: BTreeMap<FrameData, PathBuf>,
    },
    /// Runs and times frames.
    Measure {
        /// Time of the first frame.
        tick: u32,
        /// Number of frames.
        frames: usize,
    },
    /// Ends the peer.
    Quit,
}

/// Answer to `hello`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerAbilities {
    /// Version of the protocol.
    pub protocol: u32,
    /// What it writes.
    pub outputs: Vec<FrameData>,
    /// Attributes of vertices that it can make.
    pub attributes: Vec<Attributes>,
    /// Treatments of normals that it can make.
    pub normals: Vec<Normals>,
    /// Its interpolation.
    pub rotations: RotationBlend,
    /// `true` if it takes several groups of instances, each with a model.
    #[serde(default)]
    pub groups: bool,
}

/// Answer to `load`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loaded {
    /// Instruction set and the like.
    pub device: String,
    /// Stated error of storage with loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Approximation>,
    /// Bytes that it holds while frames run, by purpose.
    #[serde(default)]
    pub memory: BTreeMap<Purpose, u64>,
}

/// Answer to `write`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {}

/// Answer to `measure`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Times {
    /// Nanoseconds of each frame.
    pub stages: BTreeMap<Stage, Vec<u64>>,
}
