use super::placing::Stand;
use super::*;
use crate::characters;
use crate::crowd::REST;
use crate::error::DataError;
use crate::model::{Axes, Handedness, Model, rows_to_affine};
use crate::reference::ReferencePose;
use glam::{DVec2, DVec3, Vec3};

const MEMORY: u64 = 1 << 30;

fn parse(text: &str) -> Result<Scene, DataError> {
    SceneFile {
        name: "test".into(),
        file: "test.toml".into(),
        text: text.into(),
        folder: "models".into(),
    }
    .read()
}

fn built(text: &str) -> BuiltScene {
    parse(text).unwrap().build(MEMORY).unwrap()
}

fn with(settings: Settings, text: &str) -> Vec<u64> {
    parse(text)
        .unwrap()
        .with(settings)
        .groups
        .iter()
        .map(|g| g.count)
        .collect()
}

#[test]
fn built_in_scenes_are_sound() {
    // Fewer vertices are built faster.
    let vertices = Some(600);
    for (name, _) in BUILT_IN {
        let scene = Scene::load(name).unwrap();
        assert_eq!(scene.name, name);
        let few = Settings {
            instances: Some(scene.least_instances().max(5)),
            vertices,
            ..Settings::default()
        };
        scene.with(few).build(MEMORY).unwrap();
    }
    let instances = |name| Scene::load(name).unwrap().instances();
    assert_eq!(
        ["walkers", "kernel", "crowd-10k"].map(instances),
        [1_000, 256, 10_000]
    );
}

#[test]
fn wrong_scenes_name_the_place_and_what_is_accepted() {
    let group = |keys: &str| format!("[[group]]\nmodel = \"walker\"\n{keys}");
    for (text, expected) in [
        (
            "sed = 1".into(),
            "test.toml:1:1: unknown key \"sed\"; did you mean \"seed\"? expected seed, resolution,",
        ),
        (
            group("cuont = 1"),
            "test.toml:3:1: unknown key \"cuont\"; did you mean \"count\"?",
        ),
        (
            "[camera]\nzoom = 1".into(),
            "test.toml:2:1: unknown key \"zoom\"; expected orbit,",
        ),
        (
            group("count = 0"),
            "test.toml:3:9: count = 0; expected 1 or more",
        ),
        (
            group("count = -3"),
            "test.toml:3:9: invalid value: integer `-3`, expected u64",
        ),
        (
            group("count = \"many\""),
            "test.toml:3:9: invalid type: string \"many\", expected u64",
        ),
        (
            group("  spacing = -0.5"),
            "test.toml:3:13: spacing = -0.5; expected metres, more than 0",
        ),
        (
            group("spacing = nan"),
            "test.toml:3:11: spacing = NaN; expected metres",
        ),
        (
            group("scale = inf"),
            "test.toml:3:9: scale = inf; expected metres per unit",
        ),
        (
            group("spacing = 1e300"),
            "expected metres, more than 0 and at most 1e18",
        ),
        (
            group("speed = nan"),
            "test.toml:3:9: speed = NaN; expected -1000 to 1000",
        ),
        (
            group("speed_spread = 1.1"),
            "speed_spread = 1.1; expected 0 to 1",
        ),
        (
            group("phase_spread = -0.1"),
            "phase_spread = -0.1; expected 0 to 1",
        ),
        (
            group("yaw_spread = 181"),
            "yaw_spread = 181; expected 0 to 180 degrees",
        ),
        (
            group("layout = \"gird\""),
            "test.toml:3:10: unknown value \"gird\"; did you mean \"grid\"? expected grid,",
        ),
        (
            group("clip = 1.5"),
            "test.toml:3:8: invalid type: floating point `1.5`, expected a clip's name or number",
        ),
        (
            group("vertices = 0"),
            "test.toml:3:12: vertices = 0; expected 1 or more",
        ),
        (
            "[[group]]\nmodel = \"waker\"".into(),
            "test.toml:2:9: unknown model \"waker\"; did you mean \"walker\"?",
        ),
        (
            "[[group]]\ncount = 1".into(),
            "test.toml:1:1: no `model`; expected one",
        ),
        (
            group("influences = 17"),
            "test.toml:3:14: influences = 17; expected 1 to 16",
        ),
        (
            group("frames_per_second = 60"),
            "test.toml:3:21: frames_per_second = 60; expected 1 to 50",
        ),
        (
            "seed = 1\n".into(),
            "test.toml:2:1: no [[group]]; expected at least one",
        ),
        (
            format!("passes = 65\n{}", group("")),
            "test.toml:1:10: passes = 65; expected 0 to 64",
        ),
        (
            format!("resolution = [0, 9]\n{}", group("")),
            "test.toml:1:14: resolution = [0, 9]; expected 1 to 8192",
        ),
        (
            format!("resolution = [9]\n{}", group("")),
            "test.toml:1:14: invalid length 1",
        ),
        (
            format!("update_rate = [9, 3]\n{}", group("")),
            "test.toml:1:15: update_rate = 9,3; expected metres",
        ),
        (
            format!("update_rate = [nan, 3]\n{}", group("")),
            "update_rate = NaN,3; expected metres",
        ),
        (
            format!("turnover = 1.5\n{}", group("")),
            "test.toml:1:12: turnover = 1.5; expected a share, 0 to 1",
        ),
        (
            format!("frozen = 0.5\nlod = \"mesh\"\n{}", group("")),
            "test.toml:1:10: frozen beside lod; expected one of them",
        ),
        (
            format!("motion = true\noutput = \"ring\"\n{}", group("")),
            "test.toml:1:10: motion beside output ring; expected one of them",
        ),
        (
            format!("[camera]\nelevation = 90\n{}", group("")),
            "elevation = 90; expected -89 to 89 degrees",
        ),
        (
            format!("[camera]\ndistance = 0\n{}", group("")),
            "distance = 0; expected a factor of more than 0",
        ),
        (
            format!("[camera]\nfield_of_view = 180\n{}", group("")),
            "field_of_view = 180; expected more than 0",
        ),
        (
            format!("# é\n[camera]\norbit = \"é\" # é\n{}", group("")),
            "test.toml:3:9: invalid type: string",
        ),
        ("[[group]\n".into(), "test.toml:1:"),
        ("\u{0}".into(), "test.toml:1:"),
        (String::new(), "test.toml:1:1: no [[group]]"),
    ] {
        let error = parse(&text).expect_err(&text).to_string();
        assert!(
            error.contains(expected),
            "{text:?}\n   gave {error}\nnot {expected}"
        );
        assert!(!error.contains('\n'), "{error:?}");
    }
}

