//! Writes a model as one binary glTF 2.0 file: skins, clips, meshes, and materials as base colours and their images.
//!
//! Numbers stay as they are in the model, also for a left-handed model or one with Z up, although glTF is right-handed
//! with Y up: vertices are the same in every format. `asset.extras.skinbench` states the axes, and our importer
//! restores them. The extras of a primitive state how many vertices the original file had.

mod document;
mod keys;
mod material;
mod mesh;
mod morph;

use crate::gltf::names;
use document::{Document, Use, append};
use morph::RunTargets;
use serde_json::{Value, json};
use skinbench_kernels::model::{
    Axes, Channel, Clip, ClipKeys, IDENTITY_ROWS, Interpolation, JointTransform, Keys, Model,
    ModelParts, NO_PARENT, PrimitiveData, Rows, Skeleton, SkinData, Transform,
};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Error for a model that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The container counts bytes in 32 bits.
    #[error("the model needs {0} bytes; a binary glTF file holds at most {max}", max = u32::MAX)]
    TooLarge(u64),
    /// Compact keys are derived from a file's keys, which are closer to the authored clip.
    #[error("clip {0:?} is compact; expected the clip that it was made from")]
    Compact(String),
    /// The file, or the temporary file that replaces it, could not be written.
    #[error("{}: cannot be written: {source}", .file.display())]
    Unwritable {
        /// The file.
        file: PathBuf,
        /// Reason given by the system.
        source: io::Error,
    },
}

/// Writes a model to a `.glb`. An existing file is replaced atomically, and only when the new one is complete. A link is
/// followed; what is no regular file, such as a pipe, is written to as it is.
///
/// # Errors
/// As [`to_glb`], or the folder is not writable.
pub fn write(model: &Model, file: impl AsRef<Path>) -> Result<(), ExportError> {
    let file = file.as_ref();
    let bytes = to_glb(model)?;
    let written = match fs::canonicalize(file) {
        Ok(known) if !known.is_file() => fs::write(known, bytes),
        Ok(known) => replace(&known, &bytes),
        Err(_) => replace(file, &bytes),
    };
    written.map_err(|source| ExportError::Unwritable {
        file: file.into(),
        source,
    })
}

/// Writes a file under a name of its own and gives it that of another.
fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = OsString::from(".");
    name.push(file.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    let unfinished = file.with_file_name(name);
    let written = fs::write(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, file));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

/// A model as the bytes of a `.glb`.
///
/// Clips sample to the same poses within 1e-6 rad of every rotation: normalised-linear and authored-path rotations get
/// more keys if glTF's spherical interpolation would leave the path.
///
/// # Errors
/// More bytes than the container's 32 bits count, or a compact clip.
pub fn to_glb(model: &Model) -> Result<Vec<u8>, ExportError> {
    let parts = model.clone().into_parts();
    let mut writer = Writer::default();
    writer.joints(&parts.skeleton);
    writer.skins(&parts);
    writer.meshes(&parts);
    for clip in &parts.clips {
        writer.animation(&parts, clip)?;
    }
    let Writer {
        mut document,
        roots,
        ..
    } = writer;
    material::write(&parts.materials, &mut document);
    document
        .bin
        .resize(document.bin.len().next_multiple_of(4), 0);
    document.add("buffers", json!({"byteLength": document.bin.len()}));
    document.add("scenes", json!({"name": parts.name, "nodes": roots}));
    document.json["scene"] = json!(0);
    document.json["asset"] = json!({"version": "2.0", "generator": "skinbench"});
    if parts.axes != Axes::Y_UP {
        let handedness = names::handedness(parts.axes.handedness);
        document.json["asset"]["extras"] =
            json!({"skinbench": {"handedness": handedness, "up": parts.axes.up}});
    }
    container(document.json.to_string().into_bytes(), document.bin)
}

/// The container: header, JSON chunk, and BIN chunk, whose length is already a multiple of 4.
fn container(mut json: Vec<u8>, bin: Vec<u8>) -> Result<Vec<u8>, ExportError> {
    json.resize(json.len().next_multiple_of(4), b' ');
    let size = 12 + 8 + json.len() + 8 + bin.len();
    let length = u32::try_from(size).map_err(|_| ExportError::TooLarge(size as u64))?;
    let mut glb = Vec::with_capacity(size);
    glb.extend(b"glTF");
    glb.extend(2u32.to_le_bytes());
    glb.extend(length.to_le_bytes());
    for (kind, chunk) in [(b"JSON", json), (b"BIN\0", bin)] {
        glb.extend((chunk.len() as u32).to_le_bytes());
        glb.extend(kind);
        glb.extend(chunk);
    }
    Ok(glb)
}

