//! Abilities: a backend refuses what it declares that it cannot do, by its own reason, and nothing else.

use crate::backends::common::{backends, context, crowd, crowd_of, morphing, tube};
use skinbench::characters::walker;
use skinbench::crowd::{Crowd, Fade, Layer, LayerKind, Schedule};
use skinbench::frame::{Ability, Job, Retention};
use skinbench::gameplay::Gameplay;
use skinbench::model::{Channel, Clip, IDENTITY_ROWS, Interpolation, Keys, Model, RotationBlend};
use skinbench::registry::REGISTRY;
use skinbench::vertex::{Attributes, Encoding, VertexFormat};
use std::sync::Arc;

/// A crowd and a job.
struct Sample {
    /// What they ask for, each with the end of the refusal.
    asks: Vec<(Ability, &'static str)>,
    crowd: Crowd,
    job: Job,
}

const UNEVEN: (Ability, &str) = (
    Ability::UnevenScale,
    ": joint \"joint 0\" of \"tube\" in clip \"bend\"",
);
const GAMEPLAY: (Ability, &str) = (
    Ability::Gameplay,
    "; needs a run without --bounds and --sockets",
);

fn samples() -> Vec<Sample> {
    let walkers = || crowd(vec![(person(), 3)]);
    let of_crowd = |asks: &[_], crowd| Sample {
        asks: asks.to_vec(),
        crowd,
        job: Job::default(),
    };
    let kept = |ability, needs, keep| Sample {
        asks: vec![(ability, needs)],
        crowd: walkers(),
        job: Job {
            keep,
            ..Job::default()
        },
    };
    let read = |asks: &[_], bounds, sockets: &[&str]| {
        let sockets: Vec<_> = sockets.iter().map(|socket| (*socket).to_owned()).collect();
        let gameplay = Some(Arc::new(
            Gameplay::new(&walkers(), bounds, &sockets).unwrap(),
        ));
        Sample {
            asks: asks.to_vec(),
            crowd: walkers(),
            job: Job {
                gameplay,
                ..Job::default()
            },
        }
    };
    let held = Layer::held(0, 0.1);
    let over = Layer {
        kind: LayerKind::Override,
        ..held
    };
    let schedule = Schedule {
        period: 100,
        offset: 0,
        length: 50,
        fade_in: 10,
        fade_out: 10,
    };
    let added = Layer {
        kind: LayerKind::Additive,
        ..Layer::held(person().clips().len() as u32 - 1, 0.0)
    };
    let targets = (
        Ability::MorphTargets,
        ", of which \"tube\" has 5; needs models without them",
    );
    let packed = VertexFormat {
        encoding: Encoding::Packed,
        ..VertexFormat::default()
    };
    let tangents = VertexFormat {
        attributes: Attributes::Pnt,
        ..VertexFormat::default()
    };
    vec![
        of_crowd(&[], walkers()),
        of_crowd(
            &[(Ability::PackedOutput, "; needs --output f32")],
            crowd_of(packed, vec![(person(), 3)]),
        ),
        kept(
            Ability::RingOutput,
            "; needs --output f32 or packed",
            Retention::Ring,
        ),
        kept(
            Ability::Motion,
            "; needs a run without --motion",
            Retention::TwoFrames,
        ),
        of_crowd(&[UNEVEN], crowd(vec![(tube(5, 9, 3), 2)])),
        of_crowd(
            &[(
                Ability::ScaleBeyond(65_504),
                "; needs joints that scale by at most 65504; \"walker\" has 70000",
            )],
            crowd(vec![(grown(7e4), 9)]),
        ),
        of_crowd(
            &[(Ability::VanishingScale, ": joint \"pelvis\" of \"walker\"")],
            shrunk(),
        ),
        of_crowd(
            &[(
                Ability::MirroredScale,
                ": joint \"neck_01\" of \"walker\" in a clip",
            )],
            crowd(vec![(grown(-1.0), 9)]),
        ),
        of_crowd(
            &[
                UNEVEN,
                (
                    Ability::EntriesBeyond(96),
                    "; needs models with at most 96 palette entries; \"tube\" has 100",
                ),
            ],
            crowd(vec![(tube(5, 9, 3), 2), (tube(100, 9, 3), 2)]),
        ),
        of_crowd(
            &[UNEVEN, targets],
            crowd(vec![(morphing(tube(5, 9, 3)), 2)]),
        ),
        of_crowd(
            &[UNEVEN, targets],
            crowd_of(tangents, vec![(morphing(tube(5, 9, 3)), 2)]),
        ),
        of_crowd(
            &[(Ability::UpdateRates, "; needs a crowd without update rates")],
            walkers().with_update_rates(|_| 2).unwrap(),
        ),
        of_crowd(
            &[(Ability::Turnover, "; needs a run without --turnover")],
            walkers().with_turnover(0.1, 1).unwrap(),
        ),
        of_crowd(&[], walkers().with_frozen(0.8, 1).unwrap()),
        of_crowd(&[], layered(&[held; 4])),
        of_crowd(
            &[(
                Ability::LayersBeyond(4),
                "; needs instances with no more layers",
            )],
            layered(&[held; 5]),
        ),
        of_crowd(
            &[(Ability::Masks, "; needs a crowd without masks")],
            layered(&[held, Layer { mask: 0, ..over }]),
        ),
        of_crowd(
            &[(
                Ability::AdditiveLayers,
                "; needs a crowd without additive layers",
            )],
            layered(&[held, added]),
        ),
        of_crowd(
            &[(
                Ability::InertialFades,
                "; needs a crowd whose layers fade by weight, not inertially",
            )],
            layered(&[
                held,
                Layer {
                    fade: Fade::Inertial,
                    schedule,
                    ..over
                },
            ]),
        ),
        read(
            &[
                (Ability::Bounds, "; needs a run without --bounds"),
                GAMEPLAY,
            ],
            true,
            &[],
        ),
        read(&[GAMEPLAY], false, &["head"]),
    ]
}

/// A walker whose last clip is its first as differences.
fn person() -> Model {
    let mut model = walker(500).unwrap();
    let additive = model.clips()[0].additive().unwrap();
    model.add_clip(additive).unwrap();
    model
}

/// A walker with a clip in which its neck has this scale, and which some instance of nine plays.
fn grown(scale: f32) -> Model {
    scaled(7, scale)
}

/// A walker of which every instance is so small that f32 numbers have no square of its scale.
fn shrunk() -> Crowd {
    let model = scaled(0, 1e-20);
    let held = Layer::held(model.clips().len() as u32 - 1, 0.0);
    let mut crowd = Crowd::new();
    crowd
        .push_group(Arc::new(model), [(IDENTITY_ROWS, held)])
        .unwrap();
    crowd
}

/// A walker whose last clip scales a joint.
fn scaled(joint: u16, scale: f32) -> Model {
    let mut model = walker(500).unwrap();
    let (channel, interpolation) = (Channel::Scale, Interpolation::Linear);
    let keys = Keys {
        joint,
        channel,
        interpolation,
        times: vec![0.0],
        values: vec![scale; 3],
    };
    model
        .add_clip(Clip::new("grown", None, RotationBlend::Slerp, vec![keys]).unwrap())
        .unwrap();
    model
}

/// One instance that plays these layers.
fn layered(layers: &[Layer]) -> Crowd {
    let model = Arc::new(person());
    let mask = vec![0.5; model.skeleton().names().len()];
    let mut crowd = Crowd::new();
    crowd
        .push_masked_group(model, &[mask], [(IDENTITY_ROWS, layers)])
        .unwrap();
    crowd
}

#[test]
fn a_backend_refuses_what_it_lacks_and_nothing_else() {
    let (context, samples) = (context(), samples());
    for (entry, backend) in backends(&context) {
        let lacks = entry.abilities().lacks;
        for Sample { asks, crowd, job } in &samples {
            let message = |ability| {
                asks.iter()
                    .find(|(asked, _)| *asked == ability)
                    .map(|(_, end)| *end)
            };
            let expected = lacks
                .iter()
                .find_map(|lack| Some(format!("{}{}", lack.reason, message(lack.ability)?)));
            let refusal = backend
                .footprint(crowd, job)
                .err()
                .map(|refusal| refusal.to_string());
            let begins = |start| {
                refusal
                    .as_ref()
                    .is_some_and(|refusal| refusal.starts_with(start))
            };
            let of_adapter =
                begins("the adapter ") && std::env::var_os("SKINBENCH_REQUIRE_GPU").is_none();
            // How exactly clips can be baked shows only when they are.
            if !of_adapter && !begins("no baking rate keeps clip \"grown\"") {
                let asked: Vec<_> = asks
                    .iter()
                    .map(|(ability, _)| ability.to_string())
                    .collect();
                assert_eq!(
                    refusal,
                    expected,
                    "{} asked for {}",
                    entry.name,
                    asked.join(", ")
                );
            }
        }
    }
}

/// Otherwise a refusal would be untested.
#[test]
fn every_lack_has_a_sample() {
    let asked: Vec<_> = samples()
        .into_iter()
        .flat_map(|sample| sample.asks)
        .map(|(ability, _)| ability)
        .collect();
    for lack in REGISTRY.iter().flat_map(|entry| entry.abilities().lacks) {
        assert!(asked.contains(&lack.ability), "{}", lack.ability);
    }
}
