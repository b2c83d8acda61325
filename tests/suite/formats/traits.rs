//! Features of the formats, one per test.
use crate::support::reference;
use crate::support::sprout::Sprout;
use glam::{DQuat, DVec3};
use skinbench::asset::{self, glb};
use skinbench::model::{Channel, Handedness, Model, RawKeys};
use skinbench::reference::nan_max;
use skinbench::{compaction, pose};
use std::fs;

fn load(files: &[(&str, &str)]) -> Model {
    let folder = tempfile::tempdir().unwrap();
    files
        .iter()
        .for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    asset::load(folder.path().join(files[0].0)).unwrap_or_else(|error| panic!("{error}"))
}

fn positions(model: &Model, clip: Option<(usize, f64)>) -> Vec<DVec3> {
    reference::skin(model, clip)
        .into_iter()
        .flat_map(|p| p.positions)
        .collect()
}

fn largest_difference(a: &[DVec3], b: &[DVec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(a, b)| (*a - *b).length())
        .fold(0.0, nan_max)
}

fn raw(model: &Model, clip: usize) -> &RawKeys {
    model.clips()[clip].keys().raw().unwrap()
}

fn notes(model: &Model) -> Vec<String> {
    model.notes().lines().collect()
}

#[test]
fn m3d_subsets_are_draw_ranges_of_one_left_handed_primitive() {
    let model = load(&[("a.m3d", &Sprout::new().m3d())]);
    assert_eq!(model.axes().handedness, Handedness::Left);
    assert_eq!(model.mesh().primitives().len(), 1);
    let subsets = &model.mesh().primitives()[0].subsets;
    assert_eq!(
        subsets
            .iter()
            .map(|s| (s.material, s.indices.clone()))
            .collect::<Vec<_>>(),
        [(0, 0..528), (1, 528..600)]
    );
}

#[test]
fn m3d_computes_the_fourth_weight() {
    let text = Sprout::new().m3d().replacen(
        "BlendWeights: 1 0 0 0",
        "BlendWeights: 0.25 0.25 0.25 0.9",
        1,
    );
    let text = text.replacen("BlendIndices: 0 0 0 0", "BlendIndices: 0 1 2 3", 1);
    let model = load(&[("a.m3d", &text)]);
    assert!(notes(&model).is_empty(), "{:?}", notes(&model));
    assert_eq!(
        model.mesh().weights()[model.mesh().weights().len() - 4..],
        [0.25; 4]
    );
}

#[test]
fn m3d_is_read_by_token_not_by_line() {
    let text = Sprout::new().m3d();
    let joined: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(
        load(&[("a.m3d", &joined.join("\n"))]).mesh(),
        load(&[("a.m3d", &text)]).mesh()
    );
}

#[test]
fn ram_joins_what_is_indexed_separately() {
    let model = load(&[(
        "a.ram",
        "joints\n0 \"a\" parent -1 orientation 0 0 0 1 translation 0 0 0 rotation 0 0 0 1\n\
         vertices\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\nnormals 2\n0 0 0 1\n1 1 0 0\nuvs\n0 0 0\n\
         triangles\n0 2 0 1 2 0 0 0 0 0 0\n1 0 0 2 3 1 1 1 0 0 0\nweights\n0 2 0 \"a\" 0.5\n1 0 0 \"a\" 1\n",
    )]);
    let primitive = &model.mesh().primitives()[0];
    assert_eq!((primitive.vertex_count, primitive.dumped_vertices), (6, 4));
    assert_eq!(
        primitive
            .subsets
            .iter()
            .map(|s| s.material)
            .collect::<Vec<_>>(),
        [0, 2]
    );
    assert_eq!(
        notes(&model),
        [
            "2 vertices without a joint now follow the skin's joint 0",
            "renormalised the weights of 2 vertices (worst sum 0.5)"
        ]
    );
}

#[test]
fn raa_without_a_count_ends_after_its_last_frame_and_wraps() {
    let ram = "joints\n0 \"a\" parent -1 orientation 0 0 0 1 translation 0 0 0 rotation 0 0 0 1\n\
               vertices\n0 1 0 0\nnormals\nuvs\ntriangles\nweights\n0 0 0 \"a\" 1\n";
    // A quarter turn around z, and a frame later the first rotation again, as its negative.
    let raa = "track 0 0 \"a\"\n0 0 0 0 0 1\n1 10 0 0 0.70710678 0.70710678\n2 19 0 0 0 -1\n";
    let model = load(&[("a.ram", ram), ("a.raa", raa)]);
    let clip = &model.clips()[0];
    assert!((clip.duration() - 0.8).abs() < 1e-6);
    assert_eq!(
        raw(&model, 0).times_of(&raw(&model, 0).tracks()[0]).len(),
        4
    );
    assert!(positions(&model, Some((0, 0.4)))[0].abs_diff_eq(DVec3::Y, 1e-6));
    // -1 is as far from +1 as can be, but the same rotation: the path stays where it is.
    assert!(positions(&model, Some((0, 0.78)))[0].abs_diff_eq(DVec3::X, 1e-6));
}

