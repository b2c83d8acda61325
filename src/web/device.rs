//! A device that executes nothing and records on a [`Tape`] what it is asked for.
//!
//! Backends run on it as on any other device, so a page that plays the tape asks WebGPU for exactly what the native
//! backends ask for: texts of shaders, values of overrides, layouts, sizes of buffers, workgroups and draws.

use super::tape::{Command, Object, Tape};
use serde_json::{Value, json};
use std::fmt::Debug;
use std::future::ready;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wgpu::custom::*;

/// A tape that the objects of one device share.
#[derive(Debug, Clone, Default)]
pub struct Recorder(Arc<Mutex<Tape>>);

impl Recorder {
    /// The tape so far.
    pub fn tape(&self) -> MutexGuard<'_, Tape> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A device and a queue that record on this tape. Limits are those that every implementation of WebGPU has.
    pub fn open(&self) -> (wgpu::Device, wgpu::Queue) {
        (wgpu::Device::from_custom(self.clone()), wgpu::Queue::from_custom(self.clone()))
    }

    fn create(&self, descriptor: Value) -> Handle {
        let id = self.tape().push(Object::new(descriptor));
        Handle { recorder: self.clone(), id }
    }
}

/// An object on the tape that is only referred to.
#[derive(Debug)]
struct Handle {
    recorder: Recorder,
    id: usize,
}

/// A buffer and its bytes, as far as the host wrote them.
#[derive(Debug)]
struct Buffer {
    handle: Handle,
    bytes: Arc<Mutex<Vec<u8>>>,
    /// `true` if the host writes to it directly: its bytes are staging memory, not contents.
    staging: bool,
    /// `true` if it has been mapped since it was created.
    fresh: Mutex<bool>,
}

/// A mapped part of a buffer.
#[derive(Debug)]
struct Mapped {
    part: Vec<u8>,
    first: usize,
    bytes: Arc<Mutex<Vec<u8>>>,
}

/// Commands that are not submitted yet.
#[derive(Debug, Clone)]
enum Recorded {
    Copy { from: usize, staging: Option<Arc<Mutex<Vec<u8>>>>, at: u64, to: usize, offset: u64, bytes: u64 },
    Device(Value),
}

#[derive(Debug)]
struct Encoder {
    commands: Arc<Mutex<Vec<Recorded>>>,
}

#[derive(Debug)]
struct Submitted(Vec<Recorded>);

/// A compute or render pass, which joins its encoder's commands when it is dropped.
#[derive(Debug)]
struct Pass {
    /// `compute` or `render`, then the pass's descriptor.
    head: [Value; 2],
    commands: Vec<Value>,
    encoder: Arc<Mutex<Vec<Recorded>>>,
}

/// Body of a method that no backend calls.
macro_rules! never {
    () => {
        unreachable!("no backend of skinbench asks a device for this")
    };
}

/// One of this module's types behind one of wgpu's.
macro_rules! own {
    ($object:expr, $type:ty) => {
        match $object.as_custom::<$type>() {
            Some(own) => own,
            None => unreachable!("an object of another device"),
        }
    };
}

/// Index on the tape of an object behind one of wgpu's types.
macro_rules! id {
    ($object:expr) => {
        own!($object, Handle).id
    };
}

