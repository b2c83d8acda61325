//! Live crowds: what they refuse, that they do not drift, and that frames allocate nothing.

mod mast;

use glam::{Quat, Vec3};
use skinbench_kernels::crowd::{
    Fade, InstanceId, LayerKind, LiveCrowd, LiveGroup, LiveLayer, Play, REST, UNMASKED, time,
};
use skinbench_kernels::model::{IDENTITY_ROWS, Model, Rows, Transform};
use skinbench_kernels::pose::{CrowdPose, NoClock, PoseOut, Width};
use skinbench_kernels::simd::Isa;
use skinbench_kernels::threads::Threads;
use skinbench_kernels::vertex::VertexFormat;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn mast() -> Arc<Model> {
    Arc::new(mast::mast().unwrap())
}

fn layer(kind: LayerKind) -> LiveLayer {
    LiveLayer {
        kind,
        mask: UNMASKED,
    }
}

/// A group with inertial fades and an override layer.
fn group(capacity: u32) -> LiveGroup {
    LiveGroup {
        layers: vec![layer(LayerKind::Merge), layer(LayerKind::Override)],
        clips: 5,
        inertial: true,
        ..LiveGroup::new(mast(), capacity)
    }
}

fn live(groups: Vec<LiveGroup>, overrides: usize) -> LiveCrowd {
    LiveCrowd::new(VertexFormat::default(), groups, overrides).unwrap()
}

const BENT: Transform = Transform {
    translation: Vec3::X,
    ..Transform::IDENTITY
};

#[test]
fn frames_allocate_nothing() {
    let mut live = live(vec![group(20), group(3)], 23);
    let threads = Threads::One;
    let mut pose = CrowdPose::new(live.crowd(), Width::Block, Isa::strongest(), &threads);
    let mut palettes: Vec<Rows> = vec![[0.0; 12]; live.crowd().palette_entries() as usize];
    let mut ids: [Option<InstanceId>; 23] = [None; 23];
    let before = ALLOCATIONS.get();
    for frame in 0..600usize {
        live.set_time(frame as f64 / 144.0).unwrap();
        let slot = frame * 7 % 23;
        let group = usize::from(slot >= 20);
        match ids[slot] {
            None => ids[slot] = Some(live.spawn(group, IDENTITY_ROWS, Play::looping(0)).unwrap()),
            Some(id) if frame % 5 == 0 => {
                live.remove(id).unwrap();
                ids[slot] = None;
            }
            Some(id) => {
                let fade = [Fade::Cross, Fade::Inertial][frame % 2];
                let play = Play::looping((frame % 3 % 2) as u32).with_fade(fade, 0.4);
                live.play(id, 0, play).unwrap();
                live.play(id, 1, Play::once(1).with_fade(Fade::Cross, 0.3))
                    .unwrap();
                live.set_weight(id, 1, 0.5).unwrap();
                live.set_speed(id, 0, 0.7).unwrap();
                let joint = (frame % 4 == 0).then_some(BENT);
                live.set_joint(id, 1, joint).unwrap();
                live.show(id, frame % 9 != 0).unwrap();
            }
        }
        let out = PoseOut::rows(&mut palettes);
        pose.pose(live.crowd(), 0, &threads, &NoClock, out);
    }
    assert_eq!(ALLOCATIONS.get(), before);
}

/// A day of uneven frames and changes of speed: the phase is that of the sum, computed at once.
#[test]
fn phases_do_not_drift() {
    let mut live = live(vec![LiveGroup::new(mast(), 1)], 0);
    let id = live.spawn(0, IDENTITY_ROWS, Play::looping(1)).unwrap();
    let mut shown = 0.0;
    let mut now = 0.0;
    let mut speed = 1.0;
    for frame in 0..100_000u32 {
        // Multiples of 1/1024, which f64 sums exactly.
        let step = f64::from(500 + frame * 7 % 750) / 1_024.0;
        now += step;
        shown += step * speed;
        live.set_time(now).unwrap();
        if frame % 100 == 0 {
            speed = f64::from(frame % 13) / 8.0 - 0.5;
            live.set_speed(id, 0, speed).unwrap();
        }
    }
    assert!(now > 80_000.0);
    let layers = live.crowd().layers().of(0);
    let off = f64::from(time(layers, 1, 0)) - shown.rem_euclid(2.0);
    assert!(off.abs() < 1e-6, "off by {off}");
}

