//! `skinbench render`: a picture of a scene as PNG.

use super::output::{expect_ending, write_png};
use super::settings::ModelArguments;
use super::{Exit, MachineArguments, common, positive, seconds, tell};
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use skinbench::asset::decode;
use skinbench::crowd::TICKS_PER_SECOND;
use skinbench::frame::{self, FrameInput, Job, StageTimer, View};
use skinbench::gpu::draw::present::Presenter;
use skinbench::gpu::{Beneath, ImageReader, Overlay, Surfaces, ground};
use skinbench::harness::single;
use skinbench::scene::Settings;
use skinbench::wording;
use std::path::PathBuf;
use std::sync::Arc;

/// Write a picture of a scene or a model
#[derive(Debug, Args)]
pub struct Arguments {
    /// Built-in scene, scene file (.toml) or model
    #[arg(value_name = "SCENE|MODEL")]
    scene: PathBuf,
    /// PNG file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Backend that skins
    #[arg(short, long, value_name = "BACKEND", default_value = "cpu-rayon")]
    backend: String,
    /// Time since the crowd started, in seconds
    #[arg(long, value_name = "S", value_parser = seconds, default_value = "0", allow_hyphen_values = true)]
    time: f32,
    /// Instances of all groups together
    #[arg(long, value_name = "N", value_parser = positive::<u64>)]
    instances: Option<u64>,
    #[command(flatten)]
    models: ModelArguments,
    /// Drawing mode
    #[arg(long, default_value = "skin")]
    mode: ModeChoice,
    /// Angle around the crowd in degrees, from its front; default: as in the scene
    #[arg(long, value_name = "DEGREES", value_parser = degrees, allow_hyphen_values = true)]
    orbit: Option<f64>,
    /// Angle above the ground in degrees, -89 to 89; default: as in the scene
    #[arg(long, value_name = "DEGREES", value_parser = elevation, allow_hyphen_values = true)]
    elevation: Option<f64>,
    /// Width in pixels; default: as in the scene
    #[arg(long, value_name = "N", value_parser = positive::<u32>)]
    width: Option<u32>,
    /// Height in pixels; default: as in the scene
    #[arg(long, value_name = "N", value_parser = positive::<u32>)]
    height: Option<u32>,
    #[command(flatten)]
    machine: MachineArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModeChoice {
    /// Lit triangles
    Skin,
    /// Edges of the visible triangles
    Wireframe,
    /// Joints as axes, parent links as lines
    Skeleton,
}

fn degrees(text: &str) -> Result<f64, &'static str> {
    let expected = "expected degrees, a finite number";
    wording::parsed(text, |angle: &f64| angle.is_finite(), expected)
}

fn elevation(text: &str) -> Result<f64, &'static str> {
    let expected = "expected degrees, -89 to 89";
    wording::parsed(text, |angle: &f64| angle.abs() <= 89.0, expected)
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    expect_ending(&arguments.output, "a PNG picture", &["png"])?;
    let entry = common::backend(&arguments.backend)?;
    let settings = Settings {
        instances: arguments.instances,
        ..arguments.models.settings()
    };
    common::checked(&settings)?;
    let host = arguments.machine.host_context()?;
    let mut scene = common::load_scene(&arguments.scene)?
        .with(settings)
        .build(common::memory())?;
    let camera = &mut scene.camera;
    camera.orbit = arguments.orbit.unwrap_or(camera.orbit);
    camera.elevation = arguments.elevation.unwrap_or(camera.elevation);
    scene.resolution = [
        arguments.width.unwrap_or(scene.resolution[0]),
        arguments.height.unwrap_or(scene.resolution[1]),
    ];
    let context = arguments.machine.with_adapter(host, true)?;
    let gpu = context.gpu.as_ref().context("no adapter")?;
    let view_projection = scene
        .camera
        .picture_projection(&scene.crowd, scene.resolution, [0.0; 2]);
    let mut view = View {
        view_projection,
        ..scene.view()
    };
    if arguments.mode == ModeChoice::Wireframe {
        view.mode = frame::Mode::Wireframe;
    }
    let reader = ImageReader {
        size: decode::size,
        pixels: decode::decode,
    };
    let (surfaces, surface_bytes) = gpu.counted(|| Surfaces::new(gpu, &scene.crowd, reader));
    for note in &surfaces.notes {
        tell(format_args!("note: {note}"));
    }
    let (presenter, bytes) = gpu
        .counted(|| Presenter::for_pictures(Arc::clone(gpu), &scene.crowd, view, &surfaces, true));
    let mut presenter = presenter?;
    let backend = entry.create(&context)?;
    let (mut backend, mut output) = single::prepare(
        &*backend,
        &context,
        &scene.crowd,
        &Job::default(),
        Some(surface_bytes.total() + bytes.total()),
        common::memory(),
    )
    .context(entry.name)?;

    let mut timer = StageTimer::default();
    // Phases wrap, so ticks before the start are valid.
    let tick = (f64::from(arguments.time) * TICKS_PER_SECOND).round() as i64 as u32;
    let mut frame = FrameInput {
        crowd: &scene.crowd,
        tick,
        output: &mut output,
    };
    let ticket = backend.submit(&mut frame, &mut timer)?;
    ticket
        .draw(&mut presenter, &backend.skinned(), &frame, &mut timer)?
        .finish()?;
    let framed = scene.camera.framed(&scene.crowd, scene.resolution);
    let ground = ground(&scene.crowd, framed.target, framed.radius);
    if arguments.mode == ModeChoice::Skeleton {
        presenter.draw_overlay(Beneath::Nothing, &Overlay::default())?;
    }
    presenter.draw_overlay(Beneath::Picture, &ground)?;
    if arguments.mode == ModeChoice::Skeleton {
        let skeletons = Overlay {
            lines: single::skeletons(&mut *backend, &scene.crowd, tick)?,
            ..Overlay::default()
        };
        presenter.draw_overlay(Beneath::Far, &skeletons)?;
    }
    let pixels = presenter.read_color()?;
    write_png(&arguments.output, [view.width, view.height], &pixels)?;
    Ok(Exit::Done)
}
