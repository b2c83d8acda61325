//! One concatenated vertex stream for all primitives, sorted into runs of equal influence count, and there by joints.

use super::{Bounds, Lists, Notes, Skin, Target, TargetDeltas, Targets};
use crate::error::{DataError, LARGEST, ensure, first_too_large, written};
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
        for pairs in vertices {
            influences.push(pairs);
        }
        influences
    }
}

impl Influences {
    /// The influences of `vertices` vertices from (vertex, joint, weight) in any order. A vertex keeps the order of its
    /// pairs, of which some are left out as in [`Influences::push`]; vertices that are out of range are left out.
    pub fn gathered(vertices: usize, pairs: Vec<(u32, u16, f32)>) -> Self {
        let mut items = Vec::with_capacity(pairs.len());
        for (vertex, joint, weight) in pairs {
            items.push((vertex as usize, (joint, weight)));
        }
        let lists = Lists::gathered(vertices, items);
        lists.iter().map(|pairs| pairs.iter().copied()).collect()
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
        let mut held = pairs.filter(|pair| pair.1 != 0.0).peekable();
        match held.peek() {
            Some(_) => self.0.push(held),
            None => self.0.push(first),
        }
    }

    /// Appends a vertex with the largest of some pairs, at most so many, and with weights that sum to 1.
    pub fn push_largest(&mut self, mut pairs: Vec<(u16, f32)>, most: usize) {
        pairs.sort_by(|a, b| b.1.total_cmp(&a.1));
        pairs.truncate(most);
        let sum: f32 = pairs.iter().map(|pair| pair.1).sum();
        for (_, weight) in &mut pairs {
            *weight /= sum;
        }
        self.push(pairs);
    }
}

