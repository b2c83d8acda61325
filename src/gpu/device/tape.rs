//! Tapes: what a backend asks of a device, as data that a page can ask of WebGPU again.
//!
//! A tape holds objects in the order of their creation, each as a descriptor in WebGPU's own words, and lists of
//! commands that refer to objects by index. Shader texts and bytes are kept once, in a [`Library`] that tapes share.

use indexmap::IndexSet;
use serde_json::{Value, json};

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

/// A command, with objects by their index on the tape.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Writes bytes from the host to a buffer.
    Write {
        /// The buffer written.
        buffer: usize,
        /// First byte written.
        offset: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Any other command in the page's form: its name, then its arguments.
    Device(Value),
}

impl Command {
    /// The command in the page's form.
    pub fn json(&self, library: &mut Library) -> Value {
        match self {
            Self::Write { buffer, offset, bytes } => json!(["write", buffer, offset, library.blob(bytes)]),
            Self::Device(value) => value.clone(),
        }
    }
}

/// An object of a tape: its descriptor, and what it holds before the first command.
#[derive(Debug, Clone)]
pub struct Object {
    /// Its kind and its descriptor in WebGPU's words. Other objects are named by index.
    pub descriptor: Value,
    /// A shader's text.
    pub text: Option<String>,
    /// Contents of a buffer or texture.
    pub contents: Option<Vec<u8>>,
}

impl Object {
    /// Creates an object without text and contents.
    pub fn new(descriptor: Value) -> Self {
        Self { descriptor, text: None, contents: None }
    }

    /// The object in the page's form.
    pub fn json(&self, library: &mut Library) -> Value {
        let mut value = self.descriptor.clone();
        if let Some(text) = &self.text {
            value["text"] = library.text(text).into();
        }
        if let Some(contents) = &self.contents {
            value["contents"] = library.blob(contents).into();
        }
        value
    }

    /// A label that its creator gave it.
    pub fn label(&self) -> &str {
        self.descriptor["label"].as_str().unwrap_or_default()
    }
}

/// Everything that a device was asked for.
#[derive(Debug, Default)]
pub struct Tape {
    /// All objects, in the order of their creation.
    pub objects: Vec<Object>,
    /// Commands since the last call of [`Gpu::take_commands`](crate::gpu::Gpu::take_commands).
    pub commands: Vec<Command>,
}

impl Tape {
    /// Adds an object and returns its index.
    pub fn push(&mut self, object: Object) -> usize {
        self.objects.push(object);
        self.objects.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_and_bytes_are_stored_once() {
        let mut library = Library::default();
        assert_eq!([library.text("a"), library.text("b"), library.text("a")], [0, 1, 0]);
        assert_eq!([library.blob(&[1]), library.blob(&[2]), library.blob(&[1])], [0, 1, 0]);
        let write = Command::Write { buffer: 3, offset: 8, bytes: vec![2] };
        assert_eq!(write.json(&mut library), json!(["write", 3, 8, 1]));
    }
}
