//! The body as a signed distance field: round cones, smoothly joined.

use super::rig::{BodySide, EYE, FINGER_COUNT, Landmarks};
use glam::{DVec3, dvec3};

/// A sphere swept along a segment while its radius changes linearly.
///
/// The exact distance, after Inigo Quilez's `sdRoundCone`.
struct RoundCone {
    start: DVec3,
    axis: DVec3,
    radii: [f64; 2],
    length_squared: f64,
    taper: f64,
    slant_squared: f64,
    bound: Sphere,
}

impl RoundCone {
    fn new(start: DVec3, end: DVec3, r0: f64, r1: f64) -> Self {
        let axis = end - start;
        let length_squared = axis.length_squared();
        let taper = r0 - r1;
        debug_assert!(
            length_squared > taper * taper,
            "one end sphere swallows the other"
        );
        let bound = Sphere {
            centre: start.midpoint(end),
            radius: 0.5 * length_squared.sqrt() + r0.max(r1),
        };
        let slant_squared = length_squared - taper * taper;
        Self {
            start,
            axis,
            radii: [r0, r1],
            length_squared,
            taper,
            slant_squared,
            bound,
        }
    }

    fn distance(&self, p: DVec3) -> f64 {
        let from_start = p - self.start;
        let y = from_start.dot(self.axis);
        let z = y - self.length_squared;
        let x2 = (from_start * self.length_squared - self.axis * y).length_squared();
        let y2 = y * y * self.length_squared;
        let z2 = z * z * self.length_squared;
        let k = self.taper.signum() * self.taper * self.taper * x2;
        if z.signum() * self.slant_squared * z2 > k {
            (x2 + z2).sqrt() / self.length_squared - self.radii[1]
        } else if y.signum() * self.slant_squared * y2 < k {
            (x2 + y2).sqrt() / self.length_squared - self.radii[0]
        } else {
            ((x2 * self.slant_squared / self.length_squared).sqrt() + y * self.taper)
                / self.length_squared
                - self.radii[0]
        }
    }
}

/// The smaller of two distances, rounded over `k` metres; exactly the smaller if they differ by more.
fn smooth_min(a: f64, b: f64, k: f64) -> f64 {
    let h = (k - (a - b).abs()).max(0.0);
    a.min(b) - h * h / (4.0 * k)
}

fn smooth_max(a: f64, b: f64, k: f64) -> f64 {
    -smooth_min(-a, -b, k)
}

/// Round cones joined with one radius of blending.
struct Blend {
    cones: Vec<RoundCone>,
    k: f64,
}

impl Blend {
    /// The blend over `k` metres of these cones: start, end, and the radius at each.
    fn new(k: f64, cones: &[(DVec3, DVec3, f64, f64)]) -> Self {
        let mut blend = Self {
            cones: Vec::new(),
            k,
        };
        for &(start, end, r0, r1) in cones {
            blend.cones.push(RoundCone::new(start, end, r0, r1));
        }
        blend
    }

    /// Joins the cones to a surface that is `distance` away. Cones that are farther by the radius of blending change
    /// nothing, and most of them are.
    fn join(&self, mut distance: f64, p: DVec3) -> f64 {
        for cone in &self.cones {
            if !cone.bound.beyond(p, distance + self.k) {
                distance = smooth_min(distance, cone.distance(p), self.k);
            }
        }
        distance
    }

    fn distance(&self, p: DVec3) -> f64 {
        self.join(f64::INFINITY, p)
    }
}

/// A horizontal cross-section, wider than deep: a round bar from side to side.
fn bar(half: f64, y: f64, z: f64, radius: f64) -> (DVec3, DVec3, f64, f64) {
    (dvec3(-half, y, z), dvec3(half, y, z), radius, radius)
}

/// The bone between the wrist and the knuckle of a finger.
fn metacarpal(
    at: &Landmarks,
    finger: usize,
    spread: f64,
    r0: f64,
    r1: f64,
) -> (DVec3, DVec3, f64, f64) {
    let knuckle = at.fingers[finger].points[0];
    let middle = at.fingers[2].points[0];
    let start = at.wrist.lerp(knuckle, 0.12) + (knuckle - middle) * spread;
    (start, knuckle, r0, r1)
}

/// Bounding sphere of a part of the body, which is not evaluated from afar.
struct Sphere {
    centre: DVec3,
    radius: f64,
}

