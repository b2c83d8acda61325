//! Writing to mapped memory by several threads: it may lie behind a bus, to which one thread writes a third of what the bus
//! takes.

use arrayvec::ArrayVec;
use skinbench_kernels::simd::LINE;
use skinbench_kernels::threads::{Threads, lock};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use wgpu::util::StagingBelt;

/// Size of the pieces in which uploads and read-backs go through staging memory.
pub const STAGING_BYTES: u64 = 16 << 20;

/// About as many bytes as one thread writes in a nanosecond.
const BYTES_PER_NS: u64 = 10;
/// Most shares of threads.
const MOST_SHARES: usize = 64;
/// Bytes of mapped memory that one thread writes at a time, in [`Staging`].
const SHARE_BYTES: usize = 256 << 10;

/// A thread's share of mapped memory, and what it is filled with.
struct Share<'a> {
    to: wgpu::BufferViewMut,
    from: &'a [u8],
}

/// Fills a mapped part of a buffer with as many bytes, by these threads if it is worth waking them.
///
/// # Panics
/// The part is not mapped, or has another length.
pub fn fill(mapped: &wgpu::BufferSlice, bytes: &[u8], threads: &Threads) {
    let alone = Duration::from_nanos(bytes.len() as u64 / BYTES_PER_NS);
    let threads = threads.worth_waking(alone);
    let count = threads.count().min(MOST_SHARES);
    let share = bytes.len().div_ceil(count).next_multiple_of(LINE);
    let mut shares = ArrayVec::<Share, MOST_SHARES>::new();
    let mut first = 0;
    for from in bytes.chunks(share) {
        let next = first + from.len();
        let to = view(mapped, first..next);
        shares.push(Share { to, from });
        first = next;
    }
    threads.each(&mut shares, 1, |_, shares| {
        for share in shares {
            share.to.copy_from_slice(share.from);
        }
    });
}

/// A range of a mapped part of a buffer.
fn view(mapped: &wgpu::BufferSlice, range: Range<usize>) -> wgpu::BufferViewMut {
    let part = mapped.slice(range.start as u64..range.end as u64);
    part.get_mapped_range_mut()
        .expect("staging memory is mapped")
}

/// Memory that threads fill during a frame, and that the device reads afterwards. Its capacity stays from frame to frame.
pub enum Staging {
    /// Mapped memory, in pieces of [`STAGING_BYTES`].
    Mapped {
        /// The pieces.
        pieces: Vec<Piece>,
        /// Their shares of [`SHARE_BYTES`], one after the other; none after [`Staging::close`].
        shares: Vec<Mutex<wgpu::BufferViewMut>>,
    },
    /// Memory of the host, for recorders that take bytes.
    Host(Mutex<Vec<u8>>),
}

/// A part of a mapped buffer.
pub struct Piece {
    buffer: wgpu::Buffer,
    offset: u64,
}

impl Default for Staging {
    fn default() -> Self {
        Self::Host(Mutex::default())
    }
}

impl Staging {
    /// Makes room for so many bytes in memory of the host. Bytes that were there before keep their values, which are sent
    /// again where threads do not write.
    pub(super) fn open_on_host(&mut self, bytes: usize) {
        match self {
            Self::Host(host) => lock(host).resize(bytes, 0),
            Self::Mapped { .. } => *self = Self::Host(Mutex::new(vec![0; bytes])),
        }
    }

    /// Makes room for so many bytes in mapped memory.
    pub(super) fn open_mapped(&mut self, belt: &mut StagingBelt, bytes: usize) {
        if let Self::Host(_) = self {
            *self = Self::Mapped {
                pieces: Vec::new(),
                shares: Vec::new(),
            };
        }
        let Self::Mapped { pieces, shares } = self else {
            return;
        };
        pieces.clear();
        shares.clear();
        for first in (0..bytes).step_by(STAGING_BYTES as usize) {
            let length = (bytes - first).min(STAGING_BYTES as usize);
            let mapped = allocate(belt, length);
            for begin in (0..length).step_by(SHARE_BYTES) {
                let end = length.min(begin + SHARE_BYTES);
                shares.push(Mutex::new(view(&mapped, begin..end)));
            }
            pieces.push(Piece {
                buffer: mapped.buffer().clone(),
                offset: mapped.offset(),
            });
        }
    }

    /// Writes bytes from an offset on. Several threads may do so at once, faster where they write far from each other.
    ///
    /// # Panics
    /// The memory is closed, or there is less of it.
    pub fn write(&self, mut offset: usize, mut bytes: &[u8]) {
        match self {
            Self::Host(host) => lock(host)[offset..][..bytes.len()].copy_from_slice(bytes),
            Self::Mapped { shares, .. } => {
                while !bytes.is_empty() {
                    let begin = offset % SHARE_BYTES;
                    let length = bytes.len().min(SHARE_BYTES - begin);
                    let (now, later) = bytes.split_at(length);
                    let mut share = lock(&shares[offset / SHARE_BYTES]);
                    share.slice(begin..begin + length).copy_from_slice(now);
                    offset += length;
                    bytes = later;
                }
            }
        }
    }

