//! Importer of `.ram` and `.raa`, the text formats of Henrik Magnusson's RiTE.
//!
//! Right-handed, Y up. The rotation of a joint is `orientation * rotation`; a key of a clip replaces only `rotation`.
//! Vertices, normals and uvs are indexed separately; see `seams`.

mod clip;

use crate::fault::Fault;
use crate::request::Request;
use crate::seams::{self, Corner};
use crate::tokenizer::{Scanner, Syntax};
use crate::unread::Ignored;
use crate::{ImportError, matrices};
use glam::{DQuat, Vec3};
use skinbench_kernels::model::{
    Influences, Joint, Material, ModelParts, Skeleton, SkinData, Transform,
};

/// Nothing: the format has no part that is not read.
pub(super) const IGNORED: Ignored = &[];

/// Returns whether it begins with the first section, a line with its name and an optional count.
pub(super) fn sniff(head: &[u8]) -> bool {
    let text = head.trim_ascii_start();
    text.starts_with(b"joints") && crate::read_file::contains(head, "orientation")
}

/// Reads a model and its clips; if none are given, the `.raa` of the same name beside it, if it exists.
pub(super) fn import(request: &Request) -> Result<ModelParts, ImportError> {
    let Request { file, clips, .. } = *request;
    let (mut parts, orientations) = Scanner::read(file, Syntax::WORDS, read)?;
    let beside = file.with_extension("raa");
    let beside = if clips.is_empty() && beside.is_file() {
        std::slice::from_ref(&beside)
    } else {
        clips
    };
    for clip in beside {
        let (clip, repair) = clip::import(clip, &parts, &orientations)?;
        parts.clips.push(clip);
        parts.repairs.extend(repair);
    }
    Ok(parts)
}

/// Reads the model, and each joint's orientation in the file's order.
fn read(file: &mut Scanner, name: String) -> Result<(ModelParts, Vec<DQuat>), Fault> {
    let (joints, orientations) = joints(file)?;
    let positions: Vec<[f32; 3]> = rows(file, "vertices", |file| file.numbers("a position"))?;
    file.budget
        .charge_vertices(positions.len(), 0, || "vertices".into())?;
    let normals: Vec<[f32; 3]> = rows(file, "normals", |file| file.numbers("a normal"))?;
    let uvs: Vec<[f32; 2]> = rows(file, "uvs", |file| file.numbers("a uv"))?;
    let triangles = rows(file, "triangles", |file| {
        let shader: u8 = file.integer("a shader, 0 to 255,")?;
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
        Ok((u16::from(shader), corners))
    })?;
    // Rows of weights refer to vertices in any order.
    let weights = rows(file, "weights", |file| {
        let vertex = file.index("vertex", positions.len())?;
        let joint = file.index("joint", joints.len())?;
        let known = &joints[joint as usize].name;
        file.accepted(
            &format!("{known:?}, joint {joint}"),
            Scanner::string,
            |name| name == known,
        )?;
        Ok((vertex, joint as u16, file.weight()?))
    })?;
    file.budget
        .charge_vertices(0, weights.len(), || "weights".into())?;
    let influences = Influences::gathered(positions.len(), weights);

    let shaders = triangles
        .iter()
        .map(|(shader, _)| shader + 1)
        .max()
        .unwrap_or(1);
    let material = |shader| Material {
        name: format!("shader {shader}"),
        ..Material::default()
    };
    let primitive = seams::join(positions, influences, triangles, &file.budget)?;
    let (skeleton, joint_of) = Skeleton::new(joints)?;
    let skin = SkinData::at_rest(&skeleton, joint_of)?;
    let parts = ModelParts {
        materials: (0..shaders).map(material).collect(),
        repairs: file
            .off_unit
            .describe("rotations of joints")
            .into_iter()
            .collect(),
        ..ModelParts::new(name, skeleton, skin, vec![primitive])
    };
    Ok((parts, orientations))
}

/// Reads a section: its title, beside it optionally the number of rows, then rows that start with a running number, up
/// to the next word.
fn rows<T>(
    file: &mut Scanner,
    name: &str,
    mut row: impl FnMut(&mut Scanner) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    file.expect(name)?;
    let stated = file.next_on_line();
    let expected = || format!("how many {name} follow, or the end of the line");
    let count = stated.map(|token| {
        token
            .text
            .parse::<usize>()
            .map_err(|_| file.unexpected(token, &expected()))
    });
    let count = count.transpose()?;
    let mut rows = Vec::new();
    while file.at_number() {
        file.exactly(rows.len() as u32, "the ID")?;
        rows.push(row(file)?);
    }
    match (stated, count) {
        (Some(token), Some(count)) if count != rows.len() => {
            let problem = format!(
                "{count} {name}, but {} follow; expected the same number",
                rows.len()
            );
            Err(file.fault(token.offset, problem))
        }
        _ => Ok(rows),
    }
}

fn joints(file: &mut Scanner) -> Result<(Vec<Joint>, Vec<DQuat>), Fault> {
    // The largest parent, and the place of its number.
    let mut last_parent = (None, 0);
    let rows = rows(file, "joints", |file| {
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
        let rotation =
            (orientation * matrices::quaternion(file.quaternion("a rotation")?)).as_quat();
        let rest = Transform {
            rotation,
            translation,
            ..Transform::IDENTITY
        };
        Ok((Joint::new(name, parent, rest), orientation))
    })?;
    let (parent, offset) = last_parent;
    file.check_parent(offset, parent, rows.len(), "joints")?;
    Ok(rows.into_iter().unzip())
}
