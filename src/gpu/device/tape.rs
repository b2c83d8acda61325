//! Tapes: what a backend asks of a device, as data that a page can ask of WebGPU again.
//!
//! A tape holds objects in the order of their creation, each as a descriptor in WebGPU's own words, and lists of
//! commands that refer to objects by index. Shader texts and bytes are kept once, in a [`Library`] that tapes share.

use indexmap::IndexSet;
use serde_json::Value;

/// Texts of shaders and contents of buffers and textures, each stored once.
#[derive(Debug, Default)]
pub struct Library {
    /// All texts.
    pub texts: IndexSet<String>,
    /// All bytes.
    pub blobs: IndexSet<Vec<u8>>,
}

impl Library {
    /// Index of a text, which is added if it is new.
    pub fn text(&mut self, text: &str) -> usize {
        self.texts.insert_full(text.into()).0
    }

    /// Index of some bytes, which are added if they are new.
    pub fn blob(&mut self, bytes: &[u8]) -> usize {
        self.blobs.insert_full(bytes.into()).0
    }
}

/// An object or a command of a tape in WebGPU's words, which name other objects by index.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// An object's kind and descriptor, with the text of a shader, or a command's name and arguments.
    pub value: Value,
    /// Contents of a buffer or texture before the first command, or what a command writes.
    pub bytes: Option<Vec<u8>>,
}

impl From<Value> for Entry {
    fn from(value: Value) -> Self {
        Self { value, bytes: None }
    }
}

impl Entry {
    /// The entry in the page's form: text and bytes by their index in the library.
    pub fn json(&self, library: &mut Library) -> Value {
        let mut value = self.value.clone();
        if let Some(text) = self.value["text"].as_str() {
            value["text"] = library.text(text).into();
        }
        if let Some(bytes) = &self.bytes {
            let index = library.blob(bytes).into();
            match &mut value {
                Value::Array(command) => command.push(index),
                object => object["contents"] = index,
            }
        }
        value
    }

    /// A label that its creator gave it.
    pub fn label(&self) -> &str {
        self.value["label"].as_str().unwrap_or_default()
    }
}

/// Everything that a device was asked for.
#[derive(Debug, Default)]
pub struct Tape {
    /// All objects, in the order of their creation.
    pub objects: Vec<Entry>,
    /// Commands since the last call of [`Gpu::take_commands`](crate::gpu::Gpu::take_commands).
    pub commands: Vec<Entry>,
}

impl Tape {
    /// Adds an object and returns its index.
    pub fn push(&mut self, object: Entry) -> usize {
        self.objects.push(object);
        self.objects.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn equal_texts_and_bytes_are_stored_once() {
        let mut library = Library::default();
        assert_eq!(
            [library.text("a"), library.text("b"), library.text("a")],
            [0, 1, 0]
        );
        assert_eq!(
            [library.blob(&[1]), library.blob(&[2]), library.blob(&[1])],
            [0, 1, 0]
        );
        let write = Entry {
            value: json!(["write", 3, 8]),
            bytes: Some(vec![2]),
        };
        assert_eq!(write.json(&mut library), json!(["write", 3, 8, 1]));
    }
}
