//! Place of posing of a GPU backend.

use crate::crowd::Crowd;
use crate::frame::{Job, Result};
use crate::gpu::pose::device_pose::{self, DevicePose};
use crate::gpu::pose::posed_palettes::PosedPalettes;
use crate::gpu::pose::{BakedPalettes, PaletteSource, visibility};
use crate::gpu::shader::kernel::Edit;
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

    /// Creates the buffers for a crowd; each part is a chunk or, on the host, several that share a buffer. The job's frustum and eye decide which instances are shown, and how; `edit`
    /// changes the kernels that pose. With `bakes`, the skinning can show baked vertices where the crowd allows them.
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
        edit: Option<&Edit>,
    ) -> Result<Box<dyn PaletteSource>> {
        let chunks = &parts.concat()[..];
        if let PaletteForm::Baked(keeping) = form {
            return Ok(Box::new(BakedPalettes::new(gpu, crowd, chunks, keeping, edit)?));
        }
        form.check(gpu, crowd, chunks)?;
        if self == Self::Host {
            return Ok(Box::new(PosedPalettes::new(gpu, crowd, parts, form, job)));
        }
        device_pose::check(gpu, form)?;
        if self.culls() {
            gpu.has(wgpu::ShaderStages::COMPUTE, visibility::STORAGE_BUFFERS)?;
            gpu.has_indirect()?;
        }
        let view = self.culls().then_some((&job.frustum, &job.eye));
        Ok(Box::new(DevicePose::new(gpu, crowd, chunks, (view, bakes && job.gameplay.is_none()), edit)?))
    }
}
