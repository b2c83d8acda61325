//! The document under construction, and the BIN chunk: accessors, each in a buffer view of its own.

use crate::gltf::names;
use serde_json::{Value, json};

const UNSIGNED_BYTE: u32 = 5121;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const FLOAT: u32 = 5126;

/// Usage of a buffer view.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Use {
    Other = 0,
    Vertices = 34_962,
    Indices = 34_963,
}

/// A document, and the bytes of its BIN chunk.
#[derive(Default)]
pub(super) struct Document {
    pub(super) json: Value,
    pub(super) bin: Vec<u8>,
}

/// Appends an item to a list, which does not exist before its first item; returns the item's index.
pub(super) fn append(list: &mut Value, item: Value) -> usize {
    match list {
        Value::Array(items) => {
            items.push(item);
            items.len() - 1
        }
        missing => {
            *missing = Value::Array(vec![item]);
            0
        }
    }
}

impl Document {
    /// Appends an item to one of the document's lists; returns its index.
    pub(super) fn add(&mut self, list: &str, item: Value) -> usize {
        append(&mut self.json[list], item)
    }

    /// Appends vectors or matrices of floats; returns the accessor.
    pub(super) fn floats<const N: usize>(&mut self, values: &[[f32; N]], usage: Use) -> usize {
        self.push(
            FLOAT,
            names::shape(N),
            values.len(),
            bytemuck::cast_slice(values),
            usage,
        )
    }

    /// As [`Document::floats`], with the smallest and largest number of each component.
    pub(super) fn bounded_floats<const N: usize>(
        &mut self,
        values: &[[f32; N]],
        usage: Use,
    ) -> usize {
        let accessor = self.floats(values, usage);
        let bound = |start: f32, better: fn(f32, f32) -> f32| -> [f32; N] {
            std::array::from_fn(|c| values.iter().fold(start, |bound, v| better(bound, v[c])))
        };
        self.json["accessors"][accessor]["min"] = json!(bound(f32::INFINITY, f32::min).as_slice());
        self.json["accessors"][accessor]["max"] =
            json!(bound(f32::NEG_INFINITY, f32::max).as_slice());
        accessor
    }

    /// Appends vectors of which only the listed ones are not zero, by rising index.
    pub(super) fn sparse(&mut self, listed: &[(u32, [f32; 3])], count: usize) -> usize {
        let bound = |better: fn(f32, f32) -> f32| -> [f32; 3] {
            // Vectors that are not listed are zero.
            let first = if listed.len() < count {
                [0.0; 3]
            } else {
                listed[0].1
            };
            std::array::from_fn(|c| {
                listed
                    .iter()
                    .fold(first[c], |bound, (_, v)| better(bound, v[c]))
            })
        };
        let mut accessor = json!({
            "componentType": FLOAT,
            "type": "VEC3",
            "count": count,
            "min": bound(f32::min),
            "max": bound(f32::max),
        });
        if !listed.is_empty() {
            let indices: Vec<u32> = listed.iter().map(|(index, _)| *index).collect();
            let values: Vec<[f32; 3]> = listed.iter().map(|(_, value)| *value).collect();
            let indices = self.view(bytemuck::cast_slice(&indices), Use::Other);
            let values = self.view(bytemuck::cast_slice(&values), Use::Other);
            accessor["sparse"] = json!({
                "count": listed.len(),
                "indices": {"bufferView": indices, "componentType": UNSIGNED_INT},
                "values": {"bufferView": values},
            });
        }
        self.add("accessors", accessor)
    }

    /// Appends indices of triangles among `count` vertices.
    pub(super) fn indices(&mut self, indices: &[u32], count: usize) -> usize {
        // The largest number of a type is reserved for primitive restart.
        if count < usize::from(u16::MAX) {
            let short: Vec<u16> = indices.iter().map(|&i| i as u16).collect();
            self.push(
                UNSIGNED_SHORT,
                "SCALAR",
                short.len(),
                bytemuck::cast_slice(&short),
                Use::Indices,
            )
        } else {
            self.push(
                UNSIGNED_INT,
                "SCALAR",
                indices.len(),
                bytemuck::cast_slice(indices),
                Use::Indices,
            )
        }
    }

    /// Appends joints of a skin that has `count`.
    pub(super) fn joints(&mut self, joints: &[[u16; 4]], count: usize) -> usize {
        if count <= 1 << u8::BITS {
            let bytes: Vec<[u8; 4]> = joints.iter().map(|j| j.map(|j| j as u8)).collect();
            self.push(
                UNSIGNED_BYTE,
                "VEC4",
                bytes.len(),
                bytemuck::cast_slice(&bytes),
                Use::Vertices,
            )
        } else {
            self.push(
                UNSIGNED_SHORT,
                "VEC4",
                joints.len(),
                bytemuck::cast_slice(joints),
                Use::Vertices,
            )
        }
    }

    fn push(
        &mut self,
        component: u32,
        shape: &str,
        count: usize,
        bytes: &[u8],
        usage: Use,
    ) -> usize {
        let view = self.view(bytes, usage);
        let accessor =
            json!({"bufferView": view, "componentType": component, "type": shape, "count": count});
        self.add("accessors", accessor)
    }

    /// Appends bytes; returns the buffer view.
    pub(super) fn view(&mut self, bytes: &[u8], usage: Use) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let mut view =
            json!({"buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len()});
        if usage != Use::Other {
            view["target"] = json!(usage as u32);
        }
        self.bin.extend_from_slice(bytes);
        self.add("bufferViews", view)
    }
}
