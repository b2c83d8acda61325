//! Skinning of all models of a crowd at once. Chunks of many groups share buffers, and a table says where each begins.
//!
//! A crowd is divided into spans ([`CrowdTable::merged`](crate::CrowdTable::merged)). A span takes one dispatch for each kind of its groups, whatever the
//! number of its models.

use crate::crowd::table::chunk_contents;
use crate::device::Named;
use crate::forms::kind::Kind;
use crate::forms::mesh::{MeshForm, more_influences, upload_meshes};
use crate::shader::{WORKGROUP, layout};
use crate::{Chunk, Gpu};
use skinbench_frame::Purpose;
use skinbench_kernels::crowd::Crowd;

/// The kind of a group for a merged kernel. The number of influences matters only beyond those of a stored vertex.
pub(crate) fn kind(kind: Kind) -> Kind {
    Kind {
        influences: if kind.influences > 4 { 16 } else { 4 },
        ..kind
    }
}

/// A dispatch of a span, with its tables and meshes on the device.
pub(crate) struct MergedCall {
    /// A group of the kind that it skins.
    pub group: usize,
    pub workgroups: u32,
    pub tables: Vec<Named>,
}

/// A chunk of a span.
struct MergedChunk {
    kind: Kind,
    group: usize,
    numbers: layout::Chunk,
}

impl MergedCall {
    /// Uploads the tables and meshes of a span's dispatches: one for each kind of its groups, as they occur. A thread
    /// skins `at_once` neighbouring instances.
    pub fn all(
        gpu: &Gpu,
        crowd: &Crowd,
        span: &[Chunk],
        mesh: MeshForm,
        at_once: u32,
    ) -> Vec<Self> {
        let mut first_entry = 0;
        let mut first_vertex = 0;
        let mut rest = Vec::with_capacity(span.len());
        for chunk in span {
            let numbers = layout::Chunk {
                first_vertex,
                first_entry,
                ..chunk_contents(crowd, chunk)
            };
            first_entry += numbers.instances * numbers.entries;
            first_vertex += numbers.instances * numbers.vertices;
            rest.push(MergedChunk {
                kind: kind(Kind::of(&crowd.groups()[chunk.group], mesh)),
                group: chunk.group,
                numbers,
            });
        }
        let mut calls = Vec::new();
        while let Some(first) = rest.first() {
            let kind = first.kind;
            let of_kind: Vec<_> = rest.extract_if(.., |chunk| chunk.kind == kind).collect();
            calls.push(Self::new(gpu, crowd, &of_kind, at_once));
        }
        calls
    }

    /// Uploads the tables of chunks whose groups are of one kind, and the groups' meshes, one after the other.
    fn new(gpu: &Gpu, crowd: &Crowd, of_kind: &[MergedChunk], at_once: u32) -> Self {
        let mut chunks = Vec::with_capacity(of_kind.len());
        let mut groups = Vec::with_capacity(of_kind.len());
        let mut workgroups = Vec::new();
        let mut mesh_vertex = 0;
        let mut mesh_influence = 0;
        for (chunk, merged) in (0..).zip(of_kind) {
            let group = &crowd.groups()[merged.group];
            let numbers = &merged.numbers;
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
            groups.push(group);
            mesh_vertex += numbers.vertices;
            mesh_influence += more_influences(group.model.mesh()) as u32;
        }
        let mut tables = upload_meshes(gpu, &groups, of_kind[0].kind.mesh).to_vec();
        let storage =
            |label, contents: &[u8]| gpu.storage(Purpose::Scratch, label, contents).into();
        tables.push(("chunks", storage("chunks", bytemuck::cast_slice(&chunks))));
        let listed = bytemuck::cast_slice(&workgroups);
        tables.push(("workgroups", storage("workgroups", listed)));
        Self {
            group: of_kind[0].group,
            workgroups: workgroups.len() as u32,
            tables,
        }
    }
}
