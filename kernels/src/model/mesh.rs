//! One concatenated vertex stream for all primitives, sorted into runs of equal influence count.

use super::{Bounds, Lists, ModelError, Repair, Skin, Target, TargetDeltas, Targets, ensure};
use crate::vertex::Cube;
use fieldwork::Fieldwork;
use glam::{DVec3, Vec3};
use std::ops::Range;

/// Most influences of a vertex; a vertex with more keeps the largest.
pub const MAX_INFLUENCES: usize = 16;
/// Influence counts of runs. A vertex is padded to the next count with pairs of weight 0.
pub const INFLUENCE_CLASSES: [usize; 6] = [1, 2, 3, 4, 8, 16];

/// (joint, weight) pairs of each vertex; joints are indices into the primitive's skin, and weights are repaired to sum
/// to one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Influences(Lists<(u16, f32)>);

impl<I: IntoIterator<Item = (u16, f32)>> FromIterator<I> for Influences {
    /// The pairs of each vertex, as [`Influences::push`].
    fn from_iter<V: IntoIterator<Item = I>>(vertices: V) -> Self {
        let mut influences = Self::default();
        vertices
            .into_iter()
            .for_each(|pairs| influences.push(pairs));
        influences
    }
}

impl Influences {
    /// The influences of `vertices` vertices from (vertex, joint, weight) in any order. A vertex keeps the order of its
    /// pairs, of which some are left out as in [`Influences::push`]; vertices that are out of range are left out.
    pub fn gathered(vertices: usize, pairs: Vec<(u32, u16, f32)>) -> Self {
        let pairs = pairs
            .into_iter()
            .map(|(vertex, joint, weight)| (vertex as usize, (joint, weight)))
            .collect();
        let all = Lists::gathered(vertices, pairs);
        all.iter().map(|own| own.iter().copied()).collect()
    }

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.0.len()
    }

    /// The pairs of all vertices, one vertex after the other.
    pub fn pairs(&self) -> &[(u16, f32)] {
        self.0.all()
    }

    /// A vertex's joints and weights.
    ///
    /// # Panics
    /// There is no such vertex.
    pub fn of(&self, vertex: usize) -> impl ExactSizeIterator<Item = (u16, f32)> {
        self.0.of(vertex).iter().copied()
    }

    /// Appends a vertex. Pairs of weight 0 are left out; if all weights are 0, the first pair stays, because the vertex
    /// follows its joint.
    pub fn push(&mut self, pairs: impl IntoIterator<Item = (u16, f32)>) {
        let mut pairs = pairs.into_iter().peekable();
        let first = pairs.peek().copied();
        let mut held = pairs.filter(|(_, weight)| *weight != 0.0).peekable();
        match held.peek() {
            Some(_) => self.0.push(held),
            None => self.0.push(first),
        }
    }
}

/// A part of a primitive's triangles with one material.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subset {
    /// Index into the model's materials.
    pub material: u16,
    /// Range of the primitive's indices on input, of [`Mesh::indices`] in the store.
    pub indices: Range<u32>,
}

/// A primitive as an importer found it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PrimitiveData {
    /// Index into the model's skins.
    pub skin: u16,
    /// Positions in mesh space.
    pub positions: Vec<[f32; 3]>,
    /// Normals; generated from the triangles when absent.
    pub normals: Option<Vec<[f32; 3]>>,
    /// Tangents with handedness in w.
    pub tangents: Option<Vec<[f32; 4]>>,
    /// Texture coordinates.
    pub uvs: Option<Vec<[f32; 2]>>,
    /// Joints and weights of each vertex.
    pub influences: Influences,
    /// Triangle list; empty for points and lines.
    pub indices: Vec<u32>,
    /// Parts of `indices` by material.
    pub subsets: Vec<Subset>,
    /// Number of leading vertices that come from the file; `dump` prints these. The rest are copies that an importer
    /// made at seams. Zero for a rigid mesh attached to a joint.
    pub dumped_vertices: u32,
    /// Deltas of morph targets, at most one item per target.
    pub targets: Vec<TargetDeltas>,
}

