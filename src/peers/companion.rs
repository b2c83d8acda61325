//! Files that describe a crowd to a peer: the model as glTF binary and as plain arrays, and every instance's clip.

use super::protocol::Request;
use crate::asset::glb;
use crate::crowd::{Crowd, Group, Layer, Playback, REST};
use crate::frame::{BackendError, Result};
use crate::model::{Clip, Interpolation, NO_PARENT};
use crate::reference::shown;
use bytemuck::NoUninit;
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::Path;

/// Checks that a crowd is one of those that peers are given: one model, and one clip per instance.
///
/// # Errors
/// [`BackendError::Unavailable`] with what the crowd has beyond that.
pub fn check(crowd: &Crowd) -> Result<&Group> {
    let refused = |what: String| {
        Err(BackendError::Unavailable(format!(
            "is given plain crowds only; {what}"
        )))
    };
    let [group] = crowd.groups() else {
        return refused(format!(
            "this one has {} models or groups",
            crowd.groups().len()
        ));
    };
    if !group.model.skeleton().matrices().is_empty() {
        return refused("joints of this model have fixed matrices".into());
    }
    for track in group
        .model
        .clips()
        .iter()
        .filter_map(|clip| clip.keys().raw())
        .flat_map(|raw| raw.tracks())
    {
        if matches!(
            track.interpolation,
            Interpolation::CubicSpline | Interpolation::Squad
        ) {
            return refused("clips of this model are curved".into());
        }
    }
    if group
        .model
        .clips()
        .iter()
        .any(|clip| clip.keys().raw().is_none())
    {
        return refused("needs --clips raw".into());
    }
    for layer in crowd.layers().all() {
        let plain = layer.is_plain() && layer.playback == Playback::Loop && layer.clip != REST;
        if !plain || layer.frame_rate != 0.0 || layer.in_step != 0 {
            return refused("instances of this one do not just loop a clip".into());
        }
    }
    Ok(group)
}

/// Writes the files of a crowd that passed [`check`], and of its group, into a folder.
///
/// # Errors
/// [`BackendError::Unavailable`] if the model cannot be exported, and [`BackendError::Failed`] if a file cannot be
/// written.
pub fn write(crowd: &Crowd, group: &Group, folder: &Path, threads: usize) -> Result<Request> {
    let failed = |error: io::Error| BackendError::Failed(format!("{}: {error}", folder.display()));
    let [glb, model, instances] =
        ["model.glb", "model.json", "instances.bin"].map(|name| folder.join(name));
    let exported =
        glb::to_glb(&group.model).map_err(|error| BackendError::Unavailable(error.to_string()))?;
    fs::write(&glb, exported).map_err(failed)?;
    let mut words = Words::default();
    fs::write(&model, companion(crowd, group, &mut words).to_string()).map_err(failed)?;
    fs::write(folder.join("model.bin"), words.0).map_err(failed)?;
    // An instance as peers read it.
    let words = |l: &Layer| {
        [
            l.clip,
            l.phase,
            l.step,
            l.time_base.to_bits(),
            l.time_scale.to_bits(),
        ]
    };
    let layers: Vec<[u32; 5]> = crowd.layers().all().iter().map(words).collect();
    fs::write(&instances, bytemuck::cast_slice(&layers)).map_err(failed)?;
    let (attributes, normals) = (
        group.format.attributes.name().into(),
        group.format.normals.name().into(),
    );
    Ok(Request::Load {
        glb,
        model,
        instances,
        count: group.len(),
        attributes,
        normals,
        threads,
    })
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
    let (model, skeleton, mesh) = (&*group.model, group.model.skeleton(), group.model.mesh());
    let parents: Vec<i32> = skeleton
        .parents()
        .iter()
        .map(|&p| if p == NO_PARENT { -1 } else { p.into() })
        .collect();
    let rest: Vec<f32> = skeleton
        .rest()
        .iter()
        .flat_map(|r| {
            r.rotation
                .to_array()
                .into_iter()
                .chain(r.translation.to_array())
                .chain(r.scale.to_array())
        })
        .collect();
    let influences = mesh.max_influences() as usize;
    let (mut joints, mut weights) = (Vec::new(), Vec::new());
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
    let tracks = clip
        .keys()
        .raw()
        .into_iter()
        .flat_map(|raw| raw.tracks().iter().map(move |track| (raw, track)));
    let track = |(raw, track): (&crate::model::RawKeys, &crate::model::Track)| {
        json!({
            "joint": track.joint,
            "channel": track.channel.name(),
            "interpolation": if track.interpolation == Interpolation::Step { "step" } else { "linear" },
            "times": words.push(raw.times_of(track)),
            "values": words.push(raw.values_of(track)),
        })
    };
    let tracks: Vec<Value> = tracks.map(track).collect();
    json!({"name": clip.name(), "duration": clip.duration(), "tracks": tracks})
}