#[test]
fn fades_that_are_interrupted_do_not_jump() {
    let mut live = live(vec![group(1)], 0);
    let id = live.spawn(0, IDENTITY_ROWS, Play::looping(0)).unwrap();
    let mut before = None;
    let mut largest = 0.0f32;
    let mut pose = CrowdPose::new(live.crowd(), Width::One, Isa::Scalar, &Threads::One);
    for frame in 0..400 {
        // Slower than a clip of a second, so that loops jump by no more than fades.
        live.set_time(f64::from(frame) / 1_000.0).unwrap();
        if frame % 20 == 5 {
            let fade = [Fade::Inertial, Fade::Cross][frame as usize / 20 % 2];
            let start = 0.1 + f64::from(frame * 7 % 80) / 100.0;
            let play = Play {
                start,
                speed: 0.1,
                ..Play::looping(1).with_fade(fade, 0.06)
            };
            live.play(id, 0, play).unwrap();
        }
        let mut palette: Vec<Rows> = vec![[0.0; 12]; 2];
        pose.pose(
            live.crowd(),
            0,
            &Threads::One,
            &NoClock,
            PoseOut::rows(&mut palette),
        );
        let now = palette[1][0];
        largest = largest.max((now - before.unwrap_or(now)).abs());
        before = Some(now);
    }
    assert!(largest > 1e-3 && largest < 0.15, "a jump of {largest}");
}

