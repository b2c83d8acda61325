//! Palettes posed on the CPU, as `cpu-rayon` does it, and uploaded every frame in the form that a shader reads.

use super::visibility::Visibility;
use super::{Chunk, Commands, Gpu};
use crate::bake::{BakeFormat, motion};
use crate::crowd::{Crowd, Group};
use crate::frame::{Approximation, BackendError, FrameInput, ReadBack, Result, Stage, StageTimer};
use crate::model::Rows;
use crate::pose::{CrowdPose, PaletteOut, PoseData, Width};
use crate::simd::Isa;
use crate::threads::Threads;
use glam::Quat;
use rayon::prelude::*;
use std::ops::Range;

/// Most entries of a palette in a uniform block (`MOST_ENTRIES` in shaders/palette_uniform.wgsl).
pub const UNIFORM_ENTRIES: usize = 96;
/// Texels of a row of a palette texture (`WIDTH` in shaders/palette_texture.wgsl).
pub const TEXTURE_WIDTH: u32 = 4096;
/// Bytes of a row of a palette texture.
const TEXTURE_ROW: u64 = TEXTURE_WIDTH as u64 * 16;

/// A 4x4 matrix, columns.
type Columns = [f32; 16];
/// A rotation, half the translation times it, both as quaternions x y z w (Kavan and others 2008), and a uniform scale.
type DualQuaternion = [f32; 12];

/// How palettes lie in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaletteForm {
    /// 3x4 matrices in a storage buffer.
    Rows,
    /// As rows, and copied to workgroup memory by the kernel.
    Workgroup,
    /// 4x4 matrices in a storage buffer.
    Columns,
    /// 4x4 matrices in a uniform buffer, room for [`UNIFORM_ENTRIES`] a character, bound character by character.
    Uniform,
    /// Rows of 3x4 matrices as texels of a float texture.
    Texture,
    /// Dual quaternions in a storage buffer: joints must not scale unevenly.
    DualQuaternions,
    /// Baked frames in a storage buffer, and which of them each instance shows in another.
    Baked(BakeFormat),
}

