//! Refusals: samples with one change each, and the file, the place and the words of the error that they cause.
use crate::support::sprout::Sprout;
use skinbench::asset;
use skinbench::error::DataError;
use std::fs;
use std::path::Path;

/// A format's sample; the first file is the model.
struct Sample {
    files: Vec<(&'static str, String)>,
}

impl Sample {
    /// Changes the first occurrence of a text in a file and checks what is said about that file.
    fn refused(&self, name: &str, from: &str, to: &str, place: &str, problem: &str) {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in &self.files {
            let changed = if *file == name {
                text.replacen(from, to, 1)
            } else {
                text.clone()
            };
            assert!(*file != name || changed != *text, "{file} has no {from:?}");
            fs::write(folder.path().join(file), changed).unwrap();
        }
        let error = asset::load(folder.path().join(self.files[0].0)).unwrap_err();
        assert_eq!(
            Path::new(&error.file).canonicalize().unwrap(),
            folder.path().canonicalize().unwrap().join(name),
            "{error}"
        );
        assert_eq!(error.place, place, "{error}");
        assert!(
            error.problem.contains(problem),
            "{error}\nexpected: {problem}"
        );
    }
}

fn sprout() -> Sprout {
    Sprout::new()
}

#[test]
fn m3d() {
    let sample = Sample {
        files: vec![("a.m3d", sprout().m3d())],
    };
    let refused = |from, to, place, problem| sample.refused("a.m3d", from, to, place, problem);
    refused(
        "#Bones 4",
        "#Bones four",
        "line 5 column 8",
        "\"four\"; expected the number after #Bones as a whole number",
    );
    refused(
        "#Vertices 112",
        "#Vertices 111",
        "line 809 column 1",
        "\"Position:\"; expected a line of asterisks around Triangles",
    );
    refused(
        "#Vertices 112",
        "#Vertices 113",
        "line 816 column 1",
        "expected Position:",
    );
    refused(
        "FaceCount: 176",
        "FaceCount: 1760",
        "line 28 column 1",
        "1760 faces from 0; expected them among the file's 200",
    );
    refused(
        "FaceStart: 176",
        "FaceStart: 175",
        "line 28 column 1",
        "subsets 0 and 1 both have face 175; expected each face in one subset",
    );
    refused(
        "BlendIndices: 0",
        "BlendIndices: 4",
        "line 37 column 15",
        "bone 4 is out of range; there are 4",
    );
    refused(
        "Position: 0.25",
        "Position: nan",
        "line 32 column 11",
        "\"nan\"; expected Position: as a finite number",
    );
    refused(
        "BlendWeights: 1",
        "BlendWeights: -1",
        "line 36 column 15",
        "\"-1\"; expected a weight of 0 or more",
    );
    refused(
        "ParentIndexOfBone3: 1",
        "ParentIndexOfBone3: 9",
        "line 1028 column 21",
        "parent 9 is out of range",
    );
    refused(
        "ParentIndexOfBone0: -1",
        "ParentIndexOfBone0: 3",
        "joint 0 \"Bone0\"",
        "its chain of parents is a cycle",
    );
    refused(
        "BoneOffset0 1 0 0 0",
        "BoneOffset0 0 0 0 0",
        "line 1019 column 1",
        "an offset matrix without an inverse",
    );
    refused(
        "BoneOffset0 1 0 0 0",
        "BoneOffset0 1 0 0 1",
        "line 1019 column 1",
        "expected 0 0 0 1",
    );
    refused(
        "Time: 0.16",
        "Time: 0",
        "line 1036 column 9",
        "\"0\"; expected a time after 0, the one before",
    );
    refused(
        "Quat: 0 0 0 1",
        "Quat: 0 0 0 0",
        "line 1035 column 41",
        "a rotation has zero length",
    );
}

#[test]
fn ram() {
    let sample = Sample {
        files: vec![("a.ram", sprout().ram())],
    };
    let refused = |from, to, place, problem| sample.refused("a.ram", from, to, place, problem);
    refused(
        "joints 4",
        "joints 5",
        "line 1 column 8",
        "5 joints, but 4 follow; expected the same number",
    );
    refused(
        "joints 4",
        "joints x",
        "line 1 column 8",
        "\"x\"; expected how many joints follow",
    );
    refused(
        "parent 1",
        "parent 7",
        "line 13 column 9",
        "parent 7 is out of range; there are 4 joints",
    );
    refused(
        "parent -1",
        "parent 2",
        "joint 0 \"root\"",
        "its chain of parents is a cycle",
    );
    refused(
        "rotation 0 0 0 1",
        "rotation 0 0 0 0",
        "line 6 column 11",
        "a rotation has zero length",
    );
    refused(
        "\n1 0.176777",
        "\n2 0.176777",
        "line 24 column 1",
        "\"2\"; expected the ID 1",
    );
    refused(
        "0 0 0 8 1",
        "0 0 0 8 112",
        "line 362 column 9",
        "vertex 112 is out of range; there are 112",
    );
    refused(
        "\"root\" 1\n",
        "\"toor\" 1\n",
        "line 563 column 7",
        "expected \"root\", joint 0",
    );
    refused(
        "\"root\" 1\n",
        "\"root\" -1\n",
        "line 563 column 14",
        "\"-1\"; expected a weight of 0 or more",
    );
}

#[test]
fn raa() {
    let sprout = sprout();
    let sample = Sample {
        files: vec![
            ("a.ram", sprout.ram()),
            ("a.raa", sprout.raa(&sprout.clips[0])),
        ],
    };
    let refused = |from, to, place, problem| sample.refused("a.raa", from, to, place, problem);
    refused(
        "track 1 1",
        "track 1 9",
        "line 11 column 9",
        "joint 9 is out of range; there are 4",
    );
    refused(
        "track 1 1 \"stalk\"",
        "track 1 2 \"stalk\"",
        "line 11 column 11",
        "expected \"tip\"",
    );
    refused(
        "track 1 1 \"stalk\"",
        "track 1 0 \"root\"",
        "line 11 column 1",
        "a second track for joint 0",
    );
    refused(
        "1 4 ",
        "1 0 ",
        "line 4 column 3",
        "\"0\"; expected a frame from 1 to before 32",
    );
    refused(
        "7 28 ",
        "7 32 ",
        "line 10 column 3",
        "\"32\"; expected a frame from 25 to before 32",
    );
    refused(
        "7 28 ",
        "7 27.5 ",
        "line 10 column 3",
        "\"27.5\"; expected a frame from 25 to before 32 as a whole number",
    );
}

#[test]
fn three_json() {
    let sample = Sample {
        files: vec![("a.js", sprout().three_json())],
    };
    let refused = |from, to, place, problem| sample.refused("a.js", from, to, place, problem);
    refused(
        "\"bones\":[",
        "\"bones\":[,",
        "line 110 column 10",
        "expected value",
    );
    refused(
        "\"bones\":",
        "\"bonez\":",
        "bones",
        "none; expected at least one",
    );
    refused(
        "\"parent\":1",
        "\"parent\":8",
        "bones[2].parent",
        "8 is out of range; there are 4 bones",
    );
    refused(
        "\"parent\":-1,\"name\"",
        "\"parent\":3,\"name\"",
        "bones, joint 0 \"root\"",
        "is a cycle",
    );
    refused(
        "\"rotq\":[0,0,0,1]",
        "\"rotq\":[0,0,0,0]",
        "bones[0].rotq",
        "has zero length",
    );
    refused(
        "\"influencesPerVertex\":3",
        "\"influencesPerVertex\":2",
        "skinWeights",
        "336 numbers; expected 224",
    );
    refused(
        "\"skinIndices\":[0",
        "\"skinIndices\":[4",
        "skinIndices[0]",
        "bone 4 is out of range; there are 4",
    );
    refused(
        "\"skinWeights\":[1",
        "\"skinWeights\":[-1",
        "skinWeights[0]",
        "-1; expected a weight of 0 or more",
    );
    refused(
        "\"faces\":[\n43",
        "\"faces\":[\n300",
        "faces[0]",
        "the mask 300; expected 0 to 255",
    );
    refused(
        "\"faces\":[\n43,0",
        "\"faces\":[\n43,999",
        "faces[1]",
        "vertex 999 is out of range; there are 112",
    );
    refused(
        "\"vertices\":[0.25",
        "\"vertices\":[1e39",
        "vertices[0]",
        "is too large; expected a finite number",
    );
    refused(
        "\"vertices\":[0.25",
        "\"vertices\":[0,0.25",
        "vertices",
        "337 numbers; expected a multiple of 3",
    );
    refused(
        "\"time\":0.16",
        "\"time\":0",
        "animations[0].hierarchy[0].keys[1].time",
        "0; expected a time of 0 or more, after",
    );
    refused(
        "\"fps\":25",
        "\"fps\":0",
        "animations[0].fps",
        "0; expected frames per second, more than 0",
    );
    let sample = Sample {
        files: vec![("a.json", sprout().three_json_frames())],
    };
    sample.refused(
        "a.json",
        "\"keyframes\":[\n[{\"pos\":[0,0,0],\"rot\":[0,0,0,1]},",
        "\"keyframes\":[\n[",
        "animation.keyframes[0]",
        "3 poses; expected one for each of 4 bones",
    );
}

#[test]
fn ogre_mesh() {
    let sample = Sample {
        files: vec![
            ("a.mesh.xml", sprout().mesh_xml()),
            ("sprout.skeleton.xml", sprout().skeleton_xml()),
        ],
    };
    let refused = |from, to, place, problem| sample.refused("a.mesh.xml", from, to, place, problem);
    refused(
        "<submesh ",
        "<submesh operationtype='triangle_lst' ",
        "line 234 column 1",
        "operationtype=\"triangle_lst\"; expected one of triangle_list, triangle_strip, triangle_fan",
    );
    refused(
        "<mesh>",
        "<mash>",
        "line 2 column 1",
        "<mash>; expected <mesh>",
    );
    refused(
        "<mesh>",
        "<!DOCTYPE mesh><mesh>",
        "line 2 column 1",
        "a document type declaration; expected none",
    );
    refused(
        "vertexcount=\"112\"",
        "vertexcount=\"113\"",
        "line 4 column 1",
        "112 vertices; expected 113",
    );
    refused(
        "vertexcount=\"112\"",
        "",
        "line 3 column 1",
        "<sharedgeometry> without vertexcount; expected one",
    );
    refused(
        "<position x=\"0.25\"",
        "<position x=\"inf\"",
        "line 5 column 9",
        "x=\"inf\"; expected a finite number",
    );
    refused(
        "<faces count=\"176\">",
        "<faces count=\"1\">",
        "line 235 column 1",
        "count=1, but 176 follow",
    );
    refused(
        "v1=\"0\"",
        "v1=\"112\"",
        "line 236 column 1",
        "vertex 112 is out of range; there are 112",
    );
    refused(
        "boneindex=\"0\"",
        "boneindex=\"4\"",
        "line 445 column 1",
        "bone 4; expected the id of one in the skeleton",
    );
    refused(
        "vertexindex=\"0\"",
        "vertexindex=\"112\"",
        "line 445 column 1",
        "vertex 112 is out of range",
    );
    refused(
        "weight=\"1\"",
        "weight=\"-1\"",
        "line 445 column 1",
        "weight=-1; expected 0 or more",
    );
    refused(
        "<skeletonlink name=\"sprout.skeleton\"/>",
        "",
        "line 2 column 1",
        "no <skeletonlink>; expected one",
    );
    refused(
        "name=\"sprout.skeleton\"",
        "name=\"../a\"",
        "skeletonlink",
        "climbs out of it by \"..\"",
    );
    refused(
        "name=\"sprout.skeleton\"",
        "name=\"/etc/a\"",
        "skeletonlink",
        "is absolute",
    );
    refused(
        "name=\"sprout.skeleton\"",
        "name=\"absent\"",
        "skeletonlink",
        "\"absent.xml\" cannot be read",
    );
    refused(
        "material=\"stalk\"",
        "material=\"&a;\"",
        "line 234 column 1",
        "attribute material",
    );
}

#[test]
fn ogre_skeleton() {
    let sample = Sample {
        files: vec![
            ("a.mesh.xml", sprout().mesh_xml()),
            ("sprout.skeleton.xml", sprout().skeleton_xml()),
        ],
    };
    let refused =
        |from, to, place, problem| sample.refused("sprout.skeleton.xml", from, to, place, problem);
    refused(
        "id=\"1\"",
        "id=\"0\"",
        "line 6 column 1",
        "a second bone with id 0; expected ids to be unique",
    );
    refused(
        "name=\"tip\"",
        "name=\"stalk\"",
        "line 8 column 1",
        "a second bone named \"stalk\"",
    );
    refused(
        "parent=\"root\"",
        "parent=\"roof\"",
        "line 14 column 1",
        "parent=\"roof\"; expected the name of a bone",
    );
    refused(
        "parent=\"root\"",
        "parent=\"tip\"",
        "line 2 column 1",
        "is a cycle",
    );
    refused(
        "<track bone=\"tip\"",
        "<track bone=\"top\"",
        "line 45 column 1",
        "bone=\"top\"; expected the name of a bone",
    );
    refused(
        "time=\"0.32\"",
        "time=\"0.1\"",
        "line 25 column 1",
        "time=0.1; expected 0.16 or more",
    );
    refused(
        "angle=\"0.6\"><axis x=\"0\" y=\"1\"",
        "angle=\"0.6\"><axis x=\"0\" y=\"0\"",
        "line 7 column 30",
        "an axis of zero length",
    );
    refused(
        "</rotation>",
        "</rotation><scale x='1' y='1' z='0'/>",
        "bone \"root\"",
        "its scale has no inverse; expected one that is not 0",
    );
    refused(
        "</skeleton>",
        "",
        "line 109 column 1",
        "the file ends inside an element; expected its end",
    );
}

#[test]
fn md5() {
    let sprout = sprout();
    let sample = Sample {
        files: vec![
            ("a.md5mesh", sprout.md5mesh()),
            ("a.md5anim", sprout.md5anim(&sprout.clips[0])),
        ],
    };
    let refused = |from, to, place, problem| sample.refused("a.md5mesh", from, to, place, problem);
    refused(
        "MD5Version 10",
        "MD5Version 11",
        "line 1 column 12",
        "\"11\"; expected the version 10",
    );
    refused(
        "\"tip\" 1",
        "\"tip\" 9",
        "line 10 column 2",
        "parent 9 is out of range; there are 4 joints",
    );
    refused(
        "\"root\" -1",
        "\"root\" 3",
        "joint 0 \"root\"",
        "is a cycle",
    );
    refused(
        "vert 1 ",
        "vert 2 ",
        "line 18 column 7",
        "\"2\"; expected the index 1",
    );
    refused(
        "tri 0 0 ",
        "tri 0 96 ",
        "line 114 column 8",
        "vertex 96 is out of range; there are 96",
    );
    refused(
        "weight 0 0 ",
        "weight 0 4 ",
        "line 291 column 11",
        "joint 4 is out of range; there are 4",
    );
    refused(
        " ) 0 1\n",
        " ) 0 999\n",
        "line 17 column 2",
        "999 weights from 0; expected them among the mesh's",
    );
    refused(
        " ) 0 1\n",
        " ) 0 0\n",
        "line 17 column 2",
        "the vertex has no weight above 0",
    );
    let refused = |from, to, place, problem| sample.refused("a.md5anim", from, to, place, problem);
    refused(
        "numJoints 4",
        "numJoints 5",
        "line 5 column 1",
        "5 joints; expected 4, as the mesh has",
    );
    let joint = "the joint \"top\" with the parent 1; expected the joint \"tip\" with the parent 1, as the mesh has";
    refused(
        "\"tip\" 1 56 6",
        "\"top\" 1 56 6",
        "line 12 column 2",
        joint,
    );
    refused(
        "\"tip\" 1 56 6",
        "\"tip\" 1 64 6",
        "line 12 column 10",
        "\"64\"; expected flags, 0 to 63",
    );
    refused(
        "\"tip\" 1 56 6",
        "\"tip\" 1 56 11",
        "line 12 column 2",
        "3 components from 11; expected them among a frame's 12",
    );
    refused(
        "frameRate 25",
        "frameRate 0",
        "line 6 column 11",
        "\"0\"; expected frames per second, more than 0",
    );
    refused(
        "frame 1 {",
        "frame 2 {",
        "line 66 column 7",
        "\"2\"; expected the frame 1",
    );
}

#[test]
fn formats_are_known_by_ending_then_by_content() {
    let folder = tempfile::tempdir().unwrap();
    let load = |name: &str, text: &str| -> Result<_, DataError> {
        fs::write(folder.path().join(name), text).unwrap();
        asset::load(folder.path().join(name))
    };
    fs::write(
        folder.path().join("sprout.skeleton.xml"),
        sprout().skeleton_xml(),
    )
    .unwrap();
    for (name, text) in [
        ("a.txt", sprout().m3d()),
        ("b.txt", sprout().ram()),
        ("c.txt", sprout().md5mesh()),
        ("d.xml", sprout().mesh_xml()),
        ("e", sprout().three_json()),
        ("F.M3D", sprout().m3d()),
    ] {
        assert!(load(name, &text).is_ok(), "{name}");
    }
    let error = load("g.txt", "hello").unwrap_err();
    assert!(
        error
            .problem
            .starts_with("no known model format; expected a file that ends in .gltf, .glb, .m3d"),
        "{error}"
    );
    // Byte order marks are skipped.
    for (name, text) in [
        ("a.m3d", sprout().m3d()),
        ("b.ram", sprout().ram()),
        ("c.js", sprout().three_json()),
    ] {
        let marked = load(name, &format!("\u{feff}{text}")).unwrap();
        assert_eq!(marked.mesh(), load(name, &text).unwrap().mesh(), "{name}");
    }
    let other = load("j.m3d", "3dmodel 1.0\n").unwrap_err();
    assert!(other.problem.starts_with("Model 3D, not"), "{other}");
    assert!(
        load("h.m3d", "\u{fffd}")
            .unwrap_err()
            .place
            .starts_with("line 1")
    );
    fs::write(folder.path().join("i.m3d"), b"***\xff").unwrap();
    assert_eq!(
        asset::load(folder.path().join("i.m3d")).unwrap_err().place,
        "byte 3"
    );
    assert!(
        asset::load(folder.path().join("none.m3d"))
            .unwrap_err()
            .problem
            .starts_with("cannot be read")
    );
    assert_eq!(
        asset::load(folder.path()).unwrap_err().problem,
        "cannot be read: is no regular file"
    );
}