#[test]
fn each_of_several_models_has_an_instance() {
    let many = Scene::of_models(&["sprout-glb"; 120]).unwrap();
    assert_eq!(many.instances(), 120);
    let few = Settings {
        instances: Some(2),
        ..Settings::default()
    };
    let several = Scene::of_models(&["walker", "face", "sprout-glb"]).unwrap();
    assert_eq!(several.with(few.clone()).instances(), 3);
    // People are drawn from any number.
    assert_eq!(Scene::load("people").unwrap().with(few).instances(), 2);
}

#[test]
fn people_among_other_models_are_as_few_as_asked() {
    let built = |instances, models| {
        let settings = Settings {
            instances: Some(instances),
            models,
            ..Settings::default()
        };
        let mixed = Scene::of_models(&["people", "sprout-glb"]).unwrap();
        mixed.with(settings).build(MEMORY)
    };
    for (instances, models, mixed) in [(2, None, 2), (5, None, 5), (70, None, 65), (70, Some(3), 4)]
    {
        let scene = built(instances, models).unwrap();
        assert_eq!(scene.crowd.instance_count() as u64, instances);
        assert_eq!(scene.mixed_models, Some(mixed));
        let sprouts = scene.crowd.groups().iter();
        assert!(
            sprouts
                .map(|group| group.model.name())
                .any(|name| name == "sprout")
        );
    }
    let people = built(3, Some(3)).unwrap_err();
    assert!(
        people.to_string().contains("expected at most 2"),
        "{people}"
    );
}

#[test]
fn fewer_instances_than_models_and_groups_are_refused() {
    let few = |instances, scene: Scene| {
        let settings = Settings {
            instances: Some(instances),
            ..Settings::default()
        };
        scene.with(settings).build(MEMORY)
    };
    let models = Scene::of_models(&["people", "sprout-glb"]).unwrap();
    let groups = parse("[[group]]\nmodel = \"walker\"\n[[group]]\nmodel = \"walker\"").unwrap();
    for (name, scene) in [("people+sprout-glb", models), ("test", groups)] {
        let error = few(1, scene.clone()).unwrap_err();
        let expected = format!(
            "--instances for {name}: instances = 1; expected 2 or more, one for each group and model"
        );
        assert_eq!(error.to_string(), expected);
        assert!(few(2, scene).is_ok());
    }
}

