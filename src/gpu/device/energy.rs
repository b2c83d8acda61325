//! Energy that an adapter takes, where its driver counts it for every user: NVIDIA's does since Volta.

use nvml_wrapper::Nvml;

/// Reads the microjoules that the adapter at an address on the PCI bus, such as `0000:01:00.0`, has taken since its driver
/// was loaded; `None` where no library of NVIDIA's knows it.
///
/// The count is that of the whole adapter, at rest, too.
pub(in crate::gpu) fn counter(address: String) -> Option<Box<dyn Fn() -> Option<u64>>> {
    let nvml = Nvml::init().ok()?;
    let read = move || {
        let millijoules = nvml.device_by_pci_bus_id(address.as_str()).ok()?.total_energy_consumption().ok()?;
        millijoules.checked_mul(1000)
    };
    read().map(|_| Box::new(read) as _)
}
