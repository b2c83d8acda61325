//! Tests of the window's panels: clicks change the state as promised, and panels look as they did.

use eframe::egui;
use egui_kittest::kittest::Queryable;
use egui_kittest::{Harness, SnapshotOptions};
use skinbench::frame::{Clock, Stage, StageTime};
use skinbench::reference::WorstError;
use skinbench::registry::REGISTRY;
use skinbench::scene::{Clips, Interpolation, Settings};
use skinbench::view::engine::{Facts, MeasuredSides, ShownFrame, SideShown};
use skinbench::view::panels::{self, Action, Live};
use skinbench::view::player::{FRAME, Looping, Speed};
use skinbench::view::state::{Errors, Preferences, State};
use std::time::Duration;

/// Input of a panel, and the actions that it asks for.
struct Shell {
    state: State,
    live: Live,
    actions: Vec<Action>,
}

fn side(backend: &str, ms: u64) -> SideShown {
    let span = |stage, clock, us: u64| StageTime {
        stage,
        clock,
        ns: Some(1_000 * us),
    };
    SideShown {
        backend: backend.into(),
        device: "avx512, 2 threads".into(),
        spans: vec![
            span(Stage::Sample, Clock::Wall, 300),
            span(Stage::Palette, Clock::Wall, 150),
            span(Stage::Skin, Clock::Wall, 900),
            span(Stage::Draw, Clock::Gpu, 2_400),
        ],
        frame: Duration::from_millis(ms),
        worst: Some(WorstError {
            error: 3.2e-7,
            instance: 4,
            item: 77,
        }),
        ..SideShown::default()
    }
}

fn shown() -> ShownFrame {
    let facts = Facts {
        instances: 1_000,
        vertices: 994_000,
        settings: Settings::default(),
        clips: ["walk", "run", "wave"].map(String::from).to_vec(),
        joints: ["pelvis", "clavicle_r"].map(String::from).to_vec(),
        duration: 2.0,
        notes: Vec::new(),
    };
    ShownFrame {
        facts: Some(facts),
        sides: vec![side("cpu-rayon", 5), side("gpu-compute", 7)],
        adapter: "llvmpipe (CPU-emulated)".into(),
        software: true,
        cpu: "A processor".into(),
        problem: None,
    }
}

fn harness(
    source: &str,
    theme: egui::Theme,
    change: impl FnOnce(&mut Shell),
) -> Harness<'static, Shell> {
    let mut shell = Shell {
        state: State::open(source, Preferences::default()).unwrap(),
        live: Live::default(),
        actions: Vec::new(),
    };
    shell.state.player.set_length(2.0);
    for _ in 0..40 {
        shell.live.take(shown());
    }
    change(&mut shell);
    let app = |ui: &mut egui::Ui, shell: &mut Shell| {
        shell
            .actions
            .extend(panels::show(ui, &mut shell.state, &mut shell.live));
    };
    let builder = Harness::builder()
        .with_size([1200.0, 1050.0])
        .with_theme(theme);
    let mut harness = builder.build_ui_state(app, shell);
    harness.run();
    harness
}

fn click(harness: &mut Harness<Shell>, label: &str) {
    harness.get_by_label(label).click();
    harness.run();
}

#[test]
fn play_pause_and_stop_do_what_they_say() {
    let mut harness = harness("walkers", egui::Theme::Dark, |shell| {
        shell.state.player.advance(0.5);
        shell
            .state
            .switch_overlay(true, &["walk".into(), "wave".into()]);
    });
    click(&mut harness, "Pause");
    let player = &harness.state().state.player;
    assert!(!player.playing && !player.at_bind && player.tick() == 30);
    click(&mut harness, "Play");
    assert!(harness.state().state.player.playing);
    click(&mut harness, "Stop");
    let State { player, opened, .. } = &harness.state().state;
    assert!(
        player.at_bind && !player.playing && player.tick() == 0,
        "the bind pose at the first frame"
    );
    assert!(!opened.has_overlays(), "the overlay is taken away");
    click(&mut harness, "Step on");
    let player = &harness.state().state.player;
    assert!(!player.at_bind && (player.position() - FRAME).abs() < 1e-9);
}

