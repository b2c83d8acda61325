//! Weights of morph targets that instances keep, whatever their clips say.

use crate::model::TargetWeight;

/// Weights of an instance's morph targets besides those of its clips.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Expression<'a> {
    /// Targets whose weights no clip changes.
    pub pinned: &'a [TargetWeight],
    /// `true` if all other targets have the weight 0, instead of following defaults and clips.
    pub alone: bool,
}

/// The expressions of all instances in compressed-row form.
#[derive(Debug, Clone)]
pub(super) struct Expressions {
    offsets: Vec<u32>,
    pinned: Vec<TargetWeight>,
    alone: Vec<bool>,
}

impl Expressions {
    pub(super) fn new() -> Self {
        Self { offsets: vec![0], pinned: Vec::new(), alone: Vec::new() }
    }

    pub(super) fn of(&self, instance: usize) -> Expression<'_> {
        let pinned = &self.pinned[self.offsets[instance] as usize..self.offsets[instance + 1] as usize];
        Expression { pinned, alone: self.alone[instance] }
    }

    pub(super) fn push(&mut self, expression: Expression) {
        self.pinned.extend_from_slice(expression.pinned);
        self.offsets.push(self.pinned.len() as u32);
        self.alone.push(expression.alone);
    }

    /// The same expressions for instances in another order.
    pub(super) fn reordered(&self, order: &[u32]) -> Self {
        let mut made = Self::new();
        order.iter().for_each(|&instance| made.push(self.of(instance as usize)));
        made
    }

    /// Number of instances.
    pub(super) fn len(&self) -> usize {
        self.alone.len()
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.offsets[..]) + size_of_val(&self.pinned[..]) + size_of_val(&self.alone[..])
    }
}
