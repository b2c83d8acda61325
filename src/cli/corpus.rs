//! `skinbench corpus`: files that show what skinning should compute, and verdicts on engines.

use super::{Exit, ScreenArguments, common, create_folder, say_fitted};
use anyhow::Context as _;
use clap::Args;
use skinbench::report::judgement;
use skinbench_corpus::{Answer, all_expected, judge, write};
use std::fs;
use std::path::PathBuf;

/// Write files that show what skinning should compute, or judge an engine by them
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct Arguments {
    /// Folder to write the files to
    #[arg(short, long, value_name = "FOLDER", required_unless_present = "check")]
    output: Option<PathBuf>,
    /// An engine's answer, which corpus/README.md describes; exit code 3 if the engine is wrong somewhere
    #[arg(long, value_name = "ANSWER.json")]
    check: Option<PathBuf>,
    #[command(flatten)]
    screen: ScreenArguments,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    common::start_threads()?;
    if let Some(folder) = &arguments.output {
        create_folder(folder)?;
        write(folder)?;
    }
    let Some(file) = &arguments.check else {
        return Ok(Exit::Done);
    };
    let place = || file.display().to_string();
    let text = fs::read_to_string(file).with_context(place)?;
    let answer: Answer = serde_json::from_str(&text).with_context(place)?;
    let folder = tempfile::tempdir()?;
    let judged = judge(&all_expected(folder.path())?, &answer);
    let screen = arguments.screen.screen();
    say_fitted(judgement::text(&answer, &judged, screen), screen)?;
    if judged.iter().any(|judged| judged.fails()) {
        Ok(Exit::Unverified)
    } else {
        Ok(Exit::Done)
    }
}
