//! Importer of `.ram` and `.raa`, the text formats of Henrik Magnusson's RiTE.
//!
//! Right-handed, Y up. The rotation of a joint is `orientation * rotation`; a key of a clip replaces only `rotation`.
//! Vertices, normals and uvs are indexed separately; see [`super::seams`].

mod clip;

use super::budget::Budget;
use super::fault::{Fault, OffUnit};
use super::seams::{self, Corner};
use super::tokenizer::{Scanner, Syntax, Token};
use super::{ImportError, matrices};
use crate::model::{
    Axes, Influences, Joint, JointTransform, Material, Model, ModelParts, Repair, Skeleton, SkinData, Transform,
    affine_to_rows,
};
use glam::{DQuat, Vec3};
use std::path::{Path, PathBuf};

/// Returns whether it begins with the first section, a line with its name and an optional count.
pub(super) fn sniff(head: &[u8]) -> bool {
    let text = head.trim_ascii_start();
    text.starts_with(b"joints") && super::read_file::contains(head, "orientation")
}

/// Reads a model and its clips; if none are given, the `.raa` of the same name beside it, if it exists.
pub(super) fn import(file: &Path, clips: &[PathBuf]) -> Result<Model, ImportError> {
    let text = super::read_file::read_text(file)?;
    let mut reader = Reader::new(&text);
    let (mut parts, orientations) = reader.read(super::read_file::stem(file)).map_err(|fault| fault.in_file(file))?;
    let beside = file.with_extension("raa");
    let beside = if clips.is_empty() && beside.is_file() { std::slice::from_ref(&beside) } else { clips };
    for clip in beside {
        let (clip, repairs) = clip::import(clip, &orientations, &parts.skins[0].joints, &parts.skeleton)?;
        parts.clips.push(clip);
        parts.repairs.extend(repairs);
    }
    Model::new(parts).map_err(|error| ImportError::from_model(file, error))
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
    fn new(text: &'a str) -> Self {
        Self {
            scanner: Scanner::new(text, Syntax::WORDS),
            budget: Budget::new(text.len()),
            off_unit: OffUnit::default(),
        }
    }

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
        if let Some(token) = self.scanner.next() {
            return Err(self.scanner.unexpected(token, "the end of the file"));
        }

        let mut triangles: Vec<_> = triangles
            .into_iter()
            .map(|triangle| {
                let corner = |[vertex, normal, uv]: Indices| Corner {
                    vertex,
                    normal: normals.get(normal as usize).copied(),
                    uv: uvs.get(uv as usize).copied(),
                };
                (triangle.shader, triangle.corners.map(corner))
            })
            .collect();
        let shaders = triangles.iter().map(|(shader, _)| usize::from(*shader) + 1).max().unwrap_or(1);
        let (corners, subsets) = seams::subsets(&mut triangles);
        let primitive = seams::join(positions, &influences, &corners, subsets, &self.budget)?;
        let (skeleton, joint_of) = Skeleton::new(joints)?;
        let pose = skeleton.rest_model_pose();
        let inverse_binds = joint_of.iter().map(|&j| affine_to_rows(&pose[usize::from(j)].inverse())).collect();
        let mut repairs: Vec<Repair> = Vec::new();
        std::mem::take(&mut self.off_unit).describe("rotations of joints", &mut repairs);
        let parts = ModelParts {
            name,
            axes: Axes::Y_UP,
            skeleton,
            skins: vec![SkinData { name: String::new(), joints: joint_of, inverse_binds }],
            clips: Vec::new(),
            primitives: vec![primitive],
            targets: Vec::new(),
            materials: (0..shaders)
                .map(|shader| Material { name: format!("shader {shader}"), ..Material::default() })
                .collect(),
            repairs,
        };
        Ok((parts, orientations))
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
            let token = self.scanner.peek();
            let id: usize = self.scanner.integer(&format!("the ID {}", rows.len()))?;
            if let Some(token) = token
                && id != rows.len()
            {
                return Err(self.scanner.unexpected(token, &format!("the ID {}", rows.len())));
            }
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
            let token = scanner.peek();
            let parent: i32 = scanner.integer("a parent")?;
            last_parent = last_parent.max(token.map(|t| (parent, t.offset)));
            scanner.expect("orientation")?;
            let orientation = scanner.quaternion("an orientation", &mut reader.off_unit)?;
            scanner.expect("translation")?;
            let translation = scanner.numbers("a translation")?;
            scanner.expect("rotation")?;
            let rotation = scanner.quaternion("a rotation", &mut reader.off_unit)?;
            let orientation = matrices::quaternion(orientation);
            let turned = orientation * matrices::quaternion(rotation);
            let rest = Transform {
                rotation: matrices::rounded(turned),
                translation: Vec3::from_array(translation),
                scale: Vec3::ONE,
            };
            Ok((
                Joint { name, parent: usize::try_from(parent).ok(), rest: JointTransform::Transform(rest) },
                orientation,
            ))
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
        let mut rows = self.rows("weights", |reader| {
            let vertex = reader.scanner.index("vertex", vertices)?;
            let joint = reader.scanner.index("joint", names.len())?;
            let token = reader.scanner.peek();
            let name = reader.scanner.string("the joint's name")?;
            if let Some(token) = token
                && names[joint as usize] != name
            {
                return Err(reader.scanner.unexpected(token, &format!("{:?}, joint {joint}", names[joint as usize])));
            }
            Ok((vertex, (joint as u16, reader.scanner.weight()?)))
        })?;
        self.budget.charge_vertices(0, rows.len(), || "weights".into())?;
        rows.sort_by_key(|(vertex, _)| *vertex);
        let mut influences = Influences::new();
        let mut rows = rows.into_iter().peekable();
        for vertex in 0..vertices {
            influences.push(std::iter::from_fn(|| rows.next_if(|(v, _)| *v as usize == vertex)).map(|(_, pair)| pair));
        }
        Ok(influences)
    }
}
