//! Palettes baked frame by frame, at the lowest uniform rate that keeps a stated error for each clip.

use crate::crowd::{BLOCK, Crowd, Fade, Group, Layer, LayerKind, REST, UNMASKED, time};
use crate::model::{
    Bounds, Clip, IDENTITY_ROWS, Model, Rows, Similarity, row_numbers, rows_to_affine,
};
use crate::pose::{Affine, CrowdPose, Ends, KeySpan, Local, NoClock, PaletteOut, Width, block};
use crate::simd::Isa;
use crate::threads::Threads;
use glam::{DAffine3, DVec3, Mat3, Quat, Vec4};
use std::sync::Arc;

/// Error that a vertex is allowed, over the diagonal of what a crowd shows.
pub const POSITION: f64 = 1e-3;
/// Error that an entry's directions are allowed, in radians.
pub const DIRECTION: f64 = 1e-2;
/// Fraction of the allowed error that the search may use up, because it samples many times, not every one.
const MARGIN: f64 = 0.9;
/// Most frames per interval between keys. A fast rotation between two keys needs many.
const MOST_TO_A_KEY: usize = 32;
/// Most frames of a clip: as many as the sampled times can tell apart.
const MOST_FRAMES: usize = 1 << 12;

/// Most layers of an instance whose baked clips are blended.
pub const MOST_LAYERS: usize = 4;

/// Instances of a group and ticks of each at which blends of clips are measured.
const BLENDED_INSTANCES: usize = 64;
const BLENDED_TICKS: u32 = 96;
/// Ticks from one of these to the next: without a common divisor with the periods of clips and schedules.
const TICK_STRIDE: u32 = 10_007;
/// Factor on the largest error found, because blends are measured at many ticks, not at every one.
const BLEND_MARGIN: f64 = 1.25;

/// Returns whether baked clips of a group can be blended as its instances play them: whole, and without morph targets.
pub fn blends(crowd: &Crowd, group: &Group) -> bool {
    let whole = |layer: &Layer| {
        layer.mask == UNMASKED && layer.kind != LayerKind::Additive && layer.fade != Fade::Inertial
    };
    let mut layers = group
        .instances
        .clone()
        .map(|instance| crowd.layers().of(instance as usize));
    !group.has_targets()
        && layers.all(|layers| layers.len() <= MOST_LAYERS && layers.iter().all(whole))
}

/// Storage format of baked frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BakeFormat {
    /// A rotation, a translation and a uniform scale: 32 bytes. Joints must not scale unevenly.
    Motions,
    /// Three rows of four: 48 bytes.
    Matrices,
    /// Vertices that baked matrices have skinned: [`VertexFrames`](crate::vertex_frames::VertexFrames). Skinning is
    /// linear, so vertices interpolate as their matrices do, at the same rates and with the same errors.
    Vertices,
}

impl BakeFormat {
    /// Groups of four floats per palette entry, as the baker keeps it.
    pub fn quads(self) -> usize {
        match self {
            Self::Motions => 2,
            Self::Matrices | Self::Vertices => 3,
        }
    }

    /// Writes an entry. `before` is its first quad one frame earlier: a rotation takes the sign that is closer to it,
    /// so that interpolation between frames needs no sign test.
    fn write_entry(self, rows: &Rows, before: Option<[f32; 4]>, out: &mut Vec<[f32; 4]>) {
        match self {
            Self::Matrices | Self::Vertices => out.extend_from_slice(rows.as_chunks().0),
            Self::Motions => {
                let Similarity {
                    rotation,
                    translation,
                    scale,
                } = Similarity::of(rows);
                let far = before.is_some_and(|b| Quat::from_array(b).dot(rotation) < 0.0);
                let rotation = if far { -rotation } else { rotation };
                out.extend([rotation.to_array(), translation.extend(scale).to_array()]);
            }
        }
    }

