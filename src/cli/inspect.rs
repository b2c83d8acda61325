//! `skinbench inspect`: the content of a model.

use super::{Exit, common, narrow, say_fitted, say_json};
use anyhow::anyhow;
use clap::Args;
use skinbench::error::shortened;
use skinbench::report::inspection::Inspection;
use std::path::PathBuf;
use std::time::Instant;

/// Most characters of a line: names in a file may have any length.
const MOST_CHARACTERS: usize = 1_000;

/// Describe a model's content, and the repairs made on import
#[derive(Debug, Args)]
pub struct Arguments {
    /// Model file, or a built-in model
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Describe all vertices, also those that no triangle uses, and once for each primitive that shares them
    #[arg(long)]
    keep_vertices: bool,
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let start = Instant::now();
    let mut source = common::model_source(&arguments.model)?;
    source.keep_vertices = arguments.keep_vertices;
    let model = source.load().map_err(|error| anyhow!(error))?;
    let inspection = Inspection::new(model, start.elapsed());
    if arguments.json {
        say_json(&inspection)?;
    } else {
        let mut text = String::new();
        for line in inspection.to_string().lines() {
            text += &shortened(line, MOST_CHARACTERS);
            text.push('\n');
        }
        say_fitted(text, narrow())?;
    }
    Ok(Exit::Done)
}
