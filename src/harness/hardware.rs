//! Facts about the machine that explain a measurement: its settings, and its state before and after.
//!
//! Everything is optional, because most systems provide only a part of it. Nothing here identifies a person or a
//! single machine: no names, addresses or serial numbers.

use super::environment::now;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;
use sysinfo::{Components, CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

/// Linux's folders of processors, of sources of power and of graphics cards.
const PROCESSORS: &str = "/sys/devices/system/cpu";
const POWER: &str = "/sys/class/power_supply";
const CARDS: &str = "/sys/class/drm";
/// Linux's folders of processes and of limits of power.
const PROCESSES: &str = "/proc";
const LIMITS: &str = "/sys/class/powercap";
/// Devices of adapters, by the beginnings of their names.
const ADAPTERS: [&str; 3] = ["/dev/dri/", "/dev/nvidia", "/dev/kfd"];
/// Hottest temperature that a sensor can report in earnest, in degrees Celsius.
const HOTTEST: f32 = 150.0;

/// Properties of the machine that do not change during a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hardware {
    /// Logical processors that this process may use.
    pub processors: usize,
    /// `true` in a virtual machine; `None` where the processor does not say.
    pub virtualised: Option<bool>,
    /// Frequency governor of the processors, such as `performance`; several are separated by commas.
    pub governor: Option<String>,
    /// `true` if processors may exceed their nominal frequency.
    pub boost: Option<bool>,
    /// Bytes of main memory.
    pub memory_bytes: Option<u64>,
}

/// The state of the machine at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Conditions {
    /// Time, RFC 3339.
    pub utc: String,
    /// Average number of running or waiting threads during the last minute.
    pub load: Option<f64>,
    /// Frequency of the fastest processor, in MHz.
    pub processor_mhz: Option<u64>,
    /// Clocks of graphics cards by name, in MHz.
    pub graphics_mhz: BTreeMap<String, u64>,
    /// Temperatures by sensor, in degrees Celsius.
    pub celsius: BTreeMap<String, f32>,
    /// `mains`, or `battery`.
    pub power: Option<String>,
    /// Most power that the processor's packages and graphics cards may take for long, in watts.
    pub limit_watts: BTreeMap<String, f64>,
    /// `true` for processors and graphics cards whose clock is held at one rate or level.
    pub clock_locked: BTreeMap<String, bool>,
    /// Other processes of this user that have opened an adapter; those of other users are not visible.
    pub adapter_users: Option<usize>,
}

impl Hardware {
    /// Reads the facts from the system.
    pub fn collect() -> Self {
        let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
        let system = System::new_with_specifics(memory).ok();
        Self {
            processors: std::thread::available_parallelism().map_or(0, usize::from),
            virtualised: is_virtualised(),
            governor: governor(),
            boost: boost(Path::new(PROCESSORS)),
            memory_bytes: system
                .map(|system| system.total_memory())
                .filter(|bytes| *bytes > 0),
        }
    }
}

impl Conditions {
    /// Reads the state from the system.
    pub fn collect() -> Self {
        let cpu = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing().with_frequency());
        let processor_mhz = System::new_with_specifics(cpu)
            .ok()
            .and_then(|system| system.cpus().iter().map(sysinfo::Cpu::frequency).max());
        let mut celsius = BTreeMap::new();
        for sensor in Components::new_with_refreshed_list().iter().flatten() {
            let temperature = sensor.temperature();
            if let Some(temperature) = temperature.filter(|t| (-HOTTEST..HOTTEST).contains(t)) {
                celsius.insert(sensor.label().to_owned(), temperature);
            }
        }
        let cards = Path::new(CARDS);
        let mut conditions = Self {
            utc: now(),
            // Windows has no such average and reports zeros.
            load: System::load_average()
                .ok()
                .map(|average| average.one)
                .filter(|load| cfg!(unix) && load.is_finite()),
            processor_mhz: processor_mhz.filter(|mhz| *mhz > 0),
            graphics_mhz: card_clocks(cards),
            celsius,
            power: power(Path::new(POWER)),
            limit_watts: limits(Path::new(LIMITS), cards),
            clock_locked: locked(Path::new(PROCESSORS), cards),
            adapter_users: adapter_users(Path::new(PROCESSES), std::process::id()),
        };
        conditions.ask_nvidia();
        conditions
    }

    /// Adds what NVIDIA's driver reports only to its own program.
    fn ask_nvidia(&mut self) {
        if !Path::new("/proc/driver/nvidia").exists() {
            return;
        }
        let query = [
            "--query-gpu=name,clocks.gr,temperature.gpu,power.limit",
            "--format=csv,noheader,nounits",
        ];
        let Ok(answer) = Command::new("nvidia-smi").args(query).output() else {
            return;
        };
        for line in String::from_utf8_lossy(&answer.stdout).lines() {
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            let [name, mhz, celsius, watts] = fields[..] else {
                continue;
            };
            insert_parsed(&mut self.graphics_mhz, name, mhz);
            insert_parsed(&mut self.celsius, name, celsius);
            insert_parsed(&mut self.limit_watts, name, watts);
        }
    }
}