#[test]
fn of_settings_that_clash_the_argument_is_blamed() {
    let settings = Settings {
        update_rate: Some([1.0, 3.0]),
        ..Settings::default()
    };
    let scene = parse("frozen = 0.5\n[[group]]\nmodel = \"walker\"").unwrap();
    let error = scene.with(settings).build(MEMORY).unwrap_err();
    assert_eq!(
        error.to_string(),
        "--update-rate for test: frozen beside update_rate; expected one of them"
    );
}

#[test]
fn wrong_models_and_clips_name_their_place() {
    let error = |text| parse(text).unwrap().build(MEMORY).unwrap_err().to_string();
    assert_eq!(
        error("[[group]]\nmodel = \"walker\"\nclip = \"wlak\""),
        "test.toml:3:8: unknown clip \"wlak\"; did you mean \"walk\"? expected idle, walk, run or wave, or a number, 0 to 3"
    );
    assert!(
        error("[[group]]\nmodel = \"walker\"\nclip = 4")
            .starts_with("test.toml:3:8: unknown clip \"4\"")
    );
    assert!(
        error("[[group]]\nmodel = \"walker\"\nvertices = 7")
            .starts_with("test.toml:3:12: walker: 7 vertices")
    );
    let missing = error("[[group]]\nmodel = \"no.glb\"");
    assert!(
        missing.starts_with("test.toml:2:9: models/no.glb: "),
        "{missing}"
    );
    let unknown = Scene::load("walkrs").unwrap_err();
    assert!(
        unknown.problem.contains("did you mean \"walkers\"?"),
        "{unknown}"
    );
    assert_eq!(Scene::check_name("walkrs"), Err(unknown.problem));
    assert_eq!(Scene::check_name("no.toml"), Ok(()));
}

/// A group that walks, with the keys of one layer over it.
fn layered(keys: &str) -> String {
    format!(
        "[[group]]\nmodel = \"walker\"\nclip = \"walk\"\n[[group.layer]]\nclip = \"run\"\n{keys}"
    )
}