/// Keys at frames 5 and 15 of 20: what is left of the way back at the clip's end is shown at its start.
#[test]
fn raa_tracks_that_start_late_come_from_their_last_key() {
    let ram = "joints\n0 \"a\" parent -1 orientation 0 0 0 1 translation 0 0 0 rotation 0 0 0 1\n\
               vertices\n0 1 0 0\nnormals\nuvs\ntriangles\nweights\n0 0 0 \"a\" 1\n";
    // Degrees; the last two are followed by the normalised line, in parts and as a whole.
    for turn in [150.0f64, 90.0, 60.0, 30.0] {
        let (sin, cos) = (turn.to_radians() / 2.0).sin_cos();
        let raa = format!("frames 20\ntrack 0 0 \"a\"\n0 5 0 0 0 1\n1 15 0 0 {sin} {cos}\n");
        let model = load(&[("a.ram", ram), ("a.raa", &raa)]);
        assert_eq!(model.clips()[0].duration(), 0.8);
        // The normalised line from the last key to the first where their cosine is 0.95 or more, else the arc.
        let expected = |t: f64| match cos >= 0.95 {
            true => 2.0 * ((1.0 - t) * sin).atan2((1.0 - t) * cos + t).to_degrees(),
            false => (1.0 - t) * turn,
        };
        for frame in [0.0, 0.3, 1.0, 2.5, 3.7, 5.0, 15.0, 16.1, 17.5, 19.0, 20.0] {
            let place = positions(&model, Some((0, frame / 25.0)))[0];
            let t = if frame <= 5.0 {
                (frame + 5.0) / 10.0
            } else {
                (frame - 15.0) / 10.0
            };
            let angle = place.y.atan2(place.x).to_degrees();
            assert!(
                (angle - expected(t)).abs() < 1e-4,
                "{turn} degrees, frame {frame}: {angle}, not {}",
                expected(t)
            );
        }
    }
    // One key stays; of two opposite ones the path does not move.
    for keys in ["0 5 0 0 0 1\n", "0 5 0 0 0 1\n1 15 0 0 0 -1\n"] {
        let model = load(&[
            ("a.ram", ram),
            ("a.raa", &format!("frames 20\ntrack 0 0 \"a\"\n{keys}")),
        ]);
        for frame in [0.0, 2.0, 5.0, 12.0, 18.0] {
            assert!(
                positions(&model, Some((0, frame / 25.0)))[0].abs_diff_eq(DVec3::X, 1e-6),
                "frame {frame}"
            );
        }
    }
}

#[test]
fn json_may_be_wrapped_in_an_object_document() {
    let json = Sprout::new().three_json();
    let plain = load(&[("a.js", &json)]);
    let wrapped = format!(
        "{{\"metadata\":{{\"version\":4.3,\"type\":\"Object\"}},\"geometries\":[{{\"uuid\":\"x\"}},\
         {{\"type\":\"Geometry\",\"data\":{json}}},{{\"data\":{json}}}],\"object\":{{\"children\":[]}}}}"
    );
    let model = load(&[("a.json", &wrapped)]);
    assert_eq!(model.mesh(), plain.mesh());
    assert_eq!(model.clips(), plain.clips());
    assert_eq!(notes(&model), ["left out 1 more geometries with bones"]);
    let moved = wrapped.replace(
        "\"object\":{\"children\":[]}",
        "\"object\":{\"matrix\":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1],\"children\":[{\"matrix\":[2,0,0,0]}]}",
    );
    assert_eq!(
        notes(&load(&[("a.json", &moved)])),
        [
            "left out 1 more geometries with bones",
            "left out the transforms of the objects of the scene",
        ]
    );
}

#[test]
fn json_times_may_be_frames_and_bones_may_have_no_parent() {
    let json = Sprout::new().three_json();
    let plain = load(&[("a.js", &json)]);
    let mut frames = json.clone();
    for frame in (0..=32).rev().step_by(4) {
        let seconds = format!("{}", f64::from(frame) / 25.0);
        frames = frames.replace(
            &format!("\"time\":{seconds},"),
            &format!("\"time\":{frame},"),
        );
    }
    assert_ne!(frames, json);
    let frames = frames.replacen("\"parent\":-1,\"name\"", "\"parent\":null,\"name\"", 1);
    let model = load(&[("a.js", &frames)]);
    for clip in [0, 1] {
        assert_eq!(
            model.clips()[clip].duration(),
            plain.clips()[clip].duration()
        );
        let at = Some((clip, 0.3));
        assert!(largest_difference(&positions(&model, at), &positions(&plain, at)) < 1e-5);
    }
}

