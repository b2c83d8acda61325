//! Importer of `.mesh.xml`: one primitive per submesh; submeshes that share vertices share a primitive too.

use super::xml::Element;
use crate::budget::Budget;
use crate::triangles;
use skinbench_kernels::error::Result;
use skinbench_kernels::model::{Influences, Material, ModelParts, Notes, PrimitiveData};
use std::collections::HashMap;

/// Most influences that OGRE gives to a vertex (`OGRE_MAX_BLEND_WEIGHTS`).
const MOST_INFLUENCES: usize = 4;
/// Values of `operationtype`, each with the corners that its first and its further faces have. Strips and fans begin with
/// one triangle, and each further face adds one vertex. Points and lines are not read.
const OPERATIONS: [(&str, [usize; 2]); 6] = [
    ("triangle_list", [3, 3]),
    ("triangle_strip", [3, 1]),
    ("triangle_fan", [3, 1]),
    ("point_list", [0, 0]),
    ("line_list", [0, 0]),
    ("line_strip", [0, 0]),
];

/// Adds primitives, and one material per submesh. `entry_of` has the palette entry of each bone's ID.
pub fn read(
    root: Element,
    entry_of: &HashMap<u32, u16>,
    budget: &Budget,
    parts: &mut ModelParts,
    notes: &mut Notes,
) -> Result<()> {
    let mut shared = None;
    for (index, submesh) in root.items("submeshes", "submesh").enumerate() {
        let most = usize::from(u16::MAX);
        ensure!(
            index < most,
            submesh.at(),
            "expected at most {most} submeshes"
        );
        let shares = submesh.text("usesharedvertices")?.as_deref() == Some("true");
        let mut at = parts.primitives.len();
        let mut holder = submesh;
        let mut name = "geometry";
        if shares {
            at = *shared.get_or_insert(at);
            holder = root;
            name = "sharedgeometry";
        }
        if at == parts.primitives.len() {
            let Some(geometry) = holder.first(name) else {
                bail!(submesh.at(), "no <{name}> for its vertices; expected one");
            };
            let mut primitive = vertices(geometry)?;
            primitive.influences =
                influences(holder, primitive.positions.len(), entry_of, budget, notes)?;
            parts.primitives.push(primitive);
        }
        let primitive = &mut parts.primitives[at];
        let triangles = triangles(submesh, primitive.positions.len())?;
        primitive.add_subset(index as u16, triangles);
        let name = submesh.text("material")?.unwrap_or_default();
        parts.materials.push(Material {
            name: name.into(),
            ..Material::default()
        });
    }
    Ok(())
}

/// Reads faces as triangles of `count` vertices; none from points and lines.
fn triangles(submesh: Element, count: usize) -> Result<Vec<u32>> {
    let operation = submesh.text("operationtype")?;
    let operation = operation.as_deref().unwrap_or("triangle_list");
    let Some((_, [first, further])) = OPERATIONS.iter().find(|known| known.0 == operation) else {
        bail!(
            submesh.at(),
            "operationtype={operation:?}; expected one of {}",
            OPERATIONS.map(|known| known.0).join(", ")
        );
    };
    let mut indices = Vec::new();
    if *first == 0 {
        return Ok(indices);
    }
    if let Some(faces) = submesh.first("faces") {
        let mut found = 0u32;
        for face in faces.all("face") {
            let corners = if found == 0 { *first } else { *further };
            for name in &["v1", "v2", "v3"][..corners] {
                indices.push(face.vertex(name, count)?);
            }
            found += 1;
        }
        if faces.text("count")?.is_some() {
            let stated = faces.integer("count")?;
            ensure!(
                stated == found,
                faces.at(),
                "count={stated:?}, but {found} follow; expected the same number"
            );
        }
    }
    Ok(match operation {
        "triangle_strip" => triangles::of_strip(&indices),
        "triangle_fan" => triangles::of_fan(&indices),
        _ => indices,
    })
}

/// Reads attributes, which may be spread over vertex buffers, some of them empty: each kind from the first buffer that has
/// it.
fn vertices(geometry: Element) -> Result<PrimitiveData> {
    let stated = geometry.integer("vertexcount")?;
    let mut primitive = PrimitiveData {
        dumped_vertices: stated,
        ..PrimitiveData::default()
    };
    for buffer in geometry.all("vertexbuffer") {
        let mut positions = Vec::new();
        let mut normals = Vec::new();
        let mut uvs = Vec::new();
        let mut count = 0;
        for vertex in buffer.all("vertex") {
            if let Some(position) = vertex.first("position") {
                positions.push(position.vector()?);
            }
            if let Some(normal) = vertex.first("normal") {
                normals.push(normal.vector()?);
            }
            if let Some(uv) = vertex.first("texcoord") {
                // One-dimensional coordinates have no v.
                let has_v = uv.text("v")?.is_some();
                let v = if has_v { uv.number("v")? } else { 0.0 };
                uvs.push([uv.number("u")?, v]);
            }
            count += 1;
            let counts = [positions.len(), normals.len(), uvs.len()];
            ensure!(
                counts.iter().all(|&found| found == 0 || found == count),
                vertex.at(),
                "has other attributes than the vertex before; expected the same"
            );
        }
        ensure!(
            count == stated as usize,
            buffer.at(),
            "{count} vertices; expected {stated}, the geometry's vertexcount"
        );
        if primitive.positions.is_empty() {
            primitive.positions = positions;
        }
        if !normals.is_empty() {
            primitive.normals.get_or_insert(normals);
        }
        if !uvs.is_empty() {
            primitive.uvs.get_or_insert(uvs);
        }
    }
    ensure!(
        primitive.positions.len() == stated as usize,
        geometry.at(),
        "no positions; expected them in one of the vertex buffers"
    );
    Ok(primitive)
}

/// Reads the joints and weights of vertices in the mesh or submesh that has them, as many as OGRE uses.
fn influences(
    holder: Element,
    count: usize,
    entry_of: &HashMap<u32, u16>,
    budget: &Budget,
    notes: &mut Notes,
) -> Result<Influences> {
    let assignments: Vec<_> = holder
        .items("boneassignments", "vertexboneassignment")
        .collect();
    budget.charge_vertices(count, assignments.len(), || "vertices".into())?;
    let mut pairs = Vec::with_capacity(assignments.len());
    for assignment in assignments {
        let vertex = assignment.vertex("vertexindex", count)?;
        let bone = assignment.integer("boneindex")?;
        let weight = assignment.number_from(0.0, "weight")?;
        let Some(&entry) = entry_of.get(&bone) else {
            bail!(
                assignment.at(),
                "bone {bone}; expected the id of one in the skeleton"
            );
        };
        pairs.push((vertex, entry, weight));
    }
    let all = Influences::gathered(count, pairs);
    let mut used = Influences::default();
    for vertex in 0..count {
        let pairs = all.of(vertex);
        let found = pairs.len();
        if found > MOST_INFLUENCES {
            let kind = "kept the 4 largest of up to @ influences on # vertices, as OGRE does";
            notes.add_number(kind, found as f32, found as f32);
            used.push_largest(pairs.collect(), MOST_INFLUENCES);
        } else {
            used.push(pairs);
        }
    }
    Ok(used)
}
