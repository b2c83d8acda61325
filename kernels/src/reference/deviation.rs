//! Distances of poses and vertices from the reference.

use super::{Blending, ReferencePose, shown};
use crate::crowd::{Crowd, Group, Shown};
use crate::model::rows_to_affine;
use crate::vertex::{Encoding, Normals, VertexFormat};
use glam::{DVec3, DVec4, Vec3};

/// Axes that are shorter count as this long: f32 numbers below 1.2e-38 lose digits, or all of them on devices.
const SHORT_AXIS: f64 = 1e-32;

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

    fn include(&mut self, error: f64, instance: u32, item: usize) {
        *self = self.max(Self {
            error,
            instance,
            item,
        });
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
            mut position_worst,
            mut normal_worst,
        ] = Self::NONE.0;

        let locals = local.as_chunks::<10>().0.iter().zip(&reference.local);
        for (joint, (got, want)) in locals.enumerate() {
            let got = got.map(f64::from);
            let most = &shown.joints[joint];
            let rotation = rotation_error(DVec4::from_slice(&got), want.rotation.into());
            let translation = DVec3::from_slice(&got[4..]);
            let translation = relative_distance(
                translation,
                want.translation,
                diagonal.max(most.translation),
            );
            let scale = DVec3::from_slice(&got[7..]);
            let scale = relative_distance(scale, want.scale, most.scale.max(1.0));
            let error = nan_max(nan_max(rotation, translation), scale);
            local_worst.include(error, instance, joint);
        }
        let poses = model_pose.as_chunks::<12>().0.iter().zip(&reference.model);
        for (joint, (got, want)) in poses.enumerate() {
            let got = rows_to_affine(got);
            let most = &shown.joints[joint];
            let mut size = most.axis;
            let mut axes = 0.0;
            for axis in 0..3 {
                let want = want.matrix3.col(axis);
                size = size.max(want.length());
                axes = nan_max(axes, got.matrix3.col(axis).distance(want));
            }
            axes /= size.max(SHORT_AXIS);
            let far = diagonal.max(most.distance);
            let translation = relative_distance(got.translation, want.translation, far);
            model_worst.include(nan_max(axes, translation), instance, joint);
        }
        let entries = palette.as_chunks::<12>().0.iter().zip(&reference.palette);
        for (entry, (got, want)) in entries.enumerate() {
            let got = rows_to_affine(got);
            let joint = usize::from(model.palette_joints()[entry]);
            let far = diagonal.max(shown.joints[joint].distance);
            let mut error = 0.0;
            for &corner in corners {
                let want = want.transform_point3(corner);
                let off = relative_distance(got.transform_point3(corner), want, far);
                error = nan_max(error, off);
            }
            palette_worst.include(error, instance, entry);
        }
        let format = group.format;
        for (vertex, words) in vertices.chunks_exact(format.words()).enumerate() {
            let decoded = format.decode(model.mesh().cube(), words).map(f64::from);
            let got = &decoded[..format.floats()];
            if blending == Blending::DualQuaternion
                && got.iter().all(|v| v.is_finite())
                && reference.is_undecided(model, vertex)
            {
                continue;
            }
            let want = reference.skin(model, vertex, format.normals, blending);
            let position = DVec3::from_slice(got).distance(want.position) / diagonal;
            position_worst.include(position, instance, vertex);
            let mut directions = [0.0; 2];
            if got.len() >= 6 {
                directions[0] = direction_error(DVec3::from_slice(&got[3..]), want.normal, format);
            }
            if got.len() >= 10 {
                let tangent = DVec3::from_slice(&got[6..]);
                directions[1] = direction_error(tangent, want.tangent.truncate(), format);
            }
            // Only the largest error is kept, so few vertices are asked whether rounding decides theirs.
            if directions.iter().any(|&error| error > normal_worst.error) {
                let cancels = reference.cancels(model, vertex, format.normals);
                for (error, cancels) in directions.iter_mut().zip(cancels) {
                    if cancels && !error.is_nan() {
                        *error = 0.0;
                    }
                }
            }
            let mut direction = nan_max(directions[0], directions[1]);
            if got.len() >= 10 {
                // The handedness is copied; any difference counts as a right angle.
                if got[9] != want.tangent.w {
                    direction = nan_max(direction, 90f64.to_radians());
                }
            }
            normal_worst.include(direction, instance, vertex);
        }
        Self([
            local_worst,
            model_worst,
            palette_worst,
            position_worst,
            normal_worst,
        ])
    }
}

/// Largest difference of a component of two quaternions, of which either sign is the same rotation.
fn rotation_error(got: DVec4, want: DVec4) -> f64 {
    let [same, opposite] = [got - want, got + want]
        .map(|difference| difference.abs().to_array().into_iter().fold(0.0, nan_max));
    if same <= opposite { same } else { opposite }
}

/// Distance over the length of what is wanted. Far from the origin, floats hold places less precisely: the distance is
/// divided by `far`, the largest one on the way, if that is more.
fn relative_distance(got: DVec3, want: DVec3, far: f64) -> f64 {
    got.distance(want) / want.length().max(far)
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
    let mut distances = Vec::with_capacity(group.model.mesh().vertex_count());
    for (vertex, words) in words.chunks_exact(group.format.words()).enumerate() {
        distances.push(position(group, words).distance(place(vertex)) / diagonal);
    }
    distances
}

/// Position of a skinned vertex.
pub fn position(group: &Group, words: &[f32]) -> DVec3 {
    let [x, y, z, ..] = group.format.decode(group.model.mesh().cube(), words);
    Vec3::new(x, y, z).as_dvec3()
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
