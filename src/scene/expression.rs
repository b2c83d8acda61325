//! Weights of morph targets that a scene gives to the instances of a group.

use crate::asset::Place;
use crate::model::{Model, TargetWeight};
use crate::wording;
use rand_core::Rng;
use rand_pcg::Pcg32;

/// Smallest weight of a target that the seed chooses; the largest is 1.
const LEAST: f64 = 0.25;

/// The keys of a group that set weights.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ExpressionPlan {
    /// Weights by name of the target.
    pub weights: Vec<(String, f64)>,
    /// Number of further targets that the seed chooses for each instance; all others have the weight 0. `None` leaves
    /// them to defaults and clips.
    pub active: Option<u32>,
    pub place: Option<Place>,
}

impl ExpressionPlan {
    /// Returns whether the plan leaves all weights as they are.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty() && self.active.is_none()
    }

    /// The weights that `count` instances of a model pin, and whether those are the only ones above 0; `group` selects
    /// the stream of random numbers.
    ///
    /// # Errors
    /// A target that the model lacks, or more active targets than it has.
    pub fn of_instances(
        &self,
        model: &Model,
        seed: u64,
        group: usize,
        count: usize,
    ) -> Result<Vec<(Vec<TargetWeight>, bool)>, String> {
        let names: Vec<&str> = model
            .mesh()
            .targets()
            .list()
            .iter()
            .map(|target| target.name.as_str())
            .collect();
        let find = |(wanted, weight): &(String, f64)| {
            let target = names.iter().position(|name| name == wanted);
            let target = target.ok_or_else(|| wording::unknown("morph target", wanted, &names))?;
            Ok(TargetWeight {
                target: target as u32,
                weight: *weight as f32,
            })
        };
        let named: Vec<TargetWeight> = self
            .weights
            .iter()
            .map(find)
            .collect::<Result<_, String>>()?;
        let others = (0..names.len() as u32)
            .filter(|target| named.iter().all(|named| named.target != *target));
        let mut others: Vec<u32> = others.collect();
        let (active, have) = (self.active.unwrap_or(0) as usize, others.len());
        if active > have {
            let name = model.name();
            return Err(format!(
                "active_targets = {active}; expected at most {have}, which {name:?} has to choose from"
            ));
        }
        // A stream that neither a group nor a layer uses.
        let mut random = Pcg32::new(seed, (1 << 48) | group as u64);
        let next = |_| {
            let mut pinned = named.clone();
            for place in 0..active {
                // A shuffle of the first places: each target has the same chance.
                let left = (have - place) as u64;
                let other = place + ((u64::from(random.next_u32()) * left) >> 32) as usize;
                others.swap(place, other);
                let part = f64::from(random.next_u32()) / 2f64.powi(32);
                let weight = (LEAST + (1.0 - LEAST) * part) as f32;
                pinned.push(TargetWeight {
                    target: others[place],
                    weight,
                });
            }
            (pinned, self.active.is_some())
        };
        Ok((0..count).map(next).collect())
    }
}
