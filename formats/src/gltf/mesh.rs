//! Conversion of mesh primitives to vertex streams and triangle lists.

use super::accessor::{Reader, check_count};
use super::document::{Document, Primitive, is_read};
use crate::drawn;
use crate::fault::{Fault, ensure, item};
use crate::request::Vertices;
use crate::strips;
use skinbench_kernels::model::{Influences, PrimitiveData, Repair, Subset, TargetDeltas};
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
pub(super) enum Binding {
    /// Joints and weights of each vertex, in a skin with this many joints.
    Skin { skin: u16, joints: usize },
    /// One palette entry of a skin.
    Rigid { skin: u16, entry: u16 },
}

/// Finds primitives whose vertices are those of another one, as in VRM files and in exports of Mixamo characters.
pub(super) struct Sharing {
    vertices: Vertices,
    /// For each accessor the first one that is equal.
    first_equal: Vec<u32>,
    /// Primitives that share vertices.
    found: u32,
    /// Vertices that no point or line names.
    left_out: usize,
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

impl Sharing {
    /// Nothing found so far; if all vertices are wanted, nothing ever is.
    pub(super) fn new(document: &Document, vertices: Vertices) -> Self {
        let mut known = HashMap::with_capacity(document.accessors.len());
        let accessors = (0..).zip(&document.accessors);
        let first_equal =
            accessors.map(|(index, accessor)| *known.entry(accessor).or_insert(index));
        Self {
            vertices,
            first_equal: first_equal.collect(),
            found: 0,
            left_out: 0,
        }
    }

    /// The vertices of a primitive; `None` if all of them stay, as those of points and lines without indices.
    fn source<'a>(&self, primitive: &'a Primitive) -> Option<Source<'a>> {
        let all = primitive.is_without_triangles() && primitive.indices.is_none();
        if self.vertices == Vertices::All || all {
            return None;
        }
        let streams = |attributes: &'a BTreeMap<String, u32>| -> Vec<(&'a str, u32)> {
            let equal = |accessor: u32| {
                let first = self.first_equal.get(accessor as usize);
                first.copied().unwrap_or(accessor)
            };
            let read = attributes.iter().filter(|(name, _)| is_read(name));
            read.map(|(name, accessor)| (name.as_str(), equal(*accessor)))
                .collect()
        };
        Some(Source {
            attributes: streams(&primitive.attributes),
            targets: primitive.targets.iter().map(streams).collect(),
            dumped: primitive.extras.skinbench.vertices,
            is_without_triangles: primitive.is_without_triangles(),
        })
    }

    /// Notes, if there is anything to note.
    pub(super) fn describe(&self) -> Vec<Repair> {
        let Self {
            found, left_out, ..
        } = self;
        let mut notes = Vec::new();
        if *found > 0 {
            let note = "primitives share the vertices of others, which are skinned once";
            notes.push(Repair::new(format!("{found} {note}")));
        }
        if *left_out > 0 {
            let note = format!("left out {left_out} vertices that no point or line names");
            notes.push(Repair::new(note));
        }
        notes
    }
}

/// Converts a mesh's primitives for one node that uses it. `first_target` is the model's target that the mesh's first
/// one becomes. Primitives that share all vertices become subsets of one.
pub(super) fn primitives(
    reader: &Reader,
    index: usize,
    binding: Binding,
    first_target: Option<u32>,
    sharing: &mut Sharing,
) -> Result<Vec<PrimitiveData>, Fault> {
    let mesh = &reader.document.meshes[index];
    ensure(!mesh.primitives.is_empty(), || {
        Fault::new(
            format!("meshes[{index}].primitives"),
            "none; expected at least one",
        )
    })?;
    let mut primitives: Vec<PrimitiveData> = Vec::new();
    let mut holders: HashMap<Source, usize> = HashMap::new();
    // Vertices that points and lines name, by the primitive that has them.
    let mut named: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    // Attributes of the primitive before, and the place of the one that has its vertices.
    let mut before: Option<(&BTreeMap<String, u32>, usize)> = None;
    for (at, primitive) in mesh.primitives.iter().enumerate() {
        let place = format!("meshes[{index}].primitives[{at}]");
        let part = PrimitiveReader {
            reader,
            primitive,
            place,
        };
        let continued = before
            .filter(|_| primitive.extras.skinbench.continues)
            .filter(|(attributes, _)| *attributes == &primitive.attributes);
        let source = sharing.source(primitive);
        let holder = source
            .as_ref()
            .and_then(|source| holders.get(source).copied());
        let names_vertices = source.is_some() && primitive.is_without_triangles();
        let place = if let Some((_, place)) = continued {
            part.continue_as_subset(&mut primitives[place])?;
            place
        } else if let Some(holder) = holder {
            sharing.found += 1;
            part.continue_as_subset(&mut primitives[holder])?;
            holder
        } else {
            holders.extend(source.map(|source| (source, primitives.len())));
            primitives.push(part.read(binding, first_target)?);
            primitives.len() - 1
        };
        before = Some((&primitive.attributes, place));
        if names_vertices {
            let indices = part.indices(primitives[place].positions.len())?;
            part.charge_indices(indices.len())?;
            named.entry(place).or_default().extend(indices);
        }
    }
    for (place, mut kept) in named {
        let primitive = &mut primitives[place];
        kept.sort_unstable();
        kept.dedup();
        if primitive.indices.is_empty() && !kept.is_empty() {
            sharing.left_out += primitive.positions.len() - kept.len();
            *primitive = PrimitiveData {
                subsets: std::mem::take(&mut primitive.subsets),
                ..drawn::only(primitive, &kept)
            };
        }
    }
    Ok(primitives)
}

