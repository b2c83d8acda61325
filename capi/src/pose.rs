//! Skeletons, clips, poses of one character and palettes.

use crate::status::{
    Fault, SkinbenchStatus, at, give, guarded, invalid, list, list_mut, part, part_mut, take,
};
use glam::{Quat, Vec3};
use skinbench_kernels::model::{
    Channel, Clip, Interpolation, Joint, Keys, RotationBlend, Skeleton, Transform,
};
use skinbench_kernels::pose::{Affine, Local, one};

/// Channel of a track: rotation, quaternion x y z w.
pub const SKINBENCH_ROTATION: u32 = 0;
/// Channel of a track: translation, x y z.
pub const SKINBENCH_TRANSLATION: u32 = 1;
/// Channel of a track: scale, x y z.
pub const SKINBENCH_SCALE: u32 = 2;

/// Interpolation of a track: the earlier key holds.
pub const SKINBENCH_STEP: u32 = 0;
/// Interpolation of a track: linear, for rotations along the arc between two keys.
pub const SKINBENCH_LINEAR: u32 = 1;
/// Interpolation of a track: cubic spline of glTF, with in-tangent, value and out-tangent for each key.
pub const SKINBENCH_CUBIC: u32 = 2;

/// Keys of a joint's channel.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SkinbenchTrack {
    /// Joint, as the skeleton was given.
    pub joint: u32,
    /// SKINBENCH_ROTATION, SKINBENCH_TRANSLATION or SKINBENCH_SCALE.
    pub channel: u32,
    /// SKINBENCH_STEP, SKINBENCH_LINEAR or SKINBENCH_CUBIC.
    pub interpolation: u32,
    /// Number of keys.
    pub keys: usize,
    /// Seconds of each key, rising.
    pub times: *const f32,
    /// Values of each key: 4 floats for a rotation, else 3, and three times as many for cubic splines.
    pub values: *const f32,
}

/// Joints and their transforms at rest.
pub struct SkinbenchSkeleton {
    skeleton: Skeleton,
    /// Index in poses of each joint as it was given.
    indices: Vec<u16>,
}

/// An animation of a skeleton.
pub struct SkinbenchClip {
    clip: Clip,
    /// Joints of its skeleton.
    joints: usize,
}

/// Makes a skeleton of `joints` joints in any order. `parents` has the parent of each, or -1; `rest` 10 floats for each:
/// rotation x y z w, translation x y z, scale x y z, relative to the parent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skinbench_skeleton_new(
    joints: usize,
    parents: *const i32,
    rest: *const f32,
    skeleton: *mut *mut SkinbenchSkeleton,
) -> SkinbenchStatus {
    // SAFETY: the caller's.
    let make = || unsafe {
        let parents = list("parents", parents, joints)?;
        let rest = list("rest", rest.cast::<[f32; 10]>(), joints)?;
        let mut list = Vec::with_capacity(joints);
        for (index, (&parent, rest)) in parents.iter().zip(rest).enumerate() {
            let [x, y, z, w, tx, ty, tz, sx, sy, sz] = *rest;
            let transform = Transform {
                rotation: Quat::from_xyzw(x, y, z, w),
                translation: Vec3::new(tx, ty, tz),
                scale: Vec3::new(sx, sy, sz),
            };
            let parent = match parent {
                -1 => None,
                parent => Some(usize::try_from(parent).map_err(|_| {
                    invalid(format!(
                        "joint {index}: a parent of {parent}; expected -1 for none"
                    ))
                })?),
            };
            list.push(Joint::new(index.to_string(), parent, transform));
        }
        let (skeleton, indices) = Skeleton::new(list)?;
        Ok(SkinbenchSkeleton { skeleton, indices })
    };
    // SAFETY: the caller's.
    unsafe { give(skeleton, make) }
}

/// Frees a skeleton. Null is left alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skinbench_skeleton_free(skeleton: *mut SkinbenchSkeleton) {
    // SAFETY: the caller's.
    unsafe { take(skeleton) }
}

/// Writes the index in poses of each joint as it was given: poses have parents before children.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skinbench_skeleton_indices(
    skeleton: *const SkinbenchSkeleton,
    indices: *mut u16,
    length: usize,
) -> SkinbenchStatus {
    // SAFETY: the caller's.
    guarded(|| unsafe {
        let own = &at("skeleton", skeleton)?.indices;
        part_mut("indices", indices, length, own.len())?.copy_from_slice(own);
        Ok(())
    })
}

/// Makes a clip for a skeleton. `seconds` is the length of its loop; if negative, that of its last key. The tracks are
/// copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skinbench_clip_new(
    skeleton: *const SkinbenchSkeleton,
    seconds: f32,
    tracks: *const SkinbenchTrack,
    count: usize,
    clip: *mut *mut SkinbenchClip,
) -> SkinbenchStatus {
    // SAFETY: the caller's.
    let make = || unsafe {
        let skeleton = at("skeleton", skeleton)?;
        let mut keys = Vec::with_capacity(count.min(1 << 16));
        for (index, track) in list("tracks", tracks, count)?.iter().enumerate() {
            keys.push(keys_of(skeleton, index, track)?);
        }
        let seconds = if seconds < 0.0 { None } else { Some(seconds) };
        Ok(SkinbenchClip {
            clip: Clip::new("", seconds, RotationBlend::Slerp, keys)?,
            joints: skeleton.skeleton.len(),
        })
    };
    // SAFETY: the caller's.
    unsafe { give(clip, make) }
}