    /// Interpolates an entry between two frames, as shaders/palette_baked_*.wgsl do.
    fn between(self, from: &[[f32; 4]], to: &[[f32; 4]], part: f32) -> Rows {
        let quad = |i: usize| Vec4::from(from[i]).lerp(Vec4::from(to[i]), part);
        match self {
            Self::Matrices | Self::Vertices => {
                let [x, y, z] = [0, 1, 2].map(|i| quad(i).to_array());
                std::array::from_fn(|i| [x, y, z][i / 4][i % 4])
            }
            Self::Motions => {
                let moved = quad(1).to_array();
                let rotated = Mat3::from_quat(Quat::from_vec4(quad(0)).normalize());
                std::array::from_fn(|i| match i % 4 {
                    3 => moved[i / 4],
                    column => moved[3] * rotated.col(column)[i / 4],
                })
            }
        }
    }
}

/// Largest errors of baked palettes against those of the clip.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BakeError {
    /// Largest distance of a point that an entry moves, over the diagonal of what a crowd shows. No vertex is farther
    /// off.
    pub position: f64,
    /// Of a direction, in radians.
    pub direction: f64,
    /// Of a joint's end, over the skeleton's size.
    pub ends: f64,
}

impl BakeError {
    /// The larger of each error.
    pub fn max(self, other: Self) -> Self {
        Self {
            position: self.position.max(other.position),
            direction: self.direction.max(other.direction),
            ends: self.ends.max(other.ends),
        }
    }

    /// Returns whether it is within this fraction of what is allowed.
    pub fn is_within(self, part: f64) -> bool {
        self.position <= part * POSITION && self.direction <= part * DIRECTION
    }
}

/// Frame count, interval and error of a baked clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Frames from 0 to the clip's end; 1 if the clip does not move.
    pub frames: usize,
    /// Seconds from frame to frame; 0 for a single frame.
    pub interval: f32,
    /// The error at this rate.
    pub error: BakeError,
}

impl Rate {
    fn of(frames: usize, duration: f32) -> Self {
        let interval = if frames > 1 {
            duration / (frames - 1) as f32
        } else {
            0.0
        };
        Self {
            frames,
            interval,
            error: BakeError::default(),
        }
    }

    /// The frame before a time and the fraction of the way to the next one, as shaders/pose_baked.wgsl computes them.
    fn place(self, time: f32) -> (usize, f32) {
        if self.frames == 1 {
            return (0, 0.0);
        }
        let place = (time / self.interval).clamp(0.0, (self.frames - 1) as f32);
        let frame = (place as usize).min(self.frames - 2);
        (frame, place - frame as f32)
    }
}

/// Bakes a model's clips.
pub struct Baker<'a> {
    model: &'a Model,
    format: BakeFormat,
    ends: Ends,
    /// The unit of position errors.
    diagonal: f64,
    /// For each entry: the corners of the box around the vertices that it moves, and the transform from palette to
    /// model pose.
    reach: Vec<(Option<[DVec3; 8]>, DAffine3)>,
}

impl<'a> Baker<'a> {
    /// A baker for a model's mesh and skeleton. Position errors are over `diagonal`, that of what a crowd shows of the
    /// model.
    pub fn new(model: &'a Model, format: BakeFormat, diagonal: f64) -> Self {
        let boxes = model.entry_boxes().into_iter().zip(model.inverse_binds());
        let reach = boxes
            .map(|(bounds, bind)| (bounds.map(Bounds::corners), rows_to_affine(bind).inverse()))
            .collect();
        Self {
            model,
            format,
            ends: Ends::of(model),
            diagonal,
            reach,
        }
    }

    /// The lowest rate that keeps a clip's error in at most `most` frames; `None` if there is none. Without a clip, the
    /// rate of the rest pose.
    pub fn rate(&self, clip: Option<&Clip>, most: usize) -> Option<Rate> {
        let Some(clip) = clip else {
            return Some(Rate::of(1, 0.0));
        };
        let keys = KeySpan::of(clip);
        keys.candidates(MOST_TO_A_KEY)
            .into_iter()
            .take_while(|frames| *frames <= most.min(MOST_FRAMES))
            .find_map(|frames| {
                let rate = Rate::of(frames, clip.duration());
                let baked = self.frames(Some(clip), rate);
                let error = self.error(clip, rate, &baked, keys.times(clip.duration(), frames));
                error.is_within(MARGIN).then_some(Rate { error, ..rate })
            })
    }

