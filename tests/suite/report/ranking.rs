//! The fastest backend, as `run` says it and as `report` does.

use crate::backends::common::build_scene;
use skinbench::backend::Context;
use skinbench::frame::{AdapterSummary, Clock, Stage};
use skinbench::harness::environment::{Build, Environment};
use skinbench::harness::parity::{Parity, Tolerance};
use skinbench::harness::run::{Outcome, StageTimes, Status};
use skinbench::report::{html, markdown, run_table, run_text};
use skinbench::results::{MeasuredScene, Recorded, Results, Session, Study};
use skinbench::scene::Settings;

type Times = Vec<u64>;

/// A part of the sentence that stands below the times of an emulated adapter.
const NO_HARDWARE: &str = "say nothing about graphics hardware.";

fn outcome(backend: &'static str, passes: u32, stages: &[(Stage, Times)]) -> Outcome {
    let times = |(stage, times): &(Stage, Times)| StageTimes {
        stage: *stage,
        clock: Clock::Wall,
        samples: (0..).zip(times.iter().copied()).collect(),
        ..StageTimes::default()
    };
    Outcome {
        stages: stages.iter().map(times).collect(),
        ..Outcome::new(backend, passes, Status::Ok)
    }
}

/// Returns the verdict that `run` prints, after comparing it with the one that `report` draws from the files.
fn verdict(software: bool, outcomes: &[Outcome]) -> String {
    let name = "adapter".to_owned();
    let (api, driver, pci_address) = (String::new(), String::new(), String::new());
    let adapter = Some(AdapterSummary {
        index: 0,
        name,
        software,
        api,
        driver,
        pci_address,
    });
    let environment = Environment {
        adapter,
        ..Environment::collect(Build::default(), &Context::default())
    };
    let few = Settings {
        instances: Some(3),
        ..Settings::default()
    };
    let scene = build_scene("smoke", few);
    let measured = MeasuredScene {
        environment: &environment,
        scene: &scene,
        clip_error: None,
    };
    let folder = tempfile::tempdir().unwrap();
    let mut results = Results::append(folder.path(), Session::default()).unwrap();
    for outcome in outcomes {
        results.write(&measured.rows(outcome)).unwrap();
    }
    let study = Study::new(Recorded::read(&[folder.path()]).unwrap());
    let report = markdown::report(&study);
    let printed = run_text::of_run(&run_table::study_of(&measured, outcomes), false);
    // An empty line, the place, then a line for each sentence.
    let facts: Vec<&str> = printed.lines().skip(2).collect();
    let mut of_run = facts.join(" ");
    let page = html::page(std::slice::from_ref(&study));
    let [in_report, in_page] = [&report, &page].map(|text| text.matches(NO_HARDWARE).count());
    if let Some((before, _)) = of_run.split_once(" adapter (CPU-emulated) runs") {
        assert_eq!((in_report, in_page), (1, 1), "{report}");
        let in_box = page.split("</ul>").next().unwrap();
        assert!(in_box.contains(NO_HARDWARE), "{in_box}");
        of_run.truncate(before.len());
    } else {
        assert_eq!((in_report, in_page), (0, 0), "{report}");
    }
    assert!(
        report
            .lines()
            .any(|line| line.ends_with(&format!("drawn: {of_run}"))
                || line.ends_with(&format!("1 pass: {of_run}"))),
        "run: {of_run:?}, report: {report}"
    );
    facts.join("\n")
}

/// Forty frames of some nanoseconds.
fn steady(ns: u64) -> Times {
    vec![ns; 40]
}

/// The frame and the stage that it is nearly all of.
fn frame(backend: &'static str, times: Times) -> Outcome {
    outcome(
        backend,
        0,
        &[(Stage::Skin, times.clone()), (Stage::Frame, times)],
    )
}

#[test]
fn run_and_report_name_the_same_winner_and_the_same_tie() {
    // A fifth of the frames took 10 % longer: deviations of 0, but the next run may well begin there.
    let wandering: Times = (0..40)
        .map(|frame| if frame < 8 { 1_100_000 } else { 1_000_000 })
        .collect();
    let tie = verdict(
        false,
        &[
            frame("cpu-simd", steady(1_020_000)),
            frame("cpu-scalar", wandering),
        ],
    );
    assert_eq!(
        tie,
        "cpu-scalar has the smallest median, 1.00 ms a frame. This run cannot tell it from cpu-simd (1.02 ms), which takes \
         between 0.87 and 1.19 times as long."
    );
    // Frames take 0, 3 or 6 % longer by turns: deviations larger than the difference, but everywhere the same.
    let alternating = |ns: u64| -> Times {
        (0..200)
            .map(|frame| ns + ns * 3 / 100 * (frame % 3))
            .collect()
    };
    let winner = [
        frame("cpu-simd", alternating(1_000_000)),
        frame("cpu-scalar", alternating(1_050_000)),
    ];
    let winner = verdict(false, &winner);
    assert_eq!(
        winner,
        "cpu-simd is fastest, 1.03 ms a frame, 1.05 times as fast as cpu-scalar."
    );
    // Too few frames for an interval.
    let few = verdict(
        false,
        &[
            frame("cpu-simd", vec![1_000_000; 3]),
            frame("cpu-scalar", vec![2_000_000; 3]),
        ],
    );
    assert!(
        few.contains("cpu-scalar has 2.00 ms (2.00 times), with too few samples to be sure."),
        "{few}"
    );
}

