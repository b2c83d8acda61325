//! Palettes baked frame by frame, at the lowest uniform rate that keeps a stated error for each clip.

use crate::crowd::{BLOCK, Crowd, Group, Layer, LayerKind, REST, time};
use crate::model::{
    Bounds, Clip, IDENTITY_ROWS, Model, Rows, Similarity, affine_to_f64_rows, rows_to_affine,
};
use crate::pose::{Affine, CrowdPose, ErrorPoints, KeySpan, Local, NoClock, PoseOut, Width, block};
use crate::simd::Isa;
use crate::threads::Threads;
use glam::{DAffine3, DMat3, DVec3, Mat3, Mat4, Quat, Vec4};
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
                let motion = Similarity::of(rows);
                let mut rotation = motion.rotation;
                if before.is_some_and(|before| Quat::from_array(before).dot(rotation) < 0.0) {
                    rotation = -rotation;
                }
                out.push(rotation.to_array());
                out.push(motion.translation.extend(motion.scale).to_array());
            }
        }
    }

    /// Interpolates an entry between two frames, as shaders/palette_baked_*.wgsl do.
    fn between(self, from: &[[f32; 4]], to: &[[f32; 4]], fraction: f32) -> Rows {
        let mut quads = [Vec4::ZERO; 3];
        for ((quad, from), to) in quads.iter_mut().zip(from).zip(to) {
            *quad = Vec4::from(*from).lerp(Vec4::from(*to), fraction);
        }
        if self != Self::Motions {
            return bytemuck::cast(quads);
        }
        let [rotation, moved, _] = quads;
        let axes = Mat3::from_quat(Quat::from_vec4(rotation).normalize()) * moved.w;
        let mut matrix = Mat4::from_mat3(axes);
        matrix.w_axis = moved;
        let [rows @ .., _, _, _, _] = matrix.transpose().to_cols_array();
        rows
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

    fn scaled(self, factor: f64) -> Self {
        Self {
            position: factor * self.position,
            direction: factor * self.direction,
            ends: factor * self.ends,
        }
    }

    /// Returns whether it is within this fraction of what is allowed.
    pub fn is_within(self, fraction: f64) -> bool {
        self.position <= fraction * POSITION && self.direction <= fraction * DIRECTION
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
    points: ErrorPoints,
    /// The unit of position errors.
    diagonal: f64,
    /// One item per entry.
    entries: Vec<BakedEntry>,
}

/// A palette entry as errors are measured at it.
struct BakedEntry {
    /// Corners of the box around the vertices that it moves.
    corners: Option<[DVec3; 8]>,
    /// Turns the entry's matrix into its joint's model pose.
    to_model: DAffine3,
}

impl<'a> Baker<'a> {
    /// A baker for a model's mesh and skeleton. Position errors are over `diagonal`, that of what a crowd shows of the
    /// model.
    pub fn new(model: &'a Model, format: BakeFormat, diagonal: f64) -> Self {
        let mut entries = Vec::new();
        for (bounds, bind) in model.entry_boxes().into_iter().zip(model.inverse_binds()) {
            entries.push(BakedEntry {
                corners: bounds.map(Bounds::corners),
                to_model: rows_to_affine(bind).inverse(),
            });
        }
        Self {
            model,
            format,
            points: ErrorPoints::of(model),
            diagonal,
            entries,
        }
    }

    /// The lowest rate that keeps a clip's error in at most `most` frames; `None` if there is none. Without a clip, the
    /// rate of the rest pose.
    pub fn rate(&self, clip: Option<&Clip>, most: usize) -> Option<Rate> {
        let Some(clip) = clip else {
            return Some(Rate::of(1, 0.0));
        };
        let keys = KeySpan::of(clip);
        for frames in keys.candidates(MOST_TO_A_KEY) {
            if frames > most.min(MOST_FRAMES) {
                break;
            }
            let rate = Rate::of(frames, clip.duration());
            let baked = self.frames(Some(clip), rate);
            let error = self.error(clip, rate, &baked, keys.times(clip.duration(), frames));
            if error.is_within(MARGIN) {
                return Some(Rate { error, ..rate });
            }
        }
        None
    }

    /// Upper bound of the errors that come from averaging palettes instead of local poses, for instances that play
    /// several layers: the largest error found on at most 64 of the group's instances at 96 ticks each, and a quarter
    /// more. Zero if every instance plays one whole clip.
    ///
    /// The layers merge or override, without masks, inertial fades and update rates.
    pub fn blend_error(&self, crowd: &Crowd, group: &Group) -> BakeError {
        let blended: Vec<&[Layer]> = crowd
            .layers()
            .range(group.instances.clone())
            .filter(|layers| !matches!(layers, [layer] if layer.is_plain()))
            .collect();
        let each = blended.len().div_ceil(BLENDED_INSTANCES).max(1);
        let sampled: Vec<&[Layer]> = blended.into_iter().step_by(each).collect();
        let mut few = Crowd::new();
        let placed = sampled.iter().map(|layers| (IDENTITY_ROWS, *layers));
        if sampled.is_empty() || few.push_group(Arc::clone(&group.model), placed).is_err() {
            return BakeError::default();
        }
        let entries = self.entries.len();
        let mut blended_poses = vec![[0.0; 12]; sampled.len() * entries];
        let mut pose = CrowdPose::new(&few, Width::Block, Isa::strongest(), &Threads::One);
        let mut poser = ClipPoser::new(self.model);
        let mut worst = BakeError::default();
        for tick in (0..BLENDED_TICKS).map(|i| i.wrapping_mul(TICK_STRIDE)) {
            let out = PoseOut::rows(&mut blended_poses);
            pose.pose(&few, tick, &Threads::One, &NoClock, out);
            for (layers, palette) in sampled.iter().zip(blended_poses.chunks_exact(entries)) {
                let mut sum = vec![[0.0; 12]; entries];
                for share in shares(layers, tick) {
                    let clip = self.model.clips().get(share.clip as usize);
                    let shown = poser.palettes(clip, &[share.time]);
                    for (sum, v) in sum.as_flattened_mut().iter_mut().zip(shown.as_flattened()) {
                        *sum += share.weight * v;
                    }
                }
                for (entry, sum) in sum.iter().enumerate() {
                    worst = worst.max(self.entry_error(entry, &palette[entry], sum));
                }
            }
        }
        worst.scaled(BLEND_MARGIN)
    }

    /// The frames of a clip at a rate, `[frame][entry][quad]`.
    pub fn frames(&self, clip: Option<&Clip>, rate: Rate) -> Vec<[f32; 4]> {
        let entries = self.entries.len();
        let row = entries * self.format.quads();
        let mut frames: Vec<[f32; 4]> = Vec::with_capacity(rate.frames * row);
        let mut poser = ClipPoser::new(self.model);
        let mut times: Vec<f32> = (0..rate.frames)
            .map(|frame| frame as f32 * rate.interval)
            .collect();
        if let [_, .., last] = &mut times[..] {
            *last = clip.map_or(0.0, Clip::duration);
        }
        for times in times.chunks(BLOCK) {
            for rows in poser.palettes(clip, times) {
                let before = frames.len().checked_sub(row).map(|at| frames[at]);
                self.format.write_entry(rows, before, &mut frames);
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
        let entries = self.entries.len();
        let quads = self.format.quads();
        let stored_frames: Vec<&[[f32; 4]]> = baked.chunks_exact(entries * quads).collect();
        let mut poser = ClipPoser::new(self.model);
        let mut worst = BakeError::default();
        let mut times = times.peekable();
        while times.peek().is_some() && worst.is_within(MARGIN) {
            let at: Vec<f32> = times.by_ref().take(BLOCK).collect();
            let palettes = poser.palettes(Some(clip), &at);
            for (&time, palette) in at.iter().zip(palettes.chunks_exact(entries)) {
                let (frame, fraction) = rate.place(time);
                let from = stored_frames[frame];
                let to = stored_frames[(frame + 1).min(rate.frames - 1)];
                for (entry, rows) in palette.iter().enumerate() {
                    let stored = entry * quads..(entry + 1) * quads;
                    let baked = self
                        .format
                        .between(&from[stored.clone()], &to[stored], fraction);
                    worst = worst.max(self.entry_error(entry, rows, &baked));
                }
            }
        }
        worst
    }

    fn entry_error(&self, entry: usize, exact: &Rows, baked: &Rows) -> BakeError {
        let BakedEntry { corners, to_model } = &self.entries[entry];
        let exact = rows_to_affine(exact);
        let baked = rows_to_affine(baked);
        let off = DAffine3 {
            matrix3: baked.matrix3 - exact.matrix3,
            translation: baked.translation - exact.translation,
        };
        let mut position = 0.0f64;
        for &corner in corners.iter().flatten() {
            position = position.max(off.transform_point3(corner).length());
        }
        let mut direction = 0.0;
        let size = longest_axis(&exact.matrix3);
        if corners.is_some() && size > 0.0 {
            direction = longest_axis(&off.matrix3) / size;
        }
        // The difference of two poses of a joint is that of its two palette entries, with the inverse bind undone.
        let off_pose = affine_to_f64_rows(&(off * *to_model));
        let joint = self.model.palette_joints()[entry].into();
        BakeError {
            position: position / self.diagonal,
            direction,
            ends: self.points.distance(joint, &off_pose),
        }
    }
}

fn longest_axis(m: &DMat3) -> f64 {
    let axes = [m.x_axis, m.y_axis, m.z_axis];
    axes.map(DVec3::length).into_iter().fold(0.0, f64::max)
}

/// A clip's share of a pose.
struct Share {
    /// Index of the clip, or [`REST`].
    clip: u32,
    /// Seconds.
    time: f32,
    weight: f32,
}

/// The clips that an instance's layers show at a tick, as shaders/pose_baked.wgsl computes them. The weights sum to 1;
/// the rest pose has what no merge layer takes.
fn shares(layers: &[Layer], tick: u32) -> Vec<Share> {
    let merges = layers.iter().filter(|l| l.kind == LayerKind::Merge);
    let merged: f32 = merges.map(|l| l.weight_at(tick)).sum();
    let mut shares = vec![Share {
        clip: REST,
        time: 0.0,
        weight: if merged > 0.0 { 0.0 } else { 1.0 },
    }];
    for (index, layer) in layers.iter().enumerate() {
        let mut weight = layer.weight_at(tick);
        if layer.kind == LayerKind::Override {
            for beneath in &mut shares {
                beneath.weight *= 1.0 - weight;
            }
        } else if merged > 0.0 {
            weight /= merged;
        }
        shares.push(Share {
            clip: layer.clip,
            time: time(layers, index, tick),
            weight,
        });
    }
    shares.retain(|share| share.weight > 0.0);
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
        let isa = Isa::strongest();
        let skeleton = model.skeleton();
        let joints = model.palette_joints();
        for (lane, &time) in times.iter().enumerate() {
            block::sample(skeleton, clip, time, lane, local);
        }
        block::local_to_model(isa, skeleton, local, pose);
        let rows = &mut rows[..times.len() * joints.len()];
        block::palette_rows(isa, joints, model.inverse_binds(), pose, rows);
        rows
    }
}
