//! Arguments that several commands share: scenes, backends, the machine.

use super::exit::{Exit, UsageError};
use super::{retired, tell};
use anyhow::{Context as _, anyhow, bail};
use clap::builder::PossibleValue;
use clap::{Arg, Args};
use indexmap::IndexSet;
#[cfg(unix)]
use nix::sys::signal::{SigHandler, Signal, signal};
use skinbench::backend::Context;
use skinbench::frame::{Api, BackendError, ClockChoice};
use skinbench::harness::environment::available_memory;
use skinbench::harness::run::{Ended, Outcome, Status};
use skinbench::model::{LATEST_KEY, Model};
use skinbench::peers::{self, Manifest};
use skinbench::registry::{BackendEntry, REGISTRY, find, unknown};
use skinbench::scene::{BuiltScene, ModelSource, Scene, Settings};
use skinbench::simd::Isa;
use skinbench::threads::Threads;
use skinbench::vertex::Normals;
use skinbench::wording;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wildmatch::WildMatch;

/// Fraction of the available memory that a run may take.
const MEMORY_SHARE: f64 = 0.7;

/// Scenes and the backends that run them.
#[derive(Debug, Args)]
pub struct WorkloadArguments {
    /// Built-in scenes, scene files (.toml) or models; several models are one crowd; default: walkers
    #[arg(value_name = "SCENE|MODEL")]
    pub scenes: Vec<PathBuf>,
    /// A model to use in place of those of the scenes, such as Fox.glb in many-foxes
    #[arg(long, value_name = "MODEL", help_heading = "Crowd")]
    pub model: Option<PathBuf>,
    #[command(flatten)]
    pub backends: BackendArguments,
    #[command(flatten)]
    pub machine: MachineArguments,
}

/// Backends of the registry, and peers.
#[derive(Debug, Clone, Args)]
pub struct BackendArguments {
    /// Backends by name or pattern, such as 'cpu-*,gpu-compute'; default: those without a colon
    ///
    /// Peers are named, too, or their manifests (.toml): they are built, and change two defaults: --passes 0 --normals raw
    #[arg(
        short,
        long,
        value_name = "GLOBS",
        value_delimiter = ',',
        help_heading = "Measurement"
    )]
    pub backends: Vec<String>,
}

/// The clock of the stages on the device.
#[derive(Debug, Clone, Copy, Args)]
pub struct ClockArguments {
    /// Clock of the stages on the device: timestamps of the device, fences (one submission per stage, in frames of
    /// their own), or fences where timestamps fail a check at the start (auto)
    #[arg(
        long,
        value_name = "timestamps|fenced|auto",
        default_value = "auto",
        hide_default_value = true,
        help_heading = "Measurement"
    )]
    clock: ClockChoice,
}

/// Threads and adapter to run on.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Machine")]
pub struct MachineArguments {
    /// Numbers of threads of parallel backends, each measured by itself; default: as many as the processor has
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = positive::<u32>)]
    pub threads: Vec<u32>,
    /// Adapter by part of its name, or by its number in `skinbench list`; default: the first
    #[arg(long, value_name = "NAME|INDEX")]
    pub adapter: Option<String>,
    /// Graphics API; default: the machine's own, and OpenGL where there is no other
    #[arg(long, hide_possible_values = true, value_name = "vulkan|gl|dx12|metal")]
    pub api: Option<Api>,
    /// Fail if this is missing, instead of skipping backends
    #[arg(long, value_name = "WHAT", value_parser = [PossibleValue::new("gpu").help("An adapter that opens")])]
    pub require: Option<String>,
}

/// The argument `--threads` of a command that uses one number of threads.
pub fn one_thread_count(argument: Arg) -> Arg {
    argument
        .value_delimiter(None)
        .help("Threads of a parallel backend; default: as many as the processor has")
}

/// Parses a whole number that is not zero.
pub fn positive<T: FromStr + Default + PartialOrd>(text: &str) -> Result<T, &'static str> {
    let expected = "expected a whole number, 1 or more";
    wording::parsed(text, |number| *number > T::default(), expected)
}

/// Parses a time in seconds, at most [`LATEST_KEY`] either way.
pub fn seconds(text: &str) -> Result<f32, &'static str> {
    let expected = "expected seconds, -100000 to 100000";
    wording::parsed(text, |time: &f32| time.abs() <= LATEST_KEY, expected)
}

