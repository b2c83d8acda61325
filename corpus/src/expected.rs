//! The vertices that an asset shows, by the f64 reference of the kernels.

use crate::asset::Asset;
use glam::DVec3;
use serde::{Deserialize, Serialize};
use skinbench_formats::{Request, Vertices, load_with};
use skinbench_kernels::crowd::{Crowd, Layer, REST};
use skinbench_kernels::error::{DataError, Result};
use skinbench_kernels::model::{IDENTITY_ROWS, Model};
use skinbench_kernels::reference::{Blending, ReferencePose, ReferenceVertex, shown};
use skinbench_kernels::vertex::Normals;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// Version of the corpus: the first number changes with the meaning of files, the second with their number.
pub const VERSION: &str = "1.0";
/// The specification, in which clauses are anchors.
const SPECIFICATION: &str = "https://registry.khronos.org/glTF/specs/2.0/glTF-2.0.html#";
const EXTENSIONS: &str = "https://github.com/KhronosGroup/glTF/tree/main/extensions/2.0/Khronos/";

/// Position error that any engine may have, over the diagonal: sines and roots of shaders are that good.
const POSITION: f64 = 1e-5;
/// Direction error that any engine may have, in radians: normals in 10 bits a component are that good.
const DIRECTION: f64 = 1e-3;
/// Length below which a sum of directions counts as none.
const NO_DIRECTION: f64 = 1e-9;
/// Difference of two directions that makes them two answers.
const DIFFERENT: f64 = 1e-9;
/// Decimals of numbers: far below any tolerance, and above differences between mathematical libraries.
const DECIMALS: usize = 12;

/// A direction, or nothing where there is none.
pub type Direction = Option<[f64; 3]>;

/// Where the vertices of one primitive are in the lists of a moment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MeshPart {
    /// Node of the mesh.
    pub node: u32,
    /// Primitive of its mesh.
    pub primitive: u32,
    /// Number of vertices.
    pub vertices: usize,
}

/// Errors that count as none.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tolerance {
    /// Distance over the diagonal.
    pub position: f64,
    /// Angle in radians.
    pub direction: f64,
    /// Why they are that large.
    pub derivation: String,
}

/// The vertices at a time. Those named `_or` are lists of other answers that count as right.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Moment {
    /// Animation of the file; none for the pose of its nodes.
    pub animation: Option<u32>,
    /// In seconds.
    pub time: f64,
    /// In world space.
    pub positions: Vec<[f64; 3]>,
    /// Positions by what the engine may choose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions_or: Vec<Vec<[f64; 3]>>,
    /// Of length 1; null where there is no direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normals: Option<Vec<Direction>>,
    /// Normals by inverse transposes, where they make a difference: by that of the blended matrix, and by those of the
    /// joints, blended as they are or with normals of length 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub normals_or: Vec<Vec<Direction>>,
    /// Directions of tangents, without their handedness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tangents: Option<Vec<Direction>>,
}

/// What an asset shows, and what is known about it: a file beside the asset.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Expected {
    /// Name of the asset.
    pub asset: String,
    /// Name of its file.
    pub file: String,
    /// Version of the corpus.
    pub version: String,
    /// The condition.
    pub condition: String,
    /// Address of the clause.
    pub clause: String,
    /// Address of a public report; may be empty.
    pub report: String,
    /// What an engine may choose; may be empty.
    pub open: String,
    /// `true` if engines need not support it, or if the file is not valid.
    pub optional: bool,
    /// Why the file is not valid; empty if it is.
    pub invalid: String,
    /// The space of positions and directions.
    pub space: String,
    /// The unit of errors: that of the box around the character.
    pub diagonal: f64,
    /// Errors that count as none.
    pub tolerance: Tolerance,
    /// Order of the vertices.
    pub parts: Vec<MeshPart>,
    /// The vertices at each time.
    pub moments: Vec<Moment>,
}