impl PaletteForm {
    /// The shader's part.
    pub(super) fn wgsl(self) -> &'static str {
        match self {
            Self::Rows => include_str!("../../shaders/palette_rows.wgsl"),
            Self::Workgroup => include_str!("../../shaders/palette_workgroup.wgsl"),
            Self::Columns => include_str!("../../shaders/palette_columns.wgsl"),
            Self::Uniform => include_str!("../../shaders/palette_uniform.wgsl"),
            Self::Texture => include_str!("../../shaders/palette_texture.wgsl"),
            Self::DualQuaternions => include_str!("../../shaders/palette_dual_quaternions.wgsl"),
            Self::Baked(BakeFormat::Motions) => {
                concat!(
                    include_str!("../../shaders/baked.wgsl"),
                    include_str!("../../shaders/palette_baked_motions.wgsl")
                )
            }
            Self::Baked(BakeFormat::Matrices) => {
                concat!(
                    include_str!("../../shaders/baked.wgsl"),
                    include_str!("../../shaders/palette_baked_matrices.wgsl")
                )
            }
        }
    }

    pub(super) fn binding_type(self) -> wgpu::BindingType {
        let buffer =
            |ty, has_dynamic_offset| wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None };
        match self {
            Self::Rows | Self::Workgroup | Self::Columns | Self::DualQuaternions | Self::Baked(_) => {
                buffer(super::source::READ_ONLY, false)
            }
            Self::Uniform => buffer(wgpu::BufferBindingType::Uniform, true),
            Self::Texture => wgpu::BindingType::Texture {
                sample_type: wgpu::TextureSampleType::Float { filterable: false },
                view_dimension: wgpu::TextureViewDimension::D2,
                multisampled: false,
            },
        }
    }

    /// Whether joints may scale along one axis more than along another.
    pub fn scales_unevenly(self) -> bool {
        !matches!(self, Self::DualQuaternions | Self::Baked(BakeFormat::Motions))
    }

    /// Bytes from one character's palette to the next where each is bound on its own.
    pub fn stride(self) -> Option<u32> {
        (self == Self::Uniform).then_some((UNIFORM_ENTRIES * size_of::<Columns>()) as u32)
    }

    /// Floats of an instance's converted palette; none where rows are uploaded as they are.
    fn converted(self, group: &Group) -> usize {
        let entries = group.model.palette_joints().len();
        match self {
            Self::Rows | Self::Workgroup | Self::Texture | Self::Baked(_) => 0,
            Self::Columns => entries * size_of::<Columns>() / 4,
            Self::Uniform => UNIFORM_ENTRIES * size_of::<Columns>() / 4,
            Self::DualQuaternions => entries * size_of::<DualQuaternion>() / 4,
        }
    }

    fn instance_bytes(self, group: &Group) -> u64 {
        match self.converted(group) {
            0 => (group.model.palette_joints().len() * size_of::<Rows>()) as u64,
            floats => (floats * size_of::<f32>()) as u64,
        }
    }

    /// Writes an instance's palette in this form.
    fn convert(self, rows: &[Rows], out: &mut [f32]) {
        match self {
            Self::Rows | Self::Workgroup | Self::Texture | Self::Baked(_) => {}
            Self::Columns | Self::Uniform => {
                out.as_chunks_mut().0.iter_mut().zip(rows).for_each(|(out, rows)| *out = columns(rows));
            }
            Self::DualQuaternions => {
                out.as_chunks_mut().0.iter_mut().zip(rows).for_each(|(out, rows)| *out = dual_quaternion(rows));
            }
        }
    }

    /// Whether a device can hold a crowd's palettes in this form.
    pub fn check(self, gpu: &Gpu, crowd: &Crowd, chunks: &[Chunk]) -> Result<()> {
        let limits = gpu.device().limits();
        for chunk in chunks {
            let group = &crowd.groups()[chunk.group];
            let (entries, name) = (group.model.palette_joints().len(), group.model.name());
            if self == Self::Uniform && entries > UNIFORM_ENTRIES {
                let message =
                    format!("{name:?} has {entries} palette entries; a uniform block holds {UNIFORM_ENTRIES}");
                return Err(BackendError::Unavailable(message));
            }
            let bytes = chunk.instances.len() as u64 * self.instance_bytes(group);
            let most = match self {
                Self::Texture => u64::from(limits.max_texture_dimension_2d) * TEXTURE_ROW,
                _ => limits.max_buffer_size,
            };
            if bytes > most || (self == Self::Texture && limits.max_texture_dimension_2d < TEXTURE_WIDTH) {
                let message = format!("palettes of {name:?} need {bytes} bytes at once; the adapter allows {most}");
                return Err(BackendError::TooLarge(message));
            }
        }
        Ok(())
    }
}

/// A chunk's palettes on the device, `[instance][entry]`.
pub struct Palettes {
    buffer: wgpu::Buffer,
    /// What the shader reads instead of the buffer.
    texture: Option<(wgpu::Texture, wgpu::TextureView)>,
    /// Which of the baked frames in the buffer each instance shows, if it holds such.
    shown: Option<wgpu::Buffer>,
    /// Bytes that are bound at once, if not all.
    window: Option<u32>,
    /// The chunk's share of the crowd's rows, and of what becomes of them.
    rows: Range<usize>,
    converted: Range<usize>,
    /// Of an instance.
    entries: usize,
    floats: usize,
}

impl Palettes {
    /// Room for rows that the device writes.
    pub(super) fn on_device(gpu: &Gpu, bytes: u64) -> Self {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        Self::of(gpu.buffer("palettes", bytes, usage), None)
    }

    /// Frames baked for all, and which of them each instance shows.
    pub(super) fn baked(frames: &wgpu::Buffer, shown: &wgpu::Buffer) -> Self {
        Self::of(frames.clone(), Some(shown.clone()))
    }

    fn of(buffer: wgpu::Buffer, shown: Option<wgpu::Buffer>) -> Self {
        Self { buffer, texture: None, shown, window: None, rows: 0..0, converted: 0..0, entries: 0, floats: 0 }
    }

    /// What is bound besides.
    pub(super) fn shown(&self) -> Option<wgpu::BindingResource<'_>> {
        self.shown.as_ref().map(wgpu::Buffer::as_entire_binding)
    }

    pub(super) fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// What a bind group refers to.
    pub(super) fn binding(&self) -> wgpu::BindingResource<'_> {
        match (&self.texture, self.window) {
            (Some((_, view)), _) => wgpu::BindingResource::TextureView(view),
            (None, None) => self.buffer.as_entire_binding(),
            (None, Some(window)) => wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &self.buffer,
                offset: 0,
                size: wgpu::BufferSize::new(window.into()),
            }),
        }
    }
}

