//! Skinning in the vertex shader, in every pass: no vertex is stored.

use super::Skinned;
use super::gpu_skinner::{GpuSkinner, Posed};
use crate::crowd::Crowd;
use crate::frame::{Arena, BackendError, Footprint, FrameInput, Job, Result, Retention, Traffic};
use crate::gpu::binding::GroupLayout;
use crate::gpu::shader::Edit;
use crate::gpu::skinning::{self, Kind, SkinBindings};
use crate::gpu::source::VertexSource;
use crate::gpu::wgsl::Role;
use crate::gpu::{Capture, Commands, Drawable, Gpu, MeshBuffers, MeshForm, PaletteForm, present};
use crate::vertex::Encoding;
use std::ops::Range;
use std::rc::Rc;

/// Passes drawing a vertex shader that skins.
pub(super) struct VertexSkinner {
    source: Rc<VertexSource>,
    /// Created when vertices are read back for the first time.
    capture: Option<Capture>,
}

impl VertexSkinner {
    /// Device memory besides palettes and meshes.
    pub fn footprint(gpu: &Gpu, palette: PaletteForm, crowd: &Crowd, job: &Job) -> Result<Footprint> {
        if job.keep == Retention::TwoFrames {
            return Err(BackendError::Unavailable("would skin twice for --motion; leaves no vertices to keep".into()));
        }
        if crowd.format().encoding == Encoding::Packed {
            return Err(BackendError::Unavailable("writes plain floats; needs --output f32".into()));
        }
        gpu.has_captures()?;
        gpu.has(wgpu::ShaderStages::VERTEX, skinning::storage_buffers(palette) + present::STORAGE_BUFFERS)?;
        Ok(Footprint { host: 0, device: Capture::BYTES, host_output: false, device_output: false })
    }

    /// Uploads meshes and binds them and the palettes.
    pub fn new(posed: &Posed, crowd: &Crowd, mesh: MeshForm, palette: PaletteForm, edit: Option<&Edit>) -> Self {
        let Posed { gpu, chunks, palettes } = posed;
        let kinds = Kind::all(crowd, mesh);
        let wgsl =
            move |kind: Kind, root: &str, roles: &[Role]| skinning::vertex_shader(kind.mesh, palette, root, roles);
        // The shaders of all kinds have the same bindings.
        let first = kinds.first().map(|&kind| wgsl(kind, "capture.wgsl", &[])).unwrap_or_default();
        let dynamic = palette.stride().map(|_| "palettes");
        let layout = GroupLayout::new(gpu, "gpu-vertex", &first, 0, wgpu::ShaderStages::VERTEX, dynamic);
        let meshes: Vec<_> = crowd.groups().iter().map(|g| MeshBuffers::new(gpu, g, mesh)).collect();
        let visibility = palettes.visibility();
        let bindings = SkinBindings { meshes: &meshes, palettes: palettes.chunks(), outputs: &[], visibility };
        let edit = edit.cloned();
        let source = VertexSource {
            trusted: edit.is_none(),
            wgsl: Box::new(move |kind, root, roles| {
                let wgsl = wgsl(kind, root, roles);
                if let Some(edit) = &edit { edit(wgsl) } else { wgsl }
            }),
            kinds,
            groups: skinning::bind_groups(gpu, crowd, chunks, &layout, &bindings),
            layout,
            stride: palette.stride(),
            motion: false,
            visible: visibility.map(|visibility| Rc::clone(visibility.visible())),
        };
        Self { source: Rc::new(source), capture: None }
    }
}

impl GpuSkinner for VertexSkinner {
    fn traffic(&self, _: &Crowd) -> Option<Traffic> {
        None
    }

    fn bind(&mut self, _: &Posed, _: &FrameInput) {}

    fn record(&mut self, _: &Posed, _: &FrameInput, _: &mut Commands) {}

    fn skinned(&self, _: &Posed) -> Skinned {
        Skinned::Device(Drawable::Shader(Rc::clone(&self.source)))
    }

    fn read(
        &mut self,
        posed: &mut Posed,
        crowd: &Crowd,
        _: &Arena,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        let Posed { gpu, chunks, palettes } = posed;
        let capture = match &self.capture {
            Some(capture) => capture,
            None => self.capture.insert(Capture::new(gpu, crowd, &self.source)?),
        };
        for (index, (chunk, group)) in chunks.iter().zip(&self.source.groups).enumerate() {
            let part = chunk.instances.start.max(instances.start)..chunk.instances.end.min(instances.end);
            if !part.is_empty() {
                let places = palettes.places(chunk, index, part)?;
                capture.read(gpu, crowd, chunk, group, places, out)?;
            }
        }
        Ok(())
    }
}
