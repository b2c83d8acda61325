//! Errors of the command line in one line, with what was probably meant.

use super::retired;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};
use skinbench::scene::{BUILT_IN, Scene};
use std::path::Path;

/// The error of a program in one line. `words` are its arguments.
pub fn text(error: &Error, program: &Command, words: &[String]) -> String {
    if let Some(refusal) = retired::refusal_of(error) {
        return format!("error: {refusal}");
    }
    if error.kind() == ErrorKind::InvalidSubcommand
        && let Some(text) = no_command(error)
    {
        return text;
    }
    if context(error, ContextKind::InvalidArg) == Some("--joints") {
        return "error: unexpected argument '--joints': a model has its joints, which `skinbench list` counts".into();
    }
    let hint = several_values(error, program).or_else(|| option_of_run(error, program, words));
    plain_text(error) + &hint.unwrap_or_default()
}

/// clap's own text without the usage, tips after semicolons.
fn plain_text(error: &Error) -> String {
    let mut text = String::new();
    for line in error.to_string().lines().map(str::trim) {
        if line.starts_with("Usage:") {
            break;
        }
        if line.is_empty() || line.starts_with("For more information") {
            continue;
        }
        if line.starts_with("tip:") && !text.is_empty() {
            text.push(';');
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text += line;
    }
    text
}

/// The error about a scene or a model in the place of a command.
fn no_command(error: &Error) -> Option<String> {
    let word = context(error, ContextKind::InvalidSubcommand)?;
    let is_scene = BUILT_IN.iter().any(|scene| scene.0 == word)
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

/// A hint for several values of a setting of which a command takes one, and `run` several.
fn several_values(error: &Error, program: &Command) -> Option<String> {
    let value = context(error, ContextKind::InvalidValue)?;
    let argument = context(error, ContextKind::InvalidArg)?;
    let long = argument.split_whitespace().next()?.strip_prefix("--")?;
    let axis = program
        .find_subcommand("run")?
        .get_arguments()
        .find(|known| known.get_long() == Some(long))?;
    let takes_several = value.contains(',') && axis.get_value_delimiter() == Some(',');
    takes_several.then(|| format!("; `skinbench run` takes several: --{long} {value}"))
}

/// A hint for an option of `run` in the place of a command.
fn option_of_run(error: &Error, program: &Command, words: &[String]) -> Option<String> {
    let argument = context(error, ContextKind::InvalidArg)?;
    let is_first = words.first()?.starts_with(argument);
    let mut known = program.find_subcommand("run")?.get_arguments();
    let is_known = known.any(|known| {
        let short = known.get_short().map(|short| format!("-{short}"));
        let long = known.get_long().map(|long| format!("--{long}"));
        [short, long].iter().flatten().any(|name| name == argument)
    });
    let run = words.join(" ");
    (is_first && is_known).then(|| format!("; did you mean `skinbench run {run}`?"))
}

/// A text that clap noted about an error.
fn context(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}