#[test]
fn json_keys_without_a_part_leave_it_at_rest() {
    let model = load(&[("a.js", &Sprout::new().three_json())]);
    let tracks = |channel| {
        raw(&model, 0)
            .tracks()
            .iter()
            .filter(|t| t.channel == channel)
            .collect::<Vec<_>>()
    };
    assert!(
        tracks(Channel::Rotation)
            .iter()
            .all(|t| raw(&model, 0).times_of(t).len() == 9)
    );
    assert!(
        tracks(Channel::Translation)
            .iter()
            .all(|t| raw(&model, 0).times_of(t).len() == 1)
    );
}

#[test]
fn ogre_strips_and_fans_become_triangles_and_submeshes_may_own_vertices() {
    let sprout = Sprout::new();
    let vertices = "<vertex><position x='0' y='0' z='0'/></vertex>".repeat(4);
    let submesh = |operation: &str| {
        format!(
            "<submesh operationtype='{operation}' usesharedvertices='false'><faces count='2'><face v1='0' v2='1' v3='2'/>\
             <face v1='3'/></faces><geometry vertexcount='4'><vertexbuffer>{}</vertexbuffer><vertexbuffer>{vertices}\
             </vertexbuffer></geometry><boneassignments/></submesh>",
            "<vertex/>".repeat(4)
        )
    };
    let mesh = sprout.mesh_xml().replacen(
        "<submeshes>",
        &format!(
            "<submeshes>{}{}",
            submesh("triangle_strip"),
            submesh("triangle_fan")
        ),
        1,
    );
    let model = load(&[
        ("a.mesh.xml", &mesh),
        ("sprout.skeleton.xml", &sprout.skeleton_xml()),
    ]);
    let primitives = model.mesh().primitives();
    assert_eq!(
        primitives
            .iter()
            .map(|p| p.vertex_count)
            .collect::<Vec<_>>(),
        [4, 4, 112]
    );
    assert_eq!(
        primitives
            .iter()
            .map(|p| p.subsets.len())
            .collect::<Vec<_>>(),
        [1, 1, 2]
    );
    let triangles = |p: usize| -> Vec<u32> {
        let range = primitives[p].subsets[0].indices.clone();
        let indices = &model.mesh().indices()[range.start as usize..range.end as usize];
        indices
            .iter()
            .map(|&i| model.mesh().sources()[i as usize].vertex)
            .collect()
    };
    assert_eq!(triangles(0), [0, 1, 2, 1, 3, 2]);
    assert_eq!(triangles(1), [1, 2, 0, 2, 3, 0]);
    assert_eq!(
        notes(&model),
        ["8 vertices without a joint now follow the skin's joint 0"]
    );
}

/// One bone that slides along X by its keyframes (time, distance) in a clip of 1 s, and one vertex on it.
fn ogre_slide(keyframes: &[(f32, f32)]) -> Model {
    let mesh = "<mesh><submeshes><submesh usesharedvertices='false'><faces/><geometry vertexcount='1'><vertexbuffer>\
                <vertex><position x='0' y='0' z='0'/></vertex></vertexbuffer></geometry><boneassignments>\
                <vertexboneassignment vertexindex='0' boneindex='0' weight='1'/></boneassignments></submesh></submeshes>\
                <skeletonlink name='a.skeleton'/></mesh>";
    let keyframe = |(time, x): &(f32, f32)| {
        format!("<keyframe time='{time}'><translate x='{x}' y='0' z='0'/></keyframe>")
    };
    let skeleton = format!(
        "<skeleton><bones><bone id='0' name='a'/></bones><animations><animation name='slide' length='1'><tracks>\
         <track bone='a'><keyframes>{}</keyframes></track></tracks></animation></animations></skeleton>",
        keyframes.iter().map(keyframe).collect::<String>()
    );
    load(&[("a.mesh.xml", mesh), ("a.skeleton.xml", &skeleton)])
}

/// Returns the position of the vertex of [`ogre_slide`] at a time, after checking that the sampler of frames and the
/// f64 reference agree.
fn slid(model: &Model, time: f32) -> f32 {
    let mut local = vec![[[0.0; 1]; 10]];
    pose::one::sample(model.skeleton(), Some(&model.clips()[0]), time, &mut local);
    let sampled = local[0][pose::first_row(Channel::Translation)][0];
    let exact = positions(model, Some((0, time.into())))[0].x;
    assert!(
        (f64::from(sampled) - exact).abs() < 1e-6,
        "{sampled} and {exact} at {time} s"
    );
    sampled
}

