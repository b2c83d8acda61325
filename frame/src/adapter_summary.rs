//! Description of an adapter, which a build without the device knows, too.

use serde::Serialize;

/// Mark of an adapter that is emulated on the CPU, behind its name.
pub const EMULATED: &str = "(CPU-emulated)";

/// A graphics API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Api {
    /// Vulkan.
    Vulkan,
    /// OpenGL, or OpenGL ES.
    Gl,
    /// Direct3D 12.
    Dx12,
    /// Metal.
    Metal,
}

/// An adapter, for `list`, tables and CSV.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AdapterSummary {
    /// Position among all adapters of the machine.
    pub index: usize,
    /// Marketing name.
    pub name: String,
    /// `true` if the adapter is emulated on the CPU.
    #[serde(rename = "emulated")]
    pub software: bool,
    /// API: Vulkan, Metal, Dx12, Gl.
    pub api: String,
    /// Driver name and version.
    pub driver: String,
    /// Address on the PCI bus, such as `0000:01:00.0`; empty where the API does not tell.
    #[serde(skip)]
    pub pci_address: String,
}

impl AdapterSummary {
    /// The name, marked if the adapter is emulated, because its times say nothing about a real one.
    pub fn label(&self) -> String {
        if self.software {
            format!("{} {EMULATED}", self.name)
        } else {
            self.name.clone()
        }
    }
}
