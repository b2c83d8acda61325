//! Damaged files of every format: import returns, whatever they hold, within the memory that it promises, and names
//! the file.
mod support {
    pub mod gltf_fixture;
    pub mod shared;
    pub mod sprout;
}

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};
use skinbench::asset;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;
use std::ops::Range;
use std::path::Path;
use support::gltf_fixture::*;
use support::shared::shared_folder;
use support::sprout::Sprout;

/// Counts the bytes that a thread has in use and remembers the most there were. Importers of files have one thread.
struct Counting;

thread_local! {
    // Signed, because a thread may free what another one allocated.
    static USED: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        USED.set(USED.get() + layout.size() as isize);
        PEAK.set(PEAK.get().max(USED.get()));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.set(USED.get() - layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Imports damaged files and keeps count.
#[derive(Default)]
struct Trial {
    tried: usize,
    accepted: usize,
    worst_peak: usize,
}

impl Trial {
    /// Returns whether the file was accepted.
    fn import(&mut self, file: &Path, bytes: &[u8]) -> bool {
        self.import_with(file, bytes, 0)
    }

    /// As [`Trial::import`], with files beside it of so many bytes.
    fn import_with(&mut self, file: &Path, bytes: &[u8], beside: usize) -> bool {
        fs::write(file, bytes).unwrap();
        self.load(file, bytes.len() + beside)
    }

    /// Reads a model whose files have so many bytes.
    fn load(&mut self, file: &Path, size: usize) -> bool {
        let before = USED.get();
        PEAK.set(before);
        let result = asset::load(file);
        let peak = (PEAK.get() - before) as usize;
        self.tried += 1;
        self.worst_peak = self.worst_peak.max(peak);
        let limit = 20 * size + (64 << 20);
        assert!(
            peak <= limit,
            "{peak} bytes in use for {} of {size}",
            file.display()
        );
        match &result {
            Ok(_) => self.accepted += 1,
            Err(error) => {
                let folder = file.parent().unwrap().canonicalize().unwrap();
                let named = Path::new(&error.file).canonicalize().unwrap();
                assert!(named.starts_with(folder), "{error}");
                assert!(error.to_string().starts_with(&error.file), "{error}");
            }
        }
        result.is_ok()
    }

    fn report(&self, what: &str) {
        println!(
            "{what}: {} damaged files tried, {} of them still importable; at most {} KiB in use",
            self.tried,
            self.accepted,
            self.worst_peak >> 10
        );
    }
}

/// Two byte positions with sparse substitutes, one byte normals without data.
fn quantised_and_sparse() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.set("/extensionsRequired", json!(["KHR_mesh_quantization"]));
    let positions = fixture.accessor(
        UNSIGNED_SHORT,
        "VEC3",
        3,
        &[1, 0, 2, 0, 3, 0, 0, 0].repeat(3),
    );
    fixture.set(&format!("/accessors/{positions}/normalized"), json!(true));
    let view = fixture.json["accessors"][positions]["bufferView"].clone();
    fixture.set(&format!("/bufferViews/{view}/byteStride"), json!(8));
    let indices = fixture.view(&[1, 0, 2, 0]);
    let values = fixture.view(&[4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 9, 0]);
    let sparse = json!({
        "count": 2,
        "indices": {"bufferView": indices, "componentType": UNSIGNED_SHORT, "byteOffset": 0},
        "values": {"bufferView": values, "byteOffset": 0},
    });
    fixture.set(&format!("/accessors/{positions}/sparse"), sparse);
    let normals = fixture.push(
        "accessors",
        json!({"componentType": BYTE, "type": "VEC3", "count": 3, "normalized": true, "byteOffset": 0}),
    );
    fixture.set(
        "/meshes/0/primitives/0/attributes/POSITION",
        json!(positions),
    );
    fixture.set("/meshes/0/primitives/0/attributes/NORMAL", json!(normals));
    fixture
}

/// Two morph targets, one of them sparse, with names, weights and a track.
fn with_targets() -> Fixture {
    let mut fixture = Fixture::new();
    let dense = fixture.floats("VEC3", &[0.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.25]);
    let (indices, values) = (
        fixture.view(&[2, 0, 0, 0]),
        fixture.view(&[0, 0, 128, 63].repeat(3)),
    );
    let sparse = fixture.push(
        "accessors",
        json!({"componentType": FLOAT, "type": "VEC3", "count": 3, "sparse": {
            "count": 1,
            "indices": {"bufferView": indices, "componentType": UNSIGNED_INT},
            "values": {"bufferView": values},
        }}),
    );
    fixture.set(
        "/meshes/0/primitives/0/targets",
        json!([{"POSITION": dense, "NORMAL": sparse}, {"POSITION": sparse}]),
    );
    fixture.set("/meshes/0/weights", json!([0.5, 0.0]));
    fixture.set("/meshes/0/extras", json!({"targetNames": ["a", "b"]}));
    fixture.set("/nodes/1/weights", json!([0.0, 1.0]));
    fixture.set("/nodes/1/mesh", json!(0));
    let output = fixture.floats("SCALAR", &[0.0, 1.0, 1.0, 0.0]);
    fixture.set("/animations/0/samplers/0/output", json!(output));
    fixture.set(
        "/animations/0/channels/0/target",
        json!({"node": 2, "path": "weights"}),
    );
    fixture
}

/// Two scenes, a lower level of detail, and primitives that share vertices.
fn with_scenes() -> Fixture {
    let mut fixture = Fixture::new();
    let primitive = fixture.json["meshes"][0]["primitives"][0].clone();
    fixture.set("/meshes/0/primitives", json!([primitive, primitive]));
    for name in ["other", "low"] {
        fixture.push("nodes", json!({"name": name, "mesh": 0, "skin": 0}));
    }
    fixture.set("/nodes/2/extensions", json!({"MSFT_lod": {"ids": [4]}}));
    fixture.push("scenes", json!({"nodes": [3]}));
    fixture.set("/scene", json!(0));
    fixture
}

#[test]
fn damaged_gltf_never_panics_nor_exhausts_memory() {
    damage_gltf(&[
        ("scenes.gltf", with_scenes().gltf()),
        ("data-uri.gltf", Fixture::new().gltf()),
        ("chunks.glb", Fixture::new().glb()),
        ("quantised.gltf", quantised_and_sparse().gltf()),
        ("quantised.glb", quantised_and_sparse().glb()),
        ("targets.gltf", with_targets().gltf()),
        ("targets.glb", with_targets().glb()),
    ]);
}

#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn damaged_real_gltf_never_panics_nor_exhausts_memory() {
    let folder = shared_folder().join("models/gltf");
    damage_gltf(
        &["SimpleSkin.gltf", "RiggedSimple.glb", "quad_skin.glb"]
            .map(|name| (name, fs::read(folder.join(name)).unwrap())),
    );
}

