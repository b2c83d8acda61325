//! Built-in models that stand in for those of engines' stress tests, which this repository does not ship: as many
//! joints, vertices and clips, in tubes.

use super::extremes::{Tube, clip, half_way, model, rotation, translated};
use crate::model::{Joint, JointTransform, Model, ModelError, Skeleton, Transform};
use glam::{DQuat, DVec3};
use std::f64::consts::TAU;

/// Influences of a vertex: neighbouring joints of its limb.
const INFLUENCES: i32 = 4;

/// A chain of joints under one tube.
struct Limb {
    /// The joint that it hangs from; `None` for the first limb.
    parent: Option<u16>,
    /// Place of its first joint, in metres.
    start: DVec3,
    /// Direction of its joints; need not have length 1.
    towards: DVec3,
    joints: u16,
    /// Length and radius in metres.
    length: f64,
    radius: f64,
    /// Part of a cycle by which it is behind the first limb.
    behind: f64,
}

/// A clip that swings every limb.
struct Swing {
    name: &'static str,
    seconds: f64,
    /// The largest angle.
    degrees: f64,
    /// Swings within the clip.
    swings: f64,
    keys_per_second: f64,
}

impl Swing {
    /// One swing, with as many keys as most tools export.
    fn once(name: &'static str, seconds: f64, degrees: f64) -> Self {
        Self { name, seconds, degrees, swings: 1.0, keys_per_second: 24.0 }
    }
}

/// The shape of Khronos' Fox, of which Bevy's `many_foxes` shows a thousand: 24 joints, 1,728 vertices, three clips.
///
/// # Errors
/// None in practice: its data is valid for the stores.
pub fn fox_like() -> Result<Model, ModelError> {
    let leg = |parent: u16, x: f64, z: f64, behind: f64| Limb {
        parent: Some(parent),
        start: DVec3::new(x, 0.62, z),
        towards: DVec3::NEG_Y,
        joints: 4,
        length: 0.6,
        radius: 0.06,
        behind,
    };
    let spine = Limb {
        parent: None,
        start: DVec3::new(0.0, 0.65, -0.9),
        towards: DVec3::new(0.0, 0.1, 1.0),
        joints: 8,
        length: 1.6,
        radius: 0.13,
        behind: 0.0,
    };
    let legs = [leg(2, -0.1, -0.4, 0.0), leg(2, 0.1, -0.4, 0.5), leg(5, -0.1, 0.3, 0.25), leg(5, 0.1, 0.3, 0.75)];
    let limbs: Vec<Limb> = std::iter::once(spine).chain(legs).collect();
    let clips = [Swing::once("survey", 3.4, 4.0), Swing::once("walk", 0.7, 12.0), Swing::once("run", 1.15, 20.0)];
    // 12 x 144 vertices.
    standin("fox-like", &limbs, &clips, 12, 144)
}

/// The shape of the mannequin in Godot's benchmarks of animated models: 45 joints, 12,597 vertices, ten clips.
///
/// # Errors
/// None in practice: its data is valid for the stores.
pub fn mannequin_like() -> Result<Model, ModelError> {
    let limbs = human(4, 3, 4, 3);
    let names = ["idle", "run", "jump", "land", "dash", "kick", "punch", "fall", "ready", "fight"];
    let swing = |(i, name)| Swing::once(name, 0.5 + 0.25 * f64::from(i % 5), 4.0 + 2.0 * f64::from(i));
    let clips: Vec<Swing> = (0u8..).zip(names).map(swing).collect();
    // 17 x 741 vertices.
    standin("mannequin-like", &limbs, &clips, 17, 741)
}

/// The shape of the dancer in three.js' examples of instanced skinning, `Michelle.glb`: 65 joints, 16,340 vertices, a
/// dance of 18 s with 30 keys per second and the pose in which the skeleton was bound.
///
/// # Errors
/// None in practice: its data is valid for the stores.
pub fn dancer_like() -> Result<Model, ModelError> {
    let dance = Swing { name: "dance", seconds: 18.2, degrees: 15.0, swings: 13.0, keys_per_second: 30.0 };
    let bound = Swing { name: "bound", seconds: 1.0 / 30.0, degrees: 0.0, swings: 1.0, keys_per_second: 30.0 };
    // 20 x 817 vertices.
    standin("dancer-like", &human(5, 4, 5, 4), &[dance, bound], 20, 817)
}