impl PrimitiveData {
    /// The primitive with these of its vertices, in this order, and without triangles.
    ///
    /// # Panics
    /// An index out of range.
    pub fn with_vertices(&self, kept: &[u32]) -> Self {
        fn gathered<T: Copy>(values: &[T], kept: &[u32]) -> Vec<T> {
            kept.iter().map(|&vertex| values[vertex as usize]).collect()
        }
        let Self {
            skin,
            positions,
            normals,
            tangents,
            uvs,
            influences: from,
            dumped_vertices,
            targets,
            ..
        } = self;
        let influences = kept
            .iter()
            .map(|&vertex| from.of(vertex as usize))
            .collect();
        let mut numbered: Vec<(u32, u32)> = kept.iter().copied().zip(0..).collect();
        numbered.sort_unstable();
        Self {
            skin: *skin,
            positions: gathered(positions, kept),
            normals: normals.as_ref().map(|normals| gathered(normals, kept)),
            tangents: tangents.as_ref().map(|tangents| gathered(tangents, kept)),
            uvs: uvs.as_ref().map(|uvs| gathered(uvs, kept)),
            influences,
            indices: Vec::new(),
            subsets: Vec::new(),
            dumped_vertices: if *dumped_vertices > 0 {
                kept.len() as u32
            } else {
                0
            },
            targets: targets
                .iter()
                .map(|deltas| deltas.with_vertices(&numbered))
                .collect(),
        }
    }

    /// Replaces the triangles by these, each with the index of its material. They are sorted by material, within which
    /// they keep their order, and each material has one subset.
    pub fn set_triangles(&mut self, mut triangles: Vec<(u16, [u32; 3])>) {
        triangles.sort_by_key(|(material, _)| *material);
        self.indices.clear();
        self.subsets.clear();
        for run in triangles.chunk_by(|a, b| a.0 == b.0) {
            let first = self.indices.len() as u32;
            self.indices
                .extend(run.iter().flat_map(|(_, corners)| *corners));
            self.subsets.push(Subset {
                material: run[0].0,
                indices: first..self.indices.len() as u32,
            });
        }
    }
}

/// A primitive in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Primitive {
    /// Index into the model's skins.
    pub skin: u16,
    /// Vertices in the file and copies together.
    pub vertex_count: u32,
    /// Number of leading vertices that `dump` prints.
    pub dumped_vertices: u32,
    /// `true` if the file has normals; if not, the store's were generated and `dump` leaves them empty.
    pub has_normals: bool,
    /// Parts of [`Mesh::indices`] by material.
    pub subsets: Vec<Subset>,
}

/// Vertices that share an influence count, consecutive in every stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VertexRun {
    /// Influences per vertex, one of [`INFLUENCE_CLASSES`].
    pub influences: u32,
    /// First vertex.
    pub first_vertex: u32,
    /// Number of vertices.
    pub vertex_count: u32,
    /// First pair in [`Mesh::joints`] and [`Mesh::weights`]; a vertex has `influences` consecutive pairs.
    pub first_influence: u32,
}

/// Origin of a stored vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct VertexOrigin {
    /// Index into [`Mesh::primitives`].
    pub primitive: u32,
    /// Index of the vertex in the primitive, in file order.
    pub vertex: u32,
}