/// The document under construction, and indices into its lists.
#[derive(Default)]
struct Writer {
    /// Nodes are the skeleton's joints first, in its order.
    document: Document,
    /// Skin of the document for each skin of the model that is in use.
    skin_of: HashMap<u16, usize>,
    /// Nodes with meshes, and the morph targets of each.
    meshes: Vec<(usize, RunTargets)>,
    /// Nodes of the scene.
    roots: Vec<usize>,
}

impl Writer {
    fn joints(&mut self, skeleton: &Skeleton) {
        for (joint, (name, &parent)) in skeleton.names().iter().zip(skeleton.parents()).enumerate()
        {
            let mut node = match skeleton.rest_of(joint) {
                JointTransform::Matrix(rows) => placed(&rows),
                JointTransform::Transform(rest) => transformed(&rest),
            };
            node["name"] = json!(name);
            self.document.add("nodes", node);
            match parent {
                NO_PARENT => self.roots.push(joint),
                parent => self.add_child(usize::from(parent), joint),
            }
        }
        // Joints of a skin must have a common root.
        if self.roots.len() > 1 {
            self.roots = vec![
                self.document
                    .add("nodes", json!({"name": "roots", "children": self.roots})),
            ];
        }
    }

    fn add_child(&mut self, parent: usize, child: usize) {
        append(
            &mut self.document.json["nodes"][parent]["children"],
            json!(child),
        );
    }

    fn skins(&mut self, parts: &ModelParts) {
        let used: BTreeSet<u16> = parts
            .primitives
            .iter()
            .filter(|p| p.dumped_vertices > 0)
            .map(|p| p.skin)
            .collect();
        for index in used {
            let skin = &parts.skins[usize::from(index)];
            let mut known = HashSet::new();
            let mut joints = Vec::with_capacity(skin.joints.len());
            for &joint in &skin.joints {
                let mut node = usize::from(joint);
                // A skin must not name a node twice.
                if !known.insert(joint) {
                    let name = format!("{} again", parts.skeleton.names()[node]);
                    let again = self.document.add("nodes", json!({"name": name}));
                    self.add_child(node, again);
                    node = again;
                }
                joints.push(node);
            }
            let matrices: Vec<_> = skin.inverse_binds.iter().map(columns).collect();
            let matrices = self.document.floats(&matrices, Use::Other);
            let skin =
                json!({"name": skin.name, "joints": joints, "inverseBindMatrices": matrices});
            self.skin_of.insert(index, self.document.add("skins", skin));
        }
    }

    /// Adds one node for each run of neighbouring primitives that the same skin, or the same single joint, moves. Runs
    /// end where other morph targets begin, so that each node has weights of its own.
    fn meshes(&mut self, parts: &ModelParts) {
        // The skin of a primitive, and the entry that moves it if it is rigid.
        let mover = |primitive: &PrimitiveData| {
            let rigid = Some(&primitive.influences).filter(|_| primitive.dumped_vertices == 0);
            (
                primitive.skin,
                rigid
                    .and_then(|influences| influences.of(0).next())
                    .map(|(entry, _)| entry),
            )
        };
        let mut runs: Vec<&[PrimitiveData]> = Vec::new();
        let mut rest = &parts.primitives[..];
        while let Some(first) = rest.first() {
            let ends = |end: &usize| {
                let reached = rest[..*end]
                    .iter()
                    .flat_map(|own| &own.targets)
                    .map(|deltas| deltas.target)
                    .max();
                let least = rest[*end].targets.first().map(|deltas| deltas.target);
                mover(&rest[*end]) != mover(first)
                    || reached.zip(least).is_some_and(|(most, least)| most < least)
            };
            let (run, after) = rest.split_at((1..rest.len()).find(ends).unwrap_or(rest.len()));
            rest = after;
            runs.push(run);
        }
        let of_runs = morph::of_runs(&runs, &parts.clips, parts.targets.len() as u32);
        for (run, own_targets) in runs.into_iter().zip(of_runs) {
            let (skin, entry) = mover(&run[0]);
            let SkinData {
                joints,
                inverse_binds,
                ..
            } = &parts.skins[usize::from(skin)];
            let skinned = entry.is_none().then_some(joints.len());
            let mut primitives = Vec::new();
            for primitive in run {
                let mut subsets = mesh::primitives(primitive, skinned, &mut self.document);
                if !own_targets.all.is_empty() {
                    let property = morph::targets(primitive, &own_targets.all, &mut self.document);
                    subsets
                        .iter_mut()
                        .for_each(|subset| subset["targets"] = property.clone());
                }
                primitives.extend(subsets);
            }
            let mut mesh = json!({"primitives": primitives});
            if !own_targets.all.is_empty() {
                let list = || {
                    own_targets
                        .all
                        .iter()
                        .map(|&target| &parts.targets[target as usize])
                };
                mesh["weights"] = list().map(|target| target.weight).collect();
                mesh["extras"] =
                    json!({"targetNames": list().map(|target| &target.name).collect::<Vec<_>>()});
            }
            let entry = entry.map(usize::from);
            let mut node = entry.map_or(json!({}), |entry| placed(&inverse_binds[entry]));
            node["mesh"] = json!(self.document.add("meshes", mesh));
            if entry.is_none() {
                node["skin"] = json!(self.skin_of[&skin]);
            }
            let node = self.document.add("nodes", node);
            match entry {
                None => self.roots.push(node),
                Some(entry) => self.add_child(usize::from(joints[entry]), node),
            }
            self.meshes.push((node, own_targets));
        }
    }

