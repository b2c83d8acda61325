//! Lines and triangles that are drawn over a picture, such as skeletons: every joint as three axes, every parent link
//! as a line.

use crate::Gpu;
use crate::device::{
    BindGroup, Buffer, COLOR, EntryPoint, FragmentDescription, PipelineDescription, RenderPipeline,
    named,
};
use crate::kernel::{GroupLayout, module, pipeline_layout};
use crate::shader::shader;
use bytemuck::{Pod, Zeroable};
use glam::{Affine3A, Vec3, Vec3A};
use skinbench_kernels::crowd::Crowd;
use skinbench_kernels::model::{NO_PARENT, Rows, rows_to_affine};
use skinbench_kernels::reference::shown;

const LINK: u32 = 0xff10_1010;
const AXES: [u32; 3] = [0xff10_10d0, 0xff10_a010, 0xffd0_3010];
/// Length of a joint's axes, as a fraction of the model's diagonal.
const AXIS: f32 = 0.025;

/// An end of a line.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct LineEnd {
    /// World space.
    pub position: [f32; 3],
    /// Linear RGBA, 8 bit each, red lowest.
    pub color: u32,
}

impl LineEnd {
    fn new(position: Vec3A, color: u32) -> Self {
        Self {
            position: position.to_array(),
            color,
        }
    }
}

/// Numbers from 0 to 1 with 8 bits each, the first one lowest, as `unpack4x8unorm` reads them.
pub fn unorm8(numbers: [f32; 4]) -> u32 {
    u32::from_le_bytes(numbers.map(|number| (number.clamp(0.0, 1.0) * 255.0).round() as u8))
}

/// The word of an opaque colour, from linear RGB.
pub fn opaque(color: Vec3) -> u32 {
    unorm8(color.extend(1.0).to_array())
}

/// The ground of an overlay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beneath {
    /// The background alone.
    Nothing,
    /// The picture; what it holds in front hides the overlay.
    Picture,
    /// The picture; the overlay is in front of all of it.
    Far,
}

/// Lines and triangles in world space, each end with its colour.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overlay {
    /// Pairs of ends.
    pub lines: Vec<LineEnd>,
    /// Corners that `indices` name.
    pub corners: Vec<LineEnd>,
    /// Three for each triangle.
    pub indices: Vec<u32>,
}

/// Pipelines of lines and of triangles, and the bindings of both.
pub struct OverlayPipelines {
    pub lines: RenderPipeline,
    pub triangles: RenderPipeline,
    pub bindings: BindGroup,
}

impl OverlayPipelines {
    /// `view` holds the view as shaders read it.
    pub fn new(gpu: &Gpu, view: &Buffer, samples: u32) -> Self {
        let wgsl = shader("lines.wgsl", &[]);
        let layout = GroupLayout::new(gpu, "lines", &[&wgsl], 0, wgpu::ShaderStages::VERTEX);
        let bindings = layout.bind(gpu, "lines", &[named("view", view)]);
        let module = module(gpu, "lines", wgsl, false);
        let pipeline_layout = pipeline_layout(gpu, "lines", &[&layout]);
        let vertex = EntryPoint {
            module: &module,
            entry_point: "vertex",
            constants: &[],
        };
        let fragment = EntryPoint {
            entry_point: "fragment",
            ..vertex
        };
        let lines = PipelineDescription {
            label: "lines",
            layout: &pipeline_layout,
            vertex,
            vertex_buffers: &[Some(wgpu::VertexBufferLayout {
                array_stride: size_of::<LineEnd>() as u64,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Unorm8x4],
            })],
            topology: wgpu::PrimitiveTopology::LineList,
            depth_bias: Some(0),
            samples,
            fragment: Some(FragmentDescription {
                shader: fragment,
                formats: &[COLOR],
                write_mask: wgpu::ColorWrites::ALL,
            }),
        };
        Self {
            lines: gpu.pipeline(&lines),
            triangles: gpu.pipeline(&PipelineDescription {
                label: "triangles",
                topology: wgpu::PrimitiveTopology::TriangleList,
                ..lines
            }),
            bindings,
        }
    }
}

/// The lines of one instance's skeleton at a tick; `model_pose` holds its joints, as `Stage::LocalToModel` reads them
/// back.
pub fn skeleton_lines(
    crowd: &Crowd,
    instance: u32,
    tick: u32,
    model_pose: &[Rows],
) -> Vec<LineEnd> {
    let group = &crowd.groups()[crowd.group_of(instance)];
    let model = &group.model;
    let placement = rows_to_affine(crowd.placement_at(instance, tick)).as_affine3a();
    let joints: Vec<Affine3A> = model_pose
        .iter()
        .map(|rows| placement * rows_to_affine(rows).as_affine3a())
        .collect();
    // Placements scale evenly, so any axis gives the factor.
    let length = AXIS * shown(crowd, group).diagonal as f32 * placement.matrix3.x_axis.length();
    let mut lines = Vec::with_capacity(joints.len() * 8);
    for (joint, &parent) in joints.iter().zip(model.skeleton().parents()) {
        let origin = joint.translation;
        if parent != NO_PARENT {
            let start = joints[usize::from(parent)].translation;
            lines.extend([start, origin].map(|place| LineEnd::new(place, LINK)));
        }
        let axes = joint.matrix3;
        for (axis, color) in [axes.x_axis, axes.y_axis, axes.z_axis]
            .into_iter()
            .zip(AXES)
        {
            let tip = origin + length * axis.normalize_or_zero();
            lines.extend([origin, tip].map(|place| LineEnd::new(place, color)));
        }
    }
    lines
}
