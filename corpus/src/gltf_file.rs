//! A glTF file in the making: its JSON, and the numbers of its accessors.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

/// Type of stored numbers, by its code in glTF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Component {
    /// Signed bytes.
    I8 = 5120,
    /// Unsigned bytes.
    U8 = 5121,
    /// Signed 16 bit.
    I16 = 5122,
    /// Unsigned 16 bit.
    U16 = 5123,
    /// 32 bit floats.
    F32 = 5126,
}

impl Component {
    fn bytes(self, number: f64) -> Vec<u8> {
        match self {
            Self::I8 => (number as i8).to_le_bytes().to_vec(),
            Self::U8 => (number as u8).to_le_bytes().to_vec(),
            Self::I16 => (number as i16).to_le_bytes().to_vec(),
            Self::U16 => (number as u16).to_le_bytes().to_vec(),
            Self::F32 => (number as f32).to_le_bytes().to_vec(),
        }
    }
}

/// Elements that replace some of an accessor's.
struct Sparse {
    indices: Vec<u16>,
    values: Vec<u8>,
}

/// Numbers of one accessor.
pub struct Accessor {
    json: Value,
    /// Bytes of each element; `None` if the accessor has no view, so that all numbers are 0.
    elements: Option<Vec<Vec<u8>>>,
    /// Bytes from one element to the next; 0 for elements that follow each other.
    pub stride: usize,
    /// `true` if the view ends with the last element, not a stride after its start.
    pub ends_early: bool,
    /// Bytes before the first element, half of them in front of the view.
    pub offset: usize,
    sparse: Option<Sparse>,
}

impl Accessor {
    /// Numbers with their least and largest. `integers` are stored as they are, not as fractions of the largest.
    pub fn new<const N: usize>(component: Component, values: &[[f64; N]]) -> Self {
        let kind = match N {
            1 => "SCALAR",
            2 => "VEC2",
            3 => "VEC3",
            4 => "VEC4",
            _ => "MAT4",
        };
        let mut elements = Vec::new();
        let mut least = values.first().copied().unwrap_or([0.0; N]);
        let mut most = least;
        for value in values {
            elements.push(value.iter().flat_map(|&v| component.bytes(v)).collect());
            for c in 0..N {
                least[c] = least[c].min(value[c]);
                most[c] = most[c].max(value[c]);
            }
        }
        Self {
            json: json!({
                "componentType": component as u32,
                "count": values.len(),
                "type": kind,
                "min": least.to_vec(),
                "max": most.to_vec(),
            }),
            elements: Some(elements),
            stride: 0,
            ends_early: false,
            offset: 0,
            sparse: None,
        }
    }

    /// Floats.
    pub fn floats<const N: usize>(values: &[[f32; N]]) -> Self {
        let values: Vec<[f64; N]> = values.iter().map(|value| value.map(f64::from)).collect();
        Self::new(Component::F32, &values)
    }

    /// Fractions as integers, of which `one` stands for 1.
    pub fn normalized<const N: usize>(component: Component, one: f64, values: &[[f32; N]]) -> Self {
        let mut integers = Vec::new();
        for value in values {
            integers.push(value.map(|v| (f64::from(v) * one).round()));
        }
        let mut accessor = Self::new(component, &integers);
        accessor.json["normalized"] = json!(true);
        accessor
    }

    /// The same numbers, of which those at `indices` are stored apart, above `base`, or above zeros without one.
    pub fn sparse(mut self, indices: &[u16], base: Option<Self>) -> Self {
        let elements = self.elements.take().unwrap_or_default();
        let mut values = Vec::new();
        for &index in indices {
            values.extend(&elements[usize::from(index)]);
        }
        self.elements = base.and_then(|base| base.elements);
        self.sparse = Some(Sparse {
            indices: indices.to_vec(),
            values,
        });
        self
    }
}

/// A glTF file: JSON that an asset may change as it likes, and accessors that it may replace.
pub struct GltfFile {
    /// Everything but accessors, views and the buffer.
    pub json: Value,
    /// Accessors, by their index.
    pub accessors: Vec<Accessor>,
    /// Accessors that share a view, element beside element.
    pub interleaved: Vec<usize>,
    /// `true` for one binary file (.glb).
    pub binary: bool,
}

impl GltfFile {
    /// A file without content.
    pub fn new() -> Self {
        Self {
            json: json!({"asset": {"version": "2.0", "copyright": "CC0"}}),
            accessors: Vec::new(),
            interleaved: Vec::new(),
            binary: false,
        }
    }

    /// Adds an accessor; returns its index.
    pub fn accessor(&mut self, accessor: Accessor) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Adds an object to a list of the file, such as "nodes"; returns its index.
    pub fn push(&mut self, list: &str, object: Value) -> usize {
        let list = &mut self.json[list];
        if list.is_null() {
            *list = json!([]);
        }
        if let Some(items) = list.as_array_mut() {
            items.push(object);
            return items.len() - 1;
        }
        0
    }

    /// A node.
    pub fn node(&mut self, index: usize) -> &mut Value {
        &mut self.json["nodes"][index]
    }

