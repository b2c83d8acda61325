//! Weights of morph targets that a scene gives to the instances of a group.

use super::error::{error, of_setting};
use crate::asset::Place;
use crate::error::DataError;
use crate::model::{Model, TargetWeight};
use crate::wording;
use rand_core::Rng;
use rand_pcg::Pcg32;
use serde::Serialize;

/// Smallest weight of a target that the seed chooses; the largest is 1.
const LEAST: f64 = 0.25;

/// The keys of a group that set weights.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ExpressionPlan {
    /// Weights by name of the target.
    pub weights: Vec<(String, f64)>,
    /// Number of further targets that the seed chooses for each instance; all others have the weight 0. `None` leaves
    /// them to defaults and clips.
    pub active: Option<u32>,
    #[serde(skip)]
    pub place: Option<Place>,
}

impl ExpressionPlan {
    /// Returns whether the plan leaves all weights as they are.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty() && self.active.is_none()
    }

    /// The weights that `count` instances of a model pin; `group` selects the stream of random numbers.
    ///
    /// # Errors
    /// A target that the model lacks, or more active targets than it has.
    pub fn of_instances(
        &self,
        model: &Model,
        seed: u64,
        group: usize,
        count: usize,
    ) -> Result<Vec<Vec<TargetWeight>>, DataError> {
        let targets = model.mesh().targets().list().iter();
        let names: Vec<&String> = targets.map(|target| &target.name).collect();
        let mut named = Vec::with_capacity(self.weights.len());
        let mut others: Vec<u32> = (0..names.len() as u32).collect();
        for (name, weight) in &self.weights {
            let target = wording::position("morph target", name, &names);
            let target = target.map_err(|problem| error("", None, problem))?;
            let target = target as u32;
            others.retain(|other| *other != target);
            named.push(TargetWeight {
                target,
                weight: *weight as f32,
            });
        }
        let active = self.active.unwrap_or(0) as usize;
        if active > others.len() {
            let problem = format!(
                "{active} active morph targets; expected at most {}, which {:?} has to choose from",
                others.len(),
                model.name()
            );
            return Err(of_setting("active_targets", problem));
        }
        // A stream that neither a group nor a layer uses.
        let mut random = Pcg32::new(seed, (1 << 48) | group as u64);
        let mut instances = vec![named; count];
        for pinned in &mut instances {
            for place in 0..active {
                // A shuffle of the first places: each target has the same chance.
                let left = (others.len() - place) as u64;
                let other = place + ((u64::from(random.next_u32()) * left) >> 32) as usize;
                others.swap(place, other);
                let share = f64::from(random.next_u32()) / 2f64.powi(32);
                pinned.push(TargetWeight {
                    target: others[place],
                    weight: (LEAST + (1.0 - LEAST) * share) as f32,
                });
            }
        }
        Ok(instances)
    }
}