#[test]
fn speed_and_loop_modes_are_chosen_by_their_controls() {
    let mut harness = harness("walkers", egui::Theme::Dark, |_| {});
    click(&mut harness, "Free-running");
    assert_eq!(harness.state().state.player.speed, Speed::Frames(25));
    click(&mut harness, "Backwards");
    click(&mut harness, "Ping-pong");
    let player = &harness.state().state.player;
    assert!(player.backwards && player.looping == Looping::PingPong);
}

#[test]
fn models_and_backends_are_switched_in_their_lists() {
    let mut harness = harness("walkers", egui::Theme::Dark, |_| {});
    harness.get_by_value("walkers").click();
    harness.run();
    click(&mut harness, "kernel");
    assert_eq!(harness.state().state.opened.name(), "kernel");
    click(&mut harness, "A | B");
    assert_eq!(
        harness.state().state.backends(),
        ["cpu-rayon", "gpu-compute"]
    );
    harness.get_by_label("Backend B").click();
    harness.run();
    click(&mut harness, "cpu-simd");
    assert_eq!(harness.state().state.backends(), ["cpu-rayon", "cpu-simd"]);
}

/// Presses a button, moves on before a frame is drawn, and lets go.
fn drag(
    harness: &mut Harness<Shell>,
    from: egui::Pos2,
    to: egui::Pos2,
    button: egui::PointerButton,
) {
    let press = |pos, pressed| egui::Event::PointerButton {
        pos,
        button,
        pressed,
        modifiers: Default::default(),
    };
    harness.event(egui::Event::PointerMoved(from));
    harness.run();
    // A frame that was slow sees both at once.
    harness.input_mut().events.extend([
        press(from, true),
        egui::Event::PointerMoved(from.lerp(to, 0.5)),
    ]);
    harness.run();
    harness.event(egui::Event::PointerMoved(to));
    harness.run();
    harness.event(press(to, false));
    harness.run();
}

#[test]
fn the_mouse_moves_the_divider_and_the_camera() {
    let mut harness = harness("walkers", egui::Theme::Dark, |shell| {
        shell.state.split = true
    });
    let before = harness.state().state.orbit;
    // The picture lies between the panels.
    let (left, width) = (panels::LEFT, 1_200.0 - panels::LEFT - panels::RIGHT);
    let at = |part: f32| egui::pos2(left + part * width, 400.0);
    drag(
        &mut harness,
        at(0.5),
        at(0.25),
        egui::PointerButton::Primary,
    );
    assert!(
        (harness.state().state.divider - 0.25).abs() < 0.01,
        "{}",
        harness.state().state.divider
    );
    assert_eq!(harness.state().state.orbit, before, "the camera stays");
    drag(&mut harness, at(0.5), at(0.6), egui::PointerButton::Primary);
    let orbit = harness.state().state.orbit;
    assert!(
        (harness.state().state.divider - 0.25).abs() < 0.01
            && orbit.camera.orbit < before.camera.orbit
    );
    drag(
        &mut harness,
        at(0.5),
        at(0.6),
        egui::PointerButton::Secondary,
    );
    let panned = harness.state().state.orbit;
    assert!(panned.pan[0] < 0.0 && panned.camera == orbit.camera);
    harness.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Line,
        delta: egui::vec2(0.0, 2.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Unknown,
        modifiers: Default::default(),
    });
    harness.run();
    assert!(harness.state().state.orbit.camera.distance < panned.camera.distance);
}

#[test]
fn parts_of_the_picture_and_errors_are_switched() {
    let mut harness = harness("walkers", egui::Theme::Dark, |_| {});
    for part in ["Skin", "Wireframe", "Skeleton", "Ground", "Tint"] {
        click(&mut harness, part);
    }
    let show = harness.state().state.preferences.show;
    assert_eq!(
        [
            show.skin,
            show.wireframe,
            show.skeleton,
            show.ground,
            show.tint
        ],
        [false, true, true, false, false]
    );
    click(&mut harness, "f64 reference");
    assert_eq!(harness.state().state.errors, Errors::Reference);
    assert!(
        harness
            .query_all_by_label("3.20e-7 at vertex 77, instance 4")
            .count()
            > 0
    );
}

