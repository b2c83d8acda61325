//! Importer of `.mesh.xml`: one primitive per submesh; submeshes that share vertices share a primitive too.

use super::known::POINTS_AND_LINES;
use super::xml::Element;
use crate::budget::Budget;
use crate::fault::Fault;
use crate::triangles;
use skinbench_kernels::model::{Influences, Material, ModelParts, PrimitiveData};
use std::collections::HashMap;

/// Adds primitives, and one material per submesh. `entry_of` has the palette entry of each bone's ID.
pub fn read(
    root: Element,
    entry_of: &HashMap<u32, u16>,
    budget: &Budget,
    parts: &mut ModelParts,
) -> Result<(), Fault> {
    let submeshes = root.inside("submeshes");
    let submeshes: Vec<_> = submeshes
        .filter(|child| child.name() == "submesh")
        .collect();
    let count = submeshes.len();
    ensure!(
        count <= usize::from(u16::MAX),
        root.place(),
        "{count} submeshes; expected at most {}",
        u16::MAX
    );
    let mut shared_at = None;
    for (material, submesh) in (0..).zip(submeshes) {
        let shares = submesh.text("usesharedvertices")?;
        let shares = shares.is_some_and(|value| value == "true");
        let at = match shared_at {
            Some(at) if shares => at,
            _ => {
                let mut holder = submesh;
                let mut name = "geometry";
                let mut problem = "no <geometry>; expected one";
                if shares {
                    holder = root;
                    name = "sharedgeometry";
                    problem = "shares vertices; expected <sharedgeometry> in the mesh";
                }
                let Some(geometry) = holder.named(name).next() else {
                    bail!(submesh.place(), "{problem}");
                };
                let primitive = self::geometry(geometry, holder, entry_of, budget)?;
                parts.primitives.push(primitive);
                parts.primitives.len() - 1
            }
        };
        if shares {
            shared_at = Some(at);
        }
        let primitive = &mut parts.primitives[at];
        let triangles = triangles(submesh, primitive.positions.len())?;
        primitive.add_subset(material, triangles);
        let name = submesh.text("material")?.unwrap_or_default();
        parts.materials.push(Material {
            name: name.into(),
            ..Material::default()
        });
    }
    Ok(())
}

/// Reads faces as triangles of `count` vertices; none from points and lines.
fn triangles(submesh: Element, count: usize) -> Result<Vec<u32>, Fault> {
    let operation = submesh.text("operationtype")?;
    let operation = operation.as_deref().unwrap_or("triangle_list");
    // Strips and fans begin with one triangle, and each further face adds one vertex.
    let [first, further]: [&[&str]; 2] = match operation {
        "triangle_list" => [&["v1", "v2", "v3"]; 2],
        "triangle_strip" | "triangle_fan" => [&["v1", "v2", "v3"], &["v1"]],
        _ => [&[]; 2],
    };
    if first.is_empty() && !POINTS_AND_LINES.contains(&operation) {
        bail!(
            submesh.place(),
            "operationtype={operation:?}; expected one of triangle_list, triangle_strip, triangle_fan, {}",
            POINTS_AND_LINES.join(", ")
        );
    }
    let Some(faces) = submesh.named("faces").next() else {
        return Ok(Vec::new());
    };
    let mut indices = Vec::new();
    let mut found = 0u32;
    for face in faces.children() {
        for name in if found == 0 { first } else { further } {
            indices.push(index(face, name, count)?);
        }
        found += 1;
    }
    if faces.text("count")?.is_some() {
        let stated = faces.integer("count")?;
        ensure!(
            stated == found,
            faces.place(),
            "count={stated:?}, but {found} follow; expected the same number"
        );
    }
    Ok(match operation {
        "triangle_strip" => triangles::of_strip(&indices),
        "triangle_fan" => triangles::of_fan(&indices),
        _ => indices,
    })
}

/// Reads attributes, which may be spread over vertex buffers, some of them empty; and the bone assignments of the mesh or
/// submesh that has the geometry.
fn geometry(
    element: Element,
    holder: Element,
    entry_of: &HashMap<u32, u16>,
    budget: &Budget,
) -> Result<PrimitiveData, Fault> {
    let stated = element.integer("vertexcount")?;
    let mut primitive = PrimitiveData {
        dumped_vertices: stated,
        ..PrimitiveData::default()
    };
    for buffer in element.named("vertexbuffer") {
        let mut positions = Vec::new();
        let mut normals = Vec::new();
        let mut uvs = Vec::new();
        let mut vertices = 0;
        for vertex in buffer.children() {
            vertices += 1;
            let uvs_before = uvs.len();
            for attribute in vertex.children() {
                match attribute.name() {
                    "position" => positions.push(attribute.vector()?),
                    "normal" => normals.push(attribute.vector()?),
                    // Only the first set is read.
                    "texcoord" if uvs.len() == uvs_before => {
                        // One-dimensional coordinates have no v.
                        let has_v = attribute.text("v")?.is_some();
                        let v = if has_v { attribute.number("v")? } else { 0.0 };
                        uvs.push([attribute.number("u")?, v]);
                    }
                    _ => {}
                }
            }
            let counts = [positions.len(), normals.len(), uvs.len()];
            let are_all = counts.iter().all(|&count| count == 0 || count == vertices);
            ensure!(
                are_all,
                vertex.place(),
                "has other attributes than the vertex before; expected the same"
            );
        }
        ensure!(
            vertices == stated as usize,
            buffer.place(),
            "{vertices} vertices; expected {stated}, the geometry's vertexcount"
        );
        if primitive.positions.is_empty() {
            primitive.positions = positions;
        }
        if primitive.normals.is_none() && !normals.is_empty() {
            primitive.normals = Some(normals);
        }
        if primitive.uvs.is_none() && !uvs.is_empty() {
            primitive.uvs = Some(uvs);
        }
    }
    let count = primitive.positions.len();
    ensure!(
        count == stated as usize,
        element.place(),
        "no positions; expected them in one of the vertex buffers"
    );
    let assignments = holder.inside("boneassignments").count();
    budget.charge_vertices(count, assignments, || "vertices".into())?;
    let mut influences = Vec::with_capacity(assignments);
    for assignment in holder.inside("boneassignments") {
        let vertex = index(assignment, "vertexindex", count)?;
        let bone = assignment.integer("boneindex")?;
        let weight = assignment.number("weight")?;
        ensure!(
            weight >= 0.0,
            assignment.place(),
            "weight={weight}; expected 0 or more"
        );
        let Some(&entry) = entry_of.get(&bone) else {
            bail!(
                assignment.place(),
                "bone {bone}; expected the id of one in the skeleton"
            );
        };
        influences.push((vertex, entry, weight));
    }
    primitive.influences = Influences::gathered(count, influences);
    Ok(primitive)
}

/// A required attribute that is the index of one of `count` vertices.
fn index(element: Element, name: &str, count: usize) -> Result<u32, Fault> {
    let vertex = element.integer(name)?;
    if vertex as usize >= count {
        bail!(
            element.place(),
            "vertex {vertex} is out of range; there are {count}"
        );
    }
    Ok(vertex)
}