/// The shape of the spider in Babylon.js' examples of baked animation textures, `arr.babylon`: 110 joints, 5,382
/// vertices, four clips with 30 keys per second.
///
/// # Errors
/// None in practice: its data is valid for the stores.
pub fn spider_like() -> Result<Model, ModelError> {
    let body = Limb {
        parent: None,
        start: DVec3::new(0.0, 0.4, -0.6),
        towards: DVec3::Z,
        joints: 14,
        length: 1.2,
        radius: 0.18,
        behind: 0.0,
    };
    let mut limbs = vec![body];
    for pair in 0..4u16 {
        for (side, behind) in [(-1.0, 0.0), (1.0, 0.5)] {
            let along = f64::from(pair);
            limbs.push(Limb {
                parent: Some(5 + pair),
                start: DVec3::new(0.1 * side, 0.4, -0.15 + 0.1 * along),
                towards: DVec3::new(side, -0.45, 0.35 * (along - 1.5)),
                joints: 12,
                length: 0.85,
                radius: 0.04,
                behind: behind + 0.25 * along,
            });
        }
    }
    let swing = |name, frames: f64, degrees| Swing {
        name,
        seconds: frames / 30.0,
        degrees,
        swings: 1.0,
        keys_per_second: 30.0,
    };
    let clips =
        [swing("walk", 24.0, 4.0), swing("attack", 28.0, 6.0), swing("jump", 28.0, 8.0), swing("die", 37.0, 10.0)];
    // 18 x 299 vertices.
    standin("spider-like", &limbs, &clips, 18, 299)
}

/// Limbs of a human: a spine of seven joints, legs and arms with these many, and as many fingers on each hand.
fn human(leg: u16, arm: u16, fingers: u8, finger: u16) -> Vec<Limb> {
    let limb = |parent: u16, start: [f64; 3], towards: DVec3, joints: u16, length: f64, radius: f64, behind: f64| {
        Limb { parent: Some(parent), start: DVec3::from_array(start), towards, joints, length, radius, behind }
    };
    let spine = Limb {
        parent: None,
        start: DVec3::new(0.0, 0.95, 0.0),
        towards: DVec3::Y,
        joints: 7,
        length: 0.85,
        radius: 0.14,
        behind: 0.0,
    };
    let mut limbs = vec![
        spine,
        limb(0, [-0.1, 0.95, 0.0], DVec3::NEG_Y, leg, 0.93, 0.08, 0.0),
        limb(0, [0.1, 0.95, 0.0], DVec3::NEG_Y, leg, 0.93, 0.08, 0.5),
    ];
    for (side, behind) in [(-1.0, 0.5), (1.0, 0.0)] {
        let hand = limbs.iter().map(|limb| limb.joints).sum::<u16>() + arm - 1;
        limbs.push(limb(5, [0.18 * side, 1.45, 0.0], DVec3::new(side, 0.0, 0.0), arm, 0.6, 0.06, behind));
        for number in 0..fingers {
            let z = 0.03 * (f64::from(number) - f64::from(fingers - 1) / 2.0);
            limbs.push(limb(hand, [0.8 * side, 1.45, z], DVec3::new(side, 0.0, 0.0), finger, 0.1, 0.012, behind));
        }
    }
    limbs
}

