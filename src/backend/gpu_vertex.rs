//! Skinning in the vertex shader, in every pass: no vertex is stored.

use super::Skinned;
use super::gpu_skinner::{GpuSkinner, Posed};
use crate::crowd::Crowd;
use crate::frame::{Arena, BackendError, Bytes, Footprint, FrameInput, Job, Purpose, Result, Retention, Traffic};
use crate::gpu::binding::GroupLayout;
use crate::gpu::compute::Inputs;
use crate::gpu::morph::MorphForm;
use crate::gpu::shader::Edit;
use crate::gpu::skinning::{self, Kind, SkinBindings};
use crate::gpu::source::VertexSource;
use crate::gpu::wgsl::Role;
use crate::gpu::{Capture, Chunk, Commands, Drawable, Gpu, MeshBuffers, MeshForm, PaletteForm, Posing, present};
use crate::vertex::Encoding;
use std::ops::Range;
use std::rc::Rc;

/// The form of morph targets that goes with a form of palettes: engines that keep palettes in a texture keep deltas in
/// one too, and those with 4x4 palettes keep them dense.
pub(super) fn morph_form(palette: PaletteForm) -> MorphForm {
    match palette {
        PaletteForm::Texture => MorphForm::Texture,
        PaletteForm::Columns | PaletteForm::Uniform => MorphForm::Dense,
        _ => MorphForm::Sparse,
    }
}

/// Passes drawing a vertex shader that skins.
pub(super) struct VertexSkinner {
    source: Rc<VertexSource>,
    /// Bytes of meshes and uniforms.
    memory: Bytes,
    /// Created when vertices are read back for the first time, with its bytes.
    capture: Option<(Capture, Bytes)>,
}

impl VertexSkinner {
    /// Device memory besides palettes.
    pub fn footprint(
        gpu: &Gpu,
        posing: Posing,
        (mesh, palette): (MeshForm, PaletteForm),
        crowd: &Crowd,
        chunks: &[Chunk],
        job: &Job,
    ) -> Result<Footprint> {
        if job.keep == Retention::TwoFrames {
            return Err(BackendError::Unavailable(
                "stores no vertices, which --motion compares; needs a run without it".into(),
            ));
        }
        if crowd.format().encoding == Encoding::Packed {
            return Err(BackendError::Unavailable("writes plain floats; needs --output f32".into()));
        }
        gpu.has_captures()?;
        let morph = morph_form(palette).storage_buffers(crowd);
        gpu.has(wgpu::ShaderStages::VERTEX, skinning::storage_buffers(palette) + present::STORAGE_BUFFERS + morph)?;
        let bound = if posing.culls() { 0 } else { chunks.len() };
        let device = Bytes::of(Purpose::Mesh, MeshBuffers::bytes(crowd, mesh))
            + Bytes::of(Purpose::Scratch, skinning::uniform_bytes(bound))
            + Bytes::of(Purpose::Staging, Capture::bytes(crowd));
        Ok(Footprint { device, ..Footprint::default() })
    }

    /// Uploads meshes and binds them and the palettes.
    pub fn new(posed: &Posed, crowd: &Crowd, mesh: MeshForm, palette: PaletteForm, edit: Option<&Edit>) -> Self {
        let Posed { gpu, chunks, palettes, .. } = posed;
        let kinds = Kind::morphing(crowd, mesh, palette, morph_form(palette));
        let wgsl = move |kind: Kind, root: &str, roles: &[Role]| {
            skinning::vertex_shader(kind.mesh, palette, kind.morph, root, roles)
        };
        // The shaders of all kinds have the same bindings.
        let first = kinds.first().map(|&kind| wgsl(kind, "capture.wgsl", &[])).unwrap_or_default();
        let dynamic = palette.stride().map(|_| "palettes");
        let layout = GroupLayout::new(gpu, "gpu-vertex", &first, 0, wgpu::ShaderStages::VERTEX, dynamic);
        let visibility = palettes.visibility();
        let (groups, memory) = gpu.counted(|| {
            let meshes: Vec<_> = crowd.groups().iter().map(|g| MeshBuffers::new(gpu, g, mesh)).collect();
            let Inputs { palettes, morph, visibility } = posed.inputs();
            let bindings = SkinBindings { meshes: &meshes, palettes, morph, outputs: &[], visibility };
            skinning::bind_groups(gpu, crowd, chunks, &layout, &bindings)
        });
        let edit = edit.cloned();
        let source = VertexSource {
            trusted: edit.is_none(),
            wgsl: Box::new(move |kind, root, roles| {
                let wgsl = wgsl(kind, root, roles);
                if let Some(edit) = &edit { edit(wgsl) } else { wgsl }
            }),
            kinds,
            groups,
            layout,
            stride: palette.stride(),
            motion: false,
            visible: visibility.map(|visibility| Rc::clone(visibility.visible())),
        };
        Self { source: Rc::new(source), memory, capture: None }
    }
}

impl GpuSkinner for VertexSkinner {
    fn memory(&self) -> Bytes {
        self.memory + self.capture.as_ref().map_or(Bytes::default(), |(_, bytes)| *bytes)
    }

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
        let Posed { gpu, chunks, palettes, .. } = posed;
        let (capture, _) = match &self.capture {
            Some(capture) => capture,
            None => {
                let (capture, bytes) = gpu.counted(|| Capture::new(gpu, crowd, &self.source));
                self.capture.insert((capture?, bytes))
            }
        };
        for (index, (chunk, group)) in chunks.iter().zip(&self.source.groups).enumerate() {
            let part = chunk.part(&instances);
            if !part.is_empty() {
                let places = palettes.places(chunk, index, part)?;
                capture.read(gpu, crowd, chunk, group, places, out)?;
            }
        }
        Ok(())
    }
}
