//! Devices: adapters, objects and commands, and memory that is counted.

pub(in crate::gpu) mod adapter;
pub(in crate::gpu) mod arithmetic;
pub(in crate::gpu) mod buffers;
pub mod command;
pub mod commands;
pub(in crate::gpu) mod create;
pub(in crate::gpu) mod description;
pub(in crate::gpu) mod failures;
pub(in crate::gpu) mod gpu;
pub mod objects;
pub mod tape;
pub(in crate::gpu) mod timestamps;

pub(in crate::gpu) use adapter::{Adapter, CAPTURE_FORMAT, TIMING, fits, needs};
pub use arithmetic::{WORKGROUPS as ARITHMETIC_WORKGROUPS, wgsl as arithmetic_wgsl};
pub(in crate::gpu) use command::{ColorTarget, Command, DepthTarget, DrawPart, Recorder, Targets};
pub(in crate::gpu) use commands::Commands;
pub(in crate::gpu) use description::{
    ColorDescription, DepthDescription, EntryPoint, FragmentDescription, PipelineDescription,
    TextureDescription,
};
pub(in crate::gpu) use failures::{Failures, one_line};
pub(in crate::gpu) use objects::{
    BindGroup, Buffer, COLOR, ComputePipeline, DEPTH, Named, PipelineLayout, RenderPipeline,
    Resource, Sampler, ShaderModule, Texture, TextureView,
};
pub(in crate::gpu) use tape::{Entry, Tape};
