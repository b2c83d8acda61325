//! Skins one character on the CPU: prints a vertex and the bounding box of its skinned mesh.
//!
//! `cargo run --no-default-features --example skin_one` takes the built-in walker. With `-- Fox.glb 0.4` behind it, it
//! poses a file of any supported format 0.4 s into its first clip. Without default features, neither wgpu nor the
//! command line is compiled.

use glam::Vec3;
use skinbench::model::Model;
use skinbench::vertex::VertexFormat;
use skinbench::{asset, characters::walker, pose, skin};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    match try_main() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A `main` that returns the error would print its fields.
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn try_main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let model = match arguments.next() {
        Some(path) => asset::load(path)?,
        None => walker(5_000)?,
    };
    let time: f32 = arguments
        .next()
        .map_or(Ok(0.0), |seconds| seconds.parse())?;

    let vertices = skinned(&model, time);
    let positions = || {
        vertices
            .iter()
            .map(|vertex| Vec3::new(vertex[0], vertex[1], vertex[2]))
    };
    let (min, max) = (positions().reduce(Vec3::min), positions().reduce(Vec3::max));
    let clip = model
        .clips()
        .first()
        .map_or("the rest pose", |clip| clip.name());
    println!(
        "{:?}, {} vertices, {clip} at {time} s",
        model.name(),
        vertices.len()
    );
    println!(
        "vertex 0: position {:.3?}, normal {:.3?}",
        &vertices[0][..3],
        &vertices[0][3..]
    );
    if let (Some(min), Some(max)) = (min, max) {
        println!(
            "bounding box: {:.3?} to {:.3?}",
            min.to_array(),
            max.to_array()
        );
    }
    Ok(())
}

/// Position and normal of each vertex, at a time of the first clip in seconds.
///
/// An engine allocates the four buffers once and reuses them in every frame.
fn skinned(model: &Model, time: f32) -> Vec<[f32; 6]> {
    let skeleton = model.skeleton();
    let mut local_pose: Vec<pose::Local<1>> = vec![[[0.0]; 10]; skeleton.len()];
    let mut model_pose: Vec<pose::Affine<1>> = vec![[[0.0]; 12]; skeleton.len()];
    let mut palette = vec![[0.0; 12]; model.palette_joints().len()];
    let mut vertices = vec![[0.0; 6]; model.mesh().vertex_count()];

    // Clip to local poses; local poses to model poses; model poses times inverse bind matrices to the palette.
    pose::one::sample(skeleton, model.clips().first(), time, &mut local_pose);
    pose::one::local_to_model(skeleton, &local_pose, &mut model_pose);
    pose::one::palette(
        model.palette_joints(),
        model.inverse_binds(),
        &model_pose,
        &mut palette,
    );
    // The default format is a position and a unit normal, six floats per vertex.
    skin::skin(
        model.mesh(),
        &palette,
        VertexFormat::default(),
        vertices.as_flattened_mut(),
    );
    vertices
}
