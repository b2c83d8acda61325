//! Tests of pictures, without a window.

use super::*;
use crate::backend::altered_tests::Altered;
use crate::backend::{Prepared, Ticket};
use crate::frame::{FrameInput, StageTimer};
use crate::gpu::Gpu;
use crate::view::state::Preferences;

/// The first vertex that the mutant moves, and the distance in metres. The first one is moved twice as far.
const MOVED: usize = 100;
const BY: f32 = 0.01;

/// Submits a frame that is correct except for some vertices of each instance.
fn submit_mutant(
    prepared: &mut dyn Prepared,
    frame: &mut FrameInput,
    timer: &mut StageTimer,
) -> Result<Ticket> {
    let ticket = prepared.submit(frame, timer)?;
    let mut first = 0;
    for group in frame.crowd.groups() {
        for _ in 0..group.len() {
            for vertex in MOVED..MOVED + 200 {
                let by = if vertex == MOVED { 2.0 * BY } else { BY };
                frame.output.host[first + vertex * group.format.words()] += by;
            }
            first += group.instance_words();
        }
    }
    Ok(ticket)
}

fn make(name: &str, context: &Context) -> Result<Box<dyn Backend>> {
    match name {
        "mutant" => Ok(Box::new(Altered {
            backend: registered("cpu-scalar", context)?,
            submit: submit_mutant,
        })),
        name => registered(name, context),
    }
}

/// An engine on the first adapter; `None` without an adapter, unless the tests require one.
fn engine(memory: fn() -> u64) -> Option<Engine> {
    let required = std::env::var_os("SKINBENCH_REQUIRE_GPU").is_some();
    if let Err(error) = Gpu::open(None) {
        assert!(!required, "{error}");
        return None;
    }
    let open = || {
        Gpu::open(None)
            .map(|gpu| Context {
                gpu: Some(gpu),
                ..Context::default()
            })
            .map_err(|e| e.to_string())
    };
    Some(Engine::new(Box::new(open), make, memory, Build::default()))
}

/// Pixels of a picture across and down.
const SIZE: [u32; 2] = [160, 90];

/// The answer of an engine to a state with these backends.
fn show(engine: &mut Engine, backends: &[&str], change: impl FnOnce(&mut State)) -> ShownFrame {
    engine.show(&state(backends, change), SIZE)
}

fn state(backends: &[&str], change: impl FnOnce(&mut State)) -> State {
    let mut state = State::open("smoke", Preferences::default()).unwrap();
    state.preferences.show.ground = false;
    state.preferences.show.tint = false;
    state.split = backends.len() > 1;
    for (shown, backend) in state.preferences.backends.iter_mut().zip(backends) {
        *shown = (*backend).into();
    }
    change(&mut state);
    state
}

/// Pixels that are not the background.
fn covered(side: &SideShown) -> Vec<[u8; 3]> {
    assert_eq!(side.problem, None);
    let pixels = side
        .pixels
        .as_chunks::<4>()
        .0
        .iter()
        .map(|&[r, g, b, _]| [r, g, b]);
    let background = [side.pixels[0], side.pixels[1], side.pixels[2]];
    pixels.filter(|pixel| *pixel != background).collect()
}

#[test]
fn a_crowd_is_drawn_with_its_stages_whatever_the_passes() {
    let Some(mut engine) = engine(|| 1 << 30) else {
        return;
    };
    for passes in [0, 2] {
        let shown = show(&mut engine, &["cpu-scalar", "gpu-compute:naive"], |state| {
            state.run.passes = Some(passes)
        });
        assert_eq!(shown.problem, None);
        assert_eq!(
            shown
                .facts
                .as_ref()
                .map(|facts| (facts.instances, facts.settings.passes)),
            Some((42, Some(passes)))
        );
        let [a, b] = &shown.sides[..] else {
            panic!("{} sides", shown.sides.len())
        };
        assert!(covered(a).len() > 500, "{}", covered(a).len());
        let differ = a
            .pixels
            .iter()
            .zip(&b.pixels)
            .filter(|(a, b)| a.abs_diff(**b) > 8)
            .count();
        assert!(
            differ < a.pixels.len() / 100,
            "{differ} of {} bytes differ",
            a.pixels.len()
        );
        let drawn = |side: &SideShown| {
            side.spans
                .iter()
                .any(|span| span.stage == crate::frame::Stage::Draw)
        };
        assert_eq!(
            (drawn(a), a.frame > Duration::ZERO),
            (passes > 0, true),
            "draws are timed where they are asked for"
        );
    }
}

