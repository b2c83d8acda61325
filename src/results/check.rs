//! Checks of bundles: everything that follows from something else is computed again, and the division is decided.

use super::bundle::Bundle;
use super::digest;
use super::rows::{LimitsRow, SCHEMA, SampleRow, SummaryRow};
use super::session::{self, Session};
use crate::backend::Joints;
use crate::frame::{Clock, Stage};
use crate::harness::run::Status;
use crate::harness::stats::Summary;
use crate::registry;
use crate::scene::{BUILT_IN, Overrides, Scene};
use crate::vertex::Attributes;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};

/// Fewest frames of a closed result: as many as a run measures of the slowest backend by default.
const FEWEST_FRAMES: usize = 5;
/// Largest `parity_tol` of a closed result. The loosest in the built-in scenes is 2.5e-4, of palettes in 16-bit floats.
const LOOSEST: f64 = 2e-3;
/// The same for baked palettes, which state 1e-3, and up to 8e-2 where they blend clips.
const LOOSEST_BAKED: f64 = 0.2;

/// The two kinds of bundles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Division {
    /// A tagged release, built-in scenes, default options, scenes and shaders as released.
    Closed,
    /// Anything else, with the reasons.
    Open(Vec<String>),
}

impl Division {
    /// Name in pages and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open(_) => "open",
        }
    }
}

/// Results of a check.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// Figures that do not follow from the samples or contradict the manifest; a bundle without faults is as it was
    /// made.
    pub faults: Vec<String>,
    /// The division; an edited bundle has none, whatever this says.
    pub division: Division,
    /// The processes that measured.
    pub sessions: Vec<Session>,
    /// Number of rows whose figures were computed again.
    pub rows: usize,
    /// Number of samples that they were computed from.
    pub samples: usize,
}

/// Identity of a series of samples: run, scene, backend, variant, stage, clock.
type Series = (String, String, String, Option<String>, &'static str, &'static str);

fn series(
    run_id: &str,
    scene: &str,
    backend: &str,
    variant: &Option<String>,
    (stage, clock): (Stage, Clock),
) -> Series {
    (run_id.into(), scene.into(), backend.into(), variant.clone(), stage.name(), clock.name())
}

/// Checks a bundle. `version` is that of the running program: only the same version can confirm scenes and shaders.
/// `memory` is the number of bytes that building a scene may take.
pub fn check(bundle: &Bundle, version: &str, memory: u64) -> Checked {
    let mut check = Check { bundle, faults: digests(bundle), sessions: Vec::new(), rows: Vec::new(), samples: 0 };
    let folders: BTreeSet<&str> = bundle.files.keys().map(|name| folder_of(name)).collect();
    if !bundle.files.keys().any(|name| name.ends_with("summary.csv")) {
        check.faults.push("no summary.csv in it".into());
    }
    folders.into_iter().for_each(|folder| check.folder(folder));
    let reasons = open_because(&check.sessions, &check.rows, version, memory);
    Checked {
        faults: check.faults,
        division: if reasons.is_empty() { Division::Closed } else { Division::Open(reasons) },
        sessions: check.sessions,
        rows: check.rows.len(),
        samples: check.samples,
    }
}

fn folder_of(name: &str) -> &str {
    name.rfind('/').map_or("", |at| &name[..=at])
}

/// Compares the files with the manifest.
fn digests(bundle: &Bundle) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, facts) in &bundle.manifest.files {
        match bundle.files.get(name) {
            None => faults.push(format!("{name} is missing")),
            Some(bytes) if digest::of_bytes(bytes) != facts.sha256 || bytes.len() as u64 != facts.bytes => {
                faults.push(format!("{name} was edited: its SHA-256 is not that in manifest.json"));
            }
            Some(_) => {}
        }
    }
    let unlisted = bundle.files.keys().filter(|name| !bundle.manifest.files.contains_key(*name));
    faults.extend(unlisted.map(|name| format!("{name} is not in manifest.json")));
    faults
}

