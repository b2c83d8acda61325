//! The clips: planned footsteps with legs by inverse kinematics, and periodic motion of everything else.

use super::rig::{
    BALL, BodySide, CALF, CALF_TWIST, CLAVICLE, EYES, FINGER_COUNT, FINGERS, FOOT, HAND, HEAD,
    JOINTS, KNEE_POLE, LOWERARM, LOWERARM_TWIST, NECK, PELVIS, Rig, SPINE, THIGH, THIGH_TWIST,
    UPPERARM, UPPERARM_TWIST, two_bone,
};
use crate::curves::{rotation, smooth_step};
use glam::{DMat3, DQuat, DVec3, dvec3};
use skinbench_kernels::error::Result;
use skinbench_kernels::model::{Channel, Clip, Keys, RotationBlend};
use std::f64::consts::TAU;

/// Ground speed of the clip `walk`, metres per second. It walks on the spot; the ground moves towards -Z.
const WALK_SPEED: f64 = 1.3;
/// Ground speed of the clip `run`, metres per second.
const RUN_SPEED: f64 = 3.0;

/// Keys per second.
const KEY_RATE: u32 = 30;

/// A rotation by `degrees` about a unit axis.
fn turn(axis: DVec3, degrees: f64) -> DQuat {
    rotation(axis, degrees.to_radians())
}

/// A wave with period 1 that is 1 at `peak`.
fn wave(phase: f64, peak: f64) -> f64 {
    libm::cos(TAU * (phase - peak))
}

/// The rotation by half of `q`'s twist about `axis`.
fn half_twist(q: DQuat, axis: DVec3) -> DQuat {
    let v = axis * DVec3::new(q.x, q.y, q.z).dot(axis);
    let twist = DQuat::from_xyzw(v.x, v.y, v.z, q.w).normalize();
    let twist = if twist.w < 0.0 { -twist } else { twist };
    DQuat::from_xyzw(twist.x, twist.y, twist.z, twist.w + 1.0).normalize()
}

/// Rotations of joints relative to the rest pose, in the model's axes at rest.
struct KeyPose<'a> {
    rig: &'a Rig,
    deltas: [DQuat; JOINTS],
    pelvis_offset: DVec3,
}

/// Position and rotation of a foot, relative to the rest pose.
struct FootPlan {
    /// Ankle of the left foot; the right foot is mirrored.
    ankle: DVec3,
    /// Degrees, toes down.
    pitch: f64,
    /// Degrees that the toes bend up from the foot.
    toes_up: f64,
}

/// Pose of an arm that hangs or swings; degrees.
struct ArmPlan {
    /// Rotation of the upper arm backward (negative: forward).
    swing: f64,
    /// Rotation outward from the body's side, relative to the rest pose.
    spread: f64,
    /// Flexion of the elbow.
    flex: f64,
    /// Outward rotation of the upper arm about its own axis.
    outward: f64,
    /// Flexion of the knuckles; the other joints of a finger follow.
    curl: f64,
}

/// Spread that brings the rest pose's arms down to the sides.
const HANGING: f64 = -27.0;

impl<'a> KeyPose<'a> {
    fn rest(rig: &'a Rig) -> Self {
        Self {
            rig,
            deltas: [DQuat::IDENTITY; JOINTS],
            pelvis_offset: DVec3::ZERO,
        }
    }

    /// Distributes a rotation of the chest relative to the pelvis over the spine, and undoes it in neck and head, so
    /// that the gaze stays ahead.
    fn spine(&mut self, pitch: f64, yaw: f64, roll: f64, head: DQuat) {
        let share = 1.0 / SPINE.len() as f64;
        let mut chest = self.deltas[PELVIS];
        for joint in SPINE {
            self.deltas[joint] = turn(DVec3::Y, yaw * share)
                * turn(DVec3::Z, roll * share)
                * turn(DVec3::X, pitch * share);
            chest *= self.deltas[joint];
        }
        // A third each (accurate enough at such angles) for the two neck joints and the head.
        let back = chest.conjugate();
        let third = DQuat::from_xyzw(back.x, back.y, back.z, back.w * 3.0).normalize();
        for joint in NECK {
            self.deltas[joint] = third;
        }
        self.deltas[HEAD] = (chest * third * third).conjugate() * head;
        // Eyes look ahead while the head moves.
        for eye in EYES {
            self.deltas[eye] = head.conjugate();
        }
    }

