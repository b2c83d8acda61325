//! Files of other kinds that are often taken for models, and how to make a model of them.

/// Kinds of models that other programs turn into glTF, each with the ends of its names.
const MODELS: [(&str, &[&str]); 6] = [
    ("FBX", &["fbx"]),
    ("a Blender file", &["blend"]),
    ("COLLADA", &["dae"]),
    ("USD", &["usd", "usda", "usdc", "usdz"]),
    ("MikuMikuDance", &["pmx"]),
    ("3ds Max", &["max"]),
];

/// Ends of names of models without a skeleton.
const RIGID: [&str; 3] = ["obj", "stl", "ply"];

/// Ends of names of files that hold a part of a model, what they are, and the file to name instead.
const PARTS: [(&str, &str); 3] = [
    (
        "skeleton.xml",
        "a skeleton of OgreXML; expected the mesh that names it, which ends in .mesh.xml",
    ),
    (
        "raa",
        "a clip of a RAM model; expected the model, which ends in .ram",
    ),
    (
        "md5anim",
        "a clip of an MD5 model; expected the model, which ends in .md5mesh",
    ),
];

const MODEL_3D: &str = "Model 3D, not the text format m3d of Luna's DirectX 12 samples";

/// Kinds of other files, each with its first bytes.
const HEADS: [(&str, &[u8]); 13] = [
    ("a PNG picture", b"\x89PNG"),
    ("a JPEG picture", b"\xff\xd8\xff"),
    ("a GIF picture", b"GIF8"),
    ("a ZIP archive, to be unpacked first", b"PK\x03\x04"),
    ("a gzip archive, to be unpacked first", b"\x1f\x8b"),
    ("a 7z archive, to be unpacked first", b"7z\xbc\xaf"),
    ("a RAR archive, to be unpacked first", b"Rar!"),
    ("a PDF document", b"%PDF"),
    (MODEL_3D, b"3DMO"),
    (MODEL_3D, b"3dmodel "),
    ("a web page, not the file that it shows", b"<!DOCTYPE html"),
    ("a web page, not the file that it shows", b"<html"),
    (
        "a pointer of Git LFS, not the file; git lfs pull fetches it",
        b"version https://git-lfs",
    ),
];

/// Describes a file of a kind that is not read, by its name in lower case and its first bytes; `None` for other files.
pub fn problem(name: &str, head: &[u8]) -> Option<String> {
    let (_, ending) = name.rsplit_once('.').unwrap_or_default();
    if let Some(kind) = convertible(ending, head) {
        let steps = "Blender imports it and exports glTF 2.0 (File > Export > glTF 2.0, a .glb)";
        return Some(format!(
            "{kind}, which is not read; {steps}, also from Mixamo"
        ));
    }
    for (end, problem) in PARTS {
        if name.ends_with(&format!(".{end}")) {
            return Some(problem.into());
        }
    }
    if RIGID.contains(&ending) {
        return Some("a model without a skeleton; expected a rigged one, such as a .glb".into());
    }
    for (kind, start) in HEADS {
        if head.starts_with(start) {
            return Some(format!("{kind}; expected a model"));
        }
    }
    None
}

/// The kind of a model that other programs turn into glTF, by its first bytes or the end of its name.
fn convertible(ending: &str, head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"Kaydara") {
        return Some("FBX");
    }
    if head.starts_with(b"BLENDER") {
        return Some("a Blender file");
    }
    let (kind, _) = MODELS.iter().find(|model| model.1.contains(&ending))?;
    Some(kind)
}