/// Where palettes come from, frame by frame.
pub trait PaletteSource {
    /// The palettes of each chunk.
    fn chunks(&self) -> &[Palettes];
    /// How it poses, where that is worth a word.
    fn way(&self) -> Option<String> {
        None
    }
    /// Bytes of its poses, where they are on the device.
    fn poses(&self) -> Option<PoseBytes> {
        None
    }
    /// What is off beyond rounding, if anything is.
    fn approximation(&self) -> Option<Approximation> {
        None
    }
    /// Who is posed, if not all.
    fn visibility(&self) -> Option<&Visibility> {
        None
    }
    /// The instances that the last frame posed, rising; none if all.
    ///
    /// # Errors
    /// The device failed.
    fn visible(&mut self) -> Result<Option<Vec<u32>>> {
        Ok(None)
    }
    /// Where in a chunk's buffers those of some of its instances are that were posed.
    ///
    /// # Errors
    /// The device failed.
    fn places(&mut self, chunk: &Chunk, index: usize, instances: Range<u32>) -> Result<Range<u32>> {
        let _ = index;
        Ok(instances.start - chunk.instances.start..instances.end - chunk.instances.start)
    }
    /// Poses a frame, or records what will, and the uploads that it takes.
    fn submit(&mut self, gpu: &Gpu, frame: &FrameInput, timer: &mut StageTimer, commands: &mut Commands);
    /// Appends poses or palettes of neighbouring instances, those that were posed.
    ///
    /// # Errors
    /// `what` is no pose stage, or the device failed.
    fn read_back(&mut self, crowd: &Crowd, what: Stage, instances: Range<u32>, out: &mut ReadBack) -> Result<()>;
}

/// Bytes of a crowd's poses on the device.
#[derive(Debug, Clone, Copy)]
pub struct PoseBytes {
    /// What of local poses a frame writes: the channels that some clip moves.
    pub sampled: u64,
    /// What of local poses the hierarchy reads.
    pub local: u64,
    /// Model poses.
    pub model: u64,
}

/// A crowd's poses on the host and its palettes on the device.
pub struct PosedPalettes {
    pose: CrowdPose,
    form: PaletteForm,
    rows: Vec<Rows>,
    converted: Vec<f32>,
    chunks: Vec<Palettes>,
}

impl PosedPalettes {
    /// Bytes on the host and on the device.
    pub fn bytes(crowd: &Crowd, form: PaletteForm) -> (u64, u64) {
        let rows = crowd.palette_entries() * size_of::<Rows>() as u64;
        let converted: usize = crowd.groups().iter().map(|g| g.len() * form.converted(g) * size_of::<f32>()).sum();
        let device = match form {
            PaletteForm::Rows | PaletteForm::Workgroup => rows,
            PaletteForm::Columns | PaletteForm::Uniform | PaletteForm::DualQuaternions => converted as u64,
            PaletteForm::Texture => 2 * rows,
            PaletteForm::Baked(_) => 0,
        };
        (CrowdPose::bytes(crowd, Width::Block, Threads::All.count()) + rows + converted as u64, device)
    }

    /// Buffers for a crowd.
    pub fn new(gpu: &Gpu, crowd: &Crowd, chunks: &[Chunk], form: PaletteForm) -> Self {
        let (mut row, mut float) = (0, 0);
        let chunks: Vec<_> = chunks
            .iter()
            .map(|chunk| {
                let group = &crowd.groups()[chunk.group];
                let (entries, floats, count) =
                    (group.model.palette_joints().len(), form.converted(group), chunk.instances.len());
                let (rows, converted) = (row..row + count * entries, float..float + count * floats);
                (row, float) = (rows.end, converted.end);
                let bytes = count as u64 * form.instance_bytes(group);
                let usage = match form {
                    PaletteForm::Uniform => wgpu::BufferUsages::UNIFORM,
                    PaletteForm::Texture => wgpu::BufferUsages::COPY_SRC,
                    _ => wgpu::BufferUsages::STORAGE,
                };
                let texture = (form == PaletteForm::Texture).then(|| texture(gpu, bytes));
                let bytes = if texture.is_some() { bytes.next_multiple_of(TEXTURE_ROW) } else { bytes };
                let buffer = gpu.buffer("palettes", bytes, usage | wgpu::BufferUsages::COPY_DST);
                Palettes { buffer, texture, shown: None, window: form.stride(), rows, converted, entries, floats }
            })
            .collect();
        let (rows, converted) = (vec![[0.0; 12]; row], vec![0.0; float]);
        Self {
            pose: CrowdPose::new(crowd, Width::Block, Isa::strongest(), &Threads::All),
            form,
            rows,
            converted,
            chunks,
        }
    }
}