#[test]
fn a_backend_that_culls_follows_the_camera() {
    let Some(mut engine) = engine(|| 1 << 30) else {
        return;
    };
    for distance in [0.2, 1.0] {
        let shown = show(&mut engine, &["gpu-full", "gpu-full:culled"], |state| {
            state.orbit.camera.distance = distance
        });
        let [all, culled] = &shown.sides[..] else {
            panic!("{} sides", shown.sides.len())
        };
        assert!(covered(culled).len() > 500, "{}", covered(culled).len());
        let differ = all
            .pixels
            .iter()
            .zip(&culled.pixels)
            .filter(|(a, b)| a.abs_diff(**b) > 8)
            .count();
        assert!(
            differ < all.pixels.len() / 100,
            "{differ} of {} bytes differ",
            all.pixels.len()
        );
    }
}

#[test]
fn every_part_of_the_picture_can_be_shown_alone_and_together() {
    let Some(mut engine) = engine(|| 1 << 30) else {
        return;
    };
    let mut pictures = Vec::new();
    for parts in 0..16 {
        let shown = show(&mut engine, &["cpu-scalar"], |state| {
            let show = &mut state.preferences.show;
            [show.skin, show.wireframe, show.skeleton, show.ground] =
                [1, 2, 4, 8].map(|bit| parts & bit != 0);
        });
        let count = covered(&shown.sides[0]).len();
        assert_eq!(count == 0, parts == 0, "{parts:b}: {count} pixels");
        let pixels = shown.sides[0].pixels.clone();
        assert!(
            !pictures.contains(&pixels),
            "{parts:b} looks like another choice"
        );
        pictures.push(pixels);
    }
}

#[test]
fn stop_shows_the_bind_pose_and_play_leaves_it() {
    let Some(mut engine) = engine(|| 1 << 30) else {
        return;
    };
    let playing = show(&mut engine, &["cpu-scalar"], |_| {});
    let stopped = show(&mut engine, &["cpu-scalar"], State::stop);
    let crowd = engine.built.as_ref().unwrap().at_bind.clone().unwrap();
    let Ok(side) = &mut engine.sides[0].side else {
        panic!("no side")
    };
    for shown in side.words(&crowd).unwrap() {
        let model = &crowd.groups()[crowd.group_of(shown.instance)].model;
        for (words, position) in shown.words.chunks(6).zip(model.mesh().positions()) {
            let off = (0..3)
                .map(|axis| (words[axis] - position[axis]).abs())
                .fold(0.0, f32::max);
            assert!(
                off < 1e-5 * model.bounds().diagonal(),
                "instance {}",
                shown.instance
            );
        }
    }
    assert_ne!(playing.sides[0].pixels, stopped.sides[0].pixels);
    assert_eq!(
        show(&mut engine, &["cpu-scalar"], |_| {}).sides[0].pixels,
        playing.sides[0].pixels
    );
}