/// All primitives' vertices, structure-of-arrays.
#[derive(Debug, Clone, PartialEq, Fieldwork)]
#[fieldwork(get(doc_template = "{}"))]
pub struct Mesh {
    /// Positions in mesh space, one per vertex.
    positions: Vec<[f32; 3]>,
    /// Normals in mesh space, one per vertex; generated if the file has none, zero for vertices without a triangle.
    normals: Vec<[f32; 3]>,
    /// Tangents x y z with handedness in w, one per vertex, if every primitive has them.
    tangents: Option<Vec<[f32; 4]>>,
    /// Texture coordinates, one per vertex, if any primitive has them.
    uvs: Option<Vec<[f32; 2]>>,
    /// Palette entry of every influence, run by run: [`VertexRun::influences`] in a row for each vertex.
    joints: Vec<u16>,
    /// Number of entries that a palette must have: greater than every joint.
    entries: usize,
    /// Weight of every influence, in the order of [`Mesh::joints`].
    weights: Vec<f32>,
    /// Runs of equal influence count, by rising count; together they cover all vertices.
    runs: Vec<VertexRun>,
    /// Triangle list over stored vertices: three indices per triangle.
    indices: Vec<u32>,
    /// Primitives in `dump` order.
    primitives: Vec<Primitive>,
    /// Origins of the stored vertices, one per vertex.
    sources: Vec<VertexOrigin>,
    /// Morph targets; empty if the mesh has none.
    targets: Targets,
    /// The cube that packed positions are relative to: around the rest pose, or around what a crowd shows.
    pub(super) cube: Cube,
}

