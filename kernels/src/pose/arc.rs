//! Interpolation between two rotations along the arc: spherical, without trigonometry.

use crate::simd::Simd;

/// Spherical interpolation of unit quaternions `angle` radians apart (Shoemake 1985), written with sin(x)/x so that it
/// has no singularity at angle 0 and needs no trigonometry: the angle was computed when the clip was built.
pub(super) fn slerp(a: [f32; 4], b: [f32; 4], angle: f32, t: f32) -> [f32; 4] {
    let whole = sine_over_x(angle);
    let wa = (1.0 - t) * sine_over_x((1.0 - t) * angle) / whole;
    let wb = t * sine_over_x(t * angle) / whole;
    std::array::from_fn(|c| wa * a[c] + wb * b[c])
}

/// [`slerp`] of `W` pairs: `square` is the square of the angle, `scale` the angle over its sine.
#[inline(always)] // to take on the caller's instruction set
pub(super) fn arc<const W: usize, V: Simd<W>>(
    a: [V; 4],
    b: [V; 4],
    t: V,
    square: V,
    scale: V,
) -> [V; 4] {
    let wa = weight(V::splat(1.0) - t, square, scale);
    let wb = weight(t, square, scale);
    sum(wa, a, wb, b)
}

/// `wa * a + wb * b`.
#[inline(always)] // as above
fn sum<const W: usize, V: Simd<W>>(wa: V, a: [V; 4], wb: V, b: [V; 4]) -> [V; 4] {
    let mut q = [wa; 4];
    for (q, (a, b)) in q.iter_mut().zip(a.into_iter().zip(b)) {
        *q = wa.mul_add(a, wb * b);
    }
    q
}

#[inline(always)] // as above
fn weight<const W: usize, V: Simd<W>>(t: V, square: V, scale: V) -> V {
    t * scale * polynomial(&SINE_OVER_X, square * (t * t))
}

/// Slerp at one fraction along the shorter arc, for pairs of rotations whose angles are not stored.
///
/// `sin(tx)/sin(x)` is a series in `t` whose coefficients are even functions of the angle `x`, and so polynomials in `u
/// = 1 - cos(x)`. Sorted by powers of `u`, the factors that depend on `t` are computed once for all joints of a pose,
/// and a joint needs no angle: no root and no arc tangent.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ShortArc {
    /// Coefficients of the weights of the first rotation and of the second, lowest first.
    weights: [[f32; 16]; 2],
}

impl ShortArc {
    /// For the fraction `t` of the way from the first rotation to the second.
    #[inline(always)] // to take on the caller's instruction set
    pub fn new<const W: usize, V: Simd<W>>(t: f32) -> Self {
        let mut weights = [[0.0; 16]; 2];
        for (weights, t) in weights.iter_mut().zip([1.0 - t, t]) {
            let square = V::splat(t * t);
            let t = V::splat(t);
            for (chunk, weights) in weights
                .as_chunks_mut::<W>()
                .0
                .iter_mut()
                .enumerate()
                .take(TERMS.div_ceil(W))
            {
                let mut sum = V::splat(0.0);
                for row in SINE_RATIO.iter().rev() {
                    sum = sum.mul_add(square, V::load_chunk(row, chunk));
                }
                (t * sum).store(weights);
            }
        }
        Self { weights }
    }

    /// The interpolated rotations of `W` pairs of unit quaternions.
    #[inline(always)] // as above
    pub fn between<const W: usize, V: Simd<W>>(&self, a: [V; 4], b: [V; 4]) -> [V; 4] {
        let dot = a[0].mul_add(b[0], a[1].mul_add(b[1], a[2].mul_add(b[2], a[3] * b[3])));
        let u = V::splat(1.0) - dot.abs();
        let wa = polynomial(&self.weights[0][..TERMS], u);
        let wb = polynomial(&self.weights[1][..TERMS], u).copysign(dot);
        sum(wa, a, wb, b)
    }
}

/// Angle between two unit quaternions, 0 to pi, within 3e-7.
pub(super) fn angle_between(a: [f32; 4], b: [f32; 4]) -> f32 {
    let chord = length_of_sum(a, b, -1.0);
    let other = length_of_sum(a, b, 1.0);
    if chord <= other {
        2.0 * arc_tangent(chord / other)
    } else {
        std::f32::consts::PI - 2.0 * arc_tangent(other / chord)
    }
}

/// Length of `a + sign * b`.
fn length_of_sum(a: [f32; 4], b: [f32; 4], sign: f32) -> f32 {
    let mut square = 0.0;
    for (a, b) in a.into_iter().zip(b) {
        let sum = a + sign * b;
        square += sum * sum;
    }
    square.sqrt()
}

/// Arc tangent of 0 to 1 within 1e-7: formula 4.4.49 of Abramowitz and Stegun, "Handbook of Mathematical Functions".
fn arc_tangent(x: f32) -> f32 {
    const C: [f32; 8] = [
        -0.333_331_45,
        0.199_935_51,
        -0.142_089,
        0.106_562_64,
        -0.075_289_64,
        0.042_909_61,
        -0.016_165_737,
        0.002_866_225_7,
    ];
    let u = x * x;
    x * (1.0 + u * C.iter().rev().fold(0.0, |sum, c| sum * u + c))
}

