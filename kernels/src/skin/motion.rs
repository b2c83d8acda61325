//! Dual quaternions of matrices, several side by side.

use crate::simd::Simd;

/// The unit dual quaternion (rotation x y z w, dual part x y z w) and the scale of matrices in rows of four. They must be
/// rotations, translations and uniform scales; others give wrong numbers. A matrix without any scale has the rotation 0 0
/// 0 1.
///
/// The rotation is the one of four formulas that divides by its largest component (Shepperd 1978). The dual part is half the
/// translation, as a quaternion without a real part, times the rotation (Kavan, Collins, Žára, O'Sullivan 2008).
#[inline(always)] // to take on the caller's instruction set
pub(crate) fn motion<const W: usize, V: Simd<W>>(matrix: &[[V; 4]; 3]) -> [V; 9] {
    let [x, y, z] = matrix;
    let square = z[0].mul_add(z[0], y[0].mul_add(y[0], x[0] * x[0]));
    let square = square.max(V::splat(f32::MIN_POSITIVE));
    let inverse = square.inverse_sqrt();
    let one = V::splat(1.0);
    let xx = x[0] * inverse;
    let yy = y[1] * inverse;
    let zz = z[2] * inverse;
    let wx = (z[1] - y[2]) * inverse;
    let wy = (x[2] - z[0]) * inverse;
    let wz = (y[0] - x[1]) * inverse;
    let xy = (x[1] + y[0]) * inverse;
    let xz = (x[2] + z[0]) * inverse;
    let yz = (y[2] + z[1]) * inverse;
    // Four times the square of each component.
    let w4 = one + xx + (yy + zz);
    let x4 = one + xx - (yy + zz);
    let y4 = one + yy - (xx + zz);
    let z4 = one + zz - (xx + yy);
    let by_w = [wx, wy, wz, w4];
    let by_x = [x4, xy, xz, wx];
    let by_y = [xy, y4, yz, wy];
    let by_z = [xz, yz, z4, wz];
    let w_or_x = larger(w4 - x4, by_w, by_x);
    let y_or_z = larger(y4 - z4, by_y, by_z);
    let first = w4.max(x4) - y4.max(z4);
    let mut q = larger(first, w_or_x, y_or_z);
    let mut length = q[0] * q[0];
    for component in &q[1..] {
        length = component.mul_add(*component, length);
    }
    let unit = length.inverse_sqrt();
    for component in &mut q {
        *component = *component * unit;
    }
    let [qx, qy, qz, qw] = q;
    let half = V::splat(0.5);
    let tx = half * x[3];
    let ty = half * y[3];
    let tz = half * z[3];
    let dual_x = ty * qz - tz * qy;
    let dual_y = tz * qx - tx * qz;
    let dual_z = tx * qy - ty * qx;
    let dual_w = tx.mul_add(qx, ty.mul_add(qy, tz * qz));
    [
        qx,
        qy,
        qz,
        qw,
        tx.mul_add(qw, dual_x),
        ty.mul_add(qw, dual_y),
        tz.mul_add(qw, dual_z),
        V::splat(0.0) - dual_w,
        square * inverse,
    ]
}

/// `a` in lanes where `difference` is not negative, otherwise `b`.
#[inline(always)] // as above
fn larger<const W: usize, V: Simd<W>>(difference: V, a: [V; 4], b: [V; 4]) -> [V; 4] {
    let mut chosen = a;
    for (chosen, b) in chosen.iter_mut().zip(b) {
        *chosen = V::select_negative(difference, b, *chosen);
    }
    chosen
}
