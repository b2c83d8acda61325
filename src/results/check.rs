//! Checks of bundles: everything that follows from something else is computed again, and the division is decided.

use super::bounds::{MOST_CROWDS, MOST_INSTANCES};
use super::bundle::Bundle;
use super::{
    LimitsRow, Measurement, Part, Program, Recorded, Session, Study, SummaryRow, digest, read_rows,
    session,
};
use crate::backend::Joints;
use crate::frame::{Clock, Stage};
use crate::harness::{Floor, Status, Summary};
use crate::model::Model;
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
        .and_then(|recorded| recorded.bounded().map_err(|e| e.what));
    let recorded = recorded.unwrap_or_else(|problem| {
        faults.push(problem);
        Recorded::default()
    });
    faults.extend(
        recorded
            .problems
            .iter()
            .filter(|problem| problem.is_fault)
            .map(ToString::to_string),
    );
    let sessions = sessions(bundle, &mut faults);
    let by_run: HashMap<(&str, &str), &Session> = sessions
        .iter()
        .flat_map(|(folder, own)| own.iter().map(move |session| (*folder, session)))
        .flat_map(|(folder, session)| {
            session
                .runs
                .iter()
                .map(move |run| ((folder, run.as_str()), session))
        })
        .collect();
    let mut rows = Vec::with_capacity(recorded.measurements.len());
    let mut unknown = BTreeSet::new();
    for (measurement, &(file, line)) in recorded.measurements.iter().zip(&recorded.lines) {
        let (row, name) = (&measurement.row, &recorded.files[file].name);
        let (place, folder) = (format!("{name}:{line}"), folder_of(name));
        let session = by_run.get(&(folder, row.run_id.as_str())).copied();
        let problems = figures(measurement).into_iter().chain(verdicts(row));
        faults.extend(problems.map(|what| format!("{place}: {what}")));
        match session {
            // Once per run, not once per row.
            None if unknown.insert((folder, &row.run_id)) => {
                faults.push(format!(
                    "{place}: run {} is not in {folder}{}",
                    row.run_id,
                    session::FILE
                ));
            }
            None => {}
            Some(session) => faults.extend(differing(row, session).map(|what| {
                format!(
                    "{place}: {what} is not the one in {folder}{}",
                    session::FILE
                )
            })),
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
    let division = match (in_browser, reasons.is_empty()) {
        (0, true) => Division::Closed,
        (0, false) => Division::Open,
        _ => Division::Browser,
    };
    Checked {
        faults,
        division,
        reasons,
        sessions: measured.into_iter().cloned().collect(),
        rows: rows.len(),
        samples: recorded
            .measurements
            .iter()
            .map(|measurement| measurement.samples.len())
            .sum(),
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
    let unlisted = bundle
        .files
        .keys()
        .filter(|name| !bundle.manifest.files.contains_key(*name));
    faults.extend(unlisted.map(|name| format!("{name} is not in manifest.json")));
    faults
}

/// The sessions of each folder, whose name ends in `/` or is empty. Files that are missing or cannot be parsed are
/// faults.
fn sessions<'a>(bundle: &'a Bundle, faults: &mut Vec<String>) -> BTreeMap<&'a str, Vec<Session>> {
    let mut sessions = BTreeMap::new();
    let folders: BTreeSet<&str> = bundle.files.keys().map(|name| folder_of(name)).collect();
    for folder in folders {
        let file = |name: &str| bundle.files.get(&format!("{folder}{name}"));
        if file("summary.csv").is_none() {
            faults.push(format!("{folder}summary.csv is missing"));
        }
        if let Some(limits) = file("limits.csv") {
            let mut problems = Vec::new();
            let (name, text) = (
                format!("{folder}limits.csv"),
                String::from_utf8_lossy(limits),
            );
            let read = read_rows(&name, &text, &[], &mut problems, |_, _: LimitsRow| Ok(()));
            faults.extend(problems.iter().map(ToString::to_string).chain(read.err()));
        }
        let Some(bytes) = file(session::FILE) else {
            faults.push(format!("{folder}{} is missing", session::FILE));
            continue;
        };
        match session::parse(bytes) {
            Ok(own) => {
                let text = String::from_utf8_lossy(bytes);
                faults.extend(
                    changed_parts(&own, &text)
                        .map(|what| format!("{folder}{}{what}", session::FILE)),
                );
                sessions.insert(folder, own);
            }
            Err(problem) => faults.push(format!("{folder}{}: {problem}", session::FILE)),
        }
    }
    sessions
}

