//! `skinbench inspect`: the content of a model.

use super::exit::Exit;
use anyhow::anyhow;
use clap::Args;
use skinbench::report::inspection::Inspection;
use skinbench::scene::ModelSource;
use std::io::{self, Write};
use std::time::Instant;

/// Describe a model's content, and the repairs made on import
#[derive(Debug, Args)]
pub struct Arguments {
    /// Model file, or a built-in model
    #[arg(value_name = "MODEL")]
    model: String,
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let start = Instant::now();
    let model = ModelSource::from_name(&arguments.model).load().map_err(|error| anyhow!(error))?;
    let inspection = Inspection::new(&model, start.elapsed());
    let mut out = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &inspection)?;
        writeln!(out)?;
    } else {
        write!(out, "{inspection}")?;
    }
    Ok(Exit::Done)
}
