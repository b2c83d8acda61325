//! Skins in the vertex shader, in every pass that draws: no vertex is stored.

use crate::Gpu;
use crate::crowd::table::CrowdTable;
use crate::forms::kind::{CAPTURE, ShaderVariant};
use crate::forms::mesh::{MeshForm, upload_meshes};
use crate::forms::morph::MorphForm;
use crate::forms::palettes::PaletteForm;
use crate::kernel::GroupLayout;
use crate::passes::vertices::{DrawnBatch, VertexAccess, VertexSource, draw_root};
use skinbench_frame::Result;
use skinbench_kernels::crowd::Crowd;

/// The form of morph targets that goes with a form of palettes: engines that keep palettes in a texture keep deltas in
/// one too, and those with 4x4 palettes keep them dense.
pub(crate) fn morph_form(palette: PaletteForm) -> MorphForm {
    match palette {
        PaletteForm::Texture => MorphForm::Texture,
        PaletteForm::Columns | PaletteForm::Uniform => MorphForm::Dense,
        _ => MorphForm::Sparse,
    }
}

/// Uploads meshes, and binds them and what passes have added to a table, for draws that skin.
///
/// # Errors
/// The adapter binds too few buffers, or its vertices cannot be read back.
pub fn skinned_while_drawn(
    gpu: &Gpu,
    crowd: &Crowd,
    table: &CrowdTable,
    mesh: MeshForm,
    palette: PaletteForm,
) -> Result<VertexSource> {
    gpu.has_captures()?;
    let kinds = ShaderVariant::all(crowd, mesh, palette, morph_form(palette).of(crowd));
    let access = VertexAccess::Skins(palette);
    // One shader for all groups of a kind.
    let mut distinct: Vec<ShaderVariant> = Vec::new();
    for kind in &kinds {
        if !distinct.contains(kind) {
            distinct.push(*kind);
        }
    }
    let shaders = |root| -> Vec<String> {
        distinct
            .iter()
            .map(|&kind| access.shader(kind, root))
            .collect()
    };
    let stage = wgpu::ShaderStages::VERTEX;
    gpu.has(stage, &shaders(draw_root(false, false)))?;
    let layout = GroupLayout::new(gpu, "gpu-vertex", &shaders(CAPTURE), 0, stage);
    let mut meshes = Vec::with_capacity(kinds.len());
    for (group, kind) in crowd.groups().iter().zip(&kinds) {
        meshes.push(upload_meshes(gpu, &[group], kind.mesh));
    }
    let mut batches = Vec::with_capacity(table.chunks.len());
    for (chunk, inputs) in table.chunks.iter().zip(&table.bindings) {
        let resources = [&meshes[chunk.group][..], inputs].concat();
        batches.push(DrawnBatch {
            group: layout.bind(gpu, "skinning", &resources),
            chunks: vec![chunk.clone()],
        });
    }
    Ok(VertexSource {
        access,
        kinds,
        batches,
        layout,
        stride: palette.stride(),
        motion: false,
        visible: table.visible.clone(),
    })
}
