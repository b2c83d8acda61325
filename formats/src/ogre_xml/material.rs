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
    regular_file::read(&script, MOST_BYTES).map_or(HashMap::new(), |bytes| parse(&String::from_utf8_lossy(&bytes)))
}

fn parse(script: &str) -> HashMap<String, Unit> {
    let mut units: HashMap<String, Unit> = HashMap::new();
    let mut material = String::new();
    // Whether lines are about the first unit of the material, and the wrapping that it has stated so far.
    let (mut first, mut wrapping) = (false, [Wrap::Repeat; 2]);
    for line in script.lines() {
        let line = line.split("//").next().unwrap_or("").trim_end_matches('{').trim();
        let (key, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match key {
            "material" => {
                let name = rest.split(" : ").next().unwrap_or(rest);
                material = name.trim().trim_matches('"').to_owned();
            }
            "texture_unit" => (first, wrapping) = (!units.contains_key(&material), [Wrap::Repeat; 2]),
            "texture" if first => {
                // Flags, such as the number of mipmaps, may follow the name.
                let name = match rest.trim().strip_prefix('"').and_then(|rest| rest.split_once('"')) {
                    Some((name, _)) => name,
                    None => rest.split_whitespace().next().unwrap_or(""),
                };
                units.entry(material.clone()).or_insert(Unit { name: name.into(), wrap: wrapping });
            }
            "tex_address_mode" if first => {
                let modes: Vec<Wrap> = rest.split_whitespace().map(wrap).collect();
                if let Some(&across) = modes.first() {
                    wrapping = [across, *modes.get(1).unwrap_or(&across)];
                }
                units.entry(material.clone()).and_modify(|unit| unit.wrap = wrapping);
            }
            _ => {}
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
    /// The texture beside a mesh.
    ///
    /// # Errors
    /// One line: the image cannot be used.
    pub(super) fn texture(&self, mesh: &Path) -> Result<Texture, String> {
        let image = textures::beside(mesh.parent().unwrap_or(Path::new("")), &self.name)?;
        Ok(Texture { image, wrap: self.wrap, transform: Texture::IDENTITY })
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
        let unit = |name: &str, wrap| Unit { name: name.into(), wrap };
        assert_eq!(units.len(), 2);
        assert_eq!(units["Sinbad/Body"], unit("early.png", [Wrap::Clamp, Wrap::Mirror]));
        assert_eq!(units["Eyes"], unit("two words.jpg", [Wrap::Clamp; 2]));
    }
}
