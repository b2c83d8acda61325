//! Sends the tick of a frame to the device, which poses by it.

use crate::frame::Stage;
use crate::gpu::device::Buffer;
use crate::gpu::passes::{Frame, Interface, Pass};
use crate::gpu::shader::layout;
use bytemuck::Zeroable;

/// Writes the tick. It is so short that no stage is timed.
pub struct Tick {
    /// The uniform that holds it.
    pub now: Buffer,
}

impl Pass for Tick {
    fn interface(&self) -> Interface {
        const STAGES: &[Stage] = &[];
        Interface {
            stages: STAGES,
            inputs: &[],
            outputs: &["now"],
        }
    }

    fn record(&mut self, frame: &mut Frame) {
        let now = layout::Now {
            tick: frame.tick,
            ..Zeroable::zeroed()
        };
        frame.commands.upload(&self.now, bytemuck::bytes_of(&now));
    }
}
