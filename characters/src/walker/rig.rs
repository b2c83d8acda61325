//! Landmarks of the body and the 67 joints on them.

use glam::{DMat3, DQuat, DVec3, dvec3};
use skinbench_kernels::error::Result;
use skinbench_kernels::model::{Joint, Skeleton, Transform};

/// Centre of the left eyeball.
pub const EYE: DVec3 = dvec3(0.031, 1.640, 0.066);
/// Joints of the rig.
pub const JOINTS: usize = 67;
pub const PELVIS: usize = 1;
pub const SPINE: [usize; 5] = [2, 3, 4, 5, 6];
pub const NECK: [usize; 2] = [7, 8];
pub const HEAD: usize = 9;
pub const JAW: usize = 10;
/// Left, right.
pub const EYES: [usize; 2] = [11, 12];

/// Joints of an arm, counted from its first; a finger has three in a row.
pub const CLAVICLE: usize = 0;
pub const UPPERARM: usize = 1;
pub const UPPERARM_TWIST: usize = 2;
pub const LOWERARM: usize = 3;
pub const LOWERARM_TWIST: usize = 4;
pub const HAND: usize = 5;
pub const FINGERS: usize = 6;
const ARM_JOINTS: usize = 21;

/// Joints of a leg, counted from its first.
pub const THIGH: usize = 0;
pub const THIGH_TWIST: usize = 1;
pub const CALF: usize = 2;
pub const CALF_TWIST: usize = 3;
pub const FOOT: usize = 4;
pub const BALL: usize = 5;
const LEG_JOINTS: usize = 6;

/// Thumb, index, middle, ring, pinky.
pub const FINGER_COUNT: usize = 5;
const FINGER_NAMES: [&str; FINGER_COUNT] = ["thumb", "index", "middle", "ring", "pinky"];

/// A side of the body; left is +X, since the body faces +Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodySide {
    Left,
    Right,
}

impl BodySide {
    pub const BOTH: [Self; 2] = [Self::Left, Self::Right];

    pub fn arm(self, joint: usize) -> usize {
        13 + self as usize * ARM_JOINTS + joint
    }
    pub fn leg(self, joint: usize) -> usize {
        13 + 2 * ARM_JOINTS + self as usize * LEG_JOINTS + joint
    }
    /// The end of the names of joints.
    fn suffix(self) -> &'static str {
        match self {
            Self::Left => "l",
            Self::Right => "r",
        }
    }
    /// Maps a point of either side to the left side.
    pub fn left(p: DVec3) -> DVec3 {
        p.with_x(p.x.abs())
    }
    /// Maps a point or direction of the left side to this side; its own inverse.
    pub fn point(self, p: DVec3) -> DVec3 {
        match self {
            Self::Left => p,
            Self::Right => p.with_x(-p.x),
        }
    }
    /// Maps a rotation of the left side to this side.
    pub fn rotation(self, q: DQuat) -> DQuat {
        match self {
            Self::Left => q,
            Self::Right => DQuat::from_xyzw(q.x, -q.y, -q.z, q.w),
        }
    }
}

/// The region of the body that a joint belongs to.
pub enum Region {
    /// Root, spine, neck and head: the joint itself.
    Trunk(usize),
    /// An arm: the joint counted from the arm's first.
    Arm(usize),
    /// A leg: the joint counted from the leg's first.
    Leg(usize),
}

impl Region {
    pub fn of(joint: usize) -> Self {
        if let Some(joint) = joint.checked_sub(BodySide::Left.leg(0)) {
            Self::Leg(joint % LEG_JOINTS)
        } else if let Some(joint) = joint.checked_sub(BodySide::Left.arm(0)) {
            Self::Arm(joint % ARM_JOINTS)
        } else {
            Self::Trunk(joint)
        }
    }
}

/// Geometry of a finger: its three joints and its tip, with the radius of the flesh at each.
#[derive(Debug, Clone, Copy)]
pub struct Finger {
    pub points: [DVec3; 4],
    pub radii: [f64; 4],
    /// Axis about which positive angles curl the finger towards the palm.
    pub curl_axis: DVec3,
}

/// Joint centres in the rest pose, left side, metres.
///
/// Proportions are close to those of Drillis and Contini (1966) for a height of 1.75 m: knee 0.285, hip 0.53 and
/// shoulder 0.818 of the height from the ground, upper arm 0.186, forearm 0.146 and hand 0.108 long.
#[derive(Debug, Clone)]
pub struct Landmarks {
    pub hip: DVec3,
    pub knee: DVec3,
    pub ankle: DVec3,
    pub ball: DVec3,
    pub toe: DVec3,
    /// Point where the heel touches the ground.
    pub heel: DVec3,
    pub shoulder: DVec3,
    pub elbow: DVec3,
    pub wrist: DVec3,
    /// From the wrist to the middle knuckle.
    pub hand_axis: DVec3,
    pub fingers: [Finger; FINGER_COUNT],
}

