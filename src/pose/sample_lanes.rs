//! Stage `sample` for whole blocks: joints side by side while a clip is read, instances side by side when poses are
//! written.
//!
//! A clip whose tracks share one timeline is laid out once as `[key][16 joints]`, so that an instance's time is found
//! once and 16 joints are interpolated at once, whichever clip the instance plays and wherever it is in it. Sixteen
//! instances' joints then turn by a transpose into 16 joints' instances, which is how a [`Local`] lies in memory.

use super::sample::sine_over_x_of;
use super::{Local, ROTATION, SCALE, TRANSLATION};
use crate::crowd::BLOCK;
use crate::model::{Channel, Clip, Interpolation, RotationBlend, Skeleton};
use crate::simd::{self, Aligned, Isa, Kernel, Simd, load_group};

/// Joints of a chunk.
const CHUNK: usize = 16;
/// Numbers of a rotation key: x y z w, the angle to the next key, and the inverse of sin(angle)/angle.
const TURN: usize = 6;

pub(super) type Row = [f32; CHUNK];

/// Rest poses of 16 joints: translation and scale.
pub(super) type RestRows = [Row; 6];

/// A clip with 16 joints side by side.
pub(super) struct JointRows {
    times: Vec<f32>,
    chunks: usize,
    /// `[key][chunk]`.
    rotations: Aligned<[Row; TURN]>,
    /// `[key]` of the chunks that move or scale at all.
    vectors: Vec<Option<Aligned<RestRows>>>,
}

/// A clip and a time in it for each lane.
pub(super) type Plays<'a> = [(&'a JointRows, f32); BLOCK];

/// Translations and scales of a skeleton at rest, in chunks.
pub(super) fn rest_rows(skeleton: &Skeleton) -> Vec<RestRows> {
    let number = |joint: usize, c: usize| {
        let rest = &skeleton.rest()[joint.min(skeleton.len() - 1)];
        if c < 3 { rest.translation[c] } else { rest.scale[c - 3] }
    };
    let chunk = |k: usize| std::array::from_fn(|c| std::array::from_fn(|j| number(k * CHUNK + j, c)));
    (0..skeleton.len().div_ceil(CHUNK)).map(chunk).collect()
}

impl JointRows {
    /// About how many bytes a clip's rows take at most.
    pub fn bytes(skeleton: &Skeleton, clip: &Clip) -> u64 {
        let chunks = skeleton.len().div_ceil(CHUNK);
        (clip.times().len() * chunks * (size_of::<[Row; TURN]>() + size_of::<RestRows>())) as u64
    }

    /// The clip's rows; none if its tracks differ in their key times, or are not all linear and spherical.
    pub fn new(skeleton: &Skeleton, clip: &Clip) -> Option<Self> {
        let [timeline] = clip.timelines() else { return None };
        let plain = clip.compact().is_none()
            && clip.rotation_blend() == RotationBlend::Slerp
            && clip.tracks().iter().all(|t| t.interpolation == Interpolation::Linear);
        let keys = timeline.count as usize;
        if !plain || keys < 2 {
            return None;
        }
        let chunks = skeleton.len().div_ceil(CHUNK);
        let rest = rest_rows(skeleton);
        let mut rotations: Aligned<[Row; TURN]> = Aligned::zeroed(keys * chunks);
        for (index, rows) in rotations.iter_mut().enumerate() {
            for lane in 0..CHUNK {
                let joint = (index % chunks * CHUNK + lane).min(skeleton.len() - 1);
                let [x, y, z, w] = skeleton.rest()[joint].rotation.to_array();
                for (row, number) in rows.iter_mut().zip([x, y, z, w, 0.0, 1.0]) {
                    row[lane] = number;
                }
            }
        }
        let mut vectors: Vec<Option<Aligned<RestRows>>> = (0..chunks).map(|_| None).collect();
        for track in clip.tracks() {
            let (chunk, lane) = (usize::from(track.joint) / CHUNK, usize::from(track.joint) % CHUNK);
            let values = &clip.values()[track.first_value as usize..][..keys * track.channel.width()];
            if track.channel == Channel::Rotation {
                for (key, value) in values.as_chunks::<4>().0.iter().enumerate() {
                    let rows = &mut rotations[key * chunks + chunk];
                    let angle = if key + 1 < keys { clip.angles()[track.first_angle as usize + key] } else { 0.0 };
                    let [x, y, z, w] = *value;
                    let inverse = 1.0 / super::sine_over_x(angle);
                    for (row, number) in rows.iter_mut().zip([x, y, z, w, angle, inverse]) {
                        row[lane] = number;
                    }
                }
            } else {
                let first = if track.channel == Channel::Translation { 0 } else { 3 };
                let rows = vectors[chunk].get_or_insert_with(|| {
                    let mut rows = Aligned::zeroed(keys);
                    rows.fill(rest[chunk]);
                    rows
                });
                for (rows, value) in rows.iter_mut().zip(values.as_chunks::<3>().0) {
                    (0..3).for_each(|c| rows[first + c][lane] = value[c]);
                }
            }
        }
        Some(Self { times: clip.times_of(&clip.tracks()[0]).to_vec(), chunks, rotations, vectors })
    }

