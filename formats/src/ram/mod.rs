//! Importer of `.ram` and `.raa`, the text formats of Henrik Magnusson's RiTE.
//!
//! Right-handed, Y up. The rotation of a joint is `orientation * rotation`; a key of a clip replaces only `rotation`.
//! Vertices, normals and uvs are indexed separately; see `seams`.

mod clip;

use crate::ignored::Ignored;
use crate::matrices;
use crate::request::Request;
use crate::seams::{self, Corner};
use crate::tokenizer::{Scanner, Syntax};
use glam::{DQuat, Vec3};
use skinbench_kernels::error::Result;
use skinbench_kernels::model::{
    Influences, Joint, Material, ModelParts, Notes, Skeleton, SkinData, Transform,
};

/// Nothing: the format has no part that is not read.
pub const IGNORED: Ignored = &[];

/// Returns whether it begins with the first section, a line with its name and an optional count.
pub fn sniff(head: &[u8]) -> bool {
    let text = head.trim_ascii_start();
    text.starts_with(b"joints") && crate::read_file::contains(head, "orientation")
}

/// Reads a model and its clips; if none are given, the `.raa` of the same name beside it, if it exists.
pub fn import(request: &Request, notes: &mut Notes) -> Result<ModelParts> {
    let Request { file, clips, .. } = *request;
    let (mut parts, orientations) = Scanner::read(file, Syntax::WORDS, notes, read)?;
    let mut clips = clips.to_vec();
    let same_name = file.with_extension("raa");
    if clips.is_empty() && same_name.is_file() {
        clips.push(same_name);
    }
    for clip in clips {
        let clip = clip::import(&clip, &parts, &orientations, notes)?;
        parts.clips.push(clip);
    }
    Ok(parts)
}

/// Reads the model, and each joint's orientation in the file's order.
fn read(file: &mut Scanner, name: String) -> Result<(ModelParts, Vec<DQuat>)> {
    let mut orientations = Vec::new();
    let joints = joints(file, &mut orientations)?;
    let positions: Vec<[f32; 3]> = rows(file, "vertices", |file| file.numbers("a position"))?;
    file.budget
        .charge_vertices(positions.len(), 0, || "vertices".into())?;
    let normals: Vec<[f32; 3]> = rows(file, "normals", |file| file.numbers("a normal"))?;
    let uvs: Vec<[f32; 2]> = rows(file, "uvs", |file| file.numbers("a uv"))?;
    let mut shaders = 1;
    let triangles = rows(file, "triangles", |file| {
        let shader = file.integer::<u8>("a shader, 0 to 255,")?.into();
        shaders = shaders.max(shader + 1);
        let mut corners = [Corner::default(); 3];
        for corner in &mut corners {
            corner.vertex = file.index("vertex", positions.len())?;
        }
        for corner in &mut corners {
            corner.normal = Some(normals[file.index("normal", normals.len())? as usize]);
        }
        for corner in &mut corners {
            corner.uv = Some(uvs[file.index("uv", uvs.len())? as usize]);
        }
        Ok((shader, corners))
    })?;
    // Rows of weights refer to vertices in any order.
    let weights = rows(file, "weights", |file| {
        let vertex = file.index("vertex", positions.len())?;
        let joint = file.index("joint", joints.len())?;
        let known = &joints[joint as usize].name;
        let expected = format!("{known:?}, joint {joint}");
        file.accepted(&expected, Scanner::string, |name| name == known)?;
        Ok((vertex, joint as u16, file.weight()?))
    })?;
    file.budget
        .charge_vertices(0, weights.len(), || "weights".into())?;
    let influences = Influences::gathered(positions.len(), weights);
    let primitive = seams::join(positions, influences, triangles, &file.budget)?;
    let (skeleton, joint_of) = Skeleton::new(joints)?;
    let skin = SkinData::at_rest(&skeleton, joint_of)?;
    let mut parts = ModelParts::new(name, skeleton, skin, vec![primitive]);
    for shader in 0..shaders {
        parts.materials.push(Material {
            name: format!("shader {shader}"),
            ..Material::default()
        });
    }
    Ok((parts, orientations))
}

/// Reads a section: its title, beside it optionally the number of rows, then rows that start with a running number, up
/// to the next word.
fn rows<T>(
    file: &mut Scanner,
    name: &str,
    mut row: impl FnMut(&mut Scanner) -> Result<T>,
) -> Result<Vec<T>> {
    file.expect(name)?;
    let stated = file.next_on_line();
    let mut count = None;
    if let Some(token) = stated {
        let expected = format!("how many {name} follow, or the end of the line");
        let stated = token.text.parse::<usize>();
        count = Some(stated.map_err(|_| file.unexpected(token, &expected))?);
    }
    let mut rows = Vec::new();
    while file.at_number() {
        file.exactly(rows.len() as u32, "the ID")?;
        rows.push(row(file)?);
    }
    if let Some(token) = stated
        && let Some(count) = count
        && count != rows.len()
    {
        bail!(
            file.place(token.offset),
            "{count} {name}, but {} follow; expected the same number",
            rows.len()
        );
    }
    Ok(rows)
}

/// Reads the joints, and adds their orientations to a list.
fn joints(file: &mut Scanner, orientations: &mut Vec<DQuat>) -> Result<Vec<Joint>> {
    // The largest parent, and the place of its number.
    let mut last_parent = (None, 0);
    let joints = rows(file, "joints", |file| {
        let name = file.string("a joint's name")?.to_owned();
        file.expect("parent")?;
        let start = file.offset();
        let parent = usize::try_from(file.integer::<i32>("a parent")?).ok();
        last_parent = last_parent.max((parent, start));
        file.expect("orientation")?;
        let orientation = matrices::quaternion(file.quaternion("an orientation")?);
        file.expect("translation")?;
        let translation = Vec3::from_array(file.numbers("a translation")?);
        file.expect("rotation")?;
        let rotation = matrices::quaternion(file.quaternion("a rotation")?);
        orientations.push(orientation);
        let rest = Transform {
            rotation: (orientation * rotation).as_quat(),
            translation,
            ..Transform::IDENTITY
        };
        Ok(Joint::new(name, parent, rest))
    })?;
    let (parent, offset) = last_parent;
    file.check_parent(offset, parent, joints.len(), "joints")?;
    Ok(joints)
}
