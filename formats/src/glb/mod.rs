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
use crate::matrices;
use document::{Document, Use, append};
use glam::Vec3;
use morph::RunTargets;
use serde_json::{Value, json};
use skinbench_kernels::model::{
    Axes, Channel, Clip, IDENTITY_ROWS, Interpolation, JointTransform, Keys, Model, ModelParts,
    NO_PARENT, PrimitiveData, Rows, Skeleton, SkinData, Transform,
};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;

/// Error for a model that could not be written.
#[derive(thiserror::Error)]
pub enum ExportError {
    /// The container counts bytes in 32 bits.
    #[error("the model needs {0} bytes; a binary glTF file holds at most {max}", max = u32::MAX)]
    TooLarge(u64),
    /// Compact keys are derived from a file's keys, which are closer to the authored clip.
    #[error("clip {0:?} is compact; expected the clip that it was made from")]
    Compact(String),
}

/// As the message: a `main` that returns the error prints it so.
impl fmt::Debug for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
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
    document.pad();
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
        for (joint, name) in skeleton.names().iter().enumerate() {
            let mut node = match skeleton.rest_of(joint) {
                JointTransform::Matrix(rows) => placed(&rows),
                JointTransform::Transform(rest) => transformed(&rest),
            };
            node["name"] = json!(name);
            self.document.add("nodes", node);
            match skeleton.parents()[joint] {
                NO_PARENT => self.roots.push(joint),
                parent => self.add_child(usize::from(parent), joint),
            }
        }
        // Joints of a skin must have a common root.
        if self.roots.len() > 1 {
            let root = json!({"name": "roots", "children": self.roots});
            self.roots = vec![self.document.add("nodes", root)];
        }
    }

    fn add_child(&mut self, parent: usize, child: usize) {
        let children = &mut self.document.json["nodes"][parent]["children"];
        append(children, json!(child));
    }

    fn skins(&mut self, parts: &ModelParts) {
        let skinned = parts.primitives.iter().filter(|p| p.dumped_vertices > 0);
        let used: BTreeSet<u16> = skinned.map(|primitive| primitive.skin).collect();
        for index in used {
            let skin = &parts.skins[usize::from(index)];
            let mut known = HashSet::new();
            let mut joints = Vec::new();
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
            let matrices: Vec<_> = skin.inverse_binds.iter().map(matrices::columns).collect();
            let matrices = self.document.floats(&matrices, Use::Other);
            let skin =
                json!({"name": skin.name, "joints": joints, "inverseBindMatrices": matrices});
            self.skin_of.insert(index, self.document.add("skins", skin));
        }
    }

    /// Adds one node for each run of neighbouring primitives that the same skin, or the same single joint, moves. Runs
    /// end where other morph targets begin, so that each node has weights of its own.
    fn meshes(&mut self, parts: &ModelParts) {
        let mut runs: Vec<&[PrimitiveData]> = Vec::new();
        let mut rest = &parts.primitives[..];
        while !rest.is_empty() {
            let length = run_length(rest);
            runs.push(&rest[..length]);
            rest = &rest[length..];
        }
        let targets = RunTargets::of_runs(&runs, &parts.clips, parts.targets.len() as u32);
        for (run, targets) in runs.into_iter().zip(targets) {
            let Mover { skin, entry } = Mover::of(&run[0]);
            let SkinData {
                joints,
                inverse_binds,
                ..
            } = &parts.skins[usize::from(skin)];
            let skinned = entry.is_none().then_some(joints.len());
            let mut primitives = Vec::new();
            for primitive in run {
                let mut subsets = mesh::primitives(primitive, skinned, &mut self.document);
                if !targets.all.is_empty() {
                    let deltas = morph::targets(primitive, &targets.all, &mut self.document);
                    for subset in &mut subsets {
                        subset["targets"] = deltas.clone();
                    }
                }
                primitives.extend(subsets);
            }
            let mut mesh = json!({"primitives": primitives});
            for &target in &targets.all {
                let target = &parts.targets[target as usize];
                append(&mut mesh["weights"], json!(target.weight));
                append(&mut mesh["extras"]["targetNames"], json!(target.name));
            }
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
            self.meshes.push((node, targets));
        }
    }

    fn animation(&mut self, parts: &ModelParts, clip: &Clip) -> Result<(), ExportError> {
        let raw = clip.keys().raw();
        let raw = raw.ok_or_else(|| ExportError::Compact(clip.name().into()))?;
        let skeleton = &parts.skeleton;
        let matrices = skeleton.matrices();
        let is_fixed = |joint: u16| matrices.iter().any(|matrix| matrix.0 == joint);
        let mut tracks: Vec<(usize, Keys)> = Vec::new();
        for track in raw.tracks() {
            if !is_fixed(track.joint) {
                tracks.push((track.joint.into(), keys::resampled(clip, raw, track)));
            }
        }
        if tracks.is_empty() {
            // glTF has no clip without a channel, so one joint gets a constant channel.
            let still = (0..skeleton.len()).find(|&joint| !is_fixed(joint as u16));
            let translation = still.map_or(Vec3::ZERO, |joint| skeleton.rest()[joint].translation);
            let values = translation.to_array().to_vec();
            let keys = Keys::linear(0, Channel::Translation, vec![0.0], values);
            // If every joint is fixed, the node of a mesh, which its skin keeps in place.
            let node = still.unwrap_or(self.meshes[self.meshes.len() - 1].0);
            tracks.push((node, keys));
        }
        // The file has the loop's period only as the time of the last key.
        let end = clip.duration();
        let ends = tracks.iter().map(|track| track.1.times.last());
        let is_reached = ends.flatten().any(|&last| last >= end);
        if !is_reached {
            keys::hold_until(&mut tracks[0].1, end);
        }
        let mut animation = AnimationWriter {
            document: &mut self.document,
            inputs: HashMap::new(),
            json: json!({"name": clip.name()}),
        };
        for (node, keys) in &tracks {
            let path = keys.channel.name();
            animation.add(*node, path, keys.interpolation, &keys.times, &keys.values);
        }
        for (node, targets) in &self.meshes {
            if let Some(keys) = morph::weights(clip, &parts.targets, targets) {
                animation.add(
                    *node,
                    "weights",
                    keys.interpolation,
                    &keys.times,
                    &keys.values,
                );
            }
        }
        let json = animation.json;
        self.document.add("animations", json);
        Ok(())
    }
}