#[test]
fn ogre_keyframes_that_equal_the_one_before_are_left_out() {
    let plain = ogre_slide(&[(0.0, 0.0), (0.3, 3.0), (0.6, 0.0)]);
    let doubled = ogre_slide(&[
        (0.0, 0.0),
        (0.0, 0.0),
        (0.3, 3.0),
        (0.3, 3.0),
        (0.3, 3.0),
        (0.6, 0.0),
    ]);
    assert_eq!(doubled.clips(), plain.clips());
    assert_eq!(
        notes(&doubled),
        ["left out 3 keyframes that never show: others have the same time"]
    );
    assert!(notes(&plain).is_empty());
}

#[test]
fn ogre_keyframes_that_differ_at_one_time_are_a_step() {
    let model = ogre_slide(&[(0.0, 0.0), (0.3, 3.0), (0.3, 13.0), (0.6, 10.0)]);
    assert_eq!(
        notes(&model),
        ["made 1 steps of different keyframes at the same time"]
    );
    let at = 0.3f32;
    for (time, x) in [
        (0.15, 1.5),
        (at.next_down(), 3.0),
        (at, 3.0),
        (at.next_up(), 13.0),
        (0.45, 11.5),
        (0.8, 5.0),
    ] {
        assert!(
            (slid(&model, time) - x).abs() < 1e-5,
            "{} at {time} s",
            slid(&model, time)
        );
    }
    assert_eq!(model.clips()[0].duration(), 1.0);
    // Of three, the middle one never shows; a step of no time at all does not either.
    let three = ogre_slide(&[(0.0, 0.0), (0.3, 3.0), (0.3, 7.0), (0.3, 13.0), (0.6, 10.0)]);
    assert_eq!(three.clips(), model.clips());
    assert_eq!(
        notes(&three)[0],
        "left out 1 keyframes that never show: others have the same time"
    );
    let back = ogre_slide(&[(0.0, 0.0), (0.3, 3.0), (0.3, 7.0), (0.3, 3.0), (0.6, 0.0)]);
    assert_eq!(
        back.clips(),
        ogre_slide(&[(0.0, 0.0), (0.3, 3.0), (0.6, 0.0)]).clips()
    );
    assert_eq!(
        notes(&back),
        ["left out 2 keyframes that never show: others have the same time"]
    );
    let (next, close) = (
        at.next_up(),
        ogre_slide(&[(0.0, 0.0), (0.3, 3.0), (0.3, 13.0), (at.next_up(), 20.0)]),
    );
    assert_eq!((slid(&close, at), slid(&close, next)), (3.0, 20.0));
}

#[test]
fn ogre_steps_at_the_start_and_the_end_of_a_clip_are_exact() {
    // From time 0 the second shows; the loop leads back to the first.
    let start = ogre_slide(&[(0.0, 0.0), (0.0, 10.0), (0.5, 8.0)]);
    assert_eq!(
        notes(&start),
        ["made 1 steps of different keyframes at the same time"]
    );
    for (time, x) in [
        (0.0, 10.0),
        (0.25, 9.0),
        (0.5, 8.0),
        (0.75, 4.0),
        (1.0, 0.0),
    ] {
        assert_eq!(slid(&start, time), x, "at {time} s");
    }
    // At the end the second never shows, and the clip has no key beyond it.
    let end = ogre_slide(&[(0.0, 0.0), (1.0, 4.0), (1.0, 9.0)]);
    assert_eq!(
        notes(&end),
        ["left out 1 keyframes that never show: others have the same time"]
    );
    assert_eq!(end.clips(), ogre_slide(&[(0.0, 0.0), (1.0, 4.0)]).clips());
    let last = 1.0f32.next_down();
    let before = ogre_slide(&[(0.0, 0.0), (last, 4.0), (last, 9.0)]);
    assert_eq!(
        (
            slid(&before, last),
            raw(&before, 0).timelines().all().last()
        ),
        (4.0, Some(&1.0))
    );
}

