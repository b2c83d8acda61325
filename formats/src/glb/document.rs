//! The document under construction, and the BIN chunk: accessors, each in a buffer view of its own.

use crate::gltf::names;
use bytemuck::NoUninit;
use serde_json::{Value, json};

const UNSIGNED_BYTE: u32 = 5121;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const FLOAT: u32 = 5126;

/// Usage of a buffer view.
#[derive(Clone, Copy, PartialEq)]
pub enum Use {
    Other = 0,
    Vertices = 34_962,
    Indices = 34_963,
}

/// A document, and the bytes of its BIN chunk.
#[derive(Default)]
pub struct Document {
    pub json: Value,
    pub bin: Vec<u8>,
}

/// Appends an item to a list, which does not exist before its first item; returns the item's index.
pub fn append(list: &mut Value, item: Value) -> usize {
    match list {
        Value::Array(items) => {
            items.push(item);
            items.len() - 1
        }
        missing => {
            *missing = json!([item]);
            0
        }
    }
}

/// The smallest and the largest number of each component, also among those of `start`.
fn bounds<const N: usize>(start: [f32; N], vectors: &[[f32; N]]) -> [[f32; N]; 2] {
    let mut bounds = [start; 2];
    for vector in vectors {
        for c in 0..N {
            bounds[0][c] = bounds[0][c].min(vector[c]);
            bounds[1][c] = bounds[1][c].max(vector[c]);
        }
    }
    bounds
}

impl Document {
    /// Appends an item to one of the document's lists; returns its index.
    pub fn add(&mut self, list: &str, item: Value) -> usize {
        append(&mut self.json[list], item)
    }

    /// Appends vectors or matrices of floats; returns the accessor.
    pub fn floats<const N: usize>(&mut self, values: &[[f32; N]], usage: Use) -> usize {
        self.push(FLOAT, names::shape(N), values, usage)
    }

    /// As [`Document::floats`], with the smallest and largest number of each component.
    pub fn bounded_floats<const N: usize>(&mut self, values: &[[f32; N]], usage: Use) -> usize {
        let index = self.floats(values, usage);
        let [min, max] = bounds(values.first().copied().unwrap_or([0.0; N]), values);
        let accessor = &mut self.json["accessors"][index];
        accessor["min"] = json!(min.as_slice());
        accessor["max"] = json!(max.as_slice());
        index
    }

    /// Appends `count` vectors of which only the listed ones are not zero: their indices, which rise, and their values.
    pub fn sparse(&mut self, indices: &[u32], values: &[[f32; 3]], count: usize) -> usize {
        // Vectors that are not listed are zero.
        let start = if indices.len() < count {
            [0.0; 3]
        } else {
            values[0]
        };
        let [min, max] = bounds(start, values);
        let mut accessor = json!({
            "componentType": FLOAT,
            "type": "VEC3",
            "count": count,
            "min": min,
            "max": max,
        });
        if !indices.is_empty() {
            let index_view = self.view(bytemuck::cast_slice(indices), Use::Other);
            let value_view = self.view(bytemuck::cast_slice(values), Use::Other);
            accessor["sparse"] = json!({
                "count": indices.len(),
                "indices": {"bufferView": index_view, "componentType": UNSIGNED_INT},
                "values": {"bufferView": value_view},
            });
        }
        self.add("accessors", accessor)
    }

    /// Appends indices of triangles among `count` vertices.
    pub fn indices(&mut self, indices: &[u32], count: usize) -> usize {
        // The largest number of a type is reserved for primitive restart.
        if count < usize::from(u16::MAX) {
            let short: Vec<u16> = indices.iter().map(|&index| index as u16).collect();
            self.push(UNSIGNED_SHORT, "SCALAR", &short, Use::Indices)
        } else {
            self.push(UNSIGNED_INT, "SCALAR", indices, Use::Indices)
        }
    }

    /// Appends joints of a skin that has `count`.
    pub fn joints(&mut self, joints: &[[u16; 4]], count: usize) -> usize {
        if count <= 1 << u8::BITS {
            let bytes: Vec<[u8; 4]> = joints.iter().map(|four| four.map(|j| j as u8)).collect();
            self.push(UNSIGNED_BYTE, "VEC4", &bytes, Use::Vertices)
        } else {
            self.push(UNSIGNED_SHORT, "VEC4", joints, Use::Vertices)
        }
    }

    /// Appends elements; returns the accessor.
    fn push<T: NoUninit>(
        &mut self,
        component: u32,
        shape: &str,
        elements: &[T],
        usage: Use,
    ) -> usize {
        let accessor = json!({
            "bufferView": self.view(bytemuck::cast_slice(elements), usage),
            "componentType": component,
            "type": shape,
            "count": elements.len(),
        });
        self.add("accessors", accessor)
    }

    /// Appends bytes; returns the buffer view.
    pub fn view(&mut self, bytes: &[u8], usage: Use) -> usize {
        self.pad();
        let mut view =
            json!({"buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len()});
        if usage != Use::Other {
            view["target"] = json!(usage as u32);
        }
        self.bin.extend_from_slice(bytes);
        self.add("bufferViews", view)
    }

    /// Fills the bytes up to a multiple of 4.
    pub fn pad(&mut self) {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
    }
}
