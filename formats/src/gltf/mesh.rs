//! Conversion of mesh primitives to vertex streams and triangle lists.

use super::accessor::{AccessorReader, check_count};
use super::document::{Document, Primitive, is_read};
use crate::check::item;
use crate::drawn;
use crate::request::Vertices;
use crate::triangles;
use skinbench_kernels::error::Result;
use skinbench_kernels::model::{Influences, Notes, PrimitiveData, TargetDeltas};
use std::collections::{BTreeMap, HashMap};

/// Memory that the store takes for a vertex beyond its decoded values, and for a primitive.
const BYTES_PER_VERTEX: u64 = 192;
const BYTES_PER_PRIMITIVE: u64 = 1024;

/// Memory that the importer and the store take for a vertex of a morph target.
const BYTES_PER_DELTA: u64 = 160;

/// Memory for an index of a primitive that continues another, copies included.
const BYTES_PER_INDEX: u64 = 16;

/// The source of motion of a primitive's vertices.
#[derive(Clone, Copy)]
pub enum Binding {
    /// Joints and weights of each vertex, in a skin with this many joints.
    Skin { skin: u16, joints: usize },
    /// One palette entry of a skin.
    Rigid { skin: u16, entry: u16 },
}

/// Finds primitives whose vertices are those of another one, as in VRM files and in exports of Mixamo characters.
pub struct Sharing<'a> {
    vertices: Vertices,
    /// For each accessor the first one that is equal.
    first_equal: Vec<u32>,
    notes: &'a mut Notes,
}

/// The vertices of a primitive: what it takes for two of them to share.
#[derive(PartialEq, Eq, Hash)]
struct Source<'a> {
    /// Accessors of the attributes that are read, and of those of morph targets.
    attributes: Vec<(&'a str, u32)>,
    targets: Vec<Vec<(&'a str, u32)>>,
    /// Number of vertices of the original file.
    dumped: Option<u32>,
    is_without_triangles: bool,
}

impl<'n> Sharing<'n> {
    /// Nothing found so far; if all vertices are wanted, nothing ever is.
    pub fn new(document: &Document, vertices: Vertices, notes: &'n mut Notes) -> Self {
        let mut known = HashMap::new();
        let mut first_equal = Vec::new();
        for (index, accessor) in (0..).zip(&document.accessors) {
            first_equal.push(*known.entry(accessor).or_insert(index));
        }
        Self {
            vertices,
            first_equal,
            notes,
        }
    }

    /// The vertices of a primitive; `None` if all of them stay, as those of points and lines without indices.
    fn source<'a>(&self, primitive: &'a Primitive) -> Option<Source<'a>> {
        let all = primitive.is_without_triangles() && primitive.indices.is_none();
        if self.vertices == Vertices::All || all {
            return None;
        }
        let targets = primitive.targets.iter();
        Some(Source {
            attributes: self.streams(&primitive.attributes),
            targets: targets.map(|target| self.streams(target)).collect(),
            dumped: primitive.extras.skinbench.vertices,
            is_without_triangles: primitive.is_without_triangles(),
        })
    }

    /// The attributes that are read, each with the first accessor that is equal to its own.
    fn streams<'a>(&self, attributes: &'a BTreeMap<String, u32>) -> Vec<(&'a str, u32)> {
        let mut streams = Vec::new();
        for (name, &accessor) in attributes {
            if is_read(name) {
                let first = self.first_equal.get(accessor as usize);
                streams.push((name.as_str(), *first.unwrap_or(&accessor)));
            }
        }
        streams
    }
}

