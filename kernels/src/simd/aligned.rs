//! Memory that begins on a cache line, so that vectors do not straddle lines and streaming stores apply. Large slices
//! are in huge pages: the outputs of 16 instances are far apart and would miss the TLB on every small page.

use bytemuck::{AnyBitPattern, NoUninit};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Bytes of a cache line, the unit of streaming stores.
pub const LINE: usize = 64;

/// A cache line.
#[derive(Debug, Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

/// Bytes of a huge page, and smallest slice that is placed in huge pages.
const PAGE: usize = 2 << 20;
const HUGE_FROM: usize = 512 << 10;

/// A huge page. Values exist only on the heap, where they were allocated.
#[derive(Debug, Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(2097152))]
struct HugePage([u8; PAGE]);

/// A slice of `T` that begins on a cache line.
#[derive(Debug, Clone)]
pub struct Aligned<T> {
    memory: Storage,
    length: usize,
    items: PhantomData<T>,
}

#[derive(Debug, Clone)]
enum Storage {
    Lines(Vec<Line>),
    Pages(Vec<HugePage>),
}

impl<T: AnyBitPattern + NoUninit> Aligned<T> {
    /// A slice of `length` items with all bytes zero.
    pub fn zeroed(length: usize) -> Self {
        let bytes = Self::bytes(length) as usize;
        let memory = match bytes {
            PAGE.. => Storage::Pages(pages(bytes / PAGE)),
            _ => Storage::Lines(vec![Line([0; LINE]); bytes / LINE]),
        };
        Self {
            memory,
            length,
            items: PhantomData,
        }
    }

    /// Bytes of the slice's memory.
    pub fn allocated(&self) -> u64 {
        self.memory.bytes().len() as u64
    }

    /// Bytes that this many items take: whole cache lines, or whole huge pages.
    pub fn bytes(length: usize) -> u64 {
        let bytes = length * size_of::<T>();
        bytes.next_multiple_of(if bytes < HUGE_FROM { LINE } else { PAGE }) as u64
    }
}

impl Storage {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Lines(lines) => bytemuck::cast_slice(lines),
            Self::Pages(pages) => bytemuck::cast_slice(pages),
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Lines(lines) => bytemuck::cast_slice_mut(lines),
            Self::Pages(pages) => bytemuck::cast_slice_mut(pages),
        }
    }
}

/// Zeroed pages, huge if the system grants them: the request comes before the first access.
fn pages(count: usize) -> Vec<HugePage> {
    let mut pages = Vec::<HugePage>::with_capacity(count);
    // SAFETY: the range is the vector's own; where the advice is refused, pages stay small.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::madvise(pages.as_mut_ptr().cast(), count * PAGE, libc::MADV_HUGEPAGE);
    }
    // SAFETY: all bytes of the capacity are written, and zeros are a valid page. A page by value would not fit on a
    // stack.
    unsafe {
        pages.as_mut_ptr().write_bytes(0, count);
        pages.set_len(count);
    }
    pages
}

impl<T> Default for Aligned<T> {
    fn default() -> Self {
        Self {
            memory: Storage::Lines(Vec::new()),
            length: 0,
            items: PhantomData,
        }
    }
}

impl<T: AnyBitPattern + NoUninit> Deref for Aligned<T> {
    type Target = [T];

    #[inline(always)] // inner loops index aligned memory
    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.memory.bytes()[..self.length * size_of::<T>()])
    }
}

impl<T: AnyBitPattern + NoUninit> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.memory.bytes_mut()[..self.length * size_of::<T>()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three floats: neither lines nor pages hold a whole number of them.
    type Item = [f32; 3];

    #[test]
    fn slices_begin_on_lines_or_pages_and_hold_zeros() {
        let (small, huge) = (
            HUGE_FROM / size_of::<Item>(),
            HUGE_FROM.div_ceil(size_of::<Item>()),
        );
        let sizes = [
            (0, 0, 1),
            (1, LINE, LINE),
            (16, 3 * LINE, LINE),
            (17, 4 * LINE, LINE),
            (small, HUGE_FROM, LINE),
            (huge, PAGE, PAGE),
            (PAGE / size_of::<Item>() + 1, 2 * PAGE, PAGE),
        ];
        for (length, bytes, alignment) in sizes {
            let mut items = Aligned::<Item>::zeroed(length);
            assert_eq!((items.len(), items.memory.bytes().len()), (length, bytes));
            assert_eq!(
                (Aligned::<Item>::bytes(length), items.allocated()),
                (bytes as u64, bytes as u64)
            );
            assert_eq!(items.as_ptr() as usize % alignment, 0, "{length} items");
            assert!(items.iter().all(|item| *item == [0.0; 3]), "{length} items");
            items.fill([1.0, 2.0, 3.0]);
            assert!(
                items.clone().iter().all(|item| *item == [1.0, 2.0, 3.0]),
                "{length} items"
            );
        }
        assert!(Aligned::<Item>::default().is_empty());
    }
}