/// Direction of the knees: ahead, rotated outwards a little like the feet.
pub const KNEE_POLE: DVec3 = dvec3(0.12, 0.0, 0.992_774);

/// A limb of two segments.
pub struct TwoBone {
    /// The joint between the segments.
    pub middle: DVec3,
    /// The unit axis about which the limb bends.
    pub axis: DVec3,
}

/// A limb of lengths `upper` and `lower` from `start` to `end`, bent towards `pole`. If the end is out of reach, the limb is
/// almost straight.
pub fn two_bone(start: DVec3, end: DVec3, upper: f64, lower: f64, pole: DVec3) -> TwoBone {
    let reach = end - start;
    let direction = reach.normalize();
    let distance = reach.length().min((upper + lower) * 0.999_99);
    let along = (upper * upper - lower * lower + distance * distance) / (2.0 * distance);
    let height = (upper * upper - along * along).max(0.0).sqrt();
    let bend = (pole - direction * pole.dot(direction)).normalize();
    TwoBone {
        middle: start + direction * along + bend * height,
        axis: direction.cross(bend),
    }
}

impl Landmarks {
    pub fn new() -> Self {
        let hip = dvec3(0.09, 0.925, -0.004);
        let ankle = dvec3(0.105, 0.08, -0.02);
        let knee = two_bone(hip, ankle, 0.425, 0.4215, KNEE_POLE).middle;
        let shoulder = dvec3(0.178, 1.415, -0.022);
        let elbow = shoulder + dvec3(0.573, -0.819, -0.03).normalize() * 0.295;
        let lower = dvec3(0.55, -0.82, 0.16).normalize();
        let wrist = elbow + lower * 0.255;
        Self {
            hip,
            knee,
            ankle,
            ball: dvec3(0.116, 0.030, 0.105),
            toe: dvec3(0.126, 0.024, 0.165),
            heel: dvec3(0.103, 0.0, -0.062),
            shoulder,
            elbow,
            wrist,
            hand_axis: lower,
            fingers: fingers(wrist, lower),
        }
    }
}

fn fingers(wrist: DVec3, along: DVec3) -> [Finger; FINGER_COUNT] {
    // The thumb's side of the hand is in front, and the palm faces the thigh.
    let across = (DVec3::Z - along * along.z).normalize();
    let palm = across.cross(along);
    let hand = HandAxes {
        wrist,
        along,
        across,
        palm: if palm.x > 0.0 { -palm } else { palm },
    };
    let thumb = Finger::new(
        hand.from(wrist, 0.022, 0.026, 0.008),
        hand.from(DVec3::ZERO, 0.66, 0.68, 0.3),
        hand.from(DVec3::ZERO, 0.5, -0.55, 0.6).normalize(),
        [0.044, 0.034, 0.024],
        [0.0165, 0.0125, 0.0115, 0.0095],
    );
    [
        thumb,
        hand.finger(0.090, 0.029, 0.21, [0.043, 0.026, 0.019], 0.0092),
        hand.finger(0.094, 0.0095, 0.04, [0.047, 0.030, 0.020], 0.0094),
        hand.finger(0.090, -0.010, -0.13, [0.043, 0.028, 0.020], 0.0090),
        hand.finger(0.081, -0.0275, -0.31, [0.034, 0.021, 0.018], 0.0080),
    ]
}

/// Unit axes of the left hand.
struct HandAxes {
    wrist: DVec3,
    along: DVec3,
    across: DVec3,
    palm: DVec3,
}

impl HandAxes {
    /// A point or direction with these coordinates.
    fn from(&self, origin: DVec3, along: f64, across: f64, palm: f64) -> DVec3 {
        origin + self.along * along + self.across * across + self.palm * palm
    }

    /// A finger whose base is at these coordinates, spread by `fan`.
    fn finger(&self, along: f64, across: f64, fan: f64, lengths: [f64; 3], radius: f64) -> Finger {
        Finger::new(
            self.from(self.wrist, along, across, 0.0),
            self.from(DVec3::ZERO, 1.0, fan, 0.06),
            self.palm,
            lengths,
            [1.08, 0.98, 0.9, 0.78].map(|r| r * radius),
        )
    }
}

impl Finger {
    fn new(base: DVec3, direction: DVec3, bend: DVec3, lengths: [f64; 3], radii: [f64; 4]) -> Self {
        let mut points = [base; 4];
        let mut direction = direction.normalize();
        for segment in 0..3 {
            points[segment + 1] = points[segment] + direction * lengths[segment];
            direction = (direction + bend * 0.12).normalize();
        }
        Self {
            points,
            radii,
            curl_axis: (points[3] - base).cross(bend).normalize(),
        }
    }
}