impl PaletteSource for PosedPalettes {
    fn chunks(&self) -> &[Palettes] {
        &self.chunks
    }

    fn submit(&mut self, gpu: &Gpu, frame: &FrameInput, timer: &mut StageTimer, commands: &mut Commands) {
        let Self { pose, form, rows, converted, chunks } = self;
        timer.pose(pose, frame.crowd, frame.tick, &Threads::All, PaletteOut::Rows(rows));
        if chunks.iter().any(|c| c.floats > 0) {
            timer.wall_part(Stage::Palette, || {
                chunks.iter().filter(|c| c.floats > 0).for_each(|c| c.convert(*form, rows, converted));
            });
        }
        timer.wall(Stage::Upload, || {
            gpu.timed(commands, Stage::Upload, |commands| {
                for chunk in chunks {
                    chunk.upload(gpu, commands, rows, converted);
                }
            });
        });
    }

    fn read_back(&mut self, crowd: &Crowd, what: Stage, instances: Range<u32>, out: &mut ReadBack) -> Result<()> {
        match what {
            Stage::Sample => self.pose.read(crowd, PoseData::Local, instances, &mut out.values),
            Stage::LocalToModel => self.pose.read(crowd, PoseData::Model, instances, &mut out.values),
            Stage::Palette => out.values.extend(crowd.rows_of(&self.rows, instances).as_flattened()),
            _ => return Err(BackendError::Unavailable(format!("{} has nothing to read back here", what.name()))),
        }
        Ok(())
    }
}

impl Palettes {
    fn convert(&self, form: PaletteForm, rows: &[Rows], converted: &mut [f32]) {
        let instances = rows[self.rows.clone()].par_chunks(self.entries);
        let out = converted[self.converted.clone()].par_chunks_mut(self.floats);
        instances.zip(out).for_each(|(rows, out)| form.convert(rows, out));
    }

    fn upload(&self, gpu: &Gpu, commands: &mut Commands, rows: &[Rows], converted: &[f32]) {
        let data = match self.floats {
            0 => bytemuck::cast_slice(&rows[self.rows.clone()]),
            _ => bytemuck::cast_slice(&converted[self.converted.clone()]),
        };
        gpu.upload(commands, &self.buffer, data);
        if let Some((texture, _)) = &self.texture {
            commands.encoder.copy_buffer_to_texture(
                wgpu::TexelCopyBufferInfo {
                    buffer: &self.buffer,
                    layout: wgpu::TexelCopyBufferLayout {
                        offset: 0,
                        bytes_per_row: Some(TEXTURE_ROW as u32),
                        rows_per_image: None,
                    },
                },
                texture.as_image_copy(),
                texture.size(),
            );
        }
    }
}

fn columns(rows: &Rows) -> Columns {
    std::array::from_fn(|i| match i % 4 {
        3 if i == 15 => 1.0,
        3 => 0.0,
        row => rows[4 * row + i / 4],
    })
}

fn dual_quaternion(rows: &Rows) -> DualQuaternion {
    let (rotation, moved, scale) = motion(rows);
    let [x, y, z] = moved.map(|v| 0.5 * v);
    let half_moved = Quat::from_xyzw(x, y, z, 0.0) * rotation;
    let ([a, b, c, d], [e, f, g, h]) = (rotation.to_array(), half_moved.to_array());
    [a, b, c, d, e, f, g, h, scale, 0.0, 0.0, 0.0]
}

fn texture(gpu: &Gpu, bytes: u64) -> (wgpu::Texture, wgpu::TextureView) {
    let texture = gpu.device().create_texture(&wgpu::TextureDescriptor {
        label: Some("palettes"),
        size: wgpu::Extent3d {
            width: TEXTURE_WIDTH,
            height: bytes.div_ceil(TEXTURE_ROW) as u32,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba32Float,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    let view = texture.create_view(&Default::default());
    (texture, view)
}
