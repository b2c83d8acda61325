//! The first screen of a run, at the widths of terminals.

use skinbench::backend::Context;
use skinbench::frame::{AdapterSummary, Clock, Stage};
use skinbench::harness::environment::{Build, Environment};
use skinbench::harness::run::{Outcome, StageTimes, Status};
use skinbench::harness::{MachineLimits, parity};
use skinbench::registry::REGISTRY;
use skinbench::report::{Screen, card, run_table, run_text};
use skinbench::results::{MeasuredScene, Recorded, Study};
use skinbench::scene::{Scene, Settings};
use snapbox::{assert_data_eq, str};
use std::path::Path;

const MICROSECOND: u64 = 1_000;

/// A backend's frames of these microseconds by turns, and its stages; what is drawn is timed by the device.
fn outcome(backend: &'static str, frames: &[u64], pose: u64, skin: u64, draw: u64) -> Outcome {
    let times = |stage, clock, turns: &[u64]| StageTimes {
        stage,
        clock,
        samples: (0..)
            .zip(turns.iter().cycle().take(120).map(|us| us * MICROSECOND))
            .collect(),
        ..StageTimes::default()
    };
    let mut stages = vec![times(Stage::Pose, Clock::Wall, &[pose])];
    if skin > 0 {
        stages.push(times(Stage::Skin, Clock::Wall, &[skin]));
    }
    stages.push(times(Stage::Upload, Clock::Wall, &[80]));
    stages.push(times(Stage::Draw, Clock::Gpu, &[draw]));
    stages.push(times(Stage::Frame, Clock::Wall, frames));
    Outcome {
        stages,
        device: "avx2, 1 thread".into(),
        parity: Some(parity::Parity {
            max_rel: Some(3.6e-7),
            max_normal: Some(1e-6),
            tolerance: parity::Tolerance::default(),
            approximation: None,
            vertices: 12,
            visible: None,
            failure: None,
        }),
        ..Outcome::new(backend, 1, Status::Ok)
    }
}

/// What a run prints at a width: table, remarks and verdict; with the card if it is asked for.
fn printed(outcomes: &[Outcome], screen: Screen, with_card: bool) -> String {
    let adapter = AdapterSummary {
        index: 0,
        name: "adapter".into(),
        software: false,
        api: String::new(),
        driver: String::new(),
        pci_address: String::new(),
    };
    let environment = Environment {
        cpu: "processor".into(),
        threads: 8,
        adapter: Some(adapter),
        ..Environment::collect(Build::default(), &Context::default())
    };
    let few = Settings {
        instances: Some(3),
        ..Settings::default()
    };
    let scene = Scene::load("smoke").unwrap().with(few);
    let scene = scene.build(1 << 30).unwrap();
    let measured = MeasuredScene {
        environment: &environment,
        scene: &scene,
        clip_error: None,
    };
    let limits = MachineLimits {
        hosts: Vec::new(),
        device: None,
    };
    let study = run_table::study_of(&measured, outcomes);
    let mut text = run_table::measured(&measured, &study, &limits, outcomes, screen);
    if with_card {
        text += &card::text(&study, screen);
    }
    screen.wrapped(&(text + &run_text::of_run(&study, with_card)))
}

fn few() -> Vec<Outcome> {
    // As fast as the other for a while, and then slower: the next run may well begin there.
    let wandering = [[1_500; 50], [9_110; 50]].concat();
    vec![
        outcome("cpu-simd:lanes", &wandering[..90], 50, 1_450, 900),
        outcome(
            "cpu-simd:lanes-interleaved",
            &[3_700, 3_710],
            50,
            2_640,
            900,
        ),
        outcome("gpu-vertex", &[9_900, 9_950], 60, 0, 9_600),
    ]
}

