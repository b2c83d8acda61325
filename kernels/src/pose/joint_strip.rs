//! Rows: one number of 16 neighbouring joints side by side.

use super::{Local, TRANSLATION};
use crate::simd::Simd;

/// Joints of a strip: 16 neighbouring joints of a skeleton, sampled in one pass.
pub(super) use crate::model::compact::STRIP;

/// One number of 16 joints.
pub(super) type Row = [f32; STRIP];

/// Translations and scales of 16 joints.
pub(super) type Vectors = [Row; 6];

/// One number of a strip's joints, one per lane; lanes beyond the last joint repeat it.
pub(super) fn row(base: &[Local<1>], strip: usize, number: impl Fn(&Local<1>) -> f32) -> Row {
    std::array::from_fn(|lane| number(&base[(strip * STRIP + lane).min(base.len() - 1)]))
}

/// Translations and scales of a strip.
pub(super) fn vectors(base: &[Local<1>], strip: usize) -> Vectors {
    std::array::from_fn(|c| row(base, strip, |pose| pose[TRANSLATION + c][0]))
}

/// Linear interpolation between two sets of translations and scales.
#[inline(always)] // as above
pub(super) fn line<const W: usize, V: Simd<W>>(a: [V; 6], b: [V; 6], fraction: f32) -> [V; 6] {
    let mut v = a;
    for (v, (a, b)) in v.iter_mut().zip(a.into_iter().zip(b)) {
        *v = V::splat(fraction).mul_add(b - a, a);
    }
    v
}