/// Adds a number under a name; leaves a text out that is none.
fn insert_parsed<T: FromStr>(numbers: &mut BTreeMap<String, T>, name: &str, text: &str) {
    if let Ok(number) = text.parse() {
        numbers.insert(name.to_owned(), number);
    }
}

/// Bit 31 of CPUID leaf 1 is reserved for hypervisors, which set it for their guests.
#[cfg(target_arch = "x86_64")]
fn is_virtualised() -> Option<bool> {
    Some(std::arch::x86_64::__cpuid(1).ecx >> 31 == 1)
}

#[cfg(not(target_arch = "x86_64"))]
fn is_virtualised() -> Option<bool> {
    None
}

fn line(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The entries of a folder in order; none if it cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .collect();
    paths.sort();
    paths
}

/// The frequency governor of the processors; several are separated by commas. `None` where the system does not say.
pub fn governor() -> Option<String> {
    governors(Path::new(PROCESSORS))
}

fn governors(processors: &Path) -> Option<String> {
    let mut governors: Vec<String> = entries(processors)
        .iter()
        .filter_map(|processor| line(processor.join("cpufreq/scaling_governor")))
        .collect();
    governors.sort();
    governors.dedup();
    Some(governors.join(", ")).filter(|text| !text.is_empty())
}

fn boost(processors: &Path) -> Option<bool> {
    let allowed = line(processors.join("cpufreq/boost")).map(|text| text == "1");
    allowed.or_else(|| line(processors.join("intel_pstate/no_turbo")).map(|text| text == "0"))
}

fn power(supplies: &Path) -> Option<String> {
    let mut is_draining = false;
    for supply in entries(supplies) {
        let states = |file: &str, text: &str| line(supply.join(file)).is_some_and(|t| t == text);
        if states("type", "Mains") && states("online", "1") {
            return Some("mains".into());
        }
        is_draining |= states("type", "Battery") && states("status", "Discharging");
    }
    is_draining.then(|| "battery".into())
}

/// Clocks of graphics cards: Intel's drivers state MHz, AMD's states Hz as a sensor.
fn card_clocks(cards: &Path) -> BTreeMap<String, u64> {
    by_name(cards, |card| {
        let mhz = line(card.join("gt_cur_freq_mhz")).and_then(|mhz| mhz.parse().ok());
        mhz.or_else(|| Some(sensor::<u64>(card, "freq1_input")? / 1_000_000))
    })
}

/// What `read` finds in the entries of a folder, by their names.
fn by_name<T>(folder: &Path, read: impl Fn(&Path) -> Option<T>) -> BTreeMap<String, T> {
    entries(folder)
        .iter()
        .filter_map(|entry| Some((name(entry)?, read(entry)?)))
        .collect()
}

/// A number that the driver of a graphics card states as a sensor.
fn sensor<T: FromStr>(card: &Path, file: &str) -> Option<T> {
    entries(&card.join("device/hwmon"))
        .iter()
        .find_map(|sensor| line(sensor.join(file)))?
        .parse()
        .ok()
}

/// The name of an entry in a folder.
fn name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.to_owned())
}

/// Limits of power in watts: of the processor's packages, and of cards whose driver states one as a sensor.
fn limits(packages: &Path, cards: &Path) -> BTreeMap<String, f64> {
    let mut watts = by_name(cards, |card| Some(sensor::<f64>(card, "power1_cap")? / 1e6));
    for package in entries(packages) {
        let limit = line(package.join("constraint_0_power_limit_uw"));
        if let (Some(name), Some(Ok(microwatts))) = (
            line(package.join("name")),
            limit.map(|limit| limit.parse::<f64>()),
        ) {
            watts.insert(name, microwatts / 1e6);
        }
    }
    watts
}

/// Returns whether two files in a folder have the same line; `None` if one of them cannot be read.
fn are_equal(folder: &Path, files: [&str; 2]) -> Option<bool> {
    let [first, second] = files.map(|file| line(folder.join(file)));
    Some(first? == second?)
}

/// Whether clocks are held: a lowest rate that equals the highest, or a level that the driver does not choose itself.
fn locked(processors: &Path, cards: &Path) -> BTreeMap<String, bool> {
    let mut locked = by_name(cards, |card| {
        match line(card.join("device/power_dpm_force_performance_level")) {
            Some(level) => Some(level != "auto"),
            None => are_equal(card, ["gt_min_freq_mhz", "gt_max_freq_mhz"]),
        }
    });
    let rates = ["cpufreq/scaling_min_freq", "cpufreq/scaling_max_freq"];
    let held: Vec<bool> = entries(processors)
        .iter()
        .filter_map(|processor| are_equal(processor, rates))
        .collect();
    if !held.is_empty() {
        locked.insert("processors".into(), held.iter().all(|is_held| *is_held));
    }
    locked
}

