//! The node tree, and the part of it that becomes the skeleton.

use super::document::{Document, Mesh, Node};
use super::scenes::{NodeScenes, node_name};
use crate::check::{check_rotation, finite, item};
use crate::matrices;
use glam::{DAffine3, Quat, Vec3};
use skinbench_kernels::error::{DataError, Result};
use skinbench_kernels::model::{
    IDENTITY_ROWS, Joint, JointTransform, Notes, Skeleton, SkinData, Transform, affine_to_rows,
};
use std::collections::BTreeSet;

/// The node tree.
pub struct Tree {
    /// The parent of each node.
    parents: Vec<Option<usize>>,
    /// All nodes, each after its parent.
    order: Vec<usize>,
}

/// Checks the node tree. Refuses children out of range, nodes with two parents, and cycles.
pub fn tree(nodes: &[Node]) -> Result<Tree> {
    let mut parents: Vec<Option<usize>> = vec![None; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        for (at, &child) in node.children.iter().enumerate() {
            item(nodes, child, "node", || {
                format!("nodes[{index}].children[{at}]")
            })?;
            if let Some(other) = parents[child as usize].replace(index) {
                bail!(
                    format!("nodes[{index}].children[{at}]"),
                    "nodes[{child}] is a child of nodes[{other}] already; expected one parent"
                );
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
        // Every node has at most one parent, so a node that no root reaches is on a cycle or below one. From there, as
        // many steps up as there are nodes end on the cycle.
        order.sort_unstable();
        let reached = (0..).zip(&order).take_while(|(node, known)| node == *known);
        let mut index = reached.count();
        for _ in nodes {
            index = parents[index].unwrap_or(index);
        }
        bail!(
            format!("nodes[{index}]"),
            "its chain of parents is a cycle; expected one that ends at a root"
        );
    }
    Ok(Tree { parents, order })
}

/// A node's use of a mesh with a skin, with morph targets, or with both.
pub struct MovedNode {
    pub node: usize,
    pub mesh: usize,
    pub skin: Option<usize>,
    /// Number of the mesh's morph targets.
    pub targets: usize,
}

/// Nodes whose mesh the model has, and which has a skin or morph targets, by index.
pub fn moved_nodes(document: &Document, scenes: &NodeScenes) -> Result<Vec<MovedNode>> {
    let mut moved = Vec::new();
    let mut in_other_scenes = 0;
    for (index, node) in document.nodes.iter().enumerate() {
        let mut targets = 0;
        if let Some(mesh) = node.mesh {
            let place = || format!("nodes[{index}].mesh");
            targets = target_count(mesh, item(&document.meshes, mesh, "", place)?)?;
        }
        if let Some(skin) = node.skin {
            item(&document.skins, skin, "", || format!("nodes[{index}].skin"))?;
        }
        let Some(mesh) = node.mesh else { continue };
        if node.skin.is_none() && targets == 0 {
            continue;
        }
        if scenes.shows(index) {
            moved.push(MovedNode {
                node: index,
                mesh: mesh as usize,
                skin: node.skin.map(|skin| skin as usize),
                targets,
            });
        } else {
            in_other_scenes += 1;
        }
    }
    if moved.is_empty() && in_other_scenes > 0 {
        bail!(
            "nodes",
            "no skin and no morph target in the default scene, and {in_other_scenes} meshes with either elsewhere; expected at least one mesh with either in that scene"
        );
    }
    ensure!(
        !moved.is_empty(),
        "nodes",
        "no skin and no morph target; expected at least one mesh with either"
    );
    Ok(moved)
}

/// Number of morph targets of a mesh, which all of its primitives must have.
fn target_count(index: u32, mesh: &Mesh) -> Result<usize> {
    let first = mesh.primitives.first();
    let first = first.map_or(0, |primitive| primitive.targets.len());
    for (other, primitive) in mesh.primitives.iter().enumerate() {
        let count = primitive.targets.len();
        ensure!(
            count == first,
            format!("meshes[{index}].primitives[{other}].targets"),
            "{count} morph targets; expected {first}, as the first primitive has"
        );
    }
    Ok(first)
}

/// Skins that nodes use, by index.
pub fn used_skins(moved: &[MovedNode]) -> BTreeSet<usize> {
    moved.iter().filter_map(|node| node.skin).collect()
}

/// The skeleton and the nodes that move with it.
pub struct NodeSkeleton {
    pub skeleton: Skeleton,
    /// Joint of each node, if it is one.
    pub joint_of: Vec<Option<u16>>,
    /// Nodes that are attached to a joint and have a mesh without a skin, each with its mesh.
    pub rigid: Vec<(usize, usize)>,
    /// The joint of each of these, and the transform from mesh to joint space.
    pub rigid_skin: SkinData,
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

impl NodeSkeleton {
    /// Takes the joints of all used skins, the nodes of meshes that have morph targets and no skin, every ancestor that
    /// moves them, and the nodes that move rigid meshes below them. Other meshes are left out with a note.
    pub fn new(
        document: &Document,
        tree: Tree,
        scenes: &NodeScenes,
        moved: &[MovedNode],
        notes: &mut Notes,
    ) -> Result<Self> {
        let nodes = &document.nodes;
        let Tree { parents, order } = tree;
        let mut roles = vec![Role::default(); nodes.len()];
        mark_joints(document, moved, &mut roles)?;
        mark_animated(document, &mut roles)?;
        for &n in &order {
            roles[n].under_joint =
                roles[n].joint || parents[n].is_some_and(|p| roles[p].under_joint);
            let rigid = scenes.shows(n) && nodes[n].mesh.is_some() && nodes[n].skin.is_none();
            roles[n].carries = rigid && roles[n].under_joint;
            if rigid && !roles[n].under_joint {
                let name = node_name(n, &nodes[n]);
                notes.add_name("left out meshes that no joint moves", name);
            }
        }
        let mut locals = vec![None; nodes.len()];
        let identities = [
            JointTransform::Transform(Transform::IDENTITY),
            JointTransform::Matrix(IDENTITY_ROWS),
        ];
        for &n in order.iter().rev() {
            let role = &mut roles[n];
            role.needed |= role.joint || (role.animated && role.under_joint && role.carries);
            if !role.needed && !role.carries {
                continue;
            }
            let local = local(&nodes[n], n, notes)?;
            role.kept =
                role.needed && (role.joint || role.animated || !identities.contains(&local));
            locals[n] = Some(local);
            let role = *role;
            if let Some(parent) = parents[n] {
                let parent = &mut roles[parent];
                parent.needed |= role.needed;
                parent.carries |= role.carries && parent.under_joint;
            }
        }

        let mut anchors: Vec<Option<Anchor>> = vec![None; nodes.len()];
        for &n in &order {
            if roles[n].kept {
                anchors[n] = Some(Anchor {
                    node: n,
                    way: DAffine3::IDENTITY,
                });
            } else if let Some(above) = parents[n].and_then(|parent| anchors[parent])
                && let Some(local) = locals[n]
            {
                anchors[n] = Some(Anchor {
                    node: above.node,
                    way: above.way * local.to_affine(),
                });
            }
        }
        let kept: Vec<usize> = (0..nodes.len()).filter(|&n| roles[n].kept).collect();
        let mut joints = Vec::new();
        for &n in &kept {
            let above = parents[n].and_then(|parent| anchors[parent]);
            joints.extend(locals[n].map(|rest| Joint {
                name: nodes[n].name.clone(),
                parent: above.and_then(|anchor| kept.binary_search(&anchor.node).ok()),
                rest,
            }));
        }
        let (skeleton, new_index) = Skeleton::new(joints)?;
        let mut joint_of = vec![None; nodes.len()];
        for (n, joint) in kept.into_iter().zip(new_index) {
            joint_of[n] = Some(joint);
        }
        let mut rigid = Vec::new();
        let mut rigid_skin = SkinData {
            name: "rigid meshes".into(),
            joints: Vec::new(),
            inverse_binds: Vec::new(),
        };
        for (n, node) in nodes.iter().enumerate() {
            if roles[n].under_joint
                && scenes.shows(n)
                && node.skin.is_none()
                && let Some(mesh) = node.mesh
                && let Some(anchor) = anchors[n]
            {
                rigid.push((n, mesh as usize));
                rigid_skin.joints.extend(joint_of[anchor.node]);
                rigid_skin.inverse_binds.push(affine_to_rows(&anchor.way));
            }
        }
        Ok(Self {
            skeleton,
            joint_of,
            rigid,
            rigid_skin,
        })
    }
}

/// The closest kept node at or above a node, and the fixed transform between the two.
#[derive(Clone, Copy)]
struct Anchor {
    node: usize,
    way: DAffine3,
}

fn mark_joints(document: &Document, moved: &[MovedNode], roles: &mut [Role]) -> Result<()> {
    for moved in moved {
        roles[moved.node].joint |= moved.skin.is_none();
    }
    for index in used_skins(moved) {
        let skin = &document.skins[index];
        ensure!(
            !skin.joints.is_empty(),
            format!("skins[{index}].joints"),
            "none; expected at least one"
        );
        for (at, &joint) in skin.joints.iter().enumerate() {
            item(&document.nodes, joint, "node", || {
                format!("skins[{index}].joints[{at}]")
            })?;
            roles[joint as usize].joint = true;
        }
    }
    Ok(())
}

fn mark_animated(document: &Document, roles: &mut [Role]) -> Result<()> {
    for (index, animation) in document.animations.iter().enumerate() {
        for (at, channel) in animation.channels.iter().enumerate() {
            if let Some(node) = channel.target.node
                && channel.target.path != "weights"
            {
                item(&document.nodes, node, "", || {
                    format!("animations[{index}].channels[{at}].target.node")
                })?;
                roles[node as usize].animated = true;
            }
        }
    }
    Ok(())
}

/// A node's transform to its parent.
fn local(node: &Node, index: usize, notes: &mut Notes) -> Result<JointTransform> {
    if let Some(matrix) = &node.matrix {
        let place = format!("nodes[{index}].matrix");
        finite(matrix.as_slice(), || place.clone())?;
        ensure!(
            node.translation.is_none() && node.rotation.is_none() && node.scale.is_none(),
            place,
            "stands beside translation, rotation or scale; expected either"
        );
        let rows = matrices::rows(matrix).map_err(|problem| DataError::new(place, problem))?;
        return Ok(JointTransform::Matrix(rows));
    }
    let translation = node.translation.unwrap_or_default();
    let rotation = node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
    let scale = node.scale.unwrap_or([1.0; 3]);
    finite(&translation, || format!("nodes[{index}].translation"))?;
    finite(&rotation, || format!("nodes[{index}].rotation"))?;
    finite(&scale, || format!("nodes[{index}].scale"))?;
    check_rotation(&rotation, notes)
        .map_err(|problem| DataError::new(format!("nodes[{index}].rotation"), problem))?;
    Ok(JointTransform::Transform(Transform {
        rotation: Quat::from_array(rotation),
        translation: Vec3::from_array(translation),
        scale: Vec3::from_array(scale),
    }))
}
