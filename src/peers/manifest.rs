//! Manifests of peers: how each is built and started, and whose code it is.

use crate::asset::regular_file;
use crate::registry::REGISTRY;
use flate2::read::GzDecoder;
use serde::Deserialize;
use std::error::Error;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tar::Archive;

/// Variable that names the folder of shared material; archives of sources are in `peers` there.
const SHARED: &str = "SKINBENCH_SHARED";
/// File in a build folder that has the manifest which was built.
const BUILT: &str = "built.toml";
/// File in a build folder that has what the commands printed.
const LOG: &str = "build.log";
/// Most bytes of a manifest, and of a log whose last line is repeated.
const MOST_BYTES: u64 = 1 << 16;
const MOST_LOG: u64 = 64 << 20;

/// A peer's manifest, as `peers/NAME.toml` has it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Name in tables: lower-case letters, digits, `-`.
    pub name: String,
    /// One line for `skinbench peers list`.
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
    /// Commands that build it.
    #[serde(default)]
    pub build: Vec<Vec<String>>,
    /// Command that starts it.
    pub start: Vec<String>,
    /// `true` if it can use several threads.
    #[serde(default)]
    pub threads: bool,
    /// `true` if a device computes its frames and times their stages.
    #[serde(default)]
    pub device: bool,
    /// `true` for an engine, whose frames contain more than ours.
    #[serde(default)]
    pub engine: bool,
    /// Most seconds that an answer may take.
    #[serde(default = "default_timeout")]
    pub timeout_s: u64,
    /// Sources that its commands read.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// Folder of the manifest, in which commands run.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Folder of what is built.
    #[serde(skip)]
    pub build_folder: PathBuf,
    /// Reason why it cannot be started, if any.
    #[serde(skip)]
    pub missing: Option<String>,
    /// The manifest as written.
    #[serde(skip)]
    text: String,
}

/// Sources of a project.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Folder in `{build}/sources`.
    pub folder: String,
    /// File in `$SKINBENCH_SHARED/peers`, a `.tar.gz` with that folder in it.
    pub archive: String,
    /// Where the project is.
    pub repository: String,
    /// Commit of the sources.
    pub commit: String,
}

fn default_timeout() -> u64 {
    60
}

/// The manifests in a folder, by name.
///
/// # Errors
/// The folder cannot be read, or the errors of [`Manifest::read`].
pub fn find(folder: &Path, builds: &Path) -> Result<Vec<Manifest>, String> {
    let entries = fs::read_dir(folder).map_err(|error| {
        format!(
            "{}: {error}; expected a folder of manifests (--peers)",
            folder.display()
        )
    })?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    files
        .iter()
        .map(|file| Manifest::read(file, builds))
        .collect()
}

impl Manifest {
    /// Reads a manifest; `builds` has the build folder of each peer.
    ///
    /// # Errors
    /// The file cannot be read, or is no manifest.
    pub fn read(file: &Path, builds: &Path) -> Result<Self, String> {
        Self::parse(file, builds).map_err(|problem| format!("{}: {problem}", file.display()))
    }

    fn parse(file: &Path, builds: &Path) -> Result<Self, Box<dyn Error>> {
        let text = regular_file::read_text(file, MOST_BYTES)?;
        let manifest: Self = toml::from_str(&text)?;
        manifest.check()?;
        Ok(Self {
            folder: std::path::absolute(file.parent().unwrap_or(Path::new(".")))?,
            build_folder: std::path::absolute(builds.join(&manifest.name))?,
            text,
            ..manifest
        })
    }