impl Mesh {
    /// Concatenates primitives, repairs weights and sorts vertices into runs. Primitives without a vertex are left out.
    pub(super) fn new(
        mut primitives: Vec<PrimitiveData>,
        targets: Vec<Target>,
        skins: &[Skin],
        materials: usize,
        repairs: &mut Vec<Repair>,
    ) -> Result<Self, ModelError> {
        let vertex_count = primitives.iter().map(|p| p.positions.len()).sum::<usize>();
        ensure(vertex_count > 0, || {
            ModelError::new("mesh", "no skinned vertex; expected at least one")
        })?;
        let most = u32::MAX as usize / MAX_INFLUENCES;
        ensure(vertex_count <= most, || {
            ModelError::new(
                "mesh",
                format!("{vertex_count} vertices; expected at most {most}"),
            )
        })?;
        for (index, primitive) in primitives.iter().enumerate() {
            check_primitive(primitive, skins, materials, targets.len())
                .map_err(|problem| ModelError::new(format!("primitive {index}"), problem))?;
        }
        let found = primitives.len();
        primitives.retain(|primitive| !primitive.positions.is_empty());
        let empty = found - primitives.len();
        if empty > 0 {
            repairs.push(Repair {
                message: format!("left out {empty} primitives without vertices"),
            });
        }
        let mut weight_repairs = WeightRepairs::default();
        let mut vertices = Vec::with_capacity(vertex_count);
        for (index, primitive) in primitives.iter().enumerate() {
            let first_entry = skins[usize::from(primitive.skin)].entries.start as u16;
            for vertex in 0..primitive.positions.len() {
                let mut pairs = repaired(&primitive.influences, vertex, &mut weight_repairs);
                pairs
                    .iter_mut()
                    .for_each(|(joint, _)| *joint += first_entry);
                // Padding repeats the first joint, whose palette entry is in the cache already.
                pairs.resize(class_of(pairs.len()), (pairs[0].0, 0.0));
                vertices.push((
                    VertexOrigin {
                        primitive: index as u32,
                        vertex: vertex as u32,
                    },
                    pairs,
                ));
            }
        }
        weight_repairs.describe(repairs);
        // A stable sort: within a class vertices keep the file's order, so neighbours stay neighbours.
        vertices.sort_by_key(|(_, pairs)| pairs.len());

        let with_tangents = primitives.iter().all(|p| p.tangents.is_some());
        let with_uvs = primitives.iter().any(|p| p.uvs.is_some());
        let normals: Vec<Vec<[f32; 3]>> = primitives
            .iter()
            .map(|p| {
                p.normals
                    .clone()
                    .unwrap_or_else(|| generated_normals(&p.positions, &p.indices))
            })
            .collect();
        let sources: Vec<VertexOrigin> = vertices.iter().map(|(source, _)| *source).collect();
        let mut mesh = Self {
            positions: in_order(&sources, |primitive| Some(&primitives[primitive].positions)),
            normals: in_order(&sources, |primitive| Some(&normals[primitive])),
            tangents: with_tangents.then(|| {
                in_order(&sources, |primitive| {
                    primitives[primitive].tangents.as_ref()
                })
            }),
            uvs: with_uvs
                .then(|| in_order(&sources, |primitive| primitives[primitive].uvs.as_ref())),
            joints: Vec::new(),
            entries: 0,
            weights: Vec::new(),
            runs: Vec::new(),
            indices: Vec::with_capacity(primitives.iter().map(|p| p.indices.len()).sum()),
            primitives: Vec::with_capacity(primitives.len()),
            sources,
            targets: Targets::default(),
            // The model sets this later, because it knows the rest pose.
            cube: Cube::around([0.0; 3], [0.0; 3]),
        };
        for run in vertices.chunk_by(|(_, a), (_, b)| a.len() == b.len()) {
            mesh.runs.push(VertexRun {
                influences: run[0].1.len() as u32,
                first_vertex: mesh
                    .runs
                    .last()
                    .map_or(0, |before| before.first_vertex + before.vertex_count),
                vertex_count: run.len() as u32,
                first_influence: mesh.joints.len() as u32,
            });
            for (joint, weight) in run.iter().flat_map(|(_, pairs)| pairs) {
                mesh.joints.push(*joint);
                mesh.weights.push(*weight);
            }
        }
        mesh.entries = mesh
            .joints
            .iter()
            .max()
            .map_or(0, |&most| usize::from(most) + 1);

        let mut stored: Vec<Vec<u32>> = primitives
            .iter()
            .map(|p| vec![0; p.positions.len()])
            .collect();
        for (vertex, source) in (0..).zip(&mesh.sources) {
            stored[source.primitive as usize][source.vertex as usize] = vertex;
        }
        let own = primitives
            .iter()
            .zip(&stored)
            .map(|(primitive, stored)| (&primitive.targets[..], &stored[..]));
        mesh.targets = Targets::new(targets, own, vertex_count, with_tangents)?;
        for (primitive, stored) in primitives.iter().zip(stored) {
            let first_index = mesh.indices.len() as u32;
            mesh.indices
                .extend(primitive.indices.iter().map(|&i| stored[i as usize]));
            let stored_subset = |s: &Subset| Subset {
                material: s.material,
                indices: first_index + s.indices.start..first_index + s.indices.end,
            };
            mesh.primitives.push(Primitive {
                skin: primitive.skin,
                vertex_count: primitive.positions.len() as u32,
                dumped_vertices: primitive.dumped_vertices,
                has_normals: primitive.normals.is_some(),
                subsets: primitive.subsets.iter().map(stored_subset).collect(),
            });
        }
        Ok(mesh)
    }

