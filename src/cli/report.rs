//! `skinbench report`: results as one page, as Markdown, as CSV or as charts.

use super::output::expect_ending;
use super::{Exit, UsageError, create_folder, tell_all, write_file};
use clap::{Args, ValueEnum};
use skinbench::report::chart::charts;
use skinbench::report::{html, markdown, run_text, wide};
use skinbench::results::{Recorded, Study};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Make a page of results: a verdict, charts, tables and the data
#[derive(Debug, Args)]
pub struct Arguments {
    /// Results: folders or summary.csv files of one machine or several, or what a page of `skinbench web` gave
    #[arg(value_name = "RESULTS", required = true)]
    results: Vec<PathBuf>,
    /// File to write, a folder for svg; default: standard output, unless that is a terminal
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// One HTML page, Markdown, CSV with a row for each backend and crowd, or a folder of SVG charts; default: by the
    /// ending of FILE, else html
    #[arg(long, value_name = "FORMAT")]
    format: Option<ReportFormat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    Html,
    Md,
    Csv,
    Svg,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let output = arguments.output.as_deref();
    let format = arguments.format.unwrap_or_else(|| by_ending(output));
    match (format, output) {
        (ReportFormat::Html, Some(output)) => {
            expect_ending(output, "an HTML page", &["html", "htm"])?;
        }
        (ReportFormat::Html, None) if io::stdout().is_terminal() => {
            let what = "a page is no text for a terminal; name a file with -o report.html";
            return Err(UsageError(what.into()).into());
        }
        (ReportFormat::Svg, None) => {
            let what = "--format svg writes a file for each chart; name a folder with -o";
            return Err(UsageError(what.into()).into());
        }
        _ => {}
    }
    let studies = Study::bounded(Recorded::read(&arguments.results)?)?;
    tell_all(&run_text::notes(&studies[0].notes));
    match format {
        ReportFormat::Html => write(output, &html::page(&studies))?,
        ReportFormat::Csv => write(output, &wide::wide(&studies).csv())?,
        ReportFormat::Md => {
            let reports: Vec<String> = studies.iter().map(markdown::report).collect();
            write(output, &reports.join("\n"))?;
        }
        ReportFormat::Svg => {
            let folder = output.unwrap_or(Path::new("."));
            create_folder(folder)?;
            for (index, study) in studies.iter().enumerate() {
                let machine = match studies.len() {
                    1 => String::new(),
                    _ => format!("machine-{}-", index + 1),
                };
                for chart in charts(study) {
                    let file = folder.join(format!("{machine}{}.svg", chart.id));
                    write_file(&file, |out| out.write_all(chart.file().as_bytes()))?;
                }
            }
        }
    }
    Ok(Exit::Done)
}

fn by_ending(output: Option<&Path>) -> ReportFormat {
    let ending = output.and_then(Path::extension);
    match ending.and_then(|ending| ending.to_str()) {
        Some("md") => ReportFormat::Md,
        Some("csv") => ReportFormat::Csv,
        _ => ReportFormat::Html,
    }
}

fn write(output: Option<&Path>, text: &str) -> anyhow::Result<()> {
    match output {
        Some(path) => write_file(path, |file| file.write_all(text.as_bytes())),
        None => Ok(io::stdout().lock().write_all(text.as_bytes())?),
    }
}
