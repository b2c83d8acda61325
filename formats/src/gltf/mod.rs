//! glTF 2.0: `.gltf` with data URIs or external buffers, and `.glb`.
//!
//! Every size and index in a file is checked before it is used or allocated for; `budget` limits the memory
//! that a file can request.

mod accessor;
mod animation;
mod buffer_bytes;
mod container;
mod document;
mod extras;
mod mesh;
pub(crate) mod names;
mod nodes;
mod scenes;
mod targets;
mod textures;

use crate::budget::Budget;
use crate::fault::{Fault, ensure, finite, in_file};
use crate::request::{Request, Vertices};
use crate::textures::LeftOut;
use crate::{ImportError, matrices};
use accessor::Reader;
use document::Document;
pub(super) use document::IGNORED;
use extras::Notes;
use mesh::{Binding, Sharing};
use nodes::{MovedNode, NodeRig};
use scenes::Places;
use skinbench_kernels::model::{
    Axes, Handedness, IDENTITY_ROWS, MAX_JOINTS, Material, ModelParts, PrimitiveData, Repair, Rows,
    SkinData,
};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use targets::NodeTargets;

/// Returns whether it is a container, or JSON with the one property that the specification requires.
pub(super) fn sniff(head: &[u8]) -> bool {
    head.starts_with(b"glTF") || crate::read_file::contains(head, "\"asset\"")
}

/// Reads a file and the buffers in its folder that it refers to.
///
/// # Errors
/// A file that cannot be read, violates the specification, or needs an extension that is not supported.
pub(super) fn import(request: &Request) -> Result<ModelParts, ImportError> {
    let bytes = crate::read_file::read_file(request.file)?;
    read(request, &bytes).map_err(in_file(request.file))
}

fn read(request: &Request, bytes: &[u8]) -> Result<ModelParts, Fault> {
    let file = request.file;
    let container = container::split(bytes)?;
    let budget = Budget::new(bytes.len());
    let (document, unread) = Document::parse(container.json, container.binary, &budget)?;
    let tree = nodes::tree(&document.nodes)?;
    let places = Places::new(&document)?;
    let moved = nodes::moved_nodes(&document, &places)?;
    let mut repairs: Vec<Repair> = unread.describe().into_iter().collect();
    places.describe(&document, &mut repairs);
    let rig = NodeRig::new(&document, tree, &places, &moved, &mut repairs)?;
    let buffers = buffer_bytes::load(file, &document.buffers, container.bin, &budget)?;
    let reader = Reader {
        document: &document,
        buffers: &buffers,
        budget: &budget,
    };
    let (skins, used) = skins(&reader, &rig, &moved)?;
    let targets = NodeTargets::new(&reader, &moved)?;
    let clips = animation::clips(&reader, &rig.joint_of, &targets, &places, &mut repairs)?;
    let primitives = primitives(&reader, used, &targets, request.vertices, &mut repairs)?;
    let materials = materials(&reader, file, &primitives, &mut repairs)?;
    let name = crate::read_file::stem(file);
    let NodeRig { skeleton, .. } = rig;
    let (axes, targets) = (axes(&document)?, targets.list);
    Ok(ModelParts {
        name,
        axes,
        skeleton,
        skins,
        clips,
        primitives,
        targets,
        materials,
        repairs,
    })
}

/// glTF's axes, or the original axes that our exporter recorded.
fn axes(document: &Document) -> Result<Axes, Fault> {
    let Notes { handedness, up, .. } = &document.asset.extras.skinbench;
    let place = |field: &str| format!("asset.extras.skinbench.{field}");
    let handedness = handedness
        .as_deref()
        .unwrap_or(names::handedness(Axes::Y_UP.handedness));
    let known = [Handedness::Right, Handedness::Left]
        .into_iter()
        .find(|known| names::handedness(*known) == handedness);
    let handedness = known.ok_or_else(|| {
        Fault::new(
            place("handedness"),
            format!("{handedness:?}; expected \"left\" or \"right\""),
        )
    })?;
    match up.unwrap_or(Axes::Y_UP.up) {
        up @ 0..=2 => Ok(Axes { handedness, up }),
        up => Err(Fault::new(place("up"), format!("{up}; expected 0, 1 or 2"))),
    }
}

/// A node, its mesh, and what moves the vertices there.
type MeshUse = (usize, usize, Binding);

