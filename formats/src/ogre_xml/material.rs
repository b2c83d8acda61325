//! The part of OGRE's material scripts that says which image a material shows: the first `texture_unit` of each
//! `material`. Inheritance and variables are not followed.

use crate::beside::unreadable;
use crate::{regular_file, textures};
use skinbench_kernels::model::{Texture, Wrap};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;

/// Most bytes of a script that are read.
const MOST_BYTES: u64 = 1 << 20;

/// File name and wrapping of the image of a material.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    name: String,
    wrap: [Wrap; 2],
}

/// The images of the materials in the script beside a mesh, by the names of the materials; none without a script.
///
/// # Errors
/// One line: the script cannot be read.
pub fn units(mesh: &Path, stem: &str) -> Result<HashMap<String, Unit>, String> {
    let name = format!("{stem}.material");
    match regular_file::read(&mesh.with_file_name(&name), MOST_BYTES) {
        Ok(script) => Ok(parse(&String::from_utf8_lossy(&script))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(HashMap::new()),
        Err(error) => Err(unreadable(&name, error)),
    }
}

/// A line of a script without its comment.
struct Line<'a> {
    word: &'a str,
    rest: &'a str,
}

impl<'a> Line<'a> {
    fn new(line: &'a str) -> Self {
        let line = line.split("//").next().unwrap_or("");
        let line = line.trim_end_matches('{').trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        Self { word, rest }
    }
}

fn parse(script: &str) -> HashMap<String, Unit> {
    let lines: Vec<Line> = script.lines().map(Line::new).collect();
    let mut units = HashMap::new();
    for material in lines.chunk_by(|_, next| next.word != "material") {
        if material[0].word != "material" {
            continue;
        }
        let name = material[0].rest.split(" : ").next().unwrap_or("");
        let name = name.trim().trim_matches('"');
        let mut texture_units = material.split(|line| line.word == "texture_unit").skip(1);
        if let Some(unit) = texture_units.find_map(Unit::new) {
            units.entry(name.to_owned()).or_insert(unit);
        }
    }
    units
}

fn wrap(mode: &str) -> Wrap {
    match mode {
        "clamp" | "border" => Wrap::Clamp,
        "mirror" => Wrap::Mirror,
        _ => Wrap::Repeat,
    }
}

impl Unit {
    /// The image of a texture unit with these lines, if there is one.
    fn new(lines: &[Line]) -> Option<Self> {
        let texture = lines.iter().find(|line| line.word == "texture")?;
        let texture = texture.rest.trim();
        // Flags, such as the number of mipmaps, may follow the name.
        let quoted = texture.strip_prefix('"');
        let name = match quoted.and_then(|rest| rest.split_once('"')) {
            Some((name, _)) => name,
            None => texture.split_whitespace().next().unwrap_or(""),
        };
        let modes = lines.iter().rfind(|line| line.word == "tex_address_mode");
        let modes = modes.map_or("", |line| line.rest);
        let mut modes = modes.split_whitespace().map(wrap);
        let across = modes.next().unwrap_or_default();
        Some(Self {
            name: name.into(),
            wrap: [across, modes.next().unwrap_or(across)],
        })
    }

    /// The texture beside a mesh.
    ///
    /// # Errors
    /// One line: the image cannot be used.
    pub fn texture(&self, mesh: &Path) -> Result<Texture, String> {
        Ok(Texture {
            image: textures::beside(mesh, &self.name)?,
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
