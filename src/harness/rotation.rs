//! Rotations: groups of backends that are in memory at the same time.

use super::device_side::DeviceSide;
use crate::crowd::Crowd;
use crate::frame::{BackendError, Bytes, Footprint, OutputBuffers, Purpose, Result, Retention};
use bytesize::ByteSize;

/// Memory that all backends of a rotation share, counted once.
#[derive(Debug, Clone, Copy)]
pub struct SharedMemory {
    /// The host side of the output buffers.
    pub host_output: u64,
    /// The device side of the output buffers.
    pub device_output: u64,
    /// Bytes that drawing takes on the device; `None` if nothing is drawn.
    pub presenter: Option<u64>,
    /// `true` if the device's memory is main memory, as on a software adapter. The size of a real device's memory
    /// cannot be queried; its driver refuses what does not fit.
    pub device_is_host: bool,
}

/// Memory of one backend with its share of the output buffers, the models and the pictures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BackendMemory {
    /// Bytes of main memory.
    pub host: Bytes,
    /// Bytes of device memory.
    pub device: Bytes,
}

impl BackendMemory {
    /// Bytes on both sides that frames need, without drawing.
    pub fn resident(&self) -> u64 {
        self.host.resident().saturating_add(self.device.resident())
    }
}

impl SharedMemory {
    /// Memory that backends share for a crowd. `presenter` is as in [`SharedMemory`].
    pub(super) fn new(
        device: &dyn DeviceSide,
        crowd: &Crowd,
        keep: Retention,
        presenter: Option<u64>,
    ) -> Self {
        let device_output = device.output_bytes(crowd, keep);
        Self {
            host_output: OutputBuffers::bytes(crowd),
            device_output,
            presenter,
            device_is_host: device.is_software(),
        }
    }

    /// Allocates the sides of the output buffers that these backends use.
    pub(super) fn allocate(
        &self,
        device: &dyn DeviceSide,
        crowd: &Crowd,
        keep: Retention,
        backends: &[impl AsRef<Footprint>],
    ) -> Result<OutputBuffers> {
        let mut output = OutputBuffers::default();
        if backends.iter().any(|backend| backend.as_ref().host_output) {
            output.allocate_host(crowd);
        }
        if backends
            .iter()
            .any(|backend| self.uses_device_output(backend.as_ref()))
        {
            device.allocate(crowd, keep, &mut output)?;
        }
        Ok(output)
    }

    /// Returns whether a backend's vertices are on the device: those on the host are uploaded to be drawn.
    fn uses_device_output(&self, footprint: &Footprint) -> bool {
        footprint.device_output || (footprint.host_output && self.presenter.is_some())
    }

    /// Checks that a backend fits `limit` bytes of main memory alone; returns its footprint.
    pub(super) fn check(&self, footprint: Footprint, limit: u64) -> Result<Footprint> {
        let needed = self.bytes([&footprint]);
        if needed <= limit {
            return Ok(footprint);
        }
        let [needs, available] = [needed, limit].map(|bytes| ByteSize(bytes).display().si());
        Err(BackendError::TooLarge(format!(
            "the crowd needs {needs}; only {available} is available"
        )))
    }

    /// Memory of a backend as if it were alone.
    pub fn of(&self, footprint: &Footprint) -> BackendMemory {
        let mut memory = BackendMemory {
            host: footprint.host + footprint.in_place,
            device: footprint.device + Bytes::of(Purpose::Targets, self.presenter.unwrap_or(0)),
        };
        if footprint.host_output {
            memory.host += Bytes::of(Purpose::Output, self.host_output);
        }
        if self.uses_device_output(footprint) {
            memory.device += Bytes::of(Purpose::Output, self.device_output);
        }
        memory
    }

    /// Lists of neighbouring backends that fit `limit` bytes together. One that does not fit even alone has a list of
    /// its own.
    pub fn rotations<T: AsRef<Footprint>>(&self, backends: Vec<T>, limit: u64) -> Vec<Vec<T>> {
        let mut rotations: Vec<Vec<T>> = Vec::new();
        for backend in backends {
            match rotations.last_mut() {
                Some(known) if self.bytes(known.iter().chain([&backend])) <= limit => {
                    known.push(backend)
                }
                _ => rotations.push(vec![backend]),
            }
        }
        rotations
    }

    /// Bytes of main memory that these backends need in total.
    pub fn bytes<'a, T: AsRef<Footprint> + 'a>(
        &self,
        backends: impl IntoIterator<Item = &'a T>,
    ) -> u64 {
        let mut all = Footprint::default();
        for backend in backends {
            // Models, which are used in place, are in memory already.
            let footprint = backend.as_ref();
            all.host += footprint.host;
            all.device += footprint.device;
            all.host_output |= footprint.host_output;
            all.device_output |= footprint.device_output;
        }
        let BackendMemory { host, device } = self.of(&all);
        if self.device_is_host {
            (host + device).total()
        } else {
            host.total()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(bytes: u64) -> Footprint {
        Footprint {
            host: Bytes::of(Purpose::Scratch, bytes),
            host_output: true,
            ..Footprint::default()
        }
    }
    fn device(bytes: u64) -> Footprint {
        Footprint {
            device: Bytes::of(Purpose::Scratch, bytes),
            device_output: true,
            ..Footprint::default()
        }
    }

    #[test]
    fn shared_output_counts_once() {
        let shared = SharedMemory {
            host_output: 100,
            device_output: 100,
            presenter: None,
            device_is_host: true,
        };
        let sizes = |backends: &[Footprint]| -> Vec<usize> {
            let rotations = shared.rotations(backends.to_vec(), 160);
            rotations.iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(&[host(10), host(20), host(30)]), [3]);
        assert_eq!(sizes(&[host(10), host(20), host(31)]), [2, 1]);
        assert_eq!(sizes(&[host(10), device(10), host(70)]), [1, 1, 1]);
        assert!(shared.check(host(60), 160).is_ok() && shared.check(host(61), 160).is_err());
    }

    #[test]
    fn drawing_needs_the_device_side_for_host_vertices() {
        let drawn = SharedMemory {
            host_output: 100,
            device_output: 100,
            presenter: Some(7),
            device_is_host: true,
        };
        assert_eq!(drawn.bytes(&[host(1)]), 1 + 7 + 200);
        assert_eq!(drawn.bytes(&[host(1), device(2)]), 3 + 7 + 200);
        let alone = drawn.of(&host(1));
        assert_eq!(
            (alone.host.resident(), alone.device.get(Purpose::Output)),
            (101, 100)
        );
        assert_eq!(
            (alone.resident(), alone.device.total()),
            (201, 107),
            "pictures are not resident"
        );
        let real_device = SharedMemory {
            device_is_host: false,
            ..drawn
        };
        assert_eq!(real_device.bytes(&[host(1), device(2)]), 101);
    }
}
