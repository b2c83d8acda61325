//! Morph targets: shapes that a mesh takes on in proportion to weights, stored as sparse deltas from the mesh.

use super::Lists;
use crate::error::{DataError, ensure, first_too_large};
use fieldwork::Fieldwork;

/// Most targets of a model.
pub const MAX_TARGETS: usize = u16::MAX as usize;
/// [`Targets::slots`] of a vertex that no target moves.
pub const UNMOVED: u32 = u32::MAX;

/// A morph target, without its deltas.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Target {
    /// Name in the file.
    pub name: String,
    /// Weight where no clip sets another.
    pub weight: f32,
}

/// A target and its weight.
#[derive(Debug, Clone, Copy, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct TargetWeight {
    /// Index into the model's targets.
    pub target: u32,
    /// Weight, neither clamped nor normalised.
    pub weight: f32,
}

/// Deltas of one target on one primitive, as an importer found them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TargetDeltas {
    /// Index into the model's targets.
    pub target: u32,
    /// Vertices of the primitive, rising, each with what is added to its position, its normal and the direction of its
    /// tangent, times the weight. The target does not move the others.
    pub vertices: Vec<(u32, [[f32; 3]; 3])>,
}

impl TargetDeltas {
    /// Appends a vertex, unless its deltas are all zero.
    pub fn push(&mut self, vertex: u32, deltas: [[f32; 3]; 3]) {
        if deltas != [[0.0; 3]; 3] {
            self.vertices.push((vertex, deltas));
        }
    }

    /// The deltas of the vertices that are kept; a vertex becomes its place in `kept`.
    pub(super) fn with_vertices(&self, kept: &[u32]) -> Self {
        let mut deltas = Self {
            target: self.target,
            ..Self::default()
        };
        for (place, vertex) in (0..).zip(kept) {
            if let Ok(at) = self.vertices.binary_search_by_key(vertex, |moved| moved.0) {
                deltas.push(place, self.vertices[at].1);
            }
        }
        deltas
    }

    /// Describes the first fault among the deltas for a primitive of `count` vertices.
    pub(super) fn check(&self, count: usize, targets: usize) -> Result<(), String> {
        let target = self.target;
        ensure!(
            (target as usize) < targets,
            "deltas of target {target}; the model has {targets}"
        );
        let mut before = None;
        for (vertex, deltas) in &self.vertices {
            if let Some(before) = before.replace(vertex) {
                ensure!(
                    before < vertex,
                    "target {target} has vertex {vertex} after {before}; expected rising ones"
                );
            }
            ensure!(
                (*vertex as usize) < count,
                "target {target} moves vertex {vertex}; there are {count}"
            );
            if let Some(found) = first_too_large(deltas) {
                return Err(format!("target {target} moves vertex {vertex} by {found}"));
            }
        }
        Ok(())
    }
}

/// Neighbouring vertices that a target moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeltaRun {
    /// First vertex.
    pub first_vertex: u32,
    /// Number of vertices, at least one.
    pub count: u32,
    /// First item of the delta streams.
    pub first_delta: u32,
}

impl DeltaRun {
    /// The run's vertices.
    pub fn vertices(&self) -> std::ops::Range<usize> {
        self.first_vertex as usize..(self.first_vertex + self.count) as usize
    }

    /// The run's items of the delta streams.
    pub fn deltas(&self) -> std::ops::Range<usize> {
        self.first_delta as usize..(self.first_delta + self.count) as usize
    }
}

/// Deltas on their way into the store.
struct SortedDeltas {
    target: u32,
    /// The stored vertex.
    vertex: u32,
    deltas: [[f32; 3]; 3],
}

/// The targets of a model, structure-of-arrays: the deltas of one target after the other, sorted by vertex.
#[derive(Debug, Clone, Default, PartialEq, Fieldwork)]
#[fieldwork(get(doc_template = "{}"))]
pub struct Targets {
    /// Names and default weights, one per target.
    list: Vec<Target>,
    #[field = false]
    spans: Lists<DeltaRun>,
    /// Position deltas of all targets, addressed by [`DeltaRun::deltas`].
    positions: Vec<[f32; 3]>,
    /// Normal deltas, in the order of [`Targets::positions`].
    normals: Vec<[f32; 3]>,
    /// Deltas of the directions of tangents, in the same order; empty if the mesh has no tangents.
    tangents: Vec<[f32; 3]>,
    /// For each vertex its place among those that targets move, or [`UNMOVED`]; empty without targets.
    slots: Vec<u32>,
    #[field = false]
    moved: u32,
}

