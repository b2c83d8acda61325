//! `skinbench report`: results as one page, as Markdown, as charts, or inside other pages.

use super::exit::{Exit, UsageError};
use super::output::write_file;
use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use skinbench::report::chart::charts;
use skinbench::report::splice::spliced;
use skinbench::report::{html, markdown, text};
use skinbench::results::recorded::Recorded;
use skinbench::results::study::Study;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Make a page of results: a verdict, charts, tables and the data
#[derive(Debug, Args)]
pub struct Arguments {
    /// Results: summary.csv files or folders, such as the parts of a sweep
    #[arg(value_name = "RESULTS", required_unless_present = "splice")]
    results: Vec<PathBuf>,
    /// File to write, a folder for svg; default: standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// One HTML page, Markdown, or a folder of SVG charts; default: by the file's extension, else html
    #[arg(long, value_name = "FORMAT")]
    format: Option<ReportFormat>,
    /// Rewrite the text between the markers of a Markdown page, and its charts
    #[arg(long, value_name = "PAGE", conflicts_with_all = ["results", "output", "format"])]
    splice: Vec<PathBuf>,
    /// Write nothing; exit with 1 if a page differs from its results
    #[arg(long, requires = "splice")]
    check: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ReportFormat {
    Html,
    Md,
    Svg,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    if !arguments.splice.is_empty() {
        return splice(&arguments.splice, arguments.check);
    }
    let recorded = Recorded::read(&arguments.results)?;
    let output = arguments.output.as_deref();
    match arguments.format.unwrap_or_else(|| by_ending(output)) {
        ReportFormat::Html => {
            let studies = Study::of_each_machine(recorded);
            eprint!("{}", text::problems(&studies[0]));
            write(output, &html::page(&studies))?;
        }
        ReportFormat::Md => write(output, &markdown::report(&of_one_machine(recorded)))?,
        ReportFormat::Svg => {
            let Some(folder) = output else {
                return Err(
                    UsageError("--format svg writes a file for each chart; name a folder with -o".into()).into()
                );
            };
            std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
            for chart in charts(&of_one_machine(recorded)) {
                write(Some(&folder.join(format!("{}.svg", chart.id))), &chart.file())?;
            }
        }
    }
    Ok(Exit::Done)
}

/// The study of the machine with most rows. Prints the remarks on the results.
fn of_one_machine(recorded: Recorded) -> Study {
    let study = Study::new(recorded);
    eprint!("{}", text::problems(&study));
    study
}

fn by_ending(output: Option<&Path>) -> ReportFormat {
    match output.and_then(Path::extension).and_then(|ending| ending.to_str()) {
        Some("md") => ReportFormat::Md,
        _ => ReportFormat::Html,
    }
}

fn write(output: Option<&Path>, text: &str) -> anyhow::Result<()> {
    match output {
        Some(path) => write_file(path, |file| file.write_all(text.as_bytes())),
        None => Ok(io::stdout().lock().write_all(text.as_bytes())?),
    }
}

fn splice(pages: &[PathBuf], check: bool) -> anyhow::Result<Exit> {
    let mut differing = Vec::new();
    for page in pages {
        for (path, content) in spliced(page)? {
            if std::fs::read_to_string(&path).is_ok_and(|before| before == content) {
                continue;
            }
            if check {
                differing.push(path.display().to_string());
            } else {
                write(Some(&path), &content)?;
            }
        }
    }
    if !differing.is_empty() {
        bail!("{} differ from their results; run skinbench report --splice PAGE", differing.join(", "));
    }
    Ok(Exit::Done)
}