/// Triangles of a primitive that share a material.
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
    /// Colours that multiply those of the material, linear RGBA.
    pub colors: Option<Vec<[f32; 4]>>,
    /// Joints and weights of each vertex.
    pub influences: Influences,
    /// Triangle list; empty for points and lines.
    pub indices: Vec<u32>,
    /// Ranges of `indices` by material.
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
        let mut dumped_vertices = 0;
        if self.dumped_vertices > 0 {
            dumped_vertices = kept.len() as u32;
        }
        Self {
            skin: self.skin,
            positions: chosen(&self.positions, kept),
            normals: self.normals.as_ref().map(|normals| chosen(normals, kept)),
            tangents: self
                .tangents
                .as_ref()
                .map(|tangents| chosen(tangents, kept)),
            uvs: self.uvs.as_ref().map(|uvs| chosen(uvs, kept)),
            colors: self.colors.as_ref().map(|colors| chosen(colors, kept)),
            influences: kept
                .iter()
                .map(|&vertex| self.influences.of(vertex as usize))
                .collect(),
            indices: Vec::new(),
            subsets: Vec::new(),
            dumped_vertices,
            targets: self
                .targets
                .iter()
                .map(|deltas| deltas.with_vertices(kept))
                .collect(),
        }
    }

    /// The indices of a subset.
    ///
    /// # Panics
    /// A subset of more indices than the primitive has.
    pub fn indices_of(&self, subset: &Subset) -> &[u32] {
        &self.indices[subset.indices.start as usize..subset.indices.end as usize]
    }

    /// Appends triangles, given by their indices, as a subset with a material.
    pub fn add_subset(&mut self, material: u16, indices: impl IntoIterator<Item = u32>) {
        let first = self.indices.len() as u32;
        self.indices.extend(indices);
        self.subsets.push(Subset {
            material,
            indices: first..self.indices.len() as u32,
        });
    }

    /// Replaces the triangles by these, each with the index of its material. They are sorted by material, within which
    /// they keep their order, and each material has one subset.
    pub fn set_triangles(&mut self, mut triangles: Vec<(u16, [u32; 3])>) {
        triangles.sort_by_key(|triangle| triangle.0);
        self.indices.clear();
        self.subsets.clear();
        for run in triangles.chunk_by(|a, b| a.0 == b.0) {
            self.add_subset(run[0].0, run.iter().flat_map(|triangle| triangle.1));
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
    /// Ranges of [`Mesh::indices`] by material.
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

impl VertexRun {
    /// The pairs of some of the run's vertices.
    #[inline]
    fn pairs(&self, vertices: Range<usize>) -> Range<usize> {
        let influences = self.influences as usize;
        let first = self.first_influence as usize
            + (vertices.start - self.first_vertex as usize) * influences;
        first..first + vertices.len() * influences
    }
}

/// Origin of a stored vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct VertexOrigin {
    /// Index into [`Mesh::primitives`].
    pub primitive: u32,
    /// Index of the vertex in the primitive, in file order.
    pub vertex: u32,
}

/// A vertex on its way into the store.
struct SortedVertex {
    origin: VertexOrigin,
    /// Palette entries and weights, padded to one of [`INFLUENCE_CLASSES`].
    pairs: Vec<(u16, f32)>,
}

/// All primitives' vertices, structure-of-arrays. They are sorted by influence count, then by the set of their joints, then as in
/// the file.
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
    /// Colours that multiply those of the material, linear RGBA, one per vertex, if any primitive has them; white in the
    /// others.
    colors: Option<Vec<[f32; 4]>>,
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
    /// Origins of the stored vertices, one per vertex. To bring skinned vertices into the order of the file, write vertex `v` to
    /// place `sources[v].vertex` of primitive `sources[v].primitive`.
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
        notes: &mut Notes,
    ) -> Result<Self, DataError> {
        let vertex_count = checked(&primitives, skins, materials, targets.len())?;
        let found = primitives.len();
        primitives.retain(|primitive| !primitive.positions.is_empty());
        let empty = found - primitives.len();
        notes.add("left out # primitives without vertices", empty);
        let vertices = sorted_vertices(&primitives, skins, notes);
        let with_colors = primitives.iter().any(|p| p.colors.is_some());
        let mut stored_primitives = Vec::with_capacity(primitives.len());
        for primitive in &mut primitives {
            stored_primitives.push(Primitive {
                skin: primitive.skin,
                vertex_count: primitive.positions.len() as u32,
                dumped_vertices: primitive.dumped_vertices,
                has_normals: primitive.normals.is_some(),
                subsets: Vec::with_capacity(primitive.subsets.len()),
            });
            primitive
                .normals
                .get_or_insert_with(|| generated_normals(&primitive.positions, &primitive.indices));
            if with_colors {
                let white = vec![[1.0; 4]; primitive.positions.len()];
                primitive.colors.get_or_insert(white);
            }
        }
        let with_tangents = primitives.iter().all(|p| p.tangents.is_some());
        let with_uvs = primitives.iter().any(|p| p.uvs.is_some());
        let sources: Vec<VertexOrigin> = vertices.iter().map(|vertex| vertex.origin).collect();
        let mut mesh = Self {
            positions: in_order(&primitives, &sources, |p| Some(&p.positions)),
            normals: in_order(&primitives, &sources, |p| p.normals.as_ref()),
            tangents: with_tangents
                .then(|| in_order(&primitives, &sources, |p| p.tangents.as_ref())),
            uvs: with_uvs.then(|| in_order(&primitives, &sources, |p| p.uvs.as_ref())),
            colors: with_colors.then(|| in_order(&primitives, &sources, |p| p.colors.as_ref())),
            joints: Vec::new(),
            entries: 0,
            weights: Vec::new(),
            runs: Vec::new(),
            indices: Vec::with_capacity(primitives.iter().map(|p| p.indices.len()).sum()),
            primitives: stored_primitives,
            sources,
            targets: Targets::default(),
            // The model sets this later, because it knows the rest pose.
            cube: Cube::around([0.0; 3], [0.0; 3]),
        };
        mesh.add_runs(&vertices);
        let stored = mesh.stored(&primitives);
        mesh.add_triangles(&primitives, &stored);
        let mut deltas = Vec::new();
        for (primitive, stored) in primitives.iter().zip(&stored) {
            deltas.extend(primitive.targets.iter().map(|deltas| (deltas, &stored[..])));
        }
        mesh.targets = Targets::new(targets, deltas, vertex_count, with_tangents)?;
        Ok(mesh)
    }

    /// Appends the influences of sorted vertices, run by run.
    fn add_runs(&mut self, vertices: &[SortedVertex]) {
        let mut first_vertex = 0;
        for run in vertices.chunk_by(|a, b| a.pairs.len() == b.pairs.len()) {
            let run_length = run.len() as u32;
            self.runs.push(VertexRun {
                influences: run[0].pairs.len() as u32,
                first_vertex,
                vertex_count: run_length,
                first_influence: self.joints.len() as u32,
            });
            first_vertex += run_length;
            for &(joint, weight) in run.iter().flat_map(|vertex| &vertex.pairs) {
                self.joints.push(joint);
                self.weights.push(weight);
                self.entries = self.entries.max(usize::from(joint) + 1);
            }
        }
    }

    /// For each vertex of each primitive, where the mesh stores it.
    fn stored(&self, primitives: &[PrimitiveData]) -> Vec<Vec<u32>> {
        let mut stored: Vec<Vec<u32>> = primitives
            .iter()
            .map(|p| vec![0; p.positions.len()])
            .collect();
        for (vertex, source) in (0..).zip(&self.sources) {
            stored[source.primitive as usize][source.vertex as usize] = vertex;
        }
        stored
    }

    /// Appends the triangles of primitives, whose vertices are `stored` there.
    fn add_triangles(&mut self, primitives: &[PrimitiveData], stored: &[Vec<u32>]) {
        for (index, primitive) in primitives.iter().enumerate() {
            let stored = &stored[index];
            let first_index = self.indices.len() as u32;
            self.indices
                .extend(primitive.indices.iter().map(|&i| stored[i as usize]));
            for subset in &primitive.subsets {
                self.primitives[index].subsets.push(Subset {
                    material: subset.material,
                    indices: first_index + subset.indices.start..first_index + subset.indices.end,
                });
            }
        }
    }

    /// The primitives in the form that importers give, in file order; joints are indices into the primitive's skin
    /// again.
    pub(super) fn to_primitives(&self, skins: &[Skin]) -> Vec<PrimitiveData> {
        let stored = self.file_order();
        let mut rest = &stored[..];
        let mut primitives = Vec::with_capacity(self.primitives.len());
        for primitive in &self.primitives {
            let (vertices, others) = rest.split_at(primitive.vertex_count as usize);
            rest = others;
            let first_entry = skins[usize::from(primitive.skin)].entries.start as u16;
            let mut influences = Influences::default();
            for &vertex in vertices {
                influences.push(
                    self.influences_of(vertex as usize)
                        .map(|(entry, weight)| (entry - first_entry, weight)),
                );
            }
            let normals = primitive.has_normals.then_some(&self.normals);
            let mut data = PrimitiveData {
                skin: primitive.skin,
                positions: chosen(&self.positions, vertices),
                normals: normals.map(|normals| chosen(normals, vertices)),
                tangents: self
                    .tangents
                    .as_ref()
                    .map(|tangents| chosen(tangents, vertices)),
                uvs: self.uvs.as_ref().map(|uvs| chosen(uvs, vertices)),
                colors: self.colors.as_ref().map(|colors| chosen(colors, vertices)),
                influences,
                dumped_vertices: primitive.dumped_vertices,
                ..PrimitiveData::default()
            };
            for subset in &primitive.subsets {
                let first = data.indices.len() as u32;
                for index in subset.indices.clone() {
                    let vertex = self.indices[index as usize] as usize;
                    data.indices.push(self.sources[vertex].vertex);
                }
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
        let mut entries = Vec::new();
        for (target, vertex, delta) in self.targets.entries() {
            entries.push((target as u32, self.sources[vertex], delta));
        }
        entries.sort_unstable();
        for run in entries.chunk_by(|a, b| a.0 == b.0 && a.1.primitive == b.1.primitive) {
            let (target, origin, _) = run[0];
            let mut deltas = TargetDeltas {
                target,
                ..TargetDeltas::default()
            };
            for &(_, origin, delta) in run {
                deltas.push(origin.vertex, self.targets.deltas(delta));
            }
            primitives[origin.primitive as usize].targets.push(deltas);
        }
    }

    /// The stored vertices in the order of the file: by primitive, then by their index there.
    pub fn file_order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.vertex_count() as u32).collect();
        order.sort_unstable_by_key(|&vertex| self.sources[vertex as usize]);
        order
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
        let pairs = run.pairs(vertices);
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
        let run = self
            .runs
            .partition_point(|run| run.first_vertex as usize <= vertex)
            - 1;
        let pairs = self.runs[run].pairs(vertex..vertex + 1);
        self.joints[pairs.clone()]
            .iter()
            .copied()
            .zip(self.weights[pairs].iter().copied())
    }
    /// The palette entries that move a stored vertex: those of weights above 0.
    pub(crate) fn entries_of(&self, vertex: usize) -> impl Iterator<Item = usize> + '_ {
        self.influences_of(vertex)
            .filter(|pair| pair.1 > 0.0)
            .map(|pair| pair.0.into())
    }
}

