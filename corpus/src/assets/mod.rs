//! The assets, by what they are about.

mod accessors;
mod animations;
mod hierarchy;
mod influences;
mod morph_targets;
mod scales;

use crate::asset::Asset;

/// All assets, in the order of the table.
pub fn assets() -> Vec<Asset> {
    let mut assets = Vec::new();
    assets.extend(hierarchy::ASSETS);
    assets.extend(influences::ASSETS);
    assets.extend(accessors::ASSETS);
    assets.extend(scales::ASSETS);
    assets.extend(animations::ASSETS);
    assets.extend(morph_targets::ASSETS);
    assets
}
