use super::*;
use crate::asset::extremes;
use crate::model::{Axes, Handedness, rows_to_affine};
use glam::{DVec3, Vec3};

const MEMORY: u64 = 1 << 30;

fn parse(text: &str) -> Result<Scene, SceneError> {
    Scene::parse("test", "test.toml", text, Path::new("models"))
}

fn built(text: &str) -> BuiltScene {
    parse(text).unwrap().build(MEMORY).unwrap()
}

fn with(overrides: Overrides, text: &str) -> Vec<u64> {
    parse(text).unwrap().with(overrides).groups.iter().map(|g| g.count).collect()
}

#[test]
fn built_in_scenes_are_sound() {
    // Fewer vertices are made sooner, where the build can change a model's number.
    let vertices = cfg!(feature = "resample").then_some(600);
    for (name, _) in BUILT_IN {
        let few = Overrides { instances: Some(5), vertices, ..Overrides::default() };
        let scene = Scene::load(name).unwrap();
        assert_eq!(scene.name(), name);
        scene.with(few).build(MEMORY).unwrap();
    }
    let instances = |name| Scene::load(name).unwrap().instances();
    assert_eq!(["walkers", "kernel", "crowd-10k"].map(instances), [1_000, 256, 10_000]);
}

#[test]
fn wrong_scenes_name_the_place_and_what_is_accepted() {
    let group = |keys: &str| format!("[[group]]\nmodel = \"walker\"\n{keys}");
    for (text, expected) in [
        ("sed = 1".into(), "test.toml:1:1: unknown key \"sed\"; did you mean \"seed\"? expected seed, passes,"),
        (group("cuont = 1"), "test.toml:3:1: unknown key \"cuont\"; did you mean \"count\"?"),
        ("[camera]\nzoom = 1".into(), "test.toml:2:1: unknown key \"zoom\"; expected orbit,"),
        (group("count = 0"), "test.toml:3:9: count = 0; expected 1 or more"),
        (group("count = -3"), "test.toml:3:9: invalid value: integer `-3`, expected u64"),
        (group("count = \"many\""), "test.toml:3:9: invalid type: string \"many\", expected u64"),
        (group("  spacing = -0.5"), "test.toml:3:13: spacing = -0.5; expected metres, more than 0"),
        (group("spacing = nan"), "test.toml:3:11: spacing = NaN; expected metres"),
        (group("scale = inf"), "test.toml:3:9: scale = inf; expected metres per unit"),
        (group("speed = nan"), "test.toml:3:9: speed = NaN; expected a finite number"),
        (group("speed_spread = 1.1"), "speed_spread = 1.1; expected 0 to 1"),
        (group("phase_spread = -0.1"), "phase_spread = -0.1; expected 0 to 1"),
        (group("yaw_spread = 181"), "yaw_spread = 181; expected 0 to 180 degrees"),
        (group("layout = \"gird\""), "test.toml:3:10: unknown layout \"gird\"; did you mean \"grid\"? expected grid,"),
        (group("clip = 1.5"), "test.toml:3:8: invalid type: floating point `1.5`, expected a clip's name or index"),
        (group("vertices = 0"), "test.toml:3:12: vertices = 0; expected 1 or more"),
        ("[[group]]\nmodel = \"waker\"".into(), "test.toml:2:9: unknown model \"waker\"; did you mean \"walker\"?"),
        ("[[group]]\ncount = 1".into(), "test.toml:1:1: missing field `model`"),
        (group("influences = 17"), "test.toml:3:14: influences = 17; expected 1 to 16"),
        (group("frames_per_second = 60"), "test.toml:3:21: frames_per_second = 60; expected 1 to 50"),
        ("seed = 1\n".into(), "test.toml:2:1: no [[group]]; expected at least one"),
        (format!("passes = 65\n{}", group("")), "test.toml:1:10: passes = 65; expected 0 to 64"),
        (format!("resolution = [0, 9]\n{}", group("")), "test.toml:1:14: resolution = [0, 9]; expected 1 to 8192"),
        (format!("resolution = [9]\n{}", group("")), "test.toml:1:14: invalid length 1"),
        (format!("[camera]\nelevation = 90\n{}", group("")), "elevation = 90; expected -89 to 89 degrees"),
        (format!("[camera]\ndistance = 0\n{}", group("")), "distance = 0; expected a factor of more than 0"),
        (format!("[camera]\nfield_of_view = 180\n{}", group("")), "field_of_view = 180; expected more than 0"),
        (format!("# é\n[camera]\norbit = \"é\" # é\n{}", group("")), "test.toml:3:9: invalid type: string"),
        ("[[group]\n".into(), "test.toml:1:"),
        ("\u{0}".into(), "test.toml:1:"),
        (String::new(), "test.toml:1:1: no [[group]]"),
    ] {
        let error = parse(&text).expect_err(&text).to_string();
        assert!(error.contains(expected), "{text:?}\n   gave {error}\nnot {expected}");
        assert!(!error.contains('\n'), "{error:?}");
    }
}

