//! Poses of one joint in registers, `W` instances at a time.

use crate::simd::Simd;

/// One joint's pose in a vector of instances, in registers.
pub(super) type RegisterPose<V> = [V; 10];

/// The old pose minus the new one: the rotation from new to old with w >= 0, then differences.
#[inline(always)] // as all here: to take on the caller's instruction set
pub(super) fn difference<const W: usize, V: Simd<W>>(
    old: &RegisterPose<V>,
    new: &RegisterPose<V>,
) -> RegisterPose<V> {
    let zero = V::splat(0.0);
    let mut off = *old;
    for (off, new) in off.iter_mut().zip(new) {
        *off = *off - *new;
    }
    let back = [zero - new[0], zero - new[1], zero - new[2], new[3]];
    let rotation = product([old[0], old[1], old[2], old[3]], back);
    for (off, v) in off.iter_mut().zip(rotation) {
        *off = V::select_negative(rotation[3], zero - v, v);
    }
    off
}

/// Weights with the sign that flips each pose's rotation into the hemisphere of the other's.
#[inline(always)] // as above
pub(super) fn shorter<const W: usize, V: Simd<W>>(
    a: &RegisterPose<V>,
    b: &RegisterPose<V>,
    weights: V,
) -> V {
    let dot = a[0].mul_add(b[0], a[1].mul_add(b[1], a[2].mul_add(b[2], a[3] * b[3])));
    V::select_negative(dot, V::splat(0.0) - weights, weights)
}

/// Rotates a pose in its parent's axes: `by * rotation`, without normalisation.
#[inline(always)] // as above
pub(super) fn rotated<const W: usize, V: Simd<W>>(
    pose: &RegisterPose<V>,
    by: [V; 4],
) -> RegisterPose<V> {
    let mut rotated = *pose;
    rotated[..4].copy_from_slice(&product(by, [pose[0], pose[1], pose[2], pose[3]]));
    rotated
}

/// The product of two quaternions.
#[inline(always)] // as above
pub(super) fn product<const W: usize, V: Simd<W>>(a: [V; 4], b: [V; 4]) -> [V; 4] {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    let zero = V::splat(0.0);
    let nx = zero - ax;
    let ny = zero - ay;
    let nz = zero - az;
    [
        aw.mul_add(bx, ax.mul_add(bw, ay.mul_add(bz, nz * by))),
        aw.mul_add(by, ay.mul_add(bw, az.mul_add(bx, nx * bz))),
        aw.mul_add(bz, az.mul_add(bw, ax.mul_add(by, ny * bx))),
        aw.mul_add(bw, nx.mul_add(bx, ny.mul_add(by, nz * bz))),
    ]
}

/// The pose with its rotation normalised.
#[inline(always)] // as above
pub(super) fn normalised<const W: usize, V: Simd<W>>(mut pose: RegisterPose<V>) -> RegisterPose<V> {
    let [x, y, z, w, ..] = pose;
    let square = x.mul_add(x, y.mul_add(y, z.mul_add(z, w * w)));
    let near = square.inverse_sqrt();
    // One more Newton step: errors of length accumulate down a chain of joints.
    let half = V::splat(0.5) * (square * (near * near));
    let inverse = near * (V::splat(1.5) - half);
    for v in &mut pose[..4] {
        *v = *v * inverse;
    }
    pose
}
