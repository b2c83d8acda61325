//! What a run ran on: stated in every row of the results.

use jiff::Timestamp;
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

/// The adapter in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adapter {
    /// Marketing name.
    pub name: String,
    /// Driver name and version.
    pub driver: String,
    /// Whether it is emulated on the CPU.
    pub software: bool,
}

impl Adapter {
    /// The name; where it is emulated, that too, because its times say nothing about a real one.
    pub fn label(&self) -> String {
        if self.software { format!("{} (CPU-emulated)", self.name) } else { self.name.clone() }
    }
}

/// The machine, the binary and the moment. Empty strings where the system does not tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// Identifies the run: its moment and process.
    pub run_id: String,
    /// When it began.
    pub utc: Timestamp,
    /// Commit that the binary was built from; none outside a git repository.
    pub git_rev: Option<&'static str>,
    /// Whether files differed from that commit.
    pub dirty: Option<bool>,
    /// Compiler version.
    pub rustc: &'static str,
    /// Operating system, with version.
    pub os: String,
    /// Processor's name.
    pub cpu: String,
    /// Threads that parallel backends use.
    pub threads: usize,
    /// The machine's name in the network.
    pub host: String,
    /// The adapter in use, if there is one.
    pub adapter: Option<Adapter>,
}

impl Environment {
    /// Asks the system.
    pub fn collect(adapter: Option<Adapter>) -> Self {
        let utc = Timestamp::now();
        let system = System::new_with_specifics(RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing()));
        Self {
            run_id: format!("{}-{}", utc.strftime("%Y%m%dT%H%M%SZ"), std::process::id()),
            utc,
            git_rev: built_from(option_env!("VERGEN_GIT_SHA")),
            dirty: built_from(option_env!("VERGEN_GIT_DIRTY")).and_then(|dirty| dirty.parse().ok()),
            rustc: built_from(option_env!("VERGEN_RUSTC_SEMVER")).unwrap_or_default(),
            os: System::long_os_version().unwrap_or_default(),
            cpu: system
                .ok()
                .and_then(|s| s.cpus().first().map(|cpu| cpu.brand().trim().to_owned()))
                .unwrap_or_default(),
            threads: rayon::current_num_threads(),
            host: System::host_name().unwrap_or_default(),
            adapter,
        }
    }
}

/// What the build script found out; it writes a placeholder for what it did not.
fn built_from(value: Option<&'static str>) -> Option<&'static str> {
    value.filter(|v| !v.is_empty() && !v.starts_with("VERGEN_"))
}

/// Bytes of main memory that can be taken without swapping, within the limits of this process' control group; no limit
/// where the system does not tell.
pub fn available_memory() -> u64 {
    let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    System::new_with_specifics(memory).map_or(u64::MAX, |system| {
        let limit = system.cgroup_limits().map_or(u64::MAX, |limits| limits.free_memory);
        system.available_memory().min(limit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_absent() {
        assert_eq!(built_from(Some("VERGEN_IDEMPOTENT_OUTPUT")), None);
        assert_eq!(built_from(Some("")), None);
        assert_eq!(built_from(Some("1.95.0")), Some("1.95.0"));
    }

    #[test]
    fn the_machine_is_known() {
        let environment = Environment::collect(None);
        assert!(environment.threads > 0);
        assert!(environment.run_id.contains('T'), "{}", environment.run_id);
        assert!(!environment.rustc.is_empty());
        assert!(available_memory() > 1 << 20);
    }
}
