//! Stage `palette`: model poses times inverse binds, in the layout that the skinning kernel reads.

use super::local_to_model::product;
use super::side_by_side::{Affine, run_lanes};
use crate::crowd::BLOCK;
use crate::model::Rows;
use crate::simd::{Isa, Kernel, Simd, dot3, dot3_add};
use std::num::NonZero;

/// Palettes of a block. `joints` and `inverse_binds` hold one item per palette entry (a model's skins concatenated),
/// `model` one per joint.
///
/// The type of `palette` chooses its layout: `Affine<N>` is `[entry]` in lanes, for CPU crowd kernels; [`Rows`] is
/// `[instance][entry]`, for GPU kernels and for kernels that read one instance at a time, with `joints.len()` entries for
/// each instance that the block has, at most `N`.
pub(super) struct ModelToPalette<'a, const N: usize, T> {
    pub joints: &'a [u16],
    pub inverse_binds: &'a [Rows],
    pub model: &'a [Affine<N>],
    pub palette: &'a mut [T],
}

/// Writes palettes in rows. A function with slices as arguments, which the compiler takes to overlap nowhere: for single
/// instances, a struct of the same slices takes a tenth longer.
#[inline(never)]
pub(super) fn to_rows<const N: usize>(
    isa: Isa,
    joints: &[u16],
    inverse_binds: &[Rows],
    model: &[Affine<N>],
    palette: &mut [Rows],
) {
    run_lanes::<N, _>(
        isa,
        ModelToPalette {
            joints,
            inverse_binds,
            model,
            palette,
        },
    );
}

impl<const N: usize> Kernel for ModelToPalette<'_, N, Affine<N>> {
    #[inline(always)] // as all here: to take on the caller's instruction set
    fn run<const W: usize, V: Simd<W>>(self) {
        for ((out, &joint), inverse_bind) in self
            .palette
            .iter_mut()
            .zip(self.joints)
            .zip(self.inverse_binds)
        {
            for chunk in 0..N / W {
                entry::<N, W, V>(&self.model[usize::from(joint)], inverse_bind, chunk, out);
            }
        }
    }
}

impl<const N: usize> Kernel for ModelToPalette<'_, N, Rows> {
    #[inline(always)]
    fn run<const W: usize, V: Simd<W>>(self) {
        let Some(entries) = NonZero::new(self.joints.len()) else {
            return;
        };
        let mut lanes = [[0.0; N]; 12];
        for (index, (&joint, inverse_bind)) in
            self.joints.iter().zip(self.inverse_binds).enumerate()
        {
            for (chunk, instances) in self.palette.chunks_mut(W * entries.get()).enumerate() {
                entry::<N, W, V>(
                    &self.model[usize::from(joint)],
                    inverse_bind,
                    chunk,
                    &mut lanes,
                );
                let mut rows = [[0.0; 12]; W];
                for (quarter, four) in lanes.as_chunks::<4>().0.iter().enumerate() {
                    let columns = V::columns(V::load_rows(four, chunk));
                    for (rows, numbers) in rows.iter_mut().zip(columns) {
                        rows.as_chunks_mut().0[quarter] = numbers.to_array();
                    }
                }
                for (instance, rows) in instances.chunks_exact_mut(entries.get()).zip(rows) {
                    instance[index] = rows;
                }
            }
        }
    }
}

/// One entry of a palette for a chunk of lanes: `model * inverse_bind`; all lanes share the inverse bind.
#[inline(always)]
fn entry<const N: usize, const W: usize, V: Simd<W>>(
    model: &Affine<N>,
    inverse_bind: &Rows,
    chunk: usize,
    out: &mut Affine<N>,
) {
    if const { W == BLOCK } {
        return V::store_rows(
            &product(model, &inverse_bind.map(V::splat), chunk),
            out,
            chunk,
        );
    }
    for row in 0..3 {
        for column in 0..4 {
            let row = 4 * row;
            let [x, y, z] = [
                V::load_chunk(&model[row], chunk),
                V::load_chunk(&model[row + 1], chunk),
                V::load_chunk(&model[row + 2], chunk),
            ];
            let b = [
                V::splat(inverse_bind[column]),
                V::splat(inverse_bind[4 + column]),
                V::splat(inverse_bind[8 + column]),
            ];
            let sum = match column {
                3 => dot3_add([x, y, z], b, V::load_chunk(&model[row + 3], chunk)),
                _ => dot3([x, y, z], b),
            };
            sum.store(&mut out[row + column].as_chunks_mut().0[chunk]);
        }
    }
}