/// Processes but one that have opened a device of an adapter; `None` where processes are not listed as files.
fn adapter_users(processes: &Path, excepted: u32) -> Option<usize> {
    if !processes.join("self").exists() {
        return None;
    }
    let mut users = 0;
    for process in entries(processes) {
        let number: Option<u32> = name(&process).and_then(|name| name.parse().ok());
        if number.is_some_and(|number| number != excepted) && has_opened_adapter(&process) {
            users += 1;
        }
    }
    Some(users)
}

/// Returns whether a process has opened a device of an adapter.
fn has_opened_adapter(process: &Path) -> bool {
    entries(&process.join("fd")).iter().any(|file| {
        let opened = fs::read_link(file).unwrap_or_default();
        let opened = opened.to_string_lossy();
        ADAPTERS.iter().any(|adapter| opened.starts_with(adapter))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_from_their_files() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(
            (
                governors(folder.path()),
                boost(folder.path()),
                power(folder.path())
            ),
            (None, None, None)
        );
        write("cpu0/cpufreq/scaling_governor", "powersave\n");
        write("cpu1/cpufreq/scaling_governor", "performance\n");
        write("cpu2/cpufreq/scaling_governor", "powersave\n");
        write("intel_pstate/no_turbo", "0\n");
        assert_eq!(
            governors(folder.path()).as_deref(),
            Some("performance, powersave")
        );
        assert_eq!(boost(folder.path()), Some(true));
        write("BAT0/type", "Battery\n");
        write("BAT0/status", "Discharging\n");
        assert_eq!(power(folder.path()).as_deref(), Some("battery"));
        write("AC/type", "Mains\n");
        write("AC/online", "1\n");
        assert_eq!(power(folder.path()).as_deref(), Some("mains"));
        write("card0/device/hwmon/hwmon3/freq1_input", "2100000000\n");
        write("card1/gt_cur_freq_mhz", "350\n");
        assert_eq!(
            card_clocks(folder.path()),
            BTreeMap::from([("card0".into(), 2_100), ("card1".into(), 350)])
        );
    }

    /// A folder with these files.
    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn limits_of_power_and_locks_of_clocks_are_read_from_their_files() {
        let packages = folder(&[
            ("intel-rapl:0/name", "package-0"),
            ("intel-rapl:0/constraint_0_power_limit_uw", "65000000\n"),
            ("intel-rapl:0:0/name", "core"),
        ]);
        let cards = folder(&[
            ("card0/device/hwmon/hwmon1/power1_cap", "120000000"),
            ("card0/device/power_dpm_force_performance_level", "high\n"),
            ("card1/gt_min_freq_mhz", "300"),
            ("card1/gt_max_freq_mhz", "1200"),
            ("card2/device/power_dpm_force_performance_level", "auto\n"),
        ]);
        let watts = [("card0".into(), 120.0), ("package-0".into(), 65.0)];
        assert_eq!(limits(packages.path(), cards.path()), BTreeMap::from(watts));
        let rates = |high: &str| {
            let (low, high) = (
                ("cpufreq/scaling_min_freq", "800"),
                ("cpufreq/scaling_max_freq", high),
            );
            folder(
                &[
                    ("cpu0", low),
                    ("cpu0", high),
                    ("cpu1", low),
                    ("cpu1", ("cpufreq/scaling_max_freq", "800")),
                ]
                .map(|(processor, (file, text))| (format!("{processor}/{file}"), text))
                .iter()
                .map(|(path, text)| (path.as_str(), *text))
                .collect::<Vec<_>>(),
            )
        };
        for (high, held) in [("800", true), ("3000", false)] {
            let locks = [
                ("processors", held),
                ("card0", true),
                ("card1", false),
                ("card2", false),
            ];
            let locks = locks.map(|(name, held)| (name.to_owned(), held));
            assert_eq!(
                locked(rates(high).path(), cards.path()),
                BTreeMap::from(locks)
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn other_processes_with_an_adapter_are_counted() {
        let processes = folder(&[
            ("1/fd/x", ""),
            ("2/fd/x", ""),
            ("3/fd/x", ""),
            ("self/x", ""),
            ("bus/fd/x", ""),
        ]);
        for (process, device) in [
            ("1", "dri/renderD128"),
            ("1", "dri/card0"),
            ("2", "null"),
            ("3", "nvidia0"),
        ] {
            let file = format!("{process}/fd/{}", device.len());
            std::os::unix::fs::symlink(format!("/dev/{device}"), processes.path().join(file))
                .unwrap();
        }
        assert_eq!(adapter_users(processes.path(), 9), Some(2));
        assert_eq!(
            adapter_users(processes.path(), 3),
            Some(1),
            "the own process does not count"
        );
        assert_eq!(adapter_users(&processes.path().join("bus"), 9), None);
    }

    #[test]
    fn this_machine_says_something() {
        let (hardware, conditions) = (Hardware::collect(), Conditions::collect());
        assert!(
            hardware.processors > 0 && hardware.memory_bytes > Some(1 << 20),
            "{hardware:?}"
        );
        assert_eq!(conditions.utc.len(), 20, "{conditions:?}");
        assert_eq!(conditions.load.is_some(), cfg!(unix), "{conditions:?}");
    }
}