/// All vertices with repaired weights, those with fewer influences first.
fn sorted_vertices(
    primitives: &[PrimitiveData],
    skins: &[Skin],
    notes: &mut Notes,
) -> Vec<SortedVertex> {
    let mut vertices = Vec::new();
    for (index, primitive) in primitives.iter().enumerate() {
        let first_entry = skins[usize::from(primitive.skin)].entries.start as u16;
        for vertex in 0..primitive.positions.len() {
            let mut pairs = repaired(&primitive.influences, vertex, notes);
            for pair in &mut pairs {
                pair.0 += first_entry;
            }
            let mut classes = INFLUENCE_CLASSES.into_iter();
            let class = classes.find(|&class| class >= pairs.len());
            // Padding repeats the first joint, whose palette entry is in the cache already.
            pairs.resize(class.unwrap_or(MAX_INFLUENCES), (pairs[0].0, 0.0));
            let origin = VertexOrigin {
                primitive: index as u32,
                vertex: vertex as u32,
            };
            vertices.push(SortedVertex { origin, pairs });
        }
    }
    // Neighbours read the same palette entries. The sort is stable: otherwise vertices keep the file's order.
    vertices.sort_by_cached_key(|vertex| (vertex.pairs.len(), joint_set(&vertex.pairs)));
    vertices
}