/// The skins that nodes use, then one whose entries move the rigid meshes, if there are any; and the uses of all meshes.
fn skins(
    reader: &Reader,
    rig: &NodeRig,
    moved: &[MovedNode],
) -> Result<(Vec<SkinData>, Vec<MeshUse>), Fault> {
    let (mut skins, mut bindings) = (Vec::new(), HashMap::new());
    // Entries are counted before they are allocated.
    let mut entries = 0usize;
    let mut claim = |more: usize, place: String| {
        entries = entries.saturating_add(more);
        ensure(entries <= MAX_JOINTS, || {
            let problem = format!(
                "{entries} palette entries so far; expected at most {MAX_JOINTS} in a model"
            );
            Fault::new(place, problem)
        })
    };
    for index in nodes::used_skins(moved) {
        let skin = &reader.document.skins[index];
        let place = |field: &str| format!("skins[{index}].{field}");
        claim(skin.joints.len(), place("joints"))?;
        // Every joint of a used skin is a joint of the skeleton.
        let joints: Vec<u16> = skin
            .joints
            .iter()
            .filter_map(|&n| rig.joint_of.get(n as usize).copied().flatten())
            .collect();
        let inverse_binds = match skin.inverse_bind_matrices {
            None => vec![IDENTITY_ROWS; joints.len()],
            Some(accessor) => inverse_binds(
                reader,
                accessor,
                &place("inverseBindMatrices"),
                joints.len(),
            )?,
        };
        // Each skin has at least one of at most MAX_JOINTS entries, so the index fits.
        bindings.insert(
            index,
            Binding::Skin {
                skin: skins.len() as u16,
                joints: joints.len(),
            },
        );
        skins.push(SkinData {
            name: skin.name.clone(),
            joints,
            inverse_binds,
        });
    }
    let skinned = moved
        .iter()
        .filter_map(|node| Some((node.node, node.mesh, *bindings.get(&node.skin?)?)));
    let mut used: Vec<MeshUse> = skinned.collect();
    if !rig.rigid.is_empty() {
        claim(rig.rigid.len(), "nodes".into())?;
        let binding = |entry: u16| Binding::Rigid {
            skin: skins.len() as u16,
            entry,
        };
        used.extend(
            (0..)
                .zip(&rig.rigid)
                .map(|(entry, &(node, mesh))| (node, mesh, binding(entry))),
        );
        skins.push(rig.rigid_skin.clone());
    }
    Ok((skins, used))
}

fn inverse_binds(
    reader: &Reader,
    accessor: u32,
    user: &str,
    joints: usize,
) -> Result<Vec<Rows>, Fault> {
    let matrices = reader.floats::<16>(accessor, user)?;
    ensure(matrices.len() >= joints, || {
        Fault::new(
            user,
            format!(
                "{} matrices for {joints} joints; expected as many",
                matrices.len()
            ),
        )
    })?;
    let rows = matrices
        .iter()
        .take(joints)
        .enumerate()
        .map(|(index, matrix)| {
            matrices::rows(matrix)
                .map_err(|problem| Fault::new(user, format!("matrix {index}: {problem}")))
        });
    rows.collect()
}

/// Converts nodes with a skin or morph targets by index, then the other rigid ones.
fn primitives(
    reader: &Reader,
    mut used: Vec<MeshUse>,
    targets: &NodeTargets,
    vertices: Vertices,
    repairs: &mut Vec<Repair>,
) -> Result<Vec<PrimitiveData>, Fault> {
    used.sort_by_key(|(node, ..)| {
        (
            reader.document.nodes[*node].skin.is_none() && !targets.of.contains_key(node),
            *node,
        )
    });
    let mut primitives = Vec::new();
    let mut sharing = Sharing::new(reader.document, vertices);
    for (node, mesh, binding) in used {
        let first_target = targets.of.get(&node).map(|own| own.start);
        let own = mesh::primitives(reader, mesh, binding, first_target, &mut sharing)?;
        primitives.extend(own);
    }
    repairs.extend(sharing.describe());
    Ok(primitives)
}

/// The file's materials with their base colours, and a default one if some primitive has none.
fn materials(
    reader: &Reader,
    file: &Path,
    primitives: &[PrimitiveData],
    repairs: &mut Vec<Repair>,
) -> Result<Vec<Material>, Fault> {
    let document = reader.document;
    let count = document.materials.len();
    ensure(count < usize::from(u16::MAX), || {
        Fault::new(
            "materials",
            format!("{count}; expected at most {}", u16::MAX - 1),
        )
    })?;
    let used: HashSet<usize> = primitives
        .iter()
        .flat_map(|p| &p.subsets)
        .map(|s| s.material.into())
        .collect();
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut images = HashMap::new();
    let mut left_out = LeftOut::default();
    let mut materials = Vec::with_capacity(count + 1);
    for (index, material) in document.materials.iter().enumerate() {
        let surface = &material.pbr_metallic_roughness;
        let base_color = surface.base_color_factor;
        finite(&base_color, || {
            format!("materials[{index}].pbrMetallicRoughness.baseColorFactor")
        })?;
        let texture = surface
            .base_color_texture
            .as_ref()
            .filter(|_| used.contains(&index));
        let texture = texture
            .and_then(|info| left_out.keep(textures::texture(reader, folder, &mut images, info)));
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
    repairs.extend(left_out.describe());
    if used.contains(&count) {
        materials.push(Material::default());
    }
    Ok(materials)
}
