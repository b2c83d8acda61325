//! Landmarks of the body and the 67 joints on them.

use glam::{DMat3, DQuat, DVec3, dvec3};
use skinbench_kernels::model::{Joint, ModelError, Skeleton, Transform};

/// Centre of the left eyeball.
pub(super) const EYE: DVec3 = dvec3(0.031, 1.640, 0.066);
/// Joints of the rig.
pub(super) const JOINTS: usize = 67;
pub(super) const PELVIS: usize = 1;
pub(super) const SPINE: [usize; 5] = [2, 3, 4, 5, 6];
pub(super) const NECK: [usize; 2] = [7, 8];
pub(super) const HEAD: usize = 9;
pub(super) const JAW: usize = 10;
/// Left, right.
pub(super) const EYES: [usize; 2] = [11, 12];

/// Joints of an arm, counted from its first; a finger has three in a row.
pub(super) const CLAVICLE: usize = 0;
pub(super) const UPPERARM: usize = 1;
pub(super) const UPPERARM_TWIST: usize = 2;
pub(super) const LOWERARM: usize = 3;
pub(super) const LOWERARM_TWIST: usize = 4;
pub(super) const HAND: usize = 5;
pub(super) const FINGERS: usize = 6;
const ARM_JOINTS: usize = 21;

/// Joints of a leg, counted from its first.
pub(super) const THIGH: usize = 0;
pub(super) const THIGH_TWIST: usize = 1;
pub(super) const CALF: usize = 2;
pub(super) const CALF_TWIST: usize = 3;
pub(super) const FOOT: usize = 4;
pub(super) const BALL: usize = 5;
const LEG_JOINTS: usize = 6;

/// Thumb, index, middle, ring, pinky.
pub(super) const FINGER_COUNT: usize = 5;
const FINGER_NAMES: [&str; FINGER_COUNT] = ["thumb", "index", "middle", "ring", "pinky"];

/// A side of the body; left is +X, since the body faces +Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodySide {
    Left,
    Right,
}

impl BodySide {
    pub(super) const BOTH: [Self; 2] = [Self::Left, Self::Right];

    pub(super) fn arm(self, joint: usize) -> usize {
        13 + self as usize * ARM_JOINTS + joint
    }
    pub(super) fn leg(self, joint: usize) -> usize {
        13 + 2 * ARM_JOINTS + self as usize * LEG_JOINTS + joint
    }
    /// Maps a point or direction of the left side to this side; its own inverse.
    pub(super) fn point(self, p: DVec3) -> DVec3 {
        match self {
            Self::Left => p,
            Self::Right => dvec3(-p.x, p.y, p.z),
        }
    }
    /// Maps a rotation of the left side to this side.
    pub(super) fn rotation(self, q: DQuat) -> DQuat {
        match self {
            Self::Left => q,
            Self::Right => DQuat::from_xyzw(q.x, -q.y, -q.z, q.w),
        }
    }
}

/// The part of the body that a joint belongs to.
pub(super) enum Part {
    /// Root, spine, neck and head: the joint itself.
    Trunk(usize),
    /// An arm: the joint counted from the arm's first.
    Arm(usize),
    /// A leg: the joint counted from the leg's first.
    Leg(usize),
}

impl Part {
    pub(super) fn of(joint: usize) -> Self {
        match (
            joint.checked_sub(BodySide::Left.leg(0)),
            joint.checked_sub(BodySide::Left.arm(0)),
        ) {
            (Some(joint), _) => Self::Leg(joint % LEG_JOINTS),
            (None, Some(joint)) => Self::Arm(joint % ARM_JOINTS),
            (None, None) => Self::Trunk(joint),
        }
    }
}

