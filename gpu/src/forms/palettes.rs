//! Forms of palettes in device memory, and buffers for them.

use crate::Gpu;
use crate::device::{Buffer, Command, Named, Recorder, Resource, Staging, Texture, fits, needs};
use crate::shader::wgsl::Role;
use skinbench_frame::{Purpose, Result};
use skinbench_kernels::bake::BakeFormat;
use skinbench_kernels::crowd::Group;
use skinbench_kernels::device_palette::{
    ColumnMatrix, DeviceDualQuaternion, DeviceForm, HalfEntry,
};
use skinbench_kernels::model::Rows;
use std::ops::Range;

/// Most entries of a palette in a uniform block (`MOST_ENTRIES` in shaders/palette_uniform.wgsl).
pub const UNIFORM_ENTRIES: usize = 96;
/// Texels of a row of a palette texture (`WIDTH` in shaders/palette_texture.wgsl).
pub const TEXTURE_WIDTH: u32 = 4096;
/// Bytes of a row of a palette texture.
const TEXTURE_ROW: u64 = TEXTURE_WIDTH as u64 * 16;

/// Form of palettes in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaletteForm {
    /// 3x4 matrices in a storage buffer.
    Rows,
    /// As `Rows`, and copied to workgroup memory by the kernel.
    Workgroup,
    /// Rotation and scale in half precision, translation in full precision, in a storage buffer; joints must not scale
    /// unevenly.
    Half,
    /// 4x4 matrices in a storage buffer.
    Columns,
    /// 4x4 matrices in a uniform buffer with room for [`UNIFORM_ENTRIES`] per character, bound character by character.
    Uniform,
    /// Rows of 3x4 matrices as texels of a float texture.
    Texture,
    /// Dual quaternions in a storage buffer; joints must not scale unevenly.
    DualQuaternions,
    /// Baked frames in a storage buffer, and in another buffer those that each instance shows, layer by layer.
    Baked(BakeFormat),
}

impl PaletteForm {
    /// The files that read and blend this form in a shader.
    pub(crate) fn roles(self) -> Vec<Role> {
        let palette = match self {
            Self::Rows => "palette_rows.wgsl",
            Self::Half => "palette_half.wgsl",
            Self::Workgroup => "palette_workgroup.wgsl",
            Self::Columns => "palette_columns.wgsl",
            Self::Uniform => "palette_uniform.wgsl",
            Self::Texture => "palette_texture.wgsl",
            Self::Baked(format) => {
                let frames = match format {
                    BakeFormat::Motions => "palette_baked_motions.wgsl",
                    BakeFormat::Matrices => "palette_baked_matrices.wgsl",
                    BakeFormat::Vertices => return Vec::new(),
                };
                return vec![
                    ("blend", "blend_linear.wgsl"),
                    ("palette", "palette_baked.wgsl"),
                    ("frames", frames),
                ];
            }
            Self::DualQuaternions => return vec![("blend", "palette_dual_quaternions.wgsl")],
        };
        vec![("blend", "blend_linear.wgsl"), ("palette", palette)]
    }

    /// Bytes from one character's palette to the next, if each is bound separately.
    pub fn stride(self) -> Option<u32> {
        (self == Self::Uniform).then_some((UNIFORM_ENTRIES * size_of::<ColumnMatrix>()) as u32)
    }

    /// Bytes of the palette of an instance of a group, as the host uploads it.
    pub(crate) fn instance_bytes(self, group: &Group) -> usize {
        self.palette_bytes(group.model.palette_joints().len())
    }

    /// Bytes of a palette of so many entries.
    pub(crate) fn palette_bytes(self, entries: usize) -> usize {
        match self {
            Self::Rows | Self::Workgroup | Self::Texture | Self::Baked(_) => {
                entries * size_of::<Rows>()
            }
            Self::Half => entries * size_of::<HalfEntry>(),
            Self::Columns => entries * size_of::<ColumnMatrix>(),
            Self::Uniform => UNIFORM_ENTRIES * size_of::<ColumnMatrix>(),
            Self::DualQuaternions => entries * size_of::<DeviceDualQuaternion>(),
        }
    }

