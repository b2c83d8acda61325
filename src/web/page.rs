//! The page: recordings, reference and scripts in one file that needs nothing else.

use super::recording::{Frames, record, record_picture, reference_name};
use super::reference::{Coverage, vertices};
use crate::frame::{BackendError, EMULATED, Stage, StageGroup};
use crate::gpu::device::tape::Library;
use crate::gpu::device::{ARITHMETIC_WORKGROUPS, arithmetic_wgsl};
use crate::harness::environment::{Build, Environment};
use crate::harness::{Outcome, Status, spread};
use crate::reference::{Blending, shown};
use crate::registry::{BackendEntry, find};
use crate::report::chart;
use crate::report::head;
use crate::report::remark::Remark;
use crate::results::page_results::MARKS;
use crate::results::{Browser, Lead, MeasuredScene, Program, Row, SampleRow, Session, heading};
use crate::scene::BuiltScene;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use maud::{Markup, PreEscaped, html};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::io::Write;

/// Ticks of the verified frames of the largest crowd; smaller ones are verified at the first.
const TICKS: [u32; 2] = [0, 1_000_003];
/// Most bytes of reference vertices of the largest crowd.
const REFERENCE_BYTES: usize = 512 << 10;
/// Instances of each group that are verified in smaller crowds.
const SAMPLED_IN_SMALLER: usize = 8;
/// Backend whose frames move the picture.
const PICTURE: &str = "gpu-full";

const REPORT_STYLE: &str = include_str!("../report/report.css");
const STYLE: &str = include_str!("page.css");
/// The scripts, in the order in which they run.
const SCRIPTS: [&str; 14] = [
    include_str!("recording.js"),
    include_str!("dom.js"),
    include_str!("player.js"),
    include_str!("verify.js"),
    include_str!("measure.js"),
    include_str!("pacer.js"),
    include_str!("statistics.js"),
    include_str!("results.js"),
    include_str!("page_results.js"),
    include_str!("charts.js"),
    include_str!("answers.js"),
    include_str!("picture.js"),
    include_str!("run.js"),
    include_str!("main.js"),
];

/// Error for a page that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// No requested backend supports the crowd.
    #[error("no backend to put on the page: {0}")]
    NoBackend(String),
    /// The crowd's vertices cannot be held.
    #[error("{0}")]
    Reference(String),
    /// The recording cannot be compressed.
    #[error("cannot pack the recording: {0}")]
    Packing(#[from] std::io::Error),
    /// A backend failed while it was recorded.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

/// The choice of what a page measures.
#[derive(Clone, Copy)]
pub struct PageChoice<'a> {
    /// Backends on the device, in the order of the registry.
    pub backends: &'a [&'static BackendEntry],
    /// Numbers of times that a frame draws the largest crowd; smaller crowds are drawn as often as the first says.
    pub passes: &'a [u32],
    /// The program that makes the page.
    pub build: &'a Build,
}

/// Makes a page that verifies and measures backends on some crowds of one scene.
///
/// # Errors
/// No crowd at all, no backend that supports one, or a crowd that the page cannot hold.
pub fn page(crowds: &[BuiltScene], choice: PageChoice) -> Result<String, PageError> {
    let Some(largest) = crowds
        .iter()
        .max_by_key(|scene| scene.crowd.instance_count())
    else {
        return Err(PageError::NoBackend("there is no crowd".into()));
    };
    let mut library = Library::default();
    let mut points = Vec::with_capacity(crowds.len());
    for scene in crowds {
        let is_largest = std::ptr::eq(scene, largest);
        points.push(point(scene, is_largest, choice, &mut library)?);
    }
    // A page without a moving picture still measures.
    let picture = find(PICTURE).and_then(|entry| record_picture(entry, largest, &mut library).ok());
    let arithmetic = json!({
        "shader": library.text(&arithmetic_wgsl()),
        "workgroups": ARITHMETIC_WORKGROUPS,
    });
    let framed = largest.camera.framed(&largest.crowd, largest.resolution);
    let recording = json!({
        "columns": {"summary": heading::<Row>()?, "samples": heading::<SampleRow>()?},
        "sample": SampleRow::default(),
        "session": Session {
            program: Program::new(choice.build, "browser"),
            browser: Some(Browser::default()),
            ..Session::default()
        },
        "marks": MARKS,
        "arithmetic": arithmetic,
        "words": words(),
        "stages": stages(),
        "passes": choice.passes,
        "resolution": largest.resolution,
        "camera": {
            "target": framed.target.to_array(),
            "eye": framed.eye.to_array(),
            "radius": framed.radius,
            "fieldOfView": largest.camera.field_of_view,
        },
        "crowds": points,
        "picture": picture,
    });
    Ok(markup(largest, &recording, &library)?.into_string())
}

