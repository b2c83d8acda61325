//! The nodes whose meshes a model has: those of the default scene.

use super::document::{Document, Node};
use crate::fault::{Fault, item};
use skinbench_kernels::model::{Repair, shortened};

/// Most names in a note, and most characters of each.
const MOST_NAMES: usize = 4;
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
pub(super) struct Places {
    of: Vec<Place>,
    /// Nodes whose levels of detail include the node itself, perhaps by way of others.
    circular: Vec<usize>,
}

impl Places {
    /// Finds the default scene, which is the first one unless the file names another. The tree of nodes has been checked.
    pub(super) fn new(document: &Document) -> Result<Self, Fault> {
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
                let free = |place| place == Place::Nowhere;
                put(place, root, nodes, &mut places, free);
            }
        }
        let circular = put_levels(nodes, &mut places)?;
        Ok(Self {
            of: places,
            circular,
        })
    }

    /// Returns whether the model has a node's mesh. A node in no scene counts, because exporters forget some.
    pub(super) fn shows(&self, node: usize) -> bool {
        matches!(self.of[node], Place::Default | Place::Nowhere)
    }

    /// Returns whether a node is known to be shown with another scene, or in place of another node; a node that does not
    /// exist is not.
    pub(super) fn is_elsewhere(&self, node: usize) -> bool {
        let place = self.of.get(node);
        matches!(place, Some(Place::Other(_) | Place::LowerLevel))
    }

    /// Notes about meshes that are in the file, but not in the default scene.
    pub(super) fn describe(&self, document: &Document, repairs: &mut Vec<Repair>) {
        let mut others = Listed::default();
        let mut nowhere = Listed::default();
        let mut levels = Listed::default();
        for (index, node) in document.nodes.iter().enumerate() {
            if node.mesh.is_none() {
                continue;
            }
            let name = || node_name(index, node);
            match self.of[index] {
                Place::Default => {}
                Place::Other(scene) => others.add(|| {
                    let of = quoted(&document.scenes[scene as usize].name);
                    format!("{} of scene {scene} {of}", name())
                }),
                Place::Nowhere => nowhere.add(name),
                Place::LowerLevel => levels.add(name),
            }
        }
        repairs.extend(others.describe("left out the meshes of other scenes"));
        repairs.extend(levels.describe("left out lower levels of detail (MSFT_lod)"));
        repairs.extend(nowhere.describe("took also meshes that are in no scene"));
        let mut circular = Listed::default();
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
    let levels_of = |index: usize| {
        let levels = nodes[index].extensions.levels.as_ref();
        levels.map_or(&[][..], |levels| &levels.ids)
    };
    let mut is_level = vec![false; nodes.len()];
    for index in 0..nodes.len() {
        for (at, &level) in levels_of(index).iter().enumerate() {
            item(nodes, level, "node", || {
                format!("nodes[{index}].extensions.MSFT_lod.ids[{at}]")
            })?;
            is_level[level as usize] = true;
        }
    }
    let has_levels = |index: &usize| !levels_of(*index).is_empty();
    let mut reached = is_level
        .iter()
        .map(|is_level| !is_level)
        .collect::<Vec<_>>();
    let mut next: Vec<usize> = (0..nodes.len()).filter(has_levels).collect();
    next.retain(|&index| reached[index]);
    while let Some(index) = next.pop() {
        for &level in levels_of(index) {
            if !std::mem::replace(&mut reached[level as usize], true) {
                next.push(level as usize);
            }
            let free = |place| place != Place::LowerLevel;
            put(Place::LowerLevel, level, nodes, places, free);
        }
    }
    Ok((0..nodes.len())
        .filter(|&index| has_levels(&index) && !reached[index])
        .collect())
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
        quoted(&node.name)
    }
}

/// A name for notes.
pub(super) fn quoted(name: &str) -> String {
    format!("{:?}", shortened(name.into(), MOST_CHARACTERS))
}

/// The first names of a note, and the number of all.
#[derive(Default)]
pub(super) struct Listed {
    first: Vec<String>,
    count: usize,
}

impl Listed {
    /// Adds a name, which is made only if the note has it: a file may repeat a long one many times.
    pub(super) fn add(&mut self, name: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < MOST_NAMES {
            self.first.push(name());
        }
    }

    /// The note, if there is any name.
    pub(super) fn describe(&self, note: &str) -> Option<Repair> {
        let mut names = self.first.join(", ");
        let more = self.count - self.first.len();
        if more > 0 {
            names += &format!(" and {more} more");
        }
        (self.count > 0).then(|| Repair::new(format!("{note}: {names}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_in_the_note_are_made() {
        let mut listed = Listed::default();
        for name in 0..10_000 {
            listed.add(|| {
                assert!(name < MOST_NAMES, "name {name} was made");
                name.to_string()
            });
        }
        let note = listed.describe("left out").unwrap();
        assert_eq!(note.message, "left out: 0, 1, 2, 3 and 9996 more");
        assert_eq!(Listed::default().describe("left out"), None);
    }
}