impl WorkloadArguments {
    /// Loads the scenes; two models or more are one scene, in the place of the first.
    pub fn scenes(&self) -> anyhow::Result<Vec<Scene>> {
        let default: [PathBuf; 1] = ["walkers".into()];
        let names = if self.scenes.is_empty() {
            &default[..]
        } else {
            &self.scenes
        };
        let models: Vec<&PathBuf> = names.iter().filter(|name| Scene::is_model(name)).collect();
        let first_model = names.iter().position(Scene::is_model);
        let mut scenes = Vec::with_capacity(names.len());
        for (position, name) in names.iter().enumerate() {
            let mut scene = if models.len() < 2 || !models.contains(&name) {
                load_scene(name)?
            } else if first_model == Some(position) {
                Scene::of_models(&models)?
            } else {
                continue;
            };
            if let Some(model) = &self.model {
                scene = scene.with_model(model).map_err(UsageError)?;
            }
            scenes.push(scene.with(self.backends.defaults()));
        }
        Ok(scenes)
    }
}

/// Checks the values of settings.
pub fn checked(settings: &Settings) -> Result<(), UsageError> {
    settings
        .check()
        .map_err(|refused| UsageError(refused.of_argument()))
}

impl BackendArguments {
    /// The peers that were named, after they were built, and the backends that match the patterns, in the registry's
    /// order; without any name all of the registry but variants. Nothing is built if a name is unknown.
    pub fn entries(&self) -> Result<Vec<&'static BackendEntry>, UsageError> {
        if self.backends.is_empty() {
            let entries = REGISTRY.iter().filter(|entry| entry.is_built());
            return Ok(entries.filter(|entry| !entry.name.contains(':')).collect());
        }
        let mut peers: Vec<Manifest> = Vec::new();
        let mut globs = Vec::new();
        for name in &self.backends {
            let Some(peer) = Manifest::named(name).map_err(UsageError)? else {
                globs.push(name.clone());
                continue;
            };
            match peers.iter_mut().find(|known| known.file == peer.file) {
                Some(known) => known.backends.extend(peer.backends),
                None => peers.push(peer),
            }
        }
        let mut others = Vec::new();
        if !globs.is_empty() {
            others = matching(&globs, &REGISTRY[..], |entry| entry.name, unknown_backend)?;
        }
        let mut entries = Vec::new();
        for peer in peers {
            if peer.missing.is_none() {
                tell(format_args!("building {}", peer.name));
            }
            entries.extend(peers::entries(peer));
        }
        entries.extend(others);
        Ok(entries)
    }

    /// Settings of scenes that peers change unless a person chooses: most leave normals as they are, and none draws.
    pub fn defaults(&self) -> Settings {
        let mut settings = Settings::default();
        let mut names = self.backends.iter();
        if names.any(|name| peers::file_of(name).is_some()) {
            settings.passes = Some(0);
            settings.normals = Some(Normals::Raw);
        }
        settings
    }
}

/// Those of `all` whose names match one of the patterns, or all without a pattern, in their order. Each pattern must match
/// a name; `unknown` is the line about one that does not.
pub fn matching<'a, T>(
    globs: &[String],
    all: &'a [T],
    name: impl Fn(&T) -> &str,
    unknown: impl Fn(&str) -> String,
) -> Result<Vec<&'a T>, UsageError> {
    let patterns: Vec<_> = globs.iter().map(|glob| WildMatch::new(glob)).collect();
    let names: Vec<&str> = all.iter().map(&name).collect();
    for (pattern, glob) in patterns.iter().zip(globs) {
        if !names.iter().any(|name| pattern.matches(name)) {
            return Err(UsageError(unknown(glob)));
        }
    }
    let matching = (0..all.len()).filter(|&index| {
        patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(names[index]))
    });
    Ok(matching.map(|index| &all[index]).collect())
}

/// Loads a scene by name; an unknown name is a usage error.
pub fn load_scene(name: &Path) -> anyhow::Result<Scene> {
    Scene::check_name(name).map_err(UsageError)?;
    Ok(Scene::load(name)?)
}

