//! Place of posing of a GPU backend.

use super::baked::{self, BakedPalettes};
use super::device_pose::{self, DevicePose};
use super::gameplay::{self, DeviceGameplay};
use super::palette_source::PaletteSource;
use super::posed_palettes::PosedPalettes;
use super::shader::Edit;
use super::{Chunk, Gpu, PaletteForm, visibility};
use crate::crowd::Crowd;
use crate::frame::{BackendError, Bytes, Job, Result};
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

    /// Checks what a crowd must be like on any adapter.
    ///
    /// # Errors
    /// The crowd has layers, fades or update rates that this posing does not support.
    pub fn accepts(self, crowd: &Crowd, form: PaletteForm) -> Result<()> {
        match (form, self) {
            (PaletteForm::Baked(_), _) => baked::check(crowd),
            (_, Self::Levels) if crowd.levels() == 1 => {
                let message = "chooses levels of detail on the device; needs `run` or `verify` with --lod";
                Err(BackendError::Unavailable(message.into()))
            }
            _ if self.culls() && crowd.has_update_rates() => {
                let message = "keeps no pose of who may be out of view; needs a crowd without update rates";
                Err(BackendError::Unavailable(message.into()))
            }
            _ => Ok(()),
        }
    }

    /// Bytes on the host and on the device.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if the adapter lacks a feature, or [`BackendError::TooLarge`] if the crowd exceeds
    /// one of its limits.
    pub fn bytes(
        self,
        gpu: &Gpu,
        crowd: &Crowd,
        chunks: &[Chunk],
        form: PaletteForm,
        job: &Job,
    ) -> Result<(Bytes, Bytes)> {
        let none = Bytes::default();
        let gameplay = match &job.gameplay {
            Some(gameplay) if self != Self::Host || matches!(form, PaletteForm::Baked(_)) => {
                gpu.has(wgpu::ShaderStages::COMPUTE, gameplay::STORAGE_BUFFERS)?;
                DeviceGameplay::bytes(crowd, chunks, gameplay)
            }
            _ => (none, none),
        };
        let with_gameplay = |(host, device)| (host + gameplay.0, device + gameplay.1);
        if let PaletteForm::Baked(keeping) = form {
            return Ok(with_gameplay((none, baked::bytes(gpu, crowd, chunks, keeping)?)));
        }
        form.check(gpu, crowd, chunks)?;
        match self {
            Self::Host => Ok(PosedPalettes::bytes(crowd, chunks.chunks(1), form, job)),
            Self::Device | Self::Visible | Self::Levels => {
                device_pose::check(gpu, form)?;
                let poses = DevicePose::bytes(gpu, crowd, chunks, self.culls())?;
                if self == Self::Device {
                    return Ok(with_gameplay((none, poses)));
                }
                gpu.has(wgpu::ShaderStages::COMPUTE, visibility::STORAGE_BUFFERS)?;
                gpu.has_indirect()?;
                Ok((none, poses + visibility::bytes(crowd, chunks)))
            }
        }
    }

    /// Creates the buffers for a crowd. The job's frustum and eye decide which instances are shown, and how; `edit`
    /// changes the kernels that pose.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`] if the crowd exceeds a limit of the adapter.
    pub fn source(
        self,
        gpu: &Rc<Gpu>,
        crowd: &Crowd,
        chunks: &[Chunk],
        form: PaletteForm,
        job: &Job,
        edit: Option<&Edit>,
    ) -> Result<Box<dyn PaletteSource>> {
        if let PaletteForm::Baked(keeping) = form {
            return Ok(Box::new(BakedPalettes::new(gpu, crowd, chunks, keeping, edit)?));
        }
        Ok(match self {
            Self::Host => Box::new(PosedPalettes::new(gpu, crowd, chunks.chunks(1), form, job)),
            Self::Device => Box::new(DevicePose::new(gpu, crowd, chunks, None, edit)?),
            Self::Visible | Self::Levels => {
                Box::new(DevicePose::new(gpu, crowd, chunks, Some((&job.frustum, &job.eye)), edit)?)
            }
        })
    }
}