/// One crowd: what is recorded of each backend, and the reference.
fn point(
    scene: &BuiltScene,
    is_largest: bool,
    choice: PageChoice,
    library: &mut Library,
) -> Result<Value, PageError> {
    let crowd = &scene.crowd;
    let coverage = if is_largest {
        Coverage::within(REFERENCE_BYTES, crowd, TICKS.len())
    } else {
        Coverage {
            instances: SAMPLED_IN_SMALLER,
            ticks: 1,
        }
    };
    let ticks = &TICKS[..coverage.ticks];
    let mut sampled: Vec<Vec<u32>> = Vec::with_capacity(crowd.groups().len());
    for group in crowd.groups() {
        sampled.push(spread(group, coverage.instances).collect());
    }
    let frames = Frames {
        scene,
        ticks,
        sampled: &sampled,
    };
    let environment = Environment {
        build: choice.build.clone(),
        threads: 1,
        ..Environment::default()
    };
    let measured = MeasuredScene::new(&environment, scene);
    let mut backends = Vec::new();
    let mut blendings = Vec::new();
    let mut refusals = Vec::new();
    for entry in choice.backends {
        match record(entry, frames, library) {
            Ok(mut recorded) => {
                let outcome = Outcome {
                    parity: Some(recorded.parity),
                    ..Outcome::new(entry.name, scene.passes, Status::Ok)
                };
                recorded.json["row"] = row(&measured, &outcome);
                backends.push(recorded.json);
                if !blendings.contains(&recorded.blending) {
                    blendings.push(recorded.blending);
                }
            }
            Err(error) => {
                let status = Status::from(&error);
                if status == Status::Error {
                    return Err(error.into());
                }
                let reason = error.to_string();
                refusals.push(format!("{}: {reason}", entry.name));
                backends.push(json!({
                    "name": entry.name, "refusal": {"status": status, "error": reason},
                    "row": row(&measured, &Outcome::new(entry.name, scene.passes, status)),
                }));
            }
        }
    }
    if blendings.is_empty() {
        return Err(PageError::NoBackend(refusals.join("; ")));
    }
    let mut references = serde_json::Map::new();
    for blending in blendings {
        let indices = reference(frames, blending, library)?;
        references.insert(reference_name(blending).into(), indices.into());
    }
    let mut groups = Vec::with_capacity(crowd.groups().len());
    for group in crowd.groups() {
        groups.push(json!({
            "model": group.model.name(),
            "first": group.instances.start,
            "count": group.len(),
            "vertices": group.model.mesh().vertex_count(),
            "diagonal": shown(crowd, group).diagonal,
        }));
    }
    Ok(json!({
        "instances": crowd.instance_count(),
        "vertices": crowd.vertex_count(),
        "floats": crowd.format().floats(),
        "ticks": ticks,
        "sampled": sampled,
        "groups": groups,
        "references": references,
        "backends": backends,
    }))
}

/// The row of a backend that the page completes.
fn row(measured: &MeasuredScene, outcome: &Outcome) -> Value {
    let rows = measured.rows(outcome);
    rows.first().map_or(Value::Null, |first| json!(first))
}

/// Names of stages by what the page shows of them.
fn stages() -> Value {
    json!({
        "pose": stages_of(StageGroup::Pose), "upload": [Stage::Upload], "skin": stages_of(StageGroup::Skin),
        "draw": [Stage::Draw], "frame": [Stage::Frame], "whole": stages_of(StageGroup::Whole),
    })
}

fn stages_of(group: StageGroup) -> Vec<Stage> {
    let mut stages = Stage::ALL.to_vec();
    stages.retain(|stage| stage.group() == group);
    stages
}

/// Sentences of verdicts, with names in braces for what the page finds.
fn words() -> Value {
    let emulated = Remark::Emulated("{adapter}");
    json!({
        "only": Lead::Alone.sentence(), "certain": Lead::Certain.sentence(),
        "noise": Lead::Undecided.sentence(), "unknown": Lead::TooFew.sentence(),
        "emulated": EMULATED, "onEmulated": emulated.to_string(),
    })
}

