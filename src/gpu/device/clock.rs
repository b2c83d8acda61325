//! The choice of the clock for stages on the device: timestamps, if they are what they should be, or fences.

use crate::frame::{BackendError, ClockChoice, DeviceClock, Purpose, Result, Stage};
use crate::gpu::Gpu;
use crate::gpu::device::bandwidth::FillPass;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Bytes that the known work of the check writes.
const BYTES: u64 = 16 << 20;
/// Rounds of the check. One with a fault may be an accident, which a run drops; more are not.
const ROUNDS: usize = 8;
/// Empty submissions that are timed, and those before them that are not.
const EMPTY: usize = 31;
const WARM_UP: usize = 8;

impl Gpu {
    /// Clock of the stages.
    pub fn clock(&self) -> DeviceClock {
        self.timing.clock.get()
    }

    /// Sets the clock of the stages of all later frames; measures what it needs. Returns why timestamps are not used
    /// although they were not ruled out.
    ///
    /// # Errors
    /// [`BackendError::Unavailable`] if timestamps are chosen and the adapter has none, or [`BackendError::Device`] if
    /// the device was lost.
    pub fn choose_clock(self: &Rc<Self>, choice: ClockChoice) -> Result<Option<&'static str>> {
        self.timing.clock.set(DeviceClock::Timestamps);
        let fault = match choice {
            ClockChoice::Auto => self.timestamps_fault()?,
            ClockChoice::Timestamps if self.timestamps().is_none() => {
                let name = &self.summary().name;
                return Err(BackendError::Unavailable(format!(
                    "{name} has no timestamp queries; expected the clock fenced or auto"
                )));
            }
            ClockChoice::Timestamps | ClockChoice::Fenced => None,
        };
        if fault.is_some() || choice == ClockChoice::Fenced {
            let empty = self.empty_submission()?;
            self.timing.clock.set(DeviceClock::Fenced { empty });
        }
        Ok(fault)
    }

    /// Times known work by timestamps; returns what is wrong with them.
    fn timestamps_fault(self: &Rc<Self>) -> Result<Option<&'static str>> {
        let Some(timestamps) = self.timestamps() else { return Ok(Some("the adapter has no timestamp queries")) };
        let (faults, _) = self.counted(|| -> Result<Vec<&'static str>> {
            let target = self.buffer(Purpose::Staging, "clock check", BYTES, wgpu::BufferUsages::STORAGE);
            let fill = FillPass::new(self, &target);
            let round = |_| {
                let start = Instant::now();
                let mut commands = self.frame("clock check");
                self.compute_pass(&mut commands, Stage::Skin, |pass| fill.record(self, pass, BYTES));
                commands.finish()?;
                let wall = start.elapsed();
                timestamps.borrow_mut().fault(|buffer, out| self.read_wgpu(buffer, out), wall)
            };
            (0..ROUNDS).map(round).filter_map(Result::transpose).collect()
        });
        let faults = faults?;
        Ok(faults.first().copied().filter(|_| faults.len() > 1))
    }

    /// Median time of a submission without work.
    fn empty_submission(&self) -> Result<Duration> {
        let mut times = [Duration::ZERO; EMPTY];
        let Some((device, queue)) = self.device() else { return Ok(Duration::ZERO) };
        for index in 0..WARM_UP + EMPTY {
            let mut encoder = device.create_command_encoder(&Default::default());
            encoder.begin_compute_pass(&Default::default());
            let time = self.time_submission(queue, encoder.finish(), "an empty submission")?;
            if let Some(index) = index.checked_sub(WARM_UP) {
                times[index] = time;
            }
        }
        times.sort_unstable();
        Ok(times[EMPTY / 2])
    }
}