struct Check<'a> {
    bundle: &'a Bundle,
    faults: Vec<String>,
    sessions: Vec<Session>,
    rows: Vec<SummaryRow>,
    samples: usize,
}

impl Check<'_> {
    /// Checks the files of one folder; its name ends in `/`, or is empty.
    fn folder(&mut self, folder: &str) {
        let (summary, before) = (format!("{folder}summary.csv"), self.faults.len());
        let rows: Vec<(u64, SummaryRow)> = self.csv(&summary, true);
        if rows.is_empty() && self.faults.len() == before {
            self.faults.push(format!("{summary}: no rows"));
        }
        let samples: Vec<(u64, SampleRow)> = self.csv(&format!("{folder}samples.csv"), true);
        self.csv::<LimitsRow>(&format!("{folder}limits.csv"), false);
        let sessions = self.environment(folder);
        let mut by_series: BTreeMap<Series, Vec<(u32, u64)>> = BTreeMap::new();
        self.samples += samples.len();
        for (_, sample) in samples {
            let SampleRow { run_id, scene, backend, variant, stage, clock, frame, ns } = sample;
            by_series.entry(series(&run_id, &scene, &backend, &variant, (stage, clock))).or_default().push((frame, ns));
        }
        for (line, row) in rows {
            let place = format!("{summary}:{line}");
            if row.schema > SCHEMA {
                self.faults.push(format!("{place}: schema {}; this skinbench reads up to {SCHEMA}", row.schema));
            }
            let own =
                by_series.remove(&series(&row.run_id, &row.scene, &row.backend, &row.variant, (row.stage, row.clock)));
            let problems = figures(&row, own.unwrap_or_default()).into_iter().chain(verdicts(&row));
            self.faults.extend(problems.map(|what| format!("{place}: {what}")));
            match sessions.iter().find(|session| session.runs.contains(&row.run_id)) {
                None => self.faults.push(format!("{place}: run {} is not in {folder}{}", row.run_id, session::FILE)),
                Some(session) => {
                    let differing = differing(&row, session);
                    self.faults.extend(
                        differing.map(|what| format!("{place}: {what} is not the one in {folder}{}", session::FILE)),
                    );
                }
            }
            self.rows.push(row);
        }
        if let Some(((run, scene, backend, _, stage, clock), _)) = by_series.first_key_value() {
            let place = format!("{folder}samples.csv");
            self.faults
                .push(format!("{place}: {backend} {stage} {clock} of {scene} in run {run} has no row in summary.csv"));
        }
        self.sessions.extend(sessions.into_iter().filter(|session| !session.runs.is_empty()));
    }

    /// The rows of a file with their lines. A line that cannot be parsed is a fault, as is a file that is missing but
    /// needed.
    fn csv<T: DeserializeOwned>(&mut self, name: &str, needed: bool) -> Vec<(u64, T)> {
        let Some(bytes) = self.bundle.files.get(name) else {
            if needed {
                self.faults.push(format!("{name} is missing"));
            }
            return Vec::new();
        };
        let mut reader = csv::Reader::from_reader(&bytes[..]);
        let mut rows = Vec::new();
        let headers = match reader.headers() {
            Ok(headers) => headers.clone(),
            Err(error) => {
                self.faults.push(format!("{name}: {error}"));
                return rows;
            }
        };
        for record in reader.records() {
            let parsed = record.and_then(|record| {
                let line = record.position().map_or(0, csv::Position::line);
                Ok((line, record.deserialize(Some(&headers))?))
            });
            match parsed {
                Ok(row) => rows.push(row),
                Err(error) => self.faults.push(format!("{name}: {error}")),
            }
        }
        rows
    }

    fn environment(&mut self, folder: &str) -> Vec<Session> {
        let name = format!("{folder}{}", session::FILE);
        let Some(bytes) = self.bundle.files.get(&name) else {
            self.faults.push(format!("{name} is missing"));
            return Vec::new();
        };
        match serde_json::from_slice(bytes) {
            Ok(sessions) => sessions,
            Err(error) => {
                self.faults.push(format!("{name}: {error}"));
                Vec::new()
            }
        }
    }
}

