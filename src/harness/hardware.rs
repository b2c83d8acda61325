//! Facts about the machine that explain a measurement: its settings, and its state before and after.
//!
//! Everything is optional, because most systems provide only a part of it. Nothing here identifies a person or a
//! single machine: no names, addresses or serial numbers.

use super::environment::now;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
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
/// Tables of the firmware; on most systems only the administrator can read them.
const FIRMWARE: &str = "/sys/firmware/dmi/tables/DMI";
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
    /// Configured speed of main memory in million transfers per second; of several the slowest.
    pub memory_speed: Option<u32>,
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
            memory_speed: fs::read(FIRMWARE)
                .ok()
                .and_then(|table| memory_speed(&table)),
        }
    }
}

impl Conditions {
    /// Reads the state from the system.
    pub fn collect() -> Self {
        let cpu = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing().with_frequency());
        let frequency = System::new_with_specifics(cpu).ok();
        let frequency =
            frequency.and_then(|system| system.cpus().iter().map(sysinfo::Cpu::frequency).max());
        let sensors = Components::new_with_refreshed_list().ok();
        let sensors = sensors.iter().flat_map(|all| all.iter());
        let read =
            sensors.filter_map(|sensor| Some((sensor.label().to_owned(), sensor.temperature()?)));
        let cards = Path::new(CARDS);
        let mut conditions = Self {
            utc: now(),
            // Windows has no such average and reports zeros.
            load: System::load_average()
                .ok()
                .map(|average| average.one)
                .filter(|load| cfg!(unix) && load.is_finite()),
            processor_mhz: frequency.filter(|mhz| *mhz > 0),
            graphics_mhz: card_clocks(cards),
            celsius: read
                .filter(|(_, celsius)| (-HOTTEST..HOTTEST).contains(celsius))
                .collect(),
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
            self.graphics_mhz
                .extend(mhz.parse().ok().map(|mhz| (name.to_owned(), mhz)));
            self.celsius.extend(
                celsius
                    .parse()
                    .ok()
                    .map(|celsius| (name.to_owned(), celsius)),
            );
            self.limit_watts
                .extend(watts.parse().ok().map(|watts| (name.to_owned(), watts)));
        }
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
    let all = entries(processors)
        .into_iter()
        .filter_map(|own| line(own.join("cpufreq/scaling_governor")));
    let different: BTreeSet<String> = all.collect();
    Some(different.into_iter().collect::<Vec<_>>().join(", ")).filter(|text| !text.is_empty())
}

fn boost(processors: &Path) -> Option<bool> {
    let allowed = line(processors.join("cpufreq/boost")).map(|text| text == "1");
    allowed.or_else(|| line(processors.join("intel_pstate/no_turbo")).map(|text| text == "0"))
}

fn power(supplies: &Path) -> Option<String> {
    let of_kind = |kind: &str| {
        entries(supplies)
            .into_iter()
            .filter(|own| line(own.join("type")).as_deref() == Some(kind))
            .collect()
    };
    let (mains, batteries): (Vec<PathBuf>, Vec<PathBuf>) = (of_kind("Mains"), of_kind("Battery"));
    let plugged = mains
        .iter()
        .any(|own| line(own.join("online")).as_deref() == Some("1"));
    let draining = batteries
        .iter()
        .any(|own| line(own.join("status")).as_deref() == Some("Discharging"));
    match (plugged, draining) {
        (true, _) => Some("mains".into()),
        (false, true) => Some("battery".into()),
        (false, false) => None,
    }
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
        .filter_map(|own| Some((name(own)?, read(own)?)))
        .collect()
}

/// A number that the driver of a graphics card states as a sensor.
fn sensor<T: FromStr>(card: &Path, file: &str) -> Option<T> {
    entries(&card.join("device/hwmon"))
        .iter()
        .find_map(|own| line(own.join(file)))?
        .parse()
        .ok()
}

/// The name of an entry in a folder.
fn name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.to_owned())
}

/// Limits of power in watts: of the processor's packages, and of cards whose driver states one as a sensor.
fn limits(packages: &Path, cards: &Path) -> BTreeMap<String, f64> {
    let mut microwatts = by_name(cards, |card| sensor::<f64>(card, "power1_cap"));
    let limit = |own: &Path| line(own.join("constraint_0_power_limit_uw"))?.parse().ok();
    microwatts.extend(
        entries(packages)
            .iter()
            .filter_map(|own| Some((line(own.join("name"))?, limit(own)?))),
    );
    microwatts
        .into_iter()
        .map(|(name, limit)| (name, limit / 1e6))
        .collect()
}