/// A model of limbs with `corners` times `rings` vertices; its clips swing each limb.
fn standin(name: &str, limbs: &[Limb], swings: &[Swing], corners: u32, rings: u32) -> Result<Model, ModelError> {
    let mut joints: Vec<Joint> = Vec::new();
    let mut places: Vec<DVec3> = Vec::new();
    let mut behind: Vec<f64> = Vec::new();
    let mut tube = Tube::with_corners(corners);
    // Rings by length; the first limb takes the rest, so that the sum is exact.
    let all: f64 = limbs.iter().map(|limb| limb.length).sum();
    let share = |limb: &Limb| ((f64::from(rings) * limb.length / all) as u32).max(2);
    let rest = rings - limbs[1..].iter().map(share).sum::<u32>();
    for (index, limb) in limbs.iter().enumerate() {
        let first = joints.len() as u16;
        let (direction, step) = (limb.towards.normalize(), limb.length / f64::from(limb.joints));
        for joint in 0..limb.joints {
            let parent = if joint == 0 { limb.parent } else { Some(first + joint - 1) };
            let place = limb.start + direction * step * f64::from(joint);
            let from = parent.map_or(DVec3::ZERO, |parent| places[usize::from(parent)]);
            let translation = (place - from).as_vec3();
            let rest = Transform { translation, ..Transform::IDENTITY };
            joints.push(Joint {
                name: format!("joint_{:02}", first + joint),
                parent: parent.map(usize::from),
                rest: JointTransform::Transform(rest),
            });
            places.push(place);
            behind.push(limb.behind + 0.08 * f64::from(joint));
        }
        (tube.length, tube.radius) = (limb.length, limb.radius);
        let own = if index == 0 { rest } else { share(limb) };
        tube.add(limb.start, half_way(DVec3::Y, direction), own, |along| {
            let at = along * f64::from(limb.joints) - 0.5;
            let from = (libm::floor(at) as i32 - 1).clamp(0, (i32::from(limb.joints) - INFLUENCES).max(0));
            let pairs = (from..(from + INFLUENCES).min(limb.joints.into())).map(|joint| {
                let near = (1.0 - (f64::from(joint) - at).abs() / 3.0).max(0.0);
                (first + joint as u16, near * near)
            });
            let sum: f64 = pairs.clone().map(|(_, weight)| weight).sum();
            pairs.map(|(joint, weight)| (joint, (weight / sum) as f32)).collect()
        });
    }
    let (_, sorted) = Skeleton::new(joints.clone())?;
    let mut phases = vec![0.0; joints.len()];
    sorted.iter().zip(&behind).for_each(|(&joint, behind)| phases[usize::from(joint)] = *behind);
    let swing = |&Swing { name, seconds, degrees, swings, keys_per_second }: &Swing| {
        let keys = (seconds * keys_per_second) as usize + 1;
        clip(name, joints.len() as u16, seconds, keys, |joint, phase| match joint {
            0 => DQuat::IDENTITY,
            _ => {
                let angle = libm::sin(TAU * (swings * phase - phases[usize::from(joint)])) * degrees.to_radians();
                rotation(DVec3::X, angle)
            }
        })
    };
    let clips = swings.iter().map(swing).collect::<Result<_, _>>()?;
    let inverse_binds = places.iter().map(|place| translated(-*place)).collect();
    model(name, joints, inverse_binds, clips, tube)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::IDENTITY_ROWS;
    use crate::pose;

    #[test]
    fn they_have_the_shape_that_they_stand_in_for() {
        for (model, joints, vertices, clips) in [
            (fox_like().unwrap(), 24, 1_728, 3),
            (mannequin_like().unwrap(), 45, 12_597, 10),
            (dancer_like().unwrap(), 65, 16_340, 2),
            (spider_like().unwrap(), 110, 5_382, 4),
        ] {
            let name = model.name();
            let counted = (model.skeleton().len(), model.mesh().vertex_count(), model.clips().len());
            assert_eq!(counted, (joints, vertices, clips), "{name}");
            assert_eq!(model.mesh().max_influences(), 4, "{name}");
            assert!(model.repairs().is_empty(), "{name}: {:?}", model.repairs());
            // At rest every joint leaves its vertices where they were modelled.
            let mut local: Vec<pose::Local<1>> = vec![[[0.0]; 10]; joints];
            let mut posed: Vec<pose::Affine<1>> = vec![[[0.0]; 12]; joints];
            let mut palette = vec![[0.0; 12]; model.palette_joints().len()];
            pose::one::sample(model.skeleton(), None, 0.0, &mut local);
            pose::one::local_to_model(model.skeleton(), &local, &mut posed);
            pose::one::palette(model.palette_joints(), model.inverse_binds(), &posed, &mut palette);
            for (entry, rows) in palette.iter().enumerate() {
                let off = rows.iter().zip(IDENTITY_ROWS).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(off < 1e-6, "{name}: entry {entry} is off by {off}");
            }
            let size = model.bounds().max - model.bounds().min;
            assert!((1.0..2.5).contains(&size.max_element()), "{name}: {size}");
        }
    }
}
