//! Skinning of all models of a crowd at once. Chunks of many groups share buffers, and a table says where each begins.
//!
//! A crowd is divided into spans ([`Gpu::spans`]). A span takes one dispatch for each kind of its groups, whatever the
//! number of its models.

use crate::crowd::{Crowd, Group};
use crate::frame::{Purpose, Result};
use crate::gpu::device::objects::Named;
use crate::gpu::shader::{WORKGROUP, layout};
use crate::gpu::skin::skinning::Kind;
use crate::gpu::skin::statics::more_influences;
use crate::gpu::{Chunk, Gpu, MeshForm, chunk_contents, upload_meshes};

/// The kind of a group for a merged kernel. The number of influences matters only beyond those of a stored vertex.
pub(in crate::gpu) fn kind(kind: Kind) -> Kind {
    Kind {
        influences: if kind.influences > 4 { 16 } else { 4 },
        ..kind
    }
}

/// A dispatch of a span, with its tables and meshes on the device.
pub(in crate::gpu) struct SpanDispatch {
    /// A group of the kind that it skins.
    pub group: usize,
    pub workgroups: u32,
    pub tables: Vec<Named>,
}

impl SpanDispatch {
    /// Uploads the tables and meshes of a span's dispatches: one for each kind of its groups, as they occur. A thread
    /// skins `at_once` neighbouring instances.
    pub fn all(
        gpu: &Gpu,
        crowd: &Crowd,
        span: &[Chunk],
        mesh: MeshForm,
        at_once: u32,
    ) -> Vec<Self> {
        let mut all = Vec::new();
        let (mut first_entry, mut first_vertex) = (0, 0);
        let numbered = span.iter().map(|chunk| {
            let numbers = layout::Chunk {
                first_vertex,
                first_entry,
                ..chunk_contents(crowd, chunk)
            };
            first_entry += numbers.instances * numbers.entries;
            first_vertex += numbers.instances * numbers.vertices;
            (
                kind(Kind::of(&crowd.groups()[chunk.group], mesh)),
                chunk.group,
                numbers,
            )
        });
        let mut rest: Vec<_> = numbered.collect();
        while let Some(&(first, ..)) = rest.first() {
            let (own, others): (Vec<_>, Vec<_>) =
                rest.into_iter().partition(|(kind, ..)| *kind == first);
            all.push(Self::new(gpu, crowd, &own, at_once));
            rest = others;
        }
        all
    }

    /// Uploads the tables of a span's chunks whose groups are of one kind, and the groups' meshes, one after the other.
    fn new(gpu: &Gpu, crowd: &Crowd, own: &[(Kind, usize, layout::Chunk)], at_once: u32) -> Self {
        let (mut chunks, mut workgroups) = (Vec::new(), Vec::new());
        let (mut mesh_vertex, mut mesh_influence) = (0, 0);
        for (chunk, (_, group, numbers)) in (0..).zip(own) {
            for instance in (0..numbers.instances).step_by(at_once as usize) {
                let first = (0..numbers.vertices).step_by(WORKGROUP as usize);
                workgroups.extend(first.map(|vertex| layout::Workgroup {
                    chunk,
                    vertex,
                    instance,
                }));
            }
            chunks.push(layout::Chunk {
                mesh_vertex,
                mesh_influence,
                ..*numbers
            });
            mesh_vertex += numbers.vertices;
            mesh_influence += more_influences(crowd.groups()[*group].model.mesh()) as u32;
        }
        let groups: Vec<&Group> = own
            .iter()
            .map(|(_, group, _)| &crowd.groups()[*group])
            .collect();
        let (kind, group, _) = own[0];
        let mut tables = upload_meshes(gpu, &groups, kind.mesh).to_vec();
        tables.push((
            "chunks",
            gpu.storage(Purpose::Scratch, "chunks", &chunks).into(),
        ));
        tables.push((
            "workgroups",
            gpu.storage(Purpose::Scratch, "workgroups", &workgroups)
                .into(),
        ));
        Self {
            group,
            workgroups: workgroups.len() as u32,
            tables,
        }
    }
}

impl Gpu {
    /// Divides a crowd into spans that this adapter can bind.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`](crate::frame::BackendError::TooLarge) if a single instance is larger than a binding.
    pub fn spans(&self, crowd: &Crowd) -> Result<Vec<Vec<Chunk>>> {
        crate::gpu::skin::chunks::spans(crowd, self.binding_bytes())
    }
}