/// Coefficients of sin(x)/x in x², for x in 0..2.9 radians: a minimax polynomial (Lawson iteration, error 2.4e-8).
const SINE_OVER_X: [f32; 6] = [
    1.0,
    -0.166_666_46,
    8.333_043e-3,
    -1.982_64e-4,
    2.721_140_8e-6,
    -2.129_686_3e-8,
];

/// sin(x)/x for x in 0..2.9 radians, within 2e-7.
pub fn sine_over_x(x: f32) -> f32 {
    polynomial(&SINE_OVER_X, x * x)
}

/// Powers of `u` in [`ShortArc`].
const TERMS: usize = 9;

/// `sin(tx) / (t sin(x))` for angles of 0 to pi/2: one row per power of `t²`, in powers of `u = 1 - cos(x)`. Chebyshev
/// polynomials with an error of 1.5e-7. Zeros fill a vector. It is written as a matrix.
#[rustfmt::skip]
const SINE_RATIO: [[f32; 16]; 6] = [
    [    1.000_000_1,  3.333_231_5e-1,    1.336_004e-1,  5.447_938_3e-2,    3.847_348e-2, -2.364_173_2e-2,  5.878_273_4e-2,   -4.140_665e-2,    1.718_537e-2, 0., 0., 0., 0., 0., 0., 0.],
    [  -9.856_217e-8,   -3.333_174e-1, -1.670_847_5e-1, -7.360_849_5e-2, -5.662_111_6e-2,    3.815_733e-2,   -9.154_913e-2,     6.484_26e-2, -2.678_282_4e-2, 0., 0., 0., 0., 0., 0., 0.],
    [ 4.310_012_6e-8, -6.961_174_7e-6,  3.351_612_8e-2,  2.039_990_2e-2,  2.097_819_7e-2, -1.790_613_5e-2,    3.950_518e-2, -2.836_806_5e-2,  1.157_425_5e-2, 0., 0., 0., 0., 0., 0., 0.],
    [    -8.294_7e-9,    1.339_622e-6, -3.516_780_3e-5, -1.236_881_1e-3, -3.040_691_4e-3,  3.792_278_5e-3, -7.440_799_4e-3,    5.460_528e-3,   -2.182_336e-3, 0., 0., 0., 0., 0., 0., 0.],
    [8.538_466_6e-10, -1.378_882_9e-7,    3.618_389e-6, -3.602_672_2e-5,  2.204_964_1e-4, -4.286_460_2e-4,    7.446_127e-4, -5.613_537_5e-4,  2.178_754_7e-4, 0., 0., 0., 0., 0., 0., 0.],
    [ -5.232_192e-11,    8.448_566e-9, -2.215_763_1e-7,    2.203_736e-6, -1.077_186_4e-5,  2.798_952_3e-5, -4.423_032_8e-5,  3.422_592_6e-5, -1.280_254_7e-5, 0., 0., 0., 0., 0., 0., 0.],
];

/// A polynomial, lowest coefficient first.
#[inline(always)] // as above
fn polynomial<const W: usize, V: Simd<W>>(coefficients: &[f32], x: V) -> V {
    let Some((highest, others)) = coefficients.split_last() else {
        return V::splat(0.0);
    };
    let mut sum = V::splat(*highest);
    for c in others.iter().rev() {
        sum = sum.mul_add(x, V::splat(*c));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_are_accurate() {
        for i in 0..=10_000 {
            let x = i as f32 * 1e-4;
            assert!(
                (f64::from(arc_tangent(x)) - f64::from(x).atan()).abs() < 2e-7,
                "x = {x}"
            );
            let angle = x * std::f32::consts::PI;
            let got = angle_between([1.0, 0.0, 0.0, 0.0], [angle.cos(), 0.0, angle.sin(), 0.0]);
            assert!((got - angle).abs() < 5e-7, "{got} instead of {angle}");
        }
    }

    #[test]
    fn sine_over_x_is_accurate() {
        for i in 1..=29_000 {
            let x = i as f32 * 1e-4;
            let exact = f64::from(x).sin() / f64::from(x);
            assert!((f64::from(sine_over_x(x)) - exact).abs() < 2e-7, "x = {x}");
        }
        assert!((sine_over_x(0.0) - 1.0).abs() < 1e-7);
    }

    #[test]
    fn short_arcs_are_those_of_known_angles() {
        let at = |angle: f64, sign: f64| {
            [sign * angle.sin(), 0.0, 0.0, sign * angle.cos()].map(|v| v as f32)
        };
        for i in 0..=100 {
            let angle = f64::from(i) * std::f64::consts::FRAC_PI_2 / 100.0;
            for t in [0.0, 0.25, 0.5, 0.9, 1.0] {
                for sign in [1.0, -1.0] {
                    let got =
                        ShortArc::new::<1, f32>(t as f32).between(at(0.0, 1.0), at(angle, sign));
                    // At a right angle both arcs are equally short.
                    if i < 100 || sign > 0.0 {
                        let off = got
                            .iter()
                            .zip(at(t * angle, 1.0))
                            .map(|(a, b)| (a - b).abs())
                            .fold(0.0, f32::max);
                        assert!(off < 5e-7, "{got:?} is off by {off} at {t} of {angle}");
                    }
                }
            }
        }
    }
}
