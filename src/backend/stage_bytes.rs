//! Bytes that each stage of a crowd's frame must move.

use crate::crowd::Crowd;
use crate::frame::{Memory, Stage, Traffic};
#[cfg(feature = "gpu")]
use crate::gpu::{MeshBuffers, MeshForm, PaletteForm, PoseBytes, PosedPalettes, Posing};
use crate::model::Rows;
use crate::pose::{Affine, Local};

/// Traffic of the stages that pose a crowd. On the host they end with the upload of palettes; on the device poses take
/// `poses` bytes. Baked palettes need no posing.
#[cfg(feature = "gpu")]
pub(super) fn posed(crowd: &Crowd, posing: Posing, palette: PaletteForm, poses: Option<PoseBytes>) -> Vec<Traffic> {
    if let PaletteForm::Baked(_) = palette {
        return Vec::new();
    }
    let palettes = PosedPalettes::uploaded(crowd, palette);
    let threads = rayon::current_num_threads();
    let mut stages = if posing == Posing::Device { apart(crowd, threads) } else { host(crowd, threads) };
    stages.retain(|t| t.stage != Stage::Skin);
    if posing == Posing::Device {
        let on_device = |t: Traffic| {
            let t = Traffic { memory: Memory::Device, ..t };
            match (t.stage, poses) {
                (Stage::Sample, Some(poses)) => Traffic { written: poses.sampled, ..t },
                (Stage::LocalToModel, Some(poses)) => Traffic { read: poses.local, written: poses.model, ..t },
                (Stage::Palette, Some(poses)) => Traffic { read: poses.model, ..t },
                _ => t,
            }
        };
        return stages.into_iter().map(on_device).collect();
    }
    let upload = Traffic { stage: Stage::Upload, read: 0, written: palettes, memory: Memory::Upload };
    // One thread fills staging memory.
    let memory = Memory::Host { threads: 1 };
    stages.extend([Traffic { read: palettes, memory, ..upload }, upload]);
    stages
}

/// Traffic of skinning once on the device, from palettes and meshes in these forms.
#[cfg(feature = "gpu")]
pub(super) fn skinned(crowd: &Crowd, palette: PaletteForm, mesh: MeshForm) -> Traffic {
    Traffic {
        stage: Stage::Skin,
        read: PosedPalettes::uploaded(crowd, palette) + MeshBuffers::bytes(crowd, mesh),
        written: crowd.output_words() * size_of::<f32>() as u64,
        memory: Memory::Device,
    }
}

/// Traffic of a backend that poses and skins in the cache: only clips, meshes and vertices leave or enter it.
pub(super) fn fused(crowd: &Crowd, threads: usize) -> Vec<Traffic> {
    let [sample, .., skin] = &apart(crowd, threads)[..] else { return Vec::new() };
    let palette = crowd.palette_entries() * size_of::<Rows>() as u64;
    vec![Traffic { stage: Stage::PoseSkin, read: sample.read + skin.read - palette, ..*skin }]
}

/// Traffic of the stages that pose and skin a crowd on the host. Local and model poses stay in the cache, unless they
/// outlive the frame or are shared.
pub(super) fn host(crowd: &Crowd, threads: usize) -> Vec<Traffic> {
    let mut stages = apart(crowd, threads);
    if crowd.poses().is_none() && !crowd.has_update_rates() {
        stages.retain(|t| t.stage != Stage::LocalToModel);
        for t in &mut stages {
            match t.stage {
                Stage::Sample => t.written = 0,
                Stage::Palette => t.read = 0,
                _ => {}
            }
        }
    }
    stages
}

/// Traffic of stages that each run over the whole crowd.
fn apart(crowd: &Crowd, threads: usize) -> Vec<Traffic> {
    let stage = |stage, read, written| Traffic { stage, read, written, memory: Memory::Host { threads } };
    let local = crowd.posed().joint_count() * size_of::<Local<1>>() as u64;
    let model = crowd.posed().joint_count() * size_of::<Affine<1>>() as u64;
    let palette = crowd.palette_entries() * size_of::<Rows>() as u64;
    let clips = crowd.groups().iter().flat_map(|g| g.model.clips());
    let keys: usize = clips.map(crate::model::Clip::bytes).sum();
    let meshes: usize = crowd
        .groups()
        .iter()
        .map(|g| {
            let mesh = g.model.mesh();
            size_of_val(mesh.positions()) + size_of_val(mesh.normals()) + mesh.joints().len() * 6
        })
        .sum();
    let mut stages = vec![
        stage(Stage::Sample, keys as u64, local),
        stage(Stage::LocalToModel, local, model),
        stage(Stage::Palette, model, palette),
        stage(Stage::Skin, palette + meshes as u64, crowd.output_words() * size_of::<f32>() as u64),
    ];
    // The number of poses that are due differs from tick to tick.
    stages.retain(|t| t.stage != Stage::Sample || !crowd.has_update_rates());
    stages
}