/// Converts a mesh's primitives for one node that uses it. `first_target` is the model's target that the mesh's first
/// one becomes. Primitives that share all vertices become subsets of one.
pub fn primitives(
    reader: &AccessorReader,
    index: usize,
    binding: Binding,
    first_target: Option<u32>,
    sharing: &mut Sharing,
) -> Result<Vec<PrimitiveData>> {
    let mesh = &reader.document.meshes[index];
    ensure!(
        !mesh.primitives.is_empty(),
        format!("meshes[{index}].primitives"),
        "none; expected at least one"
    );
    let mut primitives: Vec<PrimitiveData> = Vec::new();
    // Which of these has the vertices of a source, and which those of each primitive so far.
    let mut holders: HashMap<Source, usize> = HashMap::new();
    let mut places: Vec<usize> = Vec::new();
    // Vertices that points and lines name, by the primitive that has them.
    let mut named: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for (at, primitive) in mesh.primitives.iter().enumerate() {
        let reader = PrimitiveReader {
            reader,
            primitive,
            place: format!("meshes[{index}].primitives[{at}]"),
        };
        let source = sharing.source(primitive);
        let names_vertices = source.is_some() && primitive.is_without_triangles();
        let continues = primitive.extras.skinbench.continues
            && at > 0
            && mesh.primitives[at - 1].attributes == primitive.attributes;
        let holder = source.as_ref().and_then(|source| holders.get(source));
        let place = if continues {
            places[at - 1]
        } else if let Some(&holder) = holder {
            let shared = "# primitives share the vertices of others, which are skinned once";
            sharing.notes.add(shared, 1);
            holder
        } else {
            holders.extend(source.map(|source| (source, primitives.len())));
            primitives.len()
        };
        if place < primitives.len() {
            reader.continue_as_subset(&mut primitives[place])?;
        } else {
            primitives.push(reader.read(binding, first_target)?);
        }
        places.push(place);
        if names_vertices {
            let indices = reader.indices(primitives[place].positions.len())?;
            reader.charge_indices(indices.len())?;
            named.entry(place).or_default().extend(indices);
        }
    }
    for (place, mut kept) in named {
        let primitive = &mut primitives[place];
        kept.sort_unstable();
        kept.dedup();
        if primitive.indices.is_empty() && !kept.is_empty() {
            let left_out = primitive.positions.len() - kept.len();
            let kind = "left out # vertices that no point or line names";
            sharing.notes.add(kind, left_out);
            *primitive = PrimitiveData {
                subsets: std::mem::take(&mut primitive.subsets),
                ..drawn::only(primitive, &kept)
            };
        }
    }
    Ok(primitives)
}

struct PrimitiveReader<'a> {
    reader: &'a AccessorReader<'a>,
    primitive: &'a Primitive,
    place: String,
}

