//! What posing reads of a live crowd besides its layers.

use crate::model::Transform;
use std::ops::Range;

/// A joint whose local pose is given, after clips have been sampled and blended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointOverride {
    /// Index of the instance in the crowd.
    pub instance: u32,
    /// The joint.
    pub joint: u16,
    /// Its transform to its parent.
    pub local: Transform,
}

/// The state.
#[derive(Debug, Clone)]
pub(super) struct LiveState {
    /// Number of changes of layers so far.
    pub changes: u64,
    /// The last change of each layer, `[instance][layer]`.
    pub changed: Vec<u64>,
    /// By instance and joint.
    pub overrides: Vec<JointOverride>,
    /// Most of them.
    pub capacity: usize,
    /// Of each instance, whether it does not exist or is not to be seen.
    pub hidden: Vec<bool>,
    /// For each group the joints from which all vertices hang; an instance that shrinks there is not to be seen.
    pub tops: Vec<Vec<u16>>,
}

impl LiveState {
    /// Indices of an instance's overrides.
    pub fn overrides_of(&self, instance: u32) -> Range<usize> {
        let end = |instance| self.overrides.partition_point(|o| o.instance < instance);
        end(instance)..end(instance + 1)
    }
}
