//! Palettes, or vertices, baked frame by frame when a crowd is prepared. A frame only computes, for each layer of an
//! instance, the two baked frames between which it is interpolated and its share of the pose; skinning averages the
//! palettes of layers.

use crate::Gpu;
use crate::device::{Buffer, Named, fits, named};
use crate::shader::layout;
use bytesize::ByteSize;
use skinbench_frame::{Approximation, BackendError, Purpose, Result};
use skinbench_kernels::bake::{BakeError, BakeFormat, Baker, DIRECTION, POSITION, Rate};
use skinbench_kernels::crowd::{Crowd, Group, Layer, REST};
use skinbench_kernels::model::Clip;
use skinbench_kernels::reference::shown;
use skinbench_kernels::threads::Threads;
use skinbench_kernels::vertex_frames::VertexFrames;

/// Stated error of normals and tangents, in radians. Blending joints that rotate against each other shortens the sum,
/// so the errors of the summands count twice if the sum has half the length.
const NORMAL: f64 = 2.0 * DIRECTION;

/// A group's clips at their rates; the rest pose comes last. `None` for a clip that no instance plays.
struct BakePlan<'a> {
    baker: Baker<'a>,
    /// The unit of position errors.
    diagonal: f64,
    rates: Vec<Option<Rate>>,
    /// Palette entries, or vertices, of a frame.
    entries: usize,
    /// Bytes of all frames.
    bytes: u64,
}

impl<'a> BakePlan<'a> {
    /// # Errors
    /// [`BackendError::Unavailable`] if no rate keeps the error of a clip, or [`BackendError::TooLarge`] if the frames
    /// of a clip exceed one binding.
    fn new(gpu: &Gpu, crowd: &Crowd, group: &'a Group, format: BakeFormat) -> Result<Self> {
        let model = &*group.model;
        let clips = model.clips();
        // With the bytes of an entry, and those before the first frame.
        let [entries, entry_bytes, header] = match format {
            BakeFormat::Vertices => [
                model.mesh().vertex_count(),
                4 * VertexFrames::words_of(group.format),
                size_of::<layout::VertexCube>(),
            ],
            _ => [
                model.palette_joints().len(),
                format.quads() * size_of::<[f32; 4]>(),
                0,
            ],
        };
        let mut played = vec![false; clips.len() + 1];
        for instance in group.instances.clone() {
            for layer in crowd.layers().of(instance as usize) {
                played[if layer.clip == REST {
                    clips.len()
                } else {
                    layer.clip as usize
                }] = true;
            }
        }
        // The rest pose shows where no layer merges.
        played[clips.len()] |= width(crowd, group) > 1;
        let shown = shown(crowd, group);
        let baker = Baker::new(model, format, shown.diagonal);
        let mut rates: Vec<Option<Rate>> = vec![None; played.len()];
        Threads::All.each(&mut rates, 1, |clip, rate| {
            if played[clip] {
                rate[0] = baker.rate(clips.get(clip), usize::MAX);
            }
        });
        for (clip, rate) in rates.iter().enumerate() {
            if played[clip] && rate.is_none() {
                let name = clips.get(clip).map_or("", Clip::name);
                let rounding = shown.relative_rounding();
                let reason = if rounding > POSITION {
                    format!("; f32 numbers are off by up to {rounding:.0e} of it there")
                } else {
                    String::new()
                };
                return Err(BackendError::Unavailable(format!(
                    "no baking rate keeps clip {name:?} of {:?} within {POSITION:.0e} of its size{reason}",
                    model.name()
                )));
            }
        }
        let frames = rates
            .iter()
            .flatten()
            .map(|rate| rate.frames)
            .sum::<usize>();
        let bytes = (header + frames * entries * entry_bytes) as u64;
        let what = format_args!("baked clips of {:?} need", model.name());
        fits(what, bytes, "in one binding", gpu.binding_bytes())?;
        Ok(Self {
            baker,
            diagonal: shown.diagonal,
            rates,
            entries,
            bytes,
        })
    }

    /// The clips in the kernel's layout.
    fn table(&self) -> Vec<layout::BakedClip> {
        let mut first = 0;
        let mut clips = Vec::with_capacity(self.rates.len());
        for rate in &self.rates {
            clips.push(layout::BakedClip {
                first,
                frames: rate.map_or(1, |rate| rate.frames as u32),
                interval: rate.map_or(0.0, |rate| rate.interval),
                padding: 0,
            });
            first += rate.map_or(0, |rate| rate.frames * self.entries) as u32;
        }
        clips
    }