impl Expected {
    /// Evaluates the asset in its file, which has this name in the folder.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn new(asset: &Asset, folder: &Path, name: String) -> Result<Self> {
        let request = Request {
            file: &folder.join(&name),
            clips: &[],
            vertices: Vertices::All,
        };
        let model = Arc::new(load_with(&request)?);
        let clip = asset.animation.unwrap_or(REST);
        let held = asset
            .times
            .iter()
            .map(|&time| (IDENTITY_ROWS, [Layer::held(clip, time)]));
        let mut crowd = Crowd::new();
        crowd
            .push_group(Arc::clone(&model), held)
            .map_err(|error| DataError::new(asset.name, error.to_string()))?;
        let shown = shown(&crowd, &crowd.groups()[0]);
        let order = file_order(&model);
        let mut moments = Vec::new();
        for (instance, &time) in (0..).zip(asset.times) {
            let pose = ReferencePose::new(&crowd, instance, 0);
            moments.push(moment(asset, &model, &order, &pose, time));
        }
        let base = if asset.clause.starts_with("KHR_") {
            EXTENSIONS
        } else {
            SPECIFICATION
        };
        let report = match asset.report.split_once('#') {
            Some((name, number)) => format!("https://github.com/{name}/issues/{number}"),
            None => String::new(),
        };
        let rounding = shown.relative_rounding();
        Ok(Self {
            asset: asset.name.into(),
            file: name,
            version: VERSION.into(),
            condition: asset.condition.into(),
            clause: format!("{base}{}", asset.clause),
            report,
            open: asset.open.into(),
            optional: asset.optional,
            invalid: asset.invalid.into(),
            space: "world space of the scene, in the file's units and axes".into(),
            diagonal: significant(shown.diagonal),
            tolerance: Tolerance {
                position: significant(POSITION.max(rounding)),
                direction: DIRECTION,
                derivation: format!(
                    "positions: the larger of {POSITION:.0e}, which sines and roots in f32 allow, and {rounding:.1e}, a bound of f32 \
                     rounding: half the spacing of f32 at the largest number on the way ({:.5}) on three axes, for each joint of the \
                     longest chain, each influence and four more operations. Directions: normals stored in 10 bits a component.",
                    shown.farthest
                ),
            },
            parts: parts(asset, &model),
            moments,
        })
    }

    /// The content of the file: a line for each moment.
    ///
    /// # Errors
    /// None but those of the serialiser.
    pub fn text(&self) -> serde_json::Result<String> {
        let head = Self {
            moments: Vec::new(),
            ..self.clone()
        };
        let head = serde_json::to_string_pretty(&head)?;
        let mut lines = Vec::new();
        for moment in &self.moments {
            lines.push(format!("    {}", serde_json::to_string(moment)?));
        }
        let head = head.trim_end_matches("[]\n}");
        Ok(format!("{head}[\n{}\n  ]\n}}\n", lines.join(",\n")))
    }
}

