//! `skinbench convert`: writes any model as one glTF binary.

use super::{Exit, UsageError, common, write_file};
use anyhow::anyhow;
use clap::Args;
use skinbench::asset::{self, Request, Vertices, glb};
use skinbench::model::Model;
use skinbench::scene::{BUILT_IN_MODELS, ModelSource};
use std::path::{Path, PathBuf};

/// Write a model as one glTF binary (.glb)
#[derive(Debug, Args)]
pub struct Arguments {
    /// Model file (or a built-in model), clips in files of their own (.raa, .md5anim), and last the .glb to write
    #[arg(value_names = ["MODEL", "OUT.glb"], num_args = 2.., required = true)]
    files: Vec<PathBuf>,
    /// Write all vertices, also those that no triangle uses, and once for each primitive that shares them
    #[arg(long)]
    keep_vertices: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let [model, clips @ .., out] = &arguments.files[..] else {
        return Err(UsageError("expected a model and the .glb file to write".into()).into());
    };
    if !out
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("glb"))
    {
        return Err(UsageError(format!(
            "{}: expected a file that ends in .glb to write",
            out.display()
        ))
        .into());
    }
    let vertices = if arguments.keep_vertices {
        Vertices::All
    } else {
        Vertices::Drawn
    };
    let converted = load(model, clips, vertices)?;
    common::note_repairs(&converted);
    let bytes = glb::to_glb(&converted)?;
    write_file(out, |file| file.write_all(&bytes))?;
    Ok(Exit::Done)
}

fn load(model: &Path, clips: &[PathBuf], vertices: Vertices) -> anyhow::Result<Model> {
    match model.to_str() {
        Some(name) if BUILT_IN_MODELS.contains(&name) && clips.is_empty() => {
            ModelSource::from_name(name)
                .load()
                .map_err(|error| anyhow!(error))
        }
        _ => Ok(asset::load_with(&Request {
            file: model,
            clips,
            vertices,
        })?),
    }
}
