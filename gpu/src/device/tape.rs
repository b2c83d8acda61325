//! Tapes: what a backend asks of a device, as data that a page can ask of WebGPU again.
//!
//! A tape holds objects in the order of their creation, each as a descriptor in WebGPU's own words, and lists of
//! commands that refer to objects by index. Shader texts and bytes are kept once, in a [`Library`] that tapes share.

use crate::device::command::Command;
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

/// An object or a command of a tape.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its serialised form, with the text of a shader.
    pub value: Value,
    /// Contents of a buffer or texture before the first command, or what a command writes.
    pub bytes: Option<Vec<u8>>,
}

impl Entry {
    /// The entry in the page's form: text and bytes by their index in the library.
    pub fn json(&self, library: &mut Library) -> Value {
        let mut value = self.value.clone();
        if let Some(text) = self.value["text"].as_str() {
            value["text"] = library.text(text).into();
        }
        if let Some(bytes) = &self.bytes {
            value["contents"] = library.blob(bytes).into();
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
    /// Commands since the last call of [`Gpu::take_commands`](crate::Gpu::take_commands). Those of a pass are
    /// listed in the command that begins it.
    pub commands: Vec<Entry>,
    /// `true` within a pass.
    in_pass: bool,
}

impl Tape {
    /// Adds an object and returns its index.
    pub(crate) fn push(&mut self, object: Entry) -> usize {
        self.objects.push(object);
        self.objects.len() - 1
    }

    /// Changes what a buffer holds before the first command.
    pub fn fill(&mut self, buffer: usize, offset: u64, bytes: &[u8]) {
        let contents = self.objects[buffer].bytes.get_or_insert_default();
        let begin = offset as usize;
        let end = begin + bytes.len();
        contents.resize(contents.len().max(end), 0);
        contents[begin..end].copy_from_slice(bytes);
    }

    /// Adds a command.
    pub fn append(&mut self, command: &Command) {
        let bytes = match command {
            // The page times what it plays by itself, and maps no buffer during a frame.
            Command::Stage(_) | Command::EndStage | Command::Map { .. } => return,
            Command::End => {
                self.in_pass = false;
                return;
            }
            Command::Write { bytes, .. } => Some(bytes.to_vec()),
            _ => None,
        };
        let mut entry = Entry {
            value: json!(command),
            bytes,
        };
        if let (true, Some(pass)) = (self.in_pass, self.commands.last_mut())
            && let Some(commands) = pass.value["commands"].as_array_mut()
        {
            return commands.push(entry.value);
        }
        if let Command::Compute { .. } | Command::Render(_) = command {
            self.in_pass = true;
            entry.value["commands"] = Value::Array(Vec::new());
        }
        self.commands.push(entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skinbench_frame::{DeviceBuffer, DeviceObject};

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
        let buffer = DeviceBuffer {
            object: DeviceObject::numbered(3),
            size: 4,
        };
        let mut tape = Tape::default();
        tape.append(&Command::Write {
            buffer: &buffer,
            bytes: &[2],
        });
        tape.append(&Command::Compute { label: "skin" });
        tape.append(&Command::Dispatch {
            workgroups: [4, 2, 1],
        });
        tape.append(&Command::End);
        tape.append(&Command::Draw {
            vertices: 0..3,
            instances: 1..2,
        });
        let listed: Vec<Value> = tape
            .commands
            .iter()
            .map(|command| command.json(&mut library))
            .collect();
        assert_eq!(
            listed,
            [
                json!({"do": "write", "buffer": 3, "contents": 1}),
                json!({"do": "compute", "label": "skin", "commands": [
                    {"do": "dispatch", "workgroups": [4, 2, 1]},
                ]}),
                json!({"do": "draw", "vertices": {"start": 0, "end": 3}, "instances": {"start": 1, "end": 2}}),
            ]
        );
    }
}