/// Export keeps a step, and no uniform rate follows it.
#[test]
fn ogre_steps_survive_export() {
    let model = ogre_slide(&[(0.0, 0.0), (0.3, 3.0), (0.3, 13.0), (0.6, 10.0)]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.glb");
    std::fs::write(&file, glb::to_glb(&model).unwrap()).unwrap();
    let copy = asset::load(&file).unwrap();
    assert_eq!(
        compaction::clips(&model, compaction::ERROR).unwrap(),
        model.clips()
    );
    let at = 0.3f32;
    for time in [
        0.0,
        0.15,
        at.next_down(),
        at,
        at.next_up(),
        0.45,
        0.6,
        0.8,
        1.0,
    ] {
        assert_eq!(
            slid(&copy, time),
            slid(&model, time),
            "exported, at {time} s"
        );
    }
}

#[test]
fn md5_frames_hold_the_components_that_move() {
    let mesh = "MD5Version 10 numJoints 2 numMeshes 1 joints { \"a\" -1 (0 0 0) (0 0 0) \"b\" 0 (1 0 0) (0 0 0) }\n\
                mesh { numverts 2 vert 0 (0 0) 0 2 vert 1 (0 0) 2 1 numtris 0\n\
                numweights 3 weight 0 0 0.5 (2 0 0) weight 1 1 0.5 (2 0 0) weight 2 1 1 (0 0 5) }";
    let anim = "MD5Version 10 numFrames 2 numJoints 2 frameRate 4 numAnimatedComponents 2\n\
                hierarchy { \"a\" -1 0 0 \"b\" 0 34 0 } bounds { (0 0 0) (0 0 0) (0 0 0) (0 0 0) }\n\
                baseframe { (0 0 7) (0 0 0) (1 0 0) (0 0 0) } // only y, and the rotation around z\n\
                frame 0 { 0 0 } frame 1 { 3 -0.70710678 }";
    let model = load(&[("a.md5mesh", mesh), ("a.md5anim", anim)]);
    assert_eq!(model.axes().up, 2);
    assert_eq!(
        notes(&model),
        [
            "placed 1 vertices at the mean of their weights' positions, which are up to 0.5 apart at bind"
        ]
    );
    assert!(
        largest_difference(
            &positions(&model, None),
            &[DVec3::new(2.5, 0.0, 0.0), DVec3::new(1.0, 0.0, 5.0)]
        ) < 1e-6
    );
    assert_eq!(model.clips()[0].duration(), 0.25);
    let end = positions(&model, Some((0, 0.25)));
    assert!(
        end[1].abs_diff_eq(DVec3::new(1.0, 3.0, 12.0), 1e-5),
        "{}",
        end[1]
    );
}

/// A mesh without vertices is no part of the character.
#[test]
fn md5_meshes_without_vertices_are_left_out() {
    let joints = "joints { \"a\" -1 (0 0 0) (0 0 0) }\n";
    let empty = "mesh { shader \"none\" numverts 0 numtris 0 numweights 0 }\n";
    let point = "mesh { shader \"point\" numverts 1 vert 0 (0 0) 0 1 numtris 0 numweights 1 weight 0 0 1 (1 2 3) }\n";
    let text = format!("MD5Version 10 numJoints 1 numMeshes 3 {joints}{empty}{point}{empty}");
    let model = load(&[("a.md5mesh", &text)]);
    assert_eq!(
        model
            .mesh()
            .primitives()
            .iter()
            .map(|p| p.vertex_count)
            .collect::<Vec<_>>(),
        [1]
    );
    assert_eq!(model.mesh().sources()[0].primitive, 0);
    assert_eq!(notes(&model), ["left out 2 primitives without vertices"]);
    #[cfg(feature = "cli")]
    {
        use skinbench::report::inspection::Inspection;
        let inspected = Inspection::new(model, std::time::Duration::ZERO);
        let materials: Vec<_> = inspected
            .primitives
            .iter()
            .map(|p| p.materials.clone())
            .collect();
        assert_eq!(materials, [["point"]]);
        assert!(
            !inspected.to_string().contains(" 0 vertices"),
            "{inspected}"
        );
    }

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("empty.md5mesh");
    fs::write(
        &file,
        format!("MD5Version 10 numJoints 1 numMeshes 2 {joints}{empty}{empty}"),
    )
    .unwrap();
    let error = asset::load(&file).unwrap_err();
    assert_eq!(
        (error.place.as_str(), error.problem.as_str()),
        ("mesh", "no skinned vertex; expected at least one")
    );
}

#[test]
fn md5_clips_of_other_characters_are_left_out_with_a_word() {
    let sprout = Sprout::new();
    let other = sprout
        .md5anim(&sprout.clips[1])
        .replace("\"tip\"", "\"top\"");
    let model = load(&[("a.md5mesh", &sprout.md5mesh()), ("b.md5anim", &other)]);
    assert!(model.clips().is_empty());
    assert!(
        notes(&model)[0].starts_with("left out "),
        "{:?}",
        notes(&model)
    );
    assert!(
        notes(&model)[0].contains("b.md5anim: line 12 column 2"),
        "{:?}",
        notes(&model)
    );
}

#[test]
fn ogre_shared_vertices_that_no_submesh_draws_are_left_out() {
    let mesh = "<mesh><sharedgeometry vertexcount='5'><vertexbuffer>\
                <vertex><position x='0' y='0' z='0'/></vertex><vertex><position x='1' y='0' z='0'/></vertex>\
                <vertex><position x='2' y='2' z='0'/></vertex><vertex><position x='3' y='0' z='0'/></vertex>\
                <vertex><position x='4' y='1' z='0'/></vertex></vertexbuffer></sharedgeometry><submeshes>\
                <submesh usesharedvertices='true'><faces count='1'><face v1='0' v2='2' v3='3'/></faces></submesh>\
                <submesh usesharedvertices='true'><faces count='1'><face v1='3' v2='2' v3='0'/></faces></submesh>\
                </submeshes><boneassignments><vertexboneassignment vertexindex='3' boneindex='0' weight='0'/>\
                </boneassignments><skeletonlink name='a.skeleton'/></mesh>";
    let skeleton =
        "<skeleton><bones><bone id='7' name='r'/><bone id='0' name='a'/></bones></skeleton>";
    let model = load(&[("a.mesh.xml", mesh), ("a.skeleton.xml", skeleton)]);
    assert_eq!(model.mesh().vertex_count(), 3);
    // Without weight, a vertex follows the bone of its first assignment.
    assert_eq!(model.mesh().joints(), [0, 0, 1]);
    assert_eq!(
        notes(&model),
        [
            "left out 2 vertices that no triangle uses",
            "2 vertices without a joint now follow the skin's joint 0",
            "1 vertices whose weights are all 0 now follow the joint of their first influence",
        ]
    );
}

/// A chain of three bones, and a vertex on the last one; a clip of 1 s has these tracks and attributes.
fn ogre_chain(extra: &str, tracks: &str) -> Result<Model, String> {
    let mesh = "<mesh><submeshes><submesh usesharedvertices='false'><faces/><geometry vertexcount='1'><vertexbuffer>\
                <vertex><position x='1' y='2' z='3'/></vertex></vertexbuffer></geometry><boneassignments>\
                <vertexboneassignment vertexindex='0' boneindex='2' weight='1'/></boneassignments></submesh></submeshes>\
                <skeletonlink name='a.skeleton'/></mesh>";
    let bone = |id: u32, axis: &str| {
        format!(
            "<bone id='{id}' name='b{id}'><position x='0.5' y='1' z='0.25'/>\
             <rotation angle='0.7'><axis {axis}/></rotation><scale x='1' y='2' z='0.5'/></bone>"
        )
    };
    let bones = bone(0, "x='0' y='0' z='1'")
        + &bone(1, "x='1' y='0' z='0'")
        + &bone(2, "x='0' y='1' z='0'");
    let skeleton = format!(
        "<skeleton><bones>{bones}</bones><bonehierarchy><boneparent bone='b1' parent='b0'/>\
         <boneparent bone='b2' parent='b1'/></bonehierarchy><animations><animation name='a' length='1'>{extra}\
         <tracks>{tracks}</tracks></animation></animations></skeleton>"
    );
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.mesh.xml"), mesh).unwrap();
    fs::write(folder.path().join("a.skeleton.xml"), skeleton).unwrap();
    asset::load(folder.path().join("a.mesh.xml")).map_err(|error| error.to_string())
}

/// A track of one key at 0 and one at 1: angles about (1, 1, 0), and scales.
fn ogre_track(bone: u32, angles: [f64; 2], scales: [DVec3; 2]) -> String {
    let keys = (0..2).map(|key| {
        let DVec3 { x, y, z } = scales[key];
        format!(
            "<keyframe time='{key}'><translate x='0.1' y='{key}' z='0'/><rotate angle='{}'><axis x='1' y='1' z='0'/>\
             </rotate><scale x='{x}' y='{y}' z='{z}'/></keyframe>",
            angles[key]
        )
    });
    format!(
        "<track bone='b{bone}'><keyframes>{}</keyframes></track>",
        keys.collect::<String>()
    )
}

/// The vertex of [`ogre_chain`] by OGRE's formulae (`Node::updateFromParentImpl`, `Bone::_getOffsetTransform`), if all
/// bones have the same keys; `t` is between the keys of [`ogre_track`].
fn ogre_vertex(t: f64, angles: [f64; 2], scales: [DVec3; 2]) -> DVec3 {
    let axes = [DVec3::Z, DVec3::X, DVec3::Y];
    let turn = |angle: f64| DQuat::from_axis_angle(DVec3::new(1.0, 1.0, 0.0).normalize(), angle);
    let derived = |key: Option<f64>| {
        let (mut position, mut rotation, mut scale) = (DVec3::ZERO, DQuat::IDENTITY, DVec3::ONE);
        for axis in axes {
            let mut own_position = DVec3::new(0.5, 1.0, 0.25);
            let mut own_rotation = DQuat::from_axis_angle(axis, 0.7f32.into());
            let mut own_scale = DVec3::new(1.0, 2.0, 0.5);
            if let Some(t) = key {
                own_position += DVec3::new(0.1, t, 0.0);
                own_rotation *= (turn(angles[0]) * (1.0 - t) + turn(angles[1]) * t).normalize();
                own_scale *= scales[0].lerp(scales[1], t);
            }
            position += rotation * (scale * own_position);
            rotation *= own_rotation;
            scale *= own_scale;
        }
        (position, rotation, scale)
    };
    let (bind_position, bind_rotation, bind_scale) = derived(None);
    let (position, rotation, scale) = derived(Some(t));
    let scaled = scale / bind_scale * (DVec3::new(1.0, 2.0, 3.0) - bind_position);
    position + rotation * bind_rotation.inverse() * scaled
}

#[test]
fn ogre_scales_multiply_axis_by_axis() {
    let angles = [0.3, 1.1];
    let scales = [DVec3::new(1.0, 1.5, 0.75), DVec3::new(2.0, 0.5, 1.25)];
    let tracks: String = (0..3)
        .map(|bone| ogre_track(bone, angles, scales))
        .collect();
    let model = ogre_chain("", &tracks).unwrap();
    assert_eq!(
        notes(&model),
        [
            "3 bones have one joint more each, for scales that differ from axis to axis",
            "added 63 times of keys, to follow products of scales",
        ]
    );
    assert_eq!(model.skeleton().len(), 6);
    assert!(positions(&model, None)[0].distance(DVec3::new(1.0, 2.0, 3.0)) < 1e-5);
    for step in 0..=20 {
        let t = f64::from(step) / 20.0;
        let found = positions(&model, Some((0, t)))[0];
        let right = ogre_vertex(t, angles, scales);
        assert!(
            found.distance(right) < 4e-4 * right.length(),
            "{found} instead of {right} at {t}"
        );
    }
}

/// Scales that change by a tenth within a second need no key but those of the file, and jumps from key to key only few.
#[test]
fn ogre_scales_take_few_keys() {
    let track = |scale_of: fn(u32) -> f64| -> String {
        let keys = (0..30).map(|key| {
            let scale = scale_of(key);
            format!(
                "<keyframe time='{}'><scale x='{scale}' y='1' z='{}'/></keyframe>",
                f64::from(key) / 30.0,
                2.0 - scale
            )
        });
        let keys: String = keys.collect();
        let tracks = (0..3)
            .map(|bone| format!("<track bone='b{bone}'><keyframes>{keys}</keyframes></track>"));
        tracks.collect()
    };
    let most_keys = |tracks: &str| {
        let model = ogre_chain("", tracks).unwrap();
        let raw = raw(&model, 0);
        let counts = raw.tracks().iter().map(|track| raw.times_of(track).len());
        counts.max().unwrap()
    };
    let slow = track(|key| 1.0 + 0.1 * (f64::from(key) / 30.0 * std::f64::consts::TAU).sin());
    assert_eq!(most_keys(&slow), 31);
    let jumping = track(|key| if key % 2 == 0 { 0.9 } else { 1.1 });
    assert_eq!(most_keys(&jumping), 4 * 30 + 1);
}

/// Weapons are attached to the joints that vertices follow, by the names of bones.
#[test]
fn ogre_bones_of_uneven_scales_keep_their_names() {
    let model = ogre_chain("", "").unwrap();
    let names = model.skeleton().names();
    let of_skin: Vec<&str> = model
        .palette_joints()
        .iter()
        .map(|&joint| names[usize::from(joint)].as_str())
        .collect();
    assert_eq!(of_skin, ["b0", "b1", "b2"]);
    // A bone may have the name that the joint above would get.
    let mesh = Sprout::new().mesh_xml();
    let skeleton = Sprout::new().skeleton_xml();
    let skeleton = skeleton.replace("\"tip\"", "\"stalk unscaled\"");
    let skeleton = skeleton.replacen("</rotation>", "</rotation><scale x='1' y='2' z='1'/>", 1);
    let model = load(&[("a.mesh.xml", &mesh), ("sprout.skeleton.xml", &skeleton)]);
    let mut names = model.skeleton().names().to_vec();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count, "{names:?}");
    assert!(names.contains(&"stalk unscaled'".to_owned()), "{names:?}");
}

