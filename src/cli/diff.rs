//! `skinbench diff`: whether two files are the same character.

use super::output::expect_ending;
use super::{Exit, ScreenArguments, common, say_fitted, write_file};
use anyhow::anyhow;
use clap::Args;
use skinbench::model::Model;
use skinbench::report::difference;
use skinbench::wording;
use skinbench_corpus::{Difference, Motion, compare, picture};
use std::fmt;
use std::path::{Path, PathBuf};

/// Tell whether two files are the same character, whatever order and units they store it in
///
/// Vertices that are near each other at rest, with the same normal and UVs, are compared throughout clips of the same name,
/// with each morph target, and with joints turned. Optimisers that sample clips anew (gltfpack: -af) or round numbers (-vp)
/// change a character a little: the last line names the tolerance that would pass.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Model file, or a built-in model
    #[arg(value_name = "A")]
    first: PathBuf,
    /// The file to compare with it
    #[arg(value_name = "B")]
    second: PathBuf,
    /// Largest distance of vertices that passes, as a fraction of the diagonal of A; beyond it, the exit code is 3
    #[arg(long, value_name = "E", default_value = "1e-4", value_parser = wording::above_zero)]
    tolerance: f64,
    /// Picture of the largest distance to write, if the files differ
    #[arg(long, value_name = "FILE.svg")]
    picture: Option<PathBuf>,
    #[command(flatten)]
    screen: ScreenArguments,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    common::start_threads()?;
    if let Some(picture) = &arguments.picture {
        expect_ending(picture, "a picture", &["svg"])?;
    }
    let files = [&arguments.first, &arguments.second].map(|file| file.display().to_string());
    let files = [files[0].as_str(), files[1].as_str()];
    let tolerance = arguments.tolerance;
    let difference = compare(load(&arguments.first)?, load(&arguments.second)?, tolerance)?;
    let screen = arguments.screen.screen();
    say_fitted(
        difference::text(&difference, files, tolerance, screen),
        screen,
    )?;
    if difference.is_same(tolerance) {
        return Ok(Exit::Done);
    }
    if let Some(path) = &arguments.picture {
        let svg = drawn(&difference, files)?;
        write_file(path, |out| out.write_all(svg.as_bytes()))?;
    }
    Ok(Exit::Unverified)
}

fn load(file: &Path) -> anyhow::Result<Model> {
    common::model_source(file)?
        .load()
        .map_err(|error| anyhow!(error))
}

fn drawn(difference: &Difference, files: [&str; 2]) -> Result<String, fmt::Error> {
    let farthest = difference.farthest();
    let mut title = difference::name(&farthest.motion);
    if let Motion::Clip { .. } = farthest.motion {
        title += &format!(" at {:.3} s", farthest.time);
    }
    title += &format!(": off by {:.1e} of the diagonal", farthest.error);
    picture::draw(&title, files, &difference.pairs)
}
