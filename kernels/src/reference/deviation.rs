//! Distances of poses and vertices from the reference.

use super::{Blending, ReferencePose, shown};
use crate::crowd::{Crowd, Group, Shown};
use crate::model::rows_to_affine;
use crate::vertex::{Encoding, Normals, VertexFormat};
use glam::{DAffine3, DVec3};

/// An error and its place; NaN counts as the largest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorstError {
    /// In the unit of what is compared.
    pub error: f64,
    /// Instance of the crowd.
    pub instance: u32,
    /// Joint, entry of the palette or vertex.
    pub item: usize,
}

impl WorstError {
    const NONE: Self = Self {
        error: 0.0,
        instance: 0,
        item: 0,
    };

    /// The larger error.
    pub fn max(self, other: Self) -> Self {
        let other_larger =
            !self.error.is_nan() && (other.error.is_nan() || other.error > self.error);
        if other_larger { other } else { self }
    }
}

/// The largest errors among some instances: of local poses, model poses, palettes and positions, over the diagonal of
/// what the group shows where they are distances, and of normals and tangents, in radians.
#[derive(Debug, Clone, Copy)]
pub struct Deviation(pub [WorstError; 5]);

impl Deviation {
    /// No difference at all.
    pub const NONE: Self = Self([WorstError::NONE; 5]);

    /// The larger error of each kind.
    pub fn max(self, other: Self) -> Self {
        Self(std::array::from_fn(|kind| self.0[kind].max(other.0[kind])))
    }

    /// Compares an instance of a group with its reference. `shown` is what the group shows, and `corners` are those of
    /// the box around its mesh. Numbers that pass through zero are held to the largest that the same joint shows.
    ///
    /// Each of `local` (`[joint][10]`), `model_pose` (`[joint][12]`), `palette` (`[entry][12]`) and `vertices`
    /// (`[vertex][word]` of the group's format) is compared as far as it goes; an empty one is not compared.
    pub fn of(
        group: &Group,
        shown: &Shown,
        blending: Blending,
        corners: &[DVec3; 8],
        reference: &ReferencePose,
        instance: u32,
        [local, model_pose, palette, vertices]: [&[f32]; 4],
    ) -> Self {
        let model = &*group.model;
        let diagonal = shown.diagonal;
        let [
            mut local_worst,
            mut model_worst,
            mut palette_worst,
            mut position,
            mut normal,
        ] = [WorstError::NONE; 5];
        let worst = |error, item| WorstError {
            error,
            instance,
            item,
        };
        // Far from the origin, floats hold places less precisely: `far` is the largest distance on the way.
        let off = |got: DVec3, want: DVec3, far: f64| {
            got.distance(want) / diagonal.max(want.length()).max(far)
        };

        for (joint, (got, want)) in local
            .as_chunks::<10>()
            .0
            .iter()
            .zip(&reference.local)
            .enumerate()
        {
            let got = got.map(f64::from);
            let difference = |sign: f64| {
                (0..4)
                    .map(|c| (got[c] - sign * want.rotation.to_array()[c]).abs())
                    .fold(0.0, nan_max)
            };
            let rotation = if difference(1.0) <= difference(-1.0) {
                difference(1.0)
            } else {
                difference(-1.0)
            };
            let most = &shown.joints[joint];
            let translation = off(
                DVec3::from_slice(&got[4..]),
                want.translation,
                most.translation,
            );
            let scale = DVec3::from_slice(&got[7..]).distance(want.scale)
                / want.scale.length().max(most.scale).max(1.0);
            local_worst =
                local_worst.max(worst(nan_max(nan_max(rotation, translation), scale), joint));
        }
        for (joint, (got, want)) in model_pose
            .as_chunks::<12>()
            .0
            .iter()
            .zip(&reference.model)
            .enumerate()
        {
            let got = rows_to_affine(got);
            let most = &shown.joints[joint];
            let size = (0..3)
                .map(|axis| want.matrix3.col(axis).length())
                .fold(most.axis, f64::max);
            let axes = (0..3)
                .map(|c| (got.matrix3.col(c) - want.matrix3.col(c)).length())
                .fold(0.0, nan_max);
            let axes = if size > 0.0 { axes / size } else { axes };
            let translation = off(got.translation, want.translation, most.distance);
            model_worst = model_worst.max(worst(nan_max(axes, translation), joint));
        }
        for (entry, (got, want)) in palette
            .as_chunks::<12>()
            .0
            .iter()
            .zip(&reference.palette)
            .enumerate()
        {
            let got = rows_to_affine(got);
            let far = shown.joints[usize::from(model.palette_joints()[entry])].distance;
            let moved = |a: &DAffine3, p: DVec3| a.matrix3 * p + a.translation;
            let error = corners
                .iter()
                .map(|&p| off(moved(&got, p), moved(want, p), far));
            palette_worst = palette_worst.max(worst(error.fold(0.0, nan_max), entry));
        }
        for (vertex, words) in vertices.chunks_exact(group.format.words()).enumerate() {
            let numbers = group
                .format
                .decode(model.mesh().cube(), words)
                .map(f64::from);
            let got = &numbers[..group.format.floats()];
            let finite = got.iter().all(|v| v.is_finite());
            if finite
                && blending == Blending::DualQuaternion
                && reference.is_undecided(model, vertex)
            {
                continue;
            }
            let want = reference.skin(model, vertex, group.format.normals, blending);
            let at = |first: usize| DVec3::from_slice(&got[first..]);
            position = position.max(worst(at(0).distance(want.position) / diagonal, vertex));
            let mut direction = 0.0;
            if got.len() >= 6 {
                direction = direction_error(at(3), want.normal, group.format);
            }
            if got.len() >= 10 {
                direction = nan_max(
                    direction,
                    direction_error(at(6), want.tangent.truncate(), group.format),
                );
                // The handedness is copied; any difference counts as a right angle.
                if got[9] != want.tangent.w {
                    direction = nan_max(direction, 90f64.to_radians());
                }
            }
            normal = normal.max(worst(direction, vertex));
        }
        Self([local_worst, model_worst, palette_worst, position, normal])
    }
}