/// A model by name; a scene or an unknown name is a usage error.
pub fn model_source(name: &Path) -> Result<ModelSource, UsageError> {
    Scene::model(name).map_err(UsageError)
}

/// The backend of exactly this name.
pub fn backend(name: &str) -> Result<&'static BackendEntry, UsageError> {
    find(name).ok_or_else(|| UsageError(unknown_backend(name)))
}

/// One line about a name or pattern that no backend has: what took its place, or the closest name.
pub fn unknown_backend(name: &str) -> String {
    retired::refusal(name).unwrap_or_else(|| unknown(name, &peers::names()))
}

/// Bytes of main memory that a run may take.
pub fn memory() -> u64 {
    (available_memory() as f64 * MEMORY_SHARE) as u64
}

/// Builds scenes; refuses those that do not fit in memory before anything is written.
pub fn build(scenes: &[Scene]) -> anyhow::Result<Vec<BuiltScene>> {
    let mut built = Vec::with_capacity(scenes.len());
    for scene in scenes {
        built.push(scene.build(memory())?);
    }
    for scene in &built {
        for remark in &scene.remarks {
            tell(format_args!("note: {}: {remark}", scene.name));
        }
    }
    Ok(built)
}

/// Prints the notes about a model.
pub fn tell_notes(model: &Model) {
    for note in model.notes().lines() {
        tell(format_args!("note: {}: {note}", model.name()));
    }
}

/// A pool of `threads` threads, or of one per processor. If there are as many threads as processors, each one is pinned
/// to a processor: unpinned threads sometimes shared a processor for a whole frame while another was idle.
fn pool(threads: Option<usize>) -> rayon::ThreadPoolBuilder {
    let processors = core_affinity::get_core_ids().unwrap_or_default();
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .start_handler(move |thread| {
            if rayon::current_num_threads() != processors.len() {
                return;
            }
            if let Some(processor) = processors.get(thread) {
                // If the system refuses, the thread stays unpinned.
                core_affinity::set_for_current(*processor);
            }
        })
}

/// Starts a thread per processor for parallel loops; the calling thread alone, if the system allows no more.
pub fn start_threads() -> anyhow::Result<()> {
    if let Err(error) = pool(None).build_global() {
        rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread()
            .build_global()
            .map_err(|_| anyhow!("cannot start threads: {error}"))?;
        tell(format_args!("note: {error}: one thread is used"));
    }
    Ok(())
}

impl MachineArguments {
    /// Sets the threads up and opens the adapter, if there is one.
    pub fn open(&self) -> anyhow::Result<Context> {
        self.with_adapter(self.host_context()?, self.require.is_some())
    }

    /// Creates the backend, and opens an adapter only if the backend needs one.
    pub fn open_for(&self, entry: &BackendEntry, host: Context) -> anyhow::Result<Context> {
        match entry.create(&host) {
            Err(BackendError::Unavailable(_)) => self.with_adapter(host, true),
            _ => Ok(host),
        }
    }

    /// A context with instruction set and threads, without an adapter. A process sets its threads up once, before a
    /// model is loaded.
    pub fn host_context(&self) -> anyhow::Result<Context> {
        let isa = Isa::chosen().map_err(UsageError)?;
        // Of several thread counts, the largest is rayon's global pool: it verifies, and poses what a device skins.
        let most = self.threads.iter().max().copied();
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        if let Some(most) = most.filter(|most| *most as usize > processors) {
            tell(format_args!(
                "note: --threads {most} on {}: threads wait for each other",
                wording::counted(processors as u64, "processor")
            ));
        }
        match most {
            Some(most) => pool(Some(most as usize))
                .build_global()
                .with_context(|| format!("--threads {most}"))?,
            None => start_threads()?,
        }
        Ok(Context {
            isa,
            ..Context::default()
        })
    }

    /// One context per requested thread count.
    pub fn thread_counts(&self, context: &Context) -> anyhow::Result<Vec<Context>> {
        if self.threads.len() < 2 {
            return Ok(vec![context.clone()]);
        }
        let mut contexts = Vec::with_capacity(self.threads.len());
        for count in &self.threads {
            contexts.push(Context {
                threads: Threads::new(*count as usize)?,
                ..context.clone()
            });
        }
        Ok(contexts)
    }

