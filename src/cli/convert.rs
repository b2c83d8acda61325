//! `skinbench convert`: writes any model as one glTF binary.

use super::output::expect_ending;
use super::{Exit, UsageError, common, write_file};
use anyhow::anyhow;
use clap::Args;
use skinbench::asset::{self, Request, Vertices, glb};
use skinbench::model::Model;
use std::path::{Path, PathBuf};

/// Write a model as one glTF binary (.glb)
#[derive(Debug, Args)]
pub struct Arguments {
    /// Model file or built-in model, then clips in files of their own (.raa, .md5anim); without -o, the .glb to write
    /// comes last
    #[arg(value_name = "MODEL", num_args = 1.., required = true)]
    files: Vec<PathBuf>,
    /// Write all vertices, also those that no triangle uses, and once for each primitive that shares them
    #[arg(long)]
    keep_vertices: bool,
    /// File to write
    #[arg(short, long, value_name = "OUT.glb")]
    output: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let mut files = arguments.files.clone();
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None if files.len() > 1 => files.pop().unwrap_or_default(),
        None => {
            let problem = "expected a .glb file to write: skinbench convert MODEL -o OUT.glb";
            return Err(UsageError(problem.into()).into());
        }
    };
    expect_ending(&output, "glTF binary", &["glb"])?;
    let vertices = if arguments.keep_vertices {
        Vertices::All
    } else {
        Vertices::Drawn
    };
    let model = files.remove(0);
    let converted = load(&model, &files, vertices)?;
    common::tell_notes(&converted);
    let bytes = glb::to_glb(&converted)?;
    write_file(&output, |file| file.write_all(&bytes))?;
    Ok(Exit::Done)
}

fn load(model: &Path, clips: &[PathBuf], vertices: Vertices) -> anyhow::Result<Model> {
    let source = common::model_source(model)?;
    if !source.is_file() && clips.is_empty() {
        source.load().map_err(|error| anyhow!(error))
    } else {
        let request = Request {
            file: model,
            clips,
            vertices,
        };
        Ok(asset::load_with(&request)?)
    }
}
