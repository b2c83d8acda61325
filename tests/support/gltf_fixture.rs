//! Small glTF files made on the spot: a triangle on two joints, and what tests change about it.
#![allow(dead_code, reason = "each test binary uses a part")]
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

pub const BYTE: u32 = 5120;
pub const UNSIGNED_BYTE: u32 = 5121;
pub const SHORT: u32 = 5122;
pub const UNSIGNED_SHORT: u32 = 5123;
pub const UNSIGNED_INT: u32 = 5125;
pub const FLOAT: u32 = 5126;

/// Accessors of [`Fixture::new`], by index.
pub const POSITION: usize = 0;
pub const JOINTS: usize = 1;
pub const WEIGHTS: usize = 2;
pub const INDICES: usize = 3;
pub const INVERSE_BINDS: usize = 4;
pub const TIMES: usize = 5;
pub const ROTATIONS: usize = 6;

/// A file's JSON and the bytes of its one buffer.
#[derive(Clone)]
pub struct Fixture {
    pub json: Value,
    pub buffer: Vec<u8>,
}

impl Fixture {
    /// Nodes: 0 the root joint, 1 the joint above it at y = 1, 2 the skinned mesh; a clip turns joint 1 around z.
    pub fn new() -> Self {
        let mut fixture = Self {
            json: json!({
                "asset": {"version": "2.0"},
                "buffers": [{"byteLength": 0}],
                "bufferViews": [],
                "accessors": [],
                "nodes": [
                    {"name": "root", "children": [1]},
                    {"name": "tip", "translation": [0.0, 1.0, 0.0]},
                    {"name": "body", "mesh": 0, "skin": 0},
                ],
                "scenes": [{"nodes": [0, 2]}],
                "skins": [{"name": "rig", "joints": [0, 1], "inverseBindMatrices": INVERSE_BINDS}],
                "meshes": [{"primitives": [{
                    "attributes": {"POSITION": POSITION, "JOINTS_0": JOINTS, "WEIGHTS_0": WEIGHTS},
                    "indices": INDICES,
                }]}],
                "animations": [{
                    "name": "bend",
                    "channels": [{"sampler": 0, "target": {"node": 1, "path": "rotation"}}],
                    "samplers": [{"input": TIMES, "output": ROTATIONS}],
                }],
            }),
            buffer: Vec::new(),
        };
        fixture.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0]);
        fixture.accessor(
            UNSIGNED_BYTE,
            "VEC4",
            3,
            &[0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0],
        );
        fixture.floats(
            "VEC4",
            &[1.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        );
        fixture.accessor(UNSIGNED_SHORT, "SCALAR", 3, &[0, 0, 1, 0, 2, 0]);
        let mut inverse_binds = [0.0; 32];
        (0..4).for_each(|i| inverse_binds[5 * i] = 1.0);
        inverse_binds.copy_within(..16, 16);
        inverse_binds[16 + 13] = -1.0;
        fixture.floats("MAT4", &inverse_binds);
        fixture.floats("SCALAR", &[0.5, 1.5]);
        fixture.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
        fixture
    }

    /// Appends an accessor with a buffer view of its own.
    pub fn accessor(&mut self, component: u32, shape: &str, count: usize, bytes: &[u8]) -> usize {
        let view = self.view(bytes);
        self.push(
            "accessors",
            json!({"bufferView": view, "componentType": component, "type": shape, "count": count}),
        )
    }

    /// Appends an f32 accessor.
    pub fn floats(&mut self, shape: &str, values: &[f32]) -> usize {
        let width = match shape {
            "SCALAR" => 1,
            "MAT4" => 16,
            shape => shape[3..].parse().unwrap(),
        };
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.accessor(FLOAT, shape, values.len() / width, &bytes)
    }

    /// Appends a buffer view.
    pub fn view(&mut self, bytes: &[u8]) -> usize {
        self.buffer.resize(self.buffer.len().next_multiple_of(4), 0);
        let offset = self.buffer.len();
        self.buffer.extend_from_slice(bytes);
        self.set("/buffers/0/byteLength", json!(self.buffer.len()));
        self.push(
            "bufferViews",
            json!({"buffer": 0, "byteOffset": offset, "byteLength": bytes.len()}),
        )
    }

    /// Appends to one of the document's arrays.
    pub fn push(&mut self, array: &str, value: Value) -> usize {
        let array = self
            .json
            .as_object_mut()
            .unwrap()
            .entry(array)
            .or_insert_with(|| json!([]));
        let array = array.as_array_mut().unwrap();
        array.push(value);
        array.len() - 1
    }

    /// Sets what a JSON pointer names; its last step may be new.
    pub fn set(&mut self, pointer: &str, value: Value) {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        match self.json.pointer_mut(parent).unwrap() {
            Value::Array(array) => array[key.parse::<usize>().unwrap()] = value,
            object => object[key] = value,
        }
    }

    /// Removes a property.
    pub fn remove(&mut self, pointer: &str) {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        self.json
            .pointer_mut(parent)
            .and_then(Value::as_object_mut)
            .unwrap()
            .remove(key)
            .unwrap();
    }

    /// The `.gltf` with its buffer as a data URI.
    pub fn gltf(&self) -> Vec<u8> {
        let mut json = self.json.clone();
        if json["buffers"][0].get("uri").is_none() {
            let encoded = BASE64_STANDARD.encode(&self.buffer);
            json["buffers"][0]["uri"] =
                format!("data:application/octet-stream;base64,{encoded}").into();
        }
        json.to_string().into()
    }

    /// The `.glb`.
    pub fn glb(&self) -> Vec<u8> {
        let mut json = self.json.to_string().into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        glb(&[(b"JSON", &json), (b"BIN\0", &self.buffer)])
    }

    /// Writes the `.gltf` to a folder.
    pub fn write(&self, folder: &Path) -> PathBuf {
        let file = folder.join("fixture.gltf");
        fs::write(&file, self.gltf()).unwrap();
        file
    }
}

/// A binary container of chunks.
pub fn glb(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut bytes = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    for (kind, data) in chunks {
        let padding = data.len().next_multiple_of(4) - data.len();
        bytes.extend(((data.len() + padding) as u32).to_le_bytes());
        bytes.extend(*kind);
        bytes.extend(*data);
        bytes.resize(bytes.len() + padding, 0);
    }
    let length = bytes.len() as u32;
    bytes[8..12].copy_from_slice(&length.to_le_bytes());
    bytes
}