    fn arm(&mut self, side: BodySide, plan: ArmPlan) {
        let at = &self.rig.landmarks;
        let upper = (at.elbow - at.shoulder).normalize();
        let lower = (at.wrist - at.elbow).normalize();
        let hinge = turn(DVec3::Z, -HANGING) * DVec3::X;
        let hinge = (hinge - upper * hinge.dot(upper)).normalize();
        let shoulder =
            turn(DVec3::X, plan.swing) * turn(DVec3::Z, plan.spread) * turn(upper, -plan.outward);
        let unwind = half_twist(shoulder, upper).conjugate();
        // The forearm rotates inwards a little as the elbow bends, thumb up.
        let hand = turn(lower, plan.flex * 0.12) * turn(at.fingers[2].curl_axis, 4.0);
        for (joint, delta) in [
            (UPPERARM, shoulder),
            (UPPERARM_TWIST, unwind),
            (LOWERARM, turn(hinge, -plan.flex)),
            (LOWERARM_TWIST, half_twist(hand, lower)),
            (HAND, hand),
        ] {
            self.deltas[side.arm(joint)] = side.rotation(delta);
        }
        for finger in 0..FINGER_COUNT {
            // The thumb curls less, the little finger most.
            let curl = plan.curl * [0.45, 0.9, 1.0, 1.1, 1.2][finger];
            for (segment, share) in [1.0, 1.25, 0.7].into_iter().enumerate() {
                let delta = turn(at.fingers[finger].curl_axis, curl * share);
                self.deltas[side.arm(FINGERS + 3 * finger + segment)] = side.rotation(delta);
            }
        }
    }

    /// Bends a leg so that the foot reaches its position; the pelvis must be set.
    fn leg(&mut self, side: BodySide, plan: FootPlan) {
        let at = &self.rig.landmarks;
        let pelvis = self.rig.joints[PELVIS].position;
        let turned = self.deltas[PELVIS];
        let hip_at_rest = side.point(at.hip);
        let hip = pelvis + self.pelvis_offset + turned * (hip_at_rest - pelvis);
        let pole = side.point(KNEE_POLE);
        let upper = at.knee - at.hip;
        let lower = at.ankle - at.knee;
        let ankle = side.point(plan.ankle);
        let limb = two_bone(hip, ankle, upper.length(), lower.length(), pole);
        let knee = limb.middle;
        let rest_hinge = (side.point(at.ankle) - hip_at_rest).cross(pole).normalize();
        // The rotation from a segment at rest to its new direction that keeps the hinge a hinge.
        let aim = |rest: DVec3, now: DVec3| {
            DQuat::from_mat3(&(frame(now, limb.axis) * frame(rest, rest_hinge).transpose()))
        };
        let upper = side.point(upper);
        let lower = side.point(lower);
        let thigh = aim(upper, knee - hip);
        let calf = aim(lower, ankle - knee);
        let thigh_delta = turned.conjugate() * thigh;
        let foot_delta = calf.conjugate() * turn(DVec3::X, plan.pitch);
        for (joint, delta) in [
            (THIGH, thigh_delta),
            (
                THIGH_TWIST,
                half_twist(thigh_delta, upper.normalize()).conjugate(),
            ),
            (CALF, thigh.conjugate() * calf),
            (CALF_TWIST, half_twist(foot_delta, lower.normalize())),
            (FOOT, foot_delta),
            (BALL, turn(DVec3::X, -plan.toes_up)),
        ] {
            self.deltas[side.leg(joint)] = delta;
        }
    }
}

