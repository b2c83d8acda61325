//! Place of posing of a GPU backend.

use super::baked::{self, BakedPalettes};
use super::device_pose::{self, DevicePose};
use super::palette_source::PaletteSource;
use super::posed_palettes::PosedPalettes;
use super::shader::Edit;
use super::{Chunk, Gpu, PaletteForm, visibility};
use crate::crowd::Crowd;
use crate::frame::{BackendError, Result};
use crate::frustum::Frustum;
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
}

impl Posing {
    /// Bytes on the host and on the device.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if the adapter lacks a feature, or [`BackendError::TooLarge`] if the crowd exceeds
    /// one of its limits.
    pub fn bytes(self, gpu: &Gpu, crowd: &Crowd, chunks: &[Chunk], form: PaletteForm) -> Result<(u64, u64)> {
        if let PaletteForm::Baked(keeping) = form {
            return Ok((0, baked::bytes(gpu, crowd, keeping)?));
        }
        form.check(gpu, crowd, chunks)?;
        match self {
            Self::Host => Ok(PosedPalettes::bytes(crowd, form)),
            Self::Device | Self::Visible => {
                device_pose::check(gpu, form)?;
                let poses = DevicePose::bytes(gpu, crowd, chunks)?;
                if self == Self::Device {
                    return Ok((0, poses));
                }
                gpu.has(wgpu::ShaderStages::COMPUTE, visibility::STORAGE_BUFFERS)?;
                gpu.has_indirect()?;
                if crowd.has_update_rates() {
                    let message =
                        "keeps no poses of instances that may be out of view; needs a crowd without update rates";
                    return Err(BackendError::Unavailable(message.into()));
                }
                Ok((0, poses + visibility::bytes(crowd)))
            }
        }
    }

    /// Creates the buffers for a crowd. `frustum` decides which instances are in view; `edit` changes the kernels that
    /// pose.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`] if the crowd exceeds a limit of the adapter.
    pub fn source(
        self,
        gpu: &Rc<Gpu>,
        crowd: &Crowd,
        chunks: &[Chunk],
        form: PaletteForm,
        frustum: &Frustum,
        edit: Option<&Edit>,
    ) -> Result<Box<dyn PaletteSource>> {
        if let PaletteForm::Baked(keeping) = form {
            return Ok(Box::new(BakedPalettes::new(gpu, crowd, chunks, keeping, edit)?));
        }
        Ok(match self {
            Self::Host => Box::new(PosedPalettes::new(gpu, crowd, chunks, form)),
            Self::Device => Box::new(DevicePose::new(gpu, crowd, chunks, None, edit)?),
            Self::Visible => Box::new(DevicePose::new(gpu, crowd, chunks, Some(frustum), edit)?),
        })
    }
}
