//! Runs of many points that stop and go on, in parts, within limits.

use crate::backends::common::{build_scene, context, context_with_adapter};
use crate::program::{Ran, ran, skinbench, succeed, summary};
use skinbench::frame::{Clock, Stage};
use skinbench::harness::run::{Status, promised_memory};
use skinbench::registry::find;
use skinbench::report::chart::charts;
use skinbench::results::{Axis, Recorded, Row, Study, heading, options, session};
use skinbench::scene::Settings;
use std::fs;

const RUN: &str =
    "run smoke --instances 3,6,12 --passes 0 -b cpu-scalar,cpu-rayon --frames 5 -o out";

#[test]
fn a_run_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let messages = succeed(&folder, RUN).notes;
    let points: Vec<&str> = messages
        .lines()
        .filter(|line| line.starts_with("smoke, "))
        .collect();
    assert!(
        points.len() == 3
            && points[0].starts_with("smoke, 3 instances, passes 0: cpu-")
            && points[2].starts_with("smoke, 12 instances, "),
        "{messages}"
    );
    let whole = summary(&out);
    let frames = |rows: &[Row]| {
        rows.iter()
            .filter(|row| (row.stage, row.clock) == (Stage::Frame, Clock::Wall))
            .count()
    };
    assert_eq!(frames(&whole), 3 * 2);
    assert!(Recorded::read(&[&out]).unwrap().notes.is_empty());

    // Nothing is measured again, also by the other name of the verb.
    let messages = succeed(&folder, &RUN.replacen("run", "sweep", 1)).notes;
    assert!(
        messages.contains("note: 6 measurements of an earlier run kept"),
        "{messages}"
    );
    let kept = messages
        .lines()
        .filter(|line| line.contains(" (kept from an earlier run)"));
    assert_eq!(kept.count(), 3, "{messages}");
    assert_eq!(summary(&out), whole);

    // Killed after some rows: what is whole stays, what is missing is measured.
    let text = fs::read_to_string(out.join("summary.csv")).unwrap();
    let half = &text[..=text[..text.len() / 2].rfind('\n').unwrap()];
    fs::write(out.join("summary.csv"), half).unwrap();
    succeed(&folder, RUN);
    let resumed = summary(&out);
    assert_eq!(frames(&resumed), 3 * 2);
    let kept = whole.iter().filter(|row| resumed.contains(row)).count();
    assert_eq!(kept, half.lines().count() - 1);
    let notes = Recorded::read(&[&out]).unwrap().notes;
    assert!(
        notes[0].contains("samples of no row of summary.csv, as an interrupted run"),
        "{notes:?}"
    );

    // What did not fit is tried again: other programs may have taken the memory.
    let text = fs::read_to_string(out.join("summary.csv")).unwrap();
    let (before, frame) = text.split_at(text.find(",frame,wall,").unwrap());
    let large = frame.replacen(",ok,", ",too_large,", 1);
    fs::write(out.join("summary.csv"), before.to_owned() + &large).unwrap();
    let messages = succeed(&folder, RUN).notes;
    assert!(
        messages.contains("note: 5 measurements of an earlier run kept"),
        "{messages}"
    );
}

/// Neither measurements of another version, nor files of another program, nor damaged ones are touched.
#[test]
fn foreign_files_stop_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    let heading = heading::<Row>().unwrap();
    for text in [
        "schema,run_id,scene,backend,variant,stage,clock\n2,r.1,s,cpu-scalar,,skin,wall\n",
        "day;sum\n1;2\n",
        &format!("{heading}\nsmoke,"),
    ] {
        fs::write(out.join("summary.csv"), text).unwrap();
        fs::write(out.join("samples.csv"), "mine").unwrap();
        let output = ran(skinbench(folder.path(), RUN));
        let expected = "summary.csv: another version or program wrote it, or its end is missing; ";
        assert!(
            output.code == Some(1) && output.notes.contains(expected),
            "{}",
            output.notes
        );
        let left =
            ["summary.csv", "samples.csv"].map(|name| fs::read_to_string(out.join(name)).unwrap());
        assert_eq!(
            (left, fs::read_dir(&out).unwrap().count()),
            ([text.into(), "mine".into()], 2)
        );
    }
}

/// Active morph targets are an axis that begins at none.
#[test]
fn active_targets_are_an_axis() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = "run faces --instances 3 --active-targets 0,8,52 --passes 0 -b cpu-scalar,cpu-simd --frames 5 -o out";
    succeed(&folder, sweep);
    let study = Study::new(Recorded::read(&[folder.path().join("out")]).unwrap());
    let sheets: Vec<_> = study.sheets(Axis::ActiveTargets).collect();
    assert_eq!(
        sheets
            .iter()
            .map(|sheet| &sheet.values[..])
            .collect::<Vec<_>>(),
        [[0, 8, 52]]
    );
    assert_eq!(
        (sheets[0].curves.len(), &sheets[0].common.options[..]),
        (2, "active_targets=N")
    );
    for &axis in Axis::ALL {
        assert!(
            axis == Axis::ActiveTargets || study.sheets(axis).next().is_none(),
            "{axis:?}"
        );
    }
    let charts = charts(&study);
    let chart = charts
        .iter()
        .find(|chart| chart.id.starts_with("frame-active-morph-targets"))
        .unwrap();
    assert!(
        chart.file().contains("cpu-simd, 52 active morph targets: "),
        "{}",
        chart.file()
    );
}