#[test]
fn ogre_base_keys_count_at_their_time() {
    let even = [DVec3::splat(2.0), DVec3::splat(4.0)];
    let track = ogre_track(2, [0.4, 1.4], even);
    let plain = ogre_chain("", &track);
    // Relative to the animation itself at 0.5: half the turn, and scales over 3.
    let base = "<baseinfo baseanimationname='' basekeyframetime='0.5'/>";
    let rebased = ogre_chain(base, &track).unwrap();
    let right = ogre_chain("", &{
        let relative = ogre_track(2, [-0.5, 0.5], even.map(|scale| scale / 3.0));
        let relative = relative.replace("x='0.1' y='0'", "x='0' y='-0.5'");
        relative.replace("x='0.1' y='1'", "x='0' y='0.5'")
    });
    let right = right.unwrap();
    for time in [0.0, 0.25, 1.0] {
        let at = Some((0, time));
        assert!(largest_difference(&positions(&rebased, at), &positions(&right, at)) < 1e-5);
    }
    let at = Some((0, 0.0));
    let difference = largest_difference(&positions(&plain.unwrap(), at), &positions(&rebased, at));
    assert!(difference > 0.1, "{difference}");
    let refused = |base: &str| ogre_chain(base, &track).unwrap_err();
    let unknown = refused("<baseinfo baseanimationname='x' basekeyframetime='0'/>");
    assert!(
        unknown.contains("baseanimationname=\"x\"; expected the name of an animation"),
        "{unknown}"
    );
}

