//! The search for joints that scale their axes differently, which rigid motions cannot express.

use crate::model::{Channel, Clip, Model, rows_to_affine};
use glam::{DMat3, DVec3, Vec3};

/// Largest difference between the scales of one joint, relative to the largest scale.
const EVEN: f64 = 1e-5;

/// The scales in a clip, each with its joint.
fn scales(clip: &Clip) -> impl Iterator<Item = (u16, Vec3)> {
    // A cubic key is in-tangent, value, out-tangent: even tangents keep even values even.
    let raw = clip.keys().raw().into_iter().flat_map(|raw| {
        let tracks = raw.tracks().iter().filter(|t| t.channel == Channel::Scale);
        tracks.flat_map(|track| {
            raw.values_of(track)
                .as_chunks::<3>()
                .0
                .iter()
                .map(|&scale| (track.joint, scale.into()))
        })
    });
    let compact = clip.keys().compact().into_iter().flat_map(|compact| {
        let still = compact.still.iter().filter(|s| s.channel == Channel::Scale);
        let keys = (0..compact.frames as usize).flat_map(|index| compact.frame(index));
        let keys = keys.filter(|(track, _)| track.channel == Channel::Scale);
        still.map(|s| (s.joint, Vec3::from_slice(&s.value))).chain(
            keys.map(|(track, key)| (track.joint, track.decoder().vector(key.numbers).into())),
        )
    });
    raw.chain(compact)
}

/// The first place where a model scales unevenly or mirrors.
pub(super) fn uneven(model: &Model) -> Option<String> {
    let differ = |scale: Vec3| {
        let scale = scale.as_dvec3();
        (scale - DVec3::splat(scale.x)).abs().max_element() > EVEN * scale.abs().max_element()
    };
    let name = |joint: usize| &model.skeleton().names()[joint];
    let skeleton = model.skeleton();
    if let Some(joint) = skeleton.rest().iter().position(|r| differ(r.scale)) {
        return Some(format!(
            "joint {:?} of {:?} at rest",
            name(joint),
            model.name()
        ));
    }
    for clip in model.clips() {
        if let Some((joint, _)) = scales(clip).find(|(_, scale)| differ(*scale)) {
            let joint = name(joint.into());
            return Some(format!(
                "joint {joint:?} of {:?} in clip {:?}",
                model.name(),
                clip.name()
            ));
        }
    }
    let sheared = |m: DMat3| {
        let product = m.transpose() * m;
        let size = product.x_axis.x;
        m.determinant() <= 0.0
            || (0..3).any(|c| {
                (product.col(c) - DMat3::IDENTITY.col(c) * size).length() > 10.0 * EVEN * size
            })
    };
    let matrices = skeleton
        .matrices()
        .iter()
        .map(|(joint, rows)| (usize::from(*joint), rows));
    let binds = model
        .palette_joints()
        .iter()
        .map(|&j| usize::from(j))
        .zip(model.inverse_binds());
    let found = matrices
        .chain(binds)
        .find(|(_, rows)| sheared(rows_to_affine(rows).matrix3));
    found.map(|(joint, _)| {
        format!(
            "the matrix of joint {:?} of {:?}",
            name(joint),
            model.name()
        )
    })
}