impl Sphere {
    /// Returns whether everything inside is farther from `p` than `reach`.
    fn beyond(&self, p: DVec3, reach: f64) -> bool {
        let reach = reach + self.radius;
        reach < 0.0 || p.distance_squared(self.centre) > reach * reach
    }
}

/// The signed distance field: negative inside, in metres, with a slope of at most one.
///
/// Only left limbs are stored; the right ones are evaluated at the mirrored point.
pub struct Body {
    trunk: Blend,
    trunk_sides: Blend,
    skull: Blend,
    face: Blend,
    face_sides: Blend,
    hair: Blend,
    head_bound: Sphere,
    arm: Blend,
    palm: Blend,
    fingers: [Blend; FINGER_COUNT],
    /// Radius over which fingers are joined, in metres.
    pub finger_join: f64,
    hand_bound: Sphere,
    arm_bound: Sphere,
    leg: Blend,
    shoe: Blend,
}

/// Radius of blending between arm and trunk, and leg and trunk, in metres.
const ARM_JOIN: f64 = 0.035;
const LEG_JOIN: f64 = 0.06;
const THIGH_JOIN: f64 = 0.012;
const HEAD_JOIN: f64 = 0.03;
/// All but the arms is no farther from the middle plane, and all but the legs no closer to the ground, in metres: what
/// cones reach, and 0.1 by which blending swells them at most.
const WITHOUT_ARMS: f64 = 0.32;
const WITHOUT_LEGS: f64 = 0.66;

