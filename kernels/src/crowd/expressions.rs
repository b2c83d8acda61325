//! Weights of morph targets that instances keep, whatever their clips say.

use super::{Crowd, CrowdError};
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
    fn new() -> Self {
        Self { offsets: vec![0], pinned: Vec::new(), alone: Vec::new() }
    }

    pub(super) fn of(&self, instance: usize) -> Expression<'_> {
        let pinned = &self.pinned[self.offsets[instance] as usize..self.offsets[instance + 1] as usize];
        Expression { pinned, alone: self.alone[instance] }
    }

    fn push(&mut self, expression: Expression) {
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

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.offsets[..]) + size_of_val(&self.pinned[..]) + size_of_val(&self.alone[..])
    }
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
        let mut made = Expressions::new();
        for (instance, expression) in expressions.into_iter().enumerate().take(self.instance_count()) {
            let model = &self.groups[self.group_of(instance as u32)].model;
            let count = model.mesh().targets().len();
            for &TargetWeight { target, weight } in expression.pinned {
                if target as usize >= count || !weight.is_finite() {
                    let problem = format!("the weight {weight} for target {target}");
                    let expected = format!("a finite number for one of the {count} targets of {:?}", model.name());
                    return Err(CrowdError(format!("instance {instance} has {problem}; expected {expected}")));
                }
            }
            made.push(expression);
        }
        if made.alone.len() != self.instance_count() {
            let (got, expected) = (made.alone.len(), self.instance_count());
            return Err(CrowdError(format!("{got} expressions; expected {expected}, one per instance")));
        }
        self.expressions = Some(made);
        Ok(self)
    }

    /// The expression of an instance.
    pub fn expression(&self, instance: u32) -> Expression<'_> {
        self.expressions.as_ref().map_or(Expression::default(), |all| all.of(instance as usize))
    }

    /// Bytes of all expressions.
    pub fn expression_bytes(&self) -> usize {
        self.expressions.as_ref().map_or(0, Expressions::bytes)
    }

    /// Returns whether any model has morph targets.
    pub fn has_targets(&self) -> bool {
        self.groups.iter().any(|group| !group.model.mesh().targets().is_empty())
    }
}
