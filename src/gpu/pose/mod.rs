//! Palettes on the device, and where they come from.

pub mod baked;
pub mod device_pose;
pub mod gameplay;
pub(in crate::gpu) mod half_palette;
pub(in crate::gpu) mod palette_source;
pub(in crate::gpu) mod palettes;
pub(in crate::gpu) mod posed_palettes;
pub(in crate::gpu) mod posing;
pub mod updates;
pub mod visibility;

pub(in crate::gpu) use baked::{BakedGroup, BakedGroups};
pub(in crate::gpu) use palette_source::{PaletteSource, PoseBytes, Poser};
pub(in crate::gpu) use updates::{Record, Updates};
pub(in crate::gpu) use visibility::{Visibility, VisibleChunk};
