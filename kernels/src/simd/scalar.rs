//! One float at a time: the weakest instruction set.

use super::vector::Simd;
use glam::Vec4;
use half::f16;

impl Simd<1> for f32 {
    #[inline(always)] // as all below: these are single instructions
    fn splat(value: f32) -> f32 {
        value
    }
    #[inline(always)]
    fn load(from: &[f32; 1]) -> f32 {
        from[0]
    }
    #[inline(always)]
    fn pick(windows: [&[u8; 16]; 4], picks: f32, masks: f32) -> f32 {
        let first = (picks.to_bits() & 7) as usize;
        let bytes = [
            windows[0][first],
            windows[0][first + 1],
            windows[0][first + 2],
            0,
        ];
        (u32::from_le_bytes(bytes) & masks.to_bits()) as f32
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 1]) {
        to[0] = self;
    }
    #[inline(always)]
    fn mul_add(self, b: f32, c: f32) -> f32 {
        self * b + c
    }
    #[inline(always)]
    fn max(self, other: f32) -> f32 {
        if self > other { self } else { other }
    }
    #[inline(always)]
    fn min(self, other: f32) -> f32 {
        if self < other { self } else { other }
    }
    #[inline(always)]
    fn inverse_sqrt(self) -> f32 {
        1.0 / self.sqrt()
    }
    #[inline(always)]
    fn copysign(self, sign: f32) -> f32 {
        Self::copysign(self, sign)
    }
    #[inline(always)]
    fn select_negative(by: f32, a: f32, b: f32) -> f32 {
        if by.is_sign_negative() { a } else { b }
    }
    #[inline(always)]
    fn pack_16(low: f32, high: f32) -> f32 {
        let low = low.round_ties_even() as i32 as u32 & 0xffff;
        let high = high.round_ties_even() as i32 as u32 & 0xffff;
        f32::from_bits(low | high << 16)
    }
    #[inline(always)]
    fn to_half(self) -> f32 {
        f16::from_f32(self).to_f32()
    }
    #[inline(always)]
    fn pack_half(low: f32, high: f32) -> f32 {
        let [low, high] = [low, high].map(|v| u32::from(f16::from_f32(v).to_bits()));
        f32::from_bits(low | high << 16)
    }
    #[inline(always)]
    fn transpose(_: &mut [f32; 1]) {}
    #[inline(always)]
    fn columns([a, b, c, d]: [f32; 4]) -> [Vec4; 1] {
        [Vec4::new(a, b, c, d)]
    }
    #[inline(always)]
    fn rows([column]: &[Vec4; 1]) -> [f32; 4] {
        column.to_array()
    }
}
