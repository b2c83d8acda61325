//! Importer of `.mesh.xml`: one primitive per submesh; submeshes that share vertices share a primitive too.

use super::known::POINTS_AND_LINES;
use super::xml::Element;
use crate::budget::Budget;
use crate::fault::{Fault, ensure};
use crate::strips;
use skinbench_kernels::model::{Influences, Material, PrimitiveData, Subset};
use std::collections::HashMap;

/// Primitives, and one material per submesh. `entry_of` has the palette entry of each bone's ID.
pub(super) fn read(
    root: Element,
    entry_of: &HashMap<u32, u16>,
    budget: &Budget,
) -> Result<(Vec<PrimitiveData>, Vec<Material>), Fault> {
    let submeshes: Vec<Element> = root
        .inside("submeshes")
        .filter(|child| child.name() == "submesh")
        .collect();
    ensure(submeshes.len() <= usize::from(u16::MAX), || {
        root.fault(format!(
            "{} submeshes; expected at most {}",
            submeshes.len(),
            u16::MAX
        ))
    })?;
    let (mut primitives, mut materials) = (Vec::new(), Vec::with_capacity(submeshes.len()));
    let mut shared_at = None;
    for (material, submesh) in (0..).zip(submeshes) {
        let shares = submesh
            .text("usesharedvertices")?
            .is_some_and(|v| v == "true");
        let at = match shared_at.filter(|_| shares) {
            Some(at) => at,
            None => {
                let (holder, name, missing) = match shares {
                    true => (
                        root,
                        "sharedgeometry",
                        "shares vertices; expected <sharedgeometry> in the mesh",
                    ),
                    false => (submesh, "geometry", "no <geometry>; expected one"),
                };
                let found = holder.named(name).next();
                let mut primitive = geometry(found.ok_or_else(|| submesh.fault(missing))?)?;
                primitive.influences =
                    influences(holder, primitive.positions.len(), entry_of, budget)?;
                primitives.push(primitive);
                primitives.len() - 1
            }
        };
        shared_at = if shares { Some(at) } else { shared_at };
        let target: &mut PrimitiveData = &mut primitives[at];
        let first = target.indices.len() as u32;
        target
            .indices
            .extend(triangles(submesh, target.positions.len())?);
        target.subsets.push(Subset {
            material,
            indices: first..target.indices.len() as u32,
        });
        let name = submesh.text("material")?.unwrap_or_default();
        materials.push(Material {
            name: name.into(),
            ..Material::default()
        });
    }
    Ok((primitives, materials))
}

/// Reads faces as triangles of `count` vertices; none from points and lines.
fn triangles(submesh: Element, count: usize) -> Result<Vec<u32>, Fault> {
    let operation = submesh
        .text("operationtype")?
        .unwrap_or("triangle_list".into());
    let of_triangles = ["triangle_list", "triangle_strip", "triangle_fan"];
    let known = of_triangles.iter().chain(&POINTS_AND_LINES);
    ensure(known.clone().any(|known| *known == operation), || {
        let known: Vec<&str> = known.copied().collect();
        let expected = known.join(", ");
        submesh.fault(format!(
            "operationtype={operation:?}; expected one of {expected}"
        ))
    })?;
    let Some(faces) = submesh.named("faces").next() else {
        return Ok(Vec::new());
    };
    let mut indices = Vec::new();
    let mut found = 0u32;
    for face in faces.children() {
        // In strips and fans, each face after the first adds one vertex.
        let names: &[&str] = match &*operation {
            "triangle_list" => &["v1", "v2", "v3"],
            "triangle_strip" | "triangle_fan" if found == 0 => &["v1", "v2", "v3"],
            "triangle_strip" | "triangle_fan" => &["v1"],
            _ => &[],
        };
        for name in names {
            indices.push(index(face, name, count)?);
        }
        found += 1;
    }
    if faces.text("count")?.is_some() {
        let stated = faces.integer("count")?;
        ensure(stated == found, || {
            faces.fault(format!(
                "count={stated:?}, but {found} follow; expected the same number"
            ))
        })?;
    }
    Ok(match &*operation {
        "triangle_strip" => strips::of_strip(&indices),
        "triangle_fan" => strips::of_fan(&indices),
        _ => indices,
    })
}

/// Reads attributes, which may be spread over vertex buffers, some of them empty.
fn geometry(element: Element) -> Result<PrimitiveData, Fault> {
    let stated = element.integer("vertexcount")?;
    let mut primitive = PrimitiveData {
        dumped_vertices: stated,
        ..PrimitiveData::default()
    };
    for buffer in element.named("vertexbuffer") {
        let (mut positions, mut normals, mut uvs) = (Vec::new(), Vec::new(), Vec::new());
        let mut vertices = 0;
        for vertex in buffer.children() {
            vertices += 1;
            let mut textured = false;
            for attribute in vertex.children() {
                match attribute.name() {
                    "position" => positions.push(attribute.vector()?),
                    "normal" => normals.push(attribute.vector()?),
                    // Only the first set is read.
                    "texcoord" if !std::mem::replace(&mut textured, true) => {
                        // One-dimensional coordinates have no v.
                        let flat = attribute.text("v")?.is_none();
                        let v = if flat { 0.0 } else { attribute.number("v")? };
                        uvs.push([attribute.number("u")?, v]);
                    }
                    _ => {}
                }
            }
            let counts = [positions.len(), normals.len(), uvs.len()];
            let problem = "has other attributes than the vertex before; expected the same";
            ensure(
                counts.iter().all(|&count| count == 0 || count == vertices),
                || vertex.fault(problem),
            )?;
        }
        ensure(vertices == stated as usize, || {
            buffer.fault(format!(
                "{vertices} vertices; expected {stated}, the geometry's vertexcount"
            ))
        })?;
        if primitive.positions.is_empty() {
            primitive.positions = positions;
        }
        primitive.normals = primitive
            .normals
            .take()
            .or(Some(normals))
            .filter(|normals| !normals.is_empty());
        primitive.uvs = primitive
            .uvs
            .take()
            .or(Some(uvs))
            .filter(|uvs| !uvs.is_empty());
    }
    ensure(primitive.positions.len() == stated as usize, || {
        element.fault("no positions; expected them in one of the vertex buffers")
    })?;
    Ok(primitive)
}

/// Reads the bone assignments of a mesh or submesh with `count` vertices.
fn influences(
    holder: Element,
    count: usize,
    entry_of: &HashMap<u32, u16>,
    budget: &Budget,
) -> Result<Influences, Fault> {
    budget.charge_vertices(count, holder.inside("boneassignments").count(), || {
        "vertices".into()
    })?;
    let mut pairs = Vec::new();
    for assignment in holder.inside("boneassignments") {
        let vertex = index(assignment, "vertexindex", count)?;
        let bone = assignment.integer("boneindex")?;
        let weight = assignment.number("weight")?;
        ensure(weight >= 0.0, || {
            assignment.fault(format!("weight={weight}; expected 0 or more"))
        })?;
        let unknown = || {
            assignment.fault(format!(
                "bone {bone}; expected the id of one in the skeleton"
            ))
        };
        pairs.push((vertex, *entry_of.get(&bone).ok_or_else(unknown)?, weight));
    }
    Ok(Influences::gathered(count, pairs))
}

/// A required attribute that is the index of one of `count` vertices.
fn index(element: Element, name: &str, count: usize) -> Result<u32, Fault> {
    let vertex = element.integer(name)?;
    let problem = || {
        element.fault(format!(
            "vertex {vertex} is out of range; there are {count}"
        ))
    };
    ensure((vertex as usize) < count, problem).map(|()| vertex)
}