    /// The primitives in the form that importers give, in file order; joints are indices into the primitive's skin
    /// again.
    pub(super) fn to_primitives(&self, skins: &[Skin]) -> Vec<PrimitiveData> {
        let mut stored: Vec<(VertexOrigin, usize)> =
            self.sources.iter().copied().zip(0..).collect();
        stored.sort_unstable();
        let mut rest = &stored[..];
        let mut primitives = Vec::with_capacity(self.primitives.len());
        for primitive in &self.primitives {
            let (own, after) = rest.split_at(primitive.vertex_count as usize);
            rest = after;
            let own = || own.iter().map(|&(_, vertex)| vertex);
            let first_entry = skins[usize::from(primitive.skin)].entries.start as u16;
            let pairs = |v| {
                self.influences_of(v)
                    .map(move |(entry, weight)| (entry - first_entry, weight))
            };
            let influences = own().map(pairs).collect();
            let mut data = PrimitiveData {
                skin: primitive.skin,
                positions: own().map(|v| self.positions[v]).collect(),
                normals: primitive
                    .has_normals
                    .then(|| own().map(|v| self.normals[v]).collect()),
                tangents: self
                    .tangents
                    .as_ref()
                    .map(|t| own().map(|v| t[v]).collect()),
                uvs: self.uvs.as_ref().map(|t| own().map(|v| t[v]).collect()),
                influences,
                dumped_vertices: primitive.dumped_vertices,
                ..PrimitiveData::default()
            };
            for subset in &primitive.subsets {
                let first = data.indices.len() as u32;
                let indices =
                    &self.indices[subset.indices.start as usize..subset.indices.end as usize];
                data.indices
                    .extend(indices.iter().map(|&v| self.sources[v as usize].vertex));
                data.subsets.push(Subset {
                    material: subset.material,
                    indices: first..data.indices.len() as u32,
                });
            }
            primitives.push(data);
        }
        self.targets_to(&mut primitives);
        primitives
    }

    /// Gives primitives the deltas of their vertices.
    fn targets_to(&self, primitives: &mut [PrimitiveData]) {
        let mut entries: Vec<_> = self
            .targets
            .entries()
            .map(|(t, v, d)| (self.sources[v].primitive, t, self.sources[v].vertex, d))
            .collect();
        entries.sort_unstable();
        for run in entries.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (primitive, target, ..) = run[0];
            let mut deltas = TargetDeltas {
                target: target as u32,
                ..TargetDeltas::default()
            };
            for &(_, _, vertex, delta) in run {
                let tangent = self
                    .targets
                    .tangents()
                    .get(delta)
                    .copied()
                    .unwrap_or_default();
                deltas.push(
                    vertex,
                    [
                        self.targets.positions()[delta],
                        self.targets.normals()[delta],
                        tangent,
                    ],
                );
            }
            primitives[primitive as usize].targets.push(deltas);
        }
    }

    /// The box around the positions.
    pub fn bounds(&self) -> Bounds {
        Bounds::around(self.positions.iter().copied().map(Vec3::from))
    }
    /// Vertices of all primitives.
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }
    /// Joints and weights of neighbouring vertices of a run of `INFLUENCES`.
    pub(crate) fn pairs<const INFLUENCES: usize>(
        &self,
        run: &VertexRun,
        vertices: Range<usize>,
    ) -> (&[[u16; INFLUENCES]], &[[f32; INFLUENCES]]) {
        let first = run.first_influence as usize
            + (vertices.start - run.first_vertex as usize) * INFLUENCES;
        let pairs = first..first + vertices.len() * INFLUENCES;
        (
            self.joints[pairs.clone()].as_chunks().0,
            self.weights[pairs].as_chunks().0,
        )
    }
    /// Most influences of any vertex, padding included.
    pub fn max_influences(&self) -> u32 {
        self.runs.last().map_or(0, |r| r.influences)
    }
    /// A stored vertex's (palette entry, weight) pairs, padding included.
    pub fn influences_of(&self, vertex: usize) -> impl Iterator<Item = (u16, f32)> + '_ {
        let run = self.runs[self
            .runs
            .partition_point(|r| r.first_vertex as usize <= vertex)
            - 1];
        let count = run.influences as usize;
        let first = run.first_influence as usize + (vertex - run.first_vertex as usize) * count;
        self.joints[first..first + count]
            .iter()
            .copied()
            .zip(self.weights[first..first + count].iter().copied())
    }
}

/// The numbers of all vertices from the streams of their primitives; zeros where a primitive lacks the stream.
fn in_order<'a, T: Copy + Default + 'a>(
    sources: &[VertexOrigin],
    stream: impl Fn(usize) -> Option<&'a Vec<T>>,
) -> Vec<T> {
    let own = |source: &VertexOrigin| {
        stream(source.primitive as usize)
            .map(|values| values[source.vertex as usize])
            .unwrap_or_default()
    };
    sources.iter().map(own).collect()
}

