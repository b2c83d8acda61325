//! `skinbench submit`: packs results into a bundle, and checks bundles.

use super::output::expect_ending;
use super::{Exit, UsageError, common, narrow, say, say_fitted, write_file};
use anyhow::{Context as _, bail};
use clap::Args;
use skinbench::report::{grouped, text};
use skinbench::results::Session;
use skinbench::results::bundle::{Bundle, MOST_NOTE};
use skinbench::results::check::{Checked, check};
use skinbench::wording::counted;
use std::path::{Path, PathBuf};

/// Most faults of a bundle that are listed.
const LISTED: usize = 3;

/// Pack results into one file that others can check, or check such a file
#[derive(Debug, Args)]
pub struct Arguments {
    /// Folder of results; with --check, bundles
    #[arg(value_name = "DIR|BUNDLE", required = true)]
    paths: Vec<PathBuf>,
    /// File to write, such as results/community/NAME.tar.gz
    #[arg(short, long, value_name = "BUNDLE", required_unless_present = "check")]
    output: Option<PathBuf>,
    /// A remark for readers, such as how the machine was set up
    #[arg(long, value_name = "TEXT", value_parser = note, conflicts_with = "check")]
    note: Option<String>,
    /// Compute every median and verdict of bundles again; exit with 1 if one was edited
    #[arg(long, conflicts_with = "output")]
    check: bool,
    /// Exit with 1 if a bundle does not belong to this division
    #[arg(long, value_name = "DIVISION", value_parser = ["closed", "open", "browser"])]
    division: Option<String>,
}

/// Parses a remark.
fn note(text: &str) -> Result<String, String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if (1..=MOST_NOTE).contains(&text.chars().count()) {
        Ok(text)
    } else {
        Err(format!("expected 1 to {MOST_NOTE} characters"))
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    if let Some(output) = &arguments.output {
        expect_ending(output, "a bundle", &["gz", "tgz"])?;
        let [folder] = &arguments.paths[..] else {
            return Err(
                UsageError("-o writes one bundle; expected one folder of results".into()).into(),
            );
        };
        let bundle = Bundle::of_folder(folder, arguments.note.clone())
            .with_context(|| folder.display().to_string())?;
        // A folder whose figures do not follow from its samples is not packed.
        let checked = checked(folder, &bundle, arguments.division.as_deref())?;
        say_fitted(checked, narrow())?;
        let bytes = bundle.packed()?;
        write_file(output, |file| file.write_all(&bytes))?;
        let kilobytes = grouped((bytes.len() as u64).div_ceil(1_000));
        say(format_args!(
            "bundle: {}, {kilobytes} kB\n",
            output.display()
        ))?;
        return Ok(Exit::Done);
    }
    for path in &arguments.paths {
        let bundle = Bundle::read(path).with_context(|| path.display().to_string())?;
        let checked = checked(path, &bundle, arguments.division.as_deref())?;
        say_fitted(checked, narrow())?;
    }
    Ok(Exit::Done)
}

/// Checks a bundle and describes it; an error if it was edited, or is not of the wanted division.
fn checked(path: &Path, bundle: &Bundle, wanted: Option<&str>) -> anyhow::Result<String> {
    let Checked {
        faults,
        division,
        reasons,
        sessions,
        rows,
        samples,
        studies,
    } = check(bundle, env!("CARGO_PKG_VERSION"), common::memory());
    if !faults.is_empty() {
        let more = faults.len().saturating_sub(LISTED);
        let mut listed = faults[..faults.len() - more].join("; ");
        if more > 0 {
            listed += &format!("; {more} more like these");
        }
        bail!("{}: {listed}", path.display());
    }
    let reasons = reasons.join("; ");
    let colon = if reasons.is_empty() { "" } else { ": " };
    if let Some(wanted) = wanted.filter(|wanted| *wanted != division.name()) {
        bail!(
            "{}: not of the {wanted} division{colon}{reasons}",
            path.display()
        );
    }
    let follow = if rows == 1 { "follows" } else { "follow" };
    let mut report = format!(
        "{}: {} {follow} from {}\n",
        path.display(),
        counted(rows as u64, "row"),
        counted(samples as u64, "sample")
    );
    report += &format!("{} division{colon}{reasons}\n", division.name());
    let mut programs: Vec<String> = sessions.iter().map(program).collect();
    programs.dedup();
    for program in programs {
        report += &format!("{program}\n");
    }
    for study in &studies {
        report += &format!("{}\n{}", study.machine, text::verdicts(study));
    }
    Ok(report)
}

/// One line about the program of a session.
fn program(session: &Session) -> String {
    let program = &session.program;
    let commit = match (&program.build.git_rev, program.build.dirty) {
        (Some(commit), Some(false)) => format!("commit {commit}"),
        (Some(commit), _) => format!("commit {commit} with changes"),
        (None, _) => "unknown commit".into(),
    };
    format!(
        "skinbench {} for {}, {commit}, SHA-256 {}",
        program.version, program.target, program.sha256
    )
}
