//! Errors of the command line in one line, with what was probably meant.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};
use skinbench::scene::{BUILT_IN, Scene};
use std::path::Path;

/// The error of a program in one line.
pub fn text(error: &Error, program: &Command) -> String {
    let what = if error.kind() == ErrorKind::InvalidSubcommand {
        no_command(error)
    } else {
        None
    };
    what.unwrap_or_else(|| said(error) + &several_values(error, program).unwrap_or_default())
}

/// clap's own text without the usage, tips after semicolons.
fn said(error: &Error) -> String {
    let text = error.to_string();
    let mut said = String::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("Usage:") {
            break;
        }
        if line.is_empty() || line.starts_with("For more information") {
            continue;
        }
        let between = match said.is_empty() {
            true => "",
            false if line.starts_with("tip:") => "; ",
            false => " ",
        };
        said = said + between + line;
    }
    said
}

/// The error about a scene or a model in the place of a command.
fn no_command(error: &Error) -> Option<String> {
    let word = context(error, ContextKind::InvalidSubcommand)?;
    let is_scene = BUILT_IN.iter().any(|(name, _)| *name == word)
        || Path::new(word).extension().is_some_and(|e| e == "toml");
    if is_scene {
        Some(format!(
            "error: {word:?} is no command; did you mean `skinbench run {word}`?"
        ))
    } else if Scene::is_model(word) {
        Some(format!(
            "error: {word:?} is no command; did you mean `skinbench run {word}` or `skinbench inspect {word}`?"
        ))
    } else {
        None
    }
}

/// A hint for several values of a setting of which a command takes one, and `sweep` several.
fn several_values(error: &Error, program: &Command) -> Option<String> {
    let value = context(error, ContextKind::InvalidValue)?;
    let argument = context(error, ContextKind::InvalidArg)?;
    let long = argument.split_whitespace().next()?.strip_prefix("--")?;
    let axis = program
        .find_subcommand("sweep")?
        .get_arguments()
        .find(|known| known.get_long() == Some(long))?;
    let takes_several = value.contains(',') && axis.get_value_delimiter() == Some(',');
    takes_several.then(|| format!("; `skinbench sweep` takes several: --{long} {value}"))
}

/// A text that clap noted about an error.
fn context(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}