fn class_of(influences: usize) -> usize {
    INFLUENCE_CLASSES
        .into_iter()
        .find(|&c| c >= influences)
        .unwrap_or(MAX_INFLUENCES)
}

fn check_primitive(
    p: &PrimitiveData,
    skins: &[Skin],
    materials: usize,
    targets: usize,
) -> Result<(), String> {
    let count = p.positions.len();
    let Some(skin) = skins.get(usize::from(p.skin)) else {
        return Err(format!(
            "skin {} is out of range; there are {}",
            p.skin,
            skins.len()
        ));
    };
    let length = |name: &str, got: usize| {
        ensure(got == count, || {
            format!("{got} {name} for {count} positions; expected as many")
        })
    };
    let stream = |name: &str, numbers: &[f32], width: usize| {
        length(&format!("{name}s"), numbers.len() / width)?;
        match numbers.iter().position(|v| !v.is_finite()) {
            Some(at) => Err(format!(
                "the {name} of vertex {} holds a number that is not finite",
                at / width
            )),
            None => Ok(()),
        }
    };
    stream("position", p.positions.as_flattened(), 3)?;
    p.normals.as_ref().map_or(Ok(()), |normals| {
        stream("normal", normals.as_flattened(), 3)
    })?;
    p.tangents.as_ref().map_or(Ok(()), |tangents| {
        stream("tangent", tangents.as_flattened(), 4)
    })?;
    p.uvs
        .as_ref()
        .map_or(Ok(()), |uvs| stream("uv", uvs.as_flattened(), 2))?;
    length("sets of influences", p.influences.vertices())?;
    let joints = skin.entries.len();
    for (vertex, (joint, weight)) in
        (0..count).flat_map(|v| p.influences.of(v).map(move |pair| (v, pair)))
    {
        ensure(usize::from(joint) < joints, || {
            format!("vertex {vertex} has joint {joint}; its skin has {joints}")
        })?;
        ensure(weight.is_finite() && weight >= 0.0, || {
            format!("vertex {vertex} has the weight {weight}; expected 0 or more")
        })?;
    }
    let indices = p.indices.len();
    ensure(indices.is_multiple_of(3), || {
        format!("{indices} indices; expected a multiple of 3")
    })?;
    if let Some(at) = p.indices.iter().position(|&i| i as usize >= count) {
        return Err(format!(
            "triangle {} names vertex {}; there are {count}",
            at / 3,
            p.indices[at]
        ));
    }
    for subset in &p.subsets {
        let Subset {
            material,
            indices: covered,
        } = subset;
        ensure(usize::from(*material) < materials, || {
            format!("material {material} is out of range; there are {materials}")
        })?;
        ensure(
            covered.start <= covered.end && covered.end as usize <= indices,
            || format!("a subset covers indices {covered:?}; there are {indices}"),
        )?;
    }
    for deltas in &p.targets {
        deltas.check(count, targets)?;
    }
    ensure(p.dumped_vertices as usize <= count, || {
        format!("{} vertices of the file among {count}", p.dumped_vertices)
    })
}

/// Counts repairs, so that each kind is reported once.
#[derive(Default)]
struct WeightRepairs {
    renormalised: u32,
    worst_sum: f32,
    weightless: u32,
    unheld: u32,
    truncated: u32,
    most: usize,
}