/// Indices in the library of the reference's vertices, `[tick][group][sampled instance]`. Only linear blending is
/// checked at every tick: other rules need vertices of their own.
fn reference(
    frames: Frames,
    blending: Blending,
    library: &mut Library,
) -> Result<Vec<Vec<Vec<usize>>>, PageError> {
    let ticks = if blending == Blending::Linear {
        frames.ticks
    } else {
        &frames.ticks[..1]
    };
    let mut indices = Vec::with_capacity(ticks.len());
    for &tick in ticks {
        let mut of_tick = Vec::with_capacity(frames.sampled.len());
        for instances in frames.sampled {
            let blobs: Result<Vec<_>, _> = instances
                .par_iter()
                .map(|&instance| vertices(&frames.scene.crowd, instance, tick, blending))
                .collect();
            let blobs = blobs.map_err(PageError::Reference)?;
            of_tick.push(blobs.iter().map(|blob| library.blob(blob)).collect());
        }
        indices.push(of_tick);
    }
    Ok(indices)
}

/// The recording and the library's bytes, compressed: a 32-bit length, JSON with the place of each blob, the blobs.
fn packed(recording: &Value, library: &Library) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    let mut places = Vec::with_capacity(library.blobs.len());
    for blob in &library.blobs {
        places.push([bytes.len(), blob.len()]);
        bytes.extend_from_slice(blob);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    let text = serde_json::to_vec(&json!({"recording": recording, "blobs": places}))?;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&(text.len() as u32).to_le_bytes())?;
    encoder.write_all(&text)?;
    encoder.write_all(&bytes)?;
    Ok(STANDARD.encode(encoder.finish()?))
}

const DESCRIPTION: &str = "Skins a crowd of animated characters on this GPU, in every way that game engines do, and checks \
    every result.";

fn markup(scene: &BuiltScene, recording: &Value, library: &Library) -> std::io::Result<Markup> {
    let [width, height] = scene.resolution;
    let packed = packed(recording, library)?;
    let scripts = SCRIPTS.join("\n");
    let title = format!("skinbench: {} in this browser", scene.name);
    let largest = &scene.crowd;
    let body = html! {
        a.skip href="#results" { "Skip to the results" }
        main {
            header {
                p.brand { "skinbench" }
                h1 { "How fast does your GPU skin a crowd?" }
                p.lead {
                    "This page runs the shaders of the skinbench benchmark on your own graphics hardware: "
                    (crate::report::grouped(largest.instance_count() as u64)) " animated characters with "
                    (crate::report::grouped(largest.vertex_count())) " vertices. It compares the vertices with a "
                    "64-bit reference before it times anything. Nothing leaves this page unless you send it."
                }
            }
            figure.stage {
                canvas #crowd width=(width) height=(height) tabindex="0" role="img"
                    aria-label="The crowd, animated on the GPU. Arrow keys turn it." {}
                figcaption #caption { "The crowd appears here if this browser has WebGPU." }
            }
            section #control aria-label="Measurement" {
                div.buttons {
                    button #start.primary type="button" disabled { "Verify and measure" }
                    button #stop type="button" hidden { "Stop" }
                    button #play type="button" hidden { "Pause" }
                }
                div #running hidden {
                    progress #progress max="1" value="0" aria-labelledby="status" {}
                }
                p #status role="status" { "Loading…" }
                p #advice hidden {}
            }
            noscript { p.verdict { "This page needs JavaScript and WebGPU." } }
            dl #machine {}
            section #results hidden {
                p #verdict.verdict {}
                ul #answers.answers {}
                h2 { "Every way of skinning" }
                div #tables {}
                div #charts {}
                section #download hidden {
                    h2 { "Send it" }
                    p { "The results have every sample, and what this browser tells of the device. "
                        code { "skinbench report FILE" } " reads them as a file, or as a text in a mail or in the comment \
                         of an issue." }
                    div.buttons {
                        button #share type="button" hidden { "Share" }
                        button #copy type="button" { "Copy as text" }
                    }
                    p #sent role="status" {}
                    ul #files {}
                    details { summary { "The results as text" } pre #text tabindex="0" {} }
                    details { summary { "summary.csv" } pre #csv tabindex="0" {} }
                }
            }
            section {
                h2 { "What is checked and how it is timed" }
                div #method {}
                details #shaders {
                    summary { (library.texts.len()) " shaders, exactly as the native program assembles them" }
                    @for (index, text) in library.texts.iter().enumerate() {
                        details { summary { "Shader " (index + 1) } pre.wgsl tabindex="0" { (text) } }
                    }
                }
            }
        }
        script #recording type="text/plain" { (packed) }
        script { (PreEscaped(scripts)) }
    };
    let styles = [chart::STYLE, REPORT_STYLE, STYLE];
    Ok(head::page(
        &title,
        Some(DESCRIPTION),
        &styles,
        Some("loading"),
        body,
    ))
}
