//! Drawing of skeletons: every joint as three axes, every parent link as a line.

use super::binding::{bind, bind_group_layout, layout_entry, pipeline_layout};
use super::present::{BACKGROUND, COLOR, DEPTH, Presenter};
use crate::crowd::Crowd;
use crate::frame::Result;
use crate::model::{NO_PARENT, Rows};
use bytemuck::{Pod, Zeroable};
use glam::{Affine3A, Mat3A, Vec3, Vec3A};

/// An end of a line.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct LineEnd {
    /// World space.
    pub position: [f32; 3],
    /// Linear RGBA, 8 bit each, red lowest.
    pub color: u32,
}

const LINK: u32 = 0xff10_1010;
const AXES: [u32; 3] = [0xff10_10d0, 0xff10_a010, 0xffd0_3010];
/// Length of a joint's axes, as a fraction of the model's diagonal.
const AXIS: f32 = 0.025;

/// The lines of one instance's skeleton; `model_pose` holds its joints, as `Stage::LocalToModel` reads them back.
pub fn skeleton_lines(crowd: &Crowd, instance: u32, model_pose: &[Rows]) -> Vec<LineEnd> {
    let model = &crowd.groups()[crowd.group_of(instance)].model;
    let placement = affine(&crowd.placements()[instance as usize]);
    let joints: Vec<Affine3A> = model_pose.iter().map(|rows| placement * affine(rows)).collect();
    // Placements scale evenly, so any axis gives the factor.
    let length = AXIS * model.bounds().diagonal() * placement.matrix3.x_axis.length();
    let end = |position: Vec3A, color| LineEnd { position: position.to_array(), color };
    let mut lines = Vec::with_capacity(joints.len() * 8);
    for (joint, &parent) in joints.iter().zip(model.skeleton().parents()) {
        let origin = joint.translation;
        if parent != NO_PARENT {
            lines.extend([end(joints[usize::from(parent)].translation, LINK), end(origin, LINK)]);
        }
        for (axis, color) in [joint.matrix3.x_axis, joint.matrix3.y_axis, joint.matrix3.z_axis].into_iter().zip(AXES) {
            lines.extend([end(origin, color), end(origin + length * axis.normalize_or_zero(), color)]);
        }
    }
    lines
}

fn affine(rows: &Rows) -> Affine3A {
    let [x, y, z] = [0, 4, 8].map(|r| Vec3::new(rows[r], rows[r + 1], rows[r + 2]));
    Affine3A {
        matrix3: Mat3A::from_cols(x.into(), y.into(), z.into()).transpose(),
        translation: Vec3A::new(rows[3], rows[7], rows[11]),
    }
}

impl Presenter {
    /// Draws only lines, over the background, and waits. For pictures, not for timing.
    pub fn draw_lines(&self, lines: &[LineEnd]) -> Result<()> {
        let device = self.gpu().device();
        let entry = layout_entry(0, wgpu::ShaderStages::VERTEX, wgpu::BufferBindingType::Uniform);
        let layout = bind_group_layout(self.gpu(), "lines", &[entry]);
        let bindings = bind(self.gpu(), "lines", &layout, &[self.uniform()]);
        let module = device.create_shader_module(wgpu::include_wgsl!("../../shaders/lines.wgsl"));
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("lines"),
            layout: Some(&pipeline_layout(self.gpu(), "lines", &[Some(&layout)])),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex"),
                compilation_options: Default::default(),
                buffers: &[Some(wgpu::VertexBufferLayout {
                    array_stride: size_of::<LineEnd>() as u64,
                    step_mode: wgpu::VertexStepMode::Vertex,
                    attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Unorm8x4],
                })],
            },
            primitive: wgpu::PrimitiveState { topology: wgpu::PrimitiveTopology::LineList, ..Default::default() },
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Less),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fragment"),
                compilation_options: Default::default(),
                targets: &[Some(COLOR.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let ends = self.gpu().filled("lines", bytemuck::cast_slice(lines), wgpu::BufferUsages::VERTEX);
        let mut commands = self.gpu().commands("lines");
        let attachments = [Some(self.color_attachment(BACKGROUND))];
        let descriptor = wgpu::RenderPassDescriptor {
            label: Some("lines"),
            color_attachments: &attachments,
            depth_stencil_attachment: Some(self.depth_attachment()),
            ..Default::default()
        };
        self.gpu().render_pass(&mut commands, descriptor, (None, None), |pass| {
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &bindings, &[]);
            pass.set_vertex_buffer(0, ends.slice(..));
            pass.draw(0..lines.len() as u32, 0..1);
        });
        commands.finish()
    }
}