/// Whether clocks are held: a lowest rate that equals the highest, or a level that the driver does not choose itself.
fn locked(processors: &Path, cards: &Path) -> BTreeMap<String, bool> {
    let equal =
        |own: &Path, [low, high]: [&str; 2]| Some(line(own.join(low))? == line(own.join(high))?);
    let rates = ["cpufreq/scaling_min_freq", "cpufreq/scaling_max_freq"];
    let all = entries(processors)
        .into_iter()
        .filter_map(|own| equal(&own, rates))
        .reduce(|all, own| all && own);
    let mut locked = by_name(cards, |card| {
        let level = line(card.join("device/power_dpm_force_performance_level"))
            .map(|level| level != "auto");
        level.or_else(|| equal(card, ["gt_min_freq_mhz", "gt_max_freq_mhz"]))
    });
    locked.extend(all.map(|all| ("processors".to_owned(), all)));
    locked
}

/// Processes but one that have opened a device of an adapter; `None` where processes are not listed as files.
fn adapter_users(processes: &Path, own: u32) -> Option<usize> {
    let opened = |process: &Path| {
        let files = entries(&process.join("fd"))
            .into_iter()
            .filter_map(|file| fs::read_link(file).ok());
        let mut names = files.filter_map(|file| Some(file.to_str()?.to_owned()));
        names.any(|file| ADAPTERS.iter().any(|adapter| file.starts_with(adapter)))
    };
    let number = |path: &Path| name(path)?.parse::<u32>().ok();
    let all = entries(processes)
        .into_iter()
        .filter(|path| number(path).is_some_and(|other| other != own));
    processes
        .join("self")
        .exists()
        .then(|| all.filter(|path| opened(path)).count())
}

/// The slowest configured speed of the memory devices in tables of the System Management BIOS (DSP0134, structure type
/// 17: configured speed at 20h, maximum speed at 15h), in million transfers per second.
fn memory_speed(mut table: &[u8]) -> Option<u32> {
    const MEMORY_DEVICE: u8 = 17;
    let mut slowest: Option<u32> = None;
    while let [kind, length, ..] = *table {
        let own = table
            .get(..usize::from(length))
            .filter(|own| own.len() >= 4)?;
        let speed = |at: usize| {
            let bytes = own.get(at..at + 2)?.try_into().ok()?;
            Some(u32::from(u16::from_le_bytes(bytes)))
                .filter(|speed| *speed != 0 && *speed != 0xffff)
        };
        if let (MEMORY_DEVICE, Some(speed)) = (kind, speed(0x20).or_else(|| speed(0x15))) {
            slowest = Some(slowest.map_or(speed, |slowest| slowest.min(speed)));
        }
        // Strings follow each structure, and two zeros end them.
        let strings = &table[own.len()..];
        let end = strings.windows(2).position(|pair| pair == [0, 0])?;
        table = &strings[end + 2..];
    }
    slowest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_memory_device_counts() {
        let device = |maximum: u16, configured: u16, strings: &[u8]| {
            let mut bytes = vec![17, 0x22, 0, 0];
            bytes.resize(0x15, 0);
            bytes.extend(maximum.to_le_bytes());
            bytes.resize(0x20, 0);
            bytes.extend(configured.to_le_bytes());
            bytes.extend(strings);
            bytes
        };
        let other = [1, 5, 0, 0, 9, b'x', 0, 0];
        let table = |devices: &[Vec<u8>]| [&other[..], &devices.concat()].concat();
        let fast = device(6_400, 5_600, b"DIMM 0\0\0");
        assert_eq!(
            memory_speed(&table(&[fast.clone(), device(4_800, 0, b"\0\0")])),
            Some(4_800)
        );
        assert_eq!(
            memory_speed(&table(&[fast, device(0xffff, 0, b"\0\0")])),
            Some(5_600),
            "unknown, and empty slots"
        );
        assert_eq!(memory_speed(&table(&[])), None);
        for damaged in [&[17u8, 200, 0, 0][..], &[17, 0, 0, 0], &[17], &[]] {
            assert_eq!(memory_speed(damaged), None, "{damaged:?}");
        }
    }

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
            let own = processes
                .path()
                .join(format!("{process}/fd/{}", device.len()));
            std::os::unix::fs::symlink(format!("/dev/{device}"), own).unwrap();
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
