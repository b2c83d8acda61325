//! Verbs, options and backends that retired, and what replaces each.

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Names as they were written on the command line, an option's value after its name, and what to use instead.
const RETIRED: &[(&str, &str)] = &[
    (
        "submit",
        "send the folder of results as it is; `skinbench report` puts several machines on one page",
    ),
    (
        "--format site",
        "`skinbench report A B C -o page.html` puts several machines on one page",
    ),
    (
        "--serve",
        "`skinbench web -o page.html`; any static host with https shows the page to telephones",
    ),
    (
        "--collect",
        "the page gives its results as a file and as text; `skinbench report` reads both",
    ),
    ("--counters", "`perf stat` or `perf record`"),
    ("--neighbours", "`stress-ng --stream N` beside the run"),
    (
        "--sustain",
        "several runs, `skinbench compare`, and the clocks of `nvidia-smi` or `perf stat`",
    ),
    (
        "peers",
        "name peers as backends: `skinbench run kernel -b ozz,cpu-simd`",
    ),
    (
        "--phase-buckets",
        "groups of the scene file that share clips, with phase_spread = 0",
    ),
    ("--lod joints", "--lod mesh"),
    ("--lod influences", "--lod mesh"),
    ("--lod vertices", "--lod mesh"),
    ("--lod mesh,joints,influences", "--lod mesh"),
    ("gpu-compute:morph-16", "gpu-compute"),
    ("gpu-compute:morph-dense", "gpu-compute"),
    ("gpu-full:levels", "gpu-full:culled"),
    ("gpu-full:vertex-levels", "gpu-full:vertex-culled"),
    ("gpu-compute:subgroup", "gpu-compute:instances"),
];

/// One line about a name that retired; `None` if it did not.
pub fn refusal(name: &str) -> Option<String> {
    let row = RETIRED.iter().find(|(retired, _)| *retired == name);
    row.map(|(_, instead)| format!("{name} has retired; instead: {instead}"))
}

/// The same about the verb, the option or its value to which an error of the command line points.
pub fn refusal_of(error: &Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let option = text(ContextKind::InvalidArg).and_then(|option| option.split([' ', '=']).next());
    match error.kind() {
        ErrorKind::InvalidSubcommand => refusal(text(ContextKind::InvalidSubcommand)?),
        ErrorKind::UnknownArgument => refusal(option?),
        ErrorKind::InvalidValue => {
            refusal(&format!("{} {}", option?, text(ContextKind::InvalidValue)?))
        }
        _ => None,
    }
}
