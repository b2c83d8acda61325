//! Properties of `extras`: those that skinbench's exporter writes, and one that is in common use. Other programs may put
//! anything there.

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::value::RawValue;

/// Extras of any object.
#[derive(serde::Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Extras {
    pub skinbench: Original,
    /// Names of a mesh's morph targets, as most exporters write them.
    pub target_names: Option<Box<RawValue>>,
}

/// Properties that skinbench's exporter writes.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
pub struct Original {
    /// Of an asset: handedness of its numbers, if it is not glTF's.
    pub handedness: Option<String>,
    /// Of an asset: index of the axis that points up, if it is not glTF's.
    pub up: Option<u8>,
    /// Of a primitive: number of vertices of the original file; the rest are copies at seams.
    pub vertices: Option<u32>,
    /// Of a primitive: `true` if it is another subset of the primitive before it.
    pub continues: bool,
}

/// Reads extras; values that are no object count as an object without properties.
pub fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Extras, D::Error> {
    let raw = Box::<RawValue>::deserialize(from)?;
    if !raw.get().starts_with('{') {
        return Ok(Extras::default());
    }
    serde_json::from_str(raw.get())
        .map_err(|error| D::Error::custom(crate::read_file::problem(&error)))
}