#[test]
fn at_80_characters_the_most_important_columns_are_left() {
    assert_data_eq!(
        printed(&few(), Screen::Narrow(80), false),
        str![[r#"
smoke: 3 instances, 3,494 vertices, 201 joints, 1 pass of 160x90
processor, 8 threads; adapter

backend                             frame     pose   upload     skin  status
────────────────────────────────────────────────────────────────────────────
cpu-simd:lanes              1.50 ms ± 0 %  50.0 µs  80.0 µs  1.45 ms  ok
cpu-simd:lanes-interleaved  3.71 ms ± 0 %  50.0 µs  80.0 µs  2.64 ms  ok
gpu-vertex                  9.93 ms ± 0 %  60.0 µs  80.0 µs  in draw  ok

cpu-simd:lanes, cpu-simd:lanes-interleaved, gpu-vertex: avx2, 1 thread
upload: the processor makes upload memory ready, the device copies it
--wide also shows draw, ns/vertex, p99, worst, other, parity
warning: times drift by more than 5 % during the run: cpu-simd:lanes; let the
  machine cool, then run again

3 instances of scene smoke, 1 pass, 8 threads:
cpu-simd:lanes has the smallest median, 1.50 ms a frame. The times vary too much
  to tell more.
Not ranked, as their output cannot be drawn: cpu-simd:lanes-interleaved.

"#]]
    );
}

#[test]
fn at_40_characters_values_stand_below_the_name_of_their_row() {
    assert_data_eq!(
        printed(&few(), Screen::Narrow(40), false),
        str![[r#"
smoke: 3 instances, 3,494 vertices, 201
  joints, 1 pass of 160x90
processor, 8 threads; adapter

cpu-simd:lanes
  frame   1.50 ms ± 0 %
  pose    50.0 µs
  skin    1.45 ms
  status  ok
cpu-simd:lanes-interleaved
  frame   3.71 ms ± 0 %
  pose    50.0 µs
  skin    2.64 ms
  status  ok
gpu-vertex
  frame   9.93 ms ± 0 %
  pose    60.0 µs
  skin    in draw
  status  ok
...
"#]]
    );
}

#[test]
fn at_120_characters_more_columns_fit() {
    assert_data_eq!(
        printed(&few(), Screen::Narrow(120), false),
        str![[r#"
smoke: 3 instances, 3,494 vertices, 201 joints, 1 pass of 160x90
processor, 8 threads; adapter

backend                             frame      p99    worst     pose   upload     skin    other  parity  status
───────────────────────────────────────────────────────────────────────────────────────────────────────────────
cpu-simd:lanes              1.50 ms ± 0 %  9.11 ms  9.11 ms  50.0 µs  80.0 µs  1.45 ms        -  3.6e-7  ok
cpu-simd:lanes-interleaved  3.71 ms ± 0 %  3.71 ms  3.71 ms  50.0 µs  80.0 µs  2.64 ms  40.0 µs  3.6e-7  ok
gpu-vertex                  9.93 ms ± 0 %  9.95 ms  9.95 ms  60.0 µs  80.0 µs  in draw   210 µs  3.6e-7  ok

cpu-simd:lanes, cpu-simd:lanes-interleaved, gpu-vertex: avx2, 1 thread
upload: the processor makes upload memory ready, the device copies it
other: the frame less its stages (submitting, gaps, waiting for the device)
--wide also shows draw, ns/vertex
warning: times drift by more than 5 % during the run: cpu-simd:lanes; let the machine cool, then run again

3 instances of scene smoke, 1 pass, 8 threads:
cpu-simd:lanes has the smallest median, 1.50 ms a frame. The times vary too much to tell more.
Not ranked, as their output cannot be drawn: cpu-simd:lanes-interleaved.

"#]]
    );
}

#[test]
fn the_card_is_cut_into_tables_that_fit() {
    assert_data_eq!(
        printed(&few(), Screen::Narrow(80), true),
        str![[r#"
smoke: 3 instances, 3,494 vertices, 201 joints, 1 pass of 160x90
processor, 8 threads; adapter

backend                             frame     pose   upload     skin  status
────────────────────────────────────────────────────────────────────────────
cpu-simd:lanes              1.50 ms ± 0 %  50.0 µs  80.0 µs  1.45 ms  ok
cpu-simd:lanes-interleaved  3.71 ms ± 0 %  50.0 µs  80.0 µs  2.64 ms  ok
gpu-vertex                  9.93 ms ± 0 %  60.0 µs  80.0 µs  in draw  ok

cpu-simd:lanes, cpu-simd:lanes-interleaved, gpu-vertex: avx2, 1 thread
upload: the processor makes upload memory ready, the device copies it
--wide also shows draw, ns/vertex, p99, worst, other, parity
warning: times drift by more than 5 % during the run: cpu-simd:lanes; let the
  machine cool, then run again

card: 3 instances of scene smoke, 1 pass

backend                       frame      p99    worst
─────────────────────────────────────────────────────
cpu-simd:lanes              1.50 ms  9.11 ms  9.11 ms
cpu-simd:lanes-interleaved  3.71 ms  3.71 ms  3.71 ms
gpu-vertex                  9.93 ms  9.95 ms  9.95 ms

backend                      device  upload, processor    other
───────────────────────────────────────────────────────────────
cpu-simd:lanes               900 µs            80.0 µs        -
cpu-simd:lanes-interleaved   900 µs            80.0 µs  40.0 µs
gpu-vertex                  9.60 ms            80.0 µs   210 µs

backend                     host  device  uploaded  draws  largest error
────────────────────────────────────────────────────────────────────────
cpu-simd:lanes              -     -       -         -             3.6e-7
cpu-simd:lanes-interleaved  -     -       -         -             3.6e-7
gpu-vertex                  -     -       -         -             3.6e-7

backend                     layers, fades  joints      later passes
───────────────────────────────────────────────────────────────────
cpu-simd:lanes              yes            same frame  free
cpu-simd:lanes-interleaved  yes            same frame  not drawn
gpu-vertex                  yes            same frame  skin again

3 instances of scene smoke, 1 pass, 8 threads:
cpu-simd:lanes has the smallest median, 1.50 ms a frame. The times vary too much
  to tell more.
Not ranked, as their output cannot be drawn: cpu-simd:lanes-interleaved.
The same holds among the backends with the smallest error (vertices within
  1e-5).
The same command with `--instances 10,100,1000` instead of `--card` finds where
  the answers change.

"#]]
    );
}

/// Lines of tables: those of a heading's rule, the heading above it, and the rows below it.
fn widths_of_tables(text: &str) -> Vec<usize> {
    let mut widths = Vec::new();
    let blocks = text.split("\n\n");
    for block in blocks.filter(|block| block.contains("──")) {
        widths.extend(block.lines().map(|line| line.chars().count()));
    }
    assert!(!widths.is_empty(), "{text}");
    widths
}

#[test]
fn no_row_wraps_with_every_backend_and_long_times() {
    let long = |entry: &skinbench::registry::BackendEntry| {
        outcome(entry.name, &[123_000, 899_000], 10_500, 88_800, 90_500)
    };
    let outcomes: Vec<Outcome> = REGISTRY.iter().map(long).collect();
    for width in [80, 100, 120] {
        let text = printed(&outcomes, Screen::Narrow(width), true);
        let widest = widths_of_tables(&text).into_iter().max();
        assert!(widest <= Some(width), "{widest:?} of {width}: {text}");
        let first = text.lines().find(|line| line.starts_with("backend"));
        for kept in ["frame", "pose", "skin", "status"] {
            assert!(first.unwrap().contains(kept), "{kept}: {text}");
        }
    }
    let wide = printed(&outcomes, Screen::Wide, false);
    assert!(
        wide.contains("ns/vertex") && !wide.contains("--wide"),
        "{wide}"
    );
}

#[test]
fn tables_of_many_points_fit() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let mut folders = vec![super::fixture()];
    for entry in std::fs::read_dir(results).unwrap() {
        folders.push(entry.unwrap().path());
    }
    for folder in folders {
        let Ok(recorded) = Recorded::read(&[&folder]) else {
            continue;
        };
        let text = run_text::of_points(&Study::new(recorded), Screen::Narrow(80));
        if text.contains("──") {
            let widest = widths_of_tables(&text).into_iter().max();
            assert!(widest <= Some(80), "{}: {text}", folder.display());
        }
        if folder == super::fixture() {
            let row = text.lines().find(|line| line.starts_with("cpu-scalar "));
            let times = row.unwrap().matches("s ").count() + 1;
            assert_eq!(times, 3, "three crowds: {text}");
            assert!(
                text.contains("\nscene    instances  passes  fastest "),
                "{text}"
            );
        }
    }
}