/// Geometry of a finger: its three joints and its tip, with the radius of the flesh at each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Finger {
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
pub(super) struct Landmarks {
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
pub(super) const KNEE_POLE: DVec3 = dvec3(0.12, 0.0, 0.992_774);

/// The middle joint of a two-segment limb of lengths `upper` and `lower` from `start` to `end`, bent towards `pole`,
/// and the unit axis about which it bends. If the end is out of reach, the limb is almost straight.
pub(super) fn two_bone(
    start: DVec3,
    end: DVec3,
    upper: f64,
    lower: f64,
    pole: DVec3,
) -> (DVec3, DVec3) {
    let reach = end - start;
    let direction = reach.normalize();
    let distance = reach.length().min((upper + lower) * 0.999_99);
    let along = (upper * upper - lower * lower + distance * distance) / (2.0 * distance);
    let height = (upper * upper - along * along).max(0.0).sqrt();
    let bend = (pole - direction * pole.dot(direction)).normalize();
    (
        start + direction * along + bend * height,
        direction.cross(bend),
    )
}

impl Landmarks {
    pub(super) fn new() -> Self {
        let hip = dvec3(0.09, 0.925, -0.004);
        let ankle = dvec3(0.105, 0.08, -0.02);
        let (knee, _) = two_bone(hip, ankle, 0.425, 0.4215, KNEE_POLE);
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
    let palm = if palm.x > 0.0 { -palm } else { palm };
    let place = |a: f64, b: f64, c: f64| wrist + along * a + across * b + palm * c;
    let chain = |base: DVec3, direction: DVec3, bend: DVec3, lengths: [f64; 3], radii: [f64; 4]| {
        let mut points = [base; 4];
        let mut direction = direction.normalize();
        for segment in 0..3 {
            points[segment + 1] = points[segment] + direction * lengths[segment];
            direction = (direction + bend * 0.12).normalize();
        }
        let curl_axis = (points[3] - base).cross(bend).normalize();
        Finger {
            points,
            radii,
            curl_axis,
        }
    };
    let finger = |a: f64, b: f64, fan: f64, lengths: [f64; 3], radius: f64| {
        let radii = [1.08, 0.98, 0.9, 0.78].map(|r| r * radius);
        chain(
            place(a, b, 0.0),
            along + across * fan + palm * 0.06,
            palm,
            lengths,
            radii,
        )
    };
    let thumb_bend = (along * 0.5 - across * 0.55 + palm * 0.6).normalize();
    [
        chain(
            place(0.022, 0.026, 0.008),
            along * 0.66 + across * 0.68 + palm * 0.3,
            thumb_bend,
            [0.044, 0.034, 0.024],
            [0.0165, 0.0125, 0.0115, 0.0095],
        ),
        finger(0.090, 0.029, 0.21, [0.043, 0.026, 0.019], 0.0092),
        finger(0.094, 0.0095, 0.04, [0.047, 0.030, 0.020], 0.0094),
        finger(0.090, -0.010, -0.13, [0.043, 0.028, 0.020], 0.0090),
        finger(0.081, -0.0275, -0.31, [0.034, 0.021, 0.018], 0.0080),
    ]
}

/// A joint at rest in model space.
#[derive(Debug, Clone)]
pub(super) struct RigJoint {
    pub name: String,
    pub parent: Option<usize>,
    pub position: DVec3,
    /// Rotation that takes X to the joint's segment.
    pub orientation: DQuat,
}

/// The skeleton in f64, in the order of [`Skeleton`].
#[derive(Debug, Clone)]
pub(super) struct Rig {
    pub joints: Vec<RigJoint>,
    pub landmarks: Landmarks,
    /// Factor of the finished model. Poses are planned at the size of the walker, for which strides are given.
    pub size: f64,
}

impl Rig {
    pub(super) fn new() -> Self {
        let landmarks = Landmarks::new();
        let mut rig = Self {
            joints: Vec::with_capacity(JOINTS),
            landmarks: landmarks.clone(),
            size: 1.0,
        };
        rig.push("root", None, DVec3::ZERO, None);
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
            rig.push(name, Some(index), *position, Some(end - position));
        }
        rig.push(
            "jaw",
            Some(HEAD),
            dvec3(0.0, 1.59, 0.012),
            Some(dvec3(0.0, -0.04, 0.075)),
        );
        for (side, suffix) in BodySide::BOTH.into_iter().zip(["l", "r"]) {
            rig.push(
                &format!("eye_{suffix}"),
                Some(HEAD),
                side.point(EYE),
                Some(DVec3::Z),
            );
        }
        for (side, suffix) in BodySide::BOTH.into_iter().zip(["l", "r"]) {
            rig.push_arm(&landmarks, side, suffix);
        }
        for (side, suffix) in BodySide::BOTH.into_iter().zip(["l", "r"]) {
            rig.push_leg(&landmarks, side, suffix);
        }
        rig
    }

    fn push_arm(&mut self, at: &Landmarks, side: BodySide, suffix: &str) {
        let clavicle = dvec3(0.022, 1.425, -0.005);
        let upper = at.elbow - at.shoulder;
        let lower = at.wrist - at.elbow;
        let index = |joint| Some(side.arm(joint));
        let mut push = |name: &str, parent, position, direction| {
            self.push(
                &format!("{name}_{suffix}"),
                parent,
                side.point(position),
                Some(side.point(direction)),
            );
        };
        push("clavicle", Some(SPINE[4]), clavicle, at.shoulder - clavicle);
        push("upperarm", index(CLAVICLE), at.shoulder, upper);
        push("upperarm_twist_01", index(UPPERARM), at.shoulder, upper);
        push("lowerarm", index(UPPERARM), at.elbow, lower);
        push(
            "lowerarm_twist_01",
            index(LOWERARM),
            at.elbow + lower * 0.5,
            lower,
        );
        push("hand", index(LOWERARM), at.wrist, at.hand_axis);
        for (finger, (name, shape)) in FINGER_NAMES.iter().zip(&at.fingers).enumerate() {
            for segment in 0..3 {
                let parent = if segment == 0 {
                    HAND
                } else {
                    FINGERS + 3 * finger + segment - 1
                };
                let direction = shape.points[segment + 1] - shape.points[segment];
                push(
                    &format!("{name}_0{}", segment + 1),
                    index(parent),
                    shape.points[segment],
                    direction,
                );
            }
        }
    }