/// Parts of pages that were changed after the pages were made: the line of each in the text of its sessions, and what.
fn changed_parts<'a>(sessions: &'a [Session], text: &'a str) -> impl Iterator<Item = String> {
    let parts = sessions
        .iter()
        .filter_map(|session| session.browser.as_ref())
        .flat_map(|browser| &browser.parts);
    parts
        .filter(|part| part.made != part.ran || part.ran.is_empty())
        .map(|Part { name, made, ran }| {
            let line = text[..text.find(ran.as_str()).unwrap_or(0)]
                .matches('\n')
                .count()
                + 1;
            format!(":{line}: {name} ran with SHA-256 {ran}, but the page was made with {made}")
        })
}

/// Differences between the figures of a row and those of its samples.
fn figures(measurement: &Measurement) -> Vec<String> {
    let Measurement { row, samples } = measurement;
    let mut faults = Vec::new();
    // Whoever read the samples has said why they are not used.
    if samples.len() != row.frames.unwrap_or(0) {
        return faults;
    }
    let summary = Summary::of(samples.iter().map(|&(_, ns)| ns));
    let mut compare = |name: &str, stated: Option<u64>, computed: Option<u64>| {
        if stated != computed {
            let text = |value: Option<u64>| value.map_or("empty".into(), |value| value.to_string());
            faults.push(format!(
                "{name} is {}, but the samples give {}",
                text(stated),
                text(computed)
            ));
        }
    };
    compare("median_ns", row.median_ns, summary.map(|s| s.median));
    compare("mad_ns", row.mad_ns, summary.map(|s| s.mad));
    compare("min_ns", row.min_ns, summary.map(|s| s.min));
    compare("p95_ns", row.p95_ns, summary.map(|s| s.p95));
    // Older results lack the column.
    compare(
        "p99_ns",
        row.p99_ns,
        summary.and_then(|s| s.p99).filter(|_| row.p99_ns.is_some()),
    );
    compare("max_ns", row.max_ns, summary.map(|s| s.max));
    if row.noisy != summary.map(|s| s.is_noisy()) {
        faults.push("noisy does not follow from the samples".into());
    }
    if let Some(percent) = row.pct_of_limit {
        let floor = row
            .bytes
            .zip(row.limit)
            .map(|(bytes, limit)| Floor { bytes, limit }.ns());
        match floor.zip(row.median_ns) {
            // The stated one is rounded to a tenth. NaN and infinity are not within any distance.
            Some((floor, median)) if (percent - 1e2 * floor / median as f64).abs() <= 0.11 => {}
            Some(_) => {
                faults
                    .push(format!("pct_of_limit is {percent}, but bytes, limit and median_ns give another percentage"));
            }
            None => faults.push(format!(
                "pct_of_limit is {percent} without bytes, limit and median_ns"
            )),
        }
    }
    faults
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
        match row.parity_max_rel.zip(row.parity_tol) {
            None => faults.push("status ok without parity_max_rel and parity_tol".into()),
            Some((error, tolerance))
                if ![error, tolerance]
                    .iter()
                    .all(|value| value.is_finite() && *value >= 0.0) =>
            {
                let expected = "expected finite numbers of at least 0";
                faults.push(format!(
                    "status ok, but parity_max_rel {error} and parity_tol {tolerance}; {expected}"
                ));
            }
            Some((error, tolerance)) if error <= tolerance => {}
            Some((error, tolerance)) => {
                faults.push(format!(
                    "status ok, but parity_max_rel {error:e} is not within parity_tol {tolerance:e}"
                ));
            }
        }
    }
    faults
}