impl WeightRepairs {
    fn describe(self, repairs: &mut Vec<Repair>) {
        let Self {
            renormalised,
            worst_sum,
            weightless,
            unheld,
            truncated,
            most,
        } = self;
        let counted = [
            (
                renormalised,
                format!(
                    "renormalised the weights of {renormalised} vertices (worst sum {worst_sum})"
                ),
            ),
            (
                weightless,
                format!(
                    "{weightless} vertices whose weights are all 0 now follow the joint of their first influence"
                ),
            ),
            (
                unheld,
                format!("{unheld} vertices without a joint now follow the skin's joint 0"),
            ),
            (
                truncated,
                format!(
                    "kept the {MAX_INFLUENCES} largest of up to {most} influences on {truncated} vertices"
                ),
            ),
        ];
        repairs.extend(
            counted
                .into_iter()
                .filter(|(count, _)| *count > 0)
                .map(|(_, message)| Repair { message }),
        );
    }
}

/// Largest deviations of a sum of weights from 1 that are not reported and, smaller, not renormalised: rounding errors
/// are kept, so that a file's weights keep their exact values.
const WORTH_A_WORD: f64 = 1e-4;
const ROUNDING: f64 = 1e-6;

fn repaired(
    influences: &Influences,
    vertex: usize,
    repairs: &mut WeightRepairs,
) -> Vec<(u16, f32)> {
    let mut pairs: Vec<(u16, f32)> = influences
        .of(vertex)
        .filter(|(_, weight)| *weight > 0.0)
        .collect();
    if pairs.is_empty() {
        let Some((joint, _)) = influences.of(vertex).next() else {
            repairs.unheld += 1;
            return vec![(0, 1.0)];
        };
        repairs.weightless += 1;
        return vec![(joint, 1.0)];
    }
    let mut renormalise = false;
    if pairs.len() > MAX_INFLUENCES {
        repairs.truncated += 1;
        repairs.most = repairs.most.max(pairs.len());
        pairs.sort_by(|a, b| b.1.total_cmp(&a.1));
        pairs.truncate(MAX_INFLUENCES);
        renormalise = true;
    }
    let sum: f64 = pairs.iter().map(|(_, weight)| f64::from(*weight)).sum();
    if (sum - 1.0).abs() > WORTH_A_WORD && !renormalise {
        repairs.renormalised += 1;
        if (sum - 1.0).abs() > f64::from(repairs.worst_sum - 1.0).abs() || repairs.renormalised == 1
        {
            repairs.worst_sum = sum as f32;
        }
    }
    renormalise |= (sum - 1.0).abs() > ROUNDING;
    if renormalise {
        pairs
            .iter_mut()
            .for_each(|(_, weight)| *weight = (f64::from(*weight) / sum) as f32);
    }
    pairs
}

/// The sum of the normals of the triangles around each vertex, each as long as twice the triangle's area; zero for a
/// vertex without a triangle.
///
/// # Panics
/// A triangle names a vertex that has no position.
pub fn area_normals<'a>(
    positions: &[DVec3],
    triangles: impl IntoIterator<Item = &'a [u32; 3]>,
) -> Vec<DVec3> {
    let mut sums = vec![DVec3::ZERO; positions.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|vertex| positions[vertex as usize]);
        let area = (b - a).cross(c - a);
        triangle
            .iter()
            .for_each(|&vertex| sums[vertex as usize] += area);
    }
    sums
}

