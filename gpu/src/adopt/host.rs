//! What belongs to the program: its device, slices of its buffers, and its compute pass as the destination of commands.

use crate::Gpu;
use crate::device::adapter::Adapter;
use crate::device::command::{Command, Recorder, compute};
use crate::device::gpu::ShaderChecks;
use crate::device::{BindGroup, Buffer, Failures, Resource, fits, needs, one_line};
use crate::passes::skin::SkinKernel;
use skinbench_frame::{BackendError, Job, Result};
use skinbench_kernels::crowd::Crowd;
use std::sync::Arc;

impl Gpu {
    /// Uses a device of the caller's, with the limits and features that it was created with. Errors of wgpu go where the
    /// caller has them go; [`Gpu::check`] returns only those of this crate.
    pub fn adopt(
        adapter: &wgpu::Adapter,
        device: wgpu::Device,
        queue: wgpu::Queue,
        checks: ShaderChecks,
    ) -> Arc<Self> {
        let known = Adapter::adopted(adapter, &device);
        Self::on(known, device, queue, Failures::default(), checks)
    }
}

/// Slices for vertices, bound to the kernels of a crowd.
pub struct Vertices(pub(super) Vec<BindGroup>);

/// A compute pass of the caller's as the destination of commands. What the host writes goes through the queue, and is there
/// before the commands that are submitted next.
pub(super) struct InPass<'a, 'p> {
    pub queue: &'a wgpu::Queue,
    pub pass: &'a mut wgpu::ComputePass<'p>,
}

impl Recorder for InPass<'_, '_> {
    fn run(&mut self, command: Command) {
        match command {
            Command::Write { buffer, bytes } => {
                self.queue.write_buffer(buffer.object.get(), 0, bytes);
            }
            // All passes are parts of the caller's.
            Command::Compute { .. } | Command::End | Command::Stage(_) | Command::EndStage => {}
            command => compute(self.pass, &command),
        }
    }
}

/// Opens a compute pass for commands that need no more than one.
pub(super) fn in_own_pass(
    encoder: &mut wgpu::CommandEncoder,
    record: impl FnOnce(&mut wgpu::ComputePass),
) {
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
        label: Some("skinbench"),
        timestamp_writes: None,
    });
    record(&mut pass);
}

/// Runs what creates objects of wgpu. Those that wgpu refuses are errors of the result instead of the caller's handler.
pub(super) fn created<T>(gpu: &Gpu, create: impl FnOnce() -> Result<T>) -> Result<T> {
    let Some((device, _)) = gpu.device() else {
        return create();
    };
    let invalid = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let result = create();
    let refusals = [memory.pop(), invalid.pop()];
    // Read in any case, so that the next call does not find what this one was refused.
    let noted = gpu.check();
    // What wgpu refused is why later commands fail.
    for refusal in refusals {
        if let Some(error) = pollster::block_on(refusal) {
            return Err(BackendError::Device(one_line(&error.to_string())));
        }
    }
    let value = result?;
    noted?;
    Ok(value)
}

/// Checks that a kernel skins model by model and writes whole vertices, and can do what the crowd asks for.
pub(super) fn check_kernel(kernel: &SkinKernel, crowd: &Crowd) -> Result<()> {
    let name = kernel.name;
    needs!(
        !kernel.is_merged(),
        "the kernel {name} skins chunks of several models; expected one that skins models one by one"
    );
    needs!(
        kernel.output.is_none(),
        "the kernel {name} writes positions apart from normals; expected one that writes whole vertices"
    );
    for lack in kernel.lacks {
        if let Some(refusal) = lack.refusal(crowd, &Job::default()) {
            let message = format!("the kernel {name} {refusal}");
            return Err(BackendError::Unavailable(message));
        }
    }
    Ok(())
}

/// The first bytes of a slice of the caller's as a storage buffer of shaders; `what` it holds.
///
/// # Errors
/// What the slice lacks: the usage, an offset that the device can bind, or bytes.
pub(super) fn bound(
    gpu: &Gpu,
    what: &str,
    slice: wgpu::BufferSlice,
    bytes: u64,
) -> Result<Resource> {
    let (buffer, offset) = (slice.buffer(), slice.offset());
    needs!(
        buffer.usage().contains(wgpu::BufferUsages::STORAGE),
        "the buffer of {what} lacks the usage STORAGE"
    );
    let alignment = gpu.adapter.limits.min_storage_buffer_offset_alignment;
    needs!(
        offset.is_multiple_of(alignment.into()),
        "{what} begin at byte {offset}; the device binds multiples of {alignment}"
    );
    fits(
        format_args!("{what} take"),
        bytes,
        "at once",
        gpu.binding_bytes(),
    )?;
    if slice.size() < bytes {
        return Err(BackendError::TooLarge(format!(
            "{what} take {bytes} bytes; their slice has only {}",
            slice.size()
        )));
    }
    Ok(Resource::Buffer {
        buffer: Buffer::from(buffer.clone()),
        offset,
        size: Some(bytes),
    })
}
