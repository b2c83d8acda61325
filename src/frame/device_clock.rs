//! The clock of the stages that run on a device.

use super::Clock;
use crate::wording;
use std::str::FromStr;
use std::time::Duration;
use strum::{IntoStaticStr, VariantArray};

/// Clock of the stages that run on a device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DeviceClock {
    /// Timestamp queries around the stages of a frame.
    #[default]
    Timestamps,
    /// One submission per stage, waited for, in frames of their own.
    Fenced {
        /// Time of an empty submission, which is subtracted from that of each stage.
        empty: Duration,
    },
}

impl DeviceClock {
    /// The label of its measurements.
    pub fn label(self) -> Clock {
        match self {
            Self::Timestamps => Clock::Gpu,
            Self::Fenced { .. } => Clock::Fenced,
        }
    }

    /// Time of an empty submission, which is subtracted from that of each stage.
    pub fn empty_submission(self) -> Option<Duration> {
        match self {
            Self::Timestamps => None,
            Self::Fenced { empty } => Some(empty),
        }
    }
}

/// Choice of a device's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum ClockChoice {
    /// Timestamps, without a check.
    Timestamps,
    /// Fences.
    Fenced,
    /// Timestamps if the device has them and they pass a check, otherwise fences.
    #[default]
    Auto,
}

impl ClockChoice {
    /// Name on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl FromStr for ClockChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        wording::named("clock", text, Self::VARIANTS, Self::name)
    }
}