    /// Lets go of mapped memory, which the device can read then.
    pub fn close(&mut self) {
        if let Self::Mapped { shares, .. } = self {
            shares.clear();
        }
    }

    /// The bytes in memory of the host; none if the memory is mapped.
    pub(super) fn on_host(&mut self) -> &[u8] {
        match self {
            Self::Host(host) => host.get_mut().unwrap_or_else(PoisonError::into_inner),
            Self::Mapped { .. } => &[],
        }
    }

    /// Records copies of a range of mapped bytes, except the `kept` parts, to their places in a buffer that holds the
    /// range. Returns how many bytes are copied: none if the memory is not mapped.
    pub(super) fn copy(
        &self,
        range: Range<usize>,
        kept: &[Range<usize>],
        encoder: &mut wgpu::CommandEncoder,
        to: &wgpu::Buffer,
    ) -> u64 {
        let mut copied = 0;
        let mut begin = range.start;
        for kept in kept {
            let end = kept.start.clamp(begin, range.end);
            copied += self.copy_part(begin..end, range.start, encoder, to);
            begin = kept.end.clamp(begin, range.end);
        }
        copied + self.copy_part(begin..range.end, range.start, encoder, to)
    }

    /// Records copies of a range of mapped bytes to a buffer that holds those from `origin` on. Returns how many there are.
    fn copy_part(
        &self,
        range: Range<usize>,
        origin: usize,
        encoder: &mut wgpu::CommandEncoder,
        to: &wgpu::Buffer,
    ) -> u64 {
        let Self::Mapped { pieces, .. } = self else {
            return 0;
        };
        let mut piece_begin = 0;
        for piece in pieces {
            let piece_end = piece_begin + STAGING_BYTES as usize;
            let first = range.start.max(piece_begin);
            let last = range.end.min(piece_end);
            if first < last {
                let from_offset = piece.offset + (first - piece_begin) as u64;
                let to_offset = (first - origin) as u64;
                let bytes = (last - first) as u64;
                encoder.copy_buffer_to_buffer(&piece.buffer, from_offset, to, to_offset, bytes);
            }
            piece_begin = piece_end;
        }
        range.len() as u64
    }
}

/// Takes at least one byte of recycled staging memory.
pub(super) fn allocate(belt: &mut StagingBelt, bytes: usize) -> wgpu::BufferSlice<'_> {
    let size = wgpu::BufferSize::new(bytes as u64).expect("an allocation has bytes");
    let alignment = const { wgpu::BufferSize::new(wgpu::COPY_BUFFER_ALIGNMENT).unwrap() };
    belt.allocate(size, alignment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Gpu;
    use crate::device::Recorder;
    use skinbench_frame::Purpose;

    /// Numbers that a piece and a third hold.
    const COUNT: usize = STAGING_BYTES as usize / 3;

    #[test]
    fn what_threads_write_across_shares_and_pieces_arrives_in_buffers() {
        let Some(gpu) = Gpu::open_to_test() else {
            return;
        };
        let numbers: Vec<f32> = (0..COUNT).map(|index| index as f32).collect();
        let bytes: &[u8] = bytemuck::cast_slice(&numbers);
        let mut staging = Staging::default();
        // The second frame reuses what the first one left.
        for frame in 0..2 {
            let mut commands = gpu.commands("staged");
            commands.open(&mut staging, bytes.len());
            // Blocks that end at no multiple of a share.
            const BLOCK_BYTES: usize = 123_456;
            let mut blocks: Vec<&[u8]> = bytes.chunks(BLOCK_BYTES).collect();
            Threads::All.each(&mut blocks, 1, |index, blocks| {
                staging.write(index * BLOCK_BYTES, blocks[0]);
            });
            staging.close();
            let middle = bytes.len() / 8 * 4;
            let ranges = [0..middle, middle..bytes.len()];
            let mut buffers = Vec::new();
            for range in &ranges {
                let buffer = gpu.scratch(Purpose::Palettes, "staged", range.len() as u64);
                commands.send(&mut staging, range.clone(), &[], &buffer);
                buffers.push(buffer);
            }
            commands.finish().unwrap();
            let mut read = Vec::new();
            for (buffer, range) in buffers.iter().zip(ranges) {
                gpu.read_back(buffer, 0, range.len() / 4, &mut read)
                    .unwrap();
            }
            assert!(read == numbers, "frame {frame}");
        }
        assert_eq!(gpu.take_work().uploaded, 2 * bytes.len() as u64);
    }
}
