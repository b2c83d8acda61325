//! The nodes whose meshes a model has: those of the default scene.

use super::document::{Document, Node};
use crate::check::item;
use skinbench_kernels::error::{Result, shortened};
use skinbench_kernels::model::Notes;

/// Most characters of a name in a note.
const MOST_CHARACTERS: usize = 80;

/// The place of a node among the scenes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NodeScene {
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
pub struct NodeScenes {
    places: Vec<NodeScene>,
    /// Nodes whose levels of detail include the node itself, perhaps by way of others.
    circular: Vec<usize>,
}

impl NodeScenes {
    /// Finds the default scene, which is the first one unless the file names another. The tree of nodes has been checked.
    pub fn new(document: &Document) -> Result<Self> {
        let Document { nodes, scenes, .. } = document;
        // Without scenes there is none to choose from: all nodes count.
        if let Some(scene) = document.scene.filter(|_| !scenes.is_empty()) {
            item(scenes, scene, "", || "scene".into())?;
        }
        let default = document.scene.unwrap_or(0) as usize;
        let start = if scenes.is_empty() {
            NodeScene::Default
        } else {
            NodeScene::Nowhere
        };
        let mut places = vec![start; nodes.len()];
        let mut order: Vec<usize> = (0..scenes.len()).collect();
        order.sort_by_key(|&scene| scene != default);
        for scene in order {
            let place = if scene == default {
                NodeScene::Default
            } else {
                NodeScene::Other(scene as u32)
            };
            for (at, &root) in scenes[scene].nodes.iter().enumerate() {
                item(nodes, root, "node", || {
                    format!("scenes[{scene}].nodes[{at}]")
                })?;
                put(place, root, nodes, &mut places, |old| {
                    old == NodeScene::Nowhere
                });
            }
        }
        let circular = put_levels(nodes, &mut places)?;
        Ok(Self { places, circular })
    }

    /// Returns whether the model has a node's mesh. A node in no scene counts, because exporters forget some.
    pub fn shows(&self, node: usize) -> bool {
        matches!(self.places[node], NodeScene::Default | NodeScene::Nowhere)
    }

    /// Returns whether a node is known to be shown with another scene, or in place of another node; a node that does not
    /// exist is not.
    pub fn is_elsewhere(&self, node: usize) -> bool {
        let place = self.places.get(node);
        matches!(place, Some(NodeScene::Other(_) | NodeScene::LowerLevel))
    }

    /// Notes about meshes that are in the file, but not in the default scene.
    pub fn describe(&self, document: &Document, notes: &mut Notes) {
        for (index, node) in document.nodes.iter().enumerate() {
            if node.mesh.is_none() {
                continue;
            }
            let mut name = node_name(index, node);
            let kind = match self.places[index] {
                NodeScene::Default => continue,
                NodeScene::Other(scene) => {
                    let scene_name = quoted(&document.scenes[scene as usize].name);
                    name += &format!(" of scene {scene} {scene_name}");
                    "left out the meshes of other scenes"
                }
                NodeScene::Nowhere => "took also meshes that are in no scene",
                NodeScene::LowerLevel => "left out lower levels of detail (MSFT_lod)",
            };
            notes.add_name(kind, name);
        }
        for &index in &self.circular {
            let name = node_name(index, &document.nodes[index]);
            let kind = "ignored levels of detail (MSFT_lod) that include their own node";
            notes.add_name(kind, name);
        }
    }
}

/// NodeScenes the lower levels of detail of all nodes, and of these levels. Returns the nodes whose levels lead in a circle to
/// themselves, which have no place by it.
fn put_levels(nodes: &[Node], places: &mut [NodeScene]) -> Result<Vec<usize>> {
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
            let place = NodeScene::LowerLevel;
            put(place, level, nodes, places, |old| {
                old != NodeScene::LowerLevel
            });
        }
    }
    with_levels.retain(|&index| !is_reached[index]);
    Ok(with_levels)
}

/// Gives a node and those below it a place, unless theirs is not free.
fn put(
    place: NodeScene,
    root: u32,
    nodes: &[Node],
    places: &mut [NodeScene],
    free: impl Fn(NodeScene) -> bool,
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
    format!("{:?}", shortened(name, MOST_CHARACTERS))
}