/// An interval that begins above 1, but is printed as if it began at 1.00, is no lead.
#[test]
fn a_lead_shows_in_its_digits() {
    let against = |ns: u64| {
        let slower = frame("cpu-scalar", steady(ns));
        verdict(false, &[frame("cpu-simd", steady(1_000_000)), slower])
    };
    let tie = against(1_019_500);
    assert!(
        tie.ends_with("takes between 1.00 and 1.04 times as long."),
        "{tie}"
    );
    assert_eq!(
        against(1_024_000),
        "cpu-simd is fastest, 1.00 ms a frame, 1.02 times as fast as cpu-scalar."
    );
}

#[test]
fn frames_decide_unless_drawing_is_emulated() {
    let drawn = |backend, skin, frame| {
        let stages = [
            (Stage::Palette, steady(10)),
            (Stage::Skin, steady(skin)),
            (Stage::Frame, steady(frame)),
        ];
        outcome(backend, 1, &stages)
    };
    let in_draw = outcome(
        "in-draw",
        1,
        &[(Stage::Palette, steady(10)), (Stage::Frame, steady(7_000))],
    );
    // A browser's page has no posing on the CPU, and so no whole frame of such a backend.
    let posed_before = outcome(
        "posed-before",
        1,
        &[(Stage::Upload, steady(1)), (Stage::Skin, steady(1))],
    );
    let outcomes = [
        drawn("drawn-fast", 5_000, 6_000),
        drawn("skinned-fast", 2_500, 9_000),
        in_draw,
        posed_before,
    ];
    let hardware = verdict(false, &outcomes);
    assert_eq!(
        hardware,
        "drawn-fast is fastest, 6.00 µs a frame, 1.17 times as fast as in-draw."
    );
    let software = verdict(true, &outcomes);
    let expected = "skinned-fast is fastest, 2.51 µs for pose, upload and skin, 2.00 times as fast as drawn-fast.";
    assert!(software.starts_with(expected), "{software}");
    assert!(
        software.contains("A CPU emulates the adapter") && software.contains("in-draw.\n"),
        "{software}"
    );
    assert_eq!(software.matches(NO_HARDWARE).count(), 1, "{software}");
}

/// Where nothing is drawn, an emulated adapter takes part if a backend's work is on the device.
#[test]
fn times_of_an_emulated_adapter_say_nothing_about_hardware() {
    let on_cpu = || frame("cpu-simd", steady(6_000_000));
    let mut on_device = frame("gpu-full", steady(1_000_000));
    on_device.stages[0].clock = Clock::Gpu;
    let both = verdict(true, &[on_cpu(), on_device.clone()]);
    assert_eq!(
        both,
        "gpu-full is fastest, 1.00 ms a frame, 6.00 times as fast as cpu-simd.\nadapter (CPU-emulated) runs GPU kernels on the \
         CPU: its times compare them with each other and say nothing about graphics hardware."
    );
    for (software, outcomes) in [(true, vec![on_cpu()]), (false, vec![on_cpu(), on_device])] {
        let said = verdict(software, &outcomes);
        assert!(!said.contains("hardware"), "{said}");
    }
}

#[test]
fn backends_whose_output_cannot_be_drawn_do_not_compete() {
    let outcomes = [
        frame("cpu-simd:lanes-interleaved", steady(1_000)),
        frame("cpu-simd:lanes", steady(6_000_000)),
        frame("cpu-scalar", steady(600_000_000)),
    ];
    assert_eq!(
        verdict(false, &outcomes),
        "cpu-simd:lanes is fastest, 6.00 ms a frame, 100 times as fast as cpu-scalar.\nNot ranked, as their output cannot be \
         drawn: cpu-simd:lanes-interleaved."
    );
}

#[test]
fn backends_that_leave_instances_out_do_not_compete() {
    let mut culled = frame("culled", steady(10_000));
    culled.parity = Some(Parity {
        max_rel: Some(0.0),
        max_normal: Some(0.0),
        tolerance: Tolerance::default(),
        approximation: None,
        vertices: 9,
        visible: Some(3),
        failure: None,
    });
    let outcomes = [culled, frame("whole", steady(6_000_000))];
    assert_eq!(
        verdict(false, &outcomes),
        "whole takes 6.00 ms a frame; there is no other to compare it with."
    );
}

#[test]
fn the_frame_is_the_wall_clocks() {
    let mut outcome = outcome(
        "cpu-scalar",
        0,
        &[(Stage::Frame, steady(1_000)), (Stage::Frame, steady(7_000))],
    );
    outcome.stages[0].clock = Clock::ThreadSum;
    assert_eq!(
        verdict(false, &[outcome]),
        "cpu-scalar takes 7.00 µs a frame; there is no other to compare it with."
    );
}