/// Axes with the first along a segment and the second along its hinge.
fn frame(direction: DVec3, hinge: DVec3) -> DMat3 {
    let direction = direction.normalize();
    DMat3::from_cols(direction, hinge, direction.cross(hinge))
}

/// Position of the left foot at a moment of its cycle.
#[derive(Clone, Copy)]
struct FootKey {
    phase: f64,
    /// Degrees that the toes point down, height of the ankle, and metres by which it is ahead of the pelvis.
    foot: DVec3,
}

/// A moment of the swing: degrees that the toes point down, height of the ankle above the ground, and metres by which it is
/// ahead of the pelvis.
const fn swing(phase: f64, pitch: f64, height: f64, ahead: f64) -> FootKey {
    FootKey {
        phase,
        foot: dvec3(pitch, height, ahead),
    }
}

/// A cycle of two steps. Phase 0 is the strike of the left heel; the right leg is half a cycle later.
struct Gait {
    /// Keys per cycle.
    frames: u32,
    /// Ground speed in metres per second.
    speed: f64,
    /// Fraction of the cycle for which a foot is on the ground.
    stance: f64,
    /// Position of the foot at the strike: metres ahead of its rest pose, and degrees that the toes point up.
    strike_ahead: f64,
    strike_pitch: f64,
    /// Phases at which the foot is flat and at which the heel leaves the ground.
    flat: f64,
    heel_off: f64,
    /// Degrees of the heel above the ground when the toes leave it.
    toe_off_pitch: f64,
    /// Poses between toe-off and strike.
    swing: [FootKey; 4],
    /// Metres by which feet are closer to the middle than at rest.
    narrow: f64,
    pelvis: PelvisPlan,
    /// Forward lean of the trunk, degrees.
    lean: f64,
    /// Rotation of the chest relative to the pelvis, degrees.
    chest_yaw: f64,
    arm_swing: f64,
    arm_swing_middle: f64,
    /// Outward rotation from hanging.
    arm_spread: f64,
    elbow: f64,
    elbow_swing: f64,
    curl: f64,
}

/// Motion of the pelvis in metres and degrees. The vertical motion has two waves per cycle.
struct PelvisPlan {
    height: f64,
    bob: f64,
    highest: f64,
    sway: f64,
    yaw: f64,
    list: f64,
}

impl Gait {
    fn duration(&self) -> f64 {
        f64::from(self.frames) / f64::from(KEY_RATE)
    }

    /// The left foot's pose at a phase of its own cycle.
    fn foot(&self, rig: &Rig, phase: f64) -> FootPlan {
        let phase = phase - phase.floor();
        if phase <= self.stance {
            return self.foot_on_ground(rig, phase);
        }
        const STEP: f64 = 1e-4;
        let strike = self.key_on_ground(rig, 0.0);
        let toe_off = self.key_on_ground(rig, self.stance);
        let mut keys = vec![toe_off];
        keys.extend(self.swing);
        keys.push(FootKey {
            phase: 1.0,
            ..strike
        });
        let last = keys.len() - 1;
        // At the ends the slope is that of the ground's motion.
        let before = self.key_on_ground(rig, self.stance - STEP);
        let after = self.key_on_ground(rig, STEP);
        let mut slopes = vec![(toe_off.foot - before.foot) / STEP];
        for [before, _, after] in keys.array_windows() {
            slopes.push((after.foot - before.foot) / (after.phase - before.phase));
        }
        slopes.push((after.foot - strike.foot) / STEP);
        let i = (1..last).find(|&i| phase < keys[i].phase).unwrap_or(last) - 1;
        let [start, end] = [keys[i], keys[i + 1]];
        let width = end.phase - start.phase;
        let t = (phase - start.phase) / width;
        let t2 = t * t;
        let t3 = t * t * t;
        // Hermite interpolation.
        let foot = start.foot * (2.0 * t3 - 3.0 * t2 + 1.0)
            + slopes[i] * width * (t3 - 2.0 * t2 + t)
            + end.foot * (3.0 * t2 - 2.0 * t3)
            + slopes[i + 1] * width * (t3 - t2);
        let relaxed = smooth_step((phase - self.stance) / (0.5 * (1.0 - self.stance)));
        FootPlan {
            ankle: foot.with_x(rig.landmarks.ankle.x - self.narrow),
            pitch: foot.x,
            toes_up: self.toe_off_pitch * (1.0 - relaxed),
        }
    }