#[test]
fn wrong_layers_name_the_place_and_what_is_accepted() {
    for (keys, expected) in [
        (
            "wieght = 1",
            "test.toml:6:1: unknown key \"wieght\"; did you mean \"weight\"?",
        ),
        (
            "kind = \"over\"",
            "6:8: unknown value \"over\"; did you mean \"override\"? expected merge, override or additive",
        ),
        (
            "weight = -1",
            "6:10: weight = -1; expected 0 to 1, as the layer does not merge",
        ),
        (
            "kind = \"merge\"\nweight = -1",
            "7:10: weight = -1; expected a finite number, 0 or more",
        ),
        ("weight = 2", "6:10: weight = 2; expected 0 to 1"),
        ("speed = inf", "6:9: speed = inf; expected -1000 to 1000"),
        (
            "speed = 1e9",
            "6:9: speed = 1000000000; expected -1000 to 1000",
        ),
        (
            "offset = -1e6",
            "6:10: offset = -1000000; expected seconds, -100000 to 100000",
        ),
        (
            "playback = \"twice\"",
            "6:12: unknown value \"twice\"; expected loop, wrap, ping-pong or once",
        ),
        (
            "fade = \"slow\"",
            "6:8: unknown value \"slow\"; expected cross or inertial",
        ),
        (
            "fade = \"inertial\"\nkind = \"merge\"",
            "6:8: an inertial merge layer; expected kind override or additive",
        ),
        (
            "in_step = true\nspeed = 2",
            "7:9: speed of a layer in step; expected none, it is the group's",
        ),
        (
            "in_step = true\nplayback = \"once\"",
            "7:12: in step without a loop; expected playback loop or wrap",
        ),
        (
            "every = 3",
            "6:9: every without lasts; expected the seconds that the layer stays",
        ),
        (
            "every = 3\nlasts = 4",
            "7:9: lasts = 4 in every = 3; expected at most as much",
        ),
        (
            "lasts = 1\nfade_in = 0.7\nfade_out = 0.7",
            "7:11: fades of 0.7 and 0.7 s in 1 s; expected both to fit",
        ),
        ("fade_out = 1", "6:12: fade_out without lasts"),
        ("lasts = 1\nstagger = 0.5", "7:11: stagger without every"),
        ("lasts = 0", "6:9: lasts = 0; expected seconds, more than 0"),
        (
            "start = 1e6",
            "6:9: start = 1000000; expected seconds, 0 to 100000",
        ),
        (
            "mask = { joint = [] }",
            "6:10: unknown key \"joint\"; did you mean \"joints\"?",
        ),
        (
            "mask = { weights = { head = 1.5 } }",
            "6:29: head = 1.5; expected 0 to 1",
        ),
    ] {
        let error = parse(&layered(keys)).expect_err(keys).to_string();
        assert!(
            error.contains(expected),
            "{keys:?}\n   gave {error}\nnot {expected}"
        );
    }
    let layers = "[[group.layer]]\nclip = 0\n".repeat(8);
    let many = parse(&format!("[[group]]\nmodel = \"walker\"\n{layers}"))
        .unwrap_err()
        .to_string();
    assert_eq!(
        many,
        "test.toml:17:1: 8 layers; expected at most 7 over the group's own clip"
    );
    let late = parse(&format!(
        "{}\n[[group.layer]]\nclip = 0\nkind = \"merge\"",
        layered("")
    ))
    .unwrap_err()
    .to_string();
    assert_eq!(
        late,
        "test.toml:7:1: a merge layer after another kind; expected merge layers first"
    );
    let inertial = "[[group.layer]]\nclip = 0\nfade = \"inertial\"\n".repeat(2);
    let two = parse(&format!("[[group]]\nmodel = \"walker\"\n{inertial}"))
        .unwrap_err()
        .to_string();
    assert_eq!(
        two,
        "test.toml:6:1: a second inertial layer; expected at most one per group"
    );
    let none = "[[group]]\nmodel = \"walker\"\nweight = 0\n[[group.layer]]\nkind = \"merge\"\nclip = 0\nweight = 0";
    let none = parse(none).unwrap_err().to_string();
    assert_eq!(
        none,
        "test.toml:3:10: weights of merge layers that sum to 0; expected one above 0"
    );
    let all = parse(&layered("").replace("\"run\"", "\"*\""))
        .unwrap_err()
        .to_string();
    assert_eq!(
        all,
        "test.toml:5:8: clip = \"*\"; expected one clip, by name or number"
    );
}

#[test]
fn layers_that_the_model_lacks_name_their_place() {
    let error = |text: &str| parse(text).unwrap().build(MEMORY).unwrap_err().to_string();
    let clip = error(&layered("").replace("\"run\"", "\"rum\""));
    assert!(
        clip.starts_with("test.toml:5:8: unknown clip \"rum\"; did you mean \"run\"?"),
        "{clip}"
    );
    let joint = error(&layered("mask = { subtree = [\"clavicle_x\"] }"));
    assert!(
        joint.starts_with("test.toml:6:8: unknown joint \"clavicle_x\"; did you mean \"clavicle_"),
        "{joint}"
    );
    assert!(joint.contains("expected root, pelvis,"), "{joint}");
    for empty in ["{}", "{ joints = [] }", "{ weights = { head = 0 } }"] {
        let error = error(&layered(&format!("mask = {empty}")));
        assert_eq!(
            error,
            "test.toml:6:8: a mask of no joint; expected names in joints, subtree or weights",
            "{empty}"
        );
    }
    // A clip made for another layer has no index of its own.
    let derived = layered("kind = \"additive\"\n[[group.layer]]\nclip = 4");
    assert!(error(&derived).contains("unknown clip \"4\""));
}

/// The rest pose differs nowhere from itself, so its differences add nothing.
#[test]
fn an_additive_layer_of_the_rest_pose_adds_nothing() {
    let plain = built("[[group]]\nmodel = \"walker\"\nclip = \"walk\"");
    for playback in ["loop", "wrap"] {
        let scene = built(&format!(
            "[[group]]\nmodel = \"walker\"\nclip = \"walk\"\n[[group.layer]]\nclip = \"rest\"\n\
             kind = \"additive\"\nplayback = \"{playback}\""
        ));
        let [with, without] = [&scene, &plain].map(|s| ReferencePose::new(&s.crowd, 0, 40).model);
        assert_eq!(with, without, "{playback}");
    }
}

