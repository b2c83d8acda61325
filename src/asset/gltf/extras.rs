//! One property of `extras`: one that skinbench's exporter writes, or one that is in common use. Other programs may put
//! anything there.

use serde::de::{Deserialize, DeserializeOwned, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A value that extras may hold.
pub(super) trait ExtrasKey: Default + DeserializeOwned {
    /// Name of the property.
    const KEY: &'static str;
}

/// The value under its name, or the default if the extras have none.
pub(super) struct Extras<T>(pub(super) T);

impl<T: Default> Default for Extras<T> {
    fn default() -> Self {
        Self(T::default())
    }
}

impl<'de, T: ExtrasKey> Deserialize<'de> for Extras<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything(PhantomData)).map(Extras)
    }
}

/// Visitor of any value: takes the property from an object and ignores everything else.
struct Anything<T>(PhantomData<T>);

impl<'de, T: ExtrasKey> Visitor<'de> for Anything<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut ours = T::default();
        while let Some(key) = map.next_key::<String>()? {
            if key == T::KEY {
                ours = map.next_value()?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(ours)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<T, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(T::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }
    fn visit_i64<E>(self, _: i64) -> Result<T, E> {
        Ok(T::default())
    }
    fn visit_u64<E>(self, _: u64) -> Result<T, E> {
        Ok(T::default())
    }
    fn visit_f64<E>(self, _: f64) -> Result<T, E> {
        Ok(T::default())
    }
    fn visit_str<E>(self, _: &str) -> Result<T, E> {
        Ok(T::default())
    }
    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }
}
