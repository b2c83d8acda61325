//! `skinbench peers`: lists, builds, verifies and measures programs that skin with code of others.

use super::{Exit, UsageError, WorkloadArguments, common, narrow, run, say_fitted, tell, verify};
use clap::{Arg, Args, Subcommand};
use skinbench::peers::{self, Manifest};
use skinbench::registry::BackendEntry;
use skinbench::wording;
use std::path::{Path, PathBuf};

/// Our backends beside peers, unless others are named.
const OURS: &str = "cpu-scalar,cpu-simd,cpu-rayon";

/// Verify and measure other people's code beside ours
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List peers, and what is missing to build or start them
    List(Selection),
    /// Build peers
    Build(Selection),
    /// Compare every vertex of every instance with the reference
    #[command(mut_arg("normals", raw_normals), mut_arg("backends", our_backends))]
    Verify {
        #[command(flatten)]
        selection: Selection,
        #[command(flatten)]
        arguments: Box<verify::Arguments>,
    },
    /// Verify peers, then measure them and our backends by turns
    #[command(mut_arg("normals", raw_normals), mut_arg("backends", our_backends))]
    Run {
        #[command(flatten)]
        selection: Selection,
        #[command(flatten)]
        arguments: Box<run::Arguments>,
    },
}

/// Normals as most libraries compute them.
fn raw_normals(argument: Arg) -> Arg {
    with_default(argument, "raw")
}

fn our_backends(argument: Arg) -> Arg {
    with_default(argument, OURS)
}

/// An argument with another default than that of `run`, which ends its help.
fn with_default(argument: Arg, default: &'static str) -> Arg {
    let help = argument.get_help().map(ToString::to_string);
    let help = help.unwrap_or_default();
    let about = help.split("; default: ").next().unwrap_or_default();
    let help = format!("{about}; default: {default}");
    argument
        .default_value(default)
        .hide_default_value(true)
        .help(help)
}

#[derive(Debug, Args)]
struct Selection {
    /// Peers by name or pattern, or manifests (.toml); default: all in the folder (engines: only in `list`)
    #[arg(short, long = "peer", value_name = "NAMES", value_delimiter = ',')]
    peers: Vec<String>,
    /// Folder of manifests
    #[arg(long = "peers", value_name = "DIR", default_value = "peers")]
    folder: PathBuf,
}

impl Selection {
    fn manifests(&self) -> anyhow::Result<Vec<Manifest>> {
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| PathBuf::from("target"), PathBuf::from);
        let builds = target.join("peers");
        let mut found = Vec::new();
        let mut patterns = Vec::new();
        for name in &self.peers {
            let path = Path::new(name);
            if path.extension().is_some_and(|ending| ending == "toml") {
                found.push(Manifest::read(path, &builds).map_err(UsageError)?);
            } else {
                patterns.push(name.clone());
            }
        }
        if found.is_empty() || !patterns.is_empty() {
            let all = peers::find(&self.folder, &builds).map_err(UsageError)?;
            let names: Vec<&str> = all.iter().map(|manifest| &manifest.name[..]).collect();
            let wanted = common::matching(
                &patterns,
                &all,
                |manifest| &manifest.name,
                |name| wording::unknown("peer", name, &names),
            )?;
            found.extend(wanted.into_iter().cloned());
        }
        for (index, manifest) in found.iter().enumerate() {
            if found[..index]
                .iter()
                .any(|other| other.name == manifest.name)
            {
                let name = &manifest.name;
                let problem = format!("two peers are called {name}; expected one");
                return Err(UsageError(problem).into());
            }
        }
        Ok(found)
    }

    /// The selected manifests, without engines that were not named.
    fn without_engines(&self) -> anyhow::Result<Vec<Manifest>> {
        let mut manifests = self.manifests()?;
        if !self.peers.is_empty() {
            return Ok(manifests);
        }
        let engines: Vec<Manifest> = manifests
            .extract_if(.., |manifest| manifest.engine)
            .collect();
        if !engines.is_empty() {
            let names: Vec<&str> = engines.iter().map(|engine| &engine.name[..]).collect();
            tell(format_args!(
                "note: left out, as engines that were not named with -p: {}",
                names.join(", ")
            ));
        }
        Ok(manifests)
    }

    /// Adds the selected peers to the backends of a command. Its other names are looked up before anything is built.
    fn add_to(&self, workload: &mut WorkloadArguments) -> anyhow::Result<()> {
        workload.backends()?;
        workload.scenes()?;
        workload.add(self.entries()?, !self.peers.is_empty());
        Ok(())
    }

    /// Rows for the harness. What is not built yet is built; what cannot be is skipped with the reason.
    fn entries(&self) -> anyhow::Result<Vec<&'static BackendEntry>> {
        let mut entries = Vec::new();
        for mut manifest in self.without_engines()? {
            manifest.missing = manifest.lack();
            if manifest.missing.is_none() && !manifest.is_built() {
                tell(format_args!("building {}", manifest.name));
                manifest.missing = manifest.build().err();
            }
            entries.extend(peers::entries(manifest));
        }
        Ok(entries)
    }
}

pub fn run(arguments: Arguments) -> anyhow::Result<Exit> {
    match arguments.verb {
        Verb::List(selection) => {
            for manifest in selection.manifests()? {
                let Manifest {
                    name,
                    summary,
                    owner,
                    version,
                    licence,
                    settings,
                    ..
                } = &manifest;
                let state = match manifest.lack() {
                    Some(lack) => lack,
                    None if manifest.is_built() => "ready".into(),
                    None => "not built yet".into(),
                };
                let about = format!(
                    "{name}: {summary}\n  {owner} {version}, {licence}; {settings}\n  {state}\n"
                );
                say_fitted(about, narrow())?;
            }
            Ok(Exit::Done)
        }
        Verb::Build(selection) => {
            let mut exit = Exit::Done;
            for manifest in selection.without_engines()? {
                let state = match manifest.build() {
                    Ok(_) => "built".into(),
                    Err(problem) => {
                        exit = Exit::Error;
                        problem
                    }
                };
                say_fitted(format_args!("{}: {state}\n", manifest.name), narrow())?;
            }
            Ok(exit)
        }
        Verb::Verify {
            selection,
            mut arguments,
        } => {
            selection.add_to(&mut arguments.workload)?;
            verify::run(&arguments)
        }
        Verb::Run {
            selection,
            mut arguments,
        } => {
            selection.add_to(&mut arguments.workload)?;
            run::run(&arguments)
        }
    }
}
