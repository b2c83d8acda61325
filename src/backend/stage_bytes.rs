//! Bytes that each stage of a crowd's frame must move.

use crate::crowd::Crowd;
use crate::frame::{Memory, Stage, Traffic};
#[cfg(feature = "gpu")]
use crate::gpu::{MeshForm, PaletteForm, PoseBytes, mesh_bytes, uploaded_bytes};
use crate::model::{Clip, Rows};
use crate::pose::{Affine, Local};

/// Traffic of the stages that pose a crowd: on the device, where poses take so many bytes, or on the host, which uploads
/// palettes. Baked palettes need no posing.
#[cfg(feature = "gpu")]
pub(super) fn posed(
    crowd: &Crowd,
    palette: PaletteForm,
    on_device: Option<PoseBytes>,
) -> Vec<Traffic> {
    if let PaletteForm::Baked(_) = palette {
        return Vec::new();
    }
    if let Some(PoseBytes {
        sampled,
        local,
        model,
    }) = on_device
    {
        return pose_stages(crowd, Memory::Device, sampled, local, model);
    }
    let threads = rayon::current_num_threads();
    let mut stages = posed_on_host(crowd, threads);
    let palettes = uploaded_bytes(crowd, palette);
    // They are written to staging memory in the form in which they are uploaded.
    for stage in &mut stages {
        if stage.stage == Stage::Palette {
            stage.written = palettes;
            stage.memory = Memory::Staging { threads };
        }
    }
    stages.push(Traffic {
        stage: Stage::Upload,
        read: 0,
        written: palettes,
        memory: Memory::Upload,
    });
    stages
}

/// Traffic of skinning once on the device, from palettes and meshes in these forms.
#[cfg(feature = "gpu")]
pub(super) fn skinned(crowd: &Crowd, palette: PaletteForm, mesh: MeshForm) -> Traffic {
    Traffic {
        stage: Stage::Skin,
        read: uploaded_bytes(crowd, palette) + mesh_bytes(crowd, mesh),
        written: vertices(crowd),
        memory: Memory::Device,
    }
}

/// Traffic of a backend that poses and skins in the cache: only clips, meshes and vertices leave or enter it.
pub(super) fn fused(crowd: &Crowd, threads: usize) -> Traffic {
    Traffic {
        stage: Stage::PoseSkin,
        read: clips(crowd) + meshes(crowd),
        written: vertices(crowd),
        memory: Memory::Host { threads },
    }
}

/// Traffic of the stages that pose and skin a crowd on the host.
pub(super) fn host(crowd: &Crowd, threads: usize) -> Vec<Traffic> {
    let mut stages = posed_on_host(crowd, threads);
    stages.push(Traffic {
        stage: Stage::Skin,
        read: palettes(crowd) + meshes(crowd),
        written: vertices(crowd),
        memory: Memory::Host { threads },
    });
    stages
}

/// Traffic of the stages that pose a crowd on the host. Local and model poses stay in the cache, unless they outlive the
/// frame.
fn posed_on_host(crowd: &Crowd, threads: usize) -> Vec<Traffic> {
    let joints = if crowd.has_update_rates() {
        crowd.joint_count()
    } else {
        0
    };
    let [local, model] =
        [size_of::<Local<1>>(), size_of::<Affine<1>>()].map(|size| joints * size as u64);
    pose_stages(crowd, Memory::Host { threads }, local, local, model)
}

/// Traffic of the stages that pose a crowd: they write `sampled` bytes of local poses, read `local` bytes of them, and
/// write and read `model` bytes of model poses.
fn pose_stages(
    crowd: &Crowd,
    memory: Memory,
    sampled: u64,
    local: u64,
    model: u64,
) -> Vec<Traffic> {
    let sample = Traffic {
        stage: Stage::Sample,
        read: clips(crowd),
        written: sampled,
        memory,
    };
    let local_to_model = Traffic {
        stage: Stage::LocalToModel,
        read: local,
        written: model,
        memory,
    };
    let palette = Traffic {
        stage: Stage::Palette,
        read: model,
        written: palettes(crowd),
        memory,
    };
    let mut stages = vec![sample, local_to_model, palette];
    if crowd.has_update_rates() {
        // The number of poses that are due differs from tick to tick.
        stages.remove(0);
    }
    stages.retain(|stage| stage.bytes() > 0);
    stages
}

fn clips(crowd: &Crowd) -> u64 {
    crowd
        .first_of_models()
        .flat_map(|group| group.model.clips())
        .map(Clip::bytes)
        .sum::<usize>() as u64
}

fn palettes(crowd: &Crowd) -> u64 {
    crowd.palette_entries() * size_of::<Rows>() as u64
}

fn meshes(crowd: &Crowd) -> u64 {
    let mut bytes = 0;
    for group in crowd.first_of_models() {
        let mesh = group.model.mesh();
        bytes += size_of_val(mesh.positions()) + size_of_val(mesh.normals());
        bytes += mesh.joints().len() * 6;
    }
    bytes as u64
}

fn vertices(crowd: &Crowd) -> u64 {
    crowd.output_words() * size_of::<f32>() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::characters::chain_64;
    use crate::crowd::Layer;
    use crate::model::IDENTITY_ROWS;
    use std::sync::Arc;

    #[test]
    fn clips_and_meshes_of_a_model_in_two_groups_are_read_once() {
        let model = Arc::new(chain_64().unwrap());
        let crowd = |groups: &[usize]| {
            let mut crowd = Crowd::new();
            for &count in groups {
                let instances =
                    (0..count).map(|_| (IDENTITY_ROWS, Layer::looping(&model, 0, 0, 1.0)));
                crowd.push_group(Arc::clone(&model), instances).unwrap();
            }
            crowd
        };
        assert_eq!(host(&crowd(&[7, 5]), 1), host(&crowd(&[12]), 1));
    }

    /// The limit of `palette` is the rate of as many threads as write staging memory: all of them.
    #[cfg(feature = "gpu")]
    #[test]
    fn palettes_are_staged_by_the_threads_that_pose() {
        let crowd = one_instance();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
        let stages = pool
            .unwrap()
            .install(|| posed(&crowd, PaletteForm::Rows, None));
        let mut kinds = Vec::new();
        for traffic in stages {
            kinds.push((traffic.stage, traffic.memory));
        }
        let on_host = Memory::Host { threads: 3 };
        let staged = Memory::Staging { threads: 3 };
        let want = [
            (Stage::Sample, on_host),
            (Stage::Palette, staged),
            (Stage::Upload, Memory::Upload),
        ];
        assert_eq!(kinds, want);
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn palettes_are_written_in_the_form_of_the_shader() {
        let crowd = one_instance();
        let forms = [
            (PaletteForm::Rows, 48),
            (PaletteForm::Half, 32),
            (PaletteForm::Columns, 64),
        ];
        for (form, bytes) in forms {
            let stages = posed(&crowd, form, None);
            let palette = stages
                .iter()
                .find(|traffic| traffic.stage == Stage::Palette);
            let written = palette.map(|traffic| traffic.written);
            assert_eq!(written, Some(crowd.palette_entries() * bytes), "{form:?}");
        }
    }

    #[cfg(feature = "gpu")]
    fn one_instance() -> Crowd {
        let model = Arc::new(chain_64().unwrap());
        let mut crowd = Crowd::new();
        let at_rest = [(IDENTITY_ROWS, Layer::looping(&model, 0, 0, 1.0))];
        crowd.push_group(model, at_rest).unwrap();
        crowd
    }
}