    fn animation(&mut self, parts: &ModelParts, clip: &Clip) -> Result<(), ExportError> {
        let raw = match clip.keys() {
            ClipKeys::Raw(raw) => raw,
            ClipKeys::Compact(_) => return Err(ExportError::Compact(clip.name().into())),
        };
        let skeleton = &parts.skeleton;
        let fixed: HashSet<u16> = skeleton
            .matrices()
            .iter()
            .map(|(joint, _)| *joint)
            .collect();
        let mut tracks: Vec<(usize, Keys)> = raw
            .tracks()
            .iter()
            .filter(|track| !fixed.contains(&track.joint))
            .map(|track| (track.joint.into(), keys::resampled(clip, raw, track)))
            .collect();
        if tracks.is_empty() {
            // glTF has no clip without a channel, so one joint gets a constant channel.
            let still = (0..skeleton.len()).find(|&joint| !fixed.contains(&(joint as u16)));
            let translation = still.map_or([0.0; 3], |joint| {
                skeleton.rest()[joint].translation.to_array()
            });
            // If every joint is fixed, the node of a mesh, which its skin keeps in place.
            let node = still.unwrap_or(self.meshes[self.meshes.len() - 1].0);
            tracks.push((
                node,
                Keys::linear(0, Channel::Translation, vec![0.0], translation.to_vec()),
            ));
        }
        // The file has the loop's period only as the time of the last key.
        let reached = tracks
            .iter()
            .any(|(.., keys)| keys.times.last().is_some_and(|&t| t >= clip.duration()));
        if let Some((.., keys)) = tracks.first_mut().filter(|_| !reached) {
            keys::hold_until(keys, clip.duration());
        }
        let mut inputs = HashMap::new();
        let (mut samplers, mut channels) = (Vec::new(), Vec::new());
        let mut add = |node: usize,
                       path: &str,
                       interpolation: Interpolation,
                       times: &[f32],
                       values: &[f32]| {
            let bits: Vec<u32> = times.iter().map(|t| t.to_bits()).collect();
            let times = times.as_chunks::<1>().0;
            let input = *inputs
                .entry(bits)
                .or_insert_with(|| self.document.bounded_floats(times, Use::Other));
            let output = match path {
                "rotation" => self.document.floats(values.as_chunks::<4>().0, Use::Other),
                "weights" => self.document.floats(values.as_chunks::<1>().0, Use::Other),
                _ => self.document.floats(values.as_chunks::<3>().0, Use::Other),
            };
            let interpolation = names::interpolation(interpolation);
            channels
                .push(json!({"sampler": samplers.len(), "target": {"node": node, "path": path}}));
            samplers
                .push(json!({"input": input, "output": output, "interpolation": interpolation}));
        };
        for (node, keys) in &tracks {
            add(
                *node,
                keys.channel.name(),
                keys.interpolation,
                &keys.times,
                &keys.values,
            );
        }
        for (node, targets) in &self.meshes {
            if let Some(keys) = morph::weights(clip, &parts.targets, targets) {
                add(
                    *node,
                    "weights",
                    keys.interpolation,
                    &keys.times,
                    &keys.values,
                );
            }
        }
        self.document.add(
            "animations",
            json!({"name": clip.name(), "channels": channels, "samplers": samplers}),
        );
        Ok(())
    }
}

fn transformed(rest: &Transform) -> Value {
    let Transform {
        rotation,
        translation,
        scale,
    } = Transform::IDENTITY;
    let mut node = json!({});
    if rest.translation != translation {
        node["translation"] = json!(rest.translation.to_array());
    }
    if rest.rotation != rotation {
        node["rotation"] = json!(rest.rotation.to_array());
    }
    if rest.scale != scale {
        node["scale"] = json!(rest.scale.to_array());
    }
    node
}

fn placed(rows: &Rows) -> Value {
    if *rows == IDENTITY_ROWS {
        json!({})
    } else {
        json!({"matrix": columns(rows).as_slice()})
    }
}

/// Column by column, with the last row.
fn columns(m: &Rows) -> [f32; 16] {
    [
        m[0], m[4], m[8], 0.0, m[1], m[5], m[9], 0.0, m[2], m[6], m[10], 0.0, m[3], m[7], m[11],
        1.0,
    ]
}
