//! Between two rotations along the arc: spherical interpolation without trigonometry.

use crate::simd::{Scalar, Simd, abs};

/// Spherical interpolation of unit quaternions `angle` radians apart (Shoemake 1985), written with sin(x)/x so that it
/// has no singularity at angle 0 and needs no trigonometry: the angle was computed when the clip was built.
pub(super) fn slerp(a: [f32; 4], b: [f32; 4], angle: f32, t: f32) -> [f32; 4] {
    let whole = sine_over_x(angle);
    let wa = (1.0 - t) * sine_over_x((1.0 - t) * angle) / whole;
    let wb = t * sine_over_x(t * angle) / whole;
    std::array::from_fn(|c| wa * a[c] + wb * b[c])
}

/// [`slerp`] of `W` pairs: `square` is the angle's, `scale` the angle over its sine.
#[inline(always)] // to take on the caller's instruction set
pub(super) fn arc<const W: usize, S: Simd<W>>(
    a: [S::V; 4],
    b: [S::V; 4],
    t: S::V,
    square: S::V,
    scale: S::V,
) -> [S::V; 4] {
    let wa = weight::<W, S>(S::sub(S::splat(1.0), t), square, scale);
    let wb = weight::<W, S>(t, square, scale);
    let mut q = [wa; 4];
    for (q, (a, b)) in q.iter_mut().zip(a.into_iter().zip(b)) {
        *q = S::mul_add(wa, a, S::mul(wb, b));
    }
    q
}

#[inline(always)] // as above
fn weight<const W: usize, S: Simd<W>>(t: S::V, square: S::V, scale: S::V) -> S::V {
    S::mul(S::mul(t, scale), polynomial::<W, S>(&SINE_OVER_X, S::mul(square, S::mul(t, t))))
}

/// [`arc`] along the shorter way between pairs whose angles nobody knows.
///
/// Both weights are even functions of the angle, so its square is enough, a polynomial of the cosine: no root and no
/// arc tangent. The cosine's rounding reaches the weights divided by six.
#[inline(always)] // as above
pub(super) fn short_arc<const W: usize, S: Simd<W>>(a: [S::V; 4], mut b: [S::V; 4], t: S::V) -> [S::V; 4] {
    let dot = S::mul_add(a[0], b[0], S::mul_add(a[1], b[1], S::mul_add(a[2], b[2], S::mul(a[3], b[3]))));
    for v in &mut b {
        *v = S::select_negative(dot, S::sub(S::splat(0.0), *v), *v);
    }
    let u = S::sub(S::splat(1.0), abs::<W, S>(dot));
    let square = S::mul(u, polynomial::<W, S>(&SQUARE_OF_ANGLE, u));
    arc::<W, S>(a, b, t, square, polynomial::<W, S>(&ANGLE_OVER_SINE, u))
}

/// Angle between two unit quaternions, 0 to pi, within 3e-7.
pub(super) fn angle_between(a: [f32; 4], b: [f32; 4]) -> f32 {
    let length = |sign: f32| a.iter().zip(b).map(|(a, b)| (a + sign * b) * (a + sign * b)).sum::<f32>().sqrt();
    let (chord, other) = (length(-1.0), length(1.0));
    if chord <= other {
        2.0 * arc_tangent(chord / other)
    } else {
        std::f32::consts::PI - 2.0 * arc_tangent(other / chord)
    }
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
const SINE_OVER_X: [f32; 6] = [1.0, -0.166_666_46, 8.333_043e-3, -1.982_64e-4, 2.721_140_8e-6, -2.129_686_3e-8];

/// sin(x)/x for x in 0..2.9 radians, within 2e-7.
pub fn sine_over_x(x: f32) -> f32 {
    polynomial::<1, Scalar>(&SINE_OVER_X, x * x)
}

/// The angle's square over `u = 1 - cos`, and the angle over its sine, for angles of 0 to pi/2: Chebyshev polynomials in
/// `u` with errors of 8.3e-7 and 1.2e-7.
const SQUARE_OF_ANGLE: [f32; 7] =
    [2.000_000_5, 0.333_287_75, 0.089_601_94, 0.024_483_332, 0.020_952_202, -0.009_911_566, 0.008_986_155];
const ANGLE_OVER_SINE: [f32; 9] = [
    1.000_000_1,
    0.333_323_15,
    0.133_600_4,
    0.054_479_383,
    0.038_473_48,
    -0.023_641_732,
    0.058_782_734,
    -0.041_406_65,
    0.017_185_37,
];

/// A polynomial, lowest coefficient first.
#[inline(always)] // as above
fn polynomial<const W: usize, S: Simd<W>>(coefficients: &[f32], x: S::V) -> S::V {
    let Some((highest, others)) = coefficients.split_last() else { return S::splat(0.0) };
    let mut sum = S::splat(*highest);
    for c in others.iter().rev() {
        sum = S::mul_add(sum, x, S::splat(*c));
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
            assert!((f64::from(arc_tangent(x)) - f64::from(x).atan()).abs() < 2e-7, "x = {x}");
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
        let at = |angle: f64, sign: f64| [sign * angle.sin(), 0.0, 0.0, sign * angle.cos()].map(|v| v as f32);
        for i in 0..=100 {
            let angle = f64::from(i) * std::f64::consts::FRAC_PI_2 / 100.0;
            for t in [0.0, 0.25, 0.5, 0.9, 1.0] {
                for sign in [1.0, -1.0] {
                    let got = short_arc::<1, Scalar>(at(0.0, 1.0), at(angle, sign), t as f32);
                    // At a right angle either way is the shorter one.
                    if i < 100 || sign > 0.0 {
                        let off = got.iter().zip(at(t * angle, 1.0)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                        assert!(off < 5e-7, "{got:?} is off by {off} at {t} of {angle}");
                    }
                }
            }
        }
    }
}
