//! Stage `sample` for one instance: joints are side by side where a clip is read and where the pose is written.

use super::joint_strip::STRIP;
use super::sample_lanes::{AnyPair, ClipRows, KeyPair, Stills};
use super::{Local, ROTATION, TRANSLATION};
use crate::simd::{self, Isa, Kernel, Simd};

/// Writes the local pose of one instance, 16 neighbouring joints in the lanes of each item.
pub(super) fn sample_strips(
    isa: Isa,
    stills: &Stills,
    clip: &ClipRows,
    time: f32,
    local: &mut [Local<STRIP>],
) {
    simd::run(
        isa,
        SampleStrips {
            stills,
            clip,
            time,
            local,
        },
    );
}

struct SampleStrips<'a> {
    stills: &'a Stills,
    clip: &'a ClipRows,
    time: f32,
    local: &'a mut [Local<STRIP>],
}

impl Kernel for SampleStrips<'_> {
    #[inline(always)] // to take on the caller's instruction set
    fn run<const W: usize, V: Simd<W>>(self) {
        let pair = AnyPair::new::<W, V>(self.clip, self.time);
        for (strip, local) in self.local.iter_mut().enumerate() {
            let still = self.clip.still(self.stills, strip);
            for chunk in 0..STRIP / W {
                let rotations = pair.rotations::<W, V>(strip, chunk);
                V::store_rows(&rotations, &mut local[ROTATION..], chunk);
                let vectors = pair.vectors::<W, V>(strip, chunk, still);
                V::store_rows(&vectors, &mut local[TRANSLATION..], chunk);
            }
        }
    }
}
