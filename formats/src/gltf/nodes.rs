//! The node tree, and the part of it that becomes the skeleton.

use super::document::{Document, Mesh, Node};
use super::scenes::{self, Places};
use crate::fault::{Fault, OffUnit, ensure, finite, item};
use crate::matrices;
use glam::{DAffine3, Quat, Vec3};
use skinbench_kernels::model::{
    IDENTITY_ROWS, Joint, JointTransform, Repair, Skeleton, SkinData, Transform, affine_to_rows,
};
use std::collections::BTreeSet;

/// The node tree.
pub(super) struct Tree {
    /// The parent of each node.
    parents: Vec<Option<usize>>,
    /// All nodes, each after its parent.
    order: Vec<usize>,
}

/// Checks the node tree. Refuses children out of range, nodes with two parents, and cycles.
pub(super) fn tree(nodes: &[Node]) -> Result<Tree, Fault> {
    let mut parents: Vec<Option<usize>> = vec![None; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        for (at, &child) in node.children.iter().enumerate() {
            let place = || format!("nodes[{index}].children[{at}]");
            item(nodes, child, "node", place)?;
            if let Some(other) = parents[child as usize].replace(index) {
                let problem = format!(
                    "nodes[{child}] is a child of nodes[{other}] already; expected one parent"
                );
                return Err(Fault::new(place(), problem));
            }
        }
    }
    let mut order: Vec<usize> = (0..nodes.len()).filter(|&n| parents[n].is_none()).collect();
    let mut next = 0;
    while let Some(&index) = order.get(next) {
        order.extend(nodes[index].children.iter().map(|&child| child as usize));
        next += 1;
    }
    if order.len() < nodes.len() {
        // Every node has at most one parent, so a node that no root reaches is on a cycle or below one.
        let mut reached = vec![false; nodes.len()];
        order.iter().for_each(|&n| reached[n] = true);
        let unreached = reached.iter().position(|r| !r).unwrap_or_default();
        let index = (0..nodes.len()).fold(unreached, |index, _| parents[index].unwrap_or(index));
        let problem = "its chain of parents is a cycle; expected one that ends at a root";
        return Err(Fault::new(format!("nodes[{index}]"), problem));
    }
    Ok(Tree { parents, order })
}

/// A node's use of a mesh with a skin, with morph targets, or with both.
pub(super) struct MovedNode {
    pub(super) node: usize,
    pub(super) mesh: usize,
    pub(super) skin: Option<usize>,
    /// Number of the mesh's morph targets.
    pub(super) targets: usize,
}

/// Nodes whose mesh the model has, and which has a skin or morph targets, by index.
pub(super) fn moved_nodes(document: &Document, places: &Places) -> Result<Vec<MovedNode>, Fault> {
    let mut moved = Vec::new();
    let mut in_other_scenes = 0;
    for (index, node) in document.nodes.iter().enumerate() {
        let (mesh, skin) = (node.mesh, node.skin.map(|skin| skin as usize));
        let own = mesh
            .map(|mesh| {
                item(&document.meshes, mesh, "", || {
                    format!("nodes[{index}].mesh")
                })
            })
            .transpose()?;
        let targets = mesh
            .zip(own)
            .map_or(Ok(0), |(mesh, own)| targets(mesh, own))?;
        node.skin
            .map(|skin| item(&document.skins, skin, "", || format!("nodes[{index}].skin")))
            .transpose()?;
        if let Some(mesh) = mesh.filter(|_| skin.is_some() || targets > 0) {
            if !places.shows(index) {
                in_other_scenes += 1;
                continue;
            }
            moved.push(MovedNode {
                node: index,
                mesh: mesh as usize,
                skin,
                targets,
            });
        }
    }
    ensure(!moved.is_empty(), || {
        let (found, scene) = match in_other_scenes {
            0 => (String::new(), ""),
            others => (
                format!(" in the default scene, and {others} meshes with either elsewhere"),
                " in that scene",
            ),
        };
        let expected = format!("expected at least one mesh with either{scene}");
        Fault::new(
            "nodes",
            format!("no skin and no morph target{found}; {expected}"),
        )
    })?;
    Ok(moved)
}