    fn push_leg(&mut self, at: &Landmarks, side: BodySide, suffix: &str) {
        let thigh = at.knee - at.hip;
        let calf = at.ankle - at.knee;
        let index = |joint| Some(side.leg(joint));
        let mut push = |name: &str, parent, position, direction| {
            self.push(
                &format!("{name}_{suffix}"),
                parent,
                side.point(position),
                Some(side.point(direction)),
            );
        };
        push("thigh", Some(PELVIS), at.hip, thigh);
        push("thigh_twist_01", index(THIGH), at.hip, thigh);
        push("calf", index(THIGH), at.knee, calf);
        push("calf_twist_01", index(CALF), at.knee + calf * 0.5, calf);
        push("foot", index(CALF), at.ankle, at.ball - at.ankle);
        push("ball", index(FOOT), at.ball, at.toe - at.ball);
    }

    fn push(
        &mut self,
        name: &str,
        parent: Option<usize>,
        position: DVec3,
        direction: Option<DVec3>,
    ) {
        let orientation = direction.map_or(DQuat::IDENTITY, |direction| {
            let x = direction.normalize();
            let pole = if x.z.abs() > 0.9 { DVec3::Y } else { DVec3::Z };
            let z = (pole - x * pole.dot(x)).normalize();
            DQuat::from_mat3(&DMat3::from_cols(x, z.cross(x), z))
        });
        self.joints.push(RigJoint {
            name: name.into(),
            parent,
            position,
            orientation,
        });
    }

    /// A joint's parent. The root has the origin and the axes of the model, and counts as its own parent.
    fn parent_of(&self, joint: usize) -> &RigJoint {
        &self.joints[self.joints[joint].parent.unwrap_or(joint)]
    }

    /// A joint's rotation relative to its parent, after a rotation `delta` from the rest pose in the model's axes at
    /// rest.
    pub(super) fn local_rotation(&self, joint: usize, delta: DQuat) -> DQuat {
        self.parent_of(joint).orientation.conjugate() * delta * self.joints[joint].orientation
    }

    /// A joint's translation in its parent's axes, after a move by `offset` in the model's axes at rest.
    pub(super) fn local_translation(&self, joint: usize, offset: DVec3) -> DVec3 {
        let parent = self.parent_of(joint);
        parent.orientation.conjugate()
            * (self.joints[joint].position + offset - parent.position)
            * self.size
    }

    /// The rig with each joint's offset from its parent (in the model's axes at rest) multiplied by `stretch(joint)`.
    /// Feet and hands keep their shape, orientations stay.
    pub(super) fn stretched(&self, stretch: impl Fn(usize) -> DVec3, size: f64) -> Self {
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
        let (left_arm, left_leg) = (
            |joint| BodySide::Left.arm(joint),
            |joint| BodySide::Left.leg(joint),
        );
        let moved = |point: DVec3, joint: usize| {
            point + rig.joints[joint].position - self.joints[joint].position
        };
        let at = &self.landmarks;
        rig.landmarks = Landmarks {
            hip: moved(at.hip, left_leg(THIGH)),
            knee: moved(at.knee, left_leg(CALF)),
            ankle: moved(at.ankle, left_leg(FOOT)),
            ball: moved(at.ball, left_leg(BALL)),
            toe: moved(at.toe, left_leg(BALL)),
            heel: moved(at.heel, left_leg(FOOT)),
            shoulder: moved(at.shoulder, left_arm(UPPERARM)),
            elbow: moved(at.elbow, left_arm(LOWERARM)),
            wrist: moved(at.wrist, left_arm(HAND)),
            hand_axis: at.hand_axis,
            fingers: std::array::from_fn(|finger| {
                let joint = |point: usize| left_arm(FINGERS + 3 * finger + point.min(2));
                let points = std::array::from_fn(|point| {
                    moved(at.fingers[finger].points[point], joint(point))
                });
                Finger {
                    points,
                    ..at.fingers[finger]
                }
            }),
        };
        rig
    }

    pub(super) fn skeleton(&self) -> Result<Skeleton, ModelError> {
        let joints = self.joints.iter().enumerate().map(|(index, joint)| {
            let rotation = self.local_rotation(index, DQuat::IDENTITY).as_quat();
            let translation = self.local_translation(index, DVec3::ZERO).as_vec3();
            Joint::new(
                &joint.name,
                joint.parent,
                Transform {
                    rotation,
                    translation,
                    ..Transform::IDENTITY
                },
            )
        });
        Skeleton::new(joints.collect()).map(|(skeleton, _)| skeleton)
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
