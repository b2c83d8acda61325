//! Checks of bundles: everything that follows from something else is computed again, and the division is decided.

use super::bounds::{MOST_CROWDS, MOST_INSTANCES};
use super::bundle::Bundle;
use super::{
    LimitsRow, Measurement, Part, Recorded, Session, Study, SummaryRow, digest, read_rows, session,
};
use crate::backend::Joints;
use crate::frame::{Clock, Stage};
use crate::harness::{Floor, Status, Summary};
use crate::registry;
use crate::scene::{BUILT_IN, ModelSource, Scene, Settings};
use crate::vertex::Attributes;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use strum::IntoStaticStr;

/// Fewest frames of a closed result: as many as a run measures of the slowest backend by default.
const FEWEST_FRAMES: usize = 5;
/// Largest `parity_tol` of a closed result. The loosest in the built-in scenes is 2.5e-4, of palettes in 16-bit floats.
const LOOSEST: f64 = 2e-3;
/// The same for baked palettes, which state 1e-3, and up to 8e-2 where they blend clips.
const LOOSEST_BAKED: f64 = 0.2;

/// The kinds of bundles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Division {
    /// A tagged release, built-in scenes, default options, scenes and shaders as released.
    Closed,
    /// Anything else.
    Open,
    /// Measured by a page in a browser.
    Browser,
}

impl Division {
    /// Name in pages and on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Results of a check.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Figures that do not follow from the samples or contradict the manifest; a bundle without faults is as it was
    /// made.
    pub faults: Vec<String>,
    /// The division; an edited bundle has none, whatever this says.
    pub division: Division,
    /// The reasons why it is not closed, or would not be if it were native.
    pub reasons: Vec<String>,
    /// The processes that measured.
    pub sessions: Vec<Session>,
    /// Number of rows whose figures were computed again.
    pub rows: usize,
    /// Number of samples that they were computed from.
    pub samples: usize,
    /// The results of each machine, at least one.
    pub studies: Vec<Study>,
}

/// Checks a bundle. `version` is that of the running program: only the same version can confirm scenes and shaders.
/// `memory` is the number of bytes that building a scene may take.
pub fn check(bundle: &Bundle, version: &str, memory: u64) -> Checked {
    let mut faults = digests(bundle);
    let recorded = Recorded::of_bundle(&bundle.files)
        .and_then(|recorded| recorded.bounded().map_err(|error| error.what))
        .unwrap_or_else(|problem| {
            faults.push(problem);
            Recorded::default()
        });
    let problems = recorded.problems.iter().filter(|problem| problem.is_fault);
    faults.extend(problems.map(ToString::to_string));
    let sessions = sessions(bundle, &mut faults);
    let mut by_run: HashMap<(&str, &str), &Session> = HashMap::new();
    for (folder, sessions) in &sessions {
        for session in sessions {
            for run in &session.runs {
                by_run.insert((*folder, run), session);
            }
        }
    }
    let mut rows = Vec::with_capacity(recorded.measurements.len());
    let mut unknown = BTreeSet::new();
    for (measurement, &(file, line)) in recorded.measurements.iter().zip(&recorded.lines) {
        let row = &measurement.row;
        let name = &recorded.files[file].name;
        let folder = folder_of(name);
        let session = by_run.get(&(folder, row.run_id.as_str())).copied();
        let mut problems = figures(measurement);
        problems.extend(verdicts(row));
        if let Some(session) = session {
            for column in differing(row, session) {
                problems.push(format!(
                    "{column} is not the one in {folder}{}",
                    session::FILE
                ));
            }
        } else if unknown.insert((folder, &row.run_id)) {
            // Once per run, not once per row.
            let run = &row.run_id;
            problems.push(format!("run {run} is not in {folder}{}", session::FILE));
        }
        for what in problems {
            faults.push(format!("{name}:{line}: {what}"));
        }
        rows.push((row, session));
    }
    let measured: Vec<&Session> = sessions
        .values()
        .flatten()
        .filter(|session| !session.runs.is_empty())
        .collect();
    let in_browser = measured
        .iter()
        .filter(|session| session.browser.is_some())
        .count();
    if ![0, measured.len()].contains(&in_browser) {
        faults.push(
            "sessions of a browser beside native ones; expected one kind: send them apart".into(),
        );
    }
    let reasons = open_because(&measured, &rows, version, memory).unwrap_or_else(|fault| {
        // The reason why nothing was built comes before the many that it may have.
        faults.insert(0, fault);
        Vec::new()
    });
    let division = if in_browser > 0 {
        Division::Browser
    } else if reasons.is_empty() {
        Division::Closed
    } else {
        Division::Open
    };
    Checked {
        faults,
        division,
        reasons,
        sessions: measured.into_iter().cloned().collect(),
        rows: rows.len(),
        samples: recorded.measurements.iter().map(|m| m.samples.len()).sum(),
        studies: Study::of_each_machine(recorded),
    }
}