/// The bound that messages name is within it, though it is no f32 number.
#[test]
fn numbers_up_to_the_bound_are_accepted() {
    for (number, is_accepted) in [("1e18", true), ("-1e18", true), ("1.0001e18", false)] {
        let scene = parse(&format!("[[group]]\nmodel = \"walker\"\nyaw = {number}"));
        assert_eq!(scene.is_ok(), is_accepted, "{number}");
    }
}

/// Layers in step have one phase at every tick, and fades bring the pace from one clip's to the other's.
#[test]
fn layers_in_step_share_their_phase_through_fades() {
    let scene = built(&layered(
        "in_step = true\nevery = 10\nlasts = 6\nfade_in = 1\nfade_out = 2\nstagger = 0",
    ));
    let layers = scene.crowd.layers().of(0);
    let [walk, run] = [1, 2].map(|clip| scene.crowd.groups()[0].model.clips()[clip].duration());
    let turn = |index: usize, tick: u32| {
        f64::from(crate::crowd::time(layers, index, tick) / [walk, run][index])
    };
    let pace = |tick: u32| {
        (turn(0, tick + 1) - turn(0, tick)).rem_euclid(1.0) * crate::crowd::TICKS_PER_SECOND
    };
    for tick in (0..1_200).chain(216_000..216_600) {
        assert!((turn(0, tick) - turn(1, tick)).abs() < 1e-6, "tick {tick}");
        let clock = tick % 600;
        let expected = match clock {
            60..240 => 1.0 / f64::from(run),
            360.. => 1.0 / f64::from(walk),
            _ => continue,
        };
        assert!(
            (pace(tick) / expected - 1.0).abs() < 1e-3,
            "tick {tick}: {} turns a second",
            pace(tick)
        );
    }
    let merged = built(&layered("kind = \"merge\"\nweight = 3\nin_step = true"));
    let step = merged.crowd.layers().of(0)[0].step;
    let duration = f64::from(walk + 3.0 * run) / 4.0;
    let turns = f64::from(step) / 2f64.powi(32) * crate::crowd::TICKS_PER_SECOND;
    assert!(
        (turns * duration - 1.0).abs() < 1e-6,
        "{turns} turns a second"
    );
}

#[test]
fn masks_reach_whole_subtrees() {
    let scene = built(&layered(
        "mask = { subtree = [\"upperarm_r\"], joints = [\"head\"], weights = { hand_r = 0.25 } }",
    ));
    let group = &scene.crowd.groups()[0];
    let mask = group.mask(scene.crowd.layers().of(0)[1].mask);
    let weight = |name: &str| {
        mask[group
            .model
            .skeleton()
            .names()
            .iter()
            .position(|n| n == name)
            .unwrap()]
    };
    let names = [
        "upperarm_r",
        "index_02_r",
        "head",
        "hand_r",
        "clavicle_r",
        "upperarm_l",
        "root",
    ];
    assert_eq!(names.map(weight), [1.0, 1.0, 1.0, 0.25, 0.0, 0.0, 0.0]);
}

#[test]
fn clips_are_found_by_name_before_number() {
    let model = ModelSource::from_name("walker").load().unwrap();
    assert_eq!(find_clip(model.name(), model.clips(), "run"), Ok(2));
    assert_eq!(find_clip(model.name(), model.clips(), "2"), Ok(2));
    let clips = |clip: &str| {
        let scene = built(&format!("[[group]]\nmodel = \"walker\"\ncount = 6\n{clip}"));
        (0..6)
            .map(|i| scene.crowd.layers().of(i)[0].clip)
            .collect::<Vec<_>>()
    };
    assert_eq!(clips("clip = \"*\""), [0, 1, 2, 3, 0, 1]);
    assert_eq!(clips("clip = \"rest\""), [REST; 6]);
    assert_eq!(clips("clip = 3"), [3; 6]);
    assert_eq!(clips(""), [0; 6]);
}

