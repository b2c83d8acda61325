//! Importer of `.ram` and `.raa`, the text formats of Henrik Magnusson's RiTE.
//!
//! Right-handed, Y up. The rotation of a joint is `orientation * rotation`; a key of a clip replaces only `rotation`.
//! Vertices, normals and uvs are indexed separately; see `seams`.

mod clip;

use crate::budget::Budget;
use crate::fault::{Fault, OffUnit};
use crate::seams::{self, Corner};
use crate::tokenizer::{Scanner, Syntax, Token};
use crate::{ImportError, matrices};
use glam::{DQuat, Vec3};
use skinbench_kernels::model::{
    Influences, Joint, JointTransform, Material, ModelParts, Repair, Skeleton, SkinData, Transform,
};
use std::path::{Path, PathBuf};

/// Returns whether it begins with the first section, a line with its name and an optional count.
pub(super) fn sniff(head: &[u8]) -> bool {
    let text = head.trim_ascii_start();
    text.starts_with(b"joints") && crate::read_file::contains(head, "orientation")
}

/// Reads a model and its clips; if none are given, the `.raa` of the same name beside it, if it exists.
pub(super) fn import(file: &Path, clips: &[PathBuf]) -> Result<ModelParts, ImportError> {
    let text = crate::read_file::read_text(file)?;
    let (scanner, budget) = (Scanner::new(&text, Syntax::WORDS), Budget::new(text.len()));
    let mut reader = Reader { scanner, budget, off_unit: OffUnit::default() };
    let (mut parts, orientations) = reader.read(crate::read_file::stem(file)).map_err(|fault| fault.in_file(file))?;
    let beside = file.with_extension("raa");
    let beside = if clips.is_empty() && beside.is_file() { std::slice::from_ref(&beside) } else { clips };
    for clip in beside {
        let (clip, repairs) = clip::import(clip, &orientations, &parts.skins[0].joints, &parts.skeleton)?;
        parts.clips.push(clip);
        parts.repairs.extend(repairs);
    }
    Ok(parts)
}

/// Indices at a corner of a triangle: vertex, normal, uv.
type Indices = [u32; 3];

struct Triangle {
    shader: u16,
    corners: [Indices; 3],
}

struct Reader<'a> {
    scanner: Scanner<'a>,
    budget: Budget,
    off_unit: OffUnit,
}

impl<'a> Reader<'a> {
    /// Reads the model, and each joint's orientation in the file's order.
    fn read(&mut self, name: String) -> Result<(ModelParts, Vec<DQuat>), Fault> {
        let (joints, orientations) = self.joints()?;
        let names: Vec<String> = joints.iter().map(|j| j.name.clone()).collect();
        let positions: Vec<[f32; 3]> = self.table("vertices", "a position")?;
        self.budget.charge_vertices(positions.len(), 0, || "vertices".into())?;
        let normals: Vec<[f32; 3]> = self.table("normals", "a normal")?;
        let uvs: Vec<[f32; 2]> = self.table("uvs", "a uv")?;
        let triangles = self.triangles([positions.len(), normals.len(), uvs.len()])?;
        let influences = self.weights(&names, positions.len())?;
        self.scanner.end()?;

        let corner = |[vertex, normal, uv]: Indices| Corner {
            vertex,
            normal: normals.get(normal as usize).copied(),
            uv: uvs.get(uv as usize).copied(),
        };
        let shaders = triangles.iter().map(|triangle| usize::from(triangle.shader) + 1).max().unwrap_or(1);
        let triangles = triangles.iter().map(|triangle| (triangle.shader, triangle.corners.map(corner))).collect();
        let primitive = seams::join(positions, &influences, triangles, &self.budget)?;
        let (skeleton, joint_of) = Skeleton::new(joints)?;
        let mut repairs: Vec<Repair> = Vec::new();
        std::mem::take(&mut self.off_unit).describe("rotations of joints", &mut repairs);
        let material = |shader| Material { name: format!("shader {shader}"), ..Material::default() };
        let skin = SkinData::at_rest(&skeleton, joint_of)?;
        let parts = ModelParts::new(name, skeleton, skin, vec![primitive]);
        Ok((ModelParts { materials: (0..shaders).map(material).collect(), repairs, ..parts }, orientations))
    }

