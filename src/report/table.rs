//! The terminal table of a scene, and the verdict under it.

use crate::backend::{Clock, Keep, Stage};
use crate::harness::environment::{Adapter, Environment};
use crate::harness::fidelity;
use crate::harness::limits::Host;
use crate::harness::parity::Parity;
use crate::harness::run::{Outcome, Status};
use crate::harness::stats::Summary;
use crate::results::files::options;
use crate::scene::BuiltScene;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets::UTF8_BORDERS_ONLY};

/// Stages that make a palette from a crowd.
const POSE: [Stage; 5] = [Stage::Cull, Stage::Sample, Stage::Blend, Stage::LocalToModel, Stage::Palette];

/// Stages that make vertices; the latter poses, too.
const SKIN: [Stage; 2] = [Stage::Skin, Stage::PoseSkin];

/// An empty table with these columns: the first left-aligned, the others right-aligned.
pub fn new_table(columns: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(UTF8_BORDERS_ONLY)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(columns.iter());
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// What was measured on a scene: a heading, a row for each backend, why some are missing, and which is fastest.
pub fn measured(environment: &Environment, scene: &BuiltScene, outcomes: &[Outcome]) -> String {
    let mut table = new_table(&["backend", "frame", "pose", "upload", "skin", "draw", "ns/vertex", "parity", "status"]);
    for outcome in outcomes {
        let cell = |ns: Option<u64>| ns.map_or("-".into(), duration);
        let limited = |ns: Option<u64>, stages: &[Stage]| match percent_of_limit(outcome, stages) {
            Some(percent) => format!("{} ({percent:.0} %)", cell(ns)),
            None => cell(ns),
        };
        let per_vertex = work(outcome)
            .filter(|_| outcome.visible().is_none())
            .map(|ns| ns as f64 / scene.crowd.vertex_count() as f64);
        table.add_row([
            name(outcome),
            frame(outcome),
            limited(pose(outcome), &POSE),
            cell(outcome.median(Stage::Upload)),
            if skins_in_draw(outcome) { "in draw".into() } else { limited(skin(outcome), &SKIN) },
            cell(outcome.median(Stage::Draw)),
            per_vertex.map_or("-".into(), |ns| format!("{ns:.2}")),
            outcome.parity.as_ref().map_or("-".into(), |p| format!("{:.1e}", p.max_rel)),
            status(outcome),
        ]);
    }
    let mut text = format!("{}\n{table}\n{}", heading(environment, scene, outcomes), problems(outcomes));
    for outcome in outcomes.iter().filter(|o| o.status == Status::Ok && !o.device.is_empty()) {
        let visible = outcome.visible().map_or(String::new(), |visible| format!(", {}", in_view(scene, visible)));
        text += &format!("{}: {}{visible}\n", name(outcome), outcome.device);
    }
    if let Some(error) = fidelity::clip_error(scene) {
        let options = options(scene, Keep::Frame).unwrap_or_default();
        text += &format!("{options}: joints end up to {error:.1e} of the skeleton's size from the plain crowd's\n");
    }
    if outcomes.iter().flat_map(|o| &o.stages).any(|s| s.floor.is_some()) {
        text += "(%): of the bandwidth that this machine showed just before on as many bytes\n";
    }
    if outcomes.iter().any(is_noisy) {
        text += "noisy: frames stray by more than 5 % of the median; close other programs and run again\n";
    }
    if let Some(verdict) = verdict(environment.adapter.as_ref(), outcomes) {
        text += &format!("{verdict}\n");
    }
    text
}

/// What the processor could do just before a scene, a line for each number of threads.
pub fn limits(hosts: &[Host]) -> String {
    let line = |host: &Host| {
        let Host { threads, bandwidth, fma, .. } = *host;
        let [write, stream, read, fma] =
            [bandwidth.write, bandwidth.stream, bandwidth.read, fma].map(|rate| format!("{:.1}", rate / 1e9));
        let threads = format!("{threads} {}", if threads == 1 { "thread" } else { "threads" });
        format!(
            "limits, {threads}: {write} GB/s written, {stream} streamed, {read} read ({} MiB); {fma} G multiply-adds/s\n",
            Host::BYTES >> 20
        )
    };
    hosts.iter().map(line).collect()
}

/// What was verified on a scene: a heading, a row for each backend, and why some did not pass.
pub fn verified(scene: &BuiltScene, outcomes: &[Outcome]) -> String {
    let mut table = new_table(&["backend", "position", "normal", "vertices", "status"]);
    for outcome in outcomes {
        let cell = |figure: fn(&Parity) -> String| outcome.parity.as_ref().map_or("-".into(), figure);
        table.add_row([
            name(outcome),
            cell(|p| format!("{:.1e}", p.max_rel)),
            cell(|p| format!("{:.1e} rad", p.max_normal)),
            cell(|p| grouped(p.vertices)),
            outcome.status.name().into(),
        ]);
    }
    let instances = grouped(scene.crowd.instance_count() as u64);
    let mut text = format!("{}: {instances} instances\n{table}\n{}", scene.name, problems(outcomes));
    for (outcome, visible) in outcomes.iter().filter_map(|outcome| Some((outcome, outcome.visible()?))) {
        text += &format!("{}: {}\n", name(outcome), in_view(scene, visible));
    }
    text
}

fn in_view(scene: &BuiltScene, visible: u64) -> String {
    format!("{} of {} instances in view", grouped(visible), grouped(scene.crowd.instance_count() as u64))
}

fn problems(outcomes: &[Outcome]) -> String {
    let line = |o: &Outcome| Some(format!("{}: {}: {}\n", name(o), o.status.name(), o.problem.as_ref()?));
    outcomes.iter().filter_map(line).collect()
}

fn heading(environment: &Environment, scene: &BuiltScene, outcomes: &[Outcome]) -> String {
    let crowd = &scene.crowd;
    let passes = match outcomes.iter().map(|o| o.passes).max().unwrap_or(0) {
        0 => "nothing drawn".to_owned(),
        passes => {
            let [width, height] = scene.resolution;
            format!("{passes} {} of {width}x{height}", if passes == 1 { "pass" } else { "passes" })
        }
    };
    let adapter = environment.adapter.as_ref().map_or("no adapter".into(), Adapter::label);
    format!(
        "{}: {} instances, {} vertices, {} joints, {passes}\n{}, {} threads; {adapter}",
        scene.name,
        grouped(crowd.instance_count() as u64),
        grouped(crowd.vertex_count()),
        grouped(crowd.joint_count()),
        environment.cpu,
        environment.threads,
    )
}

/// Which backend is fastest, in words; none if there is no time.
///
/// Frames decide, except on a software adapter: drawing swamps them there, so pose, upload and skin do, for those
/// backends whose skinning can be told from drawing.
fn verdict(adapter: Option<&Adapter>, outcomes: &[Outcome]) -> Option<String> {
    let emulated = adapter.is_some_and(|a| a.software) && outcomes.iter().any(|o| o.passes > 0);
    let time = |outcome: &Outcome| if emulated { work(outcome) } else { outcome.median(Stage::Frame) };
    // Who leaves instances out does less.
    let whole = outcomes.iter().filter(|o| o.visible().is_none());
    let mut ranked: Vec<_> = whole.filter_map(|o| Some((time(o)?, o))).collect();
    ranked.sort_by_key(|(ns, _)| *ns);
    let (best, first) = ranked.first()?;
    let mut text = format!("fastest: {}, {}", name(first), duration(*best));
    text += if emulated { " for pose, upload and skin" } else { " a frame" };
    if let Some((next, second)) = ranked.get(1) {
        let within_noise = !emulated && next - best <= frame_mad(first) + frame_mad(second);
        text += &match within_noise {
            true => format!("; {} is as fast within the noise", name(second)),
            false => format!("; {:.2} times as fast as {}", *next as f64 / (*best).max(1) as f64, name(second)),
        };
    }
    if emulated {
        text += "\nthe adapter is CPU-emulated: drawing swamps the frames there, so the verdict leaves it out";
        let hidden: Vec<_> = outcomes.iter().filter(|o| skins_in_draw(o)).map(name).collect();
        if !hidden.is_empty() {
            text += &format!(", and {}, which skins in the draw", hidden.join(", "));
        }
    }
    Some(text)
}

fn name(outcome: &Outcome) -> String {
    match outcome.variant {
        "" => outcome.backend.into(),
        variant => format!("{}:{variant}", outcome.backend),
    }
}

fn status(outcome: &Outcome) -> String {
    let noisy = if is_noisy(outcome) { ", noisy" } else { "" };
    format!("{}{noisy}", outcome.status.name())
}

fn frame_summary(outcome: &Outcome) -> Option<Summary> {
    outcome.stages.iter().find(|s| (s.stage, s.clock) == (Stage::Frame, Clock::Wall))?.summary()
}

fn frame_mad(outcome: &Outcome) -> u64 {
    frame_summary(outcome).map_or(0, |s| s.mad)
}

fn is_noisy(outcome: &Outcome) -> bool {
    frame_summary(outcome).is_some_and(|s| s.is_noisy())
}

fn frame(outcome: &Outcome) -> String {
    frame_summary(outcome).map_or("-".into(), |s| format!("{} ± {}", duration(s.median), duration(s.mad)))
}

fn pose(outcome: &Outcome) -> Option<u64> {
    POSE.into_iter().filter_map(|stage| outcome.median(stage)).reduce(|a, b| a + b)
}

fn skin(outcome: &Outcome) -> Option<u64> {
    SKIN.into_iter().find_map(|stage| outcome.median(stage))
}

/// How near some stages together come to what the machine's memory allows; a stage without a floor moves nothing.
fn percent_of_limit(outcome: &Outcome, stages: &[Stage]) -> Option<f64> {
    let timed = outcome.stages.iter().filter(|s| stages.contains(&s.stage));
    let (mut floor, mut time) = (None, 0.0);
    for stage in timed {
        if let Some(own) = stage.floor {
            floor = Some(floor.unwrap_or(0.0) + own.ns());
        }
        time += stage.summary()?.median as f64;
    }
    floor.filter(|_| time > 0.0).map(|floor| 100.0 * floor / time)
}

/// Pose, upload and skin together, where skinning was timed apart from drawing.
fn work(outcome: &Outcome) -> Option<u64> {
    Some(pose(outcome).unwrap_or(0) + outcome.median(Stage::Upload).unwrap_or(0) + skin(outcome)?)
}

fn skins_in_draw(outcome: &Outcome) -> bool {
    outcome.status == Status::Ok && !outcome.stages.is_empty() && skin(outcome).is_none()
}

/// Nanoseconds with three digits and a unit.
pub(super) fn duration(ns: u64) -> String {
    let ns = ns as f64;
    let (value, unit) = match ns {
        ..1e3 => return format!("{ns} ns"),
        ..1e6 => (ns / 1e3, "µs"),
        ..1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

/// A number with a comma after every third digit from the end.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::run::StageTimes;

    fn outcome(backend: &'static str, stages: &[(Stage, u64)]) -> Outcome {
        let times =
            |&(stage, ns)| StageTimes { stage, clock: Clock::Wall, samples: vec![(0, ns); 3], dropped: 0, floor: None };
        Outcome {
            backend,
            variant: "",
            passes: 1,
            keep: crate::backend::Keep::Frame,
            status: Status::Ok,
            problem: None,
            parity: None,
            device: String::new(),
            stages: stages.iter().map(times).collect(),
        }
    }

    fn adapter(software: bool) -> Adapter {
        Adapter { name: "adapter".into(), driver: String::new(), software }
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!(duration(999), "999 ns");
        assert_eq!(duration(1_234), "1.23 µs");
        assert_eq!(duration(12_340_000), "12.3 ms");
        assert_eq!(duration(123_400_000), "123 ms");
        assert_eq!(duration(2_000_000_000), "2.00 s");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(12), "12");
    }

    #[test]
    fn who_leaves_instances_out_does_not_compete() {
        let mut culled = outcome("culled", &[(Stage::Skin, 10), (Stage::Frame, 10)]);
        let tolerance = crate::harness::parity::Tolerance::default();
        let visible = Some(3);
        let parity = Parity {
            max_rel: 0.0,
            max_normal: 0.0,
            tolerance,
            approximation: None,
            vertices: 9,
            visible,
            failure: None,
        };
        culled.parity = Some(parity);
        let outcomes = [culled, outcome("whole", &[(Stage::Skin, 6_000), (Stage::Frame, 6_000)])];
        assert_eq!(verdict(None, &outcomes).unwrap(), "fastest: whole, 6.00 µs a frame");
    }

    #[test]
    fn the_frame_is_the_wall_clocks() {
        let mut outcome = outcome("b", &[(Stage::Frame, 1), (Stage::Frame, 7_000)]);
        outcome.stages[0].clock = Clock::ThreadSum;
        assert_eq!(frame(&outcome), "7.00 µs ± 0 ns");
    }

    #[test]
    fn frames_decide_unless_drawing_is_emulated() {
        let outcomes = [
            outcome("drawn-fast", &[(Stage::Palette, 10), (Stage::Skin, 5_000), (Stage::Frame, 6_000)]),
            outcome("skinned-fast", &[(Stage::Palette, 10), (Stage::Skin, 2_500), (Stage::Frame, 9_000)]),
            outcome("in-draw", &[(Stage::Palette, 10), (Stage::Frame, 7_000)]),
        ];
        let hardware = verdict(Some(&adapter(false)), &outcomes).unwrap();
        assert_eq!(hardware, "fastest: drawn-fast, 6.00 µs a frame; 1.17 times as fast as in-draw");
        let software = verdict(Some(&adapter(true)), &outcomes).unwrap();
        let expected = "fastest: skinned-fast, 2.51 µs for pose, upload and skin; 2.00 times as fast as drawn-fast";
        assert_eq!(software.lines().next(), Some(expected));
        assert!(software.contains("CPU-emulated") && software.contains("in-draw"), "{software}");
        assert_eq!(verdict(None, &[outcome("failed", &[])]), None);
    }
}
