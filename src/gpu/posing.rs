//! Where a GPU backend's crowd is posed.

use super::baked::{self, BakedPalettes};
use super::device_pose::{self, DevicePose};
use super::palettes::{PaletteForm, PaletteSource, PosedPalettes};
use super::skinning::Edit;
use super::{Chunk, Gpu};
use crate::backend::Result;
use crate::crowd::Crowd;
use std::rc::Rc;

/// Where palettes are made, unless their form says that they were baked before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Posing {
    /// On the CPU, as `cpu-rayon` does, and uploaded every frame.
    Host,
    /// On the device.
    Device,
}

impl Posing {
    /// Bytes on the host and on the device.
    ///
    /// # Errors
    /// What the adapter lacks, or cannot hold.
    pub fn bytes(self, gpu: &Gpu, crowd: &Crowd, chunks: &[Chunk], form: PaletteForm) -> Result<(u64, u64)> {
        if let PaletteForm::Baked(keeping) = form {
            return Ok((0, baked::bytes(gpu, crowd, keeping)?));
        }
        form.check(gpu, crowd, chunks)?;
        match self {
            Self::Host => Ok(PosedPalettes::bytes(crowd, form)),
            Self::Device => {
                device_pose::check(gpu, crowd, form)?;
                Ok((0, DevicePose::bytes(gpu, crowd, chunks)?))
            }
        }
    }

    /// Buffers for a crowd; an edit changes the kernels that pose.
    ///
    /// # Errors
    /// What the adapter cannot hold.
    pub fn source(
        self,
        gpu: &Rc<Gpu>,
        crowd: &Crowd,
        chunks: &[Chunk],
        form: PaletteForm,
        edit: Option<&Edit>,
    ) -> Result<Box<dyn PaletteSource>> {
        if let PaletteForm::Baked(keeping) = form {
            return Ok(Box::new(BakedPalettes::new(gpu, crowd, chunks, keeping, edit)?));
        }
        Ok(match self {
            Self::Host => Box::new(PosedPalettes::new(gpu, crowd, chunks, form)),
            Self::Device => Box::new(DevicePose::new(gpu, crowd, chunks, edit)?),
        })
    }
}
