//! The buffers of skinned vertices, which all backends of a run use in turn.

use super::device_object::DeviceBuffer;
use skinbench_kernels::crowd::Crowd;
use skinbench_kernels::simd::Aligned;
use std::sync::Arc;

/// A backend as the output buffers know it: only clones of one are the same.
pub type OutputUser = Arc<()>;

/// Skinned vertices of a whole crowd, `[instance][vertex][word]` group after group.
#[derive(Default)]
pub struct OutputBuffers {
    /// The whole crowd's vertices, for backends that skin on the CPU; empty if none does.
    pub host: Aligned<f32>,
    /// One buffer per chunk of the crowd, for backends that skin on the device and for uploads.
    pub device: Vec<DeviceBuffer>,
    /// As `device`, with the vertices of the previous frame; empty unless these are kept.
    pub previous: Vec<DeviceBuffer>,
    /// The user whose vertices they hold.
    user: Option<OutputUser>,
}

impl OutputBuffers {
    /// Begins a frame: if vertices of the previous frame are kept, the current ones become the previous ones.
    pub fn swap(&mut self) {
        if !self.previous.is_empty() {
            std::mem::swap(&mut self.device, &mut self.previous);
        }
    }

    /// Hands the buffers to a backend for a frame. Returns whether they still hold what that backend left in the last one.
    pub fn hand_to(&mut self, user: &OutputUser) -> bool {
        let before = self.user.replace(Arc::clone(user));
        before.is_some_and(|before| Arc::ptr_eq(&before, user)) && self.previous.is_empty()
    }

    /// Forgets whose vertices they hold, because others were written over them.
    pub fn lose(&mut self) {
        self.user = None;
    }

    /// Bytes that [`OutputBuffers::allocate_host`] will allocate.
    pub fn bytes(crowd: &Crowd) -> u64 {
        Aligned::<f32>::bytes(crowd.output_words() as usize)
    }

    /// Bytes of the device side, with the vertices of the previous frame.
    pub fn device_bytes(&self) -> u64 {
        self.device
            .iter()
            .chain(&self.previous)
            .map(|buffer| buffer.size)
            .sum()
    }

    /// Allocates the host side.
    pub fn allocate_host(&mut self, crowd: &Crowd) {
        self.host = Aligned::zeroed(crowd.output_words() as usize);
        self.poison_host();
    }

    /// Fills the host side with NaN, so that a vertex that a backend did not write is detected.
    pub fn poison_host(&mut self) {
        self.lose();
        self.host.fill(f32::NAN);
    }

    /// Skinned words of neighbouring instances of one group.
    pub fn host_vertices(&self, crowd: &Crowd, instances: std::ops::Range<u32>) -> &[f32] {
        let group = crowd.group_of(instances.start);
        let before: usize = crowd.groups()[..group]
            .iter()
            .map(|g| g.len() * g.instance_words())
            .sum();
        let group = &crowd.groups()[group];
        let first =
            before + (instances.start - group.instances.start) as usize * group.instance_words();
        &self.host[first..first + instances.len() * group.instance_words()]
    }
}
