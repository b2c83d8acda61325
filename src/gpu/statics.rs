//! A model's vertices and a chunk's numbers on the device: uploaded once.

use super::layout::{self, Influence, Vertex};
use super::{Chunk, Gpu};
use crate::crowd::{Crowd, Group};
use crate::model::Model;
use crate::vertex::Attributes;
use wgpu::util::DeviceExt;

/// A model's vertex and influence streams.
pub struct MeshBuffers {
    /// [`Vertex`] each.
    pub vertices: wgpu::Buffer,
    /// [`Influence`] each.
    pub influences: wgpu::Buffer,
    /// Tangents, or a single zero where none are asked for.
    pub tangents: wgpu::Buffer,
}

impl MeshBuffers {
    /// Bytes on the device.
    pub fn bytes(group: &Group) -> u64 {
        let mesh = group.model.mesh();
        let tangents = size_of_val(tangents(group));
        (tangents + mesh.vertex_count() * size_of::<Vertex>() + mesh.joints().len() * size_of::<Influence>()) as u64
    }

    /// Uploads a model's streams.
    pub fn new(gpu: &Gpu, group: &Group) -> Self {
        let model = &group.model;
        let mesh = model.mesh();
        let influences: Vec<Influence> = mesh
            .joints()
            .iter()
            .zip(mesh.weights())
            .map(|(&entry, &weight)| Influence { entry: entry.into(), weight })
            .collect();
        let storage = |label, contents: &[u8]| {
            gpu.device().create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: Some(label),
                contents,
                usage: wgpu::BufferUsages::STORAGE,
            })
        };
        Self {
            vertices: storage("mesh vertices", bytemuck::cast_slice(&vertices(model))),
            influences: storage("influences", bytemuck::cast_slice(&influences)),
            tangents: storage("tangents", bytemuck::cast_slice(tangents(group))),
        }
    }
}

fn tangents(group: &Group) -> &[[f32; 4]] {
    let asked = group.format.attributes == Attributes::Pnt;
    group.model.mesh().tangents().filter(|_| asked).unwrap_or(&[[0.0; 4]])
}

/// A model's vertices as shaders read them.
fn vertices(model: &Model) -> Vec<Vertex> {
    let mesh = model.mesh();
    let mut vertices = Vec::with_capacity(mesh.vertex_count());
    for run in mesh.runs() {
        for i in 0..run.vertex_count {
            let vertex = (run.first_vertex + i) as usize;
            vertices.push(Vertex {
                position: mesh.positions()[vertex],
                influences: (run.first_influence + i * run.influences) << 5 | run.influences,
                normal: mesh.normals()[vertex],
                padding: 0,
            });
        }
    }
    vertices
}

/// A chunk's numbers as a uniform buffer.
pub fn chunk_uniform(gpu: &Gpu, crowd: &Crowd, chunk: &Chunk) -> wgpu::Buffer {
    let model = &crowd.groups()[chunk.group].model;
    let contents = layout::Chunk {
        first_instance: chunk.instances.start,
        instances: chunk.instances.len() as u32,
        vertices: model.mesh().vertex_count() as u32,
        entries: model.palette_joints().len() as u32,
    };
    gpu.device().create_buffer_init(&wgpu::util::BufferInitDescriptor {
        label: Some("chunk"),
        contents: bytemuck::bytes_of(&contents),
        usage: wgpu::BufferUsages::UNIFORM,
    })
}