impl Body {
    /// `web` is the radius over which fingers are joined, in metres: a mesh too coarse to separate them needs a mitten.
    pub fn new(at: &Landmarks, web: f64) -> Self {
        let v = dvec3;
        let upper = |t: f64| at.shoulder.lerp(at.elbow, t);
        let lower = |t: f64| at.elbow.lerp(at.wrist, t);
        let thigh = |t: f64| at.hip.lerp(at.knee, t);
        let calf = |t: f64| at.knee.lerp(at.ankle, t);
        let finger_join = web.max(0.0015);
        // Fingers thinner than a cell would disappear.
        let padding = (web - 0.0075).max(0.0) * 0.3;
        let fingers = at.fingers.map(|finger| {
            let p = finger.points;
            let r = finger.radii.map(|r| r + padding);
            let end = p[3] - (p[3] - p[2]).normalize() * r[3];
            Blend::new(
                0.003,
                &[
                    (p[0], p[1], r[0], r[1]),
                    (p[1], p[2], r[1], r[2]),
                    (p[2], end, r[2], r[3]),
                ],
            )
        });
        let palm_centre = at.wrist + at.hand_axis * 0.04;
        Self {
            trunk: Blend::new(
                0.07,
                &[
                    bar(0.062, 0.945, -0.010, 0.098),
                    bar(0.058, 1.035, -0.004, 0.082),
                    bar(0.050, 1.105, 0.000, 0.078),
                    bar(0.055, 1.19, -0.004, 0.083),
                    bar(0.066, 1.275, -0.012, 0.088),
                    bar(0.082, 1.355, -0.022, 0.076),
                    (v(0.0, 1.43, -0.034), v(0.0, 1.55, -0.012), 0.056, 0.052),
                ],
            ),
            trunk_sides: Blend::new(
                0.045,
                &[
                    // Trapezius, collar bone and shoulder, breast, shoulder blade, buttock.
                    (
                        v(0.035, 1.465, -0.04),
                        v(0.135, 1.432, -0.032),
                        0.036,
                        0.034,
                    ),
                    (v(0.06, 1.395, -0.02), v(0.158, 1.405, -0.024), 0.055, 0.050),
                    (v(0.055, 1.315, 0.036), v(0.10, 1.335, 0.026), 0.042, 0.040),
                    (v(0.075, 1.33, -0.062), v(0.10, 1.25, -0.050), 0.040, 0.036),
                    (
                        v(0.068, 0.915, -0.052),
                        v(0.075, 0.875, -0.042),
                        0.074,
                        0.070,
                    ),
                ],
            ),
            skull: Blend::new(
                0.03,
                &[
                    (v(0.0, 1.655, -0.028), v(0.0, 1.653, 0.012), 0.082, 0.076),
                    (v(0.0, 1.625, 0.020), v(0.0, 1.560, 0.052), 0.066, 0.032),
                    (v(0.0, 1.60, -0.02), v(0.0, 1.545, -0.016), 0.064, 0.05),
                ],
            ),
            face: Blend::new(
                0.012,
                &[
                    (v(0.0, 1.647, 0.084), v(0.0, 1.614, 0.103), 0.007, 0.0115),
                    (
                        v(-0.016, 1.587, 0.082),
                        v(0.016, 1.587, 0.082),
                        0.0075,
                        0.0075,
                    ),
                ],
            ),
            face_sides: Blend::new(
                0.014,
                &[
                    // Jaw, brow, cheek, eye, ear.
                    (v(0.046, 1.598, 0.004), v(0.018, 1.556, 0.056), 0.026, 0.024),
                    (
                        v(0.014, 1.662, 0.076),
                        v(0.046, 1.659, 0.060),
                        0.0125,
                        0.011,
                    ),
                    (v(0.040, 1.618, 0.056), v(0.046, 1.622, 0.042), 0.020, 0.020),
                    (EYE, EYE + v(0.0, 0.0, 0.002), 0.0155, 0.0148),
                    (
                        v(0.080, 1.652, -0.014),
                        v(0.077, 1.616, -0.005),
                        0.014,
                        0.010,
                    ),
                ],
            ),
            hair: Blend::new(
                0.03,
                &[
                    (v(0.0, 1.666, -0.034), v(0.0, 1.676, 0.006), 0.083, 0.073),
                    (v(0.0, 1.64, -0.05), v(0.0, 1.59, -0.05), 0.071, 0.052),
                    (v(-0.035, 1.70, 0.052), v(0.035, 1.70, 0.052), 0.03, 0.03),
                ],
            ),
            head_bound: Sphere {
                centre: v(0.0, 1.64, 0.0),
                radius: 0.19,
            },
            arm: Blend::new(
                0.012,
                &[
                    (at.shoulder, upper(0.28), 0.052, 0.050),
                    (upper(0.28), upper(0.55), 0.050, 0.045),
                    (upper(0.5), at.elbow, 0.045, 0.039),
                    (at.elbow, lower(0.3), 0.038, 0.0405),
                    (lower(0.3), lower(0.93), 0.0405, 0.0285),
                ],
            ),
            palm: Blend::new(
                0.012,
                &[
                    (
                        at.wrist - at.hand_axis * 0.03,
                        at.wrist + at.hand_axis * 0.02,
                        0.0225,
                        0.020,
                    ),
                    metacarpal(at, 1, 0.35, 0.0145, 0.0115),
                    metacarpal(at, 2, 0.0, 0.0150, 0.0120),
                    metacarpal(at, 3, 0.35, 0.0150, 0.0115),
                    metacarpal(at, 4, 0.40, 0.0145, 0.0105),
                    (
                        at.wrist + at.hand_axis * 0.012,
                        at.fingers[0].points[1],
                        0.0175,
                        0.0125,
                    ),
                ],
            ),
            fingers,
            finger_join,
            hand_bound: Sphere {
                centre: palm_centre + at.hand_axis * 0.05,
                radius: 0.15,
            },
            arm_bound: Sphere {
                centre: at.shoulder.lerp(at.wrist, 0.6),
                radius: 0.46,
            },
            leg: Blend::new(
                0.015,
                &[
                    (
                        at.hip + v(0.006, -0.04, 0.004),
                        thigh(0.45) + v(0.004, 0.0, 0.008),
                        0.084,
                        0.072,
                    ),
                    (
                        thigh(0.45) + v(0.004, 0.0, 0.008),
                        at.knee + v(0.0, 0.02, 0.0),
                        0.072,
                        0.054,
                    ),
                    (at.knee, calf(0.32) + v(0.0, 0.0, -0.012), 0.052, 0.055),
                    (calf(0.32) + v(0.0, 0.0, -0.012), calf(0.93), 0.055, 0.0415),
                ],
            ),
            shoe: Blend::new(
                0.022,
                &[
                    (
                        v(0.103, 0.036, -0.058),
                        v(0.098, 0.034, 0.095),
                        0.035,
                        0.034,
                    ),
                    (
                        v(0.105, 0.036, -0.055),
                        v(0.139, 0.030, 0.075),
                        0.034,
                        0.029,
                    ),
                    (v(0.098, 0.034, 0.095), v(0.117, 0.026, 0.168), 0.034, 0.024),
                    (v(0.139, 0.030, 0.075), v(0.141, 0.025, 0.135), 0.029, 0.023),
                    (
                        v(0.105, 0.090, -0.024),
                        v(0.115, 0.040, 0.075),
                        0.038,
                        0.032,
                    ),
                    (
                        v(0.103, 0.036, -0.058),
                        v(0.105, 0.090, -0.022),
                        0.035,
                        0.038,
                    ),
                ],
            ),
        }
    }

