//! Properties of `extras`: those that skinbench's exporter writes, and one that is in common use. Other programs may put
//! anything there.

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use serde_json::value::RawValue;

/// Properties that skinbench's exporter writes.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
pub(super) struct Ours<T: DeserializeOwned + Default> {
    #[serde(bound = "")]
    pub(super) skinbench: T,
}

/// Reads extras; values that are no object count as an object without properties.
pub(super) fn read<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(from: D) -> Result<T, D::Error> {
    let raw = Box::<RawValue>::deserialize(from)?;
    match raw.get().starts_with('{') {
        true => serde_json::from_str(raw.get()).map_err(|error| D::Error::custom(crate::read_file::problem(&error))),
        false => Ok(T::default()),
    }
}
