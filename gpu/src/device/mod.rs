//! Devices: adapters, objects and commands, and memory that is counted.

pub(crate) mod adapter;
pub(crate) mod arithmetic;
pub(crate) mod buffers;
pub mod command;
pub mod commands;
pub(crate) mod create;
pub(crate) mod description;
pub(crate) mod failures;
pub(crate) mod gpu;
pub mod objects;
pub(crate) mod staging;
pub mod tape;
pub(crate) mod timestamps;

pub(crate) use adapter::{Adapter, CAPTURE_FORMAT, TIMING, fits, needs};
pub use arithmetic::{WORKGROUPS as ARITHMETIC_WORKGROUPS, wgsl as arithmetic_wgsl};
pub(crate) use command::{ColorTarget, Command, DepthTarget, DrawPart, Recorder, Targets};
pub(crate) use commands::Commands;
pub(crate) use create::flat;
pub(crate) use description::{
    BindGroupLayout, EntryPoint, FragmentDescription, PipelineDescription,
};
pub(crate) use failures::{Failures, one_line};
pub(crate) use objects::{
    BindGroup, Buffer, COLOR, ComputePipeline, DEPTH, Named, PipelineLayout, RenderPipeline,
    Resource, Sampler, ShaderModule, Texture, TextureView, named,
};
pub(crate) use staging::Staging;
pub(crate) use tape::{Entry, Tape};