/// Damages files, of which each has a name.
fn damage_gltf(originals: &[(&str, Vec<u8>)]) {
    let folder = tempfile::tempdir().unwrap();
    let mut trial = Trial::default();
    let mut random = Pcg64Mcg::seed_from_u64(7);
    for (name, bytes) in originals {
        let file = folder.path().join(name);
        let mut import = |bytes: &[u8]| trial.import(&file, bytes);
        import(bytes);
        for percent in 0..100 {
            import(&bytes[..bytes.len() * percent / 100]);
        }
        let mut damaged = bytes.clone();
        for _ in 0..300 {
            let at = random.next_u32() as usize % bytes.len();
            damaged[at] ^= 1 << (random.next_u32() % 8);
            import(&damaged);
            // Half of the time damage adds up.
            if random.next_u32() % 2 == 0 {
                damaged.clone_from(bytes);
            }
        }
        let (json, bin) = parts(bytes);
        let rebuilt = |json: &Value| match &bin {
            Some(bin) => glb(&[(b"JSON", spaced(json).as_bytes()), (b"BIN\0", bin)]),
            None => json.to_string().into_bytes(),
        };
        for path in pointers(&json) {
            for value in replacements(json.pointer(&path).unwrap()) {
                let mut changed = json.clone();
                *changed.pointer_mut(&path).unwrap() = value;
                import(&rebuilt(&changed));
            }
        }
    }
    trial.report("glTF");
    assert!(trial.accepted > 0 && trial.accepted < trial.tried);
}

