//! Skinning of all models of a crowd at once: a batch takes one dispatch for each kind of its groups, whatever the number
//! of its models. A table says where each chunk begins in the buffers that they share.

use crate::Gpu;
use crate::crowd::table::CrowdTable;
use crate::device::{Named, named};
use crate::forms::kind::ShaderVariant;
use crate::forms::mesh::{more_influences, upload_meshes};
use crate::shader::{WORKGROUP, layout};
use skinbench_frame::Purpose;
use skinbench_kernels::crowd::Crowd;

/// The kind of a group for a merged kernel. The number of influences matters only beyond those of a stored vertex.
pub fn kind(kind: ShaderVariant) -> ShaderVariant {
    ShaderVariant {
        influences: if kind.influences > 4 { 16 } else { 4 },
        ..kind
    }
}

/// What a dispatch reads of the chunks that it skins.
pub struct MergedTables {
    pub first_chunk: usize,
    pub workgroups: u32,
    /// The tables, and the meshes one after the other.
    pub inputs: Vec<Named>,
}

/// Uploads the tables and meshes of a batch's dispatches: one for each kind of its groups, as they occur. A thread skins
/// `at_once` neighbouring instances.
pub fn tables(
    gpu: &Gpu,
    crowd: &Crowd,
    table: &CrowdTable,
    batch: usize,
    kinds: &[ShaderVariant],
    at_once: u32,
) -> Vec<MergedTables> {
    let kind_of = |chunk: usize| kinds[table.chunks[chunk].group];
    let mut rest: Vec<usize> = table.batches[batch].clone().collect();
    let mut all = Vec::new();
    while let Some(&first) = rest.first() {
        let kind = kind_of(first);
        let of_kind = rest.extract_if(.., |chunk| kind_of(*chunk) == kind);
        let of_kind: Vec<usize> = of_kind.collect();
        all.push(MergedTables::new(
            gpu, crowd, table, &of_kind, kind, at_once,
        ));
    }
    all
}

impl MergedTables {
    /// Uploads those of chunks whose groups are of one kind.
    fn new(
        gpu: &Gpu,
        crowd: &Crowd,
        table: &CrowdTable,
        of_kind: &[usize],
        kind: ShaderVariant,
        at_once: u32,
    ) -> Self {
        let mut chunks = Vec::with_capacity(of_kind.len());
        let mut groups = Vec::with_capacity(of_kind.len());
        let mut workgroups = Vec::new();
        let mut mesh_vertex = 0;
        let mut mesh_influence = 0;
        for (chunk, &index) in (0..).zip(of_kind) {
            let numbers = &table.numbers[index].chunk;
            for instance in (0..numbers.instances).step_by(at_once as usize) {
                for vertex in (0..numbers.vertices).step_by(WORKGROUP as usize) {
                    workgroups.push(layout::Workgroup {
                        chunk,
                        vertex,
                        instance,
                    });
                }
            }
            chunks.push(layout::Chunk {
                mesh_vertex,
                mesh_influence,
                ..*numbers
            });
            let group = &crowd.groups()[table.chunks[index].group];
            groups.push(group);
            mesh_vertex += numbers.vertices;
            mesh_influence += more_influences(group.model.mesh()) as u32;
        }
        let chunks = gpu.storage(Purpose::Scratch, "chunks", &chunks);
        let listed = gpu.storage(Purpose::Scratch, "workgroups", &workgroups);
        let mut inputs = upload_meshes(gpu, &groups, kind.mesh).to_vec();
        inputs.extend([named("chunks", &chunks), named("workgroups", &listed)]);
        Self {
            first_chunk: of_kind[0],
            workgroups: workgroups.len() as u32,
            inputs,
        }
    }
}