#[test]
fn other_formats_name_what_they_do_not_read() {
    let sprout = Sprout::new();
    let mesh = sprout.mesh_xml().replacen(
        "<submeshes>",
        "<poses><pose name='smile'><poseoffset/></pose></poses><levelofdetail/><submeshes>",
        1,
    );
    let mesh = mesh.replacen(
        "<submesh ",
        "<submesh fancy='1' use32bitindexes='false' ",
        1,
    );
    let model = load(&[
        ("sprout.mesh.xml", &mesh),
        ("sprout.skeleton.xml", &sprout.skeleton_xml()),
    ]);
    assert_eq!(
        notes(&model),
        ["left out parts that are not read: mesh/poses, mesh/levelofdetail, submesh@fancy"]
    );
    let mesh = sprout.mesh_xml();
    let mesh = mesh.replacen(
        "<boneassignments>",
        "<skeletonlink name='b'/> stray <boneassignments>",
        1,
    );
    let mesh = mesh.replacen(
        "<submesh ",
        "<submesh usesharedvertices='true' operationtype='line_list'><faces/><faces/><geometry/></submesh><submesh ",
        1,
    );
    let model = load(&[
        ("sprout.mesh.xml", &mesh),
        ("sprout.skeleton.xml", &sprout.skeleton_xml()),
    ]);
    assert_eq!(
        notes(&model),
        [
            "left out parts that are not read: text between elements, mesh/skeletonlink, submesh/faces (2 times), \
             submesh/geometry"
        ]
    );
    let json = sprout
        .three_json()
        .replacen('{', "{\"morphTargets\":null,\"morphColors\":{},", 1);
    assert_eq!(notes(&load(&[("a.js", &json)])), [""; 0]);
    let json = sprout.three_json().replacen(
        '{',
        "{\"morphTargets\":[{\"name\":\"a\",\"vertices\":[]},{}],\"morphColors\":[],\"colors\":[1],\"own\":2,",
        1,
    );
    let model = load(&[("a.js", &json)]);
    assert_eq!(
        notes(&model),
        ["left out parts that are not read: morphTargets[] (2 times), own"]
    );
}