/// Differences between the figures of a row and those of its samples.
fn figures(row: &SummaryRow, mut samples: Vec<(u32, u64)>) -> Vec<String> {
    let given = samples.len();
    samples.sort_unstable();
    samples.dedup_by_key(|(frame, _)| *frame);
    let frames = row.frames.unwrap_or(0);
    let twice = samples.len() < given;
    // Of a backend without times, rows have neither frames nor samples.
    if given != frames || twice {
        let twice = if twice { ", some of the same frame" } else { "" };
        return vec![format!("frames is {frames}, but samples.csv has {given} samples{twice}")];
    }
    let summary = Summary::of(samples.into_iter().map(|(_, ns)| ns));
    let mut faults = Vec::new();
    let mut compare = |name: &str, stated: Option<u64>, computed: Option<u64>| {
        if stated != computed {
            let text = |value: Option<u64>| value.map_or("empty".into(), |value| value.to_string());
            faults.push(format!("{name} is {}, but the samples give {}", text(stated), text(computed)));
        }
    };
    compare("median_ns", row.median_ns, summary.map(|s| s.median));
    compare("mad_ns", row.mad_ns, summary.map(|s| s.mad));
    compare("min_ns", row.min_ns, summary.map(|s| s.min));
    compare("p95_ns", row.p95_ns, summary.map(|s| s.p95));
    compare("max_ns", row.max_ns, summary.map(|s| s.max));
    if row.noisy != summary.map(|s| s.is_noisy()) {
        faults.push("noisy does not follow from the samples".into());
    }
    let of_limit = |bytes: u64, limit: u64, median: u64| 1e11 * bytes as f64 / limit as f64 / median as f64;
    match (row.pct_of_limit, row.bytes, row.limit, row.median_ns) {
        (None, ..) => {}
        // The stated one is rounded to a tenth. NaN and infinity are not within any distance.
        (Some(percent), Some(bytes), Some(limit), Some(median))
            if (percent - of_limit(bytes, limit, median)).abs() <= 0.11 => {}
        (Some(percent), Some(_), Some(_), Some(_)) => {
            faults.push(format!("pct_of_limit is {percent}, but bytes, limit and median_ns give another percentage"));
        }
        (Some(percent), ..) => faults.push(format!("pct_of_limit is {percent} without bytes, limit and median_ns")),
    }
    faults
}

/// Contradictions between a row's status and its other columns.
fn verdicts(row: &SummaryRow) -> Vec<String> {
    let mut faults = Vec::new();
    if row.median_ns.is_some() && row.status != Status::Ok {
        faults.push(format!("status {} with a time; only a backend that was verified is timed", row.status.name()));
    }
    if row.status == Status::Ok {
        match row.parity_max_rel.zip(row.parity_tol) {
            None => faults.push("status ok without parity_max_rel and parity_tol".into()),
            Some((error, tolerance)) if ![error, tolerance].iter().all(|value| value.is_finite() && *value >= 0.0) => {
                let expected = "expected finite numbers of at least 0";
                faults.push(format!("status ok, but parity_max_rel {error} and parity_tol {tolerance}; {expected}"));
            }
            Some((error, tolerance)) if error <= tolerance => {}
            Some((error, tolerance)) => {
                faults.push(format!("status ok, but parity_max_rel {error:e} is not within parity_tol {tolerance:e}"));
            }
        }
    }
    faults
}