    /// Distance to the skin.
    pub fn distance(&self, p: DVec3) -> f64 {
        let left = BodySide::left(p);
        // Most vertices are on hands and feet, where all else is too far away to change anything.
        let beyond = left.x - WITHOUT_ARMS;
        if beyond > 0.0 && !self.arm_bound.beyond(left, beyond - ARM_JOIN) {
            let arm = self.arm(left);
            if beyond > arm + ARM_JOIN {
                return arm;
            }
        }
        if p.y < WITHOUT_LEGS {
            let legs = self.legs(left);
            if WITHOUT_LEGS - p.y > legs + LEG_JOIN {
                return legs;
            }
        }
        let mut d = self.trunk(p);
        if !self.head_bound.beyond(p, d + HEAD_JOIN) {
            d = smooth_min(d, self.head(p), HEAD_JOIN);
        }
        if p.y - 1.05 < d + LEG_JOIN {
            d = smooth_min(d, self.legs(left), LEG_JOIN);
        }
        if !self.arm_bound.beyond(left, d + ARM_JOIN) {
            d = smooth_min(d, self.arm(left), ARM_JOIN);
        }
        d
    }

    /// Direction away from the body, by central differences; its length is the slope of the field.
    pub fn gradient(&self, p: DVec3) -> DVec3 {
        const STEP: f64 = 1e-5;
        let slopes = DVec3::AXES.map(|axis| {
            (self.distance(p + axis * STEP) - self.distance(p - axis * STEP)) / (2.0 * STEP)
        });
        slopes.into()
    }

    /// The trunk: hips to neck, shoulders included.
    pub fn trunk(&self, p: DVec3) -> f64 {
        let left = BodySide::left(p);
        // Both sides, so that there is no crease down the middle.
        let d = self.trunk_sides.join(self.trunk.distance(p), left);
        self.trunk_sides.join(d, BodySide::Right.point(left))
    }

    pub fn head(&self, p: DVec3) -> f64 {
        let skin = self
            .face_sides
            .join(self.skin_of_head(p), BodySide::left(p));
        smooth_min(skin, self.hair.distance(p), 0.006)
    }

    fn skin_of_head(&self, p: DVec3) -> f64 {
        self.face.join(self.skull.distance(p), p)
    }

    /// Returns whether hair covers the head at `p`, on the surface.
    pub fn is_hair(&self, p: DVec3) -> bool {
        let skin = self
            .face_sides
            .join(self.skin_of_head(p), BodySide::left(p));
        self.hair.distance(p) < skin
    }

    /// Returns whether an eye shows at `p`, on the surface; a coarse mesh has too few triangles for eyes.
    pub fn is_eye(&self, p: DVec3) -> bool {
        let from_eye = (BodySide::left(p) - EYE) / dvec3(0.0105, 0.0065, 1.0);
        self.finger_join < 0.0125 && from_eye.z > 0.0 && from_eye.truncate().length_squared() < 1.0
    }

    /// The left arm with its hand.
    pub fn arm(&self, p: DVec3) -> f64 {
        let d = self.arm.distance(p);
        if self.hand_bound.beyond(p, d + self.palm.k) {
            d
        } else {
            smooth_min(d, self.hand(p), self.palm.k)
        }
    }

    fn hand(&self, p: DVec3) -> f64 {
        let mut fingers = f64::INFINITY;
        for finger in &self.fingers {
            fingers = smooth_min(fingers, finger.distance(p), self.finger_join);
        }
        smooth_min(self.palm(p), fingers, self.finger_join.max(0.006))
    }

    /// The left hand without its fingers.
    pub fn palm(&self, p: DVec3) -> f64 {
        self.palm.distance(p)
    }

    /// A finger of the left hand.
    pub fn finger(&self, finger: usize, p: DVec3) -> f64 {
        self.fingers[finger].distance(p)
    }

    /// Both legs; `left` is on the left.
    fn legs(&self, left: DVec3) -> f64 {
        let other = self.leg(BodySide::Right.point(left));
        smooth_min(self.leg(left), other, THIGH_JOIN)
    }

    /// The left leg with its shoe; the sole is at ground level.
    fn leg(&self, p: DVec3) -> f64 {
        let d = self.leg.distance(p);
        if p.y - 0.14 > d + self.leg.k {
            return d;
        }
        smooth_min(d, smooth_max(self.shoe.distance(p), -p.y, 0.012), 0.012)
    }
}