    fn key_on_ground(&self, rig: &Rig, phase: f64) -> FootKey {
        let plan = self.foot_on_ground(rig, phase);
        FootKey {
            phase,
            foot: plan.ankle.with_x(plan.pitch),
        }
    }

    /// The foot rolls over the heel, is flat, then rolls over the ball while the toes stay flat.
    fn foot_on_ground(&self, rig: &Rig, phase: f64) -> FootPlan {
        let at = &rig.landmarks;
        let ahead = self.strike_ahead - self.speed * self.duration() * phase;
        let moved = dvec3(-self.narrow, 0.0, ahead);
        let before_flat = 1.0 - phase / self.flat;
        let after_flat = ((phase - self.heel_off) / (self.stance - self.heel_off)).max(0.0);
        let mut pivot = at.ball;
        let mut pitch = self.toe_off_pitch * after_flat * after_flat;
        if before_flat > 0.0 {
            pivot = at.heel;
            pitch = -self.strike_pitch * before_flat * before_flat;
        }
        FootPlan {
            ankle: pivot + moved + turn(DVec3::X, pitch) * (at.ankle - pivot),
            pitch,
            toes_up: pitch.max(0.0),
        }
    }

    fn pose<'a>(&self, rig: &'a Rig, phase: f64) -> KeyPose<'a> {
        let mut pose = KeyPose::rest(rig);
        let plan = &self.pelvis;
        let stance_middle = self.stance * 0.5;
        let bob = wave(2.0 * phase, 2.0 * plan.highest);
        pose.pelvis_offset = dvec3(
            plan.sway * wave(phase, stance_middle),
            plan.height + plan.bob * bob,
            0.0,
        );
        let pelvis = turn(DVec3::Y, -plan.yaw * wave(phase, 0.0))
            * turn(DVec3::Z, plan.list * wave(phase, stance_middle * 0.6))
            * turn(DVec3::X, self.lean * 0.4);
        pose.deltas[PELVIS] = pelvis;
        pose.spine(
            self.lean * 0.6 + 0.8 * bob,
            self.chest_yaw * wave(phase, 0.02),
            -plan.list * 1.1 * wave(phase, stance_middle * 0.6),
            turn(DVec3::X, self.lean * 0.15 - 0.6 * bob) * turn(DVec3::Y, 0.8 * wave(phase, 0.05)),
        );
        for (side, phase) in BodySide::BOTH.into_iter().zip([phase, phase + 0.5]) {
            // The arm swings back while its leg swings forward.
            let back = wave(phase, 0.03);
            pose.deltas[side.arm(CLAVICLE)] = side.rotation(turn(DVec3::Y, 2.5 * back));
            let arm = ArmPlan {
                swing: self.arm_swing_middle + self.arm_swing * back,
                spread: HANGING + self.arm_spread,
                flex: self.elbow - self.elbow_swing * wave(phase, 0.08),
                // Hands swing in front of the body, but beside the hip.
                outward: self.elbow * (0.14 * back - 0.12),
                curl: self.curl + 2.0 * back,
            };
            pose.arm(side, arm);
            pose.leg(side, self.foot(rig, phase));
        }
        pose
    }
}