#[test]
fn overridden_instances_are_shared_out_in_proportion() {
    let text = "[[group]]\nmodel=\"walker\"\ncount=10\n[[group]]\nmodel=\"walker\"\ncount=30\n\
        [[group]]\nmodel=\"walker\"\ncount=1";
    let counts = |instances| {
        with(
            Settings {
                instances: Some(instances),
                ..Settings::default()
            },
            text,
        )
    };
    assert_eq!(counts(41), [10, 30, 1]);
    assert_eq!(counts(82), [20, 60, 2]);
    assert_eq!(counts(4), [1, 2, 1]);
    assert_eq!(counts(1), [1, 1, 1], "at least one each");
    assert_eq!(counts(u64::MAX).iter().sum::<u64>(), u64::MAX);
}

#[test]
fn what_does_not_fit_is_refused_with_an_estimate() {
    let scene = parse("[[group]]\nmodel = \"walker\"\ncount = 1000000000000").unwrap();
    let error = scene.build(16 << 30).unwrap_err().to_string();
    let place = error
        .split(" 1000000000000 instances take ")
        .next()
        .unwrap();
    assert!(
        place.ends_with(".toml:2:9:") && error.contains(" TB"),
        "{error}"
    );
    assert!(
        scene.build(u64::MAX).is_err(),
        "more instances than a u32 counts"
    );
}

#[test]
fn groups_of_one_model_are_neighbours() {
    let scene = Scene::load("smoke").unwrap().build(MEMORY).unwrap();
    let sizes: Vec<_> = scene.crowd.groups().iter().map(|g| g.len()).collect();
    assert_eq!(sizes, [35, 7]);
}

#[test]
fn the_hash_tells_scenes_apart() {
    let base = "seed = 3\npasses = 1\nresolution = [64, 64]\n[camera]\norbit = 1\n[[group]]\nmodel = \"walker\"\n\
        vertices = 600\ncount = 3\nlayout = \"disc\"\nspacing = 2\nclip = \"run\"\nspeed = 2\nspeed_spread = 0.5\n\
        phase_spread = 0.5\nyaw = 3\nyaw_spread = 4\nscale = 2\n";
    let hash = |text: &str| built(text).hash;
    assert_eq!(hash(base), hash(&format!("# comment\n{base}")));
    assert_eq!(hash(base), hash(&base.replace("passes = 1", "passes = 2")));
    for (from, to) in [
        ("seed = 3", "seed = 4"),
        ("[64, 64]", "[64, 65]"),
        ("[64, 64]", "[64, 64]\nupdate_rate = [3, 4]"),
        ("[64, 64]", "[64, 64]\nturnover = 0.1"),
        ("[64, 64]", "[64, 64]\nfrozen = 0.1"),
        ("[64, 64]", "[64, 64]\nlod = \"mesh\""),
        ("[64, 64]", "[64, 64]\nattributes = \"pnt\""),
        ("[64, 64]", "[64, 64]\nnormals = \"exact\""),
        ("[64, 64]", "[64, 64]\nclips = \"compact\""),
        ("orbit = 1", "orbit = 2"),
        ("orbit = 1", "elevation = 30\norbit = 1"),
        ("orbit = 1", "distance = 2\norbit = 1"),
        ("orbit = 1", "field_of_view = 50\norbit = 1"),
        ("scale = 2", "scale = 2\nframes_per_second = 10"),
        ("600", "700"),
        ("count = 3", "count = 4"),
        ("disc", "grid"),
        ("spacing = 2", "spacing = 3"),
        ("\"run\"", "\"walk\""),
        ("speed = 2", "speed = 3"),
        ("speed_spread = 0.5", "speed_spread = 0.6"),
        ("phase_spread = 0.5", "phase_spread = 0.6"),
        ("yaw = 3", "yaw = 4"),
        ("yaw_spread = 4", "yaw_spread = 5"),
        ("scale = 2", "scale = 3"),
        ("scale = 2", "scale = 2\nweight = 0.5"),
        ("scale = 2", "scale = 2\noffset = 0.5"),
        ("scale = 2", "scale = 2\nplayback = \"ping-pong\""),
        ("scale = 2", "scale = 2\ninterpolation = \"smooth\""),
        ("scale = 2", "scale = 2\n[[group.layer]]\nclip = 0"),
    ] {
        let changed = base.replacen(from, to, 1);
        assert_ne!(changed, base);
        assert_ne!(hash(base), hash(&changed), "{from} -> {to}");
    }
}