/// The values of these vertices.
fn chosen<T: Copy>(values: &[T], vertices: &[u32]) -> Vec<T> {
    vertices
        .iter()
        .map(|&vertex| values[vertex as usize])
        .collect()
}

/// The values of all vertices from the streams of their primitives; zeros where a primitive lacks the stream.
fn in_order<T: Copy + Default>(
    primitives: &[PrimitiveData],
    sources: &[VertexOrigin],
    stream: impl Fn(&PrimitiveData) -> Option<&Vec<T>>,
) -> Vec<T> {
    let mut values = Vec::with_capacity(sources.len());
    for source in sources {
        values.push(match stream(&primitives[source.primitive as usize]) {
            Some(stream) => stream[source.vertex as usize],
            None => T::default(),
        });
    }
    values
}

/// Number of vertices of all primitives.
///
/// # Errors
/// None or too many, or a primitive that does not fit the model.
fn checked(
    primitives: &[PrimitiveData],
    skins: &[Skin],
    materials: usize,
    targets: usize,
) -> Result<usize, DataError> {
    let vertex_count = primitives.iter().map(|p| p.positions.len()).sum::<usize>();
    if vertex_count == 0 {
        return Err(DataError::new(
            "mesh",
            "no skinned vertex; expected at least one",
        ));
    }
    let most = u32::MAX as usize / MAX_INFLUENCES;
    if vertex_count > most {
        return Err(DataError::new(
            "mesh",
            format!("{vertex_count} vertices; expected at most {most}"),
        ));
    }
    for (index, primitive) in primitives.iter().enumerate() {
        check_primitive(primitive, skins, materials, targets)
            .map_err(|problem| DataError::new(format!("primitive {index}"), problem))?;
    }
    Ok(vertex_count)
}

fn check_primitive(
    p: &PrimitiveData,
    skins: &[Skin],
    materials: usize,
    targets: usize,
) -> Result<(), String> {
    let count = p.positions.len();
    ensure!(
        usize::from(p.skin) < skins.len(),
        "skin {} is out of range; there are {}",
        p.skin,
        skins.len()
    );
    let joints = skins[usize::from(p.skin)].entries.len();
    check_stream("position", Some(&p.positions), count)?;
    check_stream("normal", p.normals.as_ref(), count)?;
    check_stream("tangent", p.tangents.as_ref(), count)?;
    check_stream("uv", p.uvs.as_ref(), count)?;
    check_stream("colour", p.colors.as_ref(), count)?;
    check_length("sets of influences", p.influences.vertices(), count)?;
    for vertex in 0..count {
        for (joint, weight) in p.influences.of(vertex) {
            ensure!(
                usize::from(joint) < joints,
                "vertex {vertex} has joint {joint}; its skin has {joints}"
            );
            ensure!(
                (0.0..=LARGEST).contains(&weight),
                "vertex {vertex} has the weight {}; expected 0 to {LARGEST:e}",
                written(weight)
            );
        }
    }
    let indices = p.indices.len();
    ensure!(
        indices.is_multiple_of(3),
        "{indices} indices; expected a multiple of 3"
    );
    for (at, &vertex) in p.indices.iter().enumerate() {
        ensure!(
            (vertex as usize) < count,
            "triangle {} names vertex {vertex}; there are {count}",
            at / 3
        );
    }
    for subset in &p.subsets {
        let material = subset.material;
        ensure!(
            usize::from(material) < materials,
            "material {material} is out of range; there are {materials}"
        );
        let covered = &subset.indices;
        ensure!(
            covered.start <= covered.end && covered.end as usize <= indices,
            "a subset covers indices {covered:?}; there are {indices}"
        );
    }
    for deltas in &p.targets {
        deltas.check(count, targets)?;
    }
    ensure!(
        p.dumped_vertices as usize <= count,
        "{} vertices of the file among {count}",
        p.dumped_vertices
    );
    Ok(())
}