/// The part of a file's name up to the last `/`.
fn folder_of(name: &str) -> &str {
    name.rfind('/').map_or("", |at| &name[..=at])
}

/// Compares the files with the manifest.
fn digests(bundle: &Bundle) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, facts) in &bundle.manifest.files {
        match bundle.files.get(name) {
            None => faults.push(format!("{name} is missing")),
            Some(bytes)
                if digest::of_bytes(bytes) != facts.sha256 || bytes.len() as u64 != facts.bytes =>
            {
                faults.push(format!(
                    "{name} was edited: its SHA-256 is not that in manifest.json"
                ));
            }
            Some(_) => {}
        }
    }
    for name in bundle.files.keys() {
        if !bundle.manifest.files.contains_key(name) {
            faults.push(format!("{name} is not in manifest.json"));
        }
    }
    faults
}

/// The sessions of each folder, whose name ends in `/` or is empty. Files that are missing or cannot be parsed are
/// faults.
fn sessions<'a>(bundle: &'a Bundle, faults: &mut Vec<String>) -> BTreeMap<&'a str, Vec<Session>> {
    let mut sessions = BTreeMap::new();
    let folders: BTreeSet<&str> = bundle.files.keys().map(|name| folder_of(name)).collect();
    for folder in folders {
        if !bundle.files.contains_key(&format!("{folder}summary.csv")) {
            faults.push(format!("{folder}summary.csv is missing"));
        }
        let limits = format!("{folder}limits.csv");
        if let Some(bytes) = bundle.files.get(&limits) {
            let mut problems = Vec::new();
            let text = String::from_utf8_lossy(bytes);
            let read = read_rows(&limits, &text, &[], &mut problems, |_, _: LimitsRow| Ok(()));
            faults.extend(problems.iter().map(ToString::to_string));
            faults.extend(read.err());
        }
        let file = format!("{folder}{}", session::FILE);
        let Some(bytes) = bundle.files.get(&file) else {
            faults.push(format!("{file} is missing"));
            continue;
        };
        match session::parse(bytes) {
            Ok(parsed) => {
                for what in changed_parts(&parsed, &String::from_utf8_lossy(bytes)) {
                    faults.push(format!("{file}{what}"));
                }
                sessions.insert(folder, parsed);
            }
            Err(problem) => faults.push(format!("{file}: {problem}")),
        }
    }
    sessions
}

/// Parts of pages that were changed after the pages were made: the line of each in the text of its sessions, and what.
fn changed_parts(sessions: &[Session], text: &str) -> Vec<String> {
    let mut changed = Vec::new();
    let browsers = sessions
        .iter()
        .filter_map(|session| session.browser.as_ref());
    for Part { name, made, ran } in browsers.flat_map(|browser| &browser.parts) {
        if made == ran && !ran.is_empty() {
            continue;
        }
        let before = &text[..text.find(ran.as_str()).unwrap_or(0)];
        let line = before.matches('\n').count() + 1;
        changed.push(format!(
            ":{line}: {name} ran with SHA-256 {ran}, but the page was made with {made}"
        ));
    }
    changed
}

