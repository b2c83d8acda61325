//! Parts of a file that its importer does not read: each importer lists those that it knows to ignore, and anything else
//! becomes a note.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use skinbench_kernels::model::Notes;
use std::fmt;

/// Kind of note about parts that are not read.
pub const UNREAD: &str = "left out parts that are not read";

/// Parts of a format that an importer ignores without a note, because nothing that is computed or drawn here depends on
/// them. A `*` at the beginning or the end of a name stands for any characters.
pub type Ignored = &'static [&'static str];

/// An object or a list in JSON of which nothing is read: each property or item counts as unread. In camel case, a field
/// `_extensions` has the name `extensions`.
#[derive(Default, Clone, PartialEq, Eq, Hash)]
pub struct NothingRead;

impl<'de> Deserialize<'de> for NothingRead {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for NothingRead {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("an object or a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<String, IgnoredAny>()?.is_some() {}
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(self)
    }
}

/// Returns whether a list has a name.
pub fn has(list: Ignored, name: &str) -> bool {
    list.iter().any(|entry| {
        if let Some(end) = entry.strip_prefix('*') {
            name.ends_with(end)
        } else if let Some(start) = entry.strip_suffix('*') {
            name.starts_with(start)
        } else {
            name == *entry
        }
    })
}

/// Notes a part that is not read, unless it is in its format's list.
pub fn note_unread(ignored: Ignored, name: &str, notes: &mut Notes) {
    if !has(ignored, name) {
        notes.add_name(UNREAD, name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_no_list_has_are_noted() {
        let mut notes = Notes::default();
        for name in ["a", "nodes[].name", "x.y", "b", "b", "name"] {
            note_unread(&["a", "*.name", "x.*"], name, &mut notes);
        }
        let lines: Vec<String> = notes.lines().collect();
        assert_eq!(
            lines,
            ["left out parts that are not read: b (2 times), name"]
        );
    }
}
