//! `skinbench corpus`: files that show what skinning should compute, and verdicts on engines.

use super::output::expect_ending;
use super::{Exit, ScreenArguments, common, create_folder, say_fitted, tell, write_file};
use anyhow::{Context as _, anyhow};
use clap::Args;
use skinbench::asset::regular_file;
use skinbench::report::judgement;
use skinbench::wording;
use skinbench_corpus::{Answer, all_expected, judge, picture, write};
use std::path::PathBuf;

/// Most bytes of an answer: some hundred times those of a complete one.
const MOST_BYTES: u64 = 256 << 20;

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
    /// Names of assets to judge; default: all
    #[arg(value_name = "ASSET", requires = "check")]
    assets: Vec<String>,
    /// Picture of the largest error to write, if anything is wrong
    #[arg(long, value_name = "FILE.svg", requires = "check")]
    picture: Option<PathBuf>,
    #[command(flatten)]
    screen: ScreenArguments,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    common::start_threads()?;
    if let Some(picture) = &arguments.picture {
        expect_ending(picture, "a picture", &["svg"])?;
    }
    if let Some(folder) = &arguments.output {
        create_folder(folder)?;
        write(folder)?;
        tell(format_args!("wrote the corpus to {}", folder.display()));
    }
    let Some(file) = &arguments.check else {
        return Ok(Exit::Done);
    };
    let place = || file.display().to_string();
    let text = regular_file::read_text(file, MOST_BYTES).with_context(place)?;
    let answer: Answer = serde_json::from_str(&text)
        .with_context(|| format!("{}: expected JSON as in corpus/README.md", place()))?;
    let folder = tempfile::tempdir()?;
    let mut expected = all_expected(folder.path())?;
    for name in arguments.assets.iter().chain(answer.assets.keys()) {
        let known: Vec<&str> = expected.iter().map(|known| known.asset.as_str()).collect();
        wording::position("asset", name, &known)
            .map_err(|error| anyhow!("{}: {error}", place()))?;
    }
    expected.retain(|known| arguments.assets.is_empty() || arguments.assets.contains(&known.asset));
    let judged = judge(&expected, &answer);
    if let Some(path) = &arguments.picture
        && let Some(svg) = picture::worst(&expected, &answer, &judged)?
    {
        write_file(path, |out| out.write_all(svg.as_bytes()))?;
    }
    let screen = arguments.screen.screen();
    say_fitted(judgement::text(&answer, &judged, screen), screen)?;
    if judged.iter().any(|judged| judged.fails()) {
        Ok(Exit::Unverified)
    } else {
        Ok(Exit::Done)
    }
}
