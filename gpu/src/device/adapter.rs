//! Adapters: enumeration, choice, and everything about one that decides what runs on it and how.

use skinbench_frame::{AdapterSummary, Api, BackendError, Result};
use std::fmt::Display;
use wgpu::{DownlevelFlags, Features, Limits};

/// Limit on the bytes of a binding if the adapter allows more: keeps indices within 32 bits, and a ring within memory.
const BINDING_LIMIT: u64 = 1 << 30;
/// Features with which stages are timed by queries anywhere in a frame.
pub const TIMING: Features =
    Features::TIMESTAMP_QUERY.union(Features::TIMESTAMP_QUERY_INSIDE_ENCODERS);
/// Features with which several draws are one command: with draws counted on the device come several draws in one
/// command; wgpu would otherwise issue them one by one.
const MULTI_DRAWS: Features =
    Features::MULTI_DRAW_INDIRECT_COUNT.union(Features::INDIRECT_FIRST_INSTANCE);
/// Number of AMD among vendors (PCI).
const AMD: u32 = 0x1002;
/// Format of the textures through which vertices of a vertex shader are read back.
pub const CAPTURE_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba32Float;

/// All adapters of this machine by one graphics API, with the default one first; `None` for the APIs that this machine
/// prefers.
pub fn summaries(api: Option<Api>) -> Vec<AdapterSummary> {
    let found = adapters(api).into_iter();
    found.map(|found| found.summary).collect()
}

/// The graphics APIs of this build, by wgpu's names.
pub fn apis() -> String {
    let all = wgpu::Instance::enabled_backend_features();
    let names: Vec<String> = all
        .iter_names()
        .map(|named| named.0.to_lowercase())
        .collect();
    names.join(", ")
}

/// wgpu's name for an API.
fn wgpu_backend(api: Api) -> wgpu::Backends {
    match api {
        Api::Vulkan => wgpu::Backends::VULKAN,
        Api::Gl => wgpu::Backends::GL,
        Api::Dx12 => wgpu::Backends::DX12,
        Api::Metal => wgpu::Backends::METAL,
    }
}

/// An adapter of this machine.
struct Found {
    summary: AdapterSummary,
    adapter: wgpu::Adapter,
}

fn adapters(api: Option<Api>) -> Vec<Found> {
    // GL only if there is nothing else: on most machines it lists the same adapters again.
    let mut adapters = enumerated(api.map_or(wgpu::Backends::PRIMARY, wgpu_backend));
    if adapters.is_empty() && api.is_none() {
        adapters = enumerated(wgpu::Backends::GL);
    }
    // Hardware before software; the sort is stable, so indices are the same in every run.
    adapters.sort_by_key(|a| match a.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    });
    let mut found = Vec::with_capacity(adapters.len());
    for (index, adapter) in adapters.into_iter().enumerate() {
        let summary = summary(index, &adapter);
        found.push(Found { summary, adapter });
    }
    found
}

fn enumerated(backends: wgpu::Backends) -> Vec<wgpu::Adapter> {
    let mut descriptor = wgpu::InstanceDescriptor {
        backends,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    };
    // Our own kernels compute workgroup counts; validation would add a dispatch before each.
    descriptor
        .flags
        .remove(wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL);
    pollster::block_on(wgpu::Instance::new(descriptor.with_env()).enumerate_adapters(backends))
}

/// Returns whether an adapter has this name (part of the name, any case) or number.
fn is_named(known: &AdapterSummary, wanted: &str) -> bool {
    match wanted.parse::<usize>() {
        Ok(index) => known.index == index,
        Err(_) => known.name.to_lowercase().contains(&wanted.to_lowercase()),
    }
}

fn summary(index: usize, adapter: &wgpu::Adapter) -> AdapterSummary {
    let info = adapter.get_info();
    AdapterSummary {
        index,
        name: info.name,
        api: format!("{:?}", info.backend),
        driver: format!("{} {}", info.driver, info.driver_info)
            .trim()
            .to_owned(),
        software: info.device_type == wgpu::DeviceType::Cpu,
        pci_address: info.device_pci_bus_id,
    }
}

/// Abilities and limits of a device.
#[derive(Clone)]
pub struct Adapter {
    /// Name and driver.
    pub summary: AdapterSummary,
    /// Limits of the device.
    pub limits: Limits,
    /// Features that the device has and that we use.
    pub features: Features,
    /// Features of every device but old ones.
    pub downlevel: DownlevelFlags,
    /// `true` if vertices of vertex shaders can be drawn to float textures.
    pub captures: bool,
    /// `true` if a shader packs two numbers in 16 bits each by one instruction.
    pub packs: bool,
    /// `true` if it takes several draws, of instances that begin anywhere, as one command.
    pub multi_draws: bool,
    /// Most bytes of a binding.
    pub binding_limit: u64,
    /// Most workgroups of a dispatch in one dimension.
    pub workgroup_limit: u32,
}