/// Makes a file larger and larger until it is refused, to see that the last ones accepted stay within bounds.
#[test]
fn memory_stays_within_bounds_up_to_the_last_gltf_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.gltf");
    // A file may list a single one of them, and the others are zeros.
    let positions = |fixture: &mut Fixture, count: usize| {
        let indices = fixture.view(&[0; 4]);
        let values = fixture.view(&[0; 12]);
        fixture.push(
            "accessors",
            json!({
                "componentType": FLOAT,
                "type": "VEC3",
                "count": count,
                "sparse": {
                    "count": 1,
                    "indices": {"bufferView": indices, "componentType": UNSIGNED_INT},
                    "values": {"bufferView": values},
                },
            }),
        )
    };
    let points = |fixture: &mut Fixture, count: usize| {
        let joints = fixture.accessor(UNSIGNED_BYTE, "VEC4", count, &vec![0; 4 * count]);
        let weights = fixture.accessor(UNSIGNED_BYTE, "VEC4", count, &[255, 0, 0, 0].repeat(count));
        let positions = positions(fixture, count);
        let attributes = json!({"POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights});
        fixture.set(
            "/meshes/0/primitives/0",
            json!({"attributes": attributes, "mode": 0}),
        );
    };
    type Grow<'a> = &'a dyn Fn(&mut Fixture, usize);
    let cases: [(&str, Grow); 8] = [
        ("vertices that are not listed", &|fixture, count| {
            let positions = positions(fixture, count);
            fixture.push(
                "meshes",
                json!({"primitives": [{"attributes": {"POSITION": positions}, "mode": 6}]}),
            );
            fixture.set("/nodes/1/mesh", json!(1));
        }),
        ("influences without data", &|fixture, count| {
            let positions = positions(fixture, count);
            fixture.set(
                "/meshes/0/primitives/0/attributes/POSITION",
                json!(positions),
            );
            for (name, component, shape) in [
                ("JOINTS_0", UNSIGNED_BYTE, "VEC4"),
                ("WEIGHTS_0", FLOAT, "VEC4"),
            ] {
                let zeros = fixture.push(
                    "accessors",
                    json!({"componentType": component, "type": shape, "count": count}),
                );
                fixture.set(
                    &format!("/meshes/0/primitives/0/attributes/{name}"),
                    json!(zeros),
                );
            }
        }),
        ("many small vertices", &|fixture, count| {
            points(fixture, count)
        }),
        ("nodes that share a mesh", &|fixture, count| {
            points(fixture, 100);
            let node = json!({"mesh": 0, "skin": 0});
            fixture.json["nodes"]
                .as_array_mut()
                .unwrap()
                .extend(vec![node; count]);
        }),
        ("empty nodes", &|fixture, count| {
            fixture.json["nodes"]
                .as_array_mut()
                .unwrap()
                .extend(vec![json!({}); count]);
        }),
        ("joints of a chain", &|fixture, count| {
            let next = |i| json!({"children": [i + 1], "translation": [0, 0, 1]});
            fixture.json["nodes"]
                .as_array_mut()
                .unwrap()
                .extend((3..count + 3).map(next));
            fixture.push("nodes", json!({}));
            fixture.set("/skins/0/joints/0", json!(count + 3));
        }),
        ("channels that share keys", &|fixture, count| {
            let keys = fixture.push(
                "accessors",
                json!({"componentType": FLOAT, "type": "VEC3", "count": 2}),
            );
            fixture.set("/animations/0/samplers/0/output", json!(keys));
            let mut channels = Vec::new();
            for node in 3..count + 3 {
                fixture.push(
                    "nodes",
                    json!({"children": if node == 3 { vec![0] } else { vec![node - 1] }}),
                );
                channels
                    .push(json!({"sampler": 0, "target": {"node": node, "path": "translation"}}));
            }
            fixture.set("/animations/0/channels", json!(channels));
        }),
        ("keys without data", &|fixture, count| {
            fixture.set("/animations/0/samplers/0/interpolation", json!("STEP"));
            let times: Vec<f32> = (0..count).map(|t| t as f32).collect();
            let times = fixture.floats("SCALAR", &times);
            fixture.set("/animations/0/samplers/0/input", json!(times));
            let keys = fixture.push(
                "accessors",
                json!({"componentType": FLOAT, "type": "VEC3", "count": count}),
            );
            fixture.set("/animations/0/samplers/0/output", json!(keys));
            fixture.set("/animations/0/channels/0/target/path", json!("scale"));
        }),
    ];
    for (name, grow) in cases {
        let mut trial = Trial::default();
        let mut count = 1024;
        let mut largest = 0;
        while count < 1 << 20 {
            let mut fixture = Fixture::new();
            grow(&mut fixture, count);
            let bytes = fixture.gltf();
            if !trial.import(&file, &bytes) {
                break;
            }
            largest = count;
            count *= 2;
        }
        println!(
            "{name}: {largest} accepted with {} KiB in use",
            trial.worst_peak >> 10
        );
        assert!(largest > 0, "{name}");
    }
}

/// The JSON and the BIN chunk of a well-formed file.
fn parts(bytes: &[u8]) -> (Value, Option<Vec<u8>>) {
    if !bytes.starts_with(b"glTF") {
        return (serde_json::from_slice(bytes).unwrap(), None);
    }
    let length = u32::from_le_bytes(*bytes[12..].first_chunk().unwrap()) as usize;
    (
        serde_json::from_slice(&bytes[20..20 + length]).unwrap(),
        Some(bytes[28 + length..].to_vec()),
    )
}

/// JSON padded by spaces to whole words.
fn spaced(json: &Value) -> String {
    let text = json.to_string();
    let length = text.len().next_multiple_of(4);
    format!("{text:length$}")
}

/// JSON pointers to every value but what import never reads; of long arrays only the ends.
fn pointers(json: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = vec![(String::new(), json)];
    while let Some((path, value)) = pending.pop() {
        match value {
            Value::Object(object) => {
                let read = object
                    .iter()
                    .filter(|(key, _)| !["min", "max", "extras", "asset"].contains(&key.as_str()));
                pending.extend(read.map(|(key, value)| (format!("{path}/{key}"), value)));
            }
            Value::Array(array) => {
                let ends = array
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| *i == 0 || i + 1 == array.len());
                pending.extend(ends.map(|(index, value)| (format!("{path}/{index}"), value)));
            }
            _ => {}
        }
        found.push(path);
    }
    found
}