/// Frees a clip. Null is left alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skinbench_clip_free(clip: *mut SkinbenchClip) {
    // SAFETY: the caller's.
    unsafe { take(clip) }
}

/// Samples a clip, or without one the rest pose, at a time in seconds, which is clamped to the keys. `local` takes 10 floats
/// for each joint, in the order of poses; `length` is the number of floats there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skinbench_sample(
    skeleton: *const SkinbenchSkeleton,
    clip: *const SkinbenchClip,
    seconds: f32,
    local: *mut f32,
    length: usize,
) -> SkinbenchStatus {
    // SAFETY: the caller's.
    guarded(|| unsafe {
        let skeleton = &at("skeleton", skeleton)?.skeleton;
        let mut keys = None;
        if !clip.is_null() {
            let clip = at("clip", clip)?;
            if clip.joints != skeleton.len() {
                return Err(invalid(format!(
                    "clip: made for a skeleton of {} joints; this one has {}",
                    clip.joints,
                    skeleton.len()
                )));
            }
            keys = Some(&clip.clip);
        }
        if !seconds.is_finite() {
            return Err(invalid(format!(
                "seconds: {seconds}; expected a finite time"
            )));
        }
        let local = part_mut("local", local, length, 10 * skeleton.len())?;
        one::sample(skeleton, keys, seconds, items::<10>(local));
        Ok(())
    })
}

/// Turns a local pose into a model pose: 10 floats for each joint into three rows of four. Lengths are numbers of floats.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skinbench_local_to_model(
    skeleton: *const SkinbenchSkeleton,
    local: *const f32,
    local_length: usize,
    model: *mut f32,
    model_length: usize,
) -> SkinbenchStatus {
    // SAFETY: the caller's.
    guarded(|| unsafe {
        let skeleton = &at("skeleton", skeleton)?.skeleton;
        let local = part("local", local, local_length, 10 * skeleton.len())?;
        let local: &[Local<1>] = bytemuck::cast_slice(local);
        let model = part_mut("model", model, model_length, 12 * skeleton.len())?;
        one::local_to_model(skeleton, local, items::<12>(model));
        Ok(())
    })
}

/// Multiplies poses by inverse binds: `entries` matrices for skinning, three rows of four each. `joints` has the index in
/// the model pose of each, `inverse_binds` three rows of four. `poses` is the number of joints of `model`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skinbench_palette(
    model: *const f32,
    poses: usize,
    joints: *const u16,
    inverse_binds: *const f32,
    entries: usize,
    palette: *mut f32,
) -> SkinbenchStatus {
    // SAFETY: the caller's.
    guarded(|| unsafe {
        let model: &[Affine<1>] = list("model", model.cast(), poses)?;
        let joints = list("joints", joints, entries)?;
        let binds = list("inverse_binds", inverse_binds.cast(), entries)?;
        if let Some(joint) = joints.iter().find(|joint| usize::from(**joint) >= poses) {
            return Err(invalid(format!(
                "joints: {joint}; the model pose has {poses}"
            )));
        }
        let palette = list_mut("palette", palette.cast(), entries)?;
        one::palette(joints, binds, model, palette);
        Ok(())
    })
}

/// Numbers of joints, each an array of one instance.
fn items<const N: usize>(numbers: &mut [f32]) -> &mut [[[f32; 1]; N]] {
    bytemuck::cast_slice_mut(numbers)
}

/// A track with its own copy of keys.
///
/// # Safety
/// Its pointers are null or valid for as many numbers as it says.
unsafe fn keys_of(
    skeleton: &SkinbenchSkeleton,
    index: usize,
    track: &SkinbenchTrack,
) -> Result<Keys, Fault> {
    let refused = |field: &str, found: u32, accepted: &str| {
        invalid(format!(
            "track {index}, {field}: {found}; expected {accepted}"
        ))
    };
    let joints = &skeleton.indices;
    let joint = usize::try_from(track.joint)
        .ok()
        .and_then(|joint| joints.get(joint));
    let joint = *joint
        .ok_or_else(|| refused("joint", track.joint, &format!("less than {}", joints.len())))?;
    let channel = match track.channel {
        SKINBENCH_ROTATION => Channel::Rotation,
        SKINBENCH_TRANSLATION => Channel::Translation,
        SKINBENCH_SCALE => Channel::Scale,
        other => {
            let accepted = "SKINBENCH_ROTATION, SKINBENCH_TRANSLATION or SKINBENCH_SCALE";
            return Err(refused("channel", other, accepted));
        }
    };
    let interpolation = match track.interpolation {
        SKINBENCH_STEP => Interpolation::Step,
        SKINBENCH_LINEAR => Interpolation::Linear,
        SKINBENCH_CUBIC => Interpolation::CubicSpline,
        other => {
            let accepted = "SKINBENCH_STEP, SKINBENCH_LINEAR or SKINBENCH_CUBIC";
            return Err(refused("interpolation", other, accepted));
        }
    };
    let values = track
        .keys
        .saturating_mul(interpolation.values_per_key() * channel.width());
    // SAFETY: the caller's.
    unsafe {
        Ok(Keys {
            joint,
            channel,
            interpolation,
            times: list("times of a track", track.times, track.keys)?.to_vec(),
            values: list("values of a track", track.values, values)?.to_vec(),
        })
    }
}
