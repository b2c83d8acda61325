//! The rows of `limits.csv`.

use super::row::plain;
use crate::harness::environment::Environment;
use crate::harness::{DeviceLimits, MachineLimits};
use crate::simd::Isa;
use serde::{Deserialize, Serialize};

/// Memory that a row of `limits.csv` is about. Its serialised form is its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitedMemory {
    /// Main memory, and the processor with some threads: all rows from before there were others.
    #[default]
    Host,
    /// The device's memory.
    Device,
    /// Staging memory, which the host writes with some threads and the device copies.
    Upload,
}

/// A row of `limits.csv`: limits of the processor with one number of threads or of the device, measured just before a
/// scene. What a kind of memory does not have is 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LimitsRow {
    /// As in [`Row`](super::Row).
    pub run_id: String,
    /// As in [`Row`](super::Row).
    pub scene: String,
    /// Instruction set.
    pub isa: String,
    /// Number of threads.
    pub threads: usize,
    /// Lanes of a vector.
    pub lanes: usize,
    /// Bytes of the buffer that was written and read.
    pub bytes: u64,
    /// Bytes written per second by plain stores.
    pub write: u64,
    /// Bytes written per second by streaming stores.
    pub stream: u64,
    /// Bytes read per second.
    pub read: u64,
    /// Fused multiply-adds per second, counting lanes.
    pub fma: u64,
    /// The memory.
    pub memory: LimitedMemory,
    /// Bytes read and written per second by copying within the device, or copied per second from staging memory.
    pub copy: u64,
}

impl LimitsRow {
    /// Limits of a machine just before a scene: a row per memory and number of threads.
    pub fn all(
        environment: &Environment,
        scene: &str,
        isa: Isa,
        limits: &MachineLimits,
    ) -> Vec<Self> {
        let run = Self {
            run_id: environment.run_id.clone(),
            scene: plain(scene),
            ..Self::default()
        };
        let mut rows = Vec::new();
        for host in &limits.hosts {
            rows.push(Self {
                isa: isa.name().into(),
                threads: host.threads,
                lanes: host.lanes,
                bytes: host.bytes,
                write: host.bandwidth.write as u64,
                stream: host.bandwidth.stream as u64,
                read: host.bandwidth.read as u64,
                fma: host.fma as u64,
                ..run.clone()
            });
        }
        let Some(DeviceLimits { memory, upload }) = limits.device else {
            return rows;
        };
        rows.push(Self {
            memory: LimitedMemory::Device,
            bytes: memory.bytes,
            write: memory.write,
            read: memory.read,
            copy: memory.copy,
            ..run.clone()
        });
        let by_one = Self {
            memory: LimitedMemory::Upload,
            threads: 1,
            bytes: upload.bytes,
            write: upload.write_by_one,
            copy: upload.copy,
            ..run
        };
        rows.push(by_one.clone());
        if upload.threads > 1 {
            rows.push(Self {
                threads: upload.threads,
                write: upload.write_by_all,
                ..by_one
            });
        }
        rows
    }
}