/// Adult walking at 1.3 m/s: 112 steps a minute, 60 % stance, after Perry, Gait Analysis (1992).
const WALK: Gait = Gait {
    frames: 32,
    speed: WALK_SPEED,
    stance: 0.60,
    strike_ahead: 0.325,
    strike_pitch: 20.0,
    flat: 0.10,
    heel_off: 0.30,
    toe_off_pitch: 60.0,
    swing: [
        swing(0.68, 62.0, 0.205, -0.37),
        swing(0.77, 26.0, 0.185, -0.08),
        swing(0.86, -4.0, 0.122, 0.18),
        swing(0.95, -20.0, 0.112, 0.315),
    ],
    narrow: 0.038,
    pelvis: PelvisPlan {
        height: -0.030,
        bob: 0.016,
        highest: 0.30,
        sway: 0.020,
        yaw: 5.0,
        list: 3.0,
    },
    lean: 3.5,
    chest_yaw: 10.0,
    arm_swing: 19.0,
    arm_swing_middle: -2.0,
    arm_spread: 1.0,
    elbow: 20.0,
    elbow_swing: 10.0,
    curl: 17.0,
};

/// An easy run: 164 steps a minute, 36 % stance, so that both feet are off the ground twice per cycle for 14 % of it;
/// after Novacheck, The biomechanics of running (1998).
const RUN: Gait = Gait {
    frames: 22,
    speed: RUN_SPEED,
    stance: 0.36,
    strike_ahead: 0.275,
    strike_pitch: 9.0,
    flat: 0.07,
    heel_off: 0.15,
    toe_off_pitch: 62.0,
    swing: [
        swing(0.48, 92.0, 0.36, -0.50),
        swing(0.64, 62.0, 0.43, -0.14),
        swing(0.80, 8.0, 0.26, 0.27),
        swing(0.93, -12.0, 0.135, 0.36),
    ],
    narrow: 0.060,
    pelvis: PelvisPlan {
        height: -0.050,
        bob: 0.032,
        highest: 0.43,
        sway: 0.010,
        yaw: 7.0,
        list: 4.0,
    },
    lean: 10.0,
    chest_yaw: 17.0,
    arm_swing: 34.0,
    arm_swing_middle: 8.0,
    arm_spread: 6.0,
    elbow: 88.0,
    elbow_swing: 14.0,
    curl: 38.0,
};

/// Standing, breathing, shifting weight a little.
fn idle(rig: &Rig, phase: f64) -> KeyPose<'_> {
    let mut pose = KeyPose::rest(rig);
    let breath = wave(phase, 0.4);
    let shift = wave(phase, 0.15);
    pose.pelvis_offset = dvec3(0.012 * shift, -0.005 + 0.001 * breath, 0.0);
    pose.deltas[PELVIS] = turn(DVec3::Z, 0.7 * shift) * turn(DVec3::Y, 0.8 * wave(phase, 0.3));
    let head =
        turn(DVec3::Y, 2.5 * wave(phase, 0.6)) * turn(DVec3::X, 1.5 + 0.8 * wave(phase, 0.75));
    pose.spine(1.0 - 1.2 * breath, -0.5 * wave(phase, 0.3), -shift, head);
    for (side, sign) in BodySide::BOTH.into_iter().zip([1.0, -1.0]) {
        pose.deltas[side.arm(CLAVICLE)] = side.rotation(turn(DVec3::Z, 0.9 * breath));
        let arm = ArmPlan {
            swing: -1.0 + 0.8 * wave(phase, 0.5) * sign,
            spread: HANGING + 1.5 + 0.6 * breath,
            flex: 13.0 + 1.5 * breath,
            outward: -6.0,
            curl: 16.0 + 1.5 * shift * sign,
        };
        pose.arm(side, arm);
        let foot = FootPlan {
            ankle: rig.landmarks.ankle,
            pitch: 0.0,
            toes_up: 0.0,
        };
        pose.leg(side, foot);
    }
    pose
}