/// A joint at rest in model space.
#[derive(Debug, Clone)]
pub struct RigJoint {
    pub name: String,
    pub parent: Option<usize>,
    pub position: DVec3,
    /// Rotation that takes X to the joint's segment.
    pub orientation: DQuat,
}

/// The skeleton in f64, in the order of [`Skeleton`].
#[derive(Debug, Clone)]
pub struct Rig {
    pub joints: Vec<RigJoint>,
    pub landmarks: Landmarks,
    /// Factor of the finished model. Poses are planned at the size of the walker, for which strides are given.
    pub size: f64,
}

impl Rig {
    pub fn new() -> Self {
        let landmarks = Landmarks::new();
        let mut rig = Self {
            joints: vec![RigJoint {
                name: "root".into(),
                parent: None,
                position: DVec3::ZERO,
                orientation: DQuat::IDENTITY,
            }],
            landmarks: landmarks.clone(),
            size: 1.0,
        };
        let trunk = [
            ("pelvis", dvec3(0.0, 0.955, -0.012)),
            ("spine_01", dvec3(0.0, 1.025, -0.012)),
            ("spine_02", dvec3(0.0, 1.10, -0.008)),
            ("spine_03", dvec3(0.0, 1.18, -0.012)),
            ("spine_04", dvec3(0.0, 1.265, -0.024)),
            ("spine_05", dvec3(0.0, 1.35, -0.034)),
            ("neck_01", dvec3(0.0, 1.455, -0.030)),
            ("neck_02", dvec3(0.0, 1.50, -0.018)),
            ("head", dvec3(0.0, 1.545, -0.006)),
        ];
        let head_top = dvec3(0.0, 1.75, -0.006);
        for (index, (name, position)) in trunk.iter().enumerate() {
            let end = trunk.get(index + 1).map_or(head_top, |next| next.1);
            rig.push(name, index, *position, end - position);
        }
        rig.push(
            "jaw",
            HEAD,
            dvec3(0.0, 1.59, 0.012),
            dvec3(0.0, -0.04, 0.075),
        );
        for side in BodySide::BOTH {
            rig.push_on(side, "eye", HEAD, EYE, DVec3::Z);
        }
        for side in BodySide::BOTH {
            rig.push_arm(&landmarks, side);
        }
        for side in BodySide::BOTH {
            rig.push_leg(&landmarks, side);
        }
        rig
    }

    fn push_arm(&mut self, at: &Landmarks, side: BodySide) {
        let clavicle = dvec3(0.022, 1.425, -0.005);
        let to_shoulder = at.shoulder - clavicle;
        let upper = at.elbow - at.shoulder;
        let lower = at.wrist - at.elbow;
        let middle = at.elbow + lower * 0.5;
        let [shoulder, upperarm, lowerarm] = [CLAVICLE, UPPERARM, LOWERARM].map(|j| side.arm(j));
        self.push_on(side, "clavicle", SPINE[4], clavicle, to_shoulder);
        self.push_on(side, "upperarm", shoulder, at.shoulder, upper);
        self.push_on(side, "upperarm_twist_01", upperarm, at.shoulder, upper);
        self.push_on(side, "lowerarm", upperarm, at.elbow, lower);
        self.push_on(side, "lowerarm_twist_01", lowerarm, middle, lower);
        self.push_on(side, "hand", lowerarm, at.wrist, at.hand_axis);
        for (name, finger) in FINGER_NAMES.iter().zip(&at.fingers) {
            let mut parent = side.arm(HAND);
            for segment in 0..3 {
                let start = finger.points[segment];
                let direction = finger.points[segment + 1] - start;
                let name = format!("{name}_0{}", segment + 1);
                self.push_on(side, &name, parent, start, direction);
                parent = self.joints.len() - 1;
            }
        }
    }

    fn push_leg(&mut self, at: &Landmarks, side: BodySide) {
        let upper = at.knee - at.hip;
        let lower = at.ankle - at.knee;
        let middle = at.knee + lower * 0.5;
        let [thigh, calf, foot] = [THIGH, CALF, FOOT].map(|joint| side.leg(joint));
        self.push_on(side, "thigh", PELVIS, at.hip, upper);
        self.push_on(side, "thigh_twist_01", thigh, at.hip, upper);
        self.push_on(side, "calf", thigh, at.knee, lower);
        self.push_on(side, "calf_twist_01", calf, middle, lower);
        self.push_on(side, "foot", calf, at.ankle, at.ball - at.ankle);
        self.push_on(side, "ball", foot, at.ball, at.toe - at.ball);
    }

    /// Adds a joint of a side; position and direction are those of the left one.
    fn push_on(
        &mut self,
        side: BodySide,
        name: &str,
        parent: usize,
        position: DVec3,
        direction: DVec3,
    ) {
        let name = format!("{name}_{}", side.suffix());
        self.push(&name, parent, side.point(position), side.point(direction));
    }