    /// The first primitive of a mesh.
    pub fn primitive(&mut self, mesh: usize) -> &mut Value {
        &mut self.json["meshes"][mesh]["primitives"][0]
    }

    /// The bytes of the file.
    pub fn bytes(mut self) -> Vec<u8> {
        let mut layout = Layout::default();
        layout.interleave(&mut self.accessors, &self.interleaved);
        for (index, accessor) in self.accessors.iter_mut().enumerate() {
            if !self.interleaved.contains(&index) {
                layout.place(accessor);
            }
            layout.place_sparse(accessor);
        }
        let accessors: Vec<Value> = self.accessors.into_iter().map(|a| a.json).collect();
        self.json["accessors"] = accessors.into();
        self.json["bufferViews"] = layout.views.into();
        let mut buffer = json!({"byteLength": layout.bytes.len()});
        if !self.binary {
            let text = BASE64_STANDARD.encode(&layout.bytes);
            buffer["uri"] = format!("data:application/octet-stream;base64,{text}").into();
        }
        self.json["buffers"] = json!([buffer]);
        let text = sorted(&self.json);
        if self.binary {
            container(text.into_bytes(), layout.bytes)
        } else {
            (text + "\n").into_bytes()
        }
    }
}

/// Removes a property of an object.
pub fn remove(object: &mut Value, property: &str) {
    if let Some(object) = object.as_object_mut() {
        object.remove(property);
    }
}

/// Views and their bytes.
#[derive(Default)]
struct Layout {
    views: Vec<Value>,
    bytes: Vec<u8>,
}

impl Layout {
    /// Adds a view at a multiple of four bytes; returns its index.
    fn view(&mut self, bytes: &[u8], stride: usize) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let mut view = json!({
            "buffer": 0,
            "byteOffset": self.bytes.len(),
            "byteLength": bytes.len(),
        });
        if stride > 0 {
            view["byteStride"] = stride.into();
        }
        self.bytes.extend(bytes);
        self.views.push(view);
        self.views.len() - 1
    }

    /// Puts an accessor into a view of its own.
    fn place(&mut self, accessor: &mut Accessor) {
        let Some(elements) = &accessor.elements else {
            return;
        };
        let inner = accessor.offset / 2;
        // What is in between must not be read: a reader that ignores offset or stride finds large numbers.
        let mut bytes = vec![0x7f; inner];
        for (index, element) in elements.iter().enumerate() {
            bytes.extend(element);
            let is_last = index + 1 == elements.len();
            if !(is_last && accessor.ends_early) {
                let end = inner + (index + 1) * accessor.stride.max(element.len());
                bytes.resize(end, 0x7f);
            }
        }
        self.bytes.extend(vec![0x7f; accessor.offset - inner]);
        accessor.json["bufferView"] = self.view(&bytes, accessor.stride).into();
        if inner > 0 {
            accessor.json["byteOffset"] = inner.into();
        }
    }

    /// Puts some accessors of equally many elements into one view.
    fn interleave(&mut self, accessors: &mut [Accessor], which: &[usize]) {
        let Some(&first) = which.first() else { return };
        let count = accessors[first].elements.as_ref().map_or(0, Vec::len);
        let view = self.views.len();
        let mut rows: Vec<Vec<u8>> = vec![Vec::new(); count];
        for &index in which {
            let accessor = &mut accessors[index];
            accessor.json["bufferView"] = view.into();
            accessor.json["byteOffset"] = rows[0].len().into();
            for (row, element) in rows.iter_mut().zip(accessor.elements.iter().flatten()) {
                row.extend(element);
                row.resize(row.len().next_multiple_of(4), 0);
            }
        }
        self.view(&rows.concat(), rows[0].len());
    }

    fn place_sparse(&mut self, accessor: &mut Accessor) {
        let Some(sparse) = &accessor.sparse else {
            return;
        };
        let indices: Vec<u8> = sparse
            .indices
            .iter()
            .flat_map(|i| i.to_le_bytes())
            .collect();
        accessor.json["sparse"] = json!({
            "count": sparse.indices.len(),
            "indices": {"bufferView": self.view(&indices, 0), "componentType": Component::U16 as u32},
            "values": {"bufferView": self.view(&sparse.values, 0)},
        });
    }
}

/// JSON with the keys of each object in alphabetical order, whatever map `serde_json` was built with.
fn sorted(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let mut pairs: Vec<String> = Map::iter(object)
                .map(|(key, value)| format!("{key:?}:{}", sorted(value)))
                .collect();
            pairs.sort();
            format!("{{{}}}", pairs.join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(sorted).collect();
            format!("[{}]", items.join(","))
        }
        plain => plain.to_string(),
    }
}

/// A .glb of its two chunks.
fn container(mut json: Vec<u8>, mut binary: Vec<u8>) -> Vec<u8> {
    json.resize(json.len().next_multiple_of(4), b' ');
    binary.resize(binary.len().next_multiple_of(4), 0);
    let mut bytes = b"glTF".to_vec();
    bytes.extend(2u32.to_le_bytes());
    bytes.extend((28 + json.len() as u32 + binary.len() as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", json), (b"BIN\0", binary)] {
        bytes.extend((chunk.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(chunk);
    }
    bytes
}