fn check_length(name: &str, found: usize, count: usize) -> Result<(), String> {
    ensure!(
        found == count,
        "{found} {name} for {count} positions; expected as many"
    );
    Ok(())
}

/// Refuses a stream that has more or fewer values than positions, or one with a number that is too large.
fn check_stream<const N: usize>(
    name: &str,
    stream: Option<&Vec<[f32; N]>>,
    count: usize,
) -> Result<(), String> {
    let Some(values) = stream else { return Ok(()) };
    check_length(&format!("{name}s"), values.len(), count)?;
    match first_too_large(values) {
        Some(found) => Err(format!("the {name} of vertex {} holds {found}", found.item)),
        None => Ok(()),
    }
}

/// The joints that move a vertex, each once, in rising order.
fn joint_set(pairs: &[(u16, f32)]) -> Vec<u16> {
    let mut joints: Vec<u16> = pairs.iter().map(|pair| pair.0).collect();
    joints.sort_unstable();
    joints.dedup();
    joints
}

/// A sum of weights that is off from 1 by more than this is reported.
const REPORTED: f64 = 1e-4;
/// A sum that is off by no more than this is left as it is, so that a file's weights keep their exact values.
const ROUNDING: f64 = 1e-6;

/// The influences of a vertex without those of weight 0, at most [`MAX_INFLUENCES`], with weights that sum to 1.
fn repaired(influences: &Influences, vertex: usize, notes: &mut Notes) -> Vec<(u16, f32)> {
    let mut pairs: Vec<(u16, f32)> = influences.of(vertex).filter(|pair| pair.1 > 0.0).collect();
    if pairs.is_empty() {
        let Some((joint, _)) = influences.of(vertex).next() else {
            notes.add(
                "# vertices without a joint now follow the skin's joint 0",
                1,
            );
            return vec![(0, 1.0)];
        };
        notes.add(
            "# vertices whose weights are all 0 now follow the joint of their first influence",
            1,
        );
        return vec![(joint, 1.0)];
    }
    let found = pairs.len();
    let is_truncated = found > MAX_INFLUENCES;
    if is_truncated {
        notes.add_number(
            "kept the 16 largest of up to @ influences on # vertices",
            found as f32,
            found as f32,
        );
        pairs.sort_by(|a, b| b.1.total_cmp(&a.1));
        pairs.truncate(MAX_INFLUENCES);
    }
    let sum: f64 = pairs.iter().map(|pair| f64::from(pair.1)).sum();
    let off = (sum - 1.0).abs();
    if off > REPORTED && !is_truncated {
        notes.add_number(
            "renormalised the weights of # vertices (worst sum @)",
            sum as f32,
            off as f32,
        );
    }
    if is_truncated || off > ROUNDING {
        for (_, weight) in &mut pairs {
            *weight = (f64::from(*weight) / sum) as f32;
        }
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
        for &vertex in triangle {
            sums[vertex as usize] += area;
        }
    }
    sums
}

/// Area-weighted normals. Triangles that share no vertex get flat normals, which glTF requires for meshes without
/// normals.
fn generated_normals(positions: &[[f32; 3]], indices: &[u32]) -> Vec<[f32; 3]> {
    let positions: Vec<DVec3> = positions
        .iter()
        .map(|&position| Vec3::from(position).as_dvec3())
        .collect();
    area_normals(&positions, indices.as_chunks().0)
        .into_iter()
        .map(|normal| normal.normalize_or_zero().as_vec3().to_array())
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

    fn mesh(primitives: Vec<PrimitiveData>) -> (Result<Mesh, DataError>, Notes) {
        let mut notes = Notes::default();
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
            Mesh::new(primitives, Vec::new(), &skins, 1, &mut notes),
            notes,
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
            [[2.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3], [0.0; 3]]
        );
        assert_eq!(mesh.file_order(), [3, 1, 0, 2]);
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
        assert_eq!(mesh.joints(), [0, 1, 2, 0, 1]);
        assert_eq!(mesh.indices(), [3, 1, 0]);
    }

    #[test]
    fn weights_are_repaired_and_told_once() {
        let many: Vec<(u16, f32)> = (0..18)
            .map(|j| (j, if j < 2 { 0.001 } else { 0.0625 }))
            .collect();
        let mut second = primitive(&[&many]);
        second.skin = 1;
        let (mesh, notes) = mesh(vec![
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
            notes.lines().collect::<Vec<_>>(),
            [
                "renormalised the weights of 2 vertices (worst sum 2)",
                "1 vertices without a joint now follow the skin's joint 0",
                "1 vertices whose weights are all 0 now follow the joint of their first influence",
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
