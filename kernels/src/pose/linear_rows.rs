//! A clip of linear keys as `[key][16 joints]`.

use super::arc::sine_over_x;
use super::joint_strip::{Row, STRIP, Vectors, row, vectors};
use super::{Local, ROTATION};
use crate::model::{Channel, Interpolation, RawKeys, RotationBlend};
use crate::simd::Aligned;

/// A rotation key: x y z w, then the square of the angle to the next key, and that angle over its sine.
pub(super) type RotationKey = [Row; 6];

/// Keys of linear tracks that share their times.
pub(super) struct LinearRows {
    times: Vec<f32>,
    strips: usize,
    /// `[key][strip]`.
    rotations: Aligned<RotationKey>,
    /// `[key]` of each strip with a joint that moves or scales.
    vectors: Vec<Option<Aligned<Vectors>>>,
}

impl LinearRows {
    /// The rows of keys; joints without a track take their values from `base`. `None` if tracks differ in their key
    /// times, or are not all linear and spherical.
    pub fn new(raw: &RawKeys, blend: RotationBlend, base: &[Local<1>]) -> Option<Self> {
        let mut tracks = raw.tracks().iter();
        if blend != RotationBlend::Slerp
            || raw.timelines().len() > 1
            || tracks.any(|t| t.interpolation != Interpolation::Linear)
        {
            return None;
        }
        let mut times = raw.timelines().all().to_vec();
        let keys = times.len();
        // Every time falls between two keys. A single key is stored twice.
        while times.len() < 2 {
            times.push(times.last().map_or(0.0, |t| t + 1.0));
        }
        let strips = base.len().div_ceil(STRIP);
        let mut rotations: Aligned<RotationKey> = Aligned::zeroed(times.len() * strips);
        for (index, rows) in rotations.iter_mut().enumerate() {
            for (c, rows) in rows.iter_mut().enumerate() {
                *rows = row(base, index % strips, |pose| match c {
                    0..4 => pose[ROTATION + c][0],
                    4 => 0.0,
                    _ => 1.0,
                });
            }
        }
        let mut moved: Vec<Option<Aligned<Vectors>>> = (0..strips).map(|_| None).collect();
        for track in raw.tracks() {
            let strip = usize::from(track.joint) / STRIP;
            let lane = usize::from(track.joint) % STRIP;
            let values = raw.values_of(track);
            if track.channel == Channel::Rotation {
                for time in 0..times.len() {
                    let key = time.min(keys - 1);
                    let angle = if key + 1 < keys {
                        raw.angles()[track.first_angle as usize + key]
                    } else {
                        0.0
                    };
                    let [x, y, z, w] = values.as_chunks::<4>().0[key];
                    let numbers = [x, y, z, w, angle * angle, 1.0 / sine_over_x(angle)];
                    let rows = &mut rotations[time * strips + strip];
                    for (row, number) in rows.iter_mut().zip(numbers) {
                        row[lane] = number;
                    }
                }
            } else {
                let first = if track.channel == Channel::Translation {
                    0
                } else {
                    3
                };
                let rows = moved[strip].get_or_insert_with(|| {
                    let mut rows = Aligned::zeroed(times.len());
                    rows.fill(vectors(base, strip));
                    rows
                });
                for (time, rows) in rows.iter_mut().enumerate() {
                    let value = values.as_chunks::<3>().0[time.min(keys - 1)];
                    (0..3).for_each(|c| rows[first + c][lane] = value[c]);
                }
            }
        }
        Some(Self {
            times,
            strips,
            rotations,
            vectors: moved,
        })
    }

    /// Bytes of the rows.
    pub fn bytes(&self) -> u64 {
        let lists = size_of_val(&self.times[..]) + size_of_val(&self.vectors[..]);
        let vectors = self.vectors.iter().flatten().map(Aligned::allocated);
        lists as u64 + self.rotations.allocated() + vectors.sum::<u64>()
    }

    /// The interval that contains a time and the position in it, 0 to 1; as in [`super::sample`].
    fn seek(&self, time: f32) -> (usize, f32) {
        let after = self.times.partition_point(|&t| t <= time);
        let key = after.saturating_sub(1).min(self.times.len() - 2);
        let fraction = (time - self.times[key]) / (self.times[key + 1] - self.times[key]);
        (key, fraction.clamp(0.0, 1.0))
    }

    /// Returns whether any joint of a strip moves or scales.
    pub fn moves(&self, strip: usize) -> bool {
        self.vectors[strip].is_some()
    }

    /// The keys around a time.
    #[inline(always)] // a call returns them in memory, and reading them back stalls
    pub fn at(&self, time: f32) -> LinearPair<'_> {
        let (key, fraction) = self.seek(time);
        let (before, after) =
            self.rotations[key * self.strips..][..2 * self.strips].split_at(self.strips);
        LinearPair {
            before,
            after,
            vectors: &self.vectors,
            key,
            fraction,
        }
    }
}

/// Two neighbouring keys, and a time between them.
#[derive(Clone)]
pub(super) struct LinearPair<'a> {
    /// By strips.
    pub before: &'a [RotationKey],
    /// By strips.
    pub after: &'a [RotationKey],
    /// `[key]` of each strip with a joint that moves or scales.
    pub vectors: &'a [Option<Aligned<Vectors>>],
    /// Index of the earlier key.
    pub key: usize,
    /// Part of the way to the later key, 0 to 1.
    pub fraction: f32,
}