    /// All frames, `[clip][frame][entry]`.
    fn baked(&self, group: &Group, format: BakeFormat) -> Baked {
        let model = &*group.model;
        let mut palettes = Vec::new();
        for (clip, rate) in self.rates.iter().enumerate() {
            if let Some(rate) = *rate {
                palettes.extend(self.baker.frames(model.clips().get(clip), rate));
            }
        }
        let palettes = palettes.into_flattened();
        if format != BakeFormat::Vertices {
            return Baked {
                words: palettes.into_iter().map(f32::to_bits).collect(),
                rounding: 0.0,
            };
        }
        let entries = model.palette_joints().len();
        let frames = VertexFrames::new(model.mesh(), group.format, entries, palettes.as_chunks().0);
        let rounding = f64::from(frames.rounding()) / self.diagonal;
        let VertexFrames {
            cube,
            longest,
            mut words,
        } = frames;
        let cube = layout::VertexCube {
            centre: cube.centre,
            half: cube.half,
            longest,
            padding: [0; 3],
        };
        words.splice(0..0, bytemuck::cast::<_, [u32; 8]>(cube));
        Baked { words, rounding }
    }
}

/// Frames of a group.
struct Baked {
    words: Vec<u32>,
    /// Largest error of a stored position, relative to the diagonal.
    rounding: f64,
}

/// Number of frames (`FramePair` in shaders/baked.wgsl) that each instance of a group shows: its layers, and the rest pose
/// if no layer may be there.
pub fn width(crowd: &Crowd, group: &Group) -> u32 {
    let mut most = 0;
    for instance in group.instances.clone() {
        let layers = crowd.layers().of(instance as usize);
        let plain = layers.first().is_some_and(Layer::is_plain);
        most = most.max(layers.len() as u32 + u32::from(!plain));
    }
    most.max(1)
}

/// A group's frames on the device.
pub struct BakedGroup {
    /// Table of the group's clips.
    pub clips: Named,
    /// Palette entries, or vertices, of a frame.
    pub entries: u32,
    /// The frames of all clips.
    pub frames: Buffer,
}

/// Baked groups of a crowd on the device.
pub struct BakedGroups {
    /// One item per group of the crowd.
    pub groups: Vec<BakedGroup>,
    /// Stated error.
    pub approximation: Approximation,
    /// Short description for tables.
    pub label: String,
}

impl BakedGroups {
    /// Bakes the clips that a crowd's groups play.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if no rate keeps the error of a clip, or [`BackendError::TooLarge`] if the frames
    /// of a clip exceed one binding.
    pub fn new(gpu: &Gpu, crowd: &Crowd, format: BakeFormat) -> Result<Self> {
        let mut groups = Vec::with_capacity(crowd.groups().len());
        let mut error = BakeError::default();
        let mut blend = BakeError::default();
        let mut rounding = 0.0f64;
        let mut bytes = 0;
        for group in crowd.groups() {
            let plan = BakePlan::new(gpu, crowd, group, format)?;
            if !gpu.only_counts() {
                blend = blend.max(plan.baker.blend_error(crowd, group));
            }
            for rate in plan.rates.iter().flatten() {
                error = error.max(rate.error);
            }
            bytes += plan.bytes;
            let words = plan.bytes as usize / 4;
            let clips = gpu.storage(Purpose::Clips, "baked clips", &plan.table());
            groups.push(BakedGroup {
                clips: named("clips", &clips),
                frames: gpu.storage_of(Purpose::Clips, "baked frames", words, || {
                    let baked = plan.baked(group, format);
                    rounding = rounding.max(baked.rounding);
                    baked.words
                }),
                entries: plan.entries as u32,
            });
        }
        let label = format!(
            "{} of baked frames, vertices off by at most {:.1e} and joints' ends by {:.1e} of the size",
            ByteSize(bytes).display().si(),
            error.position + blend.position + rounding,
            error.ends + blend.ends
        );
        let approximation = Approximation {
            pose: 0.0,
            position: POSITION + blend.position + rounding,
            // As for NORMAL.
            normal: NORMAL + 2.0 * blend.direction,
            clip_error: Some(error.ends + blend.ends),
        };
        Ok(Self {
            groups,
            approximation,
            label,
        })
    }
}