/// Replacements of a value, tried one at a time.
fn replacements(value: &Value) -> Vec<Value> {
    match value {
        Value::Number(n) => {
            let next = n.as_u64().map(|n| json!(n + 1));
            let odd = [
                json!(0),
                json!(1),
                json!(3),
                json!(-1),
                json!(0.5),
                json!(255),
                json!(65_536),
                json!(1_000_000),
                json!(u32::MAX),
                json!(1u64 << 32),
                json!(u64::MAX),
                json!(1e38),
                json!(1e300),
                json!(null),
                json!("1"),
            ];
            odd.into_iter().chain(next).collect()
        }
        Value::String(_) => vec![
            json!(""),
            json!("MAT4"),
            json!("SCALAR"),
            json!("CUBICSPLINE"),
            json!("scale"),
            json!("../outside.bin"),
            json!("%2e%2e/outside.bin"),
            json!("/etc/passwd"),
            json!("data:;base64,"),
            json!("data:;base64,AA=A"),
            json!(7),
        ],
        Value::Array(array) => {
            vec![
                json!([]),
                json!({}),
                json!([0, 0]),
                json!([array, array]),
                json!([4_000_000_000u32]),
            ]
        }
        Value::Object(_) => vec![json!({}), json!([]), json!(null)],
        _ => vec![json!(null), json!(true)],
    }
}

