//! Vertices that other engines computed, and how far a model's are from them.
use super::reference::{self, Skinned};
use glam::DVec3;
use serde_json::Value;
use skinbench::asset::{self, Request, Vertices};
use skinbench::crowd::{Crowd, Layer, REST};
use skinbench::model::{IDENTITY_ROWS, Model, RotationBlend};
use skinbench::reference::reference_vertices;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A model with its record file.
pub struct Golden {
    pub name: String,
    pub model: PathBuf,
    header: Value,
    numbers: Vec<u8>,
}

/// Largest differences over all records of a model: positions over the diagonal, normals by component.
#[derive(Debug, Clone, Copy, Default)]
pub struct Worst {
    pub position: f64,
    pub normal: f64,
}

/// All models of a format that have records.
pub fn goldens(shared: &Path, format: &str) -> Vec<Golden> {
    let folder = shared.join("golden");
    let json =
        |path: PathBuf| -> Value { serde_json::from_slice(&fs::read(path).unwrap()).unwrap() };
    let index = json(folder.join("index.json"));
    let of_format = index.as_array().unwrap().iter().filter_map(|entry| {
        let name = entry["model"].as_str()?;
        let header = json(
            folder.join(
                entry["golden"]
                    .as_str()
                    .filter(|_| name.starts_with(format))?,
            ),
        );
        let numbers = fs::read(folder.join(header["bin"].as_str()?)).unwrap();
        Some(Golden {
            name: name.into(),
            model: shared.join("models").join(name),
            header,
            numbers,
        })
    });
    of_format.collect()
}

/// The model with all vertices of its file, in the file's order.
pub fn load_all(file: &Path) -> Model {
    let request = Request {
        file,
        clips: &[],
        vertices: Vertices::All,
    };
    asset::load_with(&request).unwrap_or_else(|error| panic!("{error}"))
}

/// All primitives of the file's own in a layer, by the reference of the harness, which morphs.
pub fn morphed(model: &Arc<Model>, layer: Layer) -> Vec<Skinned> {
    let mut crowd = Crowd::new();
    crowd
        .push_group(Arc::clone(model), [(IDENTITY_ROWS, layer)])
        .unwrap();
    let numbers = reference_vertices(&crowd, 0, 0);
    let mesh = model.mesh();
    let mut skinned: Vec<Skinned> = mesh
        .primitives()
        .iter()
        .map(|_| Skinned::default())
        .collect();
    let mut vertices: Vec<_> = mesh
        .sources()
        .iter()
        .zip(numbers.as_chunks::<6>().0)
        .collect();
    vertices.sort_by_key(|(source, _)| **source);
    for (source, [x, y, z, a, b, c]) in vertices {
        let primitive = &mut skinned[source.primitive as usize];
        primitive.positions.push(DVec3::new(*x, *y, *z));
        primitive.normals.push(DVec3::new(*a, *b, *c));
    }
    let own = mesh
        .primitives()
        .iter()
        .zip(skinned)
        .filter(|(primitive, _)| primitive.dumped_vertices > 0);
    own.map(|(_, skinned)| skinned).collect()
}

impl Golden {
    /// Imports the model and compares all records.
    pub fn compare(&self) -> Worst {
        let model = load_all(&self.model);
        let mut worst = Worst::default();
        for record in self.header["records"].as_array().unwrap() {
            let clip = record["clip"]
                .as_u64()
                .map(|index| (index as usize, time(record)));
            let blended = match record["rotation"].as_str() {
                Some("nlerp") => model.clone().with_rotation_blend(RotationBlend::Nlerp),
                Some("slerp") => model.clone().with_rotation_blend(RotationBlend::Slerp),
                _ => model.clone(),
            };
            let skinned = reference::skin(&blended, clip);
            let primitives = record["prims"].as_array().unwrap();
            assert_eq!(skinned.len(), primitives.len(), "{}: primitives", self.name);
            for (expected, skinned) in primitives.iter().zip(&skinned) {
                self.compare_primitive(expected, skinned, &mut worst);
            }
        }
        worst
    }

    /// As [`Golden::compare`], by the reference of the harness, which morphs.
    pub fn compare_morphed(&self) -> Worst {
        let model = Arc::new(load_all(&self.model));
        let mut worst = Worst::default();
        for record in self.header["records"].as_array().unwrap() {
            let layer = match record["clip"].as_u64() {
                Some(clip) => Layer::held(clip as u32, time(record) as f32),
                None => Layer::held(REST, 0.0),
            };
            let own = morphed(&model, layer);
            let primitives = record["prims"].as_array().unwrap();
            assert_eq!(own.len(), primitives.len(), "{}: primitives", self.name);
            for (expected, skinned) in primitives.iter().zip(&own) {
                self.compare_primitive(expected, skinned, &mut worst);
            }
        }
        worst
    }

    fn compare_primitive(&self, expected: &Value, skinned: &Skinned, worst: &mut Worst) {
        let number = |value: &Value| value.as_u64().unwrap() as usize;
        assert_eq!(
            skinned.positions.len(),
            number(&expected["vertexCount"]),
            "{}: vertices",
            self.name
        );
        let stride = number(&self.header["vertexStride"]);
        let diagonal = self.header["bboxDiagonal"].as_f64().unwrap();
        let sampled = number(&expected["sampled"]);
        let normals = expected["normals"]
            .as_u64()
            .map(|offset| self.vectors(offset as usize, sampled));
        for (sample, position) in self
            .vectors(number(&expected["positions"]), sampled)
            .into_iter()
            .enumerate()
        {
            let normal = normals.as_ref().map(|n| n[sample]);
            // Engines disagree on a vertex that no joint holds.
            if normal.is_some_and(DVec3::is_nan) {
                continue;
            }
            let vertex = sample * stride;
            worst.position = largest(
                worst.position,
                (skinned.positions[vertex] - position).length() / diagonal,
            );
            if let Some(normal) = normal {
                let difference = skinned.normals[vertex] - normal.normalize_or_zero();
                worst.normal = largest(worst.normal, difference.abs().max_element());
            }
        }
    }

    fn vectors(&self, offset: usize, count: usize) -> Vec<DVec3> {
        let bytes = &self.numbers[offset..offset + 12 * count];
        let floats: Vec<f64> = bytes
            .as_chunks()
            .0
            .iter()
            .map(|b| f64::from(f32::from_le_bytes(*b)))
            .collect();
        floats.chunks(3).map(DVec3::from_slice).collect()
    }
}

/// Seconds; RAA counts frames, of which a second has 25.
fn time(record: &Value) -> f64 {
    record["time"]
        .as_f64()
        .unwrap_or_else(|| record["frame"].as_f64().unwrap() / 25.0)
}

/// The larger one, and not a number if either is not.
fn largest(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}