#[test]
fn json_vertices_without_weight_follow_their_first_bone() {
    let sprout = Sprout::new();
    let json: serde_json::Value = serde_json::from_str(&sprout.three_json()).unwrap();
    let with = |bones: [i64; 2]| {
        let mut json = json.clone();
        for (slot, bone) in bones.into_iter().enumerate() {
            json["skinWeights"][slot] = 0.into();
            json["skinIndices"][slot] = bone.into();
        }
        load(&[("a.js", &json.to_string())])
    };
    let joint_of_first = |model: &Model| {
        let stored = model
            .mesh()
            .sources()
            .iter()
            .position(|source| source.vertex == 0);
        model.mesh().influences_of(stored.unwrap()).next().unwrap()
    };
    let held = with([2, 1]);
    assert_eq!(joint_of_first(&held), (2, 1.0));
    assert!(
        notes(&held)[0].starts_with("1 vertices whose weights are all 0"),
        "{:?}",
        notes(&held)
    );
    let unheld = with([-1, -1]);
    assert_eq!(joint_of_first(&unheld), (0, 1.0));
    assert!(
        notes(&unheld)[0].starts_with("1 vertices without a joint"),
        "{:?}",
        notes(&unheld)
    );
}

/// docs/models.md lists what each importer ignores, and nothing else.
#[test]
fn the_page_lists_what_importers_ignore() {
    let page = include_str!("../../../docs/models.md");
    for format in asset::FORMATS {
        let start = format!("- **{}**: ", format.name);
        let Some((_, list)) = page.split_once(&start) else {
            panic!("{} has no list", format.name);
        };
        let list = list.split("\n- ").next().unwrap();
        let list = list.split("\n\n").next().unwrap();
        let named: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
        assert_eq!(named, format.ignored, "{}", format.name);
    }
}
