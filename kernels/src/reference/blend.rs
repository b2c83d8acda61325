//! Blending of layers, by the definitions in docs/animation.md.

use super::sample::{LocalPose, sample, towards};
use crate::crowd::{
    Fade, Group, LEAST_SHARE, Layer, LayerKind, Presence, REST, UNMASKED, time, time_at,
};
use crate::model::Skeleton;
use glam::{DQuat, DVec3, DVec4};

/// The pose of an instance's first `count` layers at a tick.
pub fn pose(group: &Group, layers: &[Layer], count: usize, tick: u32) -> Vec<LocalPose> {
    let mut pose = merged(group, layers, count, tick);
    for (index, layer) in layers.iter().enumerate().take(count) {
        if layer.kind == LayerKind::Merge {
            continue;
        }
        let time = time(layers, index, tick);
        join(group, layer, weight(layer, tick), time.into(), &mut pose);
        if layer.fade == Fade::Inertial {
            carry(group, layers, index, tick, &mut pose);
        }
    }
    pose
}

/// Weighted sums of a joint's local poses.
#[derive(Clone, Default)]
struct Sum {
    rotation: DVec4,
    translation: DVec3,
    scale: DVec3,
    weight: f64,
}

/// The weighted mean of the merge layers.
fn merged(group: &Group, layers: &[Layer], count: usize, tick: u32) -> Vec<LocalPose> {
    let mut pose = resting(group.model.skeleton());
    let mut sums = vec![Sum::default(); pose.len()];
    for (index, layer) in layers.iter().enumerate().take(count) {
        if layer.kind != LayerKind::Merge {
            continue;
        }
        let layer_pose = sampled(group, layer, time(layers, index, tick).into());
        for (joint, (sum, local)) in sums.iter_mut().zip(layer_pose).enumerate() {
            let weight = weight(layer, tick) * masked(group, layer, joint);
            sum.rotation += weight * towards(sum.rotation, local.rotation.into());
            sum.translation += weight * local.translation;
            sum.scale += weight * local.scale;
            sum.weight += weight;
        }
    }
    for (local, sum) in pose.iter_mut().zip(sums) {
        if sum.weight >= f64::from(LEAST_SHARE) {
            *local = LocalPose {
                rotation: DQuat::from_vec4(sum.rotation.normalize()),
                translation: sum.translation / sum.weight,
                scale: sum.scale / sum.weight,
            };
        }
    }
    pose
}

/// Interpolates between two poses.
pub fn between(start: Vec<LocalPose>, end: Vec<LocalPose>, fraction: f64) -> Vec<LocalPose> {
    let mut pose = start;
    for (local, end) in pose.iter_mut().zip(end) {
        *local = local.lerp(end, fraction);
    }
    pose
}

/// The rest pose.
pub fn resting(skeleton: &Skeleton) -> Vec<LocalPose> {
    let mut pose = Vec::with_capacity(skeleton.len());
    for rest in skeleton.rest() {
        pose.push(LocalPose {
            rotation: rest.rotation.as_dquat(),
            translation: rest.translation.as_dvec3(),
            scale: rest.scale.as_dvec3(),
        });
    }
    pose
}

/// The pose of a layer's clip alone.
fn sampled(group: &Group, layer: &Layer, time: f64) -> Vec<LocalPose> {
    let mut pose = resting(group.model.skeleton());
    if layer.kind == LayerKind::Additive {
        pose.fill(LocalPose::NONE);
    }
    if layer.clip != REST {
        sample(&group.model.clips()[layer.clip as usize], time, &mut pose);
    }
    pose
}

pub fn weight(layer: &Layer, tick: u32) -> f64 {
    let schedule = &layer.schedule;
    let fraction = match (schedule.at(tick), layer.fade) {
        (Presence::Absent, _) => 0.0,
        (Presence::Full, _) => 1.0,
        (Presence::In(_), Fade::Inertial) => 1.0,
        (Presence::Out(_), Fade::Inertial) => 0.0,
        (Presence::In(ticks), Fade::Cross) => eased(ticks, schedule.fade_in),
        (Presence::Out(ticks), Fade::Cross) => 1.0 - eased(ticks, schedule.fade_out),
    };
    fraction * f64::from(layer.weight)
}

