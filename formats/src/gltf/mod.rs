//! glTF 2.0: `.gltf` with data URIs or external buffers, and `.glb`.
//!
//! Every size and index in a file is checked before it is used or allocated for; `budget` limits the memory
//! that a file can request.

mod accessor;
mod animation;
mod buffer_bytes;
mod compressed;
mod container;
mod document;
mod extras;
mod mesh;
pub mod names;
mod nodes;
mod scenes;
mod targets;
mod textures;

use crate::budget::Budget;
use crate::check::finite;
use crate::matrices;
use crate::read_file::{contains, read_file, stem};
use crate::request::{Request, Vertices};
use crate::textures::or_left_out;
use accessor::AccessorReader;
use document::Document;
pub use document::IGNORED;
use mesh::{Binding, Sharing};
use nodes::{MovedNode, NodeSkeleton};
use scenes::NodeScenes;
use skinbench_kernels::error::Result;
use skinbench_kernels::model::{
    Axes, Handedness, IDENTITY_ROWS, MAX_JOINTS, Material, ModelParts, Notes, PrimitiveData, Rows,
    SkinData,
};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use targets::NodeTargets;

/// Returns whether it is a container, or JSON with the one property that the specification requires.
pub fn sniff(head: &[u8]) -> bool {
    head.starts_with(b"glTF") || contains(head, "\"asset\"")
}

/// Reads a file and the buffers in its folder that it refers to.
///
/// # Errors
/// A file that cannot be read, violates the specification, or needs an extension that is not supported.
pub fn import(request: &Request, notes: &mut Notes) -> Result<ModelParts> {
    let file = request.file;
    let bytes = read_file(file)?;
    let container = container::split(&bytes)?;
    let budget = Budget::new(bytes.len());
    let document = Document::parse(container.json, container.binary, &budget, notes)?;
    let tree = nodes::tree(&document.nodes)?;
    let scenes = NodeScenes::new(&document)?;
    let moved = nodes::moved_nodes(&document, &scenes)?;
    scenes.describe(&document, notes);
    let skeleton = NodeSkeleton::new(&document, tree, &scenes, &moved, notes)?;
    let buffers = buffer_bytes::load(file, &document.buffers, container.bin, &budget)?;
    let reader = AccessorReader {
        document: &document,
        buffers: &buffers,
        decompressed: &compressed::decode(&document, &buffers, &budget)?,
        budget: &budget,
    };
    let Skins { list, uses } = skins(&reader, &skeleton, &moved)?;
    let targets = NodeTargets::new(&reader, &moved, notes)?;
    let clips = animation::clips(&reader, &skeleton.joint_of, &targets, &scenes, notes)?;
    let primitives = primitives(&reader, uses, &targets, request.vertices, notes)?;
    let materials = materials(&reader, file, &primitives, notes)?;
    Ok(ModelParts {
        name: stem(file),
        axes: axes(&document)?,
        skeleton: skeleton.skeleton,
        skins: list,
        clips,
        primitives,
        targets: targets.list,
        materials,
        notes: Notes::default(),
    })
}

/// glTF's axes, or the original axes that our exporter recorded.
fn axes(document: &Document) -> Result<Axes> {
    let original = &document.asset.extras.skinbench;
    let mut axes = Axes::Y_UP;
    if let Some(name) = &original.handedness {
        axes.handedness = match name.as_str() {
            "right" => Handedness::Right,
            "left" => Handedness::Left,
            _ => bail!(
                "asset.extras.skinbench.handedness",
                "{name:?}; expected \"left\" or \"right\""
            ),
        };
    }
    if let Some(up) = original.up {
        ensure!(
            up <= 2,
            "asset.extras.skinbench.up",
            "{up}; expected 0, 1 or 2"
        );
        axes.up = up;
    }
    Ok(axes)
}

/// A node, its mesh, and what moves the vertices there.
struct MeshUse {
    node: usize,
    mesh: usize,
    binding: Binding,
}

/// The skins that nodes use, then one whose entries move the rigid meshes, if there are any; and the uses of all meshes.
struct Skins {
    list: Vec<SkinData>,
    uses: Vec<MeshUse>,
}