/// Index on the tape of a buffer.
macro_rules! buffer {
    ($object:expr) => {
        own!($object, Buffer).handle.id
    };
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// WebGPU's name of a value of one of wgpu's enums: `TriangleList` is `triangle-list`.
fn name(value: impl Debug) -> String {
    let mut name = String::new();
    for letter in format!("{value:?}").chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// WebGPU's name of a texture format: `Rgba8UnormSrgb` is `rgba8unorm-srgb`.
fn format_name(format: wgpu::TextureFormat) -> String {
    format!("{format:?}").replace("Srgb", "-srgb").to_lowercase()
}

fn constants(options: &wgpu::PipelineCompilationOptions) -> Value {
    options
        .constants
        .iter()
        .map(|&(name, value)| (name.to_owned(), json!(value)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

impl DeviceInterface for Recorder {
    fn features(&self) -> wgpu::Features {
        wgpu::Features::empty()
    }

    fn limits(&self) -> wgpu::Limits {
        wgpu::Limits::defaults()
    }

    fn adapter_info(&self) -> wgpu::AdapterInfo {
        wgpu::AdapterInfo::new(wgpu::DeviceType::Other, wgpu::Backend::BrowserWebGpu)
    }

    fn create_shader_module(
        &self,
        descriptor: wgpu::ShaderModuleDescriptor<'_>,
        _: wgpu::ShaderRuntimeChecks,
    ) -> DispatchShaderModule {
        let wgpu::ShaderSource::Wgsl(text) = &descriptor.source else { never!() };
        let mut object = Object::new(json!({"kind": "module", "label": descriptor.label}));
        object.text = Some(text.to_string());
        let id = self.tape().push(object);
        DispatchShaderModule::custom(Handle { recorder: self.clone(), id })
    }

    fn create_bind_group_layout(&self, descriptor: &wgpu::BindGroupLayoutDescriptor<'_>) -> DispatchBindGroupLayout {
        let entry = |entry: &wgpu::BindGroupLayoutEntry| {
            let mut value = json!({"binding": entry.binding, "visibility": entry.visibility.bits()});
            match entry.ty {
                wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size } => {
                    let ty = match ty {
                        wgpu::BufferBindingType::Uniform => "uniform",
                        wgpu::BufferBindingType::Storage { read_only: true } => "read-only-storage",
                        wgpu::BufferBindingType::Storage { read_only: false } => "storage",
                    };
                    let least = min_binding_size.map_or(0, u64::from);
                    value["buffer"] =
                        json!({"type": ty, "hasDynamicOffset": has_dynamic_offset, "minBindingSize": least});
                }
                wgpu::BindingType::Texture { sample_type, multisampled: false, .. } => {
                    let kind = match sample_type {
                        wgpu::TextureSampleType::Float { filterable: false } => "unfilterable-float".into(),
                        wgpu::TextureSampleType::Float { filterable: true } => "float".into(),
                        other => name(other),
                    };
                    value["texture"] = json!({"sampleType": kind});
                }
                _ => never!(),
            }
            value
        };
        let entries: Vec<_> = descriptor.entries.iter().map(entry).collect();
        DispatchBindGroupLayout::custom(self.create(json!({"kind": "groupLayout", "entries": entries})))
    }

    fn create_bind_group(&self, descriptor: &wgpu::BindGroupDescriptor<'_>) -> DispatchBindGroup {
        let entry = |entry: &wgpu::BindGroupEntry| match &entry.resource {
            wgpu::BindingResource::Buffer(bound) => {
                let size = bound.size.map(u64::from);
                json!({"binding": entry.binding, "buffer": buffer!(bound.buffer), "offset": bound.offset, "size": size})
            }
            wgpu::BindingResource::TextureView(view) => json!({"binding": entry.binding, "view": id!(view)}),
            _ => never!(),
        };
        let entries: Vec<_> = descriptor.entries.iter().map(entry).collect();
        let group = json!({"kind": "group", "layout": id!(descriptor.layout), "entries": entries});
        DispatchBindGroup::custom(self.create(group))
    }

    fn create_pipeline_layout(&self, descriptor: &wgpu::PipelineLayoutDescriptor<'_>) -> DispatchPipelineLayout {
        let groups: Vec<_> = descriptor.bind_group_layouts.iter().flatten().map(|layout| id!(layout)).collect();
        DispatchPipelineLayout::custom(self.create(json!({"kind": "pipelineLayout", "groups": groups})))
    }

    fn create_render_pipeline(&self, descriptor: &wgpu::RenderPipelineDescriptor<'_>) -> DispatchRenderPipeline {
        let depth = descriptor.depth_stencil.as_ref().map(|depth| {
            json!({
                "format": format_name(depth.format),
                "depthWriteEnabled": depth.depth_write_enabled,
                "depthCompare": depth.depth_compare.map(name),
                "depthBias": depth.bias.constant,
                "depthBiasSlopeScale": depth.bias.slope_scale,
                "depthBiasClamp": depth.bias.clamp,
            })
        });
        let fragment = descriptor.fragment.as_ref().map(|fragment| {
            let target = |target: &wgpu::ColorTargetState| {
                json!({"format": format_name(target.format), "writeMask": target.write_mask.bits()})
            };
            json!({
                "module": id!(fragment.module),
                "entryPoint": fragment.entry_point,
                "constants": constants(&fragment.compilation_options),
                "targets": fragment.targets.iter().flatten().map(target).collect::<Vec<_>>(),
            })
        });
        let vertex = json!({
            "module": id!(descriptor.vertex.module),
            "entryPoint": descriptor.vertex.entry_point,
            "constants": constants(&descriptor.vertex.compilation_options),
        });
        let pipeline = json!({
            "kind": "render",
            "label": descriptor.label,
            "layout": descriptor.layout.map(|layout| id!(layout)),
            "vertex": vertex,
            "topology": name(descriptor.primitive.topology),
            "depthStencil": depth,
            "fragment": fragment,
        });
        DispatchRenderPipeline::custom(self.create(pipeline))
    }

    fn create_compute_pipeline(&self, descriptor: &wgpu::ComputePipelineDescriptor<'_>) -> DispatchComputePipeline {
        let pipeline = json!({
            "kind": "compute",
            "label": descriptor.label,
            "layout": descriptor.layout.map(|layout| id!(layout)),
            "module": id!(descriptor.module),
            "entryPoint": descriptor.entry_point,
            "constants": constants(&descriptor.compilation_options),
        });
        DispatchComputePipeline::custom(self.create(pipeline))
    }

    fn create_buffer(&self, descriptor: &wgpu::BufferDescriptor<'_>) -> DispatchBuffer {
        let staging = descriptor.usage.contains(wgpu::BufferUsages::MAP_WRITE);
        let handle = self.create(json!({
            "kind": if staging { "staging" } else { "buffer" },
            "label": descriptor.label,
            "size": descriptor.size,
            "usage": descriptor.usage.bits(),
        }));
        let fresh = descriptor.mapped_at_creation;
        // Only what the host writes needs memory here.
        let bytes = vec![0; if fresh { descriptor.size as usize } else { 0 }];
        DispatchBuffer::custom(Buffer { handle, bytes: Arc::new(Mutex::new(bytes)), staging, fresh: Mutex::new(fresh) })
    }

    fn create_texture(&self, descriptor: &wgpu::TextureDescriptor<'_>) -> DispatchTexture {
        let wgpu::Extent3d { width, height, .. } = descriptor.size;
        DispatchTexture::custom(self.create(json!({
            "kind": "texture",
            "label": descriptor.label,
            "size": [width, height],
            "format": format_name(descriptor.format),
            "usage": descriptor.usage.bits(),
        })))
    }

    fn create_command_encoder(&self, _: &wgpu::CommandEncoderDescriptor<'_>) -> DispatchCommandEncoder {
        DispatchCommandEncoder::custom(Encoder { commands: Arc::default() })
    }

    fn set_device_lost_callback(&self, _: BoxDeviceLostCallback) {}

    fn on_uncaptured_error(&self, _: Arc<dyn wgpu::UncapturedErrorHandler>) {}

    fn poll(&self, _: wgpu::wgt::PollType<u64>) -> Result<wgpu::PollStatus, wgpu::PollError> {
        Ok(wgpu::PollStatus::QueueEmpty)
    }

    fn destroy(&self) {}

    unsafe fn create_shader_module_passthrough(
        &self,
        _: &wgpu::ShaderModuleDescriptorPassthrough<'_>,
    ) -> DispatchShaderModule {
        never!()
    }
    fn create_mesh_pipeline(&self, _: &wgpu::MeshPipelineDescriptor<'_>) -> DispatchRenderPipeline {
        never!()
    }
    unsafe fn create_pipeline_cache(&self, _: &wgpu::PipelineCacheDescriptor<'_>) -> DispatchPipelineCache {
        never!()
    }
    fn create_external_texture(
        &self,
        _: &wgpu::ExternalTextureDescriptor<'_>,
        _: &[&wgpu::TextureView],
    ) -> DispatchExternalTexture {
        never!()
    }
    fn create_blas(
        &self,
        _: &wgpu::CreateBlasDescriptor<'_>,
        _: wgpu::BlasGeometrySizeDescriptors,
    ) -> (Option<u64>, DispatchBlas) {
        never!()
    }
    fn create_tlas(&self, _: &wgpu::CreateTlasDescriptor<'_>) -> DispatchTlas {
        never!()
    }
    fn create_sampler(&self, _: &wgpu::SamplerDescriptor<'_>) -> DispatchSampler {
        never!()
    }
    fn create_query_set(&self, _: &wgpu::QuerySetDescriptor<'_>) -> DispatchQuerySet {
        never!()
    }
    fn create_render_bundle_encoder(&self, _: &wgpu::RenderBundleEncoderDescriptor<'_>) -> DispatchRenderBundleEncoder {
        never!()
    }
    fn push_error_scope(&self, _: wgpu::ErrorFilter) -> u32 {
        0
    }
    fn pop_error_scope(&self, _: u32) -> Pin<Box<dyn PopErrorScopeFuture>> {
        Box::pin(ready(None))
    }
    unsafe fn start_graphics_debugger_capture(&self) {}
    unsafe fn stop_graphics_debugger_capture(&self) {}
    fn get_internal_counters(&self) -> wgpu::InternalCounters {
        never!()
    }
    fn generate_allocator_report(&self) -> Option<wgpu::AllocatorReport> {
        None
    }
}

impl QueueInterface for Recorder {
    fn write_buffer(&self, buffer: &DispatchBuffer, offset: u64, data: &[u8]) {
        let write = Command::Write { buffer: buffer!(buffer), offset, bytes: data.into() };
        self.tape().commands.push(write);
    }

    fn submit(&self, buffers: &mut dyn Iterator<Item = DispatchCommandBuffer>) -> u64 {
        let mut tape = self.tape();
        for submitted in buffers {
            tape.commands.extend(own!(submitted, Submitted).0.iter().map(|command| match command.clone() {
                // What was staged is known only now.
                Recorded::Copy { staging: Some(staged), at, to, offset, bytes, .. } => {
                    let bytes = lock(&staged)[at as usize..(at + bytes) as usize].to_vec();
                    Command::Write { buffer: to, offset, bytes }
                }
                Recorded::Copy { from, at, to, offset, bytes, .. } => {
                    Command::Device(json!(["copy", from, at, to, offset, bytes]))
                }
                Recorded::Device(value) => Command::Device(value),
            }));
        }
        0
    }

    fn get_timestamp_period(&self) -> f32 {
        1.0
    }

    fn on_submitted_work_done(&self, callback: BoxSubmittedWorkDoneCallback) {
        callback();
    }

    fn create_staging_buffer(&self, _: wgpu::BufferSize) -> Option<DispatchQueueWriteBuffer> {
        never!()
    }
    fn validate_write_buffer(&self, _: &DispatchBuffer, _: u64, _: wgpu::BufferSize) -> Option<()> {
        Some(())
    }
    fn write_staging_buffer(&self, _: &DispatchBuffer, _: u64, _: &DispatchQueueWriteBuffer) {
        never!()
    }
    /// Records the texels as what the texture holds from the start: backends write whole textures, once.
    fn write_texture(
        &self,
        destination: wgpu::TexelCopyTextureInfo<'_>,
        data: &[u8],
        layout: wgpu::TexelCopyBufferLayout,
        _: wgpu::Extent3d,
    ) {
        let object = &mut self.tape().objects[id!(destination.texture)];
        object.descriptor["bytesPerRow"] = json!(layout.bytes_per_row);
        object.contents = Some(data.to_vec());
    }
    fn compact_blas(&self, _: &DispatchBlas) -> (Option<u64>, DispatchBlas) {
        never!()
    }
    fn present(&self, _: &DispatchSurfaceOutputDetail) {
        never!()
    }
}

impl ShaderModuleInterface for Handle {
    fn get_compilation_info(&self) -> Pin<Box<dyn ShaderCompilationInfoFuture>> {
        never!()
    }
}
impl BindGroupLayoutInterface for Handle {}
impl BindGroupInterface for Handle {}
impl TextureViewInterface for Handle {}
impl PipelineLayoutInterface for Handle {}
impl RenderPipelineInterface for Handle {
    fn get_bind_group_layout(&self, _: u32) -> DispatchBindGroupLayout {
        never!()
    }
}
impl ComputePipelineInterface for Handle {
    fn get_bind_group_layout(&self, _: u32) -> DispatchBindGroupLayout {
        never!()
    }
}
impl TextureInterface for Handle {
    fn create_view(&self, _: &wgpu::TextureViewDescriptor<'_>) -> DispatchTextureView {
        DispatchTextureView::custom(self.recorder.create(json!({"kind": "view", "texture": self.id})))
    }
    fn destroy(&self) {}
}

impl BufferInterface for Buffer {
    fn map_async(&self, _: wgpu::MapMode, range: Range<u64>, callback: BufferMapCallback) {
        let mut bytes = lock(&self.bytes);
        let size = bytes.len().max(range.end as usize);
        bytes.resize(size, 0);
        drop(bytes);
        callback(Ok(()));
    }

    fn get_mapped_range(&self, range: Range<u64>) -> Result<DispatchBufferMappedRange, wgpu::MapRangeError> {
        if !self.staging && !*lock(&self.fresh) {
            let read = Command::Read { buffer: self.handle.id, bytes: range.end - range.start };
            self.handle.recorder.tape().commands.push(read);
        }
        let first = range.start as usize;
        let part = lock(&self.bytes)[first..range.end as usize].to_vec();
        Ok(DispatchBufferMappedRange::custom(Mapped { part, first, bytes: Arc::clone(&self.bytes) }))
    }

    fn unmap(&self) {
        let created = std::mem::replace(&mut *lock(&self.fresh), false);
        if created && !self.staging {
            let contents = std::mem::take(&mut *lock(&self.bytes));
            self.handle.recorder.tape().objects[self.handle.id].contents = Some(contents);
        }
    }

    fn destroy(&self) {}
}

impl BufferMappedRangeInterface for Mapped {
    fn len(&self) -> usize {
        self.part.len()
    }
    unsafe fn read_slice(&self) -> &[u8] {
        &self.part
    }
    unsafe fn write_slice(&mut self) -> wgpu::WriteOnly<'_, [u8]> {
        wgpu::WriteOnly::from(&mut self.part[..])
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        let mut bytes = lock(&self.bytes);
        bytes[self.first..self.first + self.part.len()].copy_from_slice(&self.part);
    }
}

impl CommandEncoderInterface for Encoder {
    fn copy_buffer_to_buffer(
        &self,
        source: &DispatchBuffer,
        at: u64,
        destination: &DispatchBuffer,
        offset: u64,
        bytes: Option<u64>,
    ) {
        let Some(bytes) = bytes else { never!() };
        let source = own!(source, Buffer);
        let staging = source.staging.then(|| Arc::clone(&source.bytes));
        let copy = Recorded::Copy { from: source.handle.id, staging, at, to: buffer!(destination), offset, bytes };
        lock(&self.commands).push(copy);
    }

    fn copy_buffer_to_texture(
        &self,
        source: wgpu::TexelCopyBufferInfo<'_>,
        destination: wgpu::TexelCopyTextureInfo<'_>,
        size: wgpu::Extent3d,
    ) {
        let (buffer, texture) = (buffer!(source.buffer), id!(destination.texture));
        let copy = json!(["toTexture", buffer, source.layout.bytes_per_row, texture, size.width, size.height]);
        lock(&self.commands).push(Recorded::Device(copy));
    }

    fn copy_texture_to_buffer(
        &self,
        source: wgpu::TexelCopyTextureInfo<'_>,
        destination: wgpu::TexelCopyBufferInfo<'_>,
        size: wgpu::Extent3d,
    ) {
        let (texture, buffer) = (id!(source.texture), buffer!(destination.buffer));
        let copy = json!(["fromTexture", texture, buffer, destination.layout.bytes_per_row, size.width, size.height]);
        lock(&self.commands).push(Recorded::Device(copy));
    }

    fn begin_compute_pass(&self, descriptor: &wgpu::ComputePassDescriptor<'_>) -> DispatchComputePass {
        let head = ["compute".into(), json!({"label": descriptor.label})];
        DispatchComputePass::custom(Pass { head, commands: Vec::new(), encoder: Arc::clone(&self.commands) })
    }

    fn begin_render_pass(&self, descriptor: &wgpu::RenderPassDescriptor<'_>) -> DispatchRenderPass {
        let color = |attachment: &wgpu::RenderPassColorAttachment| {
            let clear = match attachment.ops.load {
                // NaN, which JSON and WebGPU's colours lack, becomes null.
                wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a }) => json!([r, g, b, a]),
                _ => Value::Null,
            };
            json!({"view": id!(attachment.view), "clear": clear})
        };
        let depth = |attachment: &wgpu::RenderPassDepthStencilAttachment| {
            let clear = match attachment.depth_ops.map(|ops| ops.load) {
                Some(wgpu::LoadOp::Clear(depth)) => Some(depth),
                _ => None,
            };
            json!({"view": id!(attachment.view), "clear": clear})
        };
        let head = json!({
            "label": descriptor.label,
            "colors": descriptor.color_attachments.iter().flatten().map(color).collect::<Vec<_>>(),
            "depth": descriptor.depth_stencil_attachment.as_ref().map(depth),
        });
        let head = ["render".into(), head];
        DispatchRenderPass::custom(Pass { head, commands: Vec::new(), encoder: Arc::clone(&self.commands) })
    }

    fn finish(&mut self) -> DispatchCommandBuffer {
        DispatchCommandBuffer::custom(Submitted(std::mem::take(&mut *lock(&self.commands))))
    }

    fn copy_texture_to_texture(
        &self,
        _: wgpu::TexelCopyTextureInfo<'_>,
        _: wgpu::TexelCopyTextureInfo<'_>,
        _: wgpu::Extent3d,
    ) {
        never!()
    }
    fn clear_texture(&self, _: &DispatchTexture, _: &wgpu::ImageSubresourceRange) {
        never!()
    }
    fn clear_buffer(&self, _: &DispatchBuffer, _: u64, _: Option<u64>) {
        never!()
    }
    fn insert_debug_marker(&self, _: &str) {}
    fn push_debug_group(&self, _: &str) {}
    fn pop_debug_group(&self) {}
    fn write_timestamp(&self, _: &DispatchQuerySet, _: u32) {
        never!()
    }
    fn resolve_query_set(&self, _: &DispatchQuerySet, _: u32, _: u32, _: &DispatchBuffer, _: u64) {
        never!()
    }
    fn mark_acceleration_structures_built<'a>(
        &self,
        _: &mut dyn Iterator<Item = &'a wgpu::Blas>,
        _: &mut dyn Iterator<Item = &'a wgpu::Tlas>,
    ) {
        never!()
    }
    fn build_acceleration_structures<'a>(
        &self,
        _: &mut dyn Iterator<Item = &'a wgpu::BlasBuildEntry<'a>>,
        _: &mut dyn Iterator<Item = &'a wgpu::Tlas>,
    ) {
        never!()
    }
    fn transition_resources<'a>(
        &mut self,
        _: &mut dyn Iterator<Item = wgpu::wgt::BufferTransition<&'a DispatchBuffer>>,
        _: &mut dyn Iterator<Item = wgpu::wgt::TextureTransition<&'a DispatchTexture>>,
    ) {
        never!()
    }
}
impl CommandBufferInterface for Submitted {}

