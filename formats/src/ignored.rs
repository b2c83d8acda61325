//! Parts of a file that its importer does not read: each importer lists those that it knows to ignore, and anything else
//! becomes a note.

use skinbench_kernels::model::Notes;

/// Kind of note about parts that are not read.
const UNREAD: &str = "left out parts that are not read";

/// Parts of a format that an importer ignores without a note, because nothing that is computed or drawn here depends on
/// them. A `*` at the beginning or the end of a name stands for any characters.
pub type Ignored = &'static [&'static str];

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
