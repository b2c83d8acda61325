//! Points at which errors of poses are measured.

use crate::model::{Bounds, Channel, Clip, ClipKeys, Model, NO_PARENT, Skeleton};
use crate::reference::clip_pose;
use glam::{DAffine3, DVec3};

/// Times of a clip, and of all clips of a model together, at which the size of its skeleton is looked at: of more clips,
/// evenly chosen ones once each.
const CLIP_TIMES: usize = 8;
const TIMES: usize = 64;
/// Levels below a joint at which the distance to each end is measured: a chain of all joints of a file would otherwise
/// take the square of their number.
const EXACT_LEVELS: usize = 64;
/// Factor by which the rest pose and the largest pose of a clip may differ in size for the rest pose to stand for both.
const SIMILAR: f64 = 2.0;
/// Distance of a joint's scale at rest from 1 that counts as none.
const UNSCALED: f64 = 1e-3;

/// Points that show a joint's error: its origin, and a point along each of its axes at the distance of its farthest
/// child, so that twists count too.
///
/// Joints that no vertex follows count for nothing among the others: a camera or a target far away has errors over the
/// size of the whole skeleton, all others over the size of what is followed.
pub struct ErrorPoints {
    /// In the joint's own space.
    arms: Vec<f32>,
    /// Distance from each joint to the farthest end of its descendants, at rest, in model space; of those many levels
    /// below, an upper bound.
    spans: Vec<f32>,
    followed: Vec<bool>,
    size: f64,
    /// Size of the skeleton with joints that nothing follows.
    whole: f64,
}

impl ErrorPoints {
    /// The points of a skeleton, all of whose joints count. Its size is the diagonal of the box around its resting joints.
    pub fn new(skeleton: &Skeleton) -> Self {
        Self::of_joints(skeleton, vec![true; skeleton.len()], &[])
    }

    /// The points of a model's skeleton. Its size is the diagonal of the box around its resting joints, or around those of
    /// the largest pose of its clips if that differs by more than a factor of two.
    pub fn of(model: &Model) -> Self {
        Self::of_joints(model.skeleton(), model.followed_joints(), model.clips())
    }

    fn of_joints(skeleton: &Skeleton, followed: Vec<bool>, clips: &[Clip]) -> Self {
        let pose = skeleton.rest_model_pose();
        let parents = skeleton.parents();
        let mut sizes = [
            extent(&pose, |joint| followed[joint]),
            extent(&pose, |_| true),
        ];
        let mut shown = [0.0f64; 2];
        for pose in resizing_poses(skeleton, clips, sizes[0]) {
            shown[0] = shown[0].max(extent(&pose, |joint| followed[joint]));
            shown[1] = shown[1].max(extent(&pose, |_| true));
        }
        for (size, shown) in sizes.iter_mut().zip(shown) {
            let similar = *size <= SIMILAR * shown && shown <= SIMILAR * *size;
            if shown > 0.0 && !similar {
                *size = shown;
            }
            // A single joint has no extent; its errors are not scaled.
            if *size == 0.0 {
                *size = 1.0;
            }
        }
        let [size, whole] = sizes;
        let mut arms = vec![0.0f32; skeleton.len()];
        for (joint, &parent) in parents.iter().enumerate() {
            if parent == NO_PARENT {
                continue;
            }
            let parent = usize::from(parent);
            if followed[parent] && !followed[joint] {
                continue;
            }
            let length = pose[joint].translation.distance(pose[parent].translation);
            let scale = (0..3)
                .map(|axis| pose[parent].matrix3.col(axis).length())
                .fold(0.0, f64::max);
            let length = if (scale - 1.0).abs() <= UNSCALED {
                length
            } else if scale > 0.0 {
                length / scale
            } else {
                skeleton.rest()[joint].translation.as_dvec3().length()
            };
            arms[parent] = arms[parent].max(length as f32);
        }
        for (joint, &parent) in parents.iter().enumerate() {
            if arms[joint] == 0.0 {
                arms[joint] = if parent == NO_PARENT {
                    size as f32
                } else {
                    arms[usize::from(parent)]
                };
            }
        }
        let mut spans = arms.clone();
        // Ends first: the span of a joint is known before the joints above it ask for it.
        for (joint, arm) in arms.iter().enumerate().rev() {
            let mut above = joint;
            for level in 1..=EXACT_LEVELS {
                if parents[above] == NO_PARENT {
                    break;
                }
                above = usize::from(parents[above]);
                if followed[above] && !followed[joint] {
                    break;
                }
                let distance = pose[joint].translation.distance(pose[above].translation) as f32;
                let beneath = if level == EXACT_LEVELS {
                    spans[joint]
                } else {
                    *arm
                };
                spans[above] = spans[above].max(distance + beneath);
            }
        }
        Self {
            arms,
            spans,
            followed,
            size,
            whole,
        }
    }