    /// Opens the adapter. A missing one is an error if it is required or named, otherwise a note.
    #[cfg(feature = "gpu")]
    pub fn with_adapter(&self, host: Context, required: bool) -> anyhow::Result<Context> {
        match skinbench::gpu::Gpu::open_by(self.api, self.adapter.as_deref()) {
            Ok(gpu) => Ok(Context {
                gpu: Some(gpu),
                ..host
            }),
            Err(error) if self.adapter.is_some() || self.api.is_some() => bail!(error),
            Err(error) if required => bail!("{error}; {ADAPTER_HINT}"),
            Err(error) => {
                tell(format_args!(
                    "note: {error}: nothing is drawn, GPU backends are skipped; {ADAPTER_HINT}"
                ));
                Ok(host)
            }
        }
    }

    /// Reports that there is no adapter: an error if it is required or named.
    #[cfg(not(feature = "gpu"))]
    fn with_adapter(&self, host: Context, required: bool) -> anyhow::Result<Context> {
        if required || self.adapter.is_some() || self.api.is_some() {
            bail!(skinbench::registry::NO_GPU);
        }
        Ok(host)
    }
}

impl ClockArguments {
    /// Sets the clock of the stages on the device, if there is one, and says so if it is not the usual one.
    #[cfg(feature = "gpu")]
    pub fn choose(self, context: &Context) -> anyhow::Result<()> {
        let Some(gpu) = &context.gpu else {
            return Ok(());
        };
        let fault = gpu
            .choose_clock(self.clock)
            .with_context(|| format!("--clock {}", self.clock.name()))?;
        if let Some(fault) = fault {
            tell(format_args!(
                "note: {fault}: stages on {} are timed by the clock `fenced`",
                gpu.adapter.summary.name
            ));
        }
        Ok(())
    }

    /// Sets the clock of the stages on the device, of which there is none.
    #[cfg(not(feature = "gpu"))]
    pub fn choose(self, _: &Context) -> anyhow::Result<()> {
        Ok(())
    }
}

#[cfg(feature = "gpu")]
const ADAPTER_HINT: &str = "a software adapter is in the package mesa-vulkan-drivers (Debian, Ubuntu: apt install; \
    Fedora: dnf install) or vulkan-swrast (Arch: pacman -S)";

/// `true` after a signal that ends processes, such as that of Ctrl-C, once [`watch_for_interruption`] was called.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Time within which signals count as one: `timeout`, and whatever else passes signals on to a group of processes, sends
/// each twice.
const ONE_SIGNAL: Duration = Duration::from_millis(500);

/// Returns whether the command is to end.
pub fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Lets Ctrl-C, a request to terminate, or a terminal that is closed interrupt the command, which asks for this once; a
/// later signal ends the process at once. Under `nohup`, closed terminals go on to be ignored.
pub fn watch_for_interruption() -> anyhow::Result<()> {
    #[cfg(unix)]
    let ignores_hangup = ignores_hangup()?;
    let mut first = None;
    ctrlc::set_handler(move || {
        INTERRUPTED.store(true, Ordering::Relaxed);
        if first.get_or_insert_with(Instant::now).elapsed() > ONE_SIGNAL {
            std::process::exit(130);
        }
    })
    .context("cannot watch for signals")?;
    #[cfg(unix)]
    if ignores_hangup {
        ignore_hangup()?;
    }
    Ok(())
}

/// Returns whether the process ignores that its terminal is closed, and ignores it from now on.
#[cfg(unix)]
fn ignores_hangup() -> nix::Result<bool> {
    Ok(matches!(ignore_hangup()?, SigHandler::SigIgn))
}

/// Ignores that the terminal is closed; returns what happened before.
#[cfg(unix)]
fn ignore_hangup() -> nix::Result<SigHandler> {
    // SAFETY: no handler is installed.
    unsafe { signal(Signal::SIGHUP, SigHandler::SigIgn) }
}

