//! `skinbench report`: results as one page, as Markdown, as charts or as a site.

use super::output::expect_ending;
use super::{Exit, UsageError, common, create_folder, tell_all, write_file};
use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use skinbench::asset::regular_file;
use skinbench::report::chart::charts;
use skinbench::report::site::{self, Submission};
use skinbench::report::{html, markdown, text};
use skinbench::results::bundle::{Bundle, ENDING};
use skinbench::results::check::check;
use skinbench::results::{Recorded, Study};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Make a page of results: a verdict, charts, tables and the data
#[derive(Debug, Args)]
pub struct Arguments {
    /// Results: summary.csv files or folders, such as the parts of a sweep; for a site: bundles, or folders of bundles
    #[arg(value_name = "RESULTS", required = true)]
    results: Vec<PathBuf>,
    /// File to write, a folder for svg and site; default: standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// One HTML page, Markdown, a folder of SVG charts, or a site that compares bundles; default: by the ending of
    /// FILE (site for a folder), else html
    #[arg(long, value_name = "FORMAT")]
    format: Option<ReportFormat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    Html,
    Md,
    Svg,
    Site,
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
            let folder = named(output, "--format svg writes a file for each chart")?;
            create_folder(folder)?;
            for chart in charts(&study) {
                let file = folder.join(format!("{}.svg", chart.id));
                write(Some(&file), &chart.file())?;
            }
        }
        ReportFormat::Site => {
            let folder = named(output, "--format site writes a folder of pages")?;
            write_site(&arguments.results, folder)?;
        }
    }
    Ok(Exit::Done)
}

/// The folder to write to; `what` says why there must be one.
fn named<'a>(output: Option<&'a Path>, what: &str) -> Result<&'a Path, UsageError> {
    output.ok_or_else(|| UsageError(format!("{what}; name a folder with -o")))
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
        None if output.is_some_and(names_folder) => ReportFormat::Site,
        _ => ReportFormat::Html,
    }
}

/// Returns whether a path ends as a folder's does, or is that of one.
fn names_folder(path: &Path) -> bool {
    path.to_string_lossy().ends_with(std::path::is_separator) || path.is_dir()
}

/// Writes a site: a page that compares all bundles, and for each bundle a page and the bundle itself.
fn write_site(paths: &[PathBuf], folder: &Path) -> anyhow::Result<()> {
    let mut bundles = Vec::new();
    for path in paths {
        if path.is_dir() {
            bundles.extend(bundles_in(path)?)
        } else {
            bundles.push(path.clone())
        }
    }
    bundles.sort();
    bundles.dedup();
    if bundles.is_empty() {
        bail!(
            "no bundle in {}; expected files that `skinbench submit` wrote",
            paths[0].display()
        );
    }
    let mut submissions: Vec<Submission> = Vec::new();
    for path in &bundles {
        let new = read_submission(path)?;
        if new.name == "index" || submissions.iter().any(|other| other.name == new.name) {
            let name = new.name;
            bail!(
                "{}: another page of the site is called {name}",
                path.display()
            );
        }
        submissions.push(new);
        if let Some(excess) = site::excess(&submissions) {
            bail!("{}: {excess}", path.display());
        }
    }
    create_folder(folder)?;
    for (submission, bundle) in submissions.iter().zip(&bundles) {
        let page = folder.join(format!("{}.html", submission.name));
        write(Some(&page), &html::page(&submission.checked.studies))?;
        let copy = folder.join(format!("{}{ENDING}", submission.name));
        let mut bundle = regular_file::open(bundle)
            .with_context(|| format!("cannot read {}", bundle.display()))?;
        // The site may be written to the folder of the bundles.
        write_file(&copy, |file| io::copy(&mut bundle, file).map(|_| ()))?;
    }
    // Last, so that no page links to one that is not there.
    write(Some(&folder.join("index.html")), &site::index(&submissions))
}

/// The bundles of a folder, in any order.
pub fn bundles_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut bundles = Vec::new();
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let file = entry?.path();
        if file.to_string_lossy().ends_with(ENDING) {
            bundles.push(file);
        }
    }
    Ok(bundles)
}

/// The submission of a bundle's file; an error if its check finds a fault.
pub fn read_submission(path: &Path) -> anyhow::Result<Submission> {
    let bundle = Bundle::read(path).with_context(|| path.display().to_string())?;
    submission(path, bundle)
}

/// The submission of a bundle from a path; an error if its check finds a fault.
pub fn submission(path: &Path, bundle: Bundle) -> anyhow::Result<Submission> {
    let checked = check(&bundle, env!("CARGO_PKG_VERSION"), common::memory());
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    if let Some(fault) = checked.faults.first() {
        bail!("{}: {fault}", path.display());
    }
    let name = file.strip_suffix(ENDING).unwrap_or(&file).to_owned();
    Ok(Submission {
        name,
        note: bundle.manifest.note,
        checked,
    })
}

fn write(output: Option<&Path>, text: &str) -> anyhow::Result<()> {
    match output {
        Some(path) => write_file(path, |file| file.write_all(text.as_bytes())),
        None => Ok(io::stdout().lock().write_all(text.as_bytes())?),
    }
}
