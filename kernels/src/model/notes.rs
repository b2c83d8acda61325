//! Notes about what a model lacks or has otherwise than its file.

use crate::error::{bounded, written};
use std::fmt;

/// Most names in a note.
const MOST_NAMES: usize = 8;

/// What an importer left out, repaired or added: one note for each kind, however many things it concerns. A kind is the
/// text of its note, where `#` stands for the number of things, and `@` for the worst of their numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Notes(Vec<Note>);

#[derive(Debug, Clone, PartialEq)]
struct Note {
    kind: &'static str,
    count: usize,
    worst: f32,
    /// How bad the worst number is.
    badness: f32,
    /// The first names, each with the number of things that have it.
    names: Vec<(String, usize)>,
}

impl Notes {
    fn of(&mut self, kind: &'static str) -> &mut Note {
        let known = self.0.iter().position(|note| note.kind == kind);
        let at = known.unwrap_or(self.0.len());
        if known.is_none() {
            self.0.push(Note {
                kind,
                count: 0,
                worst: 0.0,
                badness: f32::NEG_INFINITY,
                names: Vec::new(),
            });
        }
        &mut self.0[at]
    }

    /// Counts things of a kind; none leave no note.
    pub fn add(&mut self, kind: &'static str, things: usize) {
        if things > 0 {
            self.of(kind).count += things;
        }
    }

    /// Counts a thing of a kind, and keeps its number if none before is as bad.
    pub fn add_number(&mut self, kind: &'static str, number: f32, badness: f32) {
        let note = self.of(kind);
        note.count += 1;
        if badness > note.badness {
            note.badness = badness;
            note.worst = number;
        }
    }

    /// Counts a thing of a kind by its name. The first names stand behind the text.
    pub fn add_name(&mut self, kind: &'static str, name: impl Into<String>) {
        let note = self.of(kind);
        note.count += 1;
        let name = bounded(name);
        if let Some(known) = note.names.iter_mut().find(|known| known.0 == name) {
            known.1 += 1;
        } else if note.names.len() < MOST_NAMES {
            note.names.push((name, 1));
        }
    }

    /// Returns whether a note of a kind lists a name.
    pub fn has_name(&self, kind: &str, name: &str) -> bool {
        let mut notes = self.0.iter().filter(|note| note.kind == kind);
        notes.any(|note| note.names.iter().any(|known| known.0 == name))
    }

    /// The notes, one line each.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(Note::to_string)
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let text = self.kind.replace('#', &self.count.to_string());
        f.write_str(&text.replace('@', &written(self.worst)))?;
        let mut more = self.count;
        let mut separator = ": ";
        for (name, times) in &self.names {
            write!(f, "{separator}{name}")?;
            if *times > 1 {
                write!(f, " ({times} times)")?;
            }
            more -= times;
            separator = ", ";
        }
        if more > 0 && !self.names.is_empty() {
            write!(f, " and {more} more")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_of_one_kind_are_one_note() {
        let mut notes = Notes::default();
        notes.add("left out # vertices", 0);
        assert_eq!(notes.lines().count(), 0);
        for number in [0.9, 3.0, 1.1] {
            notes.add_number("changed # sums (worst @)", number, (number - 1.0).abs());
        }
        notes.add("left out # vertices", 2);
        notes.add("left out # vertices", 3);
        notes.add_name("left out", "b");
        notes.add_name("left out", "a");
        notes.add_name("left out", "b");
        let lines: Vec<String> = notes.lines().collect();
        assert_eq!(
            lines,
            [
                "changed 3 sums (worst 3)",
                "left out 5 vertices",
                "left out: b (2 times), a"
            ]
        );
    }

    #[test]
    fn notes_do_not_grow_with_the_file() {
        let mut notes = Notes::default();
        for number in 0..100_000 {
            notes.add_name("left out", format!("{number}{}", "x".repeat(1_000)));
        }
        let line = notes.lines().next().unwrap();
        assert!(line.len() < 5_000, "{}", line.len());
        assert!(line.ends_with(" and 99992 more"), "{line}");
    }
}