#[test]
fn shards_make_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    for part in 1..=2 {
        let arguments = format!(
            "run smoke --instances 3,6,12 --passes 0 -b cpu-scalar --frames 5 --shard {part}/2"
        );
        skinbench(folder.path(), &format!("{arguments} -o out/{part}"))
            .assert()
            .success();
    }
    let study = Study::new(Recorded::read(&[folder.path().join("out")]).unwrap());
    assert_eq!(
        (study.points.len(), study.notes.len()),
        (3, 0),
        "{:?}",
        study.notes
    );
}

#[test]
fn points_are_lines() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = "run smoke --instances 3,6 --attributes p,pn,pnt --passes 0 -b cpu-scalar --frames 3 -o out";
    let output = ran(skinbench(folder.path(), sweep));
    let messages = output.notes;
    let points: Vec<&str> = messages
        .lines()
        .filter(|line| line.starts_with("smoke, "))
        .collect();
    assert!(
        points.len() == 6
            && points[0].starts_with("smoke, 3 instances, passes 0, attributes p: cpu-scalar ")
            && points[5].starts_with("smoke, 6 instances, passes 0, attributes pnt: cpu-scalar "),
        "{messages}"
    );
}

/// Each process that wrote to a folder has a record in it, with its runs.
#[test]
fn sessions_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = |instances: &str| {
        let line =
            format!("run smoke -b cpu-scalar --frames 1 --passes 0 --instances {instances} -o out");
        succeed(&folder, &line);
        let sessions = session::read(&folder.path().join("out")).unwrap();
        let runs = sessions.iter().map(|session| session.runs.len());
        runs.collect::<Vec<_>>()
    };
    assert_eq!(sweep("3,4"), [2]);
    assert_eq!(sweep("3,4,5"), [2, 1]);
}

// A driver that cannot be loaded is how Linux is without one.
#[cfg(target_os = "linux")]
#[test]
fn passes_are_no_axis_where_nothing_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = "run smoke --instances 3,6 --passes 0,1,2 -b cpu-scalar --frames 2 -o out";
    let command = skinbench(folder.path(), sweep).env("WGPU_BACKEND", "dx12");
    let output = ran(command);
    let messages = output.notes;
    assert!(output.code == Some(0), "{messages}");
    assert!(
        messages.contains("--passes makes no difference"),
        "{messages}"
    );
    let rows = summary(&folder.path().join("out"));
    let frames: Vec<usize> = rows
        .iter()
        .filter(|row| (row.stage, row.clock) == (Stage::Frame, Clock::Wall))
        .map(|row| row.instances)
        .collect();
    assert_eq!(frames, [3, 6]);
}

#[test]
fn threads_frame_times_and_budgets_are_kept_to() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| succeed(&folder, arguments);
    run("run smoke --instances 3 --passes 0 --threads 1,2 -b cpu-rayon --frames 5 -o threads");
    let mut threads: Vec<_> = summary(&folder.path().join("threads"))
        .iter()
        .map(|row| row.threads)
        .collect();
    threads.dedup();
    assert_eq!(threads, [1, 2]);

    let slow = "run smoke --instances 3,6,12 --passes 0 -b cpu-scalar --frames 5 --max-frame-time 1ns -o slow";
    let messages = run(slow).notes;
    assert!(
        messages.contains("\nsmoke, 6 instances, passes 0: nothing was measured\n"),
        "{messages}"
    );
    assert!(
        messages.contains("more than --max-frame-time: larger crowds left out"),
        "{messages}"
    );
    assert!(
        summary(&folder.path().join("slow"))
            .iter()
            .all(|row| row.instances == 3)
    );

    let Ran { text, notes, .. } = run(
        "run smoke kernel --instances 3 --passes 0 -b cpu-scalar --frames 5 --budget 200us -o budget",
    );
    assert!(notes.contains("\nsmoke: cpu-scalar, passes 0: "), "{notes}");
    assert!(notes.contains("\nkernel: cpu-scalar: "), "{notes}");
    let answer = text
        .lines()
        .find(|line| line.contains("  smoke: cpu-scalar, passes 0: "))
        .unwrap_or_default();
    assert!(
        answer.contains("of scene smoke fit (") || answer.contains("not even"),
        "{text}"
    );
    let measured: Vec<_> = summary(&folder.path().join("budget"))
        .iter()
        .map(|row| row.instances)
        .collect();
    assert!(measured.contains(&3) && measured.len() > 5, "{measured:?}");

    // A backend that lacks what is asked for is neither fast nor slow.
    let lacking = "run smoke --bounds --passes 0 -b gpu-vat --budget 10ms -o skipped";
    let skipped = ran(skinbench(folder.path(), lacking)).text;
    assert!(
        skipped.contains("\n  gpu-vat, passes 0, bounds: not measured; skipped at "),
        "{skipped}"
    );
}