#[test]
fn wrong_models_and_clips_name_their_place() {
    let error = |text| parse(text).unwrap().build(MEMORY).unwrap_err().to_string();
    assert_eq!(
        error("[[group]]\nmodel = \"walker\"\nclip = \"wlak\""),
        "test.toml:3:8: unknown clip \"wlak\"; did you mean \"walk\"? expected idle, walk, run or wave or an index, 0 to 3"
    );
    assert!(error("[[group]]\nmodel = \"walker\"\nclip = 4").starts_with("test.toml:3:8: unknown clip \"4\""));
    assert!(error("[[group]]\nmodel = \"walker\"\nvertices = 7").starts_with("test.toml:3:12: walker: 7 vertices"));
    let missing = error("[[group]]\nmodel = \"no.glb\"");
    assert!(missing.starts_with("test.toml:2:9: models/no.glb: "), "{missing}");
    let unknown = Scene::load("walkrs").unwrap_err();
    assert!(unknown.is_unknown_name() && unknown.to_string().contains("did you mean \"walkers\"?"), "{unknown}");
    assert!(!Scene::load("no.toml").unwrap_err().is_unknown_name());
}

#[test]
fn clips_are_found_by_name_before_number() {
    let model = ModelSource::from_name("walker").load().unwrap();
    assert_eq!(find_clip(&model, "run"), Ok(2));
    assert_eq!(find_clip(&model, "2"), Ok(2));
    let clips = |clip: &str| {
        let scene = built(&format!("[[group]]\nmodel = \"walker\"\ncount = 6\n{clip}"));
        (0..6).map(|i| scene.crowd.layers().of(i)[0].clip).collect::<Vec<_>>()
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
    let counts = |instances| with(Overrides { instances: Some(instances), ..Overrides::default() }, text);
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
    assert!(error.contains("1000000000000 instances take ") && error.contains(" TB"), "{error}");
    assert!(scene.build(u64::MAX).is_err(), "more instances than a u32 counts");
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
        ("orbit = 1", "orbit = 2"),
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
    for (up, handedness) in
        [(0, Handedness::Right), (1, Handedness::Right), (2, Handedness::Right), (2, Handedness::Left)]
    {
        // Its longest extent is along its own Y, so give it the axes that call another one up.
        let mut parts = extremes::chain_64().unwrap().into_parts();
        parts.axes = Axes { handedness, up };
        let model = Model::new(parts).unwrap();
        let stand = Stand::new(&model, Some(2.0));
        let placement = rows_to_affine(&stand.placement(DVec2::new(3.0, 4.0), 0.5));
        let bounds = model.bounds();
        let mut top = (0.5 * (bounds.min + bounds.max)).as_dvec3();
        let mut bottom = top;
        top[usize::from(up)] = bounds.max[usize::from(up)].into();
        bottom[usize::from(up)] = bounds.min[usize::from(up)].into();
        assert!(placement.transform_point3(bottom).abs_diff_eq(DVec3::new(3.0, 0.0, 4.0), 1e-4), "{up} {handedness:?}");
        let height = 2.0 * (top - bottom).length();
        assert!(placement.transform_point3(top).abs_diff_eq(DVec3::new(3.0, height, 4.0), 1e-4), "{up} {handedness:?}");
        assert_eq!(placement.matrix3.determinant() < 0.0, handedness == Handedness::Left);
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
    for (placement, corner) in scene.crowd.placements().iter().flat_map(|p| [0, 1].map(|c| (p, c))) {
        let bounds = scene.crowd.groups()[0].model.bounds();
        let corner = if corner == 0 { bounds.min } else { bounds.max };
        let world: Vec3 = rows_to_affine(placement).transform_point3(corner.as_dvec3()).as_vec3();
        let clip = seen.project_point3(world);
        assert!(clip.x.abs() <= 1.0 && clip.y.abs() <= 1.0 && (0.0..=1.0).contains(&clip.z), "{clip}");
        widest = widest.max(clip.x.abs()).max(clip.y.abs());
    }
    assert!(widest > 0.6, "the crowd fills the picture, not {widest} of it");
}

/// docs/scenes.md names the keys that the parser accepts, level by level, and no others.
#[test]
fn the_reference_page_has_every_key() {
    let page = include_str!("../../docs/scenes.md");
    let levels = [
        ("## Top level", "bogus = 1".to_owned()),
        ("## `[camera]`", "[camera]\nbogus = 1".to_owned()),
        ("## `[[group]]`", "[[group]]\nbogus = 1".to_owned()),
        ("## `[[group.layer]]`", "[[group]]\nmodel = \"walker\"\n[[group.layer]]\nbogus = 1".to_owned()),
        ("## `mask`", "[[group]]\nmodel = \"walker\"\n[[group.layer]]\nclip = 0\nmask = { bogus = 1 }".to_owned()),
    ];
    for (heading, text) in levels {
        let section = page.split(heading).nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
        let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
        let mut documented: Vec<&str> = rows.map(|(key, _)| key).collect();
        let message = parse(&text).unwrap_err().to_string();
        let (_, accepted) = message.rsplit_once("expected ").unwrap();
        let mut accepted: Vec<&str> = accepted.split([',', ' ']).filter(|word| !["", "or"].contains(word)).collect();
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
        for wrong in
            ["nan", "inf", "-1", "1e400", "99999999999999999999", "[]", "{}", "\"\"", "18446744073709551615", "true"]
        {
            for (index, _) in text.match_indices(" = ") {
                let end = text[index..].find('\n').map_or(text.len(), |length| index + length);
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
