//! Rotations: groups of backends that are in memory at the same time.

use crate::frame::{Bytes, Footprint, Purpose};

/// Memory that all backends of a rotation share, counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedMemory {
    /// The arena's host side.
    pub arena: u64,
    /// The arena's device side.
    pub device_arena: u64,
    /// Bytes that drawing takes on the device; `None` if nothing is drawn.
    pub presenter: Option<u64>,
    /// `true` if the device's memory is main memory, as on a software adapter. The size of a real device's memory
    /// cannot be queried; its driver refuses what does not fit.
    pub device_is_host: bool,
}

/// Memory of one backend with its share of the arena, the models and the pictures.
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
    /// Memory of a backend as if it were alone.
    pub fn of(&self, footprint: &Footprint) -> BackendMemory {
        let output = |used: bool, bytes| Bytes::of(Purpose::Output, if used { bytes } else { 0 });
        let uploads = footprint.host_output && self.presenter.is_some();
        let targets = Bytes::of(Purpose::Targets, self.presenter.unwrap_or(0));
        BackendMemory {
            host: footprint.host + footprint.in_place + output(footprint.host_output, self.arena),
            device: footprint.device + output(footprint.device_output || uploads, self.device_arena) + targets,
        }
    }

    /// Bytes of main memory that these backends need in total.
    pub fn bytes<'a>(&self, footprints: impl IntoIterator<Item = &'a Footprint>) -> u64 {
        let (mut host, mut device) = (0u64, self.presenter.unwrap_or(0));
        let (mut host_arena, mut device_arena) = (false, false);
        for footprint in footprints {
            host = host.saturating_add(footprint.host.total());
            device = device.saturating_add(footprint.device.total());
            host_arena |= footprint.host_output;
            // Vertices on the host are uploaded to be drawn.
            device_arena |= footprint.device_output || (footprint.host_output && self.presenter.is_some());
        }
        host = host.saturating_add(if host_arena { self.arena } else { 0 });
        device = device.saturating_add(if device_arena { self.device_arena } else { 0 });
        if self.device_is_host { host.saturating_add(device) } else { host }
    }
}

/// Groups of neighbouring backends that fit `limit` bytes together, and the backends that do not fit even alone.
pub fn rotations(footprints: &[Footprint], shared: SharedMemory, limit: u64) -> (Vec<Vec<usize>>, Vec<usize>) {
    let mut rotations: Vec<Vec<usize>> = Vec::new();
    let mut too_large = Vec::new();
    for (index, footprint) in footprints.iter().enumerate() {
        if shared.bytes([footprint]) > limit {
            too_large.push(index);
            continue;
        }
        match rotations.last_mut() {
            Some(rotation) if shared.bytes(rotation.iter().map(|&i| &footprints[i]).chain([footprint])) <= limit => {
                rotation.push(index);
            }
            _ => rotations.push(vec![index]),
        }
    }
    (rotations, too_large)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(bytes: u64) -> Footprint {
        Footprint { host: Bytes::of(Purpose::Scratch, bytes), host_output: true, ..Footprint::default() }
    }
    fn device(bytes: u64) -> Footprint {
        Footprint { device: Bytes::of(Purpose::Scratch, bytes), device_output: true, ..Footprint::default() }
    }

    #[test]
    fn the_arena_counts_once() {
        let shared = SharedMemory { arena: 100, device_arena: 100, presenter: None, device_is_host: true };
        assert_eq!(rotations(&[host(10), host(20), host(30)], shared, 160), (vec![vec![0, 1, 2]], vec![]));
        assert_eq!(rotations(&[host(10), host(20), host(31)], shared, 160), (vec![vec![0, 1], vec![2]], vec![]));
        assert_eq!(rotations(&[host(10), host(70), device(10)], shared, 160), (vec![vec![0], vec![2]], vec![1]));
    }

    #[test]
    fn drawing_needs_the_device_side_for_host_vertices() {
        let drawn = SharedMemory { arena: 100, device_arena: 100, presenter: Some(7), device_is_host: true };
        assert_eq!(drawn.bytes(&[host(1)]), 1 + 7 + 200);
        assert_eq!(drawn.bytes(&[host(1), device(2)]), 3 + 7 + 200);
        let alone = drawn.of(&host(1));
        assert_eq!((alone.host.resident(), alone.device.get(Purpose::Output)), (101, 100));
        assert_eq!((alone.resident(), alone.device.total()), (201, 107), "pictures are not resident");
        let real_device = SharedMemory { device_is_host: false, ..drawn };
        assert_eq!(real_device.bytes(&[host(1), device(2)]), 101);
    }
}
