//! Options of a run.

use crate::harness::parity::Tolerance;
use crate::registry::BackendEntry;

/// Disturbance of measured frames. By default there is none, and caches hold what the last frame left. With cold ones,
/// no frames with two in flight are measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", command(next_help_heading = "Measurement"))]
pub struct Disturbance {
    /// Caches before each measured frame: as the last frame left them (warm), or emptied (cold)
    #[cfg_attr(feature = "cli", arg(long = "caches", value_name = "warm|cold", value_parser = caches()))]
    #[cfg_attr(feature = "cli", arg(default_value = "warm", hide_default_value = true, action = clap::ArgAction::Set))]
    pub cold: bool,
}

/// Parses whether caches are cold.
#[cfg(feature = "cli")]
fn caches() -> impl clap::builder::TypedValueParser<Value = bool> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(["warm", "cold"]).map(|caches| caches == "cold")
}

/// Options of a run. By default there are no backends, and memory is not limited.
#[derive(Clone, Default)]
pub struct RunOptions {
    /// The backends, in the order of the results.
    pub backends: Vec<&'static BackendEntry>,
    /// Measured frames of each; by default as many as fit 2 s, 5 to 300.
    pub frames: Option<u32>,
    /// `true` to measure less where a software adapter draws and no number of frames is given: as many frames as fit
    /// 1 s, at least 5 (3 if each takes 0.4 s or more), none with two in flight, and backends on the CPU first.
    pub brief_on_software: bool,
    /// Largest differences from the reference; by default those of [`Tolerance::of`] the scene's vertex format.
    pub tolerance: Option<Tolerance>,
    /// Bytes of main memory that may be used; by default all.
    pub memory: Option<u64>,
    /// Disturbance of measured frames.
    pub disturbance: Disturbance,
    /// Seed that chooses the measured frames and instances that are compared with the reference; by default another one
    /// in every run, so that no backend can know them.
    pub seed: Option<u64>,
}

impl RunOptions {
    /// Bytes of main memory that may be used.
    pub fn memory(&self) -> u64 {
        self.memory.unwrap_or(u64::MAX)
    }
}
