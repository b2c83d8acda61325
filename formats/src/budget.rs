//! Limit on the memory of an import.

use crate::fault::Fault;
use std::cell::Cell;

const TIMES_FILE_SIZE: u64 = 20;
const BEYOND: u64 = 64 << 20;
/// Most bytes, however large the files are. A sparse file can claim far more bytes than it stores. Everything that is
/// counted takes more than one byte, so that the counts of what was charged fit in u32.
const MOST: u64 = 4 << 30;

/// Bytes that a vertex and each of its influences take from reading to the store, copies included.
const BYTES_PER_VERTEX: u64 = 448;
const BYTES_PER_INFLUENCE: u64 = 32;

/// An allowance of bytes, charged before each allocation whose size a file can choose. Accessors without data, and data
/// that many primitives or channels share, let a small file request much memory.
pub(super) struct Budget {
    left: Cell<u64>,
}

impl Budget {
    /// The allowance for a file of this size, minus the bytes for reading the file itself.
    pub(super) fn new(file_size: usize) -> Self {
        let budget = Self {
            left: Cell::new(BEYOND),
        };
        budget.grant(file_size as u64);
        budget
    }

    /// Adds the allowance for another file of the model, including the bytes for reading it.
    pub(super) fn grant(&self, file_size: u64) {
        self.left.set(
            self.left
                .get()
                .saturating_add(file_size.saturating_mul(TIMES_FILE_SIZE - 1))
                .min(MOST),
        );
    }

    /// Charges the memory for this many vertices and influences.
    pub(super) fn charge_vertices(
        &self,
        vertices: usize,
        influences: usize,
        place: impl FnOnce() -> String,
    ) -> Result<(), Fault> {
        self.charge(
            vertices as u64 * BYTES_PER_VERTEX + influences as u64 * BYTES_PER_INFLUENCE,
            place,
        )
    }

    /// Charges `bytes` to the allowance.
    pub(super) fn charge(&self, bytes: u64, place: impl FnOnce() -> String) -> Result<(), Fault> {
        let left = self.left.get().checked_sub(bytes).ok_or_else(|| {
            let most = format!(
                "{TIMES_FILE_SIZE} times the file's size and {} MiB, or {} GiB",
                BEYOND >> 20,
                MOST >> 30
            );
            let expected =
                "expected counts, and shared use of the same data, that suit the file's size";
            Fault::new(
                place(),
                format!("would need more memory than {most}; {expected}"),
            )
        })?;
        self.left.set(left);
        Ok(())
    }
}