/// Differences between the figures of a row and those of its samples.
fn figures(measurement: &Measurement) -> Vec<String> {
    let row = &measurement.row;
    let mut faults = Vec::new();
    // Whoever read the samples has said why they are not used.
    if measurement.samples.len() != row.frames.unwrap_or(0) {
        return faults;
    }
    let summary = Summary::of(measurement.times());
    // Older results lack this column.
    let p99 = summary.and_then(|s| s.p99).filter(|_| row.p99_ns.is_some());
    for (name, stated, computed) in [
        ("median_ns", row.median_ns, summary.map(|s| s.median)),
        ("mad_ns", row.mad_ns, summary.map(|s| s.mad)),
        ("min_ns", row.min_ns, summary.map(|s| s.min)),
        ("p95_ns", row.p95_ns, summary.map(|s| s.p95)),
        ("p99_ns", row.p99_ns, p99),
        ("max_ns", row.max_ns, summary.map(|s| s.max)),
    ] {
        if stated != computed {
            faults.push(format!(
                "{name} is {}, but the samples give {}",
                or_empty(stated),
                or_empty(computed)
            ));
        }
    }
    if row.noisy != summary.map(|s| s.is_noisy()) {
        faults.push("noisy does not follow from the samples".into());
    }
    if let Some(percent) = row.pct_of_limit {
        if let (Some(bytes), Some(limit), Some(median)) = (row.bytes, row.limit, row.median_ns) {
            let computed = 1e2 * Floor { bytes, limit }.ns() / median as f64;
            // The stated one is rounded to a tenth. NaN and infinity are not within any distance.
            let is_near = (percent - computed).abs() <= 0.11;
            if !is_near {
                faults
                    .push(format!("pct_of_limit is {percent}, but bytes, limit and median_ns give another percentage"));
            }
        } else {
            faults.push(format!(
                "pct_of_limit is {percent} without bytes, limit and median_ns"
            ));
        }
    }
    faults
}

/// A value as faults name it.
fn or_empty(value: Option<u64>) -> String {
    value.map_or("empty".into(), |value| value.to_string())
}

/// Contradictions between a row's status and its other columns.
fn verdicts(row: &SummaryRow) -> Vec<String> {
    let mut faults = Vec::new();
    if row.median_ns.is_some() && row.status != Status::Ok {
        faults.push(format!(
            "status {} with a time; only a backend that was verified is timed",
            row.status.name()
        ));
    }
    if row.status == Status::Ok {
        if let (Some(error), Some(tolerance)) = (row.parity_max_rel, row.parity_tol) {
            let are_numbers = [error, tolerance]
                .iter()
                .all(|value| value.is_finite() && *value >= 0.0);
            if !are_numbers {
                let expected = "expected finite numbers of at least 0";
                faults.push(format!(
                    "status ok, but parity_max_rel {error} and parity_tol {tolerance}; {expected}"
                ));
            } else if error > tolerance {
                faults.push(format!(
                    "status ok, but parity_max_rel {error:e} is not within parity_tol {tolerance:e}"
                ));
            }
        } else {
            faults.push("status ok without parity_max_rel and parity_tol".into());
        }
    }
    faults
}

/// Columns of a row that its session contradicts.
fn differing(row: &SummaryRow, session: &Session) -> Vec<&'static str> {
    let build = &session.program.build;
    let mut differing = Vec::new();
    for (name, is_same) in [
        ("git_rev", row.git_rev == build.git_rev),
        ("dirty", row.dirty == build.dirty),
        ("rustc", is_text(&row.rustc, &build.rustc)),
        ("os", is_text(&row.os, &session.os)),
        ("cpu", is_text(&row.cpu, &session.cpu)),
        ("adapter", row.adapter == session.adapter),
        ("driver", row.driver == session.driver),
    ] {
        if !is_same {
            differing.push(name);
        }
    }
    differing
}

/// Returns whether a column holds a text, where no value stands for an empty one.
fn is_text(column: &Option<String>, text: &str) -> bool {
    column.as_deref().unwrap_or_default() == text
}