    /// Checks what the types do not express.
    fn check(&self) -> Result<(), String> {
        let name = &self.name;
        if name.is_empty()
            || !name
                .bytes()
                .all(|c| matches!(c, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        {
            return Err(format!(
                "the name {name:?}; expected lower-case letters, digits and -"
            ));
        }
        if REGISTRY
            .iter()
            .any(|entry| entry.name.split(':').next() == Some(name))
        {
            return Err(format!(
                "the name {name:?} is that of a backend; expected another"
            ));
        }
        if !(1..=600).contains(&self.timeout_s) {
            return Err(format!(
                "timeout_s is {}; expected 1 to 600",
                self.timeout_s
            ));
        }
        if self.start.is_empty() || self.build.iter().any(Vec::is_empty) {
            return Err("an empty command; expected a program and its arguments".into());
        }
        for source in &self.sources {
            for name in [&source.folder, &source.archive] {
                if Path::new(name).file_name() != Some(name.as_ref()) {
                    return Err(format!(
                        "the source {:?}; expected names without folders",
                        source.folder
                    ));
                }
            }
        }
        Ok(())
    }

    /// Returns whether this very manifest was built.
    pub fn is_built(&self) -> bool {
        self.build.is_empty()
            || fs::read_to_string(self.build_folder.join(BUILT)).is_ok_and(|text| text == self.text)
    }

    /// What building or starting the peer needs and this machine lacks, if anything.
    pub fn lack(&self) -> Option<String> {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        for program in &self.needs {
            if !std::env::split_paths(&paths).any(|folder| folder.join(program).is_file()) {
                return Some(format!("the program {program} is not on the PATH"));
            }
        }
        let mut sources = self.sources.iter();
        let missing =
            sources.find(|source| !self.unpacked(source).exists() && archive(source).is_none())?;
        let Source {
            archive,
            repository,
            commit,
            ..
        } = missing;
        Some(format!(
            "no {archive} in ${SHARED}/peers; or: git clone {repository} {to} && git -C {to} checkout {commit}",
            to = self.unpacked(missing).display()
        ))
    }

    /// Unpacks the sources and runs the build commands, whose output goes to a file.
    ///
    /// # Errors
    /// What is missing, or the command that failed and the last line that it printed.
    pub fn build(&self) -> Result<(), String> {
        if let Some(lack) = self.lack() {
            return Err(lack);
        }
        let failed = |error: io::Error| format!("{}: {error}", self.build_folder.display());
        fs::create_dir_all(&self.build_folder).map_err(failed)?;
        for source in &self.sources {
            if !self.unpacked(source).exists()
                && let Some(file) = archive(source)
            {
                unpack(&file, &self.build_folder.join("sources"))
                    .map_err(|error| format!("{}: {error}", file.display()))?;
            }
        }
        let path = self.build_folder.join(LOG);
        let log = File::create(&path).map_err(failed)?;
        for words in &self.build {
            let mut command = self.prepared(words);
            command
                .stdin(Stdio::null())
                .stdout(log.try_clone().map_err(failed)?)
                .stderr(log.try_clone().map_err(failed)?);
            let status = command
                .status()
                .map_err(|error| format!("cannot start {}: {error}", words[0]))?;
            if !status.success() {
                let text = regular_file::read(&path, MOST_LOG).unwrap_or_default();
                let text = String::from_utf8_lossy(&text);
                let last = text
                    .lines()
                    .rfind(|line| !line.trim().is_empty())
                    .unwrap_or_default();
                return Err(format!(
                    "{} failed ({status}): {}; see {}",
                    words[0],
                    last.trim(),
                    path.display()
                ));
            }
        }
        fs::write(self.build_folder.join(BUILT), &self.text).map_err(failed)
    }

    fn unpacked(&self, source: &Source) -> PathBuf {
        self.build_folder.join("sources").join(&source.folder)
    }

    /// A command with the folders in place of `{build}` and `{folder}`.
    pub fn prepared(&self, words: &[String]) -> Command {
        let build = self.build_folder.display().to_string();
        let folder = self.folder.display().to_string();
        let mut words = words
            .iter()
            .map(|word| word.replace("{build}", &build).replace("{folder}", &folder));
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).current_dir(&self.folder);
        command
    }
}

/// Unpacks a `.tar.gz` into a folder.
fn unpack(file: &Path, folder: &Path) -> io::Result<()> {
    Archive::new(GzDecoder::new(File::open(file)?)).unpack(folder)
}

/// The archive of some sources, if it is at hand.
fn archive(source: &Source) -> Option<PathBuf> {
    let file = Path::new(&std::env::var_os(SHARED)?)
        .join("peers")
        .join(&source.archive);
    file.is_file().then_some(file)
}
