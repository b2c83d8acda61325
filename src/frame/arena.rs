//! The arena of skinned vertices, which all backends of a run use in turn.

#[cfg(feature = "gpu")]
use super::device_object::DeviceBuffer;
use crate::crowd::Crowd;
use crate::simd::Aligned;

/// Skinned vertices of a whole crowd, `[instance][vertex][word]` group after group.
#[derive(Default)]
pub struct Arena {
    /// The whole crowd's vertices, for backends that skin on the CPU; empty if none does.
    pub host: Aligned<f32>,
    /// One buffer per chunk of the crowd, for backends that skin on the device and for uploads.
    #[cfg(feature = "gpu")]
    pub device: Vec<DeviceBuffer>,
    /// As `device`, with the vertices of the previous frame; empty unless these are kept.
    #[cfg(feature = "gpu")]
    pub previous: Vec<DeviceBuffer>,
}

impl Arena {
    /// Begins a frame: if vertices of the previous frame are kept, the current ones become the previous ones.
    pub fn swap(&mut self) {
        #[cfg(feature = "gpu")]
        if !self.previous.is_empty() {
            std::mem::swap(&mut self.device, &mut self.previous);
        }
    }

    /// Bytes that [`Arena::allocate_host`] will allocate.
    pub fn bytes(crowd: &Crowd) -> u64 {
        Aligned::<f32>::bytes(crowd.output_words() as usize)
    }

    /// Bytes of the device side, with the vertices of the previous frame.
    #[cfg(feature = "gpu")]
    pub fn device_bytes(&self) -> u64 {
        self.device.iter().chain(&self.previous).map(|buffer| buffer.size).sum()
    }

    /// Bytes of the device side: a build without the device has none.
    #[cfg(not(feature = "gpu"))]
    pub fn device_bytes(&self) -> u64 {
        0
    }

    /// Allocates the host side.
    pub fn allocate_host(&mut self, crowd: &Crowd) {
        self.host = Aligned::zeroed(crowd.output_words() as usize);
        self.poison_host();
    }

    /// Fills the host side with NaN, so that a vertex that a backend did not write is detected.
    pub fn poison_host(&mut self) {
        self.host.fill(f32::NAN);
    }

    /// Skinned words of neighbouring instances of one group.
    pub fn host_vertices(&self, crowd: &Crowd, instances: std::ops::Range<u32>) -> &[f32] {
        let group = crowd.group_of(instances.start);
        let before: usize = crowd.groups()[..group].iter().map(|g| g.len() * g.instance_words()).sum();
        let group = &crowd.groups()[group];
        let first = before + (instances.start - group.instances.start) as usize * group.instance_words();
        &self.host[first..first + instances.len() * group.instance_words()]
    }
}