/// Columns of a row that its session contradicts.
fn differing<'a>(row: &'a SummaryRow, session: &'a Session) -> impl Iterator<Item = &'static str> {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let program = &session.program;
    let columns = [
        ("git_rev", row.git_rev == program.git_rev),
        ("dirty", row.dirty == program.dirty),
        ("rustc", text(&row.rustc) == program.rustc),
        ("os", text(&row.os) == session.os),
        ("cpu", text(&row.cpu) == session.cpu),
        ("adapter", row.adapter == session.adapter),
        ("driver", row.driver == session.driver),
    ];
    columns.into_iter().filter(|(_, same)| !same).map(|(name, _)| name)
}

/// The reasons why results are not of the closed division.
fn open_because(sessions: &[Session], rows: &[SummaryRow], version: &str, memory: u64) -> Vec<String> {
    let mut reasons = BTreeSet::new();
    for Session { program, isa, isa_chosen, .. } in sessions {
        if program.tag.as_ref() != Some(&format!("v{}", program.version)) {
            reasons.insert("the build has no release tag".into());
        }
        match program.dirty {
            Some(false) => {}
            Some(true) => {
                reasons.insert("the build is dirty: tracked files differed from its commit".into());
            }
            None => {
                reasons.insert("the build does not know its commit".into());
            }
        }
        if program.debug {
            reasons.insert("a debug build".into());
        }
        if program.version != version {
            let own = &program.version;
            reasons.insert(format!(
                "made by {own}, and only that version can confirm its scenes and shaders, not {version}"
            ));
        } else if program.shaders != digest::of_shaders() {
            reasons.insert(format!("its shaders are not those of {version}"));
        }
        if *isa_chosen {
            reasons.insert(format!("the instruction set {isa} was chosen"));
        }
    }
    let mut scenes = BTreeSet::new();
    for row in rows {
        reasons.extend(row.options.as_ref().map(|options| format!("options {options}")));
        let backend = row.backend_and_variant();
        match registry::find(&backend) {
            None => {
                reasons.insert(format!("{backend} is not a backend of {version}"));
            }
            Some(entry) => {
                let loosest = if entry.traits().joints == Joints::Nowhere { LOOSEST_BAKED } else { LOOSEST };
                if row.parity_tol.is_some_and(|tolerance| tolerance > loosest) {
                    reasons.insert(format!("parity_tol of {backend} is more than {loosest}"));
                }
            }
        }
        if row.attributes != Attributes::default().name() {
            reasons.insert(format!("attributes {}", row.attributes));
        }
        // Of stages with frames in flight, slow backends have fewer samples.
        if (row.stage, row.clock) == (Stage::Frame, Clock::Wall)
            && row.median_ns.is_some()
            && row.frames.unwrap_or(0) + (row.dropped.unwrap_or(0) as usize) < FEWEST_FRAMES
        {
            reasons.insert(format!("fewer than {FEWEST_FRAMES} frames"));
        }
        let processors = sessions.iter().find(|s| s.runs.contains(&row.run_id)).map(|s| s.hardware.processors);
        if let Some(processors) = processors.filter(|processors| row.threads != *processors) {
            reasons.insert(format!("{} threads on {processors} processors", row.threads));
        }
        scenes.insert((row.scene.clone(), row.instances, row.scene_hash.clone()));
    }
    for (scene, instances, hash) in scenes {
        reasons.extend(foreign(&scene, instances, &hash, memory));
    }
    reasons.into_iter().collect()
}

/// The reason why a scene is not the built-in one of this name, if it is not.
fn foreign(scene: &str, instances: usize, hash: &str, memory: u64) -> Option<String> {
    if !BUILT_IN.iter().any(|(name, _)| *name == scene) {
        return Some(format!("{scene} is not a built-in scene"));
    }
    let overrides = Overrides { instances: Some(instances as u64), ..Overrides::default() };
    match Scene::load(scene).and_then(|loaded| loaded.with(overrides).build(memory)) {
        Ok(built) if format!("{:016x}", built.hash) == hash => None,
        Ok(_) => Some(format!("the scene {scene} with {instances} instances is not the built-in one: another hash")),
        Err(error) => Some(format!("the scene {scene} with {instances} instances cannot be confirmed here: {error}")),
    }
}