impl Adapter {
    /// Opens, by one graphics API or the one that this machine prefers, the adapter with this name (part of the name, any case) or number, or the first.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if there is no adapter, or none with that name or number, or one that lacks what
    /// every crowd needs; or [`BackendError::Device`] if it does not open.
    pub(crate) fn open(
        api: Option<Api>,
        wanted: Option<&str>,
    ) -> Result<(Self, wgpu::Device, wgpu::Queue)> {
        let mut adapters = adapters(api);
        if adapters.is_empty() {
            let by = api.map_or(String::new(), |api| format!(" by {api:?}"));
            return Err(BackendError::Unavailable(format!("no adapter{by}")));
        }
        let index = adapters
            .iter()
            .position(|found| wanted.is_none_or(|wanted| is_named(&found.summary, wanted)));
        let Some(index) = index else {
            let known: Vec<_> = adapters
                .iter()
                .map(|found| format!("{} {}", found.summary.index, found.summary.name))
                .collect();
            return Err(BackendError::Unavailable(format!(
                "no adapter {:?}; there are: {}",
                wanted.unwrap_or_default(),
                known.join(", ")
            )));
        };
        let Found { summary, adapter } = adapters.swap_remove(index);
        let optional = TIMING | MULTI_DRAWS | Features::PIPELINE_CACHE;
        let features = adapter.features() & optional;
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("skinbench"),
            required_features: features,
            required_limits: adapter.limits(),
            ..Default::default()
        }))
        .map_err(|error| BackendError::Device(error.to_string()))?;
        let downlevel = adapter.get_downlevel_capabilities().flags;
        carries_crowds(&summary, downlevel, &device.limits())?;
        let captured = adapter
            .get_texture_format_features(CAPTURE_FORMAT)
            .allowed_usages;
        let own = Self {
            captures: captured.contains(wgpu::TextureUsages::RENDER_ATTACHMENT),
            packs: adapter.get_info().vendor == AMD,
            ..Self::new(summary, device.limits(), features, downlevel)
        };
        Ok((own, device, queue))
    }

    /// What a device of another program's has. Its frames are not timed.
    pub(crate) fn adopted(adapter: &wgpu::Adapter, device: &wgpu::Device) -> Self {
        let downlevel = adapter.get_downlevel_capabilities().flags;
        let features = device.features() & Features::PIPELINE_CACHE;
        Self {
            packs: adapter.get_info().vendor == AMD,
            ..Self::new(summary(0, adapter), device.limits(), features, downlevel)
        }
    }

    /// An adapter with the limits that every implementation of WebGPU guarantees. It counts as hardware.
    pub(crate) fn webgpu() -> Self {
        let name = "WebGPU".to_owned();
        let summary = AdapterSummary {
            index: 0,
            api: name.clone(),
            name,
            driver: String::new(),
            software: false,
            pci_address: String::new(),
        };
        Self::new(
            summary,
            Limits::defaults(),
            Features::empty(),
            DownlevelFlags::all(),
        )
    }

    fn new(
        summary: AdapterSummary,
        limits: Limits,
        features: Features,
        downlevel: DownlevelFlags,
    ) -> Self {
        let indirect = downlevel.contains(DownlevelFlags::INDIRECT_EXECUTION);
        Self {
            captures: true,
            packs: false,
            multi_draws: features.contains(MULTI_DRAWS) && indirect,
            binding_limit: BINDING_LIMIT,
            workgroup_limit: limits.max_compute_workgroups_per_dimension,
            summary,
            limits,
            features,
            downlevel,
        }
    }
}

/// Refuses an adapter on which no crowd can be kept: old OpenGL drivers have no compute shaders or no storage buffers,
/// and their limits are 0.
fn carries_crowds(
    summary: &AdapterSummary,
    downlevel: DownlevelFlags,
    limits: &Limits,
) -> Result<()> {
    let computes = downlevel.contains(DownlevelFlags::COMPUTE_SHADERS)
        && limits.max_compute_workgroups_per_dimension > 0;
    let stores = limits.max_storage_buffers_per_shader_stage > 0
        && limits.max_storage_buffer_binding_size > 0;
    let AdapterSummary { name, api, .. } = summary;
    needs!(computes, "{name} ({api}) has no compute shaders");
    needs!(stores, "{name} ({api}) has no storage buffers");
    Ok(())
}

/// Refuses what takes more bytes `at` a time than the adapter allows; `what` ends with its verb.
pub fn fits(what: impl Display, bytes: u64, at: &str, most: u64) -> Result<()> {
    if bytes <= most {
        return Ok(());
    }
    Err(BackendError::TooLarge(format!(
        "{what} {bytes} bytes {at}; the device allows {most}"
    )))
}

/// Returns an error unless the adapter has something: `needs!(has, …)`, with the reason as of `format!`.
macro_rules! needs {
    ($has:expr, $($reason:tt)+) => {
        if !$has {
            let reason = format_args!($($reason)+).to_string();
            return Err(skinbench_frame::BackendError::Unavailable(reason));
        }
    };
}
pub(crate) use needs;
