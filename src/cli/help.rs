//! Help of commands: `-h` shows what is used most, `--help` everything.

use clap::{Arg, Command};

/// Options in the short help of commands, by the command's name; `--help` has the others, too. The short help of other
/// commands has all.
const SHORT: &[(&str, &[&str])] = &[
    (
        "run",
        &[
            "instances",
            "clip",
            "passes",
            "backends",
            "frames",
            "results",
            "wide",
        ],
    ),
    (
        "verify",
        &[
            "instances",
            "clip",
            "normals",
            "backends",
            "epsilon",
            "threads",
        ],
    ),
    ("compare", &["run", "detect", "fail_above", "all"]),
    ("dump", &["clip", "time", "backend", "output"]),
    (
        "render",
        &[
            "output",
            "show",
            "clip",
            "time",
            "instances",
            "tint",
            "orbit",
            "elevation",
            "backend",
        ],
    ),
    (
        "view",
        &["instances", "clip", "backend", "against", "show", "errors"],
    ),
    (
        "web",
        &["output", "backends", "instances", "passes", "clip"],
    ),
];

/// The program's commands, with less in their short help.
pub fn shortened(program: Command) -> Command {
    program.mut_subcommands(|command| {
        let shown = SHORT.iter().find(|(name, _)| *name == command.get_name());
        command.mut_args(|argument| {
            let argument = with_negative_numbers(argument);
            let id = argument.get_id().as_str();
            let is_short = shown.is_none_or(|(_, names)| names.contains(&id));
            if is_short || argument.is_positional() {
                return argument;
            }
            argument.hide_short_help(true)
        })
    })
}

/// Lets an option see numbers below 0, of which it says more than that they are no options.
fn with_negative_numbers(argument: Arg) -> Arg {
    if argument.is_positional() || !argument.get_action().takes_values() {
        return argument;
    }
    argument.allow_negative_numbers(true)
}