    /// Reads a section's title and the optional count beside it.
    fn section(&mut self, name: &str) -> Result<Option<(Token<'a>, usize)>, Fault> {
        self.scanner.expect(name)?;
        let Some(token) = self.scanner.next_on_line() else { return Ok(None) };
        match token.text.parse() {
            Ok(count) => Ok(Some((token, count))),
            Err(_) => Err(self.scanner.unexpected(token, &format!("how many {name} follow, or the end of the line"))),
        }
    }

    /// Reads rows that start with a running number, up to the next word.
    fn rows<T>(&mut self, name: &str, mut row: impl FnMut(&mut Self) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        let count = self.section(name)?;
        let mut rows = Vec::new();
        while self.scanner.at_number() {
            self.scanner.exactly(rows.len() as u32, "the ID")?;
            rows.push(row(self)?);
        }
        match count {
            Some((token, count)) if count != rows.len() => {
                let problem = format!("{count} {name}, but {} follow; expected the same number", rows.len());
                Err(self.scanner.fault(token, problem))
            }
            _ => Ok(rows),
        }
    }

    fn table<const N: usize>(&mut self, name: &str, what: &str) -> Result<Vec<[f32; N]>, Fault> {
        self.rows(name, |reader| reader.scanner.numbers(what))
    }

    fn joints(&mut self) -> Result<(Vec<Joint>, Vec<DQuat>), Fault> {
        let mut last_parent = None;
        let rows = self.rows("joints", |reader| {
            let scanner = &mut reader.scanner;
            let name = scanner.string("a joint's name")?.to_owned();
            scanner.expect("parent")?;
            let start = scanner.offset();
            let parent: i32 = scanner.integer("a parent")?;
            last_parent = last_parent.max(Some((parent, start)));
            scanner.expect("orientation")?;
            let orientation = scanner.quaternion("an orientation", &mut reader.off_unit)?;
            scanner.expect("translation")?;
            let translation = scanner.numbers("a translation")?;
            scanner.expect("rotation")?;
            let rotation = scanner.quaternion("a rotation", &mut reader.off_unit)?;
            let orientation = matrices::quaternion(orientation);
            let turned = orientation * matrices::quaternion(rotation);
            let translation = Vec3::from_array(translation);
            let rest = Transform { rotation: turned.as_quat(), translation, ..Transform::IDENTITY };
            let (parent, rest) = (usize::try_from(parent).ok(), JointTransform::Transform(rest));
            Ok((Joint { name, parent, rest }, orientation))
        })?;
        let count = rows.len();
        match last_parent {
            Some((parent, offset)) if usize::try_from(parent).is_ok_and(|p| p >= count) => {
                let problem = format!("parent {parent} is out of range; there are {count} joints");
                Err(self.scanner.fault_at(offset, problem))
            }
            _ => Ok(rows.into_iter().unzip()),
        }
    }

    fn triangles(&mut self, counts: [usize; 3]) -> Result<Vec<Triangle>, Fault> {
        self.rows("triangles", |reader| {
            let shader = reader.scanner.integer::<u8>("a shader, 0 to 255,")?;
            let mut corners = [[0; 3]; 3];
            for (part, (what, count)) in ["vertex", "normal", "uv"].into_iter().zip(counts).enumerate() {
                for corner in &mut corners {
                    corner[part] = reader.scanner.index(what, count)?;
                }
            }
            Ok(Triangle { shader: shader.into(), corners })
        })
    }

    /// Reads rows of weights, which refer to vertices in any order.
    fn weights(&mut self, names: &[String], vertices: usize) -> Result<Influences, Fault> {
        let rows = self.rows("weights", |reader| {
            let vertex = reader.scanner.index("vertex", vertices)?;
            let joint = reader.scanner.index("joint", names.len())?;
            let known = &names[joint as usize];
            reader.scanner.accepted(&format!("{known:?}, joint {joint}"), Scanner::string, |name| name == known)?;
            Ok((vertex, joint as u16, reader.scanner.weight()?))
        })?;
        self.budget.charge_vertices(0, rows.len(), || "weights".into())?;
        Ok(Influences::gathered(vertices, rows))
    }
}
