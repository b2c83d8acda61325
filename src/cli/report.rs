//! `skinbench report`: results as one page, as Markdown or as charts.

use super::output::expect_ending;
use super::{Exit, UsageError, create_folder, tell_all, write_file};
use clap::{Args, ValueEnum};
use skinbench::report::chart::charts;
use skinbench::report::{html, markdown, text};
use skinbench::results::{Recorded, Study};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Make a page of results: a verdict, charts, tables and the data
#[derive(Debug, Args)]
pub struct Arguments {
    /// Results: summary.csv files or folders, such as the parts of a sweep; or texts that a page of `skinbench web` gave
    #[arg(value_name = "RESULTS", required = true)]
    results: Vec<PathBuf>,
    /// File to write, a folder for svg; default: standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// One HTML page, Markdown or a folder of SVG charts; default: by the ending of FILE, else html
    #[arg(long, value_name = "FORMAT")]
    format: Option<ReportFormat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    Html,
    Md,
    Svg,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let output = arguments.output.as_deref();
    match arguments.format.unwrap_or_else(|| by_ending(output)) {
        ReportFormat::Html => {
            if let Some(output) = output {
                expect_ending(output, "an HTML page", &["html", "htm"])?;
            }
            let studies = Study::of_each_machine(Recorded::read(&arguments.results)?.bounded()?);
            tell_all(&text::notes(&studies[0].problems));
            write(output, &html::page(&studies))?;
        }
        ReportFormat::Md => write(output, &markdown::report(&of_one_machine(arguments)?))?,
        ReportFormat::Svg => {
            let study = of_one_machine(arguments)?;
            let Some(folder) = output else {
                let what = "--format svg writes a file for each chart; name a folder with -o";
                return Err(UsageError(what.into()).into());
            };
            create_folder(folder)?;
            for chart in charts(&study) {
                let file = folder.join(format!("{}.svg", chart.id));
                write(Some(&file), &chart.file())?;
            }
        }
    }
    Ok(Exit::Done)
}

/// The study of the machine with most rows. Prints the remarks on the results.
fn of_one_machine(arguments: &Arguments) -> anyhow::Result<Study> {
    let study = Study::new(Recorded::read(&arguments.results)?.bounded()?);
    tell_all(&text::notes(&study.problems));
    Ok(study)
}

fn by_ending(output: Option<&Path>) -> ReportFormat {
    let ending = output.and_then(Path::extension);
    match ending.and_then(|ending| ending.to_str()) {
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
