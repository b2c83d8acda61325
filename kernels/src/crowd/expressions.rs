//! Weights of morph targets that instances keep, whatever their clips say.

use crate::model::{Lists, TargetWeight};

/// Weights of an instance's morph targets besides those of its clips.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Expression<'a> {
    /// Targets whose weights no clip changes.
    pub pinned: &'a [TargetWeight],
    /// `true` if all other targets have the weight 0, instead of following defaults and clips.
    pub alone: bool,
}

/// The expressions of all instances.
#[derive(Debug, Clone, Default)]
pub(super) struct Expressions {
    pinned: Lists<TargetWeight>,
    alone: Vec<bool>,
}

impl Expressions {
    pub(super) fn of(&self, instance: usize) -> Expression<'_> {
        Expression { pinned: self.pinned.of(instance), alone: self.alone[instance] }
    }

    pub(super) fn push(&mut self, expression: Expression) {
        self.pinned.push(expression.pinned.iter().copied());
        self.alone.push(expression.alone);
    }

    /// The same expressions for instances in another order.
    pub(super) fn reordered(&self, order: &[u32]) -> Self {
        let mut made = Self::default();
        order.iter().for_each(|&instance| made.push(self.of(instance as usize)));
        made
    }

    /// Number of instances.
    pub(super) fn len(&self) -> usize {
        self.alone.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.pinned.bytes() + size_of_val(&self.alone[..])
    }
}