struct PrimitiveReader<'a> {
    reader: &'a Reader<'a>,
    primitive: &'a Primitive,
    place: String,
}

impl PrimitiveReader<'_> {
    fn read(&self, binding: Binding, first_target: Option<u32>) -> Result<PrimitiveData, Fault> {
        let missing = || Fault::new(self.path("attributes"), "no POSITION; expected one");
        let positions: Vec<[f32; 3]> = self.attribute("POSITION", None)?.ok_or_else(missing)?;
        let count = positions.len();
        let bytes = count as u64 * BYTES_PER_VERTEX + BYTES_PER_PRIMITIVE;
        self.reader.budget.charge(bytes, || self.place.clone())?;
        let vertices = self
            .primitive
            .extras
            .skinbench
            .vertices
            .unwrap_or(count as u32);
        ensure((1..=count as u32).contains(&vertices), || {
            let problem = format!("{vertices}; expected 1 to {count}, the number of vertices");
            Fault::new(self.path("extras.skinbench.vertices"), problem)
        })?;
        let is_rigid = matches!(binding, Binding::Rigid { .. }) && first_target.is_none();
        let (skin, influences) = match binding {
            Binding::Skin { skin, joints } => (skin, self.influences(count, joints)?),
            Binding::Rigid { skin, entry } => {
                (skin, std::iter::repeat_n([(entry, 1.0)], count).collect())
            }
        };
        let indices = self.triangles(count)?;
        let targets = first_target
            .into_iter()
            .flat_map(|first| (first..).zip(0..self.primitive.targets.len()));
        let targets = targets
            .map(|(target, at)| self.target(target, at, count))
            .collect::<Result<_, _>>()?;
        Ok(PrimitiveData {
            skin,
            positions,
            normals: self.attribute("NORMAL", Some(count))?,
            tangents: self.attribute("TANGENT", Some(count))?,
            uvs: self.attribute("TEXCOORD_0", Some(count))?,
            influences,
            subsets: vec![Subset {
                material: self.material()?,
                indices: 0..indices.len() as u32,
            }],
            indices,
            dumped_vertices: if is_rigid { 0 } else { vertices },
            targets,
        })
    }

    /// The deltas of a morph target; a missing attribute moves nothing.
    fn target(&self, target: u32, at: usize, count: usize) -> Result<TargetDeltas, Fault> {
        let mut vertices: BTreeMap<u32, [[f32; 3]; 3]> = BTreeMap::new();
        for (stream, name) in ["POSITION", "NORMAL", "TANGENT"].into_iter().enumerate() {
            let Some(&accessor) = self.primitive.targets[at].get(name) else {
                continue;
            };
            let listed = self.reader.deltas(
                accessor,
                &self.path(&format!("targets[{at}].{name}")),
                count,
            )?;
            let bytes = listed.len() as u64 * BYTES_PER_DELTA;
            self.reader
                .budget
                .charge(bytes, || self.path(&format!("targets[{at}]")))?;
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
    fn continue_as_subset(&self, last: &mut PrimitiveData) -> Result<(), Fault> {
        let triangles = self.triangles(last.positions.len())?;
        // Without indices, a few bytes of the file give as many triangles as vertices.
        self.charge_indices(triangles.len())?;
        let start = last.indices.len() as u32;
        last.indices.extend(triangles);
        let indices = start..last.indices.len() as u32;
        last.subsets.push(Subset {
            material: self.material()?,
            indices,
        });
        Ok(())
    }

    fn charge_indices(&self, count: usize) -> Result<(), Fault> {
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
    ) -> Result<Option<Vec<[f32; N]>>, Fault> {
        let Some(&accessor) = self.primitive.attributes.get(name) else {
            return Ok(None);
        };
        let path = self.path(&format!("attributes.{name}"));
        let values = self.reader.floats(accessor, &path)?;
        check_count(&path, values.len(), count.unwrap_or(values.len()))?;
        Ok(Some(values))
    }

    /// Reads all sets, JOINTS_0 and WEIGHTS_0 first.
    fn influences(&self, count: usize, joint_count: usize) -> Result<Influences, Fault> {
        let attributes = &self.primitive.attributes;
        let mut sets: Vec<u32> = attributes
            .keys()
            .filter_map(|name| name.strip_prefix("JOINTS_")?.parse().ok())
            .collect();
        sets.sort_unstable();
        sets.dedup();
        let orphan = |name: &String| {
            let set = name.strip_prefix("WEIGHTS_").map(str::parse);
            matches!(set, Some(Ok(set)) if sets.binary_search(&set).is_err())
        };
        let refused = |problem: String| Err(Fault::new(self.path("attributes"), problem));
        if let Some(name) = attributes.keys().find(|name| orphan(name)) {
            return refused(format!("{name} without joints; expected as many sets"));
        }
        if sets.is_empty() {
            return refused("no JOINTS_0; expected joints and weights on a skinned mesh".into());
        }
        let mut streams = Vec::with_capacity(sets.len());
        for set in sets {
            let path = |name: &str| self.path(&format!("attributes.{name}_{set}"));
            let Some(&accessor) = attributes.get(&format!("JOINTS_{set}")) else {
                let problem = "a set's number has leading zeros or a sign; expected plain digits";
                return Err(Fault::new(path("JOINTS"), problem));
            };
            let joints: Vec<[u32; 4]> = self.reader.integers(accessor, &path("JOINTS"))?;
            check_count(&path("JOINTS"), joints.len(), count)?;
            let Some(weights) = self.attribute::<4>(&format!("WEIGHTS_{set}"), Some(count))? else {
                return refused(format!("JOINTS_{set} without WEIGHTS_{set}; expected both"));
            };
            for (at, (joint, weight)) in joints
                .as_flattened()
                .iter()
                .zip(weights.as_flattened())
                .enumerate()
            {
                let vertex = at / 4;
                ensure(*weight >= 0.0, || {
                    let problem =
                        format!("vertex {vertex} has the weight {weight}; expected 0 or more");
                    Fault::new(path("WEIGHTS"), problem)
                })?;
                // Unused influences may refer to any joint.
                ensure(*weight == 0.0 || (*joint as usize) < joint_count, || {
                    let problem =
                        format!("vertex {vertex} has joint {joint}; its skin has {joint_count}");
                    Fault::new(path("JOINTS"), problem)
                })?;
            }
            streams.push((joints, weights));
        }
        let pairs = |vertex: usize| {
            let known = |joint: u32| {
                if (joint as usize) < joint_count {
                    joint as u16
                } else {
                    0
                }
            };
            let joints = streams
                .iter()
                .flat_map(move |(joints, _)| joints[vertex].map(known));
            joints.zip(streams.iter().flat_map(move |(_, weights)| weights[vertex]))
        };
        Ok((0..count).map(pairs).collect())
    }

    /// Indices, or all vertices in order.
    fn indices(&self, count: usize) -> Result<Vec<u32>, Fault> {
        let path = self.path("indices");
        let indices: Vec<u32> = match self.primitive.indices {
            Some(accessor) => self.reader.integers::<1>(accessor, &path)?.into_flattened(),
            None => (0..count as u32).collect(),
        };
        if let Some(at) = indices.iter().position(|&i| i as usize >= count) {
            let problem = format!(
                "index {} at {at} is out of range; there are {count} vertices",
                indices[at]
            );
            return Err(Fault::new(path, problem));
        }
        Ok(indices)
    }

    /// Indices, or all vertices in order, as a list of triangles; empty for points and lines.
    fn triangles(&self, count: usize) -> Result<Vec<u32>, Fault> {
        let mode = self.primitive.mode.unwrap_or(4);
        ensure(mode <= 6, || {
            Fault::new(self.path("mode"), format!("{mode}; expected 0 to 6"))
        })?;
        let indices = self.indices(count)?;
        Ok(match mode {
            4 if indices.len().is_multiple_of(3) => indices,
            4 => {
                let problem = format!(
                    "{} indices; expected a multiple of 3 for triangles",
                    indices.len()
                );
                return Err(Fault::new(self.place.clone(), problem));
            }
            5 => strips::of_strip(&indices),
            6 => strips::of_fan(&indices),
            _ => Vec::new(),
        })
    }

    /// Index of the material; the default material comes after the file's last.
    fn material(&self) -> Result<u16, Fault> {
        let materials = &self.reader.document.materials;
        let Some(index) = self.primitive.material else {
            return Ok(materials.len() as u16);
        };
        item(materials, index, "", || self.path("material"))?;
        Ok(index as u16)
    }
}
