//! Place of posing of a GPU backend.

use crate::bake::BakeFormat;
use crate::crowd::{Crowd, Group};
use crate::frame::{Job, Result};
use crate::gpu::device::needs;
use crate::gpu::pose::device_pose::DevicePose;
use crate::gpu::pose::posed_palettes::PosedPalettes;
use crate::gpu::pose::{BakedGroups, PaletteSource};
use crate::gpu::{Chunk, Gpu, PaletteForm};
use std::rc::Rc;

/// Place where palettes are computed, unless their form is baked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Posing {
    /// On the CPU, as in `cpu-rayon`, with an upload every frame.
    Host,
    /// On the device.
    Device,
    /// On the device, for instances in view only.
    Visible,
    /// As `Visible`, at levels of detail that the device chooses. The crowd has families.
    Levels,
}

impl Posing {
    /// Returns whether only instances in view are posed.
    pub fn culls(self) -> bool {
        matches!(self, Self::Visible | Self::Levels)
    }

    /// Creates the buffers for a crowd; each part is a chunk or, on the host, several that share a buffer. The job's
    /// frustum and eye decide which instances are shown, and how. With `bakes`, the skinning can show baked vertices
    /// where the crowd allows them.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`](crate::frame::BackendError::Unavailable) if the adapter lacks a feature, or
    /// [`BackendError::TooLarge`](crate::frame::BackendError::TooLarge) if the crowd exceeds one of its limits.
    pub fn source(
        self,
        gpu: &Rc<Gpu>,
        crowd: &Crowd,
        parts: &[Vec<Chunk>],
        (form, bakes): (PaletteForm, bool),
        job: &Job,
    ) -> Result<PaletteSource> {
        let chunks = &parts.concat()[..];
        let view = self.culls().then_some((&job.frustum, &job.eye));
        if let PaletteForm::Baked(format) = form {
            let baked = BakedGroups::new(gpu, crowd, format, |_| true)?;
            return DevicePose::source(gpu, crowd, chunks, (view, Some(baked)));
        }
        form.check(gpu, crowd, chunks)?;
        if self == Self::Host {
            return Ok(PosedPalettes::source(gpu, crowd, parts, form, job));
        }
        let rows = matches!(
            form,
            PaletteForm::Rows | PaletteForm::Workgroup | PaletteForm::Subgroup
        );
        needs(rows, "poses on the device are rows of 3x4 matrices")?;
        if self.culls() {
            // Old GL drivers and Apple's first GPUs lack it.
            let indirect = gpu
                .adapter
                .downlevel
                .contains(wgpu::DownlevelFlags::INDIRECT_EXECUTION);
            needs(indirect, "the adapter has no indirect dispatches and draws")?;
        }
        let is_baked = |group: &Group| group.baked;
        let bakes = bakes && job.gameplay.is_none() && !crowd.has_update_rates();
        let bakes = bakes && crowd.groups().iter().any(is_baked);
        let baked = bakes
            .then(|| BakedGroups::new(gpu, crowd, BakeFormat::Vertices, is_baked))
            .transpose()?;
        DevicePose::source(gpu, crowd, chunks, (view, baked))
    }
}