/// The reasons why results are not of the closed division.
///
/// # Errors
/// A fault: more crowds than a check builds again.
fn open_because(
    sessions: &[&Session],
    rows: &[(&SummaryRow, Option<&Session>)],
    version: &str,
    memory: u64,
) -> Result<Vec<String>, String> {
    let mut reasons = BTreeSet::new();
    let shaders = digest::of_shaders();
    for session in sessions {
        let has_our_shaders = session.program.shaders == shaders;
        add_reasons_of_program(session, version, has_our_shaders, &mut reasons);
    }
    let mut crowds: BTreeMap<(&str, usize), BTreeSet<&str>> = BTreeMap::new();
    for (row, session) in rows {
        let is_built_in = BUILT_IN.iter().any(|(name, _)| *name == row.scene);
        if is_built_in {
            let hashes = crowds.entry((&row.scene, row.instances)).or_default();
            hashes.insert(&row.scene_hash);
        } else {
            reasons.insert(format!("{} is not a built-in scene", row.scene));
        }
        add_reasons_of_row(row, *session, version, &mut reasons);
    }
    let count = crowds.len();
    let instances = crowds
        .keys()
        .map(|crowd| crowd.1)
        .fold(0, usize::saturating_add);
    if count > MOST_CROWDS || instances > MOST_INSTANCES {
        return Err(format!(
            "{count} crowds of built-in scenes with {instances} instances together; a check builds them again, at most \
             {MOST_CROWDS} with {MOST_INSTANCES}: send the results in parts"
        ));
    }
    // Crowds of a scene have the same models.
    let mut known = HashMap::new();
    let mut load = |sources: &[&ModelSource]| {
        let mut unknown = sources.to_vec();
        unknown.retain(|source| !known.contains_key(*source));
        for (source, model) in unknown.iter().zip(ModelSource::load_all(&unknown)) {
            known.insert((*source).clone(), model);
        }
        sources
            .iter()
            .map(|source| known[*source].clone())
            .collect()
    };
    for ((scene, instances), hashes) in crowds {
        let settings = Settings {
            instances: Some(instances as u64),
            ..Settings::default()
        };
        let crowd = format!("the scene {scene} with {instances} instances");
        let built = Scene::load(scene)
            .and_then(|loaded| loaded.with(settings).build_with(memory, &mut load));
        match built {
            Ok(built) => {
                let hash = format!("{:016x}", built.hash);
                if hashes.iter().any(|other| *other != hash) {
                    reasons.insert(format!("{crowd} is not the built-in one: another hash"));
                }
            }
            Err(error) => {
                reasons.insert(format!("{crowd} cannot be confirmed here: {error}"));
            }
        }
    }
    Ok(reasons.into_iter().collect())
}

/// The reasons that lie in the program of a session.
fn add_reasons_of_program(
    session: &Session,
    version: &str,
    has_our_shaders: bool,
    reasons: &mut BTreeSet<String>,
) {
    let build = &session.program.build;
    let built = &session.program.version;
    for (is_so, reason) in [
        (
            build.tag != Some(format!("v{built}")),
            "the build has no release tag".into(),
        ),
        (
            build.dirty == Some(true),
            "the build is dirty: tracked files differed from its commit".into(),
        ),
        (
            build.dirty.is_none(),
            "the build does not know its commit".into(),
        ),
        (session.program.debug, "a debug build".into()),
        (
            built != version,
            format!(
                "made by {built}, and only that version can confirm its scenes and shaders, not {version}"
            ),
        ),
        (
            built == version && !has_our_shaders,
            format!("its shaders are not those of {version}"),
        ),
        (
            session.isa_chosen,
            format!("the instruction set {} was chosen", session.isa),
        ),
    ] {
        if is_so {
            reasons.insert(reason);
        }
    }
}

/// The reasons that lie in a row, but for its scene.
fn add_reasons_of_row(
    row: &SummaryRow,
    session: Option<&Session>,
    version: &str,
    reasons: &mut BTreeSet<String>,
) {
    let backend = row.backend_and_variant();
    let entry = registry::find(&backend).filter(|entry| entry.is_built());
    let is_baked = entry.is_some_and(|entry| entry.abilities().joints == Joints::Nowhere);
    let loosest = if is_baked { LOOSEST_BAKED } else { LOOSEST };
    let is_loose = row.parity_tol.is_some_and(|tolerance| tolerance > loosest);
    // Of stages with frames in flight, slow backends have fewer samples.
    let is_timed = row.stage == Stage::Frame && row.clock == Clock::Wall && row.median_ns.is_some();
    let frames = row.frames.unwrap_or(0) + row.dropped.unwrap_or(0) as usize;
    // A page has no threads of its own.
    let native = session.filter(|session| session.browser.is_none());
    let processors = native.map_or(row.threads, |session| session.hardware.processors);
    for (is_so, reason) in [
        (
            row.options.is_some(),
            format!("options {}", row.options.as_deref().unwrap_or_default()),
        ),
        (
            entry.is_none(),
            format!("{backend} is not a backend of {version}"),
        ),
        (
            entry.is_some() && is_loose,
            format!("parity_tol of {backend} is more than {loosest}"),
        ),
        (
            row.attributes != Attributes::default().name(),
            format!("attributes {}", row.attributes),
        ),
        (
            is_timed && frames < FEWEST_FRAMES,
            format!("fewer than {FEWEST_FRAMES} frames"),
        ),
        (
            row.threads != processors,
            format!("{} threads on {processors} processors", row.threads),
        ),
    ] {
        if is_so {
            reasons.insert(reason);
        }
    }
}
