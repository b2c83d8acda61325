//! What a frame spends: the parts of stages on both sides, what no stage has, and whose noise it is.

use skinbench::backend::Context;
use skinbench::frame::{AdapterSummary, Clock, Side, Stage, StageGroup};
use skinbench::harness::MachineLimits;
use skinbench::harness::environment::{Build, Environment};
use skinbench::harness::run::{Outcome, StageTimes, Status};
use skinbench::report::chart::charts;
use skinbench::report::{Screen, card, run_table};
use skinbench::results::{MeasuredScene, Quantity, Recorded, Study};
use skinbench::scene::{Scene, Settings};
use std::path::Path;

const MICROSECOND: u64 = 1_000;

/// The times of a stage in every frame.
type Timed = (Stage, Clock, Vec<u64>);

fn outcome(stages: &[Timed]) -> Outcome {
    let times = |(stage, clock, times): &Timed| StageTimes {
        stage: *stage,
        clock: *clock,
        samples: (0..).zip(times.iter().copied()).collect(),
        ..StageTimes::default()
    };
    Outcome {
        stages: stages.iter().map(times).collect(),
        ..Outcome::new("gpu-compute", 0, Status::Ok)
    }
}

/// Two hundred frames that take turns in these microseconds.
fn turns(microseconds: &[u64]) -> Vec<u64> {
    let repeated = microseconds.iter().cycle().take(200);
    repeated.map(|time| time * MICROSECOND).collect()
}

/// A frame of 1,000 walkers on an H100: palettes are written on the host and copied on the device.
fn frame_of_an_h100() -> Vec<Timed> {
    vec![
        (Stage::Palette, Clock::Wall, turns(&[848])),
        (Stage::Upload, Clock::Wall, turns(&[3_000])),
        (Stage::Upload, Clock::Gpu, turns(&[85])),
        (Stage::Skin, Clock::Gpu, turns(&[472])),
        (Stage::Frame, Clock::ThreadSum, turns(&[15_257])),
        (Stage::Throughput, Clock::Wall, turns(&[3_769])),
        (Stage::Frame, Clock::Wall, turns(&[4_858])),
    ]
}