    /// Upper bound of the errors that come from averaging palettes instead of local poses, for instances that play
    /// several layers: the largest error found on at most 64 of the group's instances at 96 ticks each, and a quarter
    /// more. Zero if every instance plays one whole clip.
    ///
    /// The layers merge or override, without masks, inertial fades and update rates.
    pub fn blend_error(&self, crowd: &Crowd, group: &Group) -> BakeError {
        let plain = |i: &u32| matches!(crowd.layers().of(*i as usize), [layer] if layer.is_plain());
        let blended: Vec<u32> = group.instances.clone().filter(|i| !plain(i)).collect();
        let each = blended.len().div_ceil(BLENDED_INSTANCES).max(1);
        let sampled: Vec<&[Layer]> = blended
            .iter()
            .step_by(each)
            .map(|i| crowd.layers().of(*i as usize))
            .collect();
        let mut few = Crowd::new();
        let placed = sampled.iter().map(|layers| (IDENTITY_ROWS, *layers));
        if sampled.is_empty() || few.push_group(Arc::clone(&group.model), placed).is_err() {
            return BakeError::default();
        }
        let entries = self.model.palette_joints().len();
        let mut own = vec![[0.0; 12]; sampled.len() * entries];
        let mut pose = CrowdPose::new(&few, Width::Block, Isa::strongest(), &Threads::One);
        let mut poser = ClipPoser::new(self.model);
        let mut worst = BakeError::default();
        for tick in (0..BLENDED_TICKS).map(|i| i.wrapping_mul(TICK_STRIDE)) {
            pose.pose(
                &few,
                tick,
                &Threads::One,
                &NoClock,
                PaletteOut::Rows(&mut own),
            );
            for (layers, own) in sampled.iter().zip(own.chunks_exact(entries)) {
                let mut sum = vec![[0.0; 12]; entries];
                for (clip, time, weight) in shares(layers, tick) {
                    let palette = poser.palettes(self.model.clips().get(clip as usize), &[time]);
                    for (sum, v) in sum
                        .as_flattened_mut()
                        .iter_mut()
                        .zip(palette.as_flattened())
                    {
                        *sum += weight * v;
                    }
                }
                let found = own
                    .iter()
                    .zip(&sum)
                    .enumerate()
                    .map(|(e, (own, sum))| self.entry_error(e, own, sum));
                worst = found.fold(worst, BakeError::max);
            }
        }
        let more = |error: f64| BLEND_MARGIN * error;
        BakeError {
            position: more(worst.position),
            direction: more(worst.direction),
            ends: more(worst.ends),
        }
    }

    /// The frames of a clip at a rate, `[frame][entry][quad]`.
    pub fn frames(&self, clip: Option<&Clip>, rate: Rate) -> Vec<[f32; 4]> {
        let entries = self.model.palette_joints().len();
        let row = entries * self.format.quads();
        let mut frames: Vec<[f32; 4]> = Vec::with_capacity(rate.frames * row);
        let mut poser = ClipPoser::new(self.model);
        let last = clip.map_or(0.0, Clip::duration);
        let time = |frame: usize| {
            if frame > 0 && frame + 1 == rate.frames {
                last
            } else {
                frame as f32 * rate.interval
            }
        };
        for first in (0..rate.frames).step_by(BLOCK) {
            let times: Vec<f32> = (first..rate.frames.min(first + BLOCK)).map(time).collect();
            for palette in poser.palettes(clip, &times).chunks_exact(entries) {
                for rows in palette {
                    let before = frames.len().checked_sub(row).map(|at| frames[at]);
                    self.format.write_entry(rows, before, &mut frames);
                }
            }
        }
        frames
    }

    /// The largest error over some times in seconds. Stops at the first error beyond what is allowed.
    pub fn error(
        &self,
        clip: &Clip,
        rate: Rate,
        baked: &[[f32; 4]],
        times: impl Iterator<Item = f32>,
    ) -> BakeError {
        let (entries, quads) = (self.reach.len(), self.format.quads());
        let mut poser = ClipPoser::new(self.model);
        let mut worst = BakeError::default();
        let mut times = times.peekable();
        while times.peek().is_some() && worst.is_within(MARGIN) {
            let at: Vec<f32> = times.by_ref().take(BLOCK).collect();
            for (&time, palette) in at
                .iter()
                .zip(poser.palettes(Some(clip), &at).chunks_exact(entries))
            {
                let (frame, part) = rate.place(time);
                let next = (frame + 1).min(rate.frames - 1);
                let stored = |frame: usize, entry: usize| {
                    &baked[(frame * entries + entry) * quads..][..quads]
                };
                let found = palette.iter().enumerate().map(|(entry, own)| {
                    self.entry_error(
                        entry,
                        own,
                        &self
                            .format
                            .between(stored(frame, entry), stored(next, entry), part),
                    )
                });
                worst = found.fold(worst, BakeError::max);
            }
        }
        worst
    }