impl Pass {
    fn bind(&mut self, index: u32, group: Option<&DispatchBindGroup>, offsets: &[u32]) {
        let Some(group) = group else { never!() };
        self.commands.push(json!(["group", index, id!(group), offsets]));
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let [kind, head] = std::mem::take(&mut self.head);
        let pass = json!([kind, head, std::mem::take(&mut self.commands)]);
        lock(&self.encoder).push(Recorded::Device(pass));
    }
}

impl ComputePassInterface for Pass {
    fn set_pipeline(&mut self, pipeline: &DispatchComputePipeline) {
        self.commands.push(json!(["pipeline", id!(pipeline)]));
    }
    fn set_bind_group(&mut self, index: u32, group: Option<&DispatchBindGroup>, offsets: &[u32]) {
        self.bind(index, group, offsets);
    }
    fn dispatch_workgroups(&mut self, x: u32, y: u32, z: u32) {
        self.commands.push(json!(["dispatch", x, y, z]));
    }
    fn dispatch_workgroups_indirect(&mut self, buffer: &DispatchBuffer, offset: u64) {
        self.commands.push(json!(["dispatchIndirect", buffer!(buffer), offset]));
    }
    fn set_immediates(&mut self, _: u32, _: &[u8]) {
        never!()
    }
    fn insert_debug_marker(&mut self, _: &str) {}
    fn push_debug_group(&mut self, _: &str) {}
    fn pop_debug_group(&mut self) {}
    fn write_timestamp(&mut self, _: &DispatchQuerySet, _: u32) {
        never!()
    }
    fn begin_pipeline_statistics_query(&mut self, _: &DispatchQuerySet, _: u32) {
        never!()
    }
    fn end_pipeline_statistics_query(&mut self) {
        never!()
    }
    fn transition_resources<'a>(
        &mut self,
        _: &mut dyn Iterator<Item = wgpu::wgt::BufferTransition<&'a DispatchBuffer>>,
        _: &mut dyn Iterator<Item = wgpu::wgt::TextureTransition<&'a DispatchTextureView>>,
    ) {
        never!()
    }
}