impl Targets {
    /// Sorts deltas, which have been checked, by target and stored vertex. The deltas of a primitive come with the place in
    /// the store of each of its vertices. Without tangents of the mesh, those of targets are left out.
    pub(super) fn new(
        list: Vec<Target>,
        primitives: Vec<(&TargetDeltas, &[u32])>,
        vertices: usize,
        with_tangents: bool,
    ) -> Result<Self, DataError> {
        check_list(&list)?;
        if list.is_empty() {
            return Ok(Self::default());
        }
        let sorted = sorted(primitives)?;
        let mut targets = Self {
            slots: vec![UNMOVED; vertices],
            ..Self::default()
        };
        let mut spans = Vec::new();
        for run in sorted.chunk_by(|a, b| (a.target, a.vertex + 1) == (b.target, b.vertex)) {
            let span = DeltaRun {
                first_vertex: run[0].vertex,
                count: run.len() as u32,
                first_delta: targets.positions.len() as u32,
            };
            spans.push((run[0].target as usize, span));
            targets.slots[span.vertices()].fill(0);
            for delta in run {
                let [position, normal, tangent] = delta.deltas;
                targets.positions.push(position);
                targets.normals.push(normal);
                if with_tangents {
                    targets.tangents.push(tangent);
                }
            }
        }
        targets.spans = Lists::gathered(list.len(), spans);
        for slot in targets.slots.iter_mut().filter(|slot| **slot != UNMOVED) {
            *slot = targets.moved;
            targets.moved += 1;
        }
        targets.list = list;
        Ok(targets)
    }

    /// Number of targets.
    pub fn len(&self) -> usize {
        self.list.len()
    }
    /// `true` without any target.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
    /// Vertices that a target moves, in rising order.
    ///
    /// # Panics
    /// There is no such target.
    pub fn spans(&self, target: usize) -> &[DeltaRun] {
        self.spans.of(target)
    }
    /// Number of vertices that targets move.
    pub fn moved(&self) -> usize {
        self.moved as usize
    }
    /// Position, normal and tangent of an item of the delta streams; a tangent of zero if there are none.
    ///
    /// # Panics
    /// There is no such item.
    pub fn deltas(&self, item: usize) -> [[f32; 3]; 3] {
        let tangent = self.tangents.get(item).copied().unwrap_or_default();
        [self.positions[item], self.normals[item], tangent]
    }
    /// The targets, vertices and deltas of all items of the delta streams: `(target, vertex, delta)`.
    pub fn entries(&self) -> Vec<(usize, usize, usize)> {
        let mut entries = Vec::with_capacity(self.positions.len());
        for target in 0..self.len() {
            for span in self.spans(target) {
                for (vertex, delta) in span.vertices().zip(span.deltas()) {
                    entries.push((target, vertex, delta));
                }
            }
        }
        entries
    }
    /// The deltas of each vertex: target, and item of the delta streams.
    pub fn by_vertex(&self) -> Lists<(u32, u32)> {
        let mut deltas = Vec::with_capacity(self.positions.len());
        for (target, vertex, delta) in self.entries() {
            deltas.push((vertex, (target as u32, delta as u32)));
        }
        Lists::gathered(self.slots.len(), deltas)
    }
    /// Bytes of the store, names aside.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.list[..])
            + self.spans.bytes()
            + size_of_val(&self.positions[..])
            + size_of_val(&self.normals[..])
            + size_of_val(&self.tangents[..])
            + size_of_val(&self.slots[..])
    }
}

fn check_list(list: &[Target]) -> Result<(), DataError> {
    if list.len() > MAX_TARGETS {
        return Err(DataError::new(
            "targets",
            format!("{} in a model; expected at most {MAX_TARGETS}", list.len()),
        ));
    }
    let weights: Vec<[f32; 1]> = list.iter().map(|target| [target.weight]).collect();
    match first_too_large(&weights) {
        Some(found) => Err(DataError::new(
            format!("target {}", found.item),
            format!("the weight {found}"),
        )),
        None => Ok(()),
    }
}

