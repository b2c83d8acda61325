//! `skinbench render`: a picture of a scene as PNG.

use super::output::{expect_ending, write_png};
use super::settings::ModelArguments;
use super::{Exit, MachineArguments, common, positive, seconds, tell};
use anyhow::Context as _;
use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};
use glam::{DVec3, Vec3};
use skinbench::asset::decode;
use skinbench::crowd::{Crowd, TICKS_PER_SECOND};
use skinbench::frame::{FrameInput, Job, Mode, StageTimer, View};
use skinbench::gpu::draw::present::Presenter;
use skinbench::gpu::{Beneath, ImageReader, Overlay, Surfaces, ground};
use skinbench::harness::single;
use skinbench::model::rows_to_affine;
use skinbench::reference::reference_vertices;
use skinbench::scene::{Scene, Settings};
use skinbench::wording;
use std::path::PathBuf;
use std::sync::Arc;

/// Width and height of a model's picture.
const OF_MODEL: [u32; 2] = [800, 800];

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
    /// Instances of all groups together; default: as in the scene, 1 of a model
    #[arg(long, value_name = "N", value_parser = positive::<u64>)]
    instances: Option<u64>,
    #[command(flatten)]
    models: ModelArguments,
    /// Parts of the picture, such as skin,skeleton
    #[arg(
        long,
        alias = "mode",
        value_name = "PARTS",
        value_delimiter = ',',
        default_value = "skin"
    )]
    show: Vec<Part>,
    /// Give each instance a colour of its own; default: on for scenes, off for models
    #[arg(long, value_name = "on|off", num_args = 0..=1, require_equals = true, default_missing_value = "on", hide_possible_values = true, value_parser = BoolishValueParser::new())]
    tint: Option<bool>,
    /// Angle around the crowd in degrees, from its front; default: as in the scene
    #[arg(long, value_name = "DEGREES", value_parser = degrees, allow_hyphen_values = true)]
    orbit: Option<f64>,
    /// Angle above the ground in degrees, -89 to 89; default: as in the scene
    #[arg(long, value_name = "DEGREES", value_parser = elevation, allow_hyphen_values = true)]
    elevation: Option<f64>,
    /// Width in pixels; default: as in the scene, 800 of a model
    #[arg(long, value_name = "N", value_parser = positive::<u32>)]
    width: Option<u32>,
    /// Height in pixels; default: as in the scene, 800 of a model
    #[arg(long, value_name = "N", value_parser = positive::<u32>)]
    height: Option<u32>,
    #[command(flatten)]
    machine: MachineArguments,
}

/// A part of the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Lit triangles
    Skin,
    /// Edges of the visible triangles
    Wireframe,
    /// Bones, and joints as axes: x red, y green, z blue
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
    let is_model = Scene::is_model(&arguments.scene);
    let settings = Settings {
        instances: arguments.instances.or(is_model.then_some(1)),
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
    if is_model {
        scene.resolution = OF_MODEL;
    }
    scene.resolution = [
        arguments.width.unwrap_or(scene.resolution[0]),
        arguments.height.unwrap_or(scene.resolution[1]),
    ];
    let context = arguments.machine.with_adapter(host, true)?;
    let gpu = context.gpu.as_ref().context("no adapter")?;
    // Phases wrap, so ticks before the start are valid.
    let tick = (f64::from(arguments.time) * TICKS_PER_SECOND).round() as i64 as u32;
    let framed = match scene.crowd.instance_count() {
        1 if is_model => {
            let points = points(&scene.crowd, tick);
            scene.camera.framed_points(&points, scene.resolution)
        }
        _ => scene.camera.framed(&scene.crowd, scene.resolution),
    };
    let view_projection = scene
        .camera
        .picture_projection(framed, scene.resolution, [0.0; 2]);
    let mut view = View {
        view_projection,
        ..scene.view()
    };
    let shows = |part| arguments.show.contains(&part);
    let mode = Mode::of(shows(Part::Skin), shows(Part::Wireframe));
    view.mode = mode.unwrap_or_default();
    let reader = ImageReader {
        size: decode::size,
        pixels: decode::decode,
    };
    let (surfaces, surface_bytes) = gpu.counted(|| Surfaces::new(gpu, &scene.crowd, reader));
    for note in &surfaces.notes {
        tell(format_args!("note: {note}"));
    }
    let tinted = arguments.tint.unwrap_or(!is_model);
    let (presenter, bytes) = gpu.counted(|| {
        Presenter::for_pictures(Arc::clone(gpu), &scene.crowd, view, &surfaces, tinted)
    });
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
    let mut frame = FrameInput {
        crowd: &scene.crowd,
        tick,
        output: &mut output,
    };
    let ticket = backend.submit(&mut frame, &mut timer)?;
    ticket
        .draw(&mut presenter, &backend.skinned(), &frame, &mut timer)?
        .finish()?;
    let ground = ground(&scene.crowd, framed.target, framed.radius);
    if mode.is_none() {
        presenter.draw_overlay(Beneath::Nothing, &Overlay::default())?;
    }
    presenter.draw_overlay(Beneath::Picture, &ground)?;
    if shows(Part::Skeleton) {
        let skeletons = single::skeletons(&mut *backend, &output, &scene.crowd, tick)?;
        presenter.draw_overlay(Beneath::Far, &skeletons)?;
    }
    let pixels = presenter.read_color()?;
    write_png(&arguments.output, [view.width, view.height], &pixels)?;
    Ok(Exit::Done)
}

/// Places of the first instance's vertices at a tick.
fn points(crowd: &Crowd, tick: u32) -> Vec<Vec3> {
    let placement = rows_to_affine(crowd.placement_at(0, tick));
    let vertices = reference_vertices(crowd, 0, tick);
    let vertices = vertices.chunks(crowd.groups()[0].format.floats());
    vertices
        .map(|vertex| {
            placement
                .transform_point3(DVec3::from_slice(vertex))
                .as_vec3()
        })
        .collect()
}