impl PrimitiveReader<'_> {
    fn read(&self, binding: Binding, first_target: Option<u32>) -> Result<PrimitiveData> {
        let Some(positions) = self.attribute::<3>("POSITION", None)? else {
            bail!(self.path("attributes"), "no POSITION; expected one");
        };
        let count = positions.len();
        let bytes = count as u64 * BYTES_PER_VERTEX + BYTES_PER_PRIMITIVE;
        self.reader.budget.charge(bytes, || self.place.clone())?;
        let vertices = self.primitive.extras.skinbench.vertices;
        let vertices = vertices.unwrap_or(count as u32);
        ensure!(
            (1..=count as u32).contains(&vertices),
            self.path("extras.skinbench.vertices"),
            "{vertices}; expected 1 to {count}, the number of vertices"
        );
        let mut primitive = PrimitiveData {
            positions,
            dumped_vertices: vertices,
            ..PrimitiveData::default()
        };
        match binding {
            Binding::Skin { skin, joints } => {
                primitive.skin = skin;
                primitive.influences = self.influences(count, joints)?;
            }
            Binding::Rigid { skin, entry } => {
                primitive.skin = skin;
                primitive.influences = std::iter::repeat_n([(entry, 1.0)], count).collect();
                if first_target.is_none() {
                    primitive.dumped_vertices = 0;
                }
            }
        }
        self.require_data(self.primitive.attributes["POSITION"], "attributes.POSITION")?;
        if let Some(indices) = self.primitive.indices {
            self.require_data(indices, "indices")?;
        }
        primitive.add_subset(self.material()?, self.triangles(count)?);
        if let Some(first) = first_target {
            for (at, target) in (0..self.primitive.targets.len()).zip(first..) {
                primitive.targets.push(self.target(target, at, count)?);
            }
        }
        primitive.normals = self.attribute("NORMAL", Some(count))?;
        primitive.tangents = self.attribute("TANGENT", Some(count))?;
        primitive.uvs = self.attribute("TEXCOORD_0", Some(count))?;
        primitive.colors = self.colors(count)?;
        Ok(primitive)
    }

    /// Colours of vertices; those without alpha are opaque.
    fn colors(&self, count: usize) -> Result<Option<Vec<[f32; 4]>>> {
        let accessor = self.primitive.attributes.get("COLOR_0");
        if !accessor.is_some_and(|&accessor| self.reader.has_shape(accessor, "VEC3")) {
            return self.attribute("COLOR_0", Some(count));
        }
        let colors = self.attribute::<3>("COLOR_0", Some(count))?;
        let opaque = |[r, g, b]: [f32; 3]| [r, g, b, 1.0];
        Ok(colors.map(|colors| colors.into_iter().map(opaque).collect()))
    }

    /// The deltas of a morph target; a missing attribute moves nothing.
    fn target(&self, target: u32, at: usize, count: usize) -> Result<TargetDeltas> {
        let mut vertices: BTreeMap<u32, [[f32; 3]; 3]> = BTreeMap::new();
        for (stream, name) in ["POSITION", "NORMAL", "TANGENT"].into_iter().enumerate() {
            let Some(&accessor) = self.primitive.targets[at].get(name) else {
                continue;
            };
            let place = self.path(&format!("targets[{at}]"));
            let listed = self
                .reader
                .deltas(accessor, &format!("{place}.{name}"), count)?;
            let bytes = listed.len() as u64 * BYTES_PER_DELTA;
            self.reader.budget.charge(bytes, || place)?;
            for (vertex, delta) in listed {
                vertices.entry(vertex).or_default()[stream] = delta;
            }
        }
        Ok(TargetDeltas {
            target,
            vertices: vertices.into_iter().collect(),
        })
    }

    /// Adds the triangles to those of the primitive that shares its vertices.
    fn continue_as_subset(&self, last: &mut PrimitiveData) -> Result<()> {
        let triangles = self.triangles(last.positions.len())?;
        // Without indices, a few bytes of the file give as many triangles as vertices.
        self.charge_indices(triangles.len())?;
        last.add_subset(self.material()?, triangles);
        Ok(())
    }

    fn charge_indices(&self, count: usize) -> Result<()> {
        let bytes = count as u64 * BYTES_PER_INDEX;
        self.reader.budget.charge(bytes, || self.place.clone())
    }

    fn path(&self, field: &str) -> String {
        format!("{}.{field}", self.place)
    }

    fn attribute<const N: usize>(
        &self,
        name: &str,
        count: Option<usize>,
    ) -> Result<Option<Vec<[f32; N]>>> {
        let Some(&accessor) = self.primitive.attributes.get(name) else {
            return Ok(None);
        };
        let path = self.path(&format!("attributes.{name}"));
        let values = self.reader.floats(accessor, &path)?;
        check_count(&path, values.len(), count.unwrap_or(values.len()))?;
        Ok(Some(values))
    }

    /// Reads all sets, JOINTS_0 and WEIGHTS_0 first.
    fn influences(&self, count: usize, joint_count: usize) -> Result<Influences> {
        let attributes = &self.primitive.attributes;
        let mut read: Vec<InfluenceSet> = Vec::new();
        for set in 0.. {
            let Some(&accessor) = attributes.get(&format!("JOINTS_{set}")) else {
                break;
            };
            let joints_path = self.path(&format!("attributes.JOINTS_{set}"));
            let mut joints: Vec<[u32; 4]> = self.reader.integers(accessor, &joints_path)?;
            check_count(&joints_path, joints.len(), count)?;
            let Some(weights) = self.attribute::<4>(&format!("WEIGHTS_{set}"), Some(count))? else {
                bail!(
                    self.path("attributes"),
                    "JOINTS_{set} without WEIGHTS_{set}; expected both"
                );
            };
            for (vertex, joints) in joints.iter_mut().enumerate() {
                for (joint, weight) in joints.iter_mut().zip(weights[vertex]) {
                    ensure!(
                        weight >= 0.0,
                        self.path(&format!("attributes.WEIGHTS_{set}")),
                        "vertex {vertex} has the weight {weight}; expected 0 or more"
                    );
                    if *joint as usize >= joint_count {
                        // Unused influences may refer to any joint.
                        ensure!(
                            weight == 0.0,
                            joints_path,
                            "vertex {vertex} has joint {joint}; its skin has {joint_count}"
                        );
                        *joint = 0;
                    }
                }
            }
            read.push(InfluenceSet { joints, weights });
        }
        let mut found = 0;
        for name in attributes.keys() {
            found += usize::from(name.starts_with("JOINTS_") || name.starts_with("WEIGHTS_"));
        }
        ensure!(
            !read.is_empty() && found == 2 * read.len(),
            self.path("attributes"),
            "{found} JOINTS_n and WEIGHTS_n; expected pairs on a skinned mesh, numbered from 0 on"
        );
        let mut influences = Influences::default();
        for vertex in 0..count {
            influences.push(read.iter().flat_map(|set| set.pairs(vertex)));
        }
        Ok(influences)
    }

    /// Refuses an accessor of which all numbers are 0, because an extension that is not read has them, or nothing: a mesh
    /// of which nothing is left would pass every check.
    fn require_data(&self, accessor: u32, of: &str) -> Result<()> {
        let mut reason = String::new();
        if let Some(name) = self.primitive.extensions.keys().next() {
            reason = format!(", as {name} is not supported");
        }
        ensure!(
            !self.reader.is_without_data(accessor),
            self.path(of),
            "has neither bufferView nor sparse; expected either{reason}"
        );
        Ok(())
    }

    /// Indices, or all vertices in order.
    fn indices(&self, count: usize) -> Result<Vec<u32>> {
        let path = self.path("indices");
        let indices: Vec<u32> = match self.primitive.indices {
            Some(accessor) => self.reader.integers::<1>(accessor, &path)?.into_flattened(),
            None => (0..count as u32).collect(),
        };
        if let Some(at) = indices.iter().position(|&i| i as usize >= count) {
            bail!(
                path,
                "index {} at {at} is out of range; there are {count} vertices",
                indices[at]
            );
        }
        Ok(indices)
    }

    /// Indices, or all vertices in order, as a list of triangles; empty for points and lines.
    fn triangles(&self, count: usize) -> Result<Vec<u32>> {
        let mode = self.primitive.mode.unwrap_or(4);
        ensure!(mode <= 6, self.path("mode"), "{mode}; expected 0 to 6");
        let indices = self.indices(count)?;
        ensure!(
            mode != 4 || indices.len().is_multiple_of(3),
            &self.place,
            "{} indices; expected a multiple of 3 for triangles",
            indices.len()
        );
        Ok(match mode {
            4 => indices,
            5 => triangles::of_strip(&indices),
            6 => triangles::of_fan(&indices),
            _ => Vec::new(),
        })
    }

    /// Index of the material; the default material comes after the file's last.
    fn material(&self) -> Result<u16> {
        let materials = &self.reader.document.materials;
        let Some(index) = self.primitive.material else {
            return Ok(materials.len() as u16);
        };
        item(materials, index, "", || self.path("material"))?;
        Ok(index as u16)
    }
}

/// Four influences of each vertex.
struct InfluenceSet {
    joints: Vec<[u32; 4]>,
    weights: Vec<[f32; 4]>,
}

impl InfluenceSet {
    fn pairs(&self, vertex: usize) -> impl Iterator<Item = (u16, f32)> {
        let joints = self.joints[vertex].map(|joint| joint as u16);
        joints.into_iter().zip(self.weights[vertex])
    }
}
