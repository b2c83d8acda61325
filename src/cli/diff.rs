//! `skinbench diff`: whether two files are the same character.

use super::{Exit, common, narrow, say_fitted};
use anyhow::anyhow;
use clap::Args;
use skinbench::model::Model;
use skinbench::wording;
use skinbench_corpus::{Difference, Side, compare};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Tell whether two files are the same character, whatever order and units they store it in
///
/// Vertices that are near each other at rest are compared throughout clips of the same name, with each morph target, and
/// with joints turned. UVs are not compared.
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
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    common::start_threads()?;
    let [first, second] = [&arguments.first, &arguments.second];
    let difference = compare(load(first)?, load(second)?, arguments.tolerance)?;
    let is_same = difference.is_same(arguments.tolerance);
    say_fitted(text(&difference, [first, second], is_same)?, narrow())?;
    if is_same {
        Ok(Exit::Done)
    } else {
        Ok(Exit::Unverified)
    }
}

fn load(file: &Path) -> anyhow::Result<Model> {
    common::model_source(file)?
        .load()
        .map_err(|error| anyhow!(error))
}

fn text(
    difference: &Difference,
    [first, second]: [&Path; 2],
    is_same: bool,
) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    for (side, missing) in &difference.missing {
        let file = match side {
            Side::First => first,
            Side::Second => second,
        };
        writeln!(text, "{} lacks {missing}", file.display())?;
    }
    let farthest = &difference.farthest;
    let [x, y, z] = farthest.at_rest.to_array();
    let poses = wording::counted(difference.poses as u64, "pose");
    if farthest.error > 0.0 {
        writeln!(
            text,
            "largest distance of {poses}: {:.1e} of the diagonal, {}; at rest the vertex is at {x:.4} {y:.4} {z:.4}",
            farthest.error, farthest.pose
        )?;
    } else {
        writeln!(text, "no distance in {poses}")?;
    }
    if !difference.turned_joints {
        let lack = "names or rest poses of joints differ, so joints were not turned one by one";
        writeln!(text, "{lack}: a weight that no clip shows may differ")?;
    }
    let verdict = if is_same {
        "the same character"
    } else {
        "not the same character"
    };
    writeln!(text, "{verdict}")?;
    Ok(text)
}
