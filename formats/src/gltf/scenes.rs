//! The nodes whose meshes a model has: those of the default scene.

use super::document::{Document, Node};
use crate::fault::{Fault, item};
use skinbench_kernels::model::Repair;

/// Most names in a note.
const MOST_NAMES: usize = 4;

/// The place of a node among the scenes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the default scene, or in a file without scenes.
    Default,
    /// In this scene, the first one that has it.
    Other(u32),
    /// In no scene, although there are some.
    Nowhere,
    /// It, or a node above it, is a lower level of detail (`MSFT_lod`), which may be shown in place of another node.
    LowerLevel,
}

/// The places of all nodes.
pub(super) struct Places(Vec<Place>);

impl Places {
    /// Finds the default scene, which is the first one unless the file names another. The tree of nodes has been checked.
    pub(super) fn new(document: &Document) -> Result<Self, Fault> {
        let Document { nodes, scenes, .. } = document;
        if let Some(scene) = document.scene {
            item(scenes, scene, "", || "scene".into())?;
        }
        let default = document.scene.unwrap_or(0) as usize;
        let start = if scenes.is_empty() {
            Place::Default
        } else {
            Place::Nowhere
        };
        let mut places = vec![start; nodes.len()];
        let mut order: Vec<usize> = (0..scenes.len()).collect();
        order.sort_by_key(|&scene| scene != default);
        for scene in order {
            let place = if scene == default {
                Place::Default
            } else {
                Place::Other(scene as u32)
            };
            for (at, &root) in scenes[scene].nodes.iter().enumerate() {
                item(nodes, root, "node", || {
                    format!("scenes[{scene}].nodes[{at}]")
                })?;
                let free = |place| place == Place::Nowhere;
                put(place, root, nodes, &mut places, free);
            }
        }
        for (index, node) in nodes.iter().enumerate() {
            let levels = node.extensions.levels.as_ref();
            for (at, &level) in levels
                .map_or(&[][..], |levels| &levels.ids)
                .iter()
                .enumerate()
            {
                item(nodes, level, "node", || {
                    format!("nodes[{index}].extensions.MSFT_lod.ids[{at}]")
                })?;
                let free = |place| place != Place::LowerLevel;
                put(Place::LowerLevel, level, nodes, &mut places, free);
            }
        }
        Ok(Self(places))
    }

    /// Returns whether the model has a node's mesh. A node in no scene counts, because exporters forget some.
    pub(super) fn shows(&self, node: usize) -> bool {
        matches!(self.0[node], Place::Default | Place::Nowhere)
    }

    /// Notes about meshes that are in the file, but not in the default scene.
    pub(super) fn describe(&self, document: &Document, repairs: &mut Vec<Repair>) {
        let mut others = Vec::new();
        let mut nowhere = Vec::new();
        let mut levels = Vec::new();
        for (index, node) in document.nodes.iter().enumerate() {
            if node.mesh.is_none() {
                continue;
            }
            let name = node_name(index, node);
            match self.0[index] {
                Place::Default => {}
                Place::Other(scene) => {
                    let of = &document.scenes[scene as usize].name;
                    others.push(format!("{name} of scene {scene} {of:?}"));
                }
                Place::Nowhere => nowhere.push(name),
                Place::LowerLevel => levels.push(name),
            }
        }
        let notes = [
            ("left out the meshes of other scenes", others),
            ("left out lower levels of detail (MSFT_lod)", levels),
            ("took also meshes that are in no scene", nowhere),
        ];
        for (note, names) in notes.iter().filter(|(_, names)| !names.is_empty()) {
            repairs.push(Repair::new(format!("{note}: {}", listed(names))));
        }
    }
}

/// Gives a node and those below it a place, unless theirs is not free.
fn put(
    place: Place,
    root: u32,
    nodes: &[Node],
    places: &mut [Place],
    free: impl Fn(Place) -> bool,
) {
    let mut next = vec![root as usize];
    while let Some(node) = next.pop() {
        if free(places[node]) {
            places[node] = place;
            next.extend(nodes[node].children.iter().map(|&child| child as usize));
        }
    }
}

/// The name of a node for notes.
pub(super) fn node_name(index: usize, node: &Node) -> String {
    if node.name.is_empty() {
        format!("nodes[{index}]")
    } else {
        format!("{:?}", node.name)
    }
}

/// Some names, and the number of the others.
pub(super) fn listed(names: &[String]) -> String {
    let first = &names[..names.len().min(MOST_NAMES)];
    let more = names.len() - first.len();
    let first = first.join(", ");
    if more > 0 {
        format!("{first} and {more} more")
    } else {
        first
    }
}
