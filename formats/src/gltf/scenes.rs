//! The nodes whose meshes a model has: those of the default scene.

use super::document::{Document, Node};
use crate::fault::{Fault, item};
use crate::unread::Listed;
use skinbench_kernels::model::{Repair, shortened};

/// The first names of nodes or clips in a note.
pub type Names = Listed<4>;

/// Most characters of each.
const MOST_CHARACTERS: usize = 80;

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
pub struct Places {
    places: Vec<Place>,
    /// Nodes whose levels of detail include the node itself, perhaps by way of others.
    circular: Vec<usize>,
}

impl Places {
    /// Finds the default scene, which is the first one unless the file names another. The tree of nodes has been checked.
    pub fn new(document: &Document) -> Result<Self, Fault> {
        let Document { nodes, scenes, .. } = document;
        // Without scenes there is none to choose from: all nodes count.
        if let Some(scene) = document.scene.filter(|_| !scenes.is_empty()) {
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
                put(place, root, nodes, &mut places, |old| old == Place::Nowhere);
            }
        }
        let circular = put_levels(nodes, &mut places)?;
        Ok(Self { places, circular })
    }

    /// Returns whether the model has a node's mesh. A node in no scene counts, because exporters forget some.
    pub fn shows(&self, node: usize) -> bool {
        matches!(self.places[node], Place::Default | Place::Nowhere)
    }

    /// Returns whether a node is known to be shown with another scene, or in place of another node; a node that does not
    /// exist is not.
    pub fn is_elsewhere(&self, node: usize) -> bool {
        let place = self.places.get(node);
        matches!(place, Some(Place::Other(_) | Place::LowerLevel))
    }

    /// Notes about meshes that are in the file, but not in the default scene.
    pub fn describe(&self, document: &Document, repairs: &mut Vec<Repair>) {
        let mut others = Names::default();
        let mut nowhere = Names::default();
        let mut levels = Names::default();
        for (index, node) in document.nodes.iter().enumerate() {
            if node.mesh.is_none() {
                continue;
            }
            match self.places[index] {
                Place::Default => {}
                Place::Other(scene) => others.add(|| {
                    let name = quoted(&document.scenes[scene as usize].name);
                    format!("{} of scene {scene} {name}", node_name(index, node))
                }),
                Place::Nowhere => nowhere.add(|| node_name(index, node)),
                Place::LowerLevel => levels.add(|| node_name(index, node)),
            }
        }
        repairs.extend(others.describe("left out the meshes of other scenes"));
        repairs.extend(levels.describe("left out lower levels of detail (MSFT_lod)"));
        repairs.extend(nowhere.describe("took also meshes that are in no scene"));
        let mut circular = Names::default();
        for &index in &self.circular {
            circular.add(|| node_name(index, &document.nodes[index]));
        }
        let note = "ignored levels of detail (MSFT_lod) that include their own node";
        repairs.extend(circular.describe(note));
    }
}

/// Places the lower levels of detail of all nodes, and of these levels. Returns the nodes whose levels lead in a circle to
/// themselves, which have no place by it.
fn put_levels(nodes: &[Node], places: &mut [Place]) -> Result<Vec<usize>, Fault> {
    let mut is_reached = vec![true; nodes.len()];
    let mut with_levels = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        for (at, &level) in node.levels().iter().enumerate() {
            item(nodes, level, "node", || {
                format!("nodes[{index}].extensions.MSFT_lod.ids[{at}]")
            })?;
            is_reached[level as usize] = false;
        }
        if !node.levels().is_empty() {
            with_levels.push(index);
        }
    }
    let mut next = with_levels.clone();
    next.retain(|&index| is_reached[index]);
    while let Some(index) = next.pop() {
        for &level in nodes[index].levels() {
            if !std::mem::replace(&mut is_reached[level as usize], true) {
                next.push(level as usize);
            }
            let place = Place::LowerLevel;
            put(place, level, nodes, places, |old| old != Place::LowerLevel);
        }
    }
    with_levels.retain(|&index| !is_reached[index]);
    Ok(with_levels)
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
pub fn node_name(index: usize, node: &Node) -> String {
    if node.name.is_empty() {
        format!("nodes[{index}]")
    } else {
        quoted(&node.name)
    }
}

/// A name for notes.
pub fn quoted(name: &str) -> String {
    format!("{:?}", shortened(name.into(), MOST_CHARACTERS))
}
