//! Memory that begins on a cache line, so that vectors neither straddle lines nor miss streaming stores.

use super::LINE;
use bytemuck::{AnyBitPattern, NoUninit};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// A cache line.
#[derive(Debug, Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

/// A slice of `T` that begins on a cache line.
#[derive(Debug, Clone)]
pub struct Aligned<T> {
    lines: Vec<Line>,
    length: usize,
    items: PhantomData<T>,
}

impl<T: AnyBitPattern + NoUninit> Aligned<T> {
    /// `length` items, all bytes zero.
    pub fn zeroed(length: usize) -> Self {
        let lines = (length * size_of::<T>()).div_ceil(LINE);
        Self { lines: vec![Line([0; LINE]); lines], length, items: PhantomData }
    }
}

impl<T> Default for Aligned<T> {
    fn default() -> Self {
        Self { lines: Vec::new(), length: 0, items: PhantomData }
    }
}

impl<T: AnyBitPattern + NoUninit> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        let bytes: &[u8] = bytemuck::cast_slice(&self.lines);
        bytemuck::cast_slice(&bytes[..self.length * size_of::<T>()])
    }
}

impl<T: AnyBitPattern + NoUninit> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.lines);
        bytemuck::cast_slice_mut(&mut bytes[..self.length * size_of::<T>()])
    }
}
