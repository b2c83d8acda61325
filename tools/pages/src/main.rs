//! Writes measured results into the pages of this repository: the text between two markers is generated, never edited
//! by hand.
//!
//! `cargo run -p pages -- [--check] [PAGE...]` writes the pages, or all that have markers: README.md, kernels/README.md and
//! those in docs/. With `--check`, it writes nothing and fails if a page differs from its results.
//!
//! `<!-- KIND SOURCE WORDS... -->` begins a part, `<!-- /KIND -->` ends it. A source is a folder of results or a file,
//! relative to the page's folder:
//!
//! | marker | content |
//! | --- | --- |
//! | `table FOLDER [FIGURE...]` | machine and stages of the headline crowd, or chosen figures |
//! | `runs FOLDER RUN,... BACKEND FIGURE...` | figures of one backend, a row for each run below the folder |
//! | `matrix FOLDER RUN,... FIGURE [PATTERN...]` | one figure: a row for each backend, a column for each run |
//! | `sweep FOLDER AXIS FIGURE [PATTERN...]` | one figure along an axis of a sweep: a row for each backend, a column for each value |
//! | `sizes FOLDER GB/S RUN,... PATTERN...` | times of `skin`, with the percentage of the limit: a row for each backend, a column for each run, headed by its crowd. The limit of a device is so many GB/s, that of a processor what its run measured. `A+B` is a run of two folders |
//! | `limits FOLDER` | what the processor can do at most, from `limits.csv` |
//! | `peak FOLDER RUN RUN/BACKEND=OPERATIONS...` | time of so many vector operations per vertex at the rate in the first run's `limits.csv`, and the measured time |
//! | `answers FOLDER` | the findings |
//! | `card FOLDER` | the decision card of the headline crowd, with the cheapest backends in words |
//! | `charts FOLDER [ID...]` | charts whose names begin with one of the IDs; the pictures are written to `docs/images` |
//! | `columns summary.csv` | the columns of `summary.csv` |
//! | `text FILE [START]` | the file, or a list of its lines that begin with START |
//!
//! `cargo run -p pages -- --clip-sizes MODEL` prints the sizes and errors of a model's compact clips as JSON, for
//! `scripts/clip-sizes`.
//!
//! `figure_tables.rs` lists the figures. `scripts/gpu-isa` writes the parts `roofline` and `gpu-isa`.

mod clip_sizes;
mod figure_tables;
mod headline;
mod splice;

use clip_sizes::ClipSizes;
use skinbench::scene::ModelSource;
use splice::{has_marker, spliced};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pages: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), String> {
    let (check, pages) = match arguments {
        [option, model] if option == "--clip-sizes" => return print_clip_sizes(model),
        [option, pages @ ..] if option == "--check" => (true, pages),
        pages => (false, pages),
    };
    if let Some(option) = pages.iter().find(|page| page.starts_with('-')) {
        return Err(format!(
            "unknown option {option}; usage: pages [--check] [PAGE...], or pages --clip-sizes MODEL"
        ));
    }
    write(pages, check)
}

/// Prints the sizes and errors of a model's compact clips as JSON.
fn print_clip_sizes(model: &str) -> Result<(), String> {
    let model = ModelSource::from_name(Path::new(model)).load()?;
    let sizes = ClipSizes::new(model)?;
    let json = serde_json::to_string_pretty(&sizes).map_err(|error| error.to_string())?;
    println!("{json}");
    Ok(())
}

/// Writes pages and their charts, or all of the repository; only compares them if `check` is set.
fn write(pages: &[String], check: bool) -> Result<(), String> {
    let pages = match pages {
        [] => {
            own_pages().map_err(|error| format!("cannot read the pages of this folder: {error}"))?
        }
        named => named.iter().map(PathBuf::from).collect(),
    };
    let mut differing = Vec::new();
    for page in pages {
        for (path, content) in
            spliced(&page).map_err(|problem| format!("{}: {problem}", page.display()))?
        {
            if fs::read_to_string(&path).is_ok_and(|before| before == content) {
                continue;
            }
            if check {
                differing.push(path.display().to_string());
            } else {
                fs::write(&path, &content)
                    .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            }
        }
    }
    if differing.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "{} differ from their results; run cargo run -p pages",
            differing.join(", ")
        ))
    }
}

/// README.md, that of the kernels and the pages in docs/, in order, as far as they have markers.
fn own_pages() -> io::Result<Vec<PathBuf>> {
    let docs = fs::read_dir("docs")?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<Vec<_>>>()?;
    let mut pages = vec![
        PathBuf::from("README.md"),
        PathBuf::from("kernels/README.md"),
    ];
    pages.extend(
        docs.into_iter()
            .filter(|path| path.extension().is_some_and(|ending| ending == "md")),
    );
    pages.sort();
    let mut own = Vec::new();
    for page in pages {
        if has_marker(&fs::read_to_string(&page)?) {
            own.push(page);
        }
    }
    Ok(own)
}
