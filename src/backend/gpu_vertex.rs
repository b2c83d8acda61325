//! Skinning in the vertex shader, in every pass: no vertex is stored.

use super::Skinned;
use super::gpu_skinner::{GpuSkinner, Posed};
use crate::crowd::Crowd;
use crate::frame::{OutputBuffers, Result};
use crate::gpu::device::objects::Named;
use crate::gpu::draw::source::{VertexSource, draw_root};
use crate::gpu::pose::baked;
use crate::gpu::shader::kernel::GroupLayout;
use crate::gpu::skin::morph::MorphForm;
use crate::gpu::skin::skinning::{self, Kind};
use crate::gpu::{Capture, Chunk, Drawable, MeshForm, PaletteForm, upload_meshes};
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
    /// Created when vertices are read back for the first time.
    capture: Option<Capture>,
}

impl VertexSkinner {
    /// Uploads meshes and binds them and the palettes.
    ///
    /// # Errors
    /// The adapter binds too few buffers, or its vertices cannot be read back.
    pub fn new(posed: &Posed, crowd: &Crowd, mesh: MeshForm, palette: PaletteForm) -> Result<Self> {
        let Posed {
            gpu,
            chunks,
            palettes,
            inputs,
            ..
        } = posed;
        gpu.has_captures()?;
        let mut kinds = Kind::all(crowd, mesh, palette, morph_form(palette).of(crowd));
        // Those of a crowd in which others are posed.
        let baked = chunks
            .iter()
            .zip(&palettes.chunks)
            .filter(|(_, palettes)| palettes.shown.is_some());
        for (Chunk { group, .. }, _) in baked.filter(|_| palette == PaletteForm::Rows) {
            let layers = baked::width(crowd, &crowd.groups()[*group]);
            kinds[*group] = Kind {
                mesh: MeshForm::Nothing,
                layers,
                ..kinds[*group]
            };
        }
        let wgsl = move |kind: Kind, root: &str| {
            skinning::vertex_shader(kind.mesh, palette, kind.morph, root)
        };
        // One shader for all groups of a kind.
        let new = (0..kinds.len()).filter(|&at| !kinds[..at].contains(&kinds[at]));
        let distinct: Vec<Kind> = new.map(|at| kinds[at]).collect();
        let drawn: Vec<String> = distinct
            .iter()
            .map(|&kind| wgsl(kind, draw_root(false, false)))
            .collect();
        gpu.has(wgpu::ShaderStages::VERTEX, &drawn)?;
        let captured: Vec<String> = distinct
            .iter()
            .map(|&kind| wgsl(kind, "capture.wgsl"))
            .collect();
        let layout = GroupLayout::new(gpu, "gpu-vertex", &captured, 0, wgpu::ShaderStages::VERTEX);
        let groups = crowd.groups().iter().zip(&kinds);
        let meshes: Vec<_> = groups
            .map(|(group, kind)| upload_meshes(gpu, &[group], kind.mesh))
            .collect();
        let bound = |(chunk, inputs): (&Chunk, &Vec<Named>)| {
            let resources = [&meshes[chunk.group][..], inputs].concat();
            (
                layout.bind(gpu, "skinning", &resources),
                vec![chunk.clone()],
            )
        };
        let parts = chunks.iter().zip(inputs).map(bound).collect();
        let source = VertexSource {
            wgsl: Box::new(wgsl),
            kinds,
            parts,
            layout,
            stride: palette.stride(),
            motion: false,
            visible: palettes.in_view.clone(),
        };
        Ok(Self {
            source: Rc::new(source),
            capture: None,
        })
    }
}

impl GpuSkinner for VertexSkinner {
    fn prepare_read(&mut self, posed: &Posed, crowd: &Crowd) -> Result<()> {
        if self.capture.is_none() {
            self.capture = Some(Capture::new(&posed.gpu, crowd, &self.source)?);
        }
        Ok(())
    }

    fn skinned(&self, _: &Posed) -> Skinned {
        Skinned::Device(Drawable::Shader(Rc::clone(&self.source)))
    }

    fn read(
        &mut self,
        posed: &mut Posed,
        crowd: &Crowd,
        _: &OutputBuffers,
        instances: Range<u32>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        let Some(capture) = &self.capture else {
            return Ok(());
        };
        let Posed {
            gpu,
            chunks,
            palettes,
            ..
        } = posed;
        for (index, (chunk, (group, _))) in chunks.iter().zip(&self.source.parts).enumerate() {
            let part = chunk.part(&instances);
            if !part.is_empty() {
                let (_, places) = palettes.poser.places(index, chunk.instances.start, part)?;
                capture.read(gpu, crowd, chunk, group, places, out)?;
            }
        }
        Ok(())
    }
}
