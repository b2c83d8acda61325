//! Binding: the joints of a point of the skin and their weights.

use super::body::Body;
use super::rig::{
    BALL, BodySide, CALF, CALF_TWIST, CLAVICLE, EYE, EYES, FINGER_COUNT, FINGERS, FOOT, HAND, HEAD,
    JAW, JOINTS, LOWERARM, LOWERARM_TWIST, Landmarks, NECK, PELVIS, Rig, SPINE, THIGH, THIGH_TWIST,
    UPPERARM, UPPERARM_TWIST,
};
use crate::curves::smooth_step;
use glam::{DVec3, dvec3};

/// Most influences of a vertex.
pub const MOST: usize = 4;

/// Border between two joints of a chain: the transition is within `half_width` metres of a plane.
struct Seam {
    /// The joint beyond the plane.
    joint: usize,
    point: DVec3,
    normal: DVec3,
    half_width: f64,
}

impl Seam {
    fn new(joint: usize, point: DVec3, normal: DVec3, half_width: f64) -> Self {
        Self {
            joint,
            point,
            normal: normal.normalize(),
            half_width,
        }
    }

    /// 0 before the plane, 1 beyond it.
    fn step(&self, p: DVec3) -> f64 {
        step((p - self.point).dot(self.normal), self.half_width)
    }
}

/// A smooth step from 0 at `-half_width` to 1 at `half_width`.
fn step(x: f64, half_width: f64) -> f64 {
    smooth_step(x / (2.0 * half_width) + 0.5)
}

/// Distributes `share` along a chain that starts with `first`.
fn deal(
    weights: &mut [f64; JOINTS],
    share: f64,
    first: usize,
    seams: &[Seam],
    p: DVec3,
    joint: impl Fn(usize) -> usize,
) {
    let mut rest = share;
    let mut holder = first;
    for seam in seams {
        let beyond = rest * seam.step(p);
        weights[joint(holder)] += rest - beyond;
        rest = beyond;
        holder = seam.joint;
    }
    weights[joint(holder)] += rest;
}

/// The planes between joints, left side.
pub struct Weights {
    trunk: Vec<Seam>,
    clavicle: Seam,
    shoulder: Seam,
    arm: Vec<Seam>,
    hip: Seam,
    leg: Vec<Seam>,
    fingers: [[Seam; 3]; FINGER_COUNT],
    finger_seam: f64,
}

impl Weights {
    /// Neighbouring fingers share skin over the width of their join.
    pub fn new(rig: &Rig, finger_join: f64) -> Self {
        let at: &Landmarks = &rig.landmarks;
        let position = |joint: usize| rig.joints[joint].position;
        let mut trunk = Vec::new();
        for joint in SPINE {
            let normal = position(joint + 1) - position(joint - 1);
            trunk.push(Seam::new(joint, position(joint), normal, 0.06));
        }
        for joint in NECK {
            let normal = dvec3(0.0, 0.93, 0.36);
            trunk.push(Seam::new(joint, position(joint), normal, 0.035));
        }
        let normal = dvec3(0.0, 0.82, 0.57);
        trunk.push(Seam::new(HEAD, position(HEAD), normal, 0.045));
        let upper = (at.elbow - at.shoulder).normalize();
        let lower = (at.wrist - at.elbow).normalize();
        let thigh = (at.knee - at.hip).normalize();
        let calf = (at.ankle - at.knee).normalize();
        let fingers = std::array::from_fn(|finger| {
            let points = at.fingers[finger].points;
            std::array::from_fn(|segment| {
                let forward = (points[segment + 1] - points[segment]).normalize();
                let mut backward = at.hand_axis;
                let mut half_width = if finger == 0 { 0.022 } else { 0.02 };
                if segment > 0 {
                    backward = (points[segment] - points[segment - 1]).normalize();
                    half_width = 0.012;
                }
                let joint = FINGERS + 3 * finger + segment;
                Seam::new(joint, points[segment], forward + backward, half_width)
            })
        });
        Self {
            trunk,
            clavicle: Seam::new(
                CLAVICLE,
                dvec3(0.085, 1.40, -0.02),
                dvec3(0.97, 0.24, 0.0),
                0.055,
            ),
            shoulder: Seam::new(
                UPPERARM_TWIST,
                at.shoulder + upper * 0.012,
                upper + DVec3::X * 0.5,
                0.06,
            ),
            arm: vec![
                Seam::new(UPPERARM, at.shoulder.lerp(at.elbow, 0.5), upper, 0.12),
                Seam::new(LOWERARM, at.elbow, upper + lower, 0.045),
                Seam::new(LOWERARM_TWIST, at.elbow.lerp(at.wrist, 0.55), lower, 0.1),
                Seam::new(HAND, at.wrist, lower, 0.035),
            ],
            hip: Seam::new(
                THIGH_TWIST,
                at.hip + dvec3(0.0, -0.015, 0.0),
                dvec3(0.42, -0.9, 0.12),
                0.07,
            ),
            leg: vec![
                Seam::new(THIGH, at.hip.lerp(at.knee, 0.52), thigh, 0.17),
                Seam::new(CALF, at.knee, thigh + calf, 0.06),
                Seam::new(CALF_TWIST, at.knee.lerp(at.ankle, 0.55), calf, 0.17),
                Seam::new(
                    FOOT,
                    at.ankle + dvec3(0.0, 0.012, 0.0),
                    dvec3(0.0, -0.85, 0.53),
                    0.04,
                ),
                Seam::new(BALL, at.ball, at.toe - at.ankle.with_y(at.ball.y), 0.045),
            ],
            fingers,
            finger_seam: (0.6 * finger_join).max(0.004),
        }
    }