/// Number of morph targets of a mesh, which all of its primitives must have.
fn targets(index: u32, mesh: &Mesh) -> Result<usize, Fault> {
    let first = mesh
        .primitives
        .first()
        .map_or(0, |primitive| primitive.targets.len());
    for (other, primitive) in mesh.primitives.iter().enumerate() {
        let count = primitive.targets.len();
        ensure(count == first, || {
            let problem =
                format!("{count} morph targets; expected {first}, as the first primitive has");
            Fault::new(
                format!("meshes[{index}].primitives[{other}].targets"),
                problem,
            )
        })?;
    }
    Ok(first)
}

/// Skins that nodes use, by index.
pub(super) fn used_skins(moved: &[MovedNode]) -> BTreeSet<usize> {
    moved.iter().filter_map(|node| node.skin).collect()
}

/// The skeleton and the nodes that move with it.
pub(super) struct NodeRig {
    pub(super) skeleton: Skeleton,
    /// Joint of each node, if it is one.
    pub(super) joint_of: Vec<Option<u16>>,
    /// Nodes that are attached to a joint and have a mesh without a skin, each with its mesh.
    pub(super) rigid: Vec<(usize, usize)>,
    /// The joint of each of these, and the transform from mesh to joint space.
    pub(super) rigid_skin: SkinData,
}

#[derive(Clone, Copy, Default)]
struct Role {
    /// A used skin refers to it, or its mesh has morph targets and no skin.
    joint: bool,
    /// It is a joint or below one.
    under_joint: bool,
    animated: bool,
    /// It, or a node below it, has a rigid mesh.
    carries: bool,
    /// A joint or a rigid mesh that moves is at or below it.
    needed: bool,
    /// It is in the skeleton.
    kept: bool,
}

impl NodeRig {
    /// Takes the joints of all used skins, the nodes of meshes that have morph targets and no skin, every ancestor that
    /// moves them, and the nodes that move rigid meshes below them. Other meshes are left out with a note.
    pub(super) fn new(
        document: &Document,
        tree: Tree,
        places: &Places,
        moved: &[MovedNode],
        repairs: &mut Vec<Repair>,
    ) -> Result<Self, Fault> {
        let nodes = &document.nodes;
        let Tree { parents, order } = tree;
        let mut roles = vec![Role::default(); nodes.len()];
        mark_joints(document, moved, &mut roles)?;
        mark_animated(document, &mut roles)?;
        let mut unmoved = scenes::Listed::default();
        for &n in &order {
            roles[n].under_joint =
                roles[n].joint || parents[n].is_some_and(|p| roles[p].under_joint);
            let rigid = places.shows(n) && nodes[n].mesh.is_some() && nodes[n].skin.is_none();
            roles[n].carries = rigid && roles[n].under_joint;
            if rigid && !roles[n].under_joint {
                unmoved.add(|| scenes::node_name(n, &nodes[n]));
            }
        }
        repairs.extend(unmoved.describe("left out meshes that no joint moves"));
        let mut locals = vec![None; nodes.len()];
        let mut off_unit = OffUnit::default();
        let identities = [
            JointTransform::Transform(Transform::IDENTITY),
            JointTransform::Matrix(IDENTITY_ROWS),
        ];
        for &n in order.iter().rev() {
            let role = &mut roles[n];
            role.needed |= role.joint || (role.animated && role.under_joint && role.carries);
            let Role {
                needed,
                carries,
                joint,
                animated,
                ..
            } = *role;
            if !needed && !carries {
                continue;
            }
            let local = local(&nodes[n], n, &mut off_unit)?;
            role.kept = needed && (joint || animated || !identities.contains(&local));
            locals[n] = Some(local);
            if let Some(parent) = parents[n] {
                roles[parent].needed |= needed;
                roles[parent].carries |= carries && roles[parent].under_joint;
            }
        }
        repairs.extend(off_unit.describe("node rotations"));

        // For each node, the closest kept node at or above it, and the fixed transform between the two.
        let mut anchors: Vec<Option<(usize, DAffine3)>> = vec![None; nodes.len()];
        for &n in &order {
            let above = parents[n].and_then(|p| anchors[p]).zip(locals[n]);
            let fixed = above.map(|((anchor, way), local)| (anchor, way * local.to_affine()));
            anchors[n] = if roles[n].kept {
                Some((n, DAffine3::IDENTITY))
            } else {
                fixed
            };
        }
        let kept: Vec<usize> = (0..nodes.len()).filter(|&n| roles[n].kept).collect();
        let joints = kept.iter().filter_map(|&n| {
            let above = parents[n].and_then(|p| anchors[p]);
            let parent = above.and_then(|(anchor, _)| kept.binary_search(&anchor).ok());
            Some(Joint {
                name: nodes[n].name.clone(),
                parent,
                rest: locals[n]?,
            })
        });
        let (skeleton, new_index) = Skeleton::new(joints.collect())?;
        let mut joint_of = vec![None; nodes.len()];
        kept.iter()
            .zip(new_index)
            .for_each(|(&n, joint)| joint_of[n] = Some(joint));
        let rigid = nodes
            .iter()
            .enumerate()
            .filter(|(n, node)| roles[*n].under_joint && places.shows(*n) && node.skin.is_none());
        let rigid = rigid.filter_map(|(n, node)| {
            let (anchor, to_joint) = anchors[n]?;
            Some((
                (n, node.mesh? as usize),
                (joint_of[anchor]?, affine_to_rows(&to_joint)),
            ))
        });
        let (rigid, (joints, inverse_binds)): (Vec<_>, (Vec<_>, Vec<_>)) = rigid.unzip();
        let rigid_skin = SkinData {
            name: "rigid meshes".into(),
            joints,
            inverse_binds,
        };
        Ok(Self {
            skeleton,
            joint_of,
            rigid,
            rigid_skin,
        })
    }
}

