//! Writing to mapped memory by several threads: it may lie behind a bus, to which one thread writes a third of what the bus
//! takes.

use arrayvec::ArrayVec;
use skinbench_kernels::simd::LINE;
use skinbench_kernels::threads::Threads;
use std::time::Duration;

/// About as many bytes as one thread writes in a nanosecond.
const BYTES_PER_NS: u64 = 10;
/// Most shares of threads.
const MOST_SHARES: usize = 64;

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
        let next = first + from.len() as u64;
        let to = mapped.slice(first..next).get_mapped_range_mut();
        let to = to.expect("staging memory is mapped");
        shares.push(Share { to, from });
        first = next;
    }
    threads.each(&mut shares, 1, |shares| {
        for share in shares {
            share.to.copy_from_slice(share.from);
        }
    });
}