/// A format's files in the small: the one that is loaded first.
type Files = Vec<(&'static str, String)>;

/// Every text format, and its files.
fn texts() -> Vec<(&'static str, Files)> {
    let sprout = Sprout::new();
    let [sway, nod] = &sprout.clips[..] else {
        unreachable!("two clips")
    };
    vec![
        ("m3d", vec![("a.m3d", sprout.m3d())]),
        (
            "RAM",
            vec![("a.ram", sprout.ram()), ("a.raa", sprout.raa(sway))],
        ),
        ("three.js JSON", vec![("a.js", sprout.three_json())]),
        (
            "three.js JSON by frames",
            vec![("a.json", sprout.three_json_frames())],
        ),
        (
            "OgreXML",
            vec![
                ("a.mesh.xml", sprout.mesh_xml()),
                ("sprout.skeleton.xml", sprout.skeleton_xml()),
            ],
        ),
        (
            "OgreXML with uneven scales and base keys",
            vec![
                ("a.mesh.xml", sprout.mesh_xml()),
                ("sprout.skeleton.xml", uneven(&sprout.skeleton_xml())),
            ],
        ),
        (
            "MD5",
            vec![
                ("a.md5mesh", sprout.md5mesh()),
                ("a.md5anim", sprout.md5anim(nod)),
            ],
        ),
    ]
}

/// A skeleton whose keys scale each axis by another factor, and are relative to one of them.
fn uneven(skeleton: &str) -> String {
    let scale = "</rotate><scale x=\"1\" y=\"2\" z=\"0.5\"/></keyframe>";
    let base = "<baseinfo baseanimationname=\"\" basekeyframetime=\"0.1\"/>\n<tracks>";
    skeleton
        .replace("</rotate></keyframe>", scale)
        .replace("<tracks>", base)
}

/// Characters at which tokens end, in any of the formats.
const BETWEEN_TOKENS: &str = " \t\n,:[]{}()<>=\"/";

/// Ranges of tokens: words, and the marks between them.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    for (at, c) in text
        .char_indices()
        .filter(|(_, c)| BETWEEN_TOKENS.contains(*c))
    {
        if start < at {
            tokens.push(start..at);
        }
        if !c.is_whitespace() {
            tokens.push(at..at + 1);
        }
        start = at + 1;
    }
    tokens
}

fn replaced(text: &str, token: &Range<usize>, by: &str) -> String {
    [&text[..token.start], by, &text[token.end..]].concat()
}

fn swapped(text: &str, a: &Range<usize>, b: &Range<usize>) -> String {
    if a == b {
        return text.into();
    }
    let (a, b) = if a.start < b.start { (a, b) } else { (b, a) };
    [
        &text[..a.start],
        &text[b.clone()],
        &text[a.end..b.start],
        &text[a.clone()],
        &text[b.end..],
    ]
    .concat()
}

/// Damaged versions of a text.
fn damaged(text: &str, random: &mut Pcg64Mcg) -> Vec<Vec<u8>> {
    const ODD: [&str; 14] = [
        "",
        "0",
        "-1",
        "1",
        "0.5",
        "nan",
        "-inf",
        "1e39",
        "4294967295",
        "18446744073709551615",
        "{",
        "\"",
        "<a>",
        "&lol;",
    ];
    let mut below = |count: usize| random.next_u32() as usize % count;
    let mut files: Vec<Vec<u8>> = (0..100)
        .map(|percent| text[..text.len() * percent / 100].into())
        .collect();
    let mut flipped = text.as_bytes().to_vec();
    for _ in 0..300 {
        flipped[below(text.len())] ^= 1 << below(8);
        files.push(flipped.clone());
        // Half of the time damage adds up.
        if below(2) == 0 {
            flipped = text.into();
        }
    }
    let tokens = tokens(text);
    for _ in 0..120 {
        let token = &tokens[below(tokens.len())];
        files.push(replaced(text, token, "").into());
        files.push(swapped(text, token, &tokens[below(tokens.len())]).into());
        files.push(replaced(text, token, ODD[below(ODD.len())]).into());
        files.push(replaced(text, token, &format!("{0} {0}", &text[token.clone()])).into());
    }
    // Counts and indices are mostly at the start, or behind a word.
    let whole = |token: &&Range<usize>| text[(*token).clone()].parse::<u32>().is_ok();
    let labelled =
        |pair: &[Range<usize>]| text[pair[0].clone()].ends_with(|c: char| c.is_ascii_alphabetic());
    let counts = tokens
        .windows(2)
        .filter(|pair| labelled(pair))
        .map(|pair| &pair[1])
        .filter(whole)
        .take(25);
    for count in counts.chain(tokens.iter().filter(whole).take(25)) {
        let value: u64 = text[count.clone()].parse().unwrap();
        for lie in [
            0,
            value + 1,
            value.saturating_sub(1),
            255,
            65_536,
            1_000_000,
            u32::MAX.into(),
            u64::MAX,
        ] {
            files.push(replaced(text, count, &lie.to_string()).into());
        }
    }
    files
}

