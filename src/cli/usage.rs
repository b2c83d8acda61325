//! Errors of the command line in one line, with what was probably meant.

use super::retired;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};
use skinbench::scene::Scene;

/// The error of a program in one line. `words` are its arguments.
pub fn text(error: &Error, program: &Command, words: &[String]) -> String {
    if let Some(refusal) = retired::refusal_of(error) {
        return format!("error: {refusal}");
    }
    let hint = several_values(error, program).or_else(|| run_before(error, program, words));
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

/// A hint for arguments of `run` without that word before them: a scene, a model or an option in the place of a command.
fn run_before(error: &Error, program: &Command, words: &[String]) -> Option<String> {
    let first = words.first()?;
    let is_of_run = match error.kind() {
        ErrorKind::InvalidSubcommand => Scene::check_name(first).is_ok(),
        _ => first.starts_with('-'),
    };
    let names = ["skinbench", "run"].into_iter();
    let words = words.iter().map(String::as_str);
    let parsed = program
        .clone()
        .try_get_matches_from(names.chain(words.clone()));
    let line = words.collect::<Vec<_>>().join(" ");
    (is_of_run && parsed.is_ok()).then(|| format!("; did you mean `skinbench run {line}`?"))
}

/// A text that clap noted about an error.
fn context(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}
