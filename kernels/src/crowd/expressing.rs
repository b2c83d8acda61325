//! Crowds whose instances have expressions.

use super::expressions::{Expression, Expressions};
use super::{Crowd, CrowdError};
use crate::model::TargetWeight;

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
        let mut made = Expressions::default();
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
        if made.len() != self.instance_count() {
            let (got, expected) = (made.len(), self.instance_count());
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