/// Area-weighted normals. Triangles that share no vertex get flat normals, which glTF requires for meshes without
/// normals.
fn generated_normals(positions: &[[f32; 3]], indices: &[u32]) -> Vec<[f32; 3]> {
    let positions: Vec<DVec3> = positions
        .iter()
        .map(|position| DVec3::from(position.map(f64::from)))
        .collect();
    let sums = area_normals(&positions, indices.as_chunks::<3>().0);
    sums.into_iter()
        .map(|n| n.normalize_or_zero().as_vec3().to_array())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn primitive(pairs: &[&[(u16, f32)]]) -> PrimitiveData {
        PrimitiveData {
            positions: (0..pairs.len()).map(|i| [i as f32, 0.0, 0.0]).collect(),
            influences: pairs.iter().map(|p| p.iter().copied()).collect(),
            dumped_vertices: pairs.len() as u32,
            ..Default::default()
        }
    }

    fn mesh(primitives: Vec<PrimitiveData>) -> (Result<Mesh, ModelError>, Vec<Repair>) {
        let mut repairs = Vec::new();
        let skins = [
            Skin {
                name: String::new(),
                entries: 0..2,
            },
            Skin {
                name: String::new(),
                entries: 2..22,
            },
        ];
        (
            Mesh::new(primitives, Vec::new(), &skins, 1, &mut repairs),
            repairs,
        )
    }

    #[test]
    fn vertices_are_sorted_into_runs_and_indices_follow() {
        let mut first = primitive(&[&[(0, 0.5), (1, 0.5)], &[(1, 1.0)], &[(0, 1.0)]]);
        first.indices = vec![0, 1, 2];
        let mut second = primitive(&[&[(0, 1.0)]]);
        second.skin = 1;
        let mesh = mesh(vec![first, second]).0.unwrap();
        assert_eq!(
            mesh.positions(),
            [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0; 3], [0.0; 3]]
        );
        assert_eq!(
            mesh.runs()
                .iter()
                .map(|r| (
                    r.influences,
                    r.first_vertex,
                    r.vertex_count,
                    r.first_influence
                ))
                .collect::<Vec<_>>(),
            [(1, 0, 3, 0), (2, 3, 1, 3)]
        );
        assert_eq!(mesh.joints(), [1, 0, 2, 0, 1]);
        assert_eq!(mesh.indices(), [3, 0, 1]);
    }

    #[test]
    fn weights_are_repaired_and_told_once() {
        let many: Vec<(u16, f32)> = (0..18)
            .map(|j| (j, if j < 2 { 0.001 } else { 0.0625 }))
            .collect();
        let mut second = primitive(&[&many]);
        second.skin = 1;
        let (mesh, repairs) = mesh(vec![
            primitive(&[
                &[(0, 0.5)],
                &[],
                &[(0, 1.0), (1, 1.0)],
                &[(1, 0.0), (0, 0.0)],
            ]),
            second,
        ]);
        let mesh = mesh.unwrap();
        assert_eq!(mesh.joints()[..3], [0, 0, 1]);
        assert_eq!(mesh.weights()[..3], [1.0; 3]);
        assert_eq!(mesh.weights()[3..5], [0.5, 0.5]);
        assert_eq!(mesh.runs().last().unwrap().influences, 16);
        assert_eq!(
            repairs
                .iter()
                .map(|r| r.message.as_str())
                .collect::<Vec<_>>(),
            [
                "renormalised the weights of 2 vertices (worst sum 2)",
                "1 vertices whose weights are all 0 now follow the joint of their first influence",
                "1 vertices without a joint now follow the skin's joint 0",
                "kept the 16 largest of up to 18 influences on 1 vertices"
            ]
        );
    }

    #[test]
    fn joints_and_indices_out_of_range_are_refused() {
        assert!(
            mesh(vec![primitive(&[&[(2, 1.0)]])])
                .0
                .unwrap_err()
                .problem
                .contains("vertex 0 has joint 2; its skin has 2")
        );
        let mut bad = primitive(&[&[(0, 1.0)]]);
        bad.indices = vec![0, 0, 1];
        assert!(
            mesh(vec![bad])
                .0
                .unwrap_err()
                .problem
                .contains("names vertex 1")
        );
        assert!(mesh(vec![primitive(&[&[(0, -1.0)]])]).0.is_err());
        assert!(mesh(vec![primitive(&[&[(0, f32::NAN)]])]).0.is_err());
        assert!(mesh(vec![]).0.is_err());
    }

    #[test]
    fn missing_normals_are_generated() {
        let normals = generated_normals(
            &[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [9.0; 3]],
            &[0, 1, 2],
        );
        assert_eq!(
            normals,
            [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0; 3]]
        );
    }
}