#[test]
fn what_needs_the_system_is_left_to_the_window() {
    let mut harness = harness("walkers", egui::Theme::Dark, |_| {});
    for button in ["Open…", "Measure"] {
        click(&mut harness, button);
    }
    assert_eq!(harness.state().actions, [Action::Open, Action::Measure]);
    harness.state_mut().live.progress = Some(("measuring cpu-rayon".into(), 0.4));
    harness.run();
    click(&mut harness, "Cancel");
    assert_eq!(harness.state().actions.last(), Some(&Action::Interrupt));
}

#[test]
fn the_command_is_copied() {
    let mut harness = harness("walkers", egui::Theme::Dark, |_| {});
    harness.get_by_label("Copy command").click();
    let mut commands = Vec::new();
    for _ in 0..4 {
        harness.step();
        commands.extend(harness.output().platform_output.commands.clone());
    }
    let copied = egui::OutputCommand::CopyText("skinbench run walkers -b cpu-rayon".into());
    assert_eq!(commands, [copied]);
}

#[test]
fn an_overlay_is_switched_on_and_off_and_kept_as_a_layer() {
    let mut harness = harness("walkers", egui::Theme::Dark, |shell| {
        shell.state.player.advance(1.0);
        shell.state.joint = Some("clavicle_r".into());
    });
    let switch = |harness: &mut Harness<Shell>| {
        harness
            .get_by_role_and_label(egui::accesskit::Role::CheckBox, "Overlay")
            .click();
        harness.run();
    };
    click(&mut harness, "Add layer");
    let opened = &harness.state().state.opened;
    assert!(opened.layers().is_empty(), "nothing to keep: it is greyed");
    switch(&mut harness);
    assert!(harness.state().state.opened.is_overlay_on());
    switch(&mut harness);
    let opened = &harness.state().state.opened;
    assert!(
        !opened.is_overlay_on() && opened.has_overlays(),
        "it fades out"
    );
    switch(&mut harness);
    click(&mut harness, "Add layer");
    let opened = &harness.state().state.opened;
    let layer = &opened.layers()[0];
    assert_eq!(
        (layer.clip.as_str(), layer.joint.as_deref()),
        ("wave", Some("clavicle_r"))
    );
    assert!(!opened.is_overlay_on());
    click(&mut harness, "Remove");
    assert!(!harness.state().state.opened.has_overlays());
}

#[test]
fn options_of_a_run_are_chosen_by_their_controls() {
    let mut harness = harness("walkers", egui::Theme::Dark, |_| {});
    click(&mut harness, "Options");
    for option in ["Smooth clips", "Compact clips", "by distance"] {
        click(&mut harness, option);
    }
    for (label, number) in [("Influences", 3.0), ("Threads", 2.0)] {
        harness
            .get_by_role_and_label(egui::accesskit::Role::SpinButton, label)
            .set_value_accesskit(number);
        harness.run();
    }
    let state = &harness.state().state;
    assert_eq!((state.run.influences, state.threads), (Some(3), Some(2)));
    let expected = (
        Some(Interpolation::Smooth),
        Some(Clips::Compact),
        Some([20.0, 40.0]),
    );
    assert_eq!(
        (
            state.run.interpolation,
            state.run.clips,
            state.run.update_rate
        ),
        expected
    );
}

#[test]
fn notes_on_a_model_can_be_read() {
    let mut harness = harness("walkers", egui::Theme::Dark, |shell| {
        let facts = shell.live.shown.facts.as_mut().unwrap();
        facts.notes = vec![
            "fox: left out the texture of a material: \"fox.dds\" is neither PNG nor JPEG".into(),
        ];
    });
    click(&mut harness, "Notes on the model");
    assert!(harness.query_all_by_label_contains("fox.dds").count() > 0);
}