#[test]
fn what_cannot_be_is_refused_with_what_could() {
    let refused = |group: LiveGroup| {
        let crowd = LiveCrowd::new(VertexFormat::default(), vec![group], 0);
        crowd.err().unwrap().to_string()
    };
    let plain = LiveGroup::new(mast(), 1);
    let over = layer(LayerKind::Override);
    let merge = layer(LayerKind::Merge);
    let with = |layers: Vec<LiveLayer>| LiveGroup {
        layers,
        ..plain.clone()
    };
    assert_eq!(
        refused(with(vec![over])),
        "expected merge layers first, one at least, then the others"
    );
    assert_eq!(
        refused(with(vec![merge, over, merge])),
        "expected merge layers first, one at least, then the others"
    );
    assert_eq!(
        refused(with(vec![merge; 4])),
        "4 clips at once for 4 layers; expected 5 to 7"
    );
    assert_eq!(
        refused(LiveGroup {
            clips: 8,
            ..plain.clone()
        }),
        "8 clips at once for 1 layers; expected 2 to 7"
    );
    assert_eq!(
        refused(LiveGroup {
            inertial: true,
            clips: 3,
            ..plain.clone()
        }),
        "3 clips at once for 1 layers; expected 4 to 7"
    );
    let masked = LiveLayer { mask: 0, ..over };
    assert_eq!(
        refused(with(vec![merge, masked])),
        "layer 1 has mask 0; the group has 0"
    );
    let two = LiveGroup {
        inertial: true,
        clips: 6,
        ..with(vec![merge; 2])
    };
    assert_eq!(
        refused(two),
        "inertial fades of 2 merge layers; expected one, without a mask"
    );
    assert!(refused(LiveGroup::new(mast(), 0)).starts_with("no instance of"));

    let mut live = live(vec![group(1), plain], 2);
    let play = Play::looping(0);
    let text = |result: Result<(), _>| -> String {
        let error: skinbench_kernels::crowd::CrowdError = result.unwrap_err();
        error.to_string()
    };
    let id = live.spawn(0, IDENTITY_ROWS, play).unwrap();
    let full = live.spawn(0, IDENTITY_ROWS, play).unwrap_err();
    assert_eq!(full.to_string(), "all 1 instances exist already");
    let other = live.spawn(1, IDENTITY_ROWS, play).unwrap();
    let none = live.spawn(2, IDENTITY_ROWS, play).unwrap_err();
    assert_eq!(none.to_string(), "group 2; the crowd has 2");
    assert_eq!(
        text(live.play(id, 0, Play::looping(7))),
        "clip 7; the model has 2"
    );
    assert_eq!(text(live.play(id, 2, play)), "layer 2; the instance has 2");
    let inertial = play.with_fade(Fade::Inertial, 0.5);
    assert!(text(live.play(id, 1, inertial)).starts_with("an inertial fade of layer 1"));
    assert!(text(live.play(other, 0, inertial)).starts_with("an inertial fade of layer 0"));
    assert!(
        text(live.play(
            id,
            0,
            Play {
                speed: f64::NAN,
                ..play
            }
        ))
        .contains("at speed NaN")
    );
    let late = Play {
        start: 1e300,
        ..play
    };
    assert_eq!(
        text(live.play(id, 0, late)),
        "a clip from 1e300 s at speed 1e0 with a fade of 0e0 s; expected at most 1e10 s and 1000 either way, and a fade of 0 to \
         3600 s"
    );
    assert!(text(live.play(id, 0, play.with_fade(Fade::Cross, -1.0))).contains("a fade of -1e0 s"));
    assert_eq!(
        text(live.set_time(-1e300)),
        format!("the time -1{:0300}; expected seconds, -1e10 to 1e10", 0)
    );
    assert_eq!(
        text(live.set_speed(id, 0, -1e4)),
        "the speed -10000; expected -1000 to 1000"
    );
    assert_eq!(text(live.set_speed(id, 1, 1.0)), "layer 1 plays nothing");
    assert!(text(live.set_speed(id, 0, f64::INFINITY)).starts_with("the speed inf"));
    assert_eq!(
        text(live.set_weight(id, 1, 1.5)),
        "the weight 1.5; expected 0 to 1"
    );
    assert_eq!(
        text(live.set_weight(id, 0, -1.0)),
        "the weight -1; expected 0 to 1000000"
    );
    assert!(text(live.set_time(f64::NAN)).starts_with("the time NaN"));
    assert_eq!(
        text(live.set_joint(id, 2, Some(BENT))),
        "joint 2 cannot be moved; the skeleton has 2 joints"
    );
    let unturned = Transform {
        rotation: Quat::from_xyzw(0.0, 0.0, 0.0, 0.0),
        ..BENT
    };
    assert!(text(live.set_joint(id, 1, Some(unturned))).starts_with("the pose Transform"));
    live.set_joint(id, 0, Some(BENT)).unwrap();
    live.set_joint(id, 1, Some(BENT)).unwrap();
    let full = text(live.set_joint(other, 1, Some(BENT)));
    assert_eq!(
        full,
        "the poses of 2 joints are given already; the crowd has room for no more"
    );
    live.remove(id).unwrap();
    assert_eq!(text(live.remove(id)), "instance 0 was removed");
    assert_eq!(
        live.crowd().joint_overrides(0).count(),
        1,
        "the one that hides it"
    );
    let next = live.spawn(0, IDENTITY_ROWS, Play::looping(REST)).unwrap();
    assert!(next.instance == id.instance && live.show(id, true).is_err());
    assert_eq!(
        live.crowd().joint_overrides(0).count(),
        0,
        "nothing is left of it"
    );
}

/// Every sequence of calls keeps an instance within its layers.
#[test]
fn any_sequence_of_calls_fits() {
    let mut live = live(vec![group(1)], 0);
    let id = live.spawn(0, IDENTITY_ROWS, Play::looping(0)).unwrap();
    let mut state = 1u32;
    let mut dice = |sides: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % sides
    };
    for _ in 0..100_000 {
        let mut play = Play::looping(dice(2));
        let layer = dice(2) as usize;
        if dice(3) == 0 {
            play.clip = REST;
        }
        let fade = if layer == 0 && dice(2) == 0 {
            Fade::Inertial
        } else {
            Fade::Cross
        };
        live.play(id, layer, play.with_fade(fade, f64::from(dice(4)) / 8.0))
            .unwrap();
        if dice(2) == 0 {
            let step = f64::from(dice(20)) / 64.0 - 0.05;
            live.set_time(live.time() + step).unwrap();
        }
        let layers = live.crowd().layers().of(0);
        let weights = layers.iter().map(|layer| layer.weight_at(0));
        assert!(weights.clone().all(|weight| (0.0..=1.0).contains(&weight)));
        assert!(weights.sum::<f32>() > 0.99, "{layers:?}");
    }
}
