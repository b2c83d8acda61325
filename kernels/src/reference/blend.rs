//! Blending of layers, by the definitions in docs/animation.md.

use super::sample::{LocalPose, sample, towards};
use crate::crowd::{Fade, Group, Layer, LayerKind, Presence, REST, UNMASKED, time, time_at};
use crate::model::Skeleton;
use glam::{DQuat, DVec3, DVec4};

/// The pose of an instance's first `count` layers at a tick.
pub(super) fn pose(group: &Group, layers: &[Layer], count: usize, tick: u32) -> Vec<LocalPose> {
    let rest = resting(group.model.skeleton());
    let merged: Vec<_> = (0..count)
        .filter(|&index| layers[index].kind == LayerKind::Merge)
        .map(|index| {
            (
                index,
                sampled(group, &layers[index], time(layers, index, tick).into()),
            )
        })
        .collect();
    let mean = |joint: usize| {
        let (mut rotation, mut translation, mut scale, mut total) =
            (DVec4::ZERO, DVec3::ZERO, DVec3::ZERO, 0.0);
        for (index, pose) in &merged {
            let weight = weight(&layers[*index], tick) * masked(group, &layers[*index], joint);
            rotation += weight * towards(rotation, pose[joint].rotation.into());
            translation += weight * pose[joint].translation;
            scale += weight * pose[joint].scale;
            total += weight;
        }
        match total {
            0.0 => rest[joint],
            _ => LocalPose {
                rotation: DQuat::from_vec4(rotation.normalize()),
                translation: translation / total,
                scale: scale / total,
            },
        }
    };
    let mut pose: Vec<_> = (0..rest.len()).map(mean).collect();
    for (index, layer) in layers.iter().enumerate().take(count) {
        if layer.kind == LayerKind::Merge {
            continue;
        }
        join(
            group,
            layer,
            weight(layer, tick),
            time(layers, index, tick).into(),
            &mut pose,
        );
        if layer.fade == Fade::Inertial {
            carry(group, layers, index, tick, &mut pose);
        }
    }
    pose
}

/// Interpolates between two poses.
pub(super) fn between(start: Vec<LocalPose>, end: Vec<LocalPose>, part: f64) -> Vec<LocalPose> {
    start
        .into_iter()
        .zip(end)
        .map(|(start, end)| start.lerp(end, part))
        .collect()
}

/// The rest pose.
pub(super) fn resting(skeleton: &Skeleton) -> Vec<LocalPose> {
    let rest = |r: &crate::model::Transform| LocalPose {
        rotation: DQuat::from_array(r.rotation.to_array().map(f64::from)),
        translation: r.translation.as_dvec3(),
        scale: r.scale.as_dvec3(),
    };
    skeleton.rest().iter().map(rest).collect()
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

pub(super) fn weight(layer: &Layer, tick: u32) -> f64 {
    let schedule = &layer.schedule;
    let eased = |ticks: u32, fade: u32| {
        let s = f64::from(ticks) / f64::from(fade);
        3.0 * s.powi(2) - 2.0 * s.powi(3)
    };
    let part = match (schedule.at(tick), layer.fade) {
        (Presence::Absent, _) => 0.0,
        (Presence::Full, _) => 1.0,
        (Presence::In(_), Fade::Inertial) => 1.0,
        (Presence::Out(_), Fade::Inertial) => 0.0,
        (Presence::In(ticks), Fade::Cross) => eased(ticks, schedule.fade_in),
        (Presence::Out(ticks), Fade::Cross) => 1.0 - eased(ticks, schedule.fade_out),
    };
    part * f64::from(layer.weight)
}

fn masked(group: &Group, layer: &Layer, joint: usize) -> f64 {
    if layer.mask == UNMASKED {
        1.0
    } else {
        group.mask(layer.mask)[joint].into()
    }
}

fn join(group: &Group, layer: &Layer, weight: f64, time: f64, pose: &mut [LocalPose]) {
    for (joint, (own, beneath)) in sampled(group, layer, time)
        .into_iter()
        .zip(pose)
        .enumerate()
    {
        let weight = weight * masked(group, layer, joint);
        if layer.kind == LayerKind::Additive {
            let own = LocalPose::NONE.lerp(own, weight);
            beneath.rotation = own.rotation * beneath.rotation;
            beneath.translation += own.translation;
            beneath.scale *= own.scale;
        } else {
            *beneath = beneath.lerp(own, weight);
        }
    }
}

/// Adds the remaining difference of an inertial fade from the pose before it.
fn carry(group: &Group, layers: &[Layer], index: usize, tick: u32, pose: &mut [LocalPose]) {
    let layer = &layers[index];
    let (elapsed, length, coming) = match layer.schedule.at(tick) {
        Presence::In(elapsed) => (elapsed, layer.schedule.fade_in, true),
        Presence::Out(elapsed) => (elapsed, layer.schedule.fade_out, false),
        Presence::Absent | Presence::Full => return,
    };
    let off = [0, 1].map(|back| {
        let ago = elapsed + back;
        let without = self::pose(group, layers, index, tick.wrapping_sub(ago));
        let clock = layer.schedule.clock(tick).wrapping_sub(ago);
        let time = time_at(layers, index, tick.wrapping_sub(ago), clock);
        let mut with = without.clone();
        join(group, layer, layer.weight.into(), time.into(), &mut with);
        let (old, new) = if coming {
            (without, with)
        } else {
            (with, without)
        };
        old.iter()
            .zip(new)
            .map(|(old, new)| LocalPose {
                rotation: DQuat::from_vec4(towards(
                    DVec4::W,
                    (old.rotation * new.rotation.inverse()).into(),
                )),
                translation: old.translation - new.translation,
                scale: old.scale - new.scale,
            })
            .collect::<Vec<_>>()
    });
    let s = f64::from(elapsed) / f64::from(length);
    let offset = 1.0 - 10.0 * s.powi(3) + 15.0 * s.powi(4) - 6.0 * s.powi(5);
    let speed = f64::from(length) * (s - 6.0 * s.powi(3) + 8.0 * s.powi(4) - 3.0 * s.powi(5));
    for ((pose, now), before) in pose.iter_mut().zip(&off[0]).zip(&off[1]) {
        let (a, b) = (DVec4::from(now.rotation), DVec4::from(before.rotation));
        let rotation = DVec4::W + offset * (a - DVec4::W) + speed * (a - towards(a, b));
        pose.rotation = DQuat::from_vec4(rotation.normalize()) * pose.rotation;
        pose.translation +=
            offset * now.translation + speed * (now.translation - before.translation);
        pose.scale += offset * now.scale + speed * (now.scale - before.scale);
    }
}