fn skins(reader: &AccessorReader, skeleton: &NodeSkeleton, moved: &[MovedNode]) -> Result<Skins> {
    let mut list = Vec::new();
    let mut bindings = HashMap::new();
    // Entries are counted before they are allocated.
    let mut entries = 0;
    for index in nodes::used_skins(moved) {
        let skin = &reader.document.skins[index];
        let place = format!("skins[{index}]");
        count_entries(&mut entries, skin.joints.len(), &format!("{place}.joints"))?;
        // Every joint of a used skin is a joint of the skeleton.
        let joints = skin.joints.iter();
        let joints: Vec<u16> = joints
            .filter_map(|&n| skeleton.joint_of[n as usize])
            .collect();
        let inverse_binds = match skin.inverse_bind_matrices {
            None => vec![IDENTITY_ROWS; joints.len()],
            Some(accessor) => {
                let user = format!("{place}.inverseBindMatrices");
                inverse_binds(reader, accessor, &user, joints.len())?
            }
        };
        let binding = Binding::Skin {
            // Each skin has at least one of at most MAX_JOINTS entries, so the index fits.
            skin: list.len() as u16,
            joints: joints.len(),
        };
        bindings.insert(index, binding);
        list.push(SkinData {
            name: skin.name.clone(),
            joints,
            inverse_binds,
        });
    }
    let mut uses = Vec::new();
    for moved in moved {
        if let Some(binding) = moved.skin.and_then(|skin| bindings.get(&skin)) {
            uses.push(MeshUse {
                node: moved.node,
                mesh: moved.mesh,
                binding: *binding,
            });
        }
    }
    if !skeleton.rigid.is_empty() {
        count_entries(&mut entries, skeleton.rigid.len(), "nodes")?;
        let skin = list.len() as u16;
        for (entry, &(node, mesh)) in (0..).zip(&skeleton.rigid) {
            uses.push(MeshUse {
                node,
                mesh,
                binding: Binding::Rigid { skin, entry },
            });
        }
        list.push(skeleton.rigid_skin.clone());
    }
    Ok(Skins { list, uses })
}

/// Adds palette entries to those so far; refuses more than a model may have.
fn count_entries(entries: &mut usize, more: usize, place: &str) -> Result<()> {
    *entries = entries.saturating_add(more);
    ensure!(
        *entries <= MAX_JOINTS,
        place,
        "{entries} palette entries so far; expected at most {MAX_JOINTS} in a model"
    );
    Ok(())
}

fn inverse_binds(
    reader: &AccessorReader,
    accessor: u32,
    user: &str,
    joints: usize,
) -> Result<Vec<Rows>> {
    let matrices = reader.floats::<16>(accessor, user)?;
    ensure!(
        matrices.len() >= joints,
        user,
        "{} matrices for {joints} joints; expected as many",
        matrices.len()
    );
    let mut inverse_binds = Vec::new();
    for (index, matrix) in matrices.iter().take(joints).enumerate() {
        match matrices::rows(matrix) {
            Ok(rows) => inverse_binds.push(rows),
            Err(problem) => bail!(user, "matrix {index}: {problem}"),
        }
    }
    Ok(inverse_binds)
}

/// Converts nodes with a skin or morph targets by index, then the other rigid ones.
fn primitives(
    reader: &AccessorReader,
    mut uses: Vec<MeshUse>,
    targets: &NodeTargets,
    vertices: Vertices,
    notes: &mut Notes,
) -> Result<Vec<PrimitiveData>> {
    uses.sort_by_key(|used| {
        let has_skin = reader.document.nodes[used.node].skin.is_some();
        let moves = has_skin || targets.of_node.contains_key(&used.node);
        (!moves, used.node)
    });
    let mut primitives = Vec::new();
    let mut sharing = Sharing::new(reader.document, vertices, notes);
    for MeshUse {
        node,
        mesh,
        binding,
    } in uses
    {
        let first_target = targets.of_node.get(&node).map(|targets| targets.start);
        let converted = mesh::primitives(reader, mesh, binding, first_target, &mut sharing)?;
        primitives.extend(converted);
    }
    Ok(primitives)
}

/// The file's materials with their base colours, and a default one if some primitive has none.
fn materials(
    reader: &AccessorReader,
    file: &Path,
    primitives: &[PrimitiveData],
    notes: &mut Notes,
) -> Result<Vec<Material>> {
    let document = reader.document;
    let count = document.materials.len();
    ensure!(
        count < usize::from(u16::MAX),
        "materials",
        "{count}; expected at most {}",
        u16::MAX - 1
    );
    let subsets = primitives.iter().flat_map(|primitive| &primitive.subsets);
    let used: HashSet<usize> = subsets.map(|subset| subset.material.into()).collect();
    let mut images = HashMap::new();
    let mut materials = Vec::new();
    for (index, material) in document.materials.iter().enumerate() {
        let surface = &material.pbr_metallic_roughness;
        let base_color = surface.base_color_factor;
        finite(&base_color, || {
            format!("materials[{index}].pbrMetallicRoughness.baseColorFactor")
        })?;
        let mut texture = None;
        if let Some(info) = &surface.base_color_texture
            && used.contains(&index)
        {
            texture = or_left_out(textures::texture(reader, file, &mut images, info), notes);
        }
        let alpha_cutoff = match material.alpha_mode.as_deref() {
            Some("MASK") => Some(material.alpha_cutoff.unwrap_or(0.5).clamp(0.0, 1.0)),
            // Pictures blend nothing: the more transparent half of an image is left out.
            Some("BLEND") if texture.is_some() => Some(0.5 * base_color[3].clamp(0.0, 1.0)),
            _ => None,
        };
        materials.push(Material {
            name: material.name.clone(),
            base_color,
            alpha_cutoff,
            texture,
        });
    }
    if used.contains(&count) {
        materials.push(Material::default());
    }
    Ok(materials)
}