#[test]
fn the_hash_tells_layers_and_expressions_apart() {
    let base = "[[group]]\nmodel = \"face\"\ncount = 3\nweights = {}\n[[group.layer]]\nclip = 0\nkind = \"override\"\n\
        weight = 0.5\nevery = 4\nlasts = 2\nstart = 1\nstagger = 0.5\nfade_in = 0.25\nfade_out = 0.25\n";
    let hash = |text: &str| built(text).hash;
    for (from, to) in [
        ("weights = {}", "active_targets = 2"),
        ("weights = {}", "weights = { jaw_drop = 0.5 }"),
        ("clip = 0", "clip = \"rest\""),
        ("override", "merge"),
        ("weight = 0.5", "weight = 0.75"),
        ("every = 4", "every = 5"),
        ("lasts = 2", "lasts = 3"),
        ("start = 1", "start = 2"),
        ("stagger = 0.5", "stagger = 0.75"),
        ("fade_in = 0.25", "fade_in = 0.5"),
        ("fade_out = 0.25", "fade_out = 0.5"),
        ("fade_out", "fade = \"inertial\"\nfade_out"),
        ("fade_out", "speed = 2\nfade_out"),
        ("fade_out", "in_step = true\nfade_out"),
        ("fade_out", "phase_spread = 0.5\nfade_out"),
        ("fade_out", "offset = 0.5\nfade_out"),
        ("fade_out", "playback = \"once\"\nfade_out"),
        ("fade_out", "frames_per_second = 10\nfade_out"),
        ("fade_out", "mask = { joints = [\"jaw\"] }\nfade_out"),
        ("fade_out", "mask = { weights = { jaw = 0.5 } }\nfade_out"),
    ] {
        let changed = base.replacen(from, to, 1);
        assert_ne!(changed, base);
        assert_ne!(hash(base), hash(&changed), "{from} -> {to}");
    }
}

#[test]
fn one_seed_gives_one_crowd() {
    let times = |seed: u32| {
        let scene = built(&format!(
            "seed = {seed}\n[[group]]\nmodel = \"walker\"\nvertices = 600\ncount = 40\nclip = \"walk\"\nspeed_spread = 0.3"
        ));
        (0..40)
            .map(|i| [0, 600].map(|tick| crate::crowd::time(scene.crowd.layers().of(i), 0, tick)))
            .collect::<Vec<_>>()
    };
    assert_eq!(times(1), times(1));
    assert_ne!(times(1), times(2));
    let mut phases: Vec<_> = times(1).iter().map(|t| t[0].to_bits()).collect();
    phases.sort_unstable();
    phases.dedup();
    assert!(phases.len() > 35, "phases differ from instance to instance");
}

#[test]
fn models_stand_upright_whatever_their_axes() {
    for (up, handedness) in [
        (0, Handedness::Right),
        (1, Handedness::Right),
        (2, Handedness::Right),
        (2, Handedness::Left),
    ] {
        // Its longest extent is along its own Y, so set axes with another one up.
        let mut parts = characters::chain_64().unwrap().into_parts();
        parts.axes = Axes { handedness, up };
        let model = Model::new(parts).unwrap();
        let bounds = model.bounds();
        let stand = Stand::new(&model, bounds, Some(2.0));
        let placement = rows_to_affine(&stand.placement(DVec2::new(3.0, 4.0), 0.5));
        let mut top = (0.5 * (bounds.min + bounds.max)).as_dvec3();
        let mut bottom = top;
        top[usize::from(up)] = bounds.max[usize::from(up)].into();
        bottom[usize::from(up)] = bounds.min[usize::from(up)].into();
        assert!(
            placement
                .transform_point3(bottom)
                .abs_diff_eq(DVec3::new(3.0, 0.0, 4.0), 1e-4),
            "{up} {handedness:?}"
        );
        let height = 2.0 * (top - bottom).length();
        assert!(
            placement
                .transform_point3(top)
                .abs_diff_eq(DVec3::new(3.0, height, 4.0), 1e-4),
            "{up} {handedness:?}"
        );
        assert_eq!(
            placement.matrix3.determinant() < 0.0,
            handedness == Handedness::Left
        );
    }
}

