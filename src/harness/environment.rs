//! Description of the machine and build, written to every row of the results.

use crate::backend::Context;
use crate::frame::{AdapterSummary, DeviceClock};
use humantime::format_rfc3339_seconds;
#[cfg(target_os = "linux")]
use nix::sys::resource::{Resource, getrlimit};
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime};
use sysinfo::{
    CpuRefreshKind, MemoryRefreshKind, ProcessRefreshKind, ProcessesToUpdate, RefreshKind, System,
};

/// The last second that RFC 3339 can write, in seconds since 1970: the end of the year 9999.
const LAST_SECOND: u64 = 253_402_300_799;

/// The source and the compiler of the running program. The library cannot know them, so the program passes them in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Build {
    /// Commit that it was built from; `None` outside a git repository.
    pub git_rev: Option<String>,
    /// `true` if files differed from that commit.
    pub dirty: Option<bool>,
    /// Tag of that commit, such as `v0.1.0`.
    pub tag: Option<String>,
    /// Compiler version.
    pub rustc: String,
    /// Version of wgpu, by which GPU backends reach the device; `None` for a build without them.
    pub wgpu: Option<String>,
    /// Version of naga, which compiles their shaders.
    pub naga: Option<String>,
}

/// The machine, the program and the time of a run. Strings are empty if the system does not provide them.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// Identifies the run by its time and process.
    pub run_id: String,
    /// Start of the run, in the format of RFC 3339.
    pub utc: String,
    /// The running program.
    pub build: Build,
    /// Operating system, with version.
    pub os: String,
    /// Processor's name.
    pub cpu: String,
    /// Threads that parallel backends use.
    pub threads: usize,
    /// The machine's network name.
    pub host: String,
    /// The adapter in use, if any.
    pub adapter: Option<AdapterSummary>,
    /// Clock of the adapter's stages.
    pub clock: DeviceClock,
}

impl Environment {
    /// Reads them from the system and from the context of a run.
    pub fn collect(build: Build, context: &Context) -> Self {
        let utc = now();
        let system =
            System::new_with_specifics(RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing()));
        let environment = Self {
            run_id: format!("{}-{}", compact_form(&utc), std::process::id()),
            utc,
            build,
            os: System::long_os_version().unwrap_or_default(),
            cpu: system
                .ok()
                .and_then(|s| s.cpus().first().map(|cpu| cpu.brand().trim().to_owned()))
                .unwrap_or_default(),
            threads: context.threads.count(),
            host: System::host_name().unwrap_or_default(),
            ..Self::default()
        };
        #[cfg(feature = "gpu")]
        if let Some(gpu) = &context.gpu {
            return Self {
                adapter: Some(gpu.adapter.summary.clone()),
                clock: gpu.clock(),
                ..environment
            };
        }
        environment
    }
}

/// The time in UTC, to the second, such as `2026-11-22T18:00:00Z`.
pub fn now() -> String {
    written(SystemTime::now())
}

/// A time in UTC, to the second. A clock that was never set may be outside the years 1970 to 9999, which RFC 3339 can
/// write: it then reads the nearest second within them.
fn written(time: SystemTime) -> String {
    let since_1970 = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let within = since_1970.min(Duration::from_secs(LAST_SECOND));
    format_rfc3339_seconds(SystemTime::UNIX_EPOCH + within).to_string()
}

/// A time without punctuation, such as `20261122T180000Z`.
pub fn compact_form(utc: &str) -> String {
    utc.replace(['-', ':'], "")
}

/// Bytes of main memory that are available without swapping, within the limits of this process and of the control
/// groups around it; `u64::MAX` if the system does not say.
pub fn available_memory() -> u64 {
    let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let Ok(mut system) = System::new_with_specifics(memory) else {
        return u64::MAX;
    };
    let mut available = stated(system.available_memory());
    if let Ok(process) = sysinfo::get_current_pid() {
        let this = ProcessesToUpdate::Some(&[process]);
        system.refresh_processes_specifics(this, true, ProcessRefreshKind::nothing());
        let limits = system.process(process).and_then(|it| it.cgroup_limits());
        available = available.min(limits.map_or(u64::MAX, |limits| limits.free_memory));
    }
    #[cfg(target_os = "linux")]
    {
        available = available.min(free_addresses().unwrap_or(u64::MAX));
    }
    available
}

/// A number of bytes as a system states it; one that it does not state, as where `/proc` is missing, reads zero, and is
/// no limit.
const fn stated(bytes: u64) -> u64 {
    if bytes == 0 { u64::MAX } else { bytes }
}

/// Bytes of address space that the process may still take: a shell limits them by `ulimit -v`.
#[cfg(target_os = "linux")]
fn free_addresses() -> Option<u64> {
    let (limit, _) = getrlimit(Resource::RLIMIT_AS).ok()?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let taken = status
        .lines()
        .find_map(|line| line.strip_prefix("VmSize:")?.strip_suffix("kB"))?;
    Some(limit.saturating_sub(1024 * taken.trim().parse::<u64>().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_two_forms() {
        let utc = now();
        assert!(
            utc.len() == 20 && utc.starts_with("20") && utc.ends_with('Z'),
            "{utc}"
        );
        assert_eq!(compact_form("2026-11-22T18:00:59Z"), "20261122T180059Z");
    }

    #[test]
    fn clocks_outside_the_years_that_can_be_written_read_the_nearest() {
        let epoch = SystemTime::UNIX_EPOCH;
        let year = Duration::from_secs(366 * 24 * 3600);
        assert_eq!(written(epoch - year), "1970-01-01T00:00:00Z");
        assert_eq!(written(epoch + year * 9000), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn memory_that_the_system_does_not_state_is_no_limit() {
        assert_eq!(stated(0), u64::MAX);
        assert_eq!(stated(5), 5);
    }

    #[test]
    fn the_machine_is_known() {
        let environment = Environment::collect(Build::default(), &Context::default());
        assert!(environment.threads > 0);
        assert!(environment.run_id.contains('T'), "{}", environment.run_id);
        assert!(available_memory() > 1 << 20);
    }
}
