//! `skinbench inspect`: the content of a model.

use super::{Exit, say, say_json};
use anyhow::anyhow;
use clap::Args;
use serde::Serialize;
use skinbench::model::shortened;
use skinbench::report::clip_sizes::ClipSizes;
use skinbench::report::inspection::Inspection;
use skinbench::scene::ModelSource;
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
    /// Also compare the clips' compact form with raw samples, on the terms of the Animation Compression Library
    #[arg(long)]
    clips: bool,
    /// Describe all vertices, also those that no triangle uses, and once for each primitive that shares them
    #[arg(long)]
    keep_vertices: bool,
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
}

/// The JSON of a model.
#[derive(Serialize)]
struct Inspected {
    #[serde(flatten)]
    inspection: Inspection,
    #[serde(skip_serializing_if = "Option::is_none")]
    clip_sizes: Option<ClipSizes>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let start = Instant::now();
    let mut source = ModelSource::from_name(&arguments.model);
    source.keep_vertices = arguments.keep_vertices;
    let model = source.load().map_err(|error| anyhow!(error))?;
    let inspection = Inspection::new(&model, start.elapsed());
    let clip_sizes = arguments
        .clips
        .then(|| ClipSizes::new(&model))
        .transpose()
        .map_err(|error| anyhow!(error))?;
    if arguments.json {
        say_json(&Inspected {
            inspection,
            clip_sizes,
        })?;
    } else {
        let sizes = clip_sizes.map_or(String::new(), |sizes| sizes.to_string());
        let mut text = String::new();
        for line in format!("{inspection}{sizes}").lines() {
            text += &shortened(line.into(), MOST_CHARACTERS);
            text.push('\n');
        }
        say(text)?;
    }
    Ok(Exit::Done)
}