/// The largest crowd within a memory budget fits by the backend's promise, and one instance more does not.
#[test]
fn memory_budgets_are_kept_to() {
    const BUDGET: u64 = 5_000_000;
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| {
        let arguments = format!(
            "run smoke --vertices 500 --passes 0 --frames 2 --memory 5MB --wide {arguments}"
        );
        succeed(&folder, &arguments).text
    };
    let context = context();
    let names: Vec<&str> = ["cpu-scalar", "cpu-rayon", "gpu-compute", "gpu-full"]
        .into_iter()
        .filter(|name| find(name).is_some_and(|entry| entry.create(&context).is_ok()))
        .collect();
    let messages = run(&format!("-b {} -o memory", names.join(",")));
    assert!(
        messages.contains("largest crowd within 5.0 MB on host and device:\n"),
        "{messages}"
    );
    let rows = summary(&folder.path().join("memory"));
    for name in names {
        let answer = messages
            .lines()
            .find(|line| line.starts_with(&format!("  {name}, passes 0, vertices 500: ")))
            .unwrap();
        let number = |after: &str| -> u64 {
            let rest = &answer[answer.find(after).unwrap() + after.len()..];
            rest.split(' ')
                .next()
                .unwrap()
                .replace(',', "")
                .parse()
                .unwrap()
        };
        let (fits, exceeds) = (number("vertices 500: "), number("MB), "));
        assert_eq!(exceeds, fits + 1, "{answer}");
        let promised = |instances| {
            let (instances, vertices, passes) = (Some(instances), Some(500), Some(0));
            let crowd = Settings {
                instances,
                vertices,
                passes,
                ..Settings::default()
            };
            let scene = build_scene("smoke", crowd);
            promised_memory(&context, &scene, find(name).unwrap())
                .unwrap()
                .resident()
        };
        assert!(
            promised(fits) <= BUDGET && BUDGET < promised(exceeds),
            "{answer}"
        );
        let row = rows
            .iter()
            .find(|row| row.backend == name && row.host_bytes.is_some())
            .unwrap();
        assert_eq!(
            (row.instances as u64, row.status),
            (fits, Status::Ok),
            "the crowd was run: {answer}"
        );
        assert!(
            row.host_bytes.unwrap() + row.device_bytes.unwrap() <= BUDGET,
            "{row:?}"
        );
    }

    // A time that every crowd keeps leaves the bound of memory.
    let both = run("-b cpu-scalar --budget 1000s -o both");
    let answer = both
        .lines()
        .find(|line| line.starts_with("  cpu-scalar, passes 0, vertices 500: "))
        .unwrap();
    let counts: Vec<_> = answer
        .split(' ')
        .filter(|word| word.parse::<u64>().is_ok())
        .collect();
    assert!(
        both.contains(" a frame and 5.0 MB on host and device:\n"),
        "{both}"
    );
    assert!(
        counts.len() == 3 && counts[0] == counts[2] && answer.contains("by time "),
        "{answer}"
    );
}

/// Baked vertices are less exact than skeletons, and a camera that is farther away sees less of it.
#[cfg(feature = "gpu")]
#[test]
fn errors_in_pixels_fall_with_the_distance() {
    if context_with_adapter().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let sweep = "run smoke --vertices 500 --instances 3,12 --distance 1,4 --passes 1 -b gpu-full:vertex,gpu-vat --frames 5 -o out";
    succeed(&folder, sweep);
    let rows = summary(&folder.path().join("out"));
    let error = |backend: &str, instances: usize, distance: &str| -> f64 {
        let is_at = |row: &&Row| {
            row.name() == backend
                && row.instances == instances
                && options::get(&row.options, "distance") == Some(distance)
                && row.stage == Stage::Frame
        };
        rows.iter()
            .filter(is_at)
            .find_map(|row| row.error_px)
            .unwrap()
    };
    for instances in [3, 12] {
        let near = error("gpu-vat", instances, "1");
        assert!(near < 1.0 && near > 3.0 * error("gpu-vat", instances, "4"));
        assert!(near > error("gpu-full:vertex", instances, "1"));
    }
    assert!(
        error("gpu-vat", 3, "1") > error("gpu-vat", 12, "1"),
        "the camera sees the larger crowd from farther away"
    );
}

/// The report draws time against models, for each kind of levels.
#[test]
fn models_and_levels_are_axes() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = "run city --instances 60 --vertices 500 --passes 0 -b cpu-scalar,cpu-rayon --frames 5 -o out";
    let each = "--models 2,5 --lod none --lod mesh";
    skinbench(folder.path(), &format!("{sweep} {each}"))
        .assert()
        .success();
    let study = Study::new(Recorded::read(&[folder.path().join("out")]).unwrap());
    assert_eq!(
        (study.points.len(), study.notes.len()),
        (4, 0),
        "{:?}",
        study.notes
    );
    let charts = charts(&study);
    let titled = |title: &str| {
        charts
            .iter()
            .filter(|chart| chart.title.contains(title))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        titled("Frame time against models: 60 instances of scene city").len(),
        2,
        "with levels and without"
    );
}
