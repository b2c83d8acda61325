//! Dual quaternions of matrices, several side by side.

use crate::simd::Simd;

/// The unit dual quaternion (rotation x y z w, dual part x y z w) and the scale of matrices in rows of four. They must be
/// rotations, translations and uniform scales; others give wrong numbers. A matrix without any scale has the rotation 0 0
/// 0 1.
///
/// The rotation is the one of four formulas that divides by its largest component (Shepperd 1978). The dual part is half the
/// translation, as a quaternion without a real part, times the rotation (Kavan, Collins, Žára, O'Sullivan 2008).
#[inline(always)] // to take on the caller's instruction set
pub(crate) fn motion<const W: usize, S: Simd<W>>(matrix: &[[S::V; 4]; 3]) -> [S::V; 9] {
    let [x, y, z] = matrix;
    let square = S::mul_add(z[0], z[0], S::mul_add(y[0], y[0], S::mul(x[0], x[0])));
    let square = S::max(square, S::splat(f32::MIN_POSITIVE));
    let inverse = S::inverse_sqrt(square);
    let one = S::splat(1.0);
    let xx = S::mul(x[0], inverse);
    let yy = S::mul(y[1], inverse);
    let zz = S::mul(z[2], inverse);
    let wx = S::mul(S::sub(z[1], y[2]), inverse);
    let wy = S::mul(S::sub(x[2], z[0]), inverse);
    let wz = S::mul(S::sub(y[0], x[1]), inverse);
    let xy = S::mul(S::add(x[1], y[0]), inverse);
    let xz = S::mul(S::add(x[2], z[0]), inverse);
    let yz = S::mul(S::add(y[2], z[1]), inverse);
    // Four times the square of each component.
    let w4 = S::add(S::add(one, xx), S::add(yy, zz));
    let x4 = S::sub(S::add(one, xx), S::add(yy, zz));
    let y4 = S::sub(S::add(one, yy), S::add(xx, zz));
    let z4 = S::sub(S::add(one, zz), S::add(xx, yy));
    let by_w = [wx, wy, wz, w4];
    let by_x = [x4, xy, xz, wx];
    let by_y = [xy, y4, yz, wy];
    let by_z = [xz, yz, z4, wz];
    let w_or_x = larger::<W, S>(S::sub(w4, x4), by_w, by_x);
    let y_or_z = larger::<W, S>(S::sub(y4, z4), by_y, by_z);
    let first = S::sub(S::max(w4, x4), S::max(y4, z4));
    let mut q = larger::<W, S>(first, w_or_x, y_or_z);
    let mut length = S::mul(q[0], q[0]);
    for component in &q[1..] {
        length = S::mul_add(*component, *component, length);
    }
    let unit = S::inverse_sqrt(length);
    for component in &mut q {
        *component = S::mul(*component, unit);
    }
    let [qx, qy, qz, qw] = q;
    let half = S::splat(0.5);
    let tx = S::mul(half, x[3]);
    let ty = S::mul(half, y[3]);
    let tz = S::mul(half, z[3]);
    let dual_x = S::sub(S::mul(ty, qz), S::mul(tz, qy));
    let dual_y = S::sub(S::mul(tz, qx), S::mul(tx, qz));
    let dual_z = S::sub(S::mul(tx, qy), S::mul(ty, qx));
    let dual_w = S::mul_add(tx, qx, S::mul_add(ty, qy, S::mul(tz, qz)));
    [
        qx,
        qy,
        qz,
        qw,
        S::mul_add(tx, qw, dual_x),
        S::mul_add(ty, qw, dual_y),
        S::mul_add(tz, qw, dual_z),
        S::sub(S::splat(0.0), dual_w),
        S::mul(square, inverse),
    ]
}

/// `a` in lanes where `difference` is not negative, otherwise `b`.
#[inline(always)] // as above
fn larger<const W: usize, S: Simd<W>>(difference: S::V, a: [S::V; 4], b: [S::V; 4]) -> [S::V; 4] {
    let mut chosen = a;
    for (chosen, b) in chosen.iter_mut().zip(b) {
        *chosen = S::select_negative(difference, b, *chosen);
    }
    chosen
}