fn mark_joints(document: &Document, moved: &[MovedNode], roles: &mut [Role]) -> Result<(), Fault> {
    moved
        .iter()
        .filter(|node| node.skin.is_none())
        .for_each(|node| roles[node.node].joint = true);
    for index in used_skins(moved) {
        let skin = &document.skins[index];
        ensure(!skin.joints.is_empty(), || {
            Fault::new(
                format!("skins[{index}].joints"),
                "none; expected at least one",
            )
        })?;
        for (at, &joint) in skin.joints.iter().enumerate() {
            item(&document.nodes, joint, "node", || {
                format!("skins[{index}].joints[{at}]")
            })?;
            roles[joint as usize].joint = true;
        }
    }
    Ok(())
}

fn mark_animated(document: &Document, roles: &mut [Role]) -> Result<(), Fault> {
    for (index, animation) in document.animations.iter().enumerate() {
        for (at, channel) in animation.channels.iter().enumerate() {
            let Some(node) = channel
                .target
                .node
                .filter(|_| channel.target.path != "weights")
            else {
                continue;
            };
            item(&document.nodes, node, "", || {
                format!("animations[{index}].channels[{at}].target.node")
            })?;
            roles[node as usize].animated = true;
        }
    }
    Ok(())
}

/// A node's transform to its parent.
fn local(node: &Node, index: usize, off_unit: &mut OffUnit) -> Result<JointTransform, Fault> {
    let place = |field: &str| format!("nodes[{index}].{field}");
    if let Some(matrix) = &node.matrix {
        finite(matrix.as_slice(), || place("matrix"))?;
        let alone = node.translation.is_none() && node.rotation.is_none() && node.scale.is_none();
        let problem = "stands beside translation, rotation or scale; expected either";
        ensure(alone, || Fault::new(place("matrix"), problem))?;
        let rows =
            matrices::rows(matrix).map_err(|problem| Fault::new(place("matrix"), problem))?;
        return Ok(JointTransform::Matrix(rows));
    }
    let translation = node.translation.unwrap_or_default();
    let rotation = node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
    let scale = node.scale.unwrap_or([1.0; 3]);
    finite(&translation, || place("translation"))?;
    finite(&rotation, || place("rotation"))?;
    finite(&scale, || place("scale"))?;
    off_unit
        .check(&rotation)
        .map_err(|problem| Fault::new(place("rotation"), problem))?;
    Ok(JointTransform::Transform(Transform {
        rotation: Quat::from_array(rotation),
        translation: Vec3::from_array(translation),
        scale: Vec3::from_array(scale),
    }))
}