/// Distance of each vertex of an instance from where the reference has it, as by [`distances`].
pub fn vertex_errors(
    crowd: &Crowd,
    instance: u32,
    tick: u32,
    blending: Blending,
    words: &[f32],
) -> Vec<f64> {
    let group = &crowd.groups()[crowd.group_of(instance)];
    let pose = ReferencePose::new(crowd, instance, tick);
    distances(crowd, group, words, |vertex| {
        pose.skin(&group.model, vertex, group.format.normals, blending)
            .position
    })
}

/// Distance of each vertex of an instance from another place, over the diagonal of what its group shows; NaN where a
/// word is. `words` are the instance's skinned words, `[vertex][word]` of the group's format.
pub fn distances(
    crowd: &Crowd,
    group: &Group,
    words: &[f32],
    place: impl Fn(usize) -> DVec3,
) -> Vec<f64> {
    let diagonal = shown(crowd, group).diagonal;
    let words = words.chunks_exact(group.format.words()).enumerate();
    words
        .map(|(vertex, words)| position(group, words).distance(place(vertex)) / diagonal)
        .collect()
}

/// Position of a skinned vertex.
pub fn position(group: &Group, words: &[f32]) -> DVec3 {
    DVec3::from_slice(
        &group
            .format
            .decode(group.model.mesh().cube(), words)
            .map(f64::from),
    )
}

/// The larger number; NaN counts as the largest.
pub fn nan_max(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        a.max(b)
    }
}

/// Error of a normal against the reference, in radians.
fn direction_error(got: DVec3, want: DVec3, format: VertexFormat) -> f64 {
    if got.is_nan() {
        return f64::NAN;
    }
    let length = want.length();
    // A reference that vanishes (or almost did, before it was normalised) has no direction to compare.
    if length < 1e-6 {
        return 0.0;
    }
    // The chord also detects a wrong length; for small errors it equals the angle.
    let chord = match (format.normals, format.encoding) {
        (_, Encoding::Packed) => got.distance(want / length),
        (Normals::Raw, Encoding::F32) => got.distance(want) / length,
        (Normals::Unit | Normals::Exact, Encoding::F32) => got.distance(want),
    };
    2.0 * (chord / 2.0).min(1.0).asin()
}