/// The study of a backend on hardware, and the text that a run prints.
fn on_hardware(stages: &[Timed]) -> (Study, String) {
    let adapter = Some(AdapterSummary {
        index: 0,
        name: "adapter".into(),
        software: false,
        api: String::new(),
        driver: String::new(),
        pci_address: String::new(),
    });
    let environment = Environment {
        adapter,
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
    let outcomes = [outcome(stages)];
    let limits = MachineLimits {
        hosts: Vec::new(),
        device: None,
    };
    let study = run_table::study_of(&measured, &outcomes);
    let text = run_table::measured(&measured, &study, &limits, &outcomes, Screen::Wide);
    (study, text)
}

/// A cell of the card's only row.
fn card_cell(study: &Study, heading: &str) -> String {
    for section in card::sections(study, &study.points[0]) {
        let cells = section.table.cells();
        if let Some(column) = cells[0].iter().position(|name| name == heading) {
            return cells[1][column].clone();
        }
    }
    panic!("no column {heading}");
}

#[test]
fn both_parts_of_an_upload_and_what_no_stage_has_are_shown() {
    let (study, text) = on_hardware(&frame_of_an_h100());
    let entry = &study.entries[0];
    assert_eq!(entry.total(StageGroup::Upload), Some(3_085 * MICROSECOND));
    let other = 4_858 - 848 - 3_000 - 85 - 472;
    assert_eq!(entry.other(), Some(other * MICROSECOND));
    assert_eq!(
        entry.time(Quantity::Work),
        Some((848 + 3_085 + 472) * MICROSECOND),
        "pose + upload + skin"
    );
    assert!(text.contains("453 µs"), "{text}");
    assert!(text.contains("other: the frame less its stages"), "{text}");

    let point = &study.points[0];
    let row =
        "| gpu-compute | 4.86 ms ± 0 % | 4.86 ms | 4.86 ms | 848 µs | 3.08 ms | 472 µs | 453 µs | ";
    let table = run_table::table(&study, point).markdown();
    assert!(table.contains(row), "{table}");

    assert_eq!(card_cell(&study, "upload, processor"), "3.00 ms");
    assert_eq!(card_cell(&study, "upload, device"), "85.0 µs");
    assert_eq!(card_cell(&study, "other"), "453 µs");

    let charts = charts(&study);
    let stages = charts.iter().find(|chart| chart.id.starts_with("stages"));
    let cells = stages.unwrap().table.cells();
    let shown: Vec<[&str; 2]> = cells[1..]
        .iter()
        .map(|row| [row[1].as_str(), row[2].as_str()])
        .collect();
    assert_eq!(
        shown,
        [
            ["palette, host", "848 µs"],
            ["upload, host", "3.00 ms"],
            ["upload, device", "85.0 µs"],
            ["skin, device", "472 µs"],
            ["other", "453 µs"],
            ["frame", "4.86 ms"]
        ]
    );
}

/// Fences time stages in frames of their own, and stages that overlap are not parts of a sum.
#[test]
fn what_is_left_over_is_of_stages_that_follow_one_another() {
    let fenced: Vec<Timed> = frame_of_an_h100()
        .into_iter()
        .map(|(stage, clock, times)| match clock {
            Clock::Gpu => (stage, Clock::Fenced, times),
            _ => (stage, clock, times),
        })
        .collect();
    assert_eq!(on_hardware(&fenced).0.entries[0].other(), None);
    let mut overlapping = frame_of_an_h100();
    overlapping[0].2 = turns(&[2_000]);
    assert_eq!(on_hardware(&overlapping).0.entries[0].other(), None);
    // The medians of these stages add up to much less than that of the frame.
    let turning = vec![
        (Stage::Palette, Clock::Wall, turns(&[100, 900, 100])),
        (Stage::Skin, Clock::Wall, turns(&[100, 100, 900])),
        (Stage::Frame, Clock::Wall, turns(&[250, 1_050, 1_050])),
    ];
    let spent = on_hardware(&turning).0.entries[0].other();
    assert_eq!(spent, Some(50 * MICROSECOND), "frame by frame");
    let only_the_frame = vec![(Stage::Frame, Clock::Wall, turns(&[9]))];
    assert_eq!(on_hardware(&only_the_frame).0.entries[0].other(), None);
}

/// What gameplay reads is computed on the device and taken over by the host.
#[test]
fn what_gameplay_reads_has_a_column_where_it_is_read() {
    let mut stages = frame_of_an_h100();
    assert!(!on_hardware(&stages).1.contains("gameplay"));
    stages.insert(2, (Stage::Bounds, Clock::Wall, turns(&[30])));
    stages.insert(3, (Stage::Bounds, Clock::Gpu, turns(&[20])));
    let (study, text) = on_hardware(&stages);
    assert!(
        text.contains("gameplay") && text.contains("50.0 µs"),
        "{text}"
    );
    assert_eq!(study.entries[0].other(), Some(403 * MICROSECOND));
    assert_eq!(card_cell(&study, "bounds"), "50.0 µs");
}

#[test]
fn noise_has_an_owner() {
    let frame = |host: &[u64], device: &[u64]| {
        let skin = turns(device);
        let wall = turns(host).iter().zip(&skin).map(|(a, b)| a + b).collect();
        vec![
            (Stage::Skin, Clock::Gpu, skin),
            (Stage::Frame, Clock::Wall, wall),
        ]
    };
    let status_and_notes = |host: &[u64], device: &[u64]| {
        let (_, text) = on_hardware(&frame(host, device));
        let row = text
            .lines()
            .find(|line| line.contains("gpu-compute"))
            .unwrap();
        let status = row
            .trim_end_matches(['│', ' '])
            .rsplit("  ")
            .next()
            .unwrap();
        let notes: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("noisy "))
            .collect();
        (status.trim().to_owned(), notes.len())
    };
    // The device repeats within 1 % while a virtual processor does not.
    assert_eq!(
        status_and_notes(&[300, 500], &[100, 101]),
        ("ok, noisy host".into(), 1)
    );
    // The device's clock falls and the processor is steady.
    assert_eq!(
        status_and_notes(&[400, 401], &[30, 60]),
        ("ok, noisy device".into(), 1)
    );
    assert_eq!(
        status_and_notes(&[300, 500], &[30, 30, 60, 60]),
        ("ok, noisy".into(), 2)
    );
    assert_eq!(status_and_notes(&[400, 401], &[100, 101]), ("ok".into(), 0));
    // A device that the host waits for: its part is noisy by itself, and small beside the frame.
    assert_eq!(
        status_and_notes(&[30, 60], &[5_000, 5_010]),
        ("ok".into(), 0)
    );
}

/// A device whose clock falls between frames, and the same one while its clock is held up.
#[test]
fn the_noise_of_a_sleeping_device_is_found_on_the_device() {
    let read = |run: &str| {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        Study::new(Recorded::read(&[results.join(run)]).unwrap())
    };
    let asleep = read("2026-11-27-h100-asleep/posing-10k");
    let steady = read("2026-11-27-h100-steady/posing-10k");
    for backend in ["gpu-compute", "gpu-full", "gpu-baked:compute"] {
        let noisy = |study: &Study| {
            let named = study.entries.iter().find(|entry| entry.backend == backend);
            named.unwrap().noisy_sides()
        };
        assert!(noisy(&asleep).contains(&Side::Device), "{backend}");
        assert_eq!(noisy(&steady), [Side::Host], "{backend}");
    }
}