    /// The interval that a time falls into, and how far; as [`super::sample`] has it.
    fn seek(&self, time: f32) -> (usize, f32) {
        let after = self.times.partition_point(|&t| t <= time);
        let key = after.saturating_sub(1).min(self.times.len() - 2);
        let fraction = (time - self.times[key]) / (self.times[key + 1] - self.times[key]);
        (key, fraction.clamp(0.0, 1.0))
    }
}

/// Writes a block's local poses: `plays` holds a clip and a time for each lane.
pub(super) fn sample_lanes<const N: usize>(isa: Isa, rest: &[RestRows], plays: &Plays, local: &mut [Local<N>]) {
    let cursors = plays.map(|(clip, time)| clip.seek(time));
    simd::run(isa, SampleLanes { rest, clips: plays.map(|(clip, _)| clip), cursors, local });
}

struct SampleLanes<'a, const N: usize> {
    rest: &'a [RestRows],
    clips: [&'a JointRows; BLOCK],
    cursors: [(usize, f32); BLOCK],
    local: &'a mut [Local<N>],
}

/// Rows of one number of 16 instances, on cache lines.
#[repr(align(64))]
struct Scratch<const R: usize>([[Row; BLOCK]; R]);

impl<const N: usize> Kernel for SampleLanes<'_, N> {
    type Out = ();

    #[inline(always)] // as all here: to take on the caller's instruction set
    fn run<const W: usize, S: Simd<W>>(self) {
        let Self { rest, clips, cursors, local } = self;
        let mut turns = Scratch([[[0.0; CHUNK]; BLOCK]; 4]);
        let mut vectors = Scratch([[[0.0; CHUNK]; BLOCK]; 6]);
        for (chunk, (rest, local)) in rest.iter().zip(local.chunks_mut(CHUNK)).enumerate() {
            let mut moving = false;
            for (lane, (clip, (key, fraction))) in clips.iter().zip(cursors).enumerate() {
                let at = key * clip.chunks + chunk;
                let (a, b) = (&clip.rotations[at], &clip.rotations[at + clip.chunks]);
                for group in 0..CHUNK / W {
                    let q = turn::<W, S>(a, b, fraction, group);
                    for (rows, v) in turns.0.iter_mut().zip(q) {
                        S::store(v, &mut rows[lane].as_chunks_mut().0[group]);
                    }
                }
                moving |= clip.vectors[chunk].is_some();
            }
            spread::<N, W, S, 4>(&turns.0, ROTATION, local);
            if !moving {
                for (j, local) in local.iter_mut().enumerate() {
                    for (row, numbers) in local[TRANSLATION..SCALE + 3].iter_mut().zip(rest) {
                        *row = [numbers[j]; N];
                    }
                }
                continue;
            }
            for (lane, (clip, (key, fraction))) in clips.iter().zip(cursors).enumerate() {
                let (a, b) = match &clip.vectors[chunk] {
                    Some(rows) => (&rows[key], &rows[key + 1]),
                    None => (rest, rest),
                };
                let fraction = S::splat(fraction);
                for group in 0..CHUNK / W {
                    for ((rows, a), b) in vectors.0.iter_mut().zip(a).zip(b) {
                        let a = load_group::<CHUNK, W, S>(a, group);
                        let way = S::sub(load_group::<CHUNK, W, S>(b, group), a);
                        S::store(S::mul_add(fraction, way, a), &mut rows[lane].as_chunks_mut().0[group]);
                    }
                }
            }
            spread::<N, W, S, 6>(&vectors.0, TRANSLATION, local);
        }
    }
}

/// Spherical interpolation of `W` joints, as [`super::sample`]'s slerp.
#[inline(always)]
fn turn<const W: usize, S: Simd<W>>(a: &[Row; TURN], b: &[Row; TURN], fraction: f32, group: usize) -> [S::V; 4] {
    let (t, rest) = (S::splat(fraction), S::splat(1.0 - fraction));
    let angle = load_group::<CHUNK, W, S>(&a[4], group);
    let inverse = load_group::<CHUNK, W, S>(&a[5], group);
    let wa = S::mul(S::mul(rest, inverse), sine_over_x_of::<W, S>(S::mul(rest, angle)));
    let wb = S::mul(S::mul(t, inverse), sine_over_x_of::<W, S>(S::mul(t, angle)));
    let mut q = [wa; 4];
    for (q, (a, b)) in q.iter_mut().zip(a.iter().zip(b)) {
        let (a, b) = (load_group::<CHUNK, W, S>(a, group), load_group::<CHUNK, W, S>(b, group));
        *q = S::mul_add(wa, a, S::mul(wb, b));
    }
    q
}

/// From `[row][instance][joint]` to `[joint][first + row][instance]`.
#[inline(always)]
fn spread<const N: usize, const W: usize, S: Simd<W>, const R: usize>(
    rows: &[[Row; BLOCK]; R],
    first: usize,
    local: &mut [Local<N>],
) {
    for (row, instances) in rows.iter().enumerate() {
        for (lanes, instances) in instances.as_chunks::<W>().0.iter().enumerate() {
            for group in 0..CHUNK / W {
                let mut square = [S::splat(0.0); W];
                for (v, joints) in square.iter_mut().zip(instances) {
                    *v = load_group::<CHUNK, W, S>(joints, group);
                }
                S::transpose(&mut square);
                for (local, v) in local.iter_mut().skip(group * W).zip(square) {
                    S::store(v, &mut local[first + row].as_chunks_mut().0[lanes]);
                }
            }
        }
    }
}
