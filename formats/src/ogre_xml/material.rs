//! The part of OGRE's material scripts that says which image a material shows: the first `texture_unit` of each
//! `material`. Inheritance and variables are not followed.

use crate::{regular_file, textures};
use skinbench_kernels::model::{Texture, Wrap};
use std::collections::HashMap;
use std::path::Path;

/// Most bytes of a script that are read.
const MOST_BYTES: u64 = 1 << 20;

/// File name and wrapping of the image of a material.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    name: String,
    wrap: [Wrap; 2],
}

/// The images of the materials in the script beside a mesh, by the names of the materials; none without a script that
/// can be read.
pub(super) fn units(mesh: &Path, stem: &str) -> HashMap<String, Unit> {
    let script = mesh.with_file_name(format!("{stem}.material"));
    regular_file::read(&script, MOST_BYTES).map_or(HashMap::new(), |bytes| {
        parse(&String::from_utf8_lossy(&bytes))
    })
}

fn parse(script: &str) -> HashMap<String, Unit> {
    // Each line as its first word and the rest.
    let lines = script.lines().map(|line| {
        let line = line
            .split("//")
            .next()
            .unwrap_or("")
            .trim_end_matches('{')
            .trim();
        line.split_once(char::is_whitespace).unwrap_or((line, ""))
    });
    let lines: Vec<(&str, &str)> = lines.collect();
    let mut units = HashMap::new();
    for material in lines.chunk_by(|_, (key, _)| *key != "material") {
        let ("material", rest) = material[0] else {
            continue;
        };
        let name = rest
            .split(" : ")
            .next()
            .unwrap_or(rest)
            .trim()
            .trim_matches('"');
        let unit = material
            .split(|(key, _)| *key == "texture_unit")
            .skip(1)
            .find_map(unit);
        if let Some(unit) = unit {
            units.entry(name.to_owned()).or_insert(unit);
        }
    }
    units
}

/// The image of a texture unit with these lines, if there is one.
fn unit(lines: &[(&str, &str)]) -> Option<Unit> {
    let texture = lines.iter().find(|(key, _)| *key == "texture")?.1.trim();
    // Flags, such as the number of mipmaps, may follow the name.
    let name = match texture
        .strip_prefix('"')
        .and_then(|rest| rest.split_once('"'))
    {
        Some((name, _)) => name,
        None => texture.split_whitespace().next().unwrap_or(""),
    };
    let modes = lines
        .iter()
        .rfind(|(key, _)| *key == "tex_address_mode")
        .map_or("", |(_, modes)| modes);
    let mut modes = modes.split_whitespace().map(wrap);
    let across = modes.next().unwrap_or_default();
    Some(Unit {
        name: name.into(),
        wrap: [across, modes.next().unwrap_or(across)],
    })
}

fn wrap(mode: &str) -> Wrap {
    match mode {
        "clamp" | "border" => Wrap::Clamp,
        "mirror" => Wrap::Mirror,
        _ => Wrap::Repeat,
    }
}

impl Unit {
    /// The texture beside a mesh.
    ///
    /// # Errors
    /// One line: the image cannot be used.
    pub(super) fn texture(&self, mesh: &Path) -> Result<Texture, String> {
        let image = textures::beside(mesh.parent().unwrap_or(Path::new("")), &self.name)?;
        Ok(Texture {
            image,
            wrap: self.wrap,
            transform: Texture::IDENTITY,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_unit_of_each_material_counts() {
        let script = "\
            material \"Sinbad/Body\" : Base\n{\n technique\n {\n  pass\n  {\n   texture_unit\n   {\n\
            tex_address_mode clamp mirror\n    texture early.png\n   }\n\
            texture_unit {\n    texture second.png\n    tex_address_mode mirror\n   }\n  }\n }\n}\n\
            material Plain\n{\n}\nmaterial Eyes\n{\n texture_unit\n {\n  texture \"two words.jpg\" 2d 4 // why\n  tex_address_mode clamp\n }\n}\n";
        let units = parse(script);
        let unit = |name: &str, wrap| Unit {
            name: name.into(),
            wrap,
        };
        assert_eq!(units.len(), 2);
        assert_eq!(
            units["Sinbad/Body"],
            unit("early.png", [Wrap::Clamp, Wrap::Mirror])
        );
        assert_eq!(units["Eyes"], unit("two words.jpg", [Wrap::Clamp; 2]));
    }
}
