//! Manifests of peers: how each is built and started, and whose code it is.

use super::process::last_line;
use crate::asset::regular_file;
use crate::registry;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::env;
use std::error::Error;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// Folder of manifests that backends' names are looked up in.
const FOLDER: &str = "peers";
/// Ending of a manifest's name.
const ENDING: &str = ".toml";
/// Most bytes of a manifest.
const MOST_BYTES: u64 = 1 << 16;

/// A peer's manifest, as `peers/NAME.toml` has it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Name in tables: lower-case letters, digits, `-`.
    pub name: String,
    /// One line for `skinbench list`.
    pub summary: String,
    /// Project whose code is measured.
    pub owner: String,
    /// Version of that project.
    pub version: String,
    /// Its licence.
    pub licence: String,
    /// How it is compiled and configured.
    pub settings: String,
    /// Programs that building and starting need on the PATH.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Script that builds what is not built yet.
    #[serde(default)]
    pub build: String,
    /// Script that starts it.
    pub start: String,
    /// `true` if it can use several threads.
    #[serde(default)]
    pub threads: bool,
    /// `true` if a device computes its frames and times their stages.
    #[serde(default)]
    pub device: bool,
    /// Most seconds that an answer may take, 60 if it does not say.
    pub timeout_s: Option<u64>,
    /// Backends that take part: with one thread, and with all threads if it can use them.
    #[serde(skip_deserializing)]
    pub backends: BTreeSet<String>,
    /// What this machine lacks to build or start it, if anything.
    #[serde(skip_deserializing)]
    pub missing: Option<String>,
    /// The file, in whose folder scripts run.
    #[serde(skip)]
    pub file: PathBuf,
    /// Folder of what is built.
    #[serde(skip)]
    build_folder: PathBuf,
}

/// Names of the peers that have manifests in the folder `peers`.
pub fn names() -> Vec<String> {
    let entries = fs::read_dir(FOLDER).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let names = files.filter_map(|file| file.strip_suffix(ENDING).map(String::from));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// The manifest that a name of a backend stands for, if it does: a path, or a name from the folder `peers` with or
/// without a variant.
pub fn file_of(backend: &str) -> Option<PathBuf> {
    if backend.ends_with(ENDING) {
        return Some(backend.into());
    }
    let name = backend.split(':').next()?.to_owned();
    let is_known = names().contains(&name);
    is_known.then(|| Path::new(FOLDER).join(name + ENDING))
}

impl Manifest {
    /// The peer that a name of a backend stands for: the path of its manifest stands for all its backends, a name for
    /// the one of exactly this name. `None` if the name is not that of a peer.
    ///
    /// # Errors
    /// The manifest cannot be read, is none, or has no backend of this name.
    pub fn named(backend: &str) -> Result<Option<Self>, String> {
        let Some(file) = file_of(backend) else {
            return Ok(None);
        };
        let mut manifest = Self::read(&file)?;
        if !backend.ends_with(ENDING) {
            manifest.backends.retain(|name| name == backend);
        }
        if manifest.backends.is_empty() {
            return Err(format!("{} has no backend {backend:?}", file.display()));
        }
        Ok(Some(manifest))
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// The file cannot be read, or is no manifest.
    pub fn read(file: &Path) -> Result<Self, String> {
        Self::parse(file).map_err(|problem| format!("{}: {problem}", file.display()))
    }

    fn parse(file: &Path) -> Result<Self, Box<dyn Error>> {
        let text = regular_file::read_text(file, MOST_BYTES)?;
        let mut manifest: Self = toml::from_str(&text)?;
        let name = &manifest.name;
        let mut letters = name.bytes();
        if !letters.all(|c| matches!(c, b'a'..=b'z' | b'0'..=b'9' | b'-'))
            || name.is_empty()
            || registry::find(name).is_some()
        {
            return Err(format!(
                "the name {name:?}; expected lower-case letters, digits and -, and no name of another backend"
            )
            .into());
        }
        let paths = env::var_os("PATH").unwrap_or_default();
        let mut programs = manifest.needs.clone();
        programs.retain(|program| {
            !env::split_paths(&paths).any(|folder| folder.join(program).is_file())
        });
        if !programs.is_empty() {
            manifest.missing = Some(format!("needs {} on the PATH", programs.join(", ")));
        }
        manifest.backends.insert(name.clone());
        if manifest.threads {
            manifest.backends.insert(format!("{name}:threads"));
        }
        let target = env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into());
        let build_folder = Path::new(&target).join("peers").join(name);
        Ok(Self {
            file: std::path::absolute(file)?,
            build_folder: std::path::absolute(build_folder)?,
            ..manifest
        })
    }

    /// Builds what is not built yet, if nothing is missing for that; afterwards it may be. What the script prints goes
    /// to a file.
    pub fn build(&mut self) {
        if self.missing.is_some() {
            return;
        }
        let log = self.build_folder.join("build.log");
        let problem = match self.run_build(&log) {
            Ok(status) if status.success() => return,
            Ok(status) => format!("{status}: {}", last_line(&log)),
            Err(error) => error.to_string(),
        };
        let log = log.display();
        self.missing = Some(format!("cannot be built ({problem}); see {log}"));
    }

    fn run_build(&self, log: &Path) -> io::Result<ExitStatus> {
        fs::create_dir_all(&self.build_folder)?;
        let log = File::create(log)?;
        self.shell(&self.build)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .status()
    }

    /// A shell that will run a script in the manifest's folder until a command fails. The variable `BUILD` has the
    /// folder of what is built.
    pub fn shell(&self, script: &str) -> Command {
        let mut shell = Command::new("sh");
        shell
            .args(["-ec", script])
            .env("BUILD", &self.build_folder)
            .current_dir(self.file.with_file_name(""));
        shell
    }
}
