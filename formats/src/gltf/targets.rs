//! Morph targets: one list for all nodes, because each node has weights of its own for the targets of its mesh.

use super::accessor::Reader;
use super::nodes::MovedNode;
use crate::fault::{Fault, ensure, finite};
use skinbench_kernels::model::{MAX_TARGETS, Target};
use std::collections::HashMap;
use std::ops::Range;

/// Memory that the store takes for a target, its name aside.
const BYTES_PER_TARGET: u64 = 128;

/// Memory for a character of a list of names: `"",` becomes an empty one.
const BYTES_PER_CHARACTER: u64 = 24;

/// The targets of all nodes.
pub(super) struct NodeTargets {
    pub(super) list: Vec<Target>,
    /// The targets of each node that has any.
    pub(super) of: HashMap<usize, Range<u32>>,
}

impl NodeTargets {
    /// Reads names and weights. A node's weights replace those of its mesh; without either they are 0.
    pub(super) fn new(reader: &Reader, moved: &[MovedNode]) -> Result<Self, Fault> {
        let document = reader.document;
        let mut targets = Self {
            list: Vec::new(),
            of: HashMap::new(),
        };
        for &MovedNode {
            node,
            mesh: index,
            targets: count,
            ..
        } in moved.iter().filter(|moved| moved.targets > 0)
        {
            let mesh = &document.meshes[index];
            let place = format!("meshes[{index}]");
            let sum = targets.list.len() + count;
            ensure(sum <= MAX_TARGETS, || {
                Fault::new(
                    &place,
                    format!("{sum} morph targets so far; expected at most {MAX_TARGETS}"),
                )
            })?;
            reader
                .budget
                .charge(count as u64 * BYTES_PER_TARGET, || place.clone())?;
            let own = weights(
                &document.nodes[node].weights,
                count,
                &format!("nodes[{node}]"),
            )?;
            let default = weights(&mesh.weights, count, &place)?;
            let names = mesh
                .extras
                .target_names
                .as_ref()
                .map_or("[]", |names| names.get());
            reader
                .budget
                .charge(names.len() as u64 * BYTES_PER_CHARACTER, || {
                    format!("{place}.extras.targetNames")
                })?;
            // Anything but a list of texts counts as none.
            let names: Vec<String> = serde_json::from_str(names).unwrap_or_default();
            targets
                .of
                .insert(node, targets.list.len() as u32..sum as u32);
            targets.list.extend((0..count).map(|target| {
                Target {
                    name: names
                        .get(target)
                        .cloned()
                        .unwrap_or_else(|| format!("target {target}")),
                    weight: own.or(default).map_or(0.0, |weights| weights[target]),
                }
            }));
        }
        Ok(targets)
    }
}

/// Checks the weights of a node or mesh.
fn weights<'a>(
    weights: &'a Option<Vec<f32>>,
    count: usize,
    place: &str,
) -> Result<Option<&'a [f32]>, Fault> {
    let place = || format!("{place}.weights");
    let Some(weights) = weights else {
        return Ok(None);
    };
    ensure(weights.len() == count, || {
        Fault::new(
            place(),
            format!(
                "{} weights; expected {count}, one per morph target",
                weights.len()
            ),
        )
    })?;
    finite(weights, place).map(|()| Some(&weights[..]))
}