    fn entry_error(&self, entry: usize, own: &Rows, baked: &Rows) -> BakeError {
        let (corners, to_model) = &self.reach[entry];
        let own = rows_to_affine(own);
        let baked = rows_to_affine(baked);
        let off = DAffine3 {
            matrix3: baked.matrix3 - own.matrix3,
            translation: baked.translation - own.translation,
        };
        let axes = |m: &DAffine3| {
            [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis].map(DVec3::length)
        };
        let largest = |lengths: [f64; 3]| lengths.into_iter().fold(0.0, f64::max);
        let (size, apart) = (largest(axes(&own)), largest(axes(&off)));
        let moved = corners
            .iter()
            .flatten()
            .map(|&corner| off.transform_point3(corner).length());
        // The difference of two poses of a joint is that of its two palette entries, with the inverse bind undone.
        let ends = row_numbers(&(off * *to_model));
        BakeError {
            position: moved.fold(0.0, f64::max) / self.diagonal,
            direction: if corners.is_some() && size > 0.0 {
                apart / size
            } else {
                0.0
            },
            ends: self
                .ends
                .distance(self.model.palette_joints()[entry].into(), &ends),
        }
    }
}

/// The clips that an instance's layers show at a tick: clip, time and share of the pose, as shaders/pose_baked.wgsl
/// computes them. The shares sum to 1; the rest pose has what no merge layer takes.
fn shares(layers: &[Layer], tick: u32) -> Vec<(u32, f32, f32)> {
    let merged: f32 = layers
        .iter()
        .filter(|l| l.kind == LayerKind::Merge)
        .map(|l| l.weight_at(tick))
        .sum();
    let mut shares = vec![(REST, 0.0, if merged > 0.0 { 0.0 } else { 1.0 })];
    for (index, layer) in layers.iter().enumerate() {
        let mut weight = layer.weight_at(tick);
        if layer.kind == LayerKind::Override {
            shares
                .iter_mut()
                .for_each(|(.., beneath)| *beneath *= 1.0 - weight);
        } else if merged > 0.0 {
            weight /= merged;
        }
        shares.push((layer.clip, time(layers, index, tick), weight));
    }
    shares.retain(|(.., share)| *share > 0.0);
    shares
}

/// Poses a model at several times at once.
struct ClipPoser<'a> {
    model: &'a Model,
    local: Vec<Local<BLOCK>>,
    pose: Vec<Affine<BLOCK>>,
    rows: Vec<Rows>,
}

impl<'a> ClipPoser<'a> {
    fn new(model: &'a Model) -> Self {
        let joints = model.skeleton().len();
        let rows = vec![[0.0; 12]; BLOCK * model.palette_joints().len()];
        Self {
            model,
            local: vec![[[0.0; BLOCK]; 10]; joints],
            pose: vec![[[0.0; BLOCK]; 12]; joints],
            rows,
        }
    }

    /// Palettes at no more than [`BLOCK`] times in seconds, `[time][entry]`.
    fn palettes(&mut self, clip: Option<&Clip>, times: &[f32]) -> &[Rows] {
        let Self {
            model,
            local,
            pose,
            rows,
        } = self;
        let (skeleton, isa) = (model.skeleton(), Isa::strongest());
        times
            .iter()
            .enumerate()
            .for_each(|(lane, &time)| block::sample(skeleton, clip, time, lane, local));
        block::local_to_model(isa, skeleton, local, pose);
        let rows = &mut rows[..times.len() * model.palette_joints().len()];
        block::palette_rows(
            isa,
            model.palette_joints(),
            model.inverse_binds(),
            pose,
            rows,
        );
        rows
    }
}
