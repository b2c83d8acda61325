//! Stage `palette`: model poses times inverse binds, in the layout that the skinning kernel reads.

use super::Affine;
use crate::model::Rows;

/// One entry of a palette: `model * inverse_bind` with the inverse bind shared by all lanes.
#[inline]
fn entry<const N: usize>(model: &Affine<N>, inverse_bind: &Rows) -> Affine<N> {
    let b = inverse_bind;
    let mut m = [[0.0; N]; 12];
    for row in [0, 4, 8] {
        for column in 0..4 {
            for i in 0..N {
                let moved = if column == 3 { model[row + 3][i] } else { 0.0 };
                m[row + column][i] = model[row][i] * b[column]
                    + model[row + 1][i] * b[4 + column]
                    + model[row + 2][i] * b[8 + column]
                    + moved;
            }
        }
    }
    m
}

/// Palette of a block, `[entry][12][N]`: what CPU crowd kernels read.
///
/// `joints` and `inverse_binds` hold one item an entry (a model's skins concatenated), `model` one a joint.
pub fn palette_lanes<const N: usize>(
    joints: &[u16],
    inverse_binds: &[Rows],
    model: &[Affine<N>],
    palette: &mut [Affine<N>],
) {
    for ((out, &joint), inverse_bind) in palette.iter_mut().zip(joints).zip(inverse_binds) {
        *out = entry(&model[usize::from(joint)], inverse_bind);
    }
}

/// Palettes of a block's instances, `[instance][entry][12]`: what GPU kernels read.
///
/// `palette` holds `joints.len()` entries for each instance that the block really has, at most `N`.
pub fn palette_rows<const N: usize>(joints: &[u16], inverse_binds: &[Rows], model: &[Affine<N>], palette: &mut [Rows]) {
    for (index, (&joint, inverse_bind)) in joints.iter().zip(inverse_binds).enumerate() {
        let lanes = entry(&model[usize::from(joint)], inverse_bind);
        for (lane, instance) in palette.chunks_exact_mut(joints.len()).enumerate() {
            instance[index] = std::array::from_fn(|c| lanes[c][lane]);
        }
    }
}