#[test]
fn damaged_text_never_panics_nor_exhausts_memory() {
    let mut random = Pcg64Mcg::seed_from_u64(11);
    for (format, files) in texts() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let write_all = || {
            files
                .iter()
                .for_each(|(name, text)| fs::write(path(name), text).unwrap())
        };
        let main = path(files[0].0);
        let mut trial = Trial::default();
        write_all();
        assert!(trial.load(&main, 0), "{format}");
        for (name, text) in &files {
            let others: usize = files
                .iter()
                .filter(|(n, _)| n != name)
                .map(|(_, text)| text.len())
                .sum();
            for bytes in damaged(text, &mut random) {
                fs::write(path(name), &bytes).unwrap();
                trial.load(&main, bytes.len() + others);
            }
            write_all();
        }
        trial.report(format);
        assert!(trial.accepted > 0 && trial.accepted < trial.tried);
    }
}

/// Real models, as their files are, damaged a little.
#[test]
#[ignore = "needs SKINBENCH_SHARED"]
fn damaged_real_models_never_panic() {
    let shared = shared_folder();
    let mut random = Pcg64Mcg::seed_from_u64(13);
    let mut trial = Trial::default();
    for names in [
        &["threejs_legacy/simple.js"][..],
        &["ram/enemy.ram", "ram/enemy.raa"],
        &["ogrexml/fish.mesh.xml", "ogrexml/fish.skeleton.xml"],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name.rsplit('/').next().unwrap());
        let texts: Vec<String> = names
            .iter()
            .map(|name| fs::read_to_string(shared.join("models").join(name)).unwrap())
            .collect();
        let write_all = || {
            names
                .iter()
                .zip(&texts)
                .for_each(|(name, text)| fs::write(path(name), text).unwrap())
        };
        write_all();
        let total: usize = texts.iter().map(String::len).sum();
        for (name, text) in names.iter().zip(&texts) {
            for bytes in damaged(text, &mut random).into_iter().step_by(7) {
                fs::write(path(name), &bytes).unwrap();
                trial.load(&path(names[0]), bytes.len() + total - text.len());
            }
            write_all();
        }
    }
    trial.report("real models");
}

#[test]
fn deep_nesting_and_entities_are_refused_or_skipped() {
    let sprout = Sprout::new();
    let folder = tempfile::tempdir().unwrap();
    let mut trial = Trial::default();
    let json = sprout.three_json();
    const DEPTH: usize = 200_000;
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nest = format!("{}0{}", open.repeat(DEPTH), close.repeat(DEPTH));
        for key in [
            "faces",
            "bones",
            "animations",
            "unknown",
            "uvs",
            "geometries",
        ] {
            let file = folder.path().join("a.js");
            let known = json.replacen(
                &format!("\"{key}\":"),
                &format!("\"{key}\":{nest},\"b\":"),
                1,
            );
            trial.import(&file, known.as_bytes());
            trial.import(
                &file,
                json.replacen('{', &format!("{{\"{key}\":{nest},"), 1)
                    .as_bytes(),
            );
            // Without an end.
            trial.import(
                &file,
                json.replacen('{', &format!("{{\"{key}\":{}", open.repeat(DEPTH)), 1)
                    .as_bytes(),
            );
        }
    }
    let skeleton = sprout.skeleton_xml();
    fs::write(folder.path().join("sprout.skeleton.xml"), &skeleton).unwrap();
    let mesh = sprout.mesh_xml();
    let file = folder.path().join("a.mesh.xml");
    for parent in [
        "<mesh>",
        "<submeshes>",
        "<vertex>",
        "<boneassignments>",
        "<vertexbuffer positions=\"true\">",
    ] {
        for nest in [
            format!("{}{}", "<a>".repeat(DEPTH), "</a>".repeat(DEPTH)),
            "<a>".repeat(DEPTH),
        ] {
            trial.import_with(
                &file,
                mesh.replacen(parent, &format!("{parent}{nest}"), 1)
                    .as_bytes(),
                skeleton.len(),
            );
        }
    }
    let mut bomb = String::from("<!DOCTYPE mesh [<!ENTITY a0 \"lol\">");
    for i in 1..20 {
        bomb += &format!("<!ENTITY a{i} \"{}\">", format!("&a{};", i - 1).repeat(10));
    }
    bomb += "]>";
    let with_bomb = mesh.replacen("<mesh>", &format!("{bomb}<mesh>&a19;"), 1);
    assert!(!trial.import_with(&file, with_bomb.as_bytes(), skeleton.len()));
    let undeclared = mesh.replacen("material=\"stalk\"", "material=\"&a19;\"", 1);
    assert!(!trial.import_with(&file, undeclared.as_bytes(), skeleton.len()));
    trial.report("nesting and entities");
}