/// An animation under construction.
struct AnimationWriter<'a> {
    document: &'a mut Document,
    /// The accessor of each list of times, by their bits.
    inputs: HashMap<Vec<u32>, usize>,
    json: Value,
}

impl AnimationWriter<'_> {
    fn add(
        &mut self,
        node: usize,
        path: &str,
        interpolation: Interpolation,
        times: &[f32],
        values: &[f32],
    ) {
        let bits = times.iter().map(|time| time.to_bits()).collect();
        let times = times.as_chunks::<1>().0;
        let input = self.inputs.entry(bits);
        let input = *input.or_insert_with(|| self.document.bounded_floats(times, Use::Other));
        let output = match path {
            "rotation" => self.document.floats(values.as_chunks::<4>().0, Use::Other),
            "weights" => self.document.floats(values.as_chunks::<1>().0, Use::Other),
            _ => self.document.floats(values.as_chunks::<3>().0, Use::Other),
        };
        let interpolation = names::interpolation(interpolation);
        let sampler = json!({"input": input, "output": output, "interpolation": interpolation});
        let sampler = append(&mut self.json["samplers"], sampler);
        let channel = json!({"sampler": sampler, "target": {"node": node, "path": path}});
        append(&mut self.json["channels"], channel);
    }
}

/// The skin, or the single joint, that moves a primitive.
#[derive(PartialEq)]
struct Mover {
    skin: u16,
    /// The entry of the skin that moves a rigid primitive.
    entry: Option<usize>,
}

impl Mover {
    fn of(primitive: &PrimitiveData) -> Self {
        let mut entry = None;
        if primitive.dumped_vertices == 0 {
            let first = primitive.influences.pairs().first();
            entry = first.map(|pair| usize::from(pair.0));
        }
        Self {
            skin: primitive.skin,
            entry,
        }
    }
}

/// The number of primitives, from the first, that one node has.
fn run_length(primitives: &[PrimitiveData]) -> usize {
    let mover = Mover::of(&primitives[0]);
    let mut largest = None;
    for (index, primitive) in primitives.iter().enumerate() {
        let mut targets = primitive.targets.iter().map(|deltas| deltas.target);
        let first = targets.next();
        let begins_others = largest.is_some() && largest < first;
        if begins_others || Mover::of(primitive) != mover {
            return index;
        }
        largest = largest.max(first).max(targets.max());
    }
    primitives.len()
}

fn transformed(rest: &Transform) -> Value {
    let identity = Transform::IDENTITY;
    let mut node = json!({});
    if rest.translation != identity.translation {
        node["translation"] = json!(rest.translation.to_array());
    }
    if rest.rotation != identity.rotation {
        node["rotation"] = json!(rest.rotation.to_array());
    }
    if rest.scale != identity.scale {
        node["scale"] = json!(rest.scale.to_array());
    }
    node
}

fn placed(rows: &Rows) -> Value {
    if *rows == IDENTITY_ROWS {
        json!({})
    } else {
        json!({"matrix": matrices::columns(rows).as_slice()})
    }
}
