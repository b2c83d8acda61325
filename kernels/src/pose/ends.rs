//! Points at which errors of poses are measured.

use crate::model::{Bounds, Channel, NO_PARENT, Skeleton};

/// Points that show a joint's error: its origin, and a point along each of its axes at the distance of its farthest
/// child, so that twists count too.
pub struct Ends {
    arms: Vec<f32>,
    /// Distance from each joint to the farthest end of its descendants, at rest.
    spans: Vec<f32>,
    size: f64,
}

impl Ends {
    /// The ends of a skeleton. Its size is the diagonal of the box around its resting joints.
    pub fn new(skeleton: &Skeleton) -> Self {
        let pose = skeleton.rest_model_pose();
        let bounds = Bounds::around(pose.iter().map(|joint| joint.translation.as_vec3()));
        // A single joint has no extent; its errors are not scaled.
        let size = if bounds.max == bounds.min {
            1.0
        } else {
            f64::from(bounds.diagonal())
        };
        let mut arms = vec![0.0f32; skeleton.len()];
        for (joint, &parent) in skeleton
            .parents()
            .iter()
            .enumerate()
            .filter(|(_, parent)| **parent != NO_PARENT)
        {
            let parent = usize::from(parent);
            let length = pose[joint].translation.distance(pose[parent].translation) as f32;
            arms[parent] = arms[parent].max(length);
        }
        for (joint, &parent) in skeleton.parents().iter().enumerate() {
            if arms[joint] == 0.0 {
                arms[joint] = if parent == NO_PARENT {
                    size as f32
                } else {
                    arms[usize::from(parent)]
                };
            }
        }
        let mut spans = arms.clone();
        for (joint, arm) in arms.iter().enumerate() {
            let mut above = joint;
            while let Some(&parent) = skeleton
                .parents()
                .get(above)
                .filter(|parent| **parent != NO_PARENT)
            {
                above = usize::from(parent);
                let distance = pose[joint].translation.distance(pose[above].translation) as f32;
                spans[above] = spans[above].max(distance + arm);
            }
        }
        Self { arms, spans, size }
    }

    /// As [`Ends::reach`], of the ends of the joint and all its descendants.
    pub fn span(&self, joint: usize, channel: Channel) -> f64 {
        self.moved(self.spans[joint], channel)
    }

    /// Approximate distance that a joint's ends move, over the skeleton's size, for a change of 1 in one of its
    /// channels.
    pub fn reach(&self, joint: usize, channel: Channel) -> f64 {
        self.moved(self.arms[joint], channel)
    }

    /// Approximate distance that a point so far from a joint moves, over the skeleton's size, for a change of 1 in one
    /// of the joint's channels.
    fn moved(&self, arm: f32, channel: Channel) -> f64 {
        let distance = match channel {
            // A quaternion holds half the angle.
            Channel::Rotation => 2.0 * f64::from(arm),
            Channel::Translation => 1.0,
            Channel::Scale => f64::from(arm),
        };
        distance / self.size
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
            / self.size
    }
}
