//! Notes about parts of a file that its importer does not read: each importer lists those that it knows to ignore, and
//! anything else becomes a note.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use skinbench_kernels::model::Repair;
use std::collections::BTreeMap;
use std::fmt;

/// Most names in a note.
const MOST_NAMES: usize = 8;

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

/// The parts of a file that are neither read nor in its format's list, counted by name.
pub struct Unread {
    ignored: Ignored,
    found: BTreeMap<String, u32>,
}

impl Unread {
    /// Nothing so far.
    pub fn new(ignored: Ignored) -> Self {
        Self {
            ignored,
            found: BTreeMap::new(),
        }
    }

    /// Counts a part that is not read, unless it is known to be ignored.
    pub fn add(&mut self, name: &str) {
        if let Some(count) = self.found.get_mut(name) {
            *count += 1;
        } else if !has(self.ignored, name) {
            self.found.insert(name.to_owned(), 1);
        }
    }

    /// Counts a part unless it is counted already.
    pub fn add_once(&mut self, name: &str) {
        if !self.found.contains_key(name) {
            self.add(name);
        }
    }

    /// One note, if there is anything to note.
    pub fn describe(self) -> Option<Repair> {
        let mut names = Listed::<MOST_NAMES>::default();
        for (name, times) in self.found {
            names.add(|| match times {
                1 => name,
                _ => format!("{name} ({times} times)"),
            });
        }
        names.describe("left out parts that are not read")
    }
}

/// The first names of a note, and the number of all.
#[derive(Default)]
pub struct Listed<const MOST: usize> {
    first: Vec<String>,
    count: usize,
}

impl<const MOST: usize> Listed<MOST> {
    /// Adds a name, which is made only if the note has it: a file may repeat a long one many times.
    pub fn add(&mut self, name: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < MOST {
            self.first.push(name());
        }
    }

    /// The note, if there is any name.
    pub fn describe(&self, note: &str) -> Option<Repair> {
        let mut names = self.first.join(", ");
        let more = self.count - self.first.len();
        if more > 0 {
            names += &format!(" and {more} more");
        }
        (self.count > 0).then(|| Repair::new(format!("{note}: {names}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_parts_are_counted_and_named() {
        let mut unread = Unread::new(&["a", "*.name", "x.*"]);
        for name in ["a", "nodes[].name", "x.y", "b", "b", "name"] {
            unread.add(name);
        }
        unread.add_once("b");
        assert_eq!(
            unread.describe().unwrap().message,
            "left out parts that are not read: b (2 times), name"
        );
        assert_eq!(Unread::new(&[]).describe(), None);
        let mut many = Unread::new(&[]);
        (0..100).for_each(|name| many.add(&format!("{name:02}")));
        let note = many.describe().unwrap().message;
        assert!(note.ends_with("06, 07 and 92 more"), "{note}");
    }

    #[test]
    fn only_names_in_the_note_are_made() {
        let mut listed = Listed::<4>::default();
        for name in 0..10_000 {
            listed.add(|| {
                assert!(name < 4, "name {name} was made");
                name.to_string()
            });
        }
        let note = listed.describe("left out").unwrap();
        assert_eq!(note.message, "left out: 0, 1, 2, 3 and 9996 more");
        assert_eq!(Listed::<4>::default().describe("left out"), None);
    }
}
