//! Drawing of skeletons: every joint as three axes, every parent link as a line.

use crate::crowd::Crowd;
use crate::frame::{Purpose, Result};
use crate::gpu::device::commands::Targets;
use crate::gpu::draw::overlay::{Beneath, LineEnd, Overlay, OverlayPipelines};
use crate::gpu::draw::present::{BACKGROUND, Presenter};
use crate::model::{NO_PARENT, Rows};
use glam::{Affine3A, Mat3A, Vec3, Vec3A};

const LINK: u32 = 0xff10_1010;
const AXES: [u32; 3] = [0xff10_10d0, 0xff10_a010, 0xffd0_3010];
/// Length of a joint's axes, as a fraction of the model's diagonal.
const AXIS: f32 = 0.025;

/// The lines of one instance's skeleton at a tick; `model_pose` holds its joints, as `Stage::LocalToModel` reads them back.
pub fn skeleton_lines(crowd: &Crowd, instance: u32, tick: u32, model_pose: &[Rows]) -> Vec<LineEnd> {
    let model = &crowd.groups()[crowd.group_of(instance)].model;
    let placement = affine(crowd.placement_at(instance, tick));
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
    /// Draws lines and triangles into the picture and waits: for pictures, not for timing.
    ///
    /// # Errors
    /// [`BackendError::Device`](crate::frame::BackendError::Device) if the device was lost or refused a command.
    pub fn draw_overlay(&self, beneath: Beneath, overlay: &Overlay) -> Result<()> {
        let pipelines =
            self.overlay.get_or_init(|| OverlayPipelines::new(self.gpu(), &self.scenery.view, self.scenery.samples));
        let gpu = self.gpu();
        let buffer = |label, contents: &[u8], usage| gpu.buffer_with(Purpose::Targets, label, contents, usage);
        let vertices = |label, ends: &[LineEnd]| buffer(label, bytemuck::cast_slice(ends), wgpu::BufferUsages::VERTEX);
        let (ends, corners) = (vertices("lines", &overlay.lines), vertices("corners", &overlay.corners));
        let indices = buffer("triangles", bytemuck::cast_slice(&overlay.indices), wgpu::BufferUsages::INDEX);
        let mut commands = gpu.commands("overlay");
        let color = self.color_target((beneath == Beneath::Nothing).then_some(BACKGROUND));
        let depth = self.depth_target((beneath != Beneath::Picture).then_some(1.0));
        let targets = Targets { label: "overlay", colors: &[color], depth: Some(depth) };
        commands.render_pass(&targets, (None, None), |pass| {
            pass.set_bind_group(0, &pipelines.bindings, &[]);
            if !overlay.indices.is_empty() {
                pass.set_pipeline(&pipelines.triangles);
                pass.set_vertex_buffer(&corners);
                pass.set_index_buffer(&indices);
                pass.draw_indexed(0..overlay.indices.len() as u32, 0..1);
            }
            if !overlay.lines.is_empty() {
                pass.set_pipeline(&pipelines.lines);
                pass.set_vertex_buffer(&ends);
                pass.draw(0..overlay.lines.len() as u32, 0..1);
            }
        });
        commands.finish()
    }
}
