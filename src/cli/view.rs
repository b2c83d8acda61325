//! `skinbench view`: a window on the crowd.

use super::output::{expect_ending, write_png};
use super::{Exit, MachineArguments, UsageError, built_from, common, positive, tell};
use clap::Args;
use skinbench::scene::Settings;
use skinbench::view::engine::{Engine, registered};
use skinbench::view::state::{Errors, Preferences, Show, State};
use skinbench::view::window::{self, WindowOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Scene of a first window.
const DEFAULT_SCENE: &str = "walkers";

/// Open a window on a scene or a model
#[derive(Debug, Args)]
pub struct Arguments {
    /// Built-in scene, scene file (.toml) or model; the first is opened, all are listed. Default: the last one
    #[arg(value_name = "SCENE|MODEL")]
    scenes: Vec<PathBuf>,
    /// Backend to begin with; default: the last one
    #[arg(short, long, value_name = "BACKEND")]
    backend: Option<String>,
    /// Second backend, shown beside the first
    #[arg(long, value_name = "BACKEND")]
    against: Option<String>,
    #[command(flatten)]
    run: Settings,
    /// Paint vertices by their errors
    #[arg(long, value_name = "WHAT")]
    errors: Option<Errors>,
    /// Parts of the picture, such as skin,skeleton; default: the last ones
    #[arg(long, value_name = "PARTS", value_delimiter = ',', value_parser = Show::NAMES)]
    show: Vec<String>,
    /// Colours of the window; default: as the system has them
    #[arg(long, value_parser = ["dark", "light"])]
    theme: Option<String>,
    /// Write what the window shows as PNG, then close it
    #[arg(long, value_name = "FILE")]
    screenshot: Option<PathBuf>,
    /// Close the window after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = positive::<u64>)]
    exit_after: Option<u64>,
    #[command(flatten)]
    machine: MachineArguments,
}

pub fn run(arguments: Arguments) -> anyhow::Result<Exit> {
    if let Some(picture) = &arguments.screenshot {
        expect_ending(picture, "a PNG picture", &["png"])?;
    }
    let file = settings_file();
    // A scripted picture must not depend on settings of an earlier window.
    let scripted = arguments.screenshot.is_some();
    let mut settings = match &file {
        Some(file) if !scripted => read_preferences(file),
        _ => Preferences::default(),
    };
    if let Some(name) = &arguments.backend {
        settings.backends[0] = common::backend(name)?.name.into();
    }
    if let Some(name) = &arguments.against {
        settings.backends[1] = common::backend(name)?.name.into();
    }
    let mut scenes = Vec::with_capacity(arguments.scenes.len());
    for scene in &arguments.scenes {
        common::load_scene(scene)?;
        // The window keeps the names of scenes in a text file.
        let Some(name) = scene.to_str() else {
            let problem = "the window needs a path in UTF-8; rename it, or name a link to it";
            return Err(UsageError(format!("{}: {problem}", scene.display())).into());
        };
        scenes.push(name.to_owned());
    }
    for scene in scenes.iter().skip(1).rev() {
        settings.recent.retain(|known| known != scene);
        settings.recent.insert(0, scene.clone());
    }
    if !arguments.show.is_empty() {
        for (name, shown) in Show::NAMES.iter().zip(settings.show.parts()) {
            *shown = arguments.show.iter().any(|part| part == name);
        }
    }
    if let Some(theme) = arguments.theme {
        settings.dark = Some(theme == "dark");
    }
    let mut scene = DEFAULT_SCENE.to_owned();
    if let Some(first) = scenes.first() {
        scene.clone_from(first);
    } else if let Some(last) = settings.recent.first()
        && State::open(last, Preferences::default()).is_ok()
    {
        scene.clone_from(last);
    }
    let mut state = State::open(&scene, settings)?;
    state.split = arguments.against.is_some();
    common::checked(&arguments.run)?;
    state.choose(arguments.run);
    state.errors = arguments.errors.unwrap_or_default();
    let options = WindowOptions {
        screenshot: arguments.screenshot,
        exit_after: arguments.exit_after.map(Duration::from_secs),
        size: [1360.0, 800.0],
        remember: Box::new(move |settings| {
            if let Some(file) = file.as_deref().filter(|_| !scripted)
                && let Err(error) = write_preferences(file, settings)
            {
                tell(format_args!("note: settings are not kept: {error:#}"));
            }
        }),
        write_picture: |path, size, pixels| write_png(path, size, pixels).map_err(one_line),
    };
    let machine = arguments.machine;
    let make = move || {
        let host = machine.host_context().map_err(one_line);
        let open = move || machine.with_adapter(host.clone()?, true).map_err(one_line);
        Engine::new(Box::new(open), registered, common::memory, built_from())
    };
    window::open(state, options, make).map_err(anyhow::Error::msg)?;
    Ok(Exit::Done)
}

/// An error and its causes.
fn one_line(error: anyhow::Error) -> String {
    format!("{error:#}")
}

/// The file in which settings are kept; `None` if the system has no place for them.
fn settings_file() -> Option<PathBuf> {
    let folder = match std::env::consts::OS {
        "windows" => folder_of("APPDATA"),
        "macos" => folder_of("HOME").map(|home| home.join("Library/Application Support")),
        _ => folder_of("XDG_CONFIG_HOME")
            .or_else(|| folder_of("HOME").map(|home| home.join(".config"))),
    };
    Some(folder?.join("skinbench").join("view.toml"))
}

/// The folder that a variable of the environment names.
fn folder_of(variable: &str) -> Option<PathBuf> {
    let value = std::env::var_os(variable)?;
    (!value.is_empty()).then(|| value.into())
}

/// Preferences of the last window, or the defaults if there are none that can be read.
fn read_preferences(file: &Path) -> Preferences {
    let Ok(text) = std::fs::read_to_string(file) else {
        return Preferences::default();
    };
    toml::from_str(&text).unwrap_or_else(|error: toml::de::Error| {
        tell(format_args!(
            "note: {}: {}; the defaults are used",
            file.display(),
            error.message()
        ));
        Preferences::default()
    })
}

fn write_preferences(file: &Path, settings: &Preferences) -> anyhow::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    Ok(std::fs::write(file, toml::to_string(settings)?)?)
}