    /// Size of what vertices follow, the unit of errors.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// The unit of a joint's errors.
    fn unit(&self, joint: usize) -> f64 {
        if self.followed[joint] {
            self.size
        } else {
            self.whole.max(self.size)
        }
    }

    /// As [`ErrorPoints::reach`], of the ends of the joint and all its descendants.
    pub fn span(&self, joint: usize, channel: Channel) -> f64 {
        self.moved(joint, self.spans[joint], channel)
    }

    /// Approximate distance that a joint's ends move, over the skeleton's size, for a change of 1 in one of its
    /// channels.
    pub fn reach(&self, joint: usize, channel: Channel) -> f64 {
        self.moved(joint, self.arms[joint], channel)
    }

    /// Approximate distance that a point so far from a joint moves, over the skeleton's size, for a change of 1 in one
    /// of the joint's channels.
    fn moved(&self, joint: usize, arm: f32, channel: Channel) -> f64 {
        let distance = match channel {
            // A quaternion holds half the angle.
            Channel::Rotation => 2.0 * f64::from(arm),
            Channel::Translation => 1.0,
            Channel::Scale => f64::from(arm),
        };
        distance / self.unit(joint)
    }

    /// Largest distance of a joint's ends in two poses over the skeleton's size; `off` is the difference of its model
    /// poses, three rows of four.
    pub fn distance(&self, joint: usize, off: &[f64; 12]) -> f64 {
        let arm = f64::from(self.arms[joint]);
        // The difference of two affine maps moves points by their distance.
        let length = |axis: Option<usize>| {
            (0..3)
                .map(|row| off[4 * row + 3] + axis.map_or(0.0, |axis| arm * off[4 * row + axis]))
                .map(|v| v * v)
                .sum::<f64>()
                .sqrt()
        };
        [None, Some(0), Some(1), Some(2)]
            .map(length)
            .into_iter()
            .fold(0.0, f64::max)
            / self.unit(joint)
    }
}

/// Diagonal of the box around some joints of a pose.
fn extent(pose: &[DAffine3], counts: impl Fn(usize) -> bool) -> f64 {
    let joints = (0..pose.len()).filter(|joint| counts(*joint));
    let bounds = Bounds::around(joints.map(|joint| pose[joint].translation.as_vec3()));
    if bounds.max == bounds.min {
        0.0
    } else {
        f64::from(bounds.diagonal())
    }
}

/// Poses of the clips in which a skeleton may be larger or smaller than at rest: those that scale joints, or move them
/// by more than its size.
fn resizing_poses<'a>(
    skeleton: &'a Skeleton,
    clips: &'a [Clip],
    size: f64,
) -> impl Iterator<Item = Vec<DAffine3>> + 'a {
    let resizing: Vec<&Clip> = clips
        .iter()
        .filter(|clip| !clip.is_additive() && resizes(skeleton, clip, size))
        .collect();
    let times = (TIMES / resizing.len().max(1)).clamp(1, CLIP_TIMES);
    let stride = resizing.len().div_ceil(TIMES).max(1);
    resizing.into_iter().step_by(stride).flat_map(move |clip| {
        (1..=times).map(move |index| {
            let fraction = index as f64 / (times + 1) as f64;
            clip_pose(skeleton, clip, fraction * f64::from(clip.duration()))
        })
    })
}

/// Returns whether a clip scales joints, or moves one by more than a distance from its place at rest.
fn resizes(skeleton: &Skeleton, clip: &Clip, distance: f64) -> bool {
    match clip.keys() {
        ClipKeys::Raw(raw) => raw.tracks().iter().any(|track| {
            let rest = skeleton.rest()[usize::from(track.joint)]
                .translation
                .as_dvec3();
            let keys = 0..raw.times_of(track).len();
            let place = track.interpolation.value_of_key();
            match track.channel {
                Channel::Scale => true,
                Channel::Translation => keys.into_iter().any(|key| {
                    let value = raw.value(track, key, place).truncate();
                    value.distance(rest) > distance
                }),
                Channel::Rotation => false,
            }
        }),
        ClipKeys::Compact(compact) => {
            let far = |joint: u16, value: [f32; 3]| {
                let rest = skeleton.rest()[usize::from(joint)].translation.as_dvec3();
                DVec3::from(value.map(f64::from)).distance(rest) > distance
            };
            let scaled = compact.tracks.iter().any(|track| match track.channel {
                Channel::Scale => true,
                Channel::Translation => {
                    far(track.joint, track.decoder().low) || far(track.joint, track.high())
                }
                Channel::Rotation => false,
            });
            scaled
                || compact
                    .still
                    .iter()
                    .any(|still| still.channel == Channel::Scale)
        }
    }
}
