//! Files that describe a crowd to a peer: the model as glTF binary and as plain arrays, and every instance's clip.

use super::process::{failed, refused};
use super::protocol::Request;
use crate::asset::glb;
use crate::crowd::{Crowd, Group, Playback, REST};
use crate::frame::Result;
use crate::model::{Clip, Interpolation, NO_PARENT, Transform};
use crate::reference::shown;
use bytemuck::NoUninit;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Checks that a crowd is one of those that peers are given: models without fixed matrices, and one linear clip per
/// instance.
///
/// # Errors
/// [`refused`] with what the crowd has beyond that.
pub fn check(crowd: &Crowd) -> Result<()> {
    for group in crowd.groups() {
        if !group.model.skeleton().matrices().is_empty() {
            return Err(refused(
                "is given plain crowds only; joints of this model have fixed matrices",
            ));
        }
        for clip in group.model.clips() {
            let Some(raw) = clip.keys().raw() else {
                return Err(refused("is given plain crowds only; needs --clips raw"));
            };
            for track in raw.tracks() {
                if let Interpolation::CubicSpline | Interpolation::Squad = track.interpolation {
                    return Err(refused(
                        "is given plain crowds only; clips of this model are curved",
                    ));
                }
            }
        }
    }
    for layer in crowd.layers().all() {
        let loops = layer.is_plain() && layer.playback == Playback::Loop && layer.clip != REST;
        if !loops || layer.frame_rate != 0.0 || layer.in_step != 0 {
            return Err(refused(
                "is given plain crowds only; instances of this one do not just loop a clip",
            ));
        }
    }
    Ok(())
}

/// Writes the files of a group, of a crowd that passed [`check`], into a folder.
///
/// # Errors
/// [`refused`] if the model cannot be exported, and [`failed`] if a file cannot be written.
pub fn write(crowd: &Crowd, group: &Group, folder: &Path, threads: usize) -> Result<Request> {
    let glb = glb::to_glb(&group.model).map_err(refused)?;
    let mut words = Words::default();
    let model = companion(crowd, group, &mut words).to_string();
    // Instances as peers read them.
    let mut instances: Vec<u32> = Vec::new();
    for layer in crowd.layers().range(group.instances.clone()).flatten() {
        instances.extend([layer.clip, layer.phase, layer.step]);
        instances.extend([layer.time_base.to_bits(), layer.time_scale.to_bits()]);
    }
    store(folder, "model.bin", &words.0)?;
    Ok(Request::Load {
        glb: store(folder, "model.glb", &glb)?,
        model: store(folder, "model.json", model.as_bytes())?,
        instances: store(folder, "instances.bin", bytemuck::cast_slice(&instances))?,
        count: group.len(),
        attributes: group.format.attributes,
        normals: group.format.normals,
        threads,
    })
}

/// Writes a file to a folder; returns its path.
fn store(folder: &Path, name: &str, contents: &[u8]) -> Result<PathBuf> {
    let path = folder.join(name);
    fs::write(&path, contents).map_err(failed)?;
    Ok(path)
}

/// Arrays of 32-bit words, one after the other.
#[derive(Default)]
struct Words(Vec<u8>);

impl Words {
    /// Appends an array; returns its first word and its number of words.
    fn push<T: NoUninit>(&mut self, values: &[T]) -> Value {
        let first = self.0.len() / 4;
        self.0.extend_from_slice(bytemuck::cast_slice(values));
        json!([first, self.0.len() / 4 - first])
    }
}

fn companion(crowd: &Crowd, group: &Group, words: &mut Words) -> Value {
    let model = &*group.model;
    let skeleton = model.skeleton();
    let mesh = model.mesh();
    let parents: Vec<i32> = skeleton
        .parents()
        .iter()
        .map(|&p| if p == NO_PARENT { -1 } else { p.into() })
        .collect();
    let rest: Vec<[f32; 10]> = skeleton.rest().iter().map(Transform::components).collect();
    let influences = mesh.max_influences() as usize;
    let mut joints = Vec::new();
    let mut weights = Vec::new();
    for vertex in 0..mesh.vertex_count() {
        for (joint, weight) in mesh.influences_of(vertex) {
            joints.push(u32::from(joint));
            weights.push(weight);
        }
        joints.resize((vertex + 1) * influences, 0);
        weights.resize((vertex + 1) * influences, 0.0);
    }
    let palette_joints: Vec<u32> = model
        .palette_joints()
        .iter()
        .map(|&joint| joint.into())
        .collect();
    let mut companion = json!({
        "parents": parents,
        "influences": influences,
        "diagonal": shown(crowd, group).diagonal as f32,
        "rest": words.push(&rest),
        "palette_joints": words.push(&palette_joints),
        "inverse_binds": words.push(model.inverse_binds()),
        "positions": words.push(mesh.positions()),
        "normals": words.push(mesh.normals()),
        "joints": words.push(&joints),
        "weights": words.push(&weights),
        "indices": words.push(mesh.indices()),
    });
    if let Some(tangents) = mesh.tangents() {
        companion["tangents"] = words.push(tangents);
    }
    companion["clips"] = model
        .clips()
        .iter()
        .map(|clip| described(clip, words))
        .collect();
    companion
}

fn described(clip: &Clip, words: &mut Words) -> Value {
    let mut tracks = Vec::new();
    if let Some(raw) = clip.keys().raw() {
        for track in raw.tracks() {
            let is_step = track.interpolation == Interpolation::Step;
            tracks.push(json!({
                "joint": track.joint,
                "channel": track.channel.name(),
                "interpolation": if is_step { "step" } else { "linear" },
                "times": words.push(raw.times_of(track)),
                "values": words.push(raw.values_of(track)),
            }));
        }
    }
    json!({"name": clip.name(), "duration": clip.duration(), "tracks": tracks})
}
