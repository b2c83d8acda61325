//! The part of OGRE's material scripts that says which image a material shows: the first `texture_unit` of each
//! `material`. Inheritance and variables are not followed.

use crate::beside::unreadable;
use crate::tokenizer::{Scanner, Syntax, Token};
use crate::{regular_file, textures};
use skinbench_kernels::model::{Notes, Texture, Wrap};
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

const SYNTAX: Syntax = Syntax {
    marks: "{}",
    comments: true,
};

fn parse(script: &str) -> HashMap<String, Unit> {
    let mut notes = Notes::default();
    let mut script = Scanner::new(script, SYNTAX, &mut notes);
    let mut units: HashMap<String, Unit> = HashMap::new();
    let mut material = String::new();
    let mut wrap = [Wrap::default(); 2];
    // Whether the material has its image from the texture unit.
    let mut is_shown = false;
    while let Some(token) = script.next() {
        match token.text {
            "material" => {
                // Up to the material that it inherits from.
                let mut words = Vec::new();
                while let Some(word) = script.next_on_line()
                    && ![":", "{"].contains(&word.text)
                {
                    words.push(word.text);
                }
                material = words.join(" ").trim_matches('"').into();
            }
            "texture_unit" => {
                wrap = [Wrap::default(); 2];
                is_shown = false;
            }
            "texture" => {
                let name = script.next_on_line().map_or("", |word| word.text);
                is_shown = !units.contains_key(&material);
                if is_shown {
                    let name = name.trim_matches('"').into();
                    units.insert(material.clone(), Unit { name, wrap });
                }
            }
            "tex_address_mode" => {
                wrap[0] = script.next_on_line().map_or(wrap[0], wrapping);
                wrap[1] = script.next_on_line().map_or(wrap[0], wrapping);
                if let Some(unit) = units.get_mut(&material).filter(|_| is_shown) {
                    unit.wrap = wrap;
                }
            }
            _ => {}
        }
    }
    units
}

fn wrapping(mode: Token) -> Wrap {
    match mode.text {
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
