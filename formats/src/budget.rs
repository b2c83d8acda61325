//! Limit on the memory of an import.

use skinbench_kernels::error::Result;
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
pub struct Budget {
    left: Cell<u64>,
}

impl Budget {
    /// The allowance for a file of this size, minus the bytes for reading the file itself.
    pub fn new(file_size: usize) -> Self {
        let budget = Self {
            left: Cell::new(BEYOND),
        };
        budget.grant(file_size as u64);
        budget
    }

    /// Adds the allowance for another file of the model, including the bytes for reading it.
    pub fn grant(&self, file_size: u64) {
        let more = file_size.saturating_mul(TIMES_FILE_SIZE - 1);
        self.left
            .set(self.left.get().saturating_add(more).min(MOST));
    }

    /// Charges the memory for this many vertices and influences.
    pub fn charge_vertices(
        &self,
        vertices: usize,
        influences: usize,
        place: impl FnOnce() -> String,
    ) -> Result<()> {
        let bytes = vertices as u64 * BYTES_PER_VERTEX + influences as u64 * BYTES_PER_INFLUENCE;
        self.charge(bytes, place)
    }

    /// Charges `bytes` to the allowance.
    pub fn charge(&self, bytes: u64, place: impl FnOnce() -> String) -> Result<()> {
        let Some(left) = self.left.get().checked_sub(bytes) else {
            bail!(
                place(),
                "would need more memory than {TIMES_FILE_SIZE} times the file's size and {} MiB, or {} GiB; expected counts, and shared use of the same data, that suit the file's size",
                BEYOND >> 20,
                MOST >> 30
            );
        };
        self.left.set(left);
        Ok(())
    }
}
