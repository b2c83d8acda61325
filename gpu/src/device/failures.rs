//! Failures of a device.

use skinbench_frame::{BackendError, Result};
use skinbench_kernels::threads::lock;
use std::sync::{Arc, Mutex, OnceLock};

/// Failures of a device. A clone shares them.
#[derive(Clone, Default)]
pub struct Failures {
    /// A command that the device rejected and that has not been reported yet.
    refused: Arc<Mutex<Option<String>>>,
    /// Reason why the device is lost.
    lost: Arc<OnceLock<String>>,
}

impl Failures {
    /// Collects the failures of a device from now on.
    pub fn of(device: &wgpu::Device) -> Self {
        let failures = Self::default();
        let refusals = failures.clone();
        let losses = failures.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            refusals.refuse(one_line(&error.to_string()))
        }));
        device.set_device_lost_callback(move |reason, message| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                losses.lose(format!("device lost: {}", one_line(&message)));
            }
        });
        failures
    }

    /// Reports an error at the next check, unless an earlier one waits there.
    pub fn refuse(&self, message: String) {
        lock(&self.refused).get_or_insert(message);
    }

    /// Marks the device as lost, unless it already is.
    pub fn lose(&self, message: String) {
        self.lost.get_or_init(|| message);
    }

    /// The reason why the device is lost for good; none if it is not.
    pub fn lost(&self) -> Option<String> {
        self.lost.get().cloned()
    }

    /// Checks for the first error since the last call. A lost device stays lost.
    ///
    /// # Errors
    /// [`BackendError::Device`] with that error.
    pub fn check(&self) -> Result<()> {
        let refused = lock(&self.refused).take();
        match self.lost().or(refused) {
            Some(message) => Err(BackendError::Device(message)),
            None => Ok(()),
        }
    }
}

/// A message without line breaks.
pub fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