/// The right arm held up, waving twice.
fn wave_hand(rig: &Rig, phase: f64) -> KeyPose<'_> {
    let mut pose = KeyPose::rest(rig);
    let side = BodySide::Right;
    let beat = wave(2.0 * phase, 0.0);
    pose.spine(
        0.0,
        -1.5 + 0.5 * beat,
        3.0 + 0.8 * beat,
        turn(DVec3::Z, 3.0 + beat) * turn(DVec3::Y, -5.0),
    );
    pose.deltas[side.arm(CLAVICLE)] = side.rotation(turn(DVec3::Z, 14.0));
    let arm = ArmPlan {
        swing: 0.0,
        spread: 42.0,
        flex: 92.0 + 20.0 * beat,
        outward: 78.0 + 4.0 * beat,
        curl: 3.0,
    };
    pose.arm(side, arm);
    pose
}

/// All clips of the walker.
pub fn clips(rig: &Rig) -> Result<Vec<Clip>> {
    Ok(vec![
        clip(rig, "idle", 120, |phase| idle(rig, phase))?,
        clip(rig, "walk", WALK.frames, |phase| WALK.pose(rig, phase))?,
        clip(rig, "run", RUN.frames, |phase| RUN.pose(rig, phase))?,
        clip(rig, "wave", 48, |phase| wave_hand(rig, phase))?,
    ])
}

/// Keys of one cycle of `pose`, the last a copy of the first; joints that stay in the rest pose have no track.
fn clip<'a>(
    rig: &'a Rig,
    name: &str,
    frames: u32,
    pose: impl Fn(f64) -> KeyPose<'a>,
) -> Result<Clip> {
    let mut poses = Vec::new();
    let mut times = Vec::new();
    for frame in 0..=frames {
        poses.push(pose(f64::from(frame % frames) / f64::from(frames)));
        times.push((f64::from(frame) / f64::from(KEY_RATE)) as f32);
    }
    let mut keys = Vec::new();
    for joint in 0..JOINTS {
        if poses
            .iter()
            .any(|pose| pose.deltas[joint] != DQuat::IDENTITY)
        {
            let mut values = Vec::new();
            for pose in &poses {
                let rotation = rig.local_rotation(joint, pose.deltas[joint]);
                values.extend(rotation.as_quat().to_array());
            }
            let times = times.clone();
            keys.push(Keys::linear(joint as u16, Channel::Rotation, times, values));
        }
    }
    if poses.iter().any(|pose| pose.pelvis_offset != DVec3::ZERO) {
        let mut values = Vec::new();
        for pose in &poses {
            let translation = rig.local_translation(PELVIS, pose.pelvis_offset);
            values.extend(translation.as_vec3().to_array());
        }
        let pelvis = PELVIS as u16;
        keys.push(Keys::linear(pelvis, Channel::Translation, times, values));
    }
    Clip::new(name, None, RotationBlend::Slerp, keys)
}

#[cfg(test)]
mod tests {
    use super::super::walker_tests::{FEW, model};
    use super::*;
    use glam::DAffine3;
    use skinbench_kernels::model::{Model, NO_PARENT};