/// Six significant digits.
fn significant(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

/// Stored vertices in the order of the file.
fn file_order(model: &Model) -> Vec<usize> {
    let sources = model.mesh().sources();
    let mut order: Vec<usize> = (0..sources.len()).collect();
    order.sort_by_key(|&vertex| sources[vertex]);
    order
}

/// The primitives of the nodes with a mesh, in the order of nodes.
fn parts(asset: &Asset, model: &Model) -> Vec<MeshPart> {
    let json = (asset.build)().json;
    let nodes = json["nodes"].as_array().into_iter().flatten();
    let mut stored = model.mesh().primitives().iter();
    let mut parts = Vec::new();
    for (node, content) in (0..).zip(nodes) {
        let Some(mesh) = content["mesh"].as_u64() else {
            continue;
        };
        let primitives = &json["meshes"][mesh as usize]["primitives"];
        let count = primitives.as_array().map_or(0, Vec::len) as u32;
        for (primitive, stored) in (0..count).zip(&mut stored) {
            parts.push(MeshPart {
                node,
                primitive,
                vertices: stored.vertex_count as usize,
            });
        }
    }
    parts
}

fn moment(
    asset: &Asset,
    model: &Model,
    order: &[usize],
    pose: &ReferencePose,
    time: f32,
) -> Moment {
    let mut positions = Vec::new();
    let mut other_positions = Vec::new();
    let mut normals = Vec::new();
    let mut other_normals = [const { Vec::new() }; 3];
    let mut tangents = Vec::new();
    for (index, &vertex) in order.iter().enumerate() {
        let skinned = |normals| pose.skin(model, vertex, normals, Blending::Linear);
        let ReferenceVertex {
            position,
            normal,
            tangent,
        } = skinned(Normals::Raw);
        // The model's weights sum to 1. A sum of other weights is as much longer.
        let sum = asset.weight_sum.map_or(1.0, |sum| sum(index));
        positions.push(rounded(position * sum));
        other_positions.push(rounded(position));
        normals.push(direction(normal * sum));
        // By cofactors: the inverse transpose times the determinant, which may be negative.
        let exact = skinned(Normals::Exact).normal;
        let side = if exact.dot(normal) < 0.0 { -sum } else { sum };
        let [by_joints, by_units] = by_joints(model, pose, vertex, normal);
        let others = [exact * side, by_joints * sum, by_units * sum];
        for (list, other) in other_normals.iter_mut().zip(others) {
            list.push(direction(other));
        }
        tangents.push(direction(tangent.truncate() * sum));
    }
    let has_normals = model.mesh().primitives().iter().all(|p| p.has_normals);
    let has_tangents = has_normals && model.mesh().tangents().is_some();
    let mut normals_or: Vec<Vec<Direction>> = Vec::new();
    for list in other_normals {
        let is_known =
            |known: &Vec<Direction>| !known.iter().zip(&list).any(|(a, b)| apart(*a, *b));
        if has_normals && !is_known(&normals) && !normals_or.iter().any(is_known) {
            normals_or.push(list);
        }
    }
    Moment {
        animation: asset.animation,
        time: time.into(),
        positions,
        positions_or: Vec::from_iter(asset.weight_sum.map(|_| other_positions)),
        normals: has_normals.then_some(normals),
        normals_or,
        tangents: has_tangents.then_some(tangents),
    }
}

/// A normal by the inverse transposes of its joints: their blend as they are, and of normals of length 1. Where a joint has no
/// inverse, it is `normal`, the one by the blended matrix.
fn by_joints(model: &Model, pose: &ReferencePose, vertex: usize, normal: DVec3) -> [DVec3; 2] {
    let [[own, added], _] = pose.directions(model, vertex);
    let stored = own + added;
    let mut sums = [DVec3::ZERO; 2];
    for (entry, weight) in model.mesh().influences_of(vertex) {
        let inverse = pose.palette[usize::from(entry)].matrix3.inverse();
        let own = inverse.transpose() * stored;
        sums[0] += own * f64::from(weight);
        sums[1] += own.normalize_or_zero() * f64::from(weight);
    }
    sums.map(|sum| if sum.is_finite() { sum } else { normal })
}

fn apart(a: Direction, b: Direction) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => DVec3::from(a).distance(b.into()) > DIFFERENT,
        (None, None) => false,
        _ => true,
    }
}

fn direction(sum: DVec3) -> Direction {
    let is_long = sum.length() > NO_DIRECTION;
    is_long.then(|| rounded(sum.normalize()))
}

/// Numbers with [`DECIMALS`], and without negative zeros.
fn rounded(vector: DVec3) -> [f64; 3] {
    vector.to_array().map(|number| {
        let mut text = String::new();
        let _ = write!(text, "{number:.DECIMALS$}");
        text.parse().unwrap_or(number) + 0.0
    })
}