fn eased(ticks: u32, fade: u32) -> f64 {
    let s = f64::from(ticks) / f64::from(fade);
    3.0 * s.powi(2) - 2.0 * s.powi(3)
}

fn masked(group: &Group, layer: &Layer, joint: usize) -> f64 {
    if layer.mask == UNMASKED {
        1.0
    } else {
        group.mask(layer.mask)[joint].into()
    }
}

fn join(group: &Group, layer: &Layer, weight: f64, time: f64, pose: &mut [LocalPose]) {
    for (joint, local) in sampled(group, layer, time).into_iter().enumerate() {
        let weight = weight * masked(group, layer, joint);
        let beneath = &mut pose[joint];
        if layer.kind == LayerKind::Additive {
            let difference = LocalPose::NONE.lerp(local, weight);
            beneath.rotation = difference.rotation * beneath.rotation;
            beneath.translation += difference.translation;
            beneath.scale *= difference.scale;
        } else {
            *beneath = beneath.lerp(local, weight);
        }
    }
}

/// Adds the remaining difference of an inertial fade from the pose before it.
fn carry(group: &Group, layers: &[Layer], index: usize, tick: u32, pose: &mut [LocalPose]) {
    let schedule = &layers[index].schedule;
    let presence = schedule.at(tick);
    let elapsed = match presence {
        Presence::In(elapsed) | Presence::Out(elapsed) => elapsed,
        Presence::Absent | Presence::Full => return,
    };
    let coming = presence == Presence::In(elapsed);
    let length = if coming {
        schedule.fade_in
    } else {
        schedule.fade_out
    };
    let now = jump(group, layers, index, tick, elapsed, coming);
    let before = jump(group, layers, index, tick, elapsed + 1, coming);
    // A quintic over the fade: it begins at the difference with the difference's speed, and ends at rest at none.
    let s = f64::from(elapsed) / f64::from(length);
    let offset = 1.0 - 10.0 * s.powi(3) + 15.0 * s.powi(4) - 6.0 * s.powi(5);
    let speed = f64::from(length) * (s - 6.0 * s.powi(3) + 8.0 * s.powi(4) - 3.0 * s.powi(5));
    for ((pose, now), before) in pose.iter_mut().zip(&now).zip(&before) {
        let a = DVec4::from(now.rotation);
        let b = towards(a, before.rotation.into());
        let rotation = DVec4::W + offset * (a - DVec4::W) + speed * (a - b);
        pose.rotation = DQuat::from_vec4(rotation.normalize()) * pose.rotation;
        pose.translation +=
            offset * now.translation + speed * (now.translation - before.translation);
        pose.scale += offset * now.scale + speed * (now.scale - before.scale);
    }
}

/// The difference of the pose without a layer from the pose with it, `ago` ticks before a tick; the reverse for a layer
/// that ends.
fn jump(
    group: &Group,
    layers: &[Layer],
    index: usize,
    tick: u32,
    ago: u32,
    coming: bool,
) -> Vec<LocalPose> {
    let layer = &layers[index];
    let then = tick.wrapping_sub(ago);
    let clock = layer.schedule.clock(tick).wrapping_sub(ago);
    let time = time_at(layers, index, then, clock);
    let mut old = pose(group, layers, index, then);
    let mut new = old.clone();
    join(group, layer, layer.weight.into(), time.into(), &mut new);
    if !coming {
        std::mem::swap(&mut old, &mut new);
    }
    let mut differences = Vec::with_capacity(old.len());
    for (old, new) in old.iter().zip(new) {
        let rotation = DVec4::from(old.rotation * new.rotation.inverse());
        differences.push(LocalPose {
            rotation: DQuat::from_vec4(towards(DVec4::W, rotation)),
            translation: old.translation - new.translation,
            scale: old.scale - new.scale,
        });
    }
    differences
}