    fn find<'a>(model: &'a Model, name: &str) -> &'a Clip {
        model
            .clips()
            .iter()
            .find(|clip| clip.name() == name)
            .unwrap()
    }

    /// Joint to model space at a time within the clip, interpolated between keys as a player would.
    fn model_pose(model: &Model, clip: &Clip, time: f64) -> Vec<DAffine3> {
        let rest = model.skeleton().rest();
        let mut rotations: Vec<DQuat> = rest.iter().map(|rest| rest.rotation.as_dquat()).collect();
        let mut translations: Vec<DVec3> = rest
            .iter()
            .map(|rest| rest.translation.as_dvec3())
            .collect();
        let raw = clip.keys().raw().unwrap();
        for track in raw.tracks() {
            let times = raw.times_of(track);
            let key = times
                .partition_point(|&t| f64::from(t) <= time)
                .clamp(1, times.len() - 1)
                - 1;
            let [from, to] = [times[key], times[key + 1]].map(f64::from);
            let t = (time - from) / (to - from);
            let width = track.channel.width();
            let value = |key: usize| {
                raw.values_of(track)[key * width..][..width]
                    .iter()
                    .map(|&v| f64::from(v))
                    .collect::<Vec<_>>()
            };
            let (a, b) = (value(key), value(key + 1));
            match track.channel {
                Channel::Rotation => {
                    rotations[usize::from(track.joint)] =
                        DQuat::from_slice(&a).slerp(DQuat::from_slice(&b), t);
                }
                Channel::Translation => {
                    translations[usize::from(track.joint)] =
                        DVec3::from_slice(&a).lerp(DVec3::from_slice(&b), t);
                }
                Channel::Scale => panic!("no clip scales"),
            }
        }
        let mut pose: Vec<DAffine3> = Vec::new();
        for (joint, &parent) in model.skeleton().parents().iter().enumerate() {
            let local = DAffine3::from_rotation_translation(rotations[joint], translations[joint]);
            pose.push(if parent == NO_PARENT {
                local
            } else {
                pose[usize::from(parent)] * local
            });
        }
        pose
    }

    /// Poses at four times per key interval, with their phases.
    fn poses(model: &Model, clip: &Clip) -> Vec<(f64, Vec<DAffine3>)> {
        let count = 4 * (clip.keys().raw().unwrap().timelines().all().len() as u32 - 1);
        let phases = (0..=count).map(|i| f64::from(i) / f64::from(count));
        phases
            .map(|phase| {
                (
                    phase,
                    model_pose(model, clip, phase * f64::from(clip.duration())),
                )
            })
            .collect()
    }

    /// A point of the model at rest, moved by a joint.
    fn carried(model: &Model, pose: &[DAffine3], joint: usize, point: DVec3) -> DVec3 {
        pose[joint].transform_point3(
            model.skeleton().rest_model_pose()[joint]
                .inverse()
                .transform_point3(point),
        )
    }

    #[test]
    fn clips_loop() {
        let model = model(FEW);
        let names: Vec<_> = model.clips().iter().map(Clip::name).collect();
        assert_eq!(names, ["idle", "walk", "run", "wave"]);
        for clip in model.clips() {
            let raw = clip.keys().raw().unwrap();
            for track in raw.tracks() {
                assert_eq!(raw.times_of(track).first(), Some(&0.0));
                assert_eq!(raw.times_of(track).last(), Some(&clip.duration()));
                let values = raw.values_of(track);
                let (width, keys) = (track.channel.width(), raw.times_of(track).len());
                let (first, last) = (&values[..width], &values[(keys - 1) * width..keys * width]);
                // A rotation after a full turn is negated.
                let same = first == last || first.iter().zip(last).all(|(a, b)| *a == -b);
                assert!(
                    same,
                    "{}: joint {} jumps from {last:?} to {first:?}",
                    clip.name(),
                    track.joint
                );
            }
        }
    }

    #[test]
    fn feet_on_the_ground_do_not_slide() {
        let model = model(FEW);
        let rig = Rig::new();
        let at = &rig.landmarks;
        for (name, gait) in [("walk", &WALK), ("run", &RUN)] {
            let clip = find(model, name);
            let duration = f64::from(clip.duration());
            assert!((duration - gait.duration()).abs() < 1e-6);
            for (side, start) in BodySide::BOTH.into_iter().zip([0.0, 0.5]) {
                // Part of the foot on the ground: the heel until it leaves, the ball's joint once it is down.
                for (joint, point, from, until) in [
                    (side.leg(FOOT), at.heel, 0.0, gait.heel_off),
                    (side.leg(BALL), at.ball, gait.flat, gait.stance),
                ] {
                    let mut reach = [DVec3::INFINITY, DVec3::NEG_INFINITY];
                    for (phase, pose) in poses(model, clip) {
                        let phase = (phase + start).fract();
                        if (from..=until).contains(&phase) {
                            let p = carried(model, &pose, joint, side.point(point));
                            let on_ground = p + DVec3::Z * gait.speed * duration * phase;
                            reach = [reach[0].min(on_ground), reach[1].max(on_ground)];
                        }
                    }
                    let slide = reach[1] - reach[0];
                    assert!(
                        slide.max_element() < 0.01,
                        "{name}, {side:?}: {slide} m while {from} <= phase <= {until}"
                    );
                }
            }
        }
    }

    /// Height of the lowest vertex of each foot.
    fn soles(model: &Model, pose: &[DAffine3]) -> [f64; 2] {
        let binds = model.skeleton().rest_model_pose();
        let mesh = model.mesh();
        let mut lowest = [f64::INFINITY; 2];
        for vertex in 0..mesh.vertex_count() {
            let p = DVec3::from(mesh.positions()[vertex].map(f64::from));
            if p.y > 0.12 || p.x.abs() > 0.3 {
                continue;
            }
            let skinned: DVec3 = mesh
                .influences_of(vertex)
                .map(|(joint, weight)| {
                    let joint = usize::from(joint);
                    f64::from(weight) * (pose[joint] * binds[joint].inverse()).transform_point3(p)
                })
                .sum();
            let side = usize::from(p.x < 0.0);
            lowest[side] = lowest[side].min(skinned.y);
        }
        lowest
    }

    #[test]
    fn feet_touch_the_ground_and_do_not_sink() {
        let model = model(FEW);
        for (name, stance) in [("idle", 1.0), ("walk", WALK.stance), ("run", RUN.stance)] {
            let mut both_up = 0;
            for (phase, pose) in poses(model, find(model, name)) {
                let soles = soles(model, &pose);
                both_up += usize::from(soles.iter().all(|&sole| sole > 0.02));
                for (sole, start) in soles.into_iter().zip([0.0, 0.5]) {
                    assert!(
                        sole > -0.01,
                        "{name}: a foot {sole} m deep at phase {phase}"
                    );
                    if (phase + start).fract() < stance {
                        assert!(
                            sole < 0.01,
                            "{name}: a foot floats {sole} m up at phase {phase}"
                        );
                    }
                }
            }
            assert_eq!(
                both_up > 0,
                name == "run",
                "{name}: both feet off the ground {both_up} times"
            );
        }
    }

    #[test]
    fn idle_feet_stay_put() {
        let model = model(FEW);
        let rest = model.skeleton().rest_model_pose();
        for (_, pose) in poses(model, find(model, "idle")) {
            for joint in BodySide::BOTH.map(|side| side.leg(BALL)) {
                assert!(pose[joint].translation.distance(rest[joint].translation) < 0.002);
            }
        }
    }

    #[test]
    fn knees_bend_forwards() {
        let model = model(FEW);
        let mut most = 0.0f64;
        for clip in ["idle", "walk", "run"].map(|name| find(model, name)) {
            for (phase, pose) in poses(model, clip) {
                for side in BodySide::BOTH {
                    let [hip, knee, ankle] =
                        [THIGH, CALF, FOOT].map(|joint| pose[side.leg(joint)].translation);
                    let bend = (knee - hip).cross(ankle - knee).x
                        / ((knee - hip).length() * (ankle - knee).length());
                    assert!(
                        bend > 0.0,
                        "{}: the {side:?} knee bends backwards at phase {phase}",
                        clip.name()
                    );
                    most = most.max(bend);
                }
            }
        }
        assert!(most > 0.8, "no knee bends as far as running needs");
    }

    #[test]
    fn waving_leaves_the_legs_alone() {
        let model = model(FEW);
        let tracks = find(model, "wave").keys().raw().unwrap().tracks();
        let rest = BodySide::Left.arm(CLAVICLE)..BodySide::Right.arm(CLAVICLE);
        for track in tracks {
            let joint = usize::from(track.joint);
            assert!(
                track.channel == Channel::Rotation
                    && joint > PELVIS
                    && joint < BodySide::Left.leg(THIGH)
            );
            assert!(!rest.contains(&joint), "the left arm waves too");
        }
        assert!(
            tracks
                .iter()
                .any(|track| usize::from(track.joint) == BodySide::Right.arm(LOWERARM))
        );
    }
}
