//! `skinbench dump`: the skinned vertices of one instance as CSV, for comparison with other programs.

use super::{Exit, MachineArguments, common, seconds, tell, write_file};
use anyhow::{Context as _, anyhow};
use clap::Args;
use skinbench::backend::FrameData;
use skinbench::crowd::{Crowd, Layer, REST};
use skinbench::frame::{FrameInput, Job, StageTimer};
use skinbench::harness::single;
use skinbench::model::{IDENTITY_ROWS, Mesh, RotationBlend};
use skinbench::scene::find_clip;
use skinbench::wording::counted;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Write a model's skinned vertices as CSV
///
/// All vertices of a file's skinned meshes are written, in its order, also those that no triangle uses. A mesh that hangs
/// on one joint as a whole is left out.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Model file, or a built-in model
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Clip by name or number; default: the rest pose
    #[arg(long, value_name = "NAME|NUMBER")]
    clip: Option<String>,
    /// Time in the clip in seconds, clamped to its first and last key; default: 0
    #[arg(long, value_name = "S", value_parser = seconds, requires = "clip", allow_hyphen_values = true)]
    time: Option<f32>,
    /// Interpolation of rotations between keys; default: as defined by the file's format
    #[arg(long, value_parser = ["slerp", "nlerp"])]
    rotation: Option<String>,
    /// Backend that skins
    #[arg(short, long, value_name = "BACKEND", default_value = "cpu-scalar")]
    backend: String,
    /// File to write; default: standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    machine: MachineArguments,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let entry = common::backend(&arguments.backend)?;
    let host = arguments.machine.host_context()?;
    let mut source = common::model_source(&arguments.model)?;
    source.keep_vertices = true;
    let mut model = source.load().map_err(|error| anyhow!(error))?;
    common::tell_notes(&model);
    if let Some(rotation) = &arguments.rotation {
        let blend = if rotation == "slerp" {
            RotationBlend::Slerp
        } else {
            RotationBlend::Nlerp
        };
        model = model.with_rotation_blend(blend);
    }
    let primitives = model.mesh().primitives().iter();
    let rigid = primitives.filter(|p| p.dumped_vertices == 0).count();
    if rigid > 0 {
        tell(format_args!(
            "note: {}: left out {}, which joints move as a whole",
            model.name(),
            counted(rigid as u64, "rigid primitive")
        ));
    }
    let clip = match &arguments.clip {
        None => REST,
        Some(name) => find_clip(model.name(), model.clips(), name)
            .map_err(|error| anyhow!("{}: {error}", arguments.model.display()))?,
    };
    let layer = Layer::held(clip, arguments.time.unwrap_or(0.0));
    let mut crowd = Crowd::new();
    crowd.push_group(Arc::new(model), [(IDENTITY_ROWS, layer)])?;

    let context = arguments.machine.open_for(entry, host)?;
    let backend = entry.create(&context)?;
    let job = Job {
        first_kernel: true,
        ..Job::default()
    };
    let (mut backend, mut output) =
        single::prepare(&*backend, &context, &crowd, &job, None, common::memory())
            .context(entry.name)?;
    let mut frame = FrameInput {
        crowd: &crowd,
        tick: 0,
        output: &mut output,
    };
    let ticket = backend.submit(&mut frame, &mut StageTimer::default())?;
    ticket.finish()?;
    let mut vertices = Vec::new();
    backend.read(&crowd, &output, FrameData::Vertices, 0..1, &mut vertices)?;

    let mesh = crowd.groups()[0].model.mesh();
    // Position and normal, which is a crowd's default format.
    let vertices: &[[f32; 6]] = vertices.as_chunks().0;
    for (source, numbers) in mesh.sources().iter().zip(vertices) {
        if let Some(number) = numbers.iter().find(|number| !number.is_finite()) {
            return Err(anyhow!(
                "{}: primitive {}, vertex {}: {number} at that time; expected joints whose numbers f32 can hold",
                arguments.model.display(),
                source.primitive,
                source.vertex
            ));
        }
    }
    match &arguments.output {
        Some(path) => write_file(path, |out| write_csv(out, mesh, vertices))?,
        None => write_csv(&mut io::BufWriter::new(io::stdout().lock()), mesh, vertices)?,
    }
    Ok(Exit::Done)
}

/// Writes one row per vertex of the file. Primitives without such a vertex are not counted.
fn write_csv(out: &mut dyn Write, mesh: &Mesh, vertices: &[[f32; 6]]) -> io::Result<()> {
    let primitives = mesh.primitives();
    let mut rows: Vec<_> = mesh.sources().iter().zip(vertices).collect();
    rows.sort_by_key(|row| row.0);
    // Number of each primitive among those that are written.
    let mut numbers = Vec::with_capacity(primitives.len());
    let mut next = 0;
    for primitive in primitives {
        numbers.push(next);
        next += u32::from(primitive.dumped_vertices > 0);
    }
    writeln!(out, "primitive,vertex,px,py,pz,nx,ny,nz")?;
    for (source, [px, py, pz, nx, ny, nz]) in rows {
        let primitive = source.primitive as usize;
        if source.vertex >= primitives[primitive].dumped_vertices {
            continue;
        }
        write!(
            out,
            "{},{},{px:.8e},{py:.8e},{pz:.8e},",
            numbers[primitive], source.vertex
        )?;
        if primitives[primitive].has_normals {
            writeln!(out, "{nx:.8e},{ny:.8e},{nz:.8e}")?;
        } else {
            writeln!(out, ",,")?;
        }
    }
    out.flush()
}