    /// The form that rows are converted to; none if they are uploaded as they are.
    pub(crate) fn device_form(self) -> Option<DeviceForm> {
        match self {
            Self::Rows | Self::Workgroup | Self::Texture | Self::Baked(_) => None,
            Self::Half => Some(DeviceForm::Half),
            Self::Columns | Self::Uniform => Some(DeviceForm::Columns),
            Self::DualQuaternions => Some(DeviceForm::DualQuaternions),
        }
    }

    /// Checks that a device can hold the palettes of so many instances of a group in this form.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`](skinbench_frame::BackendError::Unavailable) if the device lacks operations that
    /// shaders need for it, or [`BackendError::TooLarge`](skinbench_frame::BackendError::TooLarge) if the palettes exceed
    /// the largest buffer or texture of the device.
    pub fn check(self, gpu: &Gpu, group: &Group, instances: usize) -> Result<()> {
        let adapter = &gpu.adapter;
        let converts = wgpu::DownlevelFlags::SHADER_F16_IN_F32;
        needs!(
            adapter.downlevel.contains(converts) || self != Self::Half,
            "the device converts no 16-bit floats in shaders"
        );
        let limits = &adapter.limits;
        let most = match self {
            // No row fits.
            Self::Texture if limits.max_texture_dimension_2d < TEXTURE_WIDTH => 0,
            Self::Texture => u64::from(limits.max_texture_dimension_2d) * TEXTURE_ROW,
            _ => limits.max_buffer_size,
        };
        let what = format_args!("palettes of {:?} need", group.model.name());
        let bytes = (instances * self.instance_bytes(group)) as u64;
        fits(what, bytes, "at once", most)
    }

    /// Returns whether palettes are rows of 3x4 matrices in a storage buffer, as the device writes them.
    pub(crate) fn is_rows(self) -> bool {
        matches!(self, Self::Rows | Self::Workgroup)
    }
}

/// Palettes of a batch that the host uploads, `[instance][entry]`.
pub struct Palettes {
    buffer: Buffer,
    /// The texture that is bound instead of the buffer, if any.
    texture: Option<Texture>,
    /// Bytes that are bound at a time, if not all.
    window: Option<u32>,
}

impl Palettes {
    /// Allocates so many bytes in a form.
    pub fn new(gpu: &Gpu, form: PaletteForm, bytes: u64) -> Self {
        let usage = match form {
            PaletteForm::Uniform => wgpu::BufferUsages::UNIFORM,
            PaletteForm::Texture => wgpu::BufferUsages::COPY_SRC,
            _ => wgpu::BufferUsages::STORAGE,
        };
        let height = bytes.div_ceil(TEXTURE_ROW) as u32;
        let texture = (form == PaletteForm::Texture)
            .then(|| gpu.float_texture(Purpose::Palettes, "palettes", TEXTURE_WIDTH, height));
        let bytes = if texture.is_some() {
            bytes.next_multiple_of(TEXTURE_ROW)
        } else {
            bytes
        };
        let buffer = gpu.buffer(
            Purpose::Palettes,
            "palettes",
            bytes,
            usage | wgpu::BufferUsages::COPY_DST,
        );
        Self {
            buffer,
            texture,
            window: form.stride(),
        }
    }

    /// What shaders bind to read them.
    pub fn input(&self) -> Named {
        let palettes = match &self.texture {
            Some(texture) => Resource::View {
                view: texture.view.clone(),
            },
            None => Resource::Buffer {
                buffer: self.buffer.clone(),
                offset: 0,
                size: self.window.map(u64::from),
            },
        };
        ("palettes", palettes)
    }

    /// Records the upload of all palettes, which are a range of closed staging memory, except the `kept` parts of this.
    pub fn upload(
        &self,
        commands: &mut dyn Recorder,
        staging: &mut Staging,
        range: Range<usize>,
        kept: &[Range<usize>],
    ) {
        commands.send(staging, range, kept, &self.buffer);
        if let Some(texture) = &self.texture {
            commands.run(Command::ToTexture {
                from: &self.buffer,
                bytes_per_row: TEXTURE_ROW as u32,
                to: texture,
            });
        }
    }
}