/// What an interruption left out, in lines: backends that were not measured, and those that were in part. `partial` are
/// names of the latter.
pub fn left_out(
    backends: &[&BackendEntry],
    outcomes: &[Outcome],
    partial: &[&'static str],
) -> String {
    let mut missing: Vec<&str> = backends.iter().map(|entry| entry.name).collect();
    missing.retain(|name| outcomes.iter().all(|outcome| outcome.name != *name));
    let mut text = String::new();
    if !partial.is_empty() {
        text += &format!("interrupted: fewer frames of {}\n", partial.join(", "));
    }
    if !missing.is_empty() {
        text += &format!("interrupted: not measured: {}\n", missing.join(", "));
    }
    if text.is_empty() {
        text += "interrupted after the last backend\n";
    }
    text
}

/// Where a backend that was named must run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MustRun {
    /// On every crowd.
    Everywhere,
    /// On at least one.
    Somewhere,
}

/// The exit code of a command that ran backends. `globs` are the names and patterns that were given: a backend that was
/// named must run, and so must one of those that a pattern stands for.
pub fn exit(globs: &[String], ended: &[Ended], named: MustRun) -> Exit {
    let any = |status| ended.iter().any(|one| one.status == status);
    if is_interrupted() {
        return Exit::Interrupted;
    }
    if any(Status::ParityFailed) {
        return Exit::Unverified;
    }
    if any(Status::Error) || any(Status::TooLarge) {
        return Exit::Error;
    }
    // Peers take part only if they are named, some of them by the path of a manifest.
    let mut globs: IndexSet<&str> = globs.iter().map(String::as_str).collect();
    let names = ended.iter().map(|one| one.backend);
    globs.extend(names.filter(|name| find(name).is_none()));
    let mut exit = Exit::Done;
    for glob in globs {
        if is_skipped(glob, ended, named) {
            tell(format_args!("error: {glob} was named and did not run"));
            exit = Exit::Unverified;
        }
    }
    exit
}

/// Returns whether what a name or pattern stands for did not run where it must.
fn is_skipped(glob: &str, ended: &[Ended], named: MustRun) -> bool {
    let pattern = WildMatch::new(glob);
    let matching: Vec<&Ended> = ended
        .iter()
        .filter(|one| pattern.matches(one.backend))
        .collect();
    let skipped = matching
        .iter()
        .filter(|one| one.status == Status::Skipped)
        .count();
    let is_name = matching.iter().any(|one| one.backend == glob);
    let must_run = is_name && named == MustRun::Everywhere;
    skipped > 0 && (must_run || skipped == matching.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn threads_stay_on_processors_of_their_own() {
        let processors = || core_affinity::get_core_ids().unwrap();
        let of_threads = |threads| pool(threads).build().unwrap().broadcast(|_| processors());
        let all = processors();
        assert_eq!(
            of_threads(Some(all.len())),
            all.iter().map(|own| vec![*own]).collect::<Vec<_>>()
        );
        assert_eq!(
            of_threads(Some(all.len() + 1)),
            vec![all.clone(); all.len() + 1],
            "more threads than processors"
        );
    }

    #[test]
    fn what_is_named_must_run() {
        let ended = |backend, status| Ended {
            backend,
            status,
            frame: None,
        };
        let all = [
            ended("cpu-simd", Status::Ok),
            ended("gpu-vertex", Status::Skipped),
            ended("gpu-vertex", Status::Ok),
            ended("gpu-vat", Status::Skipped),
        ];
        let exit = |glob: &str, named| exit(&[glob.to_owned()], &all, named);
        for (glob, everywhere, somewhere) in [
            ("cpu-simd", Exit::Done, Exit::Done),
            ("gpu-vertex", Exit::Unverified, Exit::Done),
            ("gpu-vat", Exit::Unverified, Exit::Unverified),
            ("gpu-*", Exit::Done, Exit::Done),
            ("gpu-va*", Exit::Unverified, Exit::Unverified),
        ] {
            assert_eq!(exit(glob, MustRun::Everywhere), everywhere, "{glob}");
            assert_eq!(exit(glob, MustRun::Somewhere), somewhere, "{glob}");
        }
    }

    #[test]
    fn only_finite_times_and_positive_numbers_are_accepted() {
        assert_eq!(seconds("-0.5"), Ok(-0.5));
        assert!(
            ["NaN", "inf", "1e39", "x", ""]
                .iter()
                .all(|text| seconds(text).is_err())
        );
        assert_eq!(positive::<u32>("7"), Ok(7));
        assert!(
            ["0", "-1", "1.5", "4294967296", ""]
                .iter()
                .all(|text| positive::<u32>(text).is_err())
        );
    }
}