impl RenderPassInterface for Pass {
    fn set_pipeline(&mut self, pipeline: &DispatchRenderPipeline) {
        self.commands.push(json!(["pipeline", id!(pipeline)]));
    }
    fn set_bind_group(&mut self, index: u32, group: Option<&DispatchBindGroup>, offsets: &[u32]) {
        self.bind(index, group, offsets);
    }
    fn set_index_buffer(
        &mut self,
        buffer: &DispatchBuffer,
        format: wgpu::IndexFormat,
        _: u64,
        _: Option<wgpu::BufferSize>,
    ) {
        self.commands.push(json!(["indices", buffer!(buffer), name(format)]));
    }
    fn draw(&mut self, vertices: Range<u32>, instances: Range<u32>) {
        self.commands.push(json!([
            "draw",
            vertices.end - vertices.start,
            instances.end - instances.start,
            vertices.start,
            instances.start
        ]));
    }
    fn draw_indexed(&mut self, indices: Range<u32>, base: i32, instances: Range<u32>) {
        self.commands.push(json!([
            "drawIndexed",
            indices.end - indices.start,
            instances.end - instances.start,
            indices.start,
            base,
            instances.start
        ]));
    }
    fn draw_indexed_indirect(&mut self, buffer: &DispatchBuffer, offset: u64) {
        self.commands.push(json!(["drawIndexedIndirect", buffer!(buffer), offset]));
    }
    fn set_vertex_buffer(&mut self, _: u32, _: Option<&DispatchBuffer>, _: u64, _: Option<wgpu::BufferSize>) {
        never!()
    }
    fn set_immediates(&mut self, _: u32, _: &[u8]) {
        never!()
    }
    fn set_blend_constant(&mut self, _: wgpu::Color) {
        never!()
    }
    fn set_scissor_rect(&mut self, _: u32, _: u32, _: u32, _: u32) {
        never!()
    }
    fn set_viewport(&mut self, _: f32, _: f32, _: f32, _: f32, _: f32, _: f32) {
        never!()
    }
    fn set_stencil_reference(&mut self, _: u32) {
        never!()
    }
    fn draw_mesh_tasks(&mut self, _: u32, _: u32, _: u32) {
        never!()
    }
    fn draw_indirect(&mut self, _: &DispatchBuffer, _: u64) {
        never!()
    }
    fn draw_mesh_tasks_indirect(&mut self, _: &DispatchBuffer, _: u64) {
        never!()
    }
    fn multi_draw_indirect(&mut self, _: &DispatchBuffer, _: u64, _: u32) {
        never!()
    }
    fn multi_draw_indexed_indirect(&mut self, _: &DispatchBuffer, _: u64, _: u32) {
        never!()
    }
    fn multi_draw_indirect_count(&mut self, _: &DispatchBuffer, _: u64, _: &DispatchBuffer, _: u64, _: u32) {
        never!()
    }
    fn multi_draw_mesh_tasks_indirect(&mut self, _: &DispatchBuffer, _: u64, _: u32) {
        never!()
    }
    fn multi_draw_indexed_indirect_count(&mut self, _: &DispatchBuffer, _: u64, _: &DispatchBuffer, _: u64, _: u32) {
        never!()
    }
    fn multi_draw_mesh_tasks_indirect_count(&mut self, _: &DispatchBuffer, _: u64, _: &DispatchBuffer, _: u64, _: u32) {
        never!()
    }
    fn insert_debug_marker(&mut self, _: &str) {}
    fn push_debug_group(&mut self, _: &str) {}
    fn pop_debug_group(&mut self) {}
    fn write_timestamp(&mut self, _: &DispatchQuerySet, _: u32) {
        never!()
    }
    fn begin_occlusion_query(&mut self, _: u32) {
        never!()
    }
    fn end_occlusion_query(&mut self) {
        never!()
    }
    fn begin_pipeline_statistics_query(&mut self, _: &DispatchQuerySet, _: u32) {
        never!()
    }
    fn end_pipeline_statistics_query(&mut self) {
        never!()
    }
    fn execute_bundles(&mut self, _: &mut dyn Iterator<Item = &DispatchRenderBundle>) {
        never!()
    }
}
