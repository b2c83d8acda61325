//! `environment.json`: the program and the machine behind the results of a folder.
//!
//! A *session* is one process that wrote to the folder: a run, or a part of one that was resumed. The file is
//! rewritten whole whenever a session begins or adds a run, so that an interrupted session is recorded, too.

use super::write_file;
use crate::asset::regular_file;
use crate::frame::{AdapterSummary, Clock};
use crate::harness::environment::{Build, Environment};
use crate::harness::governor::governor;
use crate::simd::Isa;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Most bytes of the file, and most sessions in it.
const MOST_ENVIRONMENT: u64 = 8 << 20;
const MOST_SESSIONS: usize = 1_000;

/// Name of the file in a folder of results.
pub const FILE: &str = "environment.json";

/// The program that measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Program {
    /// Version of the package.
    pub version: String,
    /// The source and the compiler.
    #[serde(flatten)]
    pub build: Build,
    /// Processor architecture and operating system that it was compiled for, such as `x86_64-linux`.
    pub target: String,
    /// `true` for a build with debug assertions, whose times mean nothing.
    pub debug: bool,
}

/// One process that measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// Identifiers of its runs, as in `summary.csv`.
    pub runs: Vec<String>,
    /// The program.
    pub program: Program,
    /// Operating system, with version.
    pub os: String,
    /// Processor's name.
    pub cpu: String,
    /// Instruction set of the CPU kernels.
    pub isa: String,
    /// `true` if a weaker one than the machine's was asked for.
    pub isa_chosen: bool,
    /// The adapter's name, marked if it is emulated on the CPU.
    pub adapter: Option<String>,
    /// The adapter's driver, with version.
    pub driver: Option<String>,
    /// The graphics API by which the adapter was opened, as wgpu names it.
    pub api: Option<String>,
    /// Clock of the stages on the device, as in `summary.csv`.
    pub device_clock: Option<Clock>,
    /// Nanoseconds of an empty submission, which the clock `fenced` subtracts.
    pub empty_submission_ns: Option<u64>,
    /// Frequency governor of the processors, such as `performance`; several are separated by commas.
    pub governor: Option<String>,
    /// Facts from the browser, if a page of `skinbench web` measured; `None` for a native program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser: Option<Browser>,
}

/// Facts about a browser and the page that measured in it. What a browser does not tell is empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Browser {
    /// Names and versions by which it calls itself.
    pub agent: String,
    /// Main memory in GiB, which browsers round.
    pub memory_gib: Option<f64>,
    /// Frames that the display shows per second.
    pub refresh_hz: Option<f64>,
    /// Description of the adapter, by WebGPU's names.
    pub adapter: BTreeMap<String, String>,
    /// Limits of the adapter, by WebGPU's names.
    pub limits: BTreeMap<String, u64>,
    /// Optional features of the adapter.
    pub features: Vec<String>,
    /// Steps of the clocks in nanoseconds, by their names in `summary.csv`.
    pub clock_steps_ns: BTreeMap<String, u64>,
    /// Number of times that the page was hidden during the run.
    pub hidden: u32,
}

impl Program {
    /// This version of the program, for `target`.
    pub fn new(build: &Build, target: &str) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            build: build.clone(),
            target: target.into(),
            debug: cfg!(debug_assertions),
        }
    }
}

impl Session {
    /// A session that begins now.
    pub fn begin(environment: &Environment, isa: Isa) -> Self {
        let target = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
        let adapter = environment.adapter.as_ref();
        let empty = environment.clock.empty_submission;
        Self {
            program: Program::new(&environment.build, &target),
            os: environment.os.clone(),
            cpu: environment.cpu.clone(),
            isa: isa.name().into(),
            isa_chosen: isa != Isa::strongest(),
            adapter: adapter.map(AdapterSummary::label),
            api: adapter.map(|adapter| adapter.api.clone()),
            driver: adapter
                .map(|adapter| adapter.driver.clone())
                .filter(|text| !text.is_empty()),
            device_clock: adapter.map(|_| environment.clock.label()),
            empty_submission_ns: empty.map(|empty| empty.as_nanos() as u64),
            governor: governor(),
            ..Self::default()
        }
    }
}

/// Reads the sessions of a folder; none if it has no such file.
///
/// # Errors
/// A file that cannot be read, is not what [`write()`] writes, or has more than bounds allow.
pub fn read(folder: &Path) -> io::Result<Vec<Session>> {
    let path = folder.join(FILE);
    if !path.try_exists()? {
        return Ok(Vec::new());
    }
    let bytes = regular_file::read(&path, MOST_ENVIRONMENT).map_err(|error| damaged(&error))?;
    // Counted before they are read.
    let texts: Vec<&RawValue> = serde_json::from_slice(&bytes).map_err(|error| damaged(&error))?;
    if texts.len() > MOST_SESSIONS {
        return Err(damaged(&format!(
            "{} sessions; expected at most {MOST_SESSIONS}",
            texts.len()
        )));
    }
    let mut sessions = Vec::new();
    for text in texts {
        sessions.push(serde_json::from_str(text.get()).map_err(|error| damaged(&error))?);
    }
    Ok(sessions)
}

fn damaged(problem: &impl ToString) -> io::Error {
    let what = format!("{FILE}: {}", problem.to_string());
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Writes the sessions of a folder; the file is complete at any time.
///
/// # Errors
/// The file cannot be written.
pub fn write(folder: &Path, sessions: &[Session]) -> io::Result<()> {
    write_file(&folder.join(FILE), |file| {
        serde_json::to_writer_pretty(&mut *file, sessions)?;
        writeln!(file)
    })
}