/// Makes a text larger and larger until it is refused, to see that the last ones accepted stay within bounds.
#[test]
fn memory_stays_within_bounds_up_to_the_last_text_accepted() {
    let rows =
        |count: usize, row: &dyn Fn(usize) -> String| (0..count).map(row).collect::<String>();
    const JOINT: &str =
        "joints\n0 \"a\" parent -1 orientation 0 0 0 1 translation 0 0 0 rotation 0 0 0 1\n";
    const MD5: &str =
        "MD5Version 10 numJoints 1 numMeshes 1 joints { \"a\" -1 (0 0 0) (0 0 0) } mesh { ";
    type Grow<'a> = &'a dyn Fn(usize) -> String;
    let cases: [(&str, &str, Grow); 7] = [
        ("few bytes a vertex", "a.ram", &|n| {
            let vertices = rows(n, &|i| format!("{i} 0 0 0\n"));
            format!("{JOINT}vertices\n{vertices}normals\nuvs\ntriangles\nweights\n")
        }),
        ("a seam a triangle", "a.ram", &|n| {
            let uvs = rows(n, &|i| format!("{i} {i} 0\n"));
            let triangles = rows(n, &|i| format!("{i} 0 0 0 0 0 0 0 {i} {i} {i}\n"));
            let weights = rows(16, &|i| format!("{i} 0 0 \"a\" 1\n"));
            format!(
                "{JOINT}vertices\n0 0 0 0\nnormals\n0 0 0 1\nuvs\n{uvs}triangles\n{triangles}weights\n{weights}"
            )
        }),
        ("vertices that share weights", "a.md5mesh", &|n| {
            let vertices = rows(n, &|i| format!("vert {i} (0 0) 0 {n} "));
            let weights = rows(n, &|i| format!("weight {i} 0 1 (0 0 0) "));
            format!("{MD5}numverts {n} {vertices}numtris 0 numweights {n} {weights}}}")
        }),
        ("empty lists", "a.js", &|n| {
            format!(
                "{{\"bones\":[{{\"pos\":[0,0,0],\"rotq\":[0,0,0,1]}}],\"vertices\":[0,0,0],\"skinWeights\":[1,0],\"skinIndices\":[0,0],\"uvs\":[{}[]]}}",
                "[],".repeat(n)
            )
        }),
        ("empty objects", "a.js", &|n| {
            format!(
                "{{\"bones\":[{{\"pos\":[0,0,0],\"rotq\":[0,0,0,1]}}],\"vertices\":[0,0,0],\"skinWeights\":[1,0],\"skinIndices\":[0,0],\"animations\":[{}{{}}]}}",
                "{},".repeat(n)
            )
        }),
        ("few digits a vertex", "a.js", &|n| {
            format!(
                "{{\"bones\":[{{\"pos\":[0,0,0],\"rotq\":[0,0,0,1]}}],\"vertices\":[{0}0,0,0],\"influencesPerVertex\":1,\"skinWeights\":[{1}1],\"skinIndices\":[{1}0]}}",
                "0,0,0,".repeat(n),
                "0,".repeat(n)
            )
        }),
        ("bones", "a.js", &|n| {
            let bones = "{\"pos\":[0,0,0],\"rotq\":[0,0,0,1]},".repeat(n.min(60_000));
            format!(
                "{{\"bones\":[{bones}{{\"pos\":[0,0,0],\"rotq\":[0,0,0,1]}}],\"vertices\":[0,0,0],\"skinWeights\":[1,0],\"skinIndices\":[0,0]}}"
            )
        }),
    ];
    for (name, file, grow) in cases {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(file);
        let mut trial = Trial::default();
        let mut count = 256;
        let mut largest = 0;
        while count < 1 << 18 {
            let text = grow(count);
            let accepted = trial.import(&file, text.as_bytes());
            drop(text);
            if !accepted {
                break;
            }
            largest = count;
            count *= 2;
        }
        println!(
            "{name}: {largest} accepted with {} KiB in use",
            trial.worst_peak >> 10
        );
        assert!(largest > 0, "{name}");
    }
}