#[test]
fn errors_are_black_for_equal_backends_and_light_up_for_a_mutant() {
    let Some(mut engine) = engine(|| 1 << 30) else {
        return;
    };
    let shown = show(&mut engine, &["cpu-scalar", "cpu-scalar"], |state| {
        state.errors = Errors::Sides
    });
    for side in &shown.sides {
        assert_eq!(side.worst.map(|worst| worst.error), Some(0.0));
        let colors = covered(side);
        let black = colors.iter().filter(|color| **color == [0; 3]).count();
        // At edges black is mixed with the background, in which blue is brightest; every colour of an error has more
        // red.
        let mixed = |[r, g, b]: &[u8; 3]| r <= g && g <= b;
        assert!(
            black > 300 && colors.iter().all(mixed),
            "all black: {black} of {}",
            colors.len()
        );
    }
    let right = show(&mut engine, &["cpu-scalar"], |state| {
        state.errors = Errors::Reference
    });
    let error = right.sides[0].worst.map(|worst| worst.error).unwrap();
    assert!(error > 0.0 && error < 1e-5, "{error}: rounding alone");
    for (errors, side) in [
        (Errors::Reference, 1),
        (Errors::Sides, 0),
        (Errors::Sides, 1),
    ] {
        let shown = show(&mut engine, &["cpu-scalar", "mutant"], |state| {
            state.errors = errors
        });
        let worst = shown.sides[side].worst.unwrap();
        assert!(worst.error > 1e-3 && worst.item == MOVED, "{worst:?}");
        let bright = covered(&shown.sides[side])
            .iter()
            .filter(|color| color[0] > 150)
            .count();
        assert!(bright > 10, "{errors:?}: {bright} bright pixels");
    }
}

#[test]
fn what_cannot_be_shown_is_told_and_the_rest_goes_on() {
    let Some(mut small) = engine(|| 10_000_000) else {
        return;
    };
    let shown = show(&mut small, &["cpu-scalar"], |state| {
        state.run.instances = Some(10_000)
    });
    let problem = shown.sides[0].problem.as_deref().unwrap();
    assert!(
        problem.contains("the crowd needs") && problem.contains("only 10.0 MB is available"),
        "{problem}"
    );
    let shown = show(&mut small, &["cpu-scalar"], |_| {});
    assert_eq!(shown.sides[0].problem, None, "a smaller crowd fits again");

    let shown = show(
        &mut small,
        &["cpu-simd:lanes-interleaved", "cpu-scalar"],
        |_| {},
    );
    assert_eq!(
        shown.sides[0].problem.as_deref(),
        Some("its output cannot be drawn")
    );
    assert!(!covered(&shown.sides[1]).is_empty());

    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join("odd.toml");
    std::fs::write(&odd, "[[group]]\nmodel = \"walker\"\nclip = \"fly\"").unwrap();
    let shown = show(&mut small, &["cpu-scalar"], |state| {
        state.switch_to(odd.to_str().unwrap());
    });
    let problem = shown.problem.unwrap();
    assert!(
        problem.contains("odd.toml:3:8: unknown clip \"fly\""),
        "{problem}"
    );
    assert!(
        !shown.sides[0].pixels.is_empty(),
        "what was there before stays"
    );
}

#[test]
fn threads_are_chosen_and_given_back() {
    let Some(mut engine) = engine(|| 1 << 30) else {
        return;
    };
    let mut device = |threads| {
        let shown = show(&mut engine, &["cpu-rayon"], |state| state.threads = threads);
        assert_eq!((shown.problem, &shown.sides[0].problem), (None, &None));
        shown.sides[0].device.clone()
    };
    let all = device(None);
    assert!(device(Some(3)).contains("3 threads"), "{}", device(Some(3)));
    assert_eq!(device(None), all);
}

