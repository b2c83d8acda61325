//! The table of instructions, and the differences of two.

use crate::Result;
use std::fmt;
use std::path::Path;

/// Largest part by which a kernel may take more instructions.
const MOST: f64 = 0.01;
const HEADING: &str = "kernel,instructions";

/// Instructions of all kernels.
#[derive(Debug, PartialEq)]
pub struct Table {
    /// Version of the compiler.
    pub rustc: String,
    /// Instructions of kernels.
    pub rows: Vec<Row>,
}

/// A kernel and its instructions.
#[derive(Debug, PartialEq)]
pub struct Row {
    pub kernel: String,
    pub instructions: u64,
}

impl Table {
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&text).ok_or_else(|| {
            format!(
                "{}: expected what scripts/instructions writes",
                path.display()
            )
            .into()
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let rustc = lines.next()?.strip_prefix("# ")?.to_owned();
        lines.next().filter(|line| *line == HEADING)?;
        let mut rows = Vec::new();
        for line in lines {
            let (kernel, instructions) = line.rsplit_once(',')?;
            rows.push(Row {
                kernel: kernel.to_owned(),
                instructions: instructions.parse().ok()?,
            });
        }
        Some(Self { rustc, rows })
    }

    pub fn csv(&self) -> String {
        let mut text = format!("# {}\n{HEADING}\n", self.rustc);
        for row in &self.rows {
            text += &format!("{},{}\n", row.kernel, row.instructions);
        }
        text
    }

    fn instructions(&self, kernel: &str) -> Option<u64> {
        let row = self.rows.iter().find(|row| row.kernel == kernel)?;
        Some(row.instructions)
    }
}

/// A kernel whose number of instructions changed; `None` where it is missing.
#[derive(Debug, PartialEq)]
pub struct Change {
    kernel: String,
    before: Option<u64>,
    after: Option<u64>,
}

impl Change {
    /// Returns whether the check fails: for more instructions, or a kernel that is gone.
    pub fn is_worse(&self) -> bool {
        match (self.before, self.after) {
            (Some(before), Some(after)) => after as f64 > before as f64 * (1.0 + MOST),
            (Some(_), None) => true,
            (None, _) => false,
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self {
            kernel,
            before,
            after,
        } = self;
        match (*before, *after) {
            (Some(before), Some(after)) => {
                let percent = 100.0 * (after as f64 / before as f64 - 1.0);
                write!(
                    f,
                    "{kernel}: {before} -> {after} instructions ({percent:+.2} %)"
                )
            }
            (Some(before), None) => write!(f, "{kernel}: {before} instructions -> missing"),
            (None, Some(after)) => write!(f, "{kernel}: new, {after} instructions"),
            (None, None) => Ok(()),
        }
    }
}

/// All differences of two tables, in their order.
pub fn changes(old: &Table, new: &Table) -> Vec<Change> {
    let mut kernels: Vec<&str> = new.rows.iter().map(|row| row.kernel.as_str()).collect();
    for row in &old.rows {
        if new.instructions(&row.kernel).is_none() {
            kernels.push(&row.kernel);
        }
    }
    let mut changes = Vec::new();
    for kernel in kernels {
        let before = old.instructions(kernel);
        let after = new.instructions(kernel);
        if before != after {
            changes.push(Change {
                kernel: kernel.to_owned(),
                before,
                after,
            });
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(&str, u64)]) -> Table {
        Table {
            rustc: "rustc 1.95.0".into(),
            rows: rows
                .iter()
                .map(|&(kernel, instructions)| Row {
                    kernel: kernel.into(),
                    instructions,
                })
                .collect(),
        }
    }

    #[test]
    fn a_hundredth_more_passes_and_more_does_not() {
        let old = table(&[("a", 1_000), ("b, avx2", 1_000), ("c", 1_000), ("gone", 7)]);
        let new = table(&[("a", 1_010), ("b, avx2", 1_011), ("c", 500), ("new", 9)]);
        let changes = changes(&old, &new);
        let worse: Vec<_> = changes
            .iter()
            .filter(|change| change.is_worse())
            .map(Change::to_string)
            .collect();
        assert_eq!(
            worse,
            [
                "b, avx2: 1000 -> 1011 instructions (+1.10 %)",
                "gone: 7 instructions -> missing"
            ]
        );
        assert_eq!(changes.len(), 5);
        assert_eq!(super::changes(&old, &old), []);
    }

    #[test]
    fn tables_are_read_as_they_are_written() {
        let written = table(&[("skin lanes, pn, avx2", 12)]);
        assert_eq!(Table::parse(&written.csv()), Some(written));
        assert_eq!(Table::parse("# rustc\nkernel,instructions\nx,y\n"), None);
    }
}
