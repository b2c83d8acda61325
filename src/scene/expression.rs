//! Weights of morph targets that a scene gives to the instances of a group.

use crate::asset::Place;
use crate::crowd::Expression;
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

/// The expressions of a group's instances.
pub(super) struct Expressions {
    named: Vec<TargetWeight>,
    /// Targets to choose from, and how many.
    chosen: Option<(Vec<u32>, usize)>,
    random: Pcg32,
    pinned: Vec<TargetWeight>,
}

impl ExpressionPlan {
    /// Returns whether the plan leaves all weights as they are.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty() && self.active.is_none()
    }

    /// Finds the targets of a model; `group` selects the stream of random numbers.
    ///
    /// # Errors
    /// A target that the model lacks, or more active targets than it has.
    pub fn resolve(&self, model: &Model, seed: u64, group: usize) -> Result<Expressions, String> {
        let names: Vec<&str> = model.mesh().targets().list().iter().map(|target| target.name.as_str()).collect();
        let find = |(wanted, weight): &(String, f64)| {
            let target = names.iter().position(|name| name == wanted);
            let target = target.ok_or_else(|| wording::unknown("morph target", wanted, &names))?;
            Ok(TargetWeight { target: target as u32, weight: *weight as f32 })
        };
        let named: Vec<TargetWeight> = self.weights.iter().map(find).collect::<Result<_, String>>()?;
        let others = (0..names.len() as u32).filter(|target| named.iter().all(|named| named.target != *target));
        let others: Vec<u32> = others.collect();
        let chosen = match self.active {
            Some(count) if count as usize > others.len() => {
                let (name, have) = (model.name(), others.len());
                return Err(format!(
                    "active_targets = {count}; expected at most {have}, which {name:?} has to choose from"
                ));
            }
            active => active.map(|count| (others, count as usize)),
        };
        // A stream that neither a group nor a layer uses.
        let random = Pcg32::new(seed, (1 << 48) | group as u64);
        Ok(Expressions { named, chosen, random, pinned: Vec::new() })
    }
}

impl Expressions {
    /// The expression of the next instance.
    pub fn next(&mut self) -> Expression<'_> {
        let Self { named, chosen, random, pinned } = self;
        pinned.clear();
        pinned.extend_from_slice(named);
        if let Some((targets, count)) = chosen {
            for place in 0..*count {
                // A shuffle of the first places: each target has the same chance.
                let left = (targets.len() - place) as u64;
                let other = place + ((u64::from(random.next_u32()) * left) >> 32) as usize;
                targets.swap(place, other);
                let part = f64::from(random.next_u32()) / 2f64.powi(32);
                let weight = (LEAST + (1.0 - LEAST) * part) as f32;
                pinned.push(TargetWeight { target: targets[place], weight });
            }
        }
        Expression { pinned, alone: chosen.is_some() }
    }
}
