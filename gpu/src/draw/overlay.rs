//! Lines and triangles that are drawn over a picture, such as skeletons: every joint as three axes, every parent link
//! as a bone.

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

/// Linear RGB of bones in full light, and the colour of their edges.
const BONE: Vec3 = Vec3::new(1.0, 0.75, 0.2);
const EDGE: u32 = 0xff08_0810;
/// Direction to the light on bones.
const LIGHT: Vec3A = Vec3A::new(0.45, 0.77, 0.45);
/// Half width of a bone, as a fraction of its length, and the largest, as one of the model's diagonal.
const THICK: f32 = 0.1;
const MOST_THICK: f32 = 0.015;
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

/// Adds one instance's skeleton at a tick: a bone from each joint's parent to the joint, and the axes of each joint;
/// `model_pose` holds its joints, as `Stage::LocalToModel` reads them back.
pub fn add_skeleton(
    crowd: &Crowd,
    instance: u32,
    tick: u32,
    model_pose: &[Rows],
    overlay: &mut Overlay,
) {
    let group = &crowd.groups()[crowd.group_of(instance)];
    let placement = rows_to_affine(crowd.placement_at(instance, tick)).as_affine3a();
    let joints: Vec<Affine3A> = model_pose
        .iter()
        .map(|rows| placement * rows_to_affine(rows).as_affine3a())
        .collect();
    // Placements scale evenly, so any axis gives the factor.
    let size = shown(crowd, group).diagonal as f32 * placement.matrix3.x_axis.length();
    for (joint, &parent) in joints.iter().zip(group.model.skeleton().parents()) {
        let origin = joint.translation;
        if parent != NO_PARENT {
            let start = joints[usize::from(parent)].translation;
            overlay.add_bone(start, origin, MOST_THICK * size);
        }
        let axes = joint.matrix3;
        for (axis, color) in [axes.x_axis, axes.y_axis, axes.z_axis]
            .into_iter()
            .zip(AXES)
        {
            let tip = origin + AXIS * size * axis.normalize_or_zero();
            let ends = [origin, tip].map(|place| LineEnd::new(place, color));
            overlay.lines.extend(ends);
        }
    }
}

impl Overlay {
    /// Adds a bone: eight triangles that widen quickly from its start and taper to its end, and dark edges. Each half width
    /// is at most `most`.
    fn add_bone(&mut self, start: Vec3A, end: Vec3A, most: f32) {
        let along = end - start;
        let length = along.length();
        let direction = along.normalize_or_zero();
        if direction == Vec3A::ZERO {
            return;
        }
        let across = direction.any_orthonormal_vector();
        let beside = direction.cross(across);
        let half_width = (THICK * length).min(most);
        let widest = start + half_width.min(0.5 * length) * direction;
        let ring = [across, beside, -across, -beside].map(|side| widest + half_width * side);
        for (corner, next) in ring.into_iter().zip(ring.into_iter().cycle().skip(1)) {
            for tip in [start, end] {
                let outwards = (corner - tip).cross(next - tip).normalize_or_zero();
                let outwards = outwards * outwards.dot(corner + next - 2.0 * widest).signum();
                let light = 0.5 + 0.5 * outwards.dot(LIGHT);
                let color = opaque(BONE * (0.25 + 0.75 * light));
                let first = self.corners.len() as u32;
                self.indices.extend(first..first + 3);
                let corners = [tip, corner, next].map(|place| LineEnd::new(place, color));
                self.corners.extend(corners);
                let edge = [tip, corner].map(|place| LineEnd::new(place, EDGE));
                self.lines.extend(edge);
            }
            let edge = [corner, next].map(|place| LineEnd::new(place, EDGE));
            self.lines.extend(edge);
        }
    }
}
