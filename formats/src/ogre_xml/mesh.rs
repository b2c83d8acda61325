//! Importer of `.mesh.xml`: one primitive per submesh; submeshes that share vertices share a primitive too.

use super::xml::{Element, Xml};
use crate::budget::Budget;
use crate::fault::{Fault, ensure};
use crate::strips;
use skinbench_kernels::model::{Influences, Material, PrimitiveData, Subset};

/// Content of a mesh file; its bones are still IDs.
pub(super) struct MeshFile {
    pub(super) geometries: Vec<OgreGeometry>,
    pub(super) materials: Vec<Material>,
    /// Name in `skeletonlink`.
    pub(super) skeleton: String,
}

/// Vertices, still without influences, and the triangles of the submeshes that use them.
#[derive(Default)]
pub(super) struct OgreGeometry {
    primitive: PrimitiveData,
    assignments: Vec<Assignment>,
}

struct Assignment {
    element: Element,
    vertex: u32,
    bone: u32,
    weight: f32,
}

impl OgreGeometry {
    /// Converts bone IDs to the skin's joints; `entry_of` maps them.
    pub(super) fn into_primitive(
        self,
        xml: &Xml,
        budget: &Budget,
        entry_of: impl Fn(u32) -> Option<u16>,
    ) -> Result<PrimitiveData, Fault> {
        let count = self.primitive.positions.len();
        budget.charge_vertices(count, self.assignments.len(), || "vertices".into())?;
        let mut pairs = Vec::with_capacity(self.assignments.len());
        for Assignment { element, vertex, bone, weight } in &self.assignments {
            ensure((*vertex as usize) < count, || {
                xml.fault(element, format!("vertex {vertex} is out of range; there are {count}"))
            })?;
            let unknown = || xml.fault(element, format!("bone {bone}; expected the id of one in the skeleton"));
            pairs.push((*vertex, entry_of(*bone).ok_or_else(unknown)?, *weight));
        }
        Ok(PrimitiveData { influences: Influences::gathered(count, pairs), ..self.primitive })
    }
}

/// Reads the whole file.
pub(super) fn read(xml: &mut Xml) -> Result<MeshFile, Fault> {
    let root = xml.root("mesh")?;
    let mut shared = None;
    let mut shared_assignments = Vec::new();
    let mut submeshes = Vec::new();
    let mut skeleton = None;
    while let Some(child) = xml.child(&root)? {
        match child.name() {
            "sharedgeometry" => shared = Some(geometry(xml, &child)?),
            "submeshes" => {
                while let Some(child) = xml.child(&child)? {
                    if child.name() == "submesh" {
                        submeshes.push(submesh(xml, child)?);
                    }
                }
            }
            "boneassignments" => shared_assignments = assignments(xml, &child)?,
            "skeletonlink" => skeleton = Some(xml.required(&child, "name")?),
            _ => {}
        }
    }
    xml.end()?;
    let skeleton = skeleton.ok_or_else(|| xml.fault(&root, "no <skeletonlink>; expected one"))?;
    ensure(submeshes.len() <= usize::from(u16::MAX), || {
        xml.fault(&root, format!("{} submeshes; expected at most {}", submeshes.len(), u16::MAX))
    })?;
    if let Some(shared) = &mut shared {
        shared.assignments = shared_assignments;
    }
    collect(xml, submeshes, shared, skeleton)
}

/// Puts shared vertices at the position of the first submesh that uses them.
fn collect(
    xml: &Xml,
    submeshes: Vec<Submesh>,
    mut shared: Option<OgreGeometry>,
    skeleton: String,
) -> Result<MeshFile, Fault> {
    let mut mesh = MeshFile { geometries: Vec::new(), materials: Vec::new(), skeleton };
    let mut shared_at = None;
    for (material, submesh) in submeshes.into_iter().enumerate() {
        let Submesh { element, name, geometry, faces, largest } = submesh;
        let at = match (geometry, shared_at) {
            (Some(own), _) => {
                mesh.geometries.push(own);
                mesh.geometries.len() - 1
            }
            (None, Some(at)) => at,
            (None, None) => {
                let missing = || xml.fault(&element, "shares vertices; expected <sharedgeometry> in the mesh");
                mesh.geometries.push(shared.take().ok_or_else(missing)?);
                *shared_at.insert(mesh.geometries.len() - 1)
            }
        };
        let target = &mut mesh.geometries[at].primitive;
        let count = target.positions.len();
        if let Some((index, face)) = largest.filter(|(index, _)| *index as usize >= count) {
            return Err(xml.fault(&face, format!("vertex {index} is out of range; there are {count}")));
        }
        let first = target.indices.len() as u32;
        target.indices.extend(faces);
        target.subsets.push(Subset { material: material as u16, indices: first..target.indices.len() as u32 });
        mesh.materials.push(Material { name, ..Material::default() });
    }
    Ok(mesh)
}

struct Submesh {
    element: Element,
    /// Name of the material.
    name: String,
    /// Vertices; `None` if they are shared.
    geometry: Option<OgreGeometry>,
    /// Triangle list.
    faces: Vec<u32>,
    /// The largest index and the face that has it.
    largest: Option<(u32, Element)>,
}

