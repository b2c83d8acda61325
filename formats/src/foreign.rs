//! Files of other kinds that are often taken for models, and how to make a model of them.

/// Ends of names with the word for the kind, of models that other programs turn into glTF.
const MODELS: [(&str, &str); 9] = [
    ("fbx", "FBX"),
    ("blend", "a Blender file"),
    ("dae", "COLLADA"),
    ("usd", "USD"),
    ("usda", "USD"),
    ("usdc", "USD"),
    ("usdz", "USD"),
    ("pmx", "MikuMikuDance"),
    ("max", "3ds Max"),
];

/// Ends of names of models without a skeleton.
const RIGID: [&str; 3] = ["obj", "stl", "ply"];

/// First bytes of files with the word for the kind.
const HEADS: [(&[u8], &str); 11] = [
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"PK\x03\x04", "a ZIP archive, to be unpacked first"),
    (b"\x1f\x8b", "a gzip archive, to be unpacked first"),
    (b"7z\xbc\xaf", "a 7z archive, to be unpacked first"),
    (b"Rar!", "a RAR archive, to be unpacked first"),
    (b"%PDF", "a PDF document"),
    (b"<!DOCTYPE html", "a web page, not the file that it shows"),
    (b"<html", "a web page, not the file that it shows"),
    (
        b"version https://git-lfs",
        "a pointer of Git LFS, not the file; git lfs pull fetches it",
    ),
];

/// Describes a file of a kind that is not read, by its name in lower case and its first bytes; `None` for other files.
pub fn problem(name: &str, head: &[u8]) -> Option<String> {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let by_name = MODELS
        .iter()
        .find(|(known, _)| Some(*known) == ending)
        .map(|(_, kind)| *kind);
    let by_head = match head {
        [b'K', b'a', b'y', b'd', b'a', b'r', b'a', ..] => Some("FBX"),
        [b'B', b'L', b'E', b'N', b'D', b'E', b'R', ..] => Some("a Blender file"),
        _ => None,
    };
    if let Some(kind) = by_head.or(by_name) {
        let steps = "Blender imports it and exports glTF 2.0 (File > Export > glTF 2.0, a .glb)";
        return Some(format!(
            "{kind}, which is not read; {steps}, also from Mixamo"
        ));
    }
    if RIGID.iter().any(|known| Some(*known) == ending) {
        return Some("a model without a skeleton; expected a rigged one, such as a .glb".into());
    }
    let (_, kind) = HEADS.iter().find(|(start, _)| head.starts_with(start))?;
    Some(format!("{kind}; expected a model"))
}