#[test]
fn the_camera_sees_everybody() {
    let scene = built(
        "resolution = [300, 200]\n[camera]\norbit = 70\nelevation = 35\n\
        [[group]]\nmodel = \"walker\"\nvertices = 600\ncount = 30\nlayout = \"line\"",
    );
    let seen = scene.view_projection();
    let mut widest: f32 = 0.0;
    for (placement, corner) in scene
        .crowd
        .placements()
        .iter()
        .flat_map(|p| [0, 1].map(|c| (p, c)))
    {
        let bounds = scene.crowd.groups()[0].model.bounds();
        let corner = if corner == 0 { bounds.min } else { bounds.max };
        let world: Vec3 = rows_to_affine(placement)
            .transform_point3(corner.as_dvec3())
            .as_vec3();
        let clip = seen.project_point3(world);
        assert!(
            clip.x.abs() <= 1.0 && clip.y.abs() <= 1.0 && (0.0..=1.0).contains(&clip.z),
            "{clip}"
        );
        widest = widest.max(clip.x.abs()).max(clip.y.abs());
    }
    assert!(
        widest > 0.6,
        "the crowd fills the picture, not {widest} of it"
    );
}

/// docs/scenes.md lists the keys that the parser accepts, level by level, and no others.
#[test]
fn the_reference_page_has_every_key() {
    let page = include_str!("../../docs/scenes.md");
    let levels = [
        ("## Top level", "bogus = 1".to_owned()),
        ("## `[camera]`", "[camera]\nbogus = 1".to_owned()),
        ("## `[[group]]`", "[[group]]\nbogus = 1".to_owned()),
        (
            "## `[[group.layer]]`",
            "[[group]]\nmodel = \"walker\"\n[[group.layer]]\nbogus = 1".to_owned(),
        ),
        (
            "## `mask`",
            "[[group]]\nmodel = \"walker\"\n[[group.layer]]\nclip = 0\nmask = { bogus = 1 }"
                .to_owned(),
        ),
    ];
    for (heading, text) in levels {
        let section = page
            .split(heading)
            .nth(1)
            .and_then(|rest| rest.split("\n## ").next())
            .unwrap();
        // The first cell of a row names one key, or several with the same meaning.
        let cells = section
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split_once(" |"));
        let mut documented: Vec<&str> = cells
            .flat_map(|(keys, _)| keys.trim_end_matches('`').split("`, `"))
            .collect();
        let message = parse(&text).unwrap_err().to_string();
        let (_, accepted) = message.rsplit_once("expected ").unwrap();
        let mut accepted: Vec<&str> = accepted
            .split([',', ' '])
            .filter(|word| !["", "or"].contains(word))
            .collect();
        documented.sort_unstable();
        accepted.sort_unstable();
        assert_eq!(documented, accepted, "{heading}");
    }
}

/// Damaged scene files are refused with the file's name, or read; they never panic.
#[test]
fn damaged_scenes_are_refused_or_read() {
    use rand_core::Rng;
    let mut random = rand_pcg::Pcg32::new(5, 1);
    let mut tried = 0;
    let mut try_one = |text: &str| {
        tried += 1;
        if let Err(error) = parse(text) {
            assert!(error.to_string().starts_with("test.toml"), "{error}");
        }
    };
    for (_, text) in BUILT_IN {
        for percent in 0..100 {
            try_one(&text[..text.floor_char_boundary(text.len() * percent / 100)]);
        }
        for _ in 0..300 {
            let mut bytes = text.as_bytes().to_vec();
            let at = random.next_u32() as usize % bytes.len();
            bytes[at] ^= 1 << (random.next_u32() % 8);
            try_one(&String::from_utf8_lossy(&bytes));
        }
        for wrong in [
            "nan",
            "inf",
            "-1",
            "1e400",
            "99999999999999999999",
            "[]",
            "{}",
            "\"\"",
            "18446744073709551615",
            "true",
        ] {
            for (index, _) in text.match_indices(" = ") {
                let end = text[index..]
                    .find('\n')
                    .map_or(text.len(), |length| index + length);
                try_one(&format!("{} = {wrong}{}", &text[..index], &text[end..]));
            }
        }
        try_one(&text.repeat(2));
        try_one(&"[".repeat(100_000));
        try_one(&format!("a = {}", "[".repeat(100_000)));
    }
    println!("{tried} damaged scenes tried");
    assert!(tried > 4_000);
}
