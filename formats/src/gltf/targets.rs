//! Morph targets: one list for all nodes, because each node has weights of its own for the targets of its mesh.

use super::accessor::AccessorReader;
use super::nodes::MovedNode;
use crate::check::finite;
use skinbench_kernels::error::Result;
use skinbench_kernels::model::{MAX_TARGETS, Notes, Target};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Memory that the store takes for a target, its name aside.
const BYTES_PER_TARGET: u64 = 128;

/// Memory for a character of a list of names: `"",` becomes an empty one.
const BYTES_PER_CHARACTER: u64 = 24;

/// The targets of all nodes.
pub struct NodeTargets {
    pub list: Vec<Target>,
    /// The targets of each node that has any.
    pub of_node: HashMap<usize, Range<u32>>,
}

impl NodeTargets {
    /// Reads names and weights. A node's weights replace those of its mesh; without either they are 0. A target without a
    /// name is called by its number.
    pub fn new(reader: &AccessorReader, moved: &[MovedNode], notes: &mut Notes) -> Result<Self> {
        let document = reader.document;
        let mut met = HashSet::new();
        let mut targets = Self {
            list: Vec::new(),
            of_node: HashMap::new(),
        };
        for moved in moved.iter().filter(|moved| moved.targets > 0) {
            let count = moved.targets;
            let mesh = &document.meshes[moved.mesh];
            let place = format!("meshes[{}]", moved.mesh);
            let sum = targets.list.len() + count;
            ensure!(
                sum <= MAX_TARGETS,
                place,
                "{sum} morph targets so far; expected at most {MAX_TARGETS}"
            );
            let budget = reader.budget;
            budget.charge(count as u64 * BYTES_PER_TARGET, || place.clone())?;
            let node_place = format!("nodes[{}]", moved.node);
            let of_node = weights(&document.nodes[moved.node].weights, count, &node_place)?;
            let of_mesh = weights(&mesh.weights, count, &place)?;
            let names = mesh.extras.target_names.as_ref();
            let names = names.map_or("[]", |names| names.get());
            budget.charge(names.len() as u64 * BYTES_PER_CHARACTER, || {
                format!("{place}.extras.targetNames")
            })?;
            let listed = serde_json::from_str::<Vec<String>>(names);
            if mesh.extras.target_names.is_some() && met.insert(moved.mesh) {
                let misfit = match &listed {
                    Ok(names) if names.len() == count => None,
                    Ok(names) => Some(format!("{} for {count}", names.len())),
                    Err(_) => Some("no list of texts".into()),
                };
                if let Some(misfit) = misfit {
                    let kind = "names that do not fit the morph targets";
                    notes.add_name(kind, format!("{place}.extras.targetNames ({misfit})"));
                }
            }
            let mut names = listed.unwrap_or_default();
            for target in names.len()..count {
                names.push(format!("target {target}"));
            }
            let range = targets.list.len() as u32..sum as u32;
            targets.of_node.insert(moved.node, range);
            for (target, name) in names.into_iter().take(count).enumerate() {
                let weights = of_node.or(of_mesh);
                let weight = weights.map_or(0.0, |weights| weights[target]);
                targets.list.push(Target { name, weight });
            }
        }
        Ok(targets)
    }
}

/// Checks the weights of a node or mesh.
fn weights<'a>(
    weights: &'a Option<Vec<f32>>,
    count: usize,
    place: &str,
) -> Result<Option<&'a [f32]>> {
    if let Some(weights) = weights {
        ensure!(
            weights.len() == count,
            format!("{place}.weights"),
            "{} weights; expected {count}, one per morph target",
            weights.len()
        );
        finite(weights, || format!("{place}.weights"))?;
    }
    Ok(weights.as_deref())
}
