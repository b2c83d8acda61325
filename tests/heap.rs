//! Memory of CPU backends, counted by the allocator: what they promise is what they take, and a frame takes nothing.
//! A binary of its own, because the allocator is that of the whole process.

use skinbench::backend::Context;
use skinbench::characters;
use skinbench::characters::face;
use skinbench::characters::walker;
use skinbench::crowd::{Crowd, Layer};
use skinbench::frame::{FrameInput, Job, OutputBuffers, Purpose, StageTimer};
use skinbench::gameplay::Gameplay;
use skinbench::model::{IDENTITY_ROWS, Model};
use skinbench::registry::REGISTRY;
use skinbench::scene::{Clips, Scene, Settings};
use skinbench::vertex::Attributes;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts the bytes in use.
struct Counting;

static USED: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        USED.fetch_add(layout.size() as u64, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size() as u64, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Largest difference of a promise from the heap: lists grow by doubling, and threads have small things of their own.
const SPARE: u64 = 64 << 10;

fn crowd(models: Vec<(Model, usize)>) -> Crowd {
    let mut crowd = Crowd::new();
    for (model, count) in models {
        let model = Arc::new(model);
        let instances = (0..count).map(|i| {
            let clip = (i % model.clips().len()) as u32;
            (
                IDENTITY_ROWS,
                Layer::looping(&model, clip, (i as u32).wrapping_mul(0x9e37_79b9), 1.0),
            )
        });
        let instances: Vec<_> = instances.collect();
        crowd.push_group(model, instances).unwrap();
    }
    crowd
}

#[test]
fn promises_are_what_the_heap_gives() {
    let context = Context::default();
    let crowds = [
        crowd(vec![(walker(500).unwrap(), 1)]),
        crowd(vec![
            (walker(500).unwrap(), 300),
            (characters::star_64().unwrap(), 37),
        ]),
        crowd(vec![(walker(1_000).unwrap(), 2_000)]),
        crowd(vec![
            (face(1_000, 1).unwrap(), 300),
            (walker(500).unwrap(), 5),
        ]),
    ];
    // Every way of storing and posing that takes memory of its own.
    let few = Settings {
        instances: Some(300),
        vertices: Some(600),
        ..Settings::default()
    };
    let scenes = [
        (
            "walkers",
            Settings {
                clips: Some(Clips::Compact),
                ..few.clone()
            },
        ),
        (
            "walkers",
            Settings {
                update_rate: Some([14.0, 18.0]),
                ..few.clone()
            },
        ),
        (
            "street",
            Settings {
                turnover: Some(0.05),
                ..few.clone()
            },
        ),
        (
            "walkers",
            Settings {
                turnover: Some(0.05),
                frozen: Some(0.8),
                ..few.clone()
            },
        ),
        (
            "faces",
            Settings {
                attributes: Some(Attributes::Pnt),
                ..few
            },
        ),
    ];
    let built = |(name, settings): (&str, Settings)| {
        Scene::load(name)
            .unwrap()
            .with(settings)
            .build(1 << 30)
            .unwrap()
    };
    let crowds: Vec<Crowd> = crowds
        .into_iter()
        .chain(scenes.map(built).map(|scene| scene.crowd))
        .collect();
    let head = ["head".to_owned()];
    let read = Gameplay::new(&crowds[2], true, &head).unwrap();
    let gameplay = Job {
        gameplay: Some(Arc::new(read)),
        ..Job::default()
    };
    let plain = crowds.iter().map(|crowd| (crowd, Job::default()));
    let mut kept = 0;
    for (crowd, job) in plain.chain([(&crowds[2], gameplay)]) {
        let mut output = OutputBuffers::default();
        output.allocate_host(crowd);
        for entry in REGISTRY.iter() {
            let Ok(backend) = entry.create(&context) else {
                continue;
            };
            let Ok(promised) = backend.footprint(crowd, &job) else {
                continue;
            };
            let before = USED.load(Relaxed);
            let mut prepared = backend.prepare(crowd, &job).unwrap();
            let taken = USED.load(Relaxed) - before;
            let place = format!("{}, {} instances", entry.name, crowd.instance_count());
            let promise = promised.host.total();
            let spare = SPARE + promise / 50;
            assert!(
                taken.abs_diff(promise) <= spare,
                "{place}: took {taken} bytes, promised {promise}"
            );
            let mut timer = StageTimer::default();
            for tick in 0..3 {
                let mut frame = FrameInput {
                    crowd,
                    tick,
                    output: &mut output,
                };
                prepared
                    .submit(&mut frame, &mut timer)
                    .unwrap()
                    .finish()
                    .unwrap();
            }
            let after = USED.load(Relaxed) - before;
            // A trial on the host ends with the first frame.
            let tried = prepared.footprint(crowd).host.get(Purpose::Staging);
            let left = taken - if promised.host_output { tried } else { 0 };
            assert!(
                after.abs_diff(left) <= spare,
                "{place}: {after} bytes after frames, {left} needed"
            );
            kept += 1;
        }
    }
    assert!(kept >= 11 * 7, "{kept} backends");
}
