//! Sends the tick of a frame to the device, which poses by it.

use crate::device::Buffer;
use crate::passes::{Frame, Interface, Pass};
use crate::shader::layout;
use bytemuck::Zeroable;
use skinbench_frame::Stage;

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