fn submesh(xml: &mut Xml, element: Element) -> Result<Submesh, Fault> {
    let shares = xml.text(&element, "usesharedvertices")?.is_some_and(|v| v == "true");
    let operation = xml.text(&element, "operationtype")?.unwrap_or_else(|| "triangle_list".into());
    let name = xml.text(&element, "material")?.unwrap_or_default();
    let mut submesh = Submesh { element, name, geometry: None, faces: Vec::new(), largest: None };
    let mut own_assignments = Vec::new();
    while let Some(child) = xml.child(&submesh.element)? {
        match child.name() {
            "faces" => faces(xml, &child, &operation, &mut submesh)?,
            "geometry" => submesh.geometry = Some(geometry(xml, &child)?),
            "boneassignments" => own_assignments = assignments(xml, &child)?,
            _ => {}
        }
    }
    match (&mut submesh.geometry, shares) {
        (Some(geometry), false) => geometry.assignments = own_assignments,
        (geometry, true) => *geometry = None,
        (None, false) => return Err(xml.fault(&submesh.element, "no <geometry>; expected one")),
    }
    Ok(submesh)
}

/// Reads faces as triangles; none from points and lines.
fn faces(xml: &mut Xml, faces: &Element, operation: &str, submesh: &mut Submesh) -> Result<(), Fault> {
    let mut indices = Vec::new();
    let mut found = 0u32;
    while let Some(face) = xml.child(faces)? {
        // In strips and fans, each face after the first adds one vertex.
        let names: &[&str] = match operation {
            "triangle_list" => &["v1", "v2", "v3"],
            "triangle_strip" | "triangle_fan" if found == 0 => &["v1", "v2", "v3"],
            "triangle_strip" | "triangle_fan" => &["v1"],
            _ => &[],
        };
        for name in names {
            indices.push(xml.integer(&face, name)?);
        }
        found += 1;
        let largest = indices[indices.len() - names.len()..].iter().max().copied();
        if largest > submesh.largest.as_ref().map(|(index, _)| *index) {
            submesh.largest = largest.map(|index| (index, face));
        }
    }
    if xml.text(faces, "count")?.is_some() {
        let stated = xml.integer(faces, "count")?;
        ensure(stated == found, || {
            xml.fault(faces, format!("count={stated:?}, but {found} follow; expected the same number"))
        })?;
    }
    submesh.faces = match operation {
        "triangle_strip" => strips::of_strip(&indices),
        "triangle_fan" => strips::of_fan(&indices),
        _ => indices,
    };
    Ok(())
}

/// Reads attributes, which may be spread over vertex buffers, some of them empty.
fn geometry(xml: &mut Xml, element: &Element) -> Result<OgreGeometry, Fault> {
    let mut geometry = OgreGeometry::default();
    let primitive = &mut geometry.primitive;
    let stated = xml.integer(element, "vertexcount")?;
    primitive.dumped_vertices = stated;
    while let Some(buffer) = xml.child(element)? {
        if buffer.name() != "vertexbuffer" {
            continue;
        }
        let (mut positions, mut normals, mut uvs) = (Vec::new(), Vec::new(), Vec::new());
        let mut vertices = 0;
        while let Some(vertex) = xml.child(&buffer)? {
            vertices += 1;
            let mut textured = false;
            while let Some(attribute) = xml.child(&vertex)? {
                match attribute.name() {
                    "position" => positions.push(xml.numbers(&attribute, ["x", "y", "z"])?),
                    "normal" => normals.push(xml.numbers(&attribute, ["x", "y", "z"])?),
                    // Only the first set is read.
                    "texcoord" if !std::mem::replace(&mut textured, true) => {
                        // One-dimensional coordinates have no v.
                        let flat = xml.text(&attribute, "v")?.is_none();
                        let v = if flat { 0.0 } else { xml.number(&attribute, "v")? };
                        uvs.push([xml.number(&attribute, "u")?, v]);
                    }
                    _ => {}
                }
            }
            let counts = [positions.len(), normals.len(), uvs.len()];
            let problem = "has other attributes than the vertex before; expected the same";
            ensure(counts.iter().all(|&count| count == 0 || count == vertices), || xml.fault(&vertex, problem))?;
        }
        ensure(vertices == stated as usize, || {
            xml.fault(&buffer, format!("{vertices} vertices; expected {stated}, the geometry's vertexcount"))
        })?;
        if primitive.positions.is_empty() {
            primitive.positions = positions;
        }
        primitive.normals = primitive.normals.take().or(Some(normals)).filter(|normals| !normals.is_empty());
        primitive.uvs = primitive.uvs.take().or(Some(uvs)).filter(|uvs| !uvs.is_empty());
    }
    ensure(primitive.positions.len() == stated as usize, || {
        xml.fault(element, "no positions; expected them in one of the vertex buffers")
    })?;
    Ok(geometry)
}

fn assignments(xml: &mut Xml, all: &Element) -> Result<Vec<Assignment>, Fault> {
    let mut assignments = Vec::new();
    while let Some(element) = xml.child(all)? {
        let vertex = xml.integer(&element, "vertexindex")?;
        let bone = xml.integer(&element, "boneindex")?;
        let weight = xml.number(&element, "weight")?;
        ensure(weight >= 0.0, || xml.fault(&element, format!("weight={weight}; expected 0 or more")))?;
        assignments.push(Assignment { element, vertex, bone, weight });
    }
    Ok(assignments)
}