#[test]
fn pictures_show_textures_and_notes_tell_of_those_that_are_missing() {
    let Some(mut engine) = engine(|| 1 << 30) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("textured.glb");
    let mut parts = crate::characters::walker(1_000).unwrap().into_parts();
    let mut bytes = Vec::new();
    let red = image::RgbImage::from_pixel(4, 4, image::Rgb([255, 0, 0]));
    red.write_to(
        &mut std::io::Cursor::new(&mut bytes),
        image::ImageFormat::Png,
    )
    .unwrap();
    for material in &mut parts.materials {
        let image = crate::model::Image::Embedded(bytes.as_slice().into());
        let texture = crate::model::Texture {
            image,
            wrap: Default::default(),
            transform: crate::model::Texture::IDENTITY,
        };
        (material.base_color, material.texture) = ([1.0; 4], Some(texture));
    }
    let model = crate::model::Model::new(parts).unwrap();
    std::fs::write(&path, crate::asset::glb::to_glb(&model).unwrap()).unwrap();
    let mut shown_with = |from: &[u8], to: &[u8]| {
        let mut file = std::fs::read(&path).unwrap();
        let places: Vec<usize> = (0..file.len() - from.len())
            .filter(|&at| file[at..].starts_with(from))
            .collect();
        places
            .into_iter()
            .for_each(|at| file[at..at + to.len()].copy_from_slice(to));
        std::fs::write(&path, file).unwrap();
        show(&mut engine, &["cpu-scalar"], |state| {
            state.switch_to(path.to_str().unwrap());
            state.run.instances = Some(4 + to.len() as u64);
        })
    };
    let reds = |shown: &ShownFrame| {
        covered(&shown.sides[0])
            .iter()
            .filter(|[r, g, _]| *r > 60 && *g == 0)
            .count()
    };
    let shown = shown_with(b"", b"");
    assert!(reds(&shown) > 300, "{} red pixels", reds(&shown));
    assert_eq!(shown.facts.unwrap().notes, Vec::<String>::new());
    let shown = shown_with(b"IHDR", b"IXXX");
    assert_eq!(reds(&shown), 0, "plain white");
    let notes = shown.facts.unwrap().notes;
    assert!(
        matches!(&notes[..], [note] if note.starts_with("textured: a texture is left out: ")),
        "{notes:?}"
    );
}

#[test]
fn a_device_that_cannot_be_opened_is_told_until_another_attempt() {
    use std::cell::Cell;
    if engine(|| 1 << 30).is_none() {
        return;
    }
    let attempts = Cell::new(0);
    let open = move || {
        attempts.set(attempts.get() + 1);
        match attempts.get() {
            1 => Err("device lost: unplugged".into()),
            _ => Gpu::open(None)
                .map(|gpu| Context {
                    gpu: Some(gpu),
                    ..Context::default()
                })
                .map_err(|e| e.to_string()),
        }
    };
    let mut engine = Engine::new(Box::new(open), make, || 1 << 30, Build::default());
    let shown = show(&mut engine, &["cpu-scalar"], |_| {});
    assert_eq!(shown.problem.as_deref(), Some("device lost: unplugged"));
    let shown = show(&mut engine, &["cpu-scalar"], |state| state.attempt = 1);
    assert_eq!(
        (shown.problem, shown.sides[0].pixels.len()),
        (None, 160 * 90 * 4)
    );
}

#[test]
fn a_measurement_is_the_harness_own_and_pictures_go_on_after_it() {
    use crate::view::worker::{Answer, Worker};
    if engine(|| 1 << 30).is_none() {
        return;
    }
    let make = || engine(|| 1 << 30).unwrap();
    let mut worker = Worker::start(make, || {}).unwrap();
    let state = state(&["cpu-scalar", "mutant"], |_| {});
    let patience = Duration::from_secs(120);
    worker.show(state.clone(), SIZE);
    let Some(Answer::Shown(before)) = worker.answer(patience) else {
        panic!("no picture")
    };
    worker.measure(
        state.scene(),
        vec!["cpu-scalar".into(), "cpu-simd:lanes".into()],
    );
    let mut progress = Vec::new();
    let table = loop {
        match worker.answer(patience).unwrap() {
            Answer::Progress(what, done) => progress.push((what, done)),
            Answer::Measured(table) => break table.unwrap(),
            Answer::Shown(_) => panic!("a picture that was not asked for"),
        }
    };
    assert!(
        progress
            .iter()
            .any(|(what, _)| what == "measuring cpu-scalar"),
        "{progress:?}"
    );
    // Rows are sorted by their times, so either backend may be first.
    let mut backends: Vec<&str> = table.rows[1..].iter().map(|row| row[0].as_str()).collect();
    backends.sort_unstable();
    assert_eq!(backends, ["cpu-scalar", "cpu-simd:lanes"], "{table:?}");
    assert!(table.text.contains("42 "), "{table:?}");
    assert!(!worker.is_busy());
    worker.show(state, SIZE);
    let Some(Answer::Shown(after)) = worker.answer(patience) else {
        panic!("no picture")
    };
    assert_eq!(before.sides[0].pixels, after.sides[0].pixels);
}
