//! Weights of morph targets that instances keep, whatever their clips say.

use super::{Crowd, CrowdError, Group};
use crate::error::ensure;
use crate::model::{Lists, TargetWeight};

/// Weights of an instance's morph targets besides those of its clips.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Expression<'a> {
    /// Targets whose weights no clip changes.
    pub pinned: &'a [TargetWeight],
    /// `true` if all other targets have the weight 0, instead of following defaults and clips.
    pub alone: bool,
}

impl Crowd {
    /// The crowd with an expression for each instance, in the order of instances. All groups have been pushed before.
    ///
    /// # Errors
    /// More or fewer expressions than instances, a target that an instance's model lacks, or a weight that is not
    /// finite.
    pub fn with_expressions<'a>(
        mut self,
        expressions: impl IntoIterator<Item = Expression<'a>>,
    ) -> Result<Self, CrowdError> {
        let instances = self.instance_count();
        self.pinned = Lists::default();
        self.alone.clear();
        for (instance, expression) in expressions.into_iter().enumerate().take(instances) {
            let model = &self.groups[self.group_of(instance as u32)].model;
            let count = model.mesh().targets().len();
            for &TargetWeight { target, weight } in expression.pinned {
                ensure!(
                    (target as usize) < count && weight.is_finite(),
                    "instance {instance} has the weight {weight} for target {target}; expected a finite number for \
                         one of the {count} targets of {:?}",
                    model.name()
                );
            }
            self.pinned.push(expression.pinned.iter().copied());
            self.alone.push(expression.alone);
        }
        let found = self.alone.len();
        ensure!(
            found == instances,
            "{found} expressions; expected {instances}, one per instance"
        );
        for group in &mut self.groups {
            group.shown.take();
        }
        Ok(self)
    }

    /// The expression of an instance.
    pub fn expression(&self, instance: u32) -> Expression<'_> {
        match self.alone.get(instance as usize) {
            Some(&alone) => Expression {
                pinned: self.pinned.of(instance as usize),
                alone,
            },
            None => Expression::default(),
        }
    }

    /// Bytes of all expressions.
    pub fn expression_bytes(&self) -> usize {
        if self.alone.is_empty() {
            0
        } else {
            self.pinned.bytes() + size_of_val(&self.alone[..])
        }
    }

    /// Returns whether any model has morph targets.
    pub fn has_targets(&self) -> bool {
        self.groups.iter().any(Group::has_targets)
    }
}