/// Columns of a row that its session contradicts.
fn differing<'a>(row: &'a SummaryRow, session: &'a Session) -> impl Iterator<Item = &'static str> {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let build = &session.program.build;
    let columns = [
        ("git_rev", row.git_rev == build.git_rev),
        ("dirty", row.dirty == build.dirty),
        ("rustc", text(&row.rustc) == build.rustc),
        ("os", text(&row.os) == session.os),
        ("cpu", text(&row.cpu) == session.cpu),
        ("adapter", row.adapter == session.adapter),
        ("driver", row.driver == session.driver),
    ];
    columns
        .into_iter()
        .filter(|(_, same)| !same)
        .map(|(name, _)| name)
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
    for Session {
        program,
        isa,
        isa_chosen,
        ..
    } in sessions
    {
        let Program {
            version: own,
            build,
            ..
        } = program;
        let other = format!(
            "made by {own}, and only that version can confirm its scenes and shaders, not {version}"
        );
        let found = [
            (
                build.tag != Some(format!("v{own}")),
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
            (program.debug, "a debug build".into()),
            (own != version, other),
            (
                own == version && program.shaders != shaders,
                format!("its shaders are not those of {version}"),
            ),
            (*isa_chosen, format!("the instruction set {isa} was chosen")),
        ];
        reasons.extend(
            found
                .into_iter()
                .filter(|(is_so, _)| *is_so)
                .map(|(_, reason)| reason),
        );
    }
    let mut crowds: BTreeMap<(&str, usize), BTreeSet<&str>> = BTreeMap::new();
    for (row, session) in rows {
        let backend = row.backend_and_variant();
        let entry = registry::find(&backend).filter(|entry| entry.is_built());
        let is_baked = entry.is_some_and(|entry| entry.abilities().joints == Joints::Nowhere);
        let loosest = if is_baked { LOOSEST_BAKED } else { LOOSEST };
        let is_loose =
            entry.is_some() && row.parity_tol.is_some_and(|tolerance| tolerance > loosest);
        // Of stages with frames in flight, slow backends have fewer samples.
        let is_timed =
            (row.stage, row.clock) == (Stage::Frame, Clock::Wall) && row.median_ns.is_some();
        let frames = row.frames.unwrap_or(0) + row.dropped.unwrap_or(0) as usize;
        // A page has no threads of its own.
        let native = session.filter(|session| session.browser.is_none());
        let processors = native.map_or(row.threads, |session| session.hardware.processors);
        let is_built_in = BUILT_IN.iter().any(|(name, _)| *name == row.scene);
        if is_built_in {
            crowds
                .entry((&row.scene, row.instances))
                .or_default()
                .insert(&row.scene_hash);
        }
        let found = [
            (
                row.options.is_some(),
                format!("options {}", row.options.as_deref().unwrap_or_default()),
            ),
            (
                entry.is_none(),
                format!("{backend} is not a backend of {version}"),
            ),
            (
                is_loose,
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
            (
                !is_built_in,
                format!("{} is not a built-in scene", row.scene),
            ),
        ];
        reasons.extend(
            found
                .into_iter()
                .filter(|(is_so, _)| *is_so)
                .map(|(_, reason)| reason),
        );
    }
    let (count, instances) = (
        crowds.len(),
        crowds
            .keys()
            .fold(0, |sum: usize, (_, own)| sum.saturating_add(*own)),
    );
    if count > MOST_CROWDS || instances > MOST_INSTANCES {
        return Err(format!(
            "{count} crowds of built-in scenes with {instances} instances together; a check builds them again, at most \
             {MOST_CROWDS} with {MOST_INSTANCES}: send the results in parts"
        ));
    }
    // Crowds of a scene have the same models.
    let mut known: HashMap<ModelSource, Result<Model, String>> = HashMap::new();
    let mut load = |sources: &[&ModelSource]| {
        let unknown: Vec<&ModelSource> = sources
            .iter()
            .copied()
            .filter(|&source| !known.contains_key(source))
            .collect();
        known.extend(
            unknown
                .iter()
                .map(|&source| source.clone())
                .zip(ModelSource::load_all(&unknown)),
        );
        sources
            .iter()
            .map(|&source| known[source].clone())
            .collect()
    };
    let mut foreign = |scene: &str, instances: usize, hashes: &BTreeSet<&str>| {
        let settings = Settings {
            instances: Some(instances as u64),
            ..Settings::default()
        };
        let built = Scene::load(scene)
            .and_then(|loaded| loaded.with(settings).build_with(memory, &mut load));
        let crowd = format!("the scene {scene} with {instances} instances");
        match built {
            Ok(built)
                if hashes
                    .iter()
                    .all(|hash| *hash == format!("{:016x}", built.hash)) =>
            {
                None
            }
            Ok(_) => Some(format!("{crowd} is not the built-in one: another hash")),
            Err(error) => Some(format!("{crowd} cannot be confirmed here: {error}")),
        }
    };
    reasons.extend(
        crowds
            .iter()
            .filter_map(|(&(scene, instances), hashes)| foreign(scene, instances, hashes)),
    );
    Ok(reasons.into_iter().collect())
}