#[test]
fn problems_are_shown_and_the_rest_can_be_used() {
    let mut harness = harness("walkers", egui::Theme::Dark, |shell| {
        shell.live.shown.problem = Some("device error: device lost: unplugged".into());
        shell.live.shown.sides[0].problem =
            Some("the crowd needs 5 GB; only 1 GB is available".into());
        shell.state.switch_to("no-such-file.glb");
    });
    let told = |harness: &Harness<Shell>, text: &str| {
        harness.query_all_by_label_contains(text).count() > 0
    };
    assert!(
        ["unplugged", "5 GB", "no-such-file.glb"]
            .into_iter()
            .all(|text| told(&harness, text))
    );
    click(&mut harness, "Dismiss");
    assert!(!told(&harness, "no-such-file.glb"));
    click(&mut harness, "Try again");
    assert_eq!(harness.state().state.attempt, 1);
    click(&mut harness, "Pause");
    assert!(!harness.state().state.player.playing);
}

/// The window of a measurement of both sides.
fn measured() -> MeasuredSides {
    let row = |cells: [&str; 6]| cells.map(String::from).to_vec();
    MeasuredSides {
        rows: vec![
            row(["backend", "frame", "pose", "skin", "draw", "status"]),
            row([
                "cpu-rayon",
                "5.00 ms ± 1 %",
                "0.45 ms",
                "0.90 ms",
                "2.40 ms",
                "ok",
            ]),
            row([
                "gpu-compute",
                "7.00 ms ± 9 %",
                "0.45 ms",
                "0.90 ms",
                "2.40 ms",
                "ok, noisy",
            ]),
        ],
        verdict: "cpu-rayon is fastest, 5.00 ms a frame, 1.40 times as fast as gpu-compute.".into(),
        text: "the text of a run".into(),
    }
}

#[test]
fn a_measurement_is_shown_over_the_picture_as_a_table() {
    let mut harness = harness("walkers", egui::Theme::Light, |shell| {
        shell.live.measured = Some(Ok(measured()));
    });
    for text in ["5.00 ms ± 1 %", "ok, noisy", &measured().verdict] {
        let place = harness.get_by_label(text).rect();
        assert!(
            place.left() >= panels::LEFT && place.right() <= 1_200.0 - panels::RIGHT,
            "{text}: {place}"
        );
    }
    harness.get_by_label("Copy as text").click();
    let mut commands = Vec::new();
    for _ in 0..4 {
        harness.step();
        commands.extend(harness.output().platform_output.commands.clone());
    }
    let copied = egui::OutputCommand::CopyText(measured().text);
    assert!(commands.contains(&copied), "{commands:?}");
}

#[test]
fn live_figures_have_units_and_are_not_cut() {
    let harness = harness("walkers", egui::Theme::Dark, |_| {});
    for text in ["5.00 ms", "0.30 ms", "2.40 ms"] {
        for figure in harness.get_all_by_label(text) {
            let place = figure.rect();
            assert!(
                place.right() <= 1_200.0 - 8.0 && place.height() >= 14.0,
                "{text}: {place}"
            );
        }
    }
}

#[test]
fn the_list_of_backends_describes_them_and_shows_most_at_once() {
    let mut harness = harness("walkers", egui::Theme::Dark, |_| {});
    harness.get_by_label("Backend A").click();
    harness.run();
    let summaries = REGISTRY.iter().filter(|entry| {
        let mut shown = harness.query_all_by_label(entry.summary);
        shown.any(|label| label.rect().bottom() < 1_050.0)
    });
    let count = summaries.count();
    assert!(count >= 16, "{count} of {}", REGISTRY.len());
}

/// Pictures of all panels. Drivers round edges of letters differently, so a few pixels may be off.
fn snapshot(name: &str, theme: egui::Theme, change: impl FnOnce(&mut Shell)) {
    let mut harness = harness("layers-4", theme, |shell| {
        shell.state.player.pause();
        change(shell);
    });
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots");
    harness.snapshot_options(
        name,
        &SnapshotOptions::new()
            .output_path(folder)
            .max_failed_pixels(50),
    );
}

#[test]
fn the_dark_window_looks_as_it_did() {
    snapshot("dark", egui::Theme::Dark, |shell| shell.state.split = true);
}

#[test]
fn the_light_window_looks_as_it_did() {
    snapshot("light", egui::Theme::Light, |shell| {
        shell.state.split = true;
        shell.state.errors = Errors::Reference;
    });
}

#[test]
fn the_window_of_a_measurement_looks_as_it_did() {
    snapshot("measured", egui::Theme::Light, |shell| {
        shell.live.measured = Some(Ok(measured()));
    });
}