    fn push(&mut self, name: &str, parent: usize, position: DVec3, direction: DVec3) {
        let x = direction.normalize();
        let pole = if x.z.abs() > 0.9 { DVec3::Y } else { DVec3::Z };
        let z = (pole - x * pole.dot(x)).normalize();
        self.joints.push(RigJoint {
            name: name.into(),
            parent: Some(parent),
            position,
            orientation: DQuat::from_mat3(&DMat3::from_cols(x, z.cross(x), z)),
        });
    }

    /// A joint's parent. The root has the origin and the axes of the model, and counts as its own parent.
    fn parent_of(&self, joint: usize) -> &RigJoint {
        &self.joints[self.joints[joint].parent.unwrap_or(joint)]
    }

    /// A joint's rotation relative to its parent, after a rotation `delta` from the rest pose in the model's axes at
    /// rest.
    pub fn local_rotation(&self, joint: usize, delta: DQuat) -> DQuat {
        self.parent_of(joint).orientation.conjugate() * delta * self.joints[joint].orientation
    }

    /// A joint's translation in its parent's axes, after a move by `offset` in the model's axes at rest.
    pub fn local_translation(&self, joint: usize, offset: DVec3) -> DVec3 {
        let parent = self.parent_of(joint);
        parent.orientation.conjugate()
            * (self.joints[joint].position + offset - parent.position)
            * self.size
    }

    /// The rig with each joint's offset from its parent (in the model's axes at rest) multiplied by `stretch(joint)`.
    /// Feet and hands keep their shape, orientations stay.
    pub fn stretched(&self, stretch: impl Fn(usize) -> DVec3, size: f64) -> Self {
        let mut rig = Self {
            size,
            ..self.clone()
        };
        for joint in 0..JOINTS {
            if let Some(parent) = self.joints[joint].parent {
                let offset = self.joints[joint].position - self.joints[parent].position;
                rig.joints[joint].position = rig.joints[parent].position + offset * stretch(joint);
            }
        }
        let moved = |point: DVec3, joint: usize| {
            point + rig.joints[joint].position - self.joints[joint].position
        };
        let left = BodySide::Left;
        let mut at = self.landmarks.clone();
        at.hip = moved(at.hip, left.leg(THIGH));
        at.knee = moved(at.knee, left.leg(CALF));
        at.ankle = moved(at.ankle, left.leg(FOOT));
        at.ball = moved(at.ball, left.leg(BALL));
        at.toe = moved(at.toe, left.leg(BALL));
        at.heel = moved(at.heel, left.leg(FOOT));
        at.shoulder = moved(at.shoulder, left.arm(UPPERARM));
        at.elbow = moved(at.elbow, left.arm(LOWERARM));
        at.wrist = moved(at.wrist, left.arm(HAND));
        for (finger, shape) in at.fingers.iter_mut().enumerate() {
            for (point, position) in shape.points.iter_mut().enumerate() {
                let joint = FINGERS + 3 * finger + point.min(2);
                *position = moved(*position, left.arm(joint));
            }
        }
        rig.landmarks = at;
        rig
    }

    pub fn skeleton(&self) -> Result<Skeleton> {
        let joints = self.joints.iter().enumerate().map(|(index, joint)| {
            let rest = Transform {
                rotation: self.local_rotation(index, DQuat::IDENTITY).as_quat(),
                translation: self.local_translation(index, DVec3::ZERO).as_vec3(),
                ..Transform::IDENTITY
            };
            Joint::new(&joint.name, joint.parent, rest)
        });
        let (skeleton, _) = Skeleton::new(joints.collect())?;
        Ok(skeleton)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_are_where_the_indices_say() {
        let rig = Rig::new();
        let skeleton = rig.skeleton().unwrap();
        assert_eq!(skeleton.len(), JOINTS);
        let names = skeleton.names();
        assert!(
            rig.joints
                .iter()
                .zip(names)
                .all(|(joint, name)| joint.name == *name),
            "the skeleton reordered them"
        );
        assert_eq!(
            (names[0].as_str(), names[HEAD].as_str(), names[JAW].as_str()),
            ("root", "head", "jaw")
        );
        assert_eq!(names[BodySide::Left.arm(FINGERS + 3)], "index_01_l");
        assert_eq!(names[BodySide::Right.arm(FINGERS + 14)], "pinky_03_r");
        assert_eq!(names[BodySide::Right.leg(BALL)], "ball_r");
        for (joint, pose) in rig.joints.iter().zip(skeleton.rest_model_pose()) {
            assert!(
                joint.position.distance(pose.translation) < 1e-6,
                "{}",
                joint.name
            );
        }
    }
}
