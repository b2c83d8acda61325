//! Poses of one joint in registers, `W` instances at a time.

use crate::simd::Simd;

/// One joint's pose in a vector of instances, in registers.
pub(super) type RegisterPose<S, const W: usize> = [<S as Simd<W>>::V; 10];

/// The old pose minus the new one: the rotation from new to old with w >= 0, then differences.
#[inline(always)] // as all here: to take on the caller's instruction set
pub(super) fn difference<const W: usize, S: Simd<W>>(
    old: &RegisterPose<S, W>,
    new: &RegisterPose<S, W>,
) -> RegisterPose<S, W> {
    let zero = S::splat(0.0);
    let mut off = *old;
    for (off, new) in off.iter_mut().zip(new) {
        *off = S::sub(*off, *new);
    }
    let back = [
        S::sub(zero, new[0]),
        S::sub(zero, new[1]),
        S::sub(zero, new[2]),
        new[3],
    ];
    let rotation = product::<W, S>([old[0], old[1], old[2], old[3]], back);
    for (off, v) in off.iter_mut().zip(rotation) {
        *off = S::select_negative(rotation[3], S::sub(zero, v), v);
    }
    off
}

/// Weights with the sign that flips each pose's rotation into the hemisphere of the other's.
#[inline(always)] // as above
pub(super) fn shorter<const W: usize, S: Simd<W>>(
    a: &RegisterPose<S, W>,
    b: &RegisterPose<S, W>,
    weights: S::V,
) -> S::V {
    let dot = S::mul_add(
        a[0],
        b[0],
        S::mul_add(a[1], b[1], S::mul_add(a[2], b[2], S::mul(a[3], b[3]))),
    );
    S::select_negative(dot, S::sub(S::splat(0.0), weights), weights)
}

/// Rotates a pose in its parent's axes: `by * rotation`, without normalisation.
#[inline(always)] // as above
pub(super) fn rotated<const W: usize, S: Simd<W>>(
    pose: &RegisterPose<S, W>,
    by: [S::V; 4],
) -> RegisterPose<S, W> {
    let mut rotated = *pose;
    rotated[..4].copy_from_slice(&product::<W, S>(by, [pose[0], pose[1], pose[2], pose[3]]));
    rotated
}

/// The product of two quaternions.
#[inline(always)] // as above
pub(super) fn product<const W: usize, S: Simd<W>>(a: [S::V; 4], b: [S::V; 4]) -> [S::V; 4] {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    let zero = S::splat(0.0);
    let nx = S::sub(zero, ax);
    let ny = S::sub(zero, ay);
    let nz = S::sub(zero, az);
    [
        S::mul_add(
            aw,
            bx,
            S::mul_add(ax, bw, S::mul_add(ay, bz, S::mul(nz, by))),
        ),
        S::mul_add(
            aw,
            by,
            S::mul_add(ay, bw, S::mul_add(az, bx, S::mul(nx, bz))),
        ),
        S::mul_add(
            aw,
            bz,
            S::mul_add(az, bw, S::mul_add(ax, by, S::mul(ny, bx))),
        ),
        S::mul_add(
            aw,
            bw,
            S::mul_add(nx, bx, S::mul_add(ny, by, S::mul(nz, bz))),
        ),
    ]
}

/// The pose with its rotation normalised.
#[inline(always)] // as above
pub(super) fn normalised<const W: usize, S: Simd<W>>(
    mut pose: RegisterPose<S, W>,
) -> RegisterPose<S, W> {
    let [x, y, z, w, ..] = pose;
    let square = S::mul_add(x, x, S::mul_add(y, y, S::mul_add(z, z, S::mul(w, w))));
    let near = S::inverse_sqrt(square);
    // One more Newton step: errors of length accumulate down a chain of joints.
    let half = S::mul(S::splat(0.5), S::mul(square, S::mul(near, near)));
    let inverse = S::mul(near, S::sub(S::splat(1.5), half));
    for v in &mut pose[..4] {
        *v = S::mul(*v, inverse);
    }
    pose
}