    /// The joints of `p`, with weights that sum to one; unused places are 0.
    pub fn of(&self, p: DVec3, body: &Body) -> [(u16, f32); MOST] {
        let mut weights = [0.0; JOINTS];
        let side = if p.x >= 0.0 {
            BodySide::Left
        } else {
            BodySide::Right
        };
        let left = BodySide::left(p);

        // 0 on the trunk, 1 on the arm, half in the armpit.
        let arm_side = step(body.trunk(left) - body.arm(left) - 0.004, 0.055);
        let arm = self.shoulder.step(left) * arm_side;
        if arm > 0.0 {
            self.deal_arm(&mut weights, arm, left, body, side);
        }
        let mut rest = 1.0 - arm;
        for side in BodySide::BOTH {
            let left = side.point(p);
            let leg = (1.0 - arm) * self.hip.step(left) * step(left.x, 0.03);
            deal(&mut weights, leg, THIGH_TWIST, &self.leg, left, |joint| {
                side.leg(joint)
            });
            rest -= leg;
        }
        let below_neck = 1.0 - self.trunk[SPINE.len()].step(p);
        let clavicle = rest * 0.9 * self.clavicle.step(left) * step(p.y - 1.35, 0.08) * below_neck;
        weights[side.arm(CLAVICLE)] += clavicle;
        deal(
            &mut weights,
            rest - clavicle,
            PELVIS,
            &self.trunk,
            p,
            |joint| joint,
        );

        let head = weights[HEAD];
        let eye = step(0.022 - left.distance(EYE), 0.008);
        let jaw =
            step(1.597 - p.y + (p.z - 0.07) * 0.35, 0.03) * step(p.z - 0.035, 0.04) * (1.0 - eye);
        let eye_joint = EYES[side as usize];
        weights[eye_joint] += head * eye;
        weights[JAW] += head * jaw * 0.85;
        weights[HEAD] = head * (1.0 - eye - jaw * 0.85);
        largest(&weights)
    }

    fn deal_arm(
        &self,
        weights: &mut [f64; JOINTS],
        share: f64,
        p: DVec3,
        body: &Body,
        side: BodySide,
    ) {
        deal(weights, share, UPPERARM_TWIST, &self.arm, p, |joint| {
            side.arm(joint)
        });
        let hand = weights[side.arm(HAND)];
        if hand == 0.0 {
            return;
        }
        // A point belongs to the closest finger, with a narrow seam between neighbours.
        let distances: [f64; FINGER_COUNT] = std::array::from_fn(|finger| body.finger(finger, p));
        let mut near: [f64; FINGER_COUNT] = std::array::from_fn(|finger| {
            let others = (0..FINGER_COUNT).filter(|&other| other != finger);
            let closest = others
                .map(|other| distances[other])
                .fold(f64::INFINITY, f64::min);
            step(closest - distances[finger], self.finger_seam)
        });
        let all: f64 = near.iter().sum();
        // The other fingers end at their knuckles, but the thumb is beside the palm.
        near[0] *= step(body.palm(p) - distances[0] + 0.004, 0.012);
        for (seams, near) in self.fingers.iter().zip(near) {
            let share = hand * near / all * seams[0].step(p);
            weights[side.arm(HAND)] -= share;
            deal(weights, share, seams[0].joint, &seams[1..], p, |joint| {
                side.arm(joint)
            });
        }
    }
}

/// The [`MOST`] largest of the weights, minus the largest one left out so that they are continuous, and scaled to sum
/// to one; invisibly small weights are left out as well.
fn largest(weights: &[f64; JOINTS]) -> [(u16, f32); MOST] {
    const LEAST: f64 = 0.004;
    let mut order: [usize; JOINTS] = std::array::from_fn(|joint| joint);
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
    let dropped = weights[order[MOST]].max(LEAST);
    let kept: [f64; MOST] = std::array::from_fn(|i| (weights[order[i]] - dropped).max(0.0));
    let sum: f64 = kept.iter().sum();
    std::array::from_fn(|i| (order[i] as u16, (kept[i] / sum) as f32))
}