/// Deltas by target and stored vertex, from those of primitives and the place of each of their vertices.
fn sorted(primitives: Vec<(&TargetDeltas, &[u32])>) -> Result<Vec<SortedDeltas>, DataError> {
    let mut sorted = Vec::new();
    for (deltas, stored) in primitives {
        let target = deltas.target;
        for &(vertex, deltas) in &deltas.vertices {
            sorted.push(SortedDeltas {
                target,
                vertex: stored[vertex as usize],
                deltas,
            });
        }
    }
    if sorted.len() > u32::MAX as usize {
        return Err(DataError::new(
            "targets",
            format!("{} deltas; expected at most {}", sorted.len(), u32::MAX),
        ));
    }
    sorted.sort_unstable_by_key(|delta| (delta.target, delta.vertex));
    for (a, b) in sorted.iter().zip(sorted.iter().skip(1)) {
        if (a.target, a.vertex) == (b.target, b.vertex) {
            return Err(DataError::new(
                format!("target {}", a.target),
                "two deltas for a vertex; expected one",
            ));
        }
    }
    Ok(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deltas(target: u32, vertices: &[u32]) -> TargetDeltas {
        let mut deltas = TargetDeltas {
            target,
            ..TargetDeltas::default()
        };
        for &vertex in vertices {
            let v = (vertex + 1) as f32;
            deltas.push(vertex, [[v, -v, 0.5 * v], [0.1 * v, 0.0, 0.0], [0.0; 3]]);
        }
        deltas
    }

    /// Two primitives of four vertices each; the store keeps their vertices in turns.
    fn targets() -> Targets {
        let list = vec![Target::default(); 4];
        let first = [deltas(0, &[0, 1, 3]), deltas(2, &[2])];
        let second = [deltas(2, &[0, 3]), deltas(3, &[1])];
        let mut stored: Vec<(&TargetDeltas, &[u32])> = Vec::new();
        stored.extend(first.iter().map(|deltas| (deltas, &[0, 2, 4, 6][..])));
        stored.extend(second.iter().map(|deltas| (deltas, &[1, 3, 5, 7][..])));
        Targets::new(list, stored, 8, false).unwrap()
    }

    #[test]
    fn deltas_follow_their_vertices_and_neighbours_share_a_span() {
        let targets = targets();
        let moved = |target| {
            targets
                .spans(target)
                .iter()
                .map(DeltaRun::vertices)
                .collect::<Vec<_>>()
        };
        assert_eq!(moved(0), [0..1, 2..3, 6..7]);
        assert_eq!(moved(1), []);
        assert_eq!(moved(2), [1..2, 4..5, 7..8]);
        assert_eq!(moved(3).first(), Some(&(3..4)));
        for (target, vertex, delta) in targets.entries() {
            let v = (vertex / 2 + 1) as f32;
            assert_eq!(
                targets.positions()[delta],
                [v, -v, 0.5 * v],
                "target {target}, vertex {vertex}"
            );
        }
        assert_eq!(
            (targets.slots(), targets.moved()),
            (&[0, 1, 2, 3, 4, UNMOVED, 5, 6][..], 7)
        );
        let dense = Targets::new(
            vec![Target::default()],
            vec![(&deltas(0, &[0, 1, 2]), &[4, 5, 6])],
            8,
            true,
        );
        let span = DeltaRun {
            first_vertex: 4,
            count: 3,
            first_delta: 0,
        };
        assert_eq!(dense.unwrap().spans(0), [span]);
    }

    #[test]
    fn the_deltas_of_a_vertex_are_those_of_its_targets() {
        let targets = targets();
        let by_vertex = targets.by_vertex();
        let mut found = Vec::new();
        for vertex in 0..8 {
            let deltas = by_vertex.of(vertex).iter();
            found.extend(deltas.map(|&(target, delta)| (target as usize, vertex, delta as usize)));
        }
        found.sort_unstable();
        assert_eq!(found, targets.entries());
    }

    #[test]
    fn faults_say_what_was_expected() {
        let fault = |deltas: TargetDeltas| deltas.check(4, 2).unwrap_err();
        assert!(fault(deltas(2, &[0])).contains("deltas of target 2; the model has 2"));
        assert!(fault(deltas(0, &[1, 1])).contains("vertex 1 after 1; expected rising ones"));
        assert!(fault(deltas(0, &[1, 4])).contains("moves vertex 4; there are 4"));
        let mut bad = deltas(1, &[0, 3]);
        bad.vertices[1].1[1][2] = f32::NAN;
        assert!(fault(bad).contains("moves vertex 3 by NaN; expected numbers of at most 1e18"));
        assert_eq!(deltas(1, &[0, 3]).check(4, 2), Ok(()));
        let new = |list, deltas: TargetDeltas| {
            Targets::new(list, vec![(&deltas, &[0, 1])], 2, false)
                .unwrap_err()
                .to_string()
        };
        assert!(
            new(vec![Target::default(); 70_000], deltas(0, &[0]))
                .contains("expected at most 65535")
        );
        let nan = Target {
            weight: f32::NAN,
            ..Target::default()
        };
        assert!(new(vec![nan], deltas(0, &[0])).contains("the weight NaN; expected"));
    }
}
