//! Streaming XML reader: elements, their attributes, and their places in the file.

use crate::fault::Fault;
use crate::place::Place;
use crate::read_file::MOST_BYTES;
use crate::{ImportError, regular_file};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// A start tag.
pub(super) struct Element {
    tag: BytesStart<'static>,
    /// Byte offset in the file.
    at: u64,
    /// Number of elements that hold it.
    depth: u32,
}

impl Element {
    pub(super) fn name(&self) -> &str {
        self.tag.name().0
    }
}

/// Reads elements in order.
pub(super) struct Xml {
    file: PathBuf,
    reader: Reader<BufReader<File>>,
    buffer: Vec<u8>,
    /// Number of elements that are open.
    depth: u32,
}

impl Xml {
    pub(super) fn open(file: &Path) -> Result<Self, ImportError> {
        let mut reader = Reader::from_reader(BufReader::new(crate::read_file::open(file)?));
        reader.config_mut().expand_empty_elements = true;
        Ok(Self { file: file.into(), reader, buffer: Vec::new(), depth: 0 })
    }

    /// The document's root element, which must have this name.
    pub(super) fn root(&mut self, name: &str) -> Result<Element, Fault> {
        match self.next()? {
            Some(root) if root.name() == name => Ok(root),
            Some(root) => Err(self.fault(&root, format!("<{}>; expected <{name}>", root.name()))),
            None => Err(self.fault_at(0, format!("no element; expected <{name}>"))),
        }
    }

    /// The next child of an element, after whatever is left of the child before; `None` at the element's end.
    pub(super) fn child(&mut self, of: &Element) -> Result<Option<Element>, Fault> {
        while self.depth > of.depth {
            if let Some(found) = self.next()?
                && found.depth == of.depth + 1
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Expects the end of the document.
    pub(super) fn end(&mut self) -> Result<(), Fault> {
        loop {
            let at = self.reader.buffer_position();
            self.buffer.clear();
            match self.reader.read_event_into(&mut self.buffer) {
                Ok(Event::Eof) => return Ok(()),
                Ok(Event::Start(_) | Event::DocType(_)) => {
                    return Err(self.fault_at(at, "content after the root element; expected the end of the file"));
                }
                Ok(_) => {}
                Err(error) => return Err(self.syntax(&error)),
            }
        }
    }

    /// The next start tag, or `None` for an end tag.
    fn next(&mut self) -> Result<Option<Element>, Fault> {
        loop {
            let at = self.reader.buffer_position();
            self.buffer.clear();
            match self.reader.read_event_into(&mut self.buffer) {
                Ok(Event::Start(tag)) => {
                    self.depth += 1;
                    return Ok(Some(Element { tag: tag.into_owned(), at, depth: self.depth - 1 }));
                }
                Ok(Event::End(_)) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(None);
                }
                Ok(Event::Eof) => return Err(self.fault_at(at, "the file ends inside an element; expected its end")),
                // Entities could grow without bound, and no exporter declares any.
                Ok(Event::DocType(_)) => {
                    return Err(self.fault_at(at, "a document type declaration; expected none"));
                }
                Ok(_) => {}
                Err(error) => return Err(self.syntax(&error)),
            }
        }
    }

    fn syntax(&self, error: &quick_xml::Error) -> Fault {
        self.fault_at(self.reader.error_position(), error.to_string())
    }

    /// An attribute's text.
    pub(super) fn text(&self, element: &Element, name: &str) -> Result<Option<String>, Fault> {
        let value = element.tag.try_get_attribute(name).map_err(quick_xml::Error::from);
        let value = value.and_then(|a| a.map(|a| Ok(a.normalized_value(XmlVersion::Explicit1_0)?.into())).transpose());
        value.map_err(|error: quick_xml::Error| self.fault(element, format!("attribute {name}: {error}")))
    }

    /// The text of a required attribute.
    pub(super) fn required(&self, element: &Element, name: &str) -> Result<String, Fault> {
        self.text(element, name)?
            .ok_or_else(|| self.fault(element, format!("<{}> without {name}; expected one", element.name())))
    }

    /// A required attribute that is a finite number.
    pub(super) fn number(&self, element: &Element, name: &str) -> Result<f32, Fault> {
        let text = self.required(element, name)?;
        let value = text.trim().parse::<f32>().ok().filter(|v| v.is_finite());
        value.ok_or_else(|| self.fault(element, format!("{name}={text:?}; expected a finite number")))
    }

    /// Finite numbers, one attribute each.
    pub(super) fn numbers<const N: usize>(&self, element: &Element, names: [&str; N]) -> Result<[f32; N], Fault> {
        let mut values = [0.0; N];
        for (value, name) in values.iter_mut().zip(names) {
            *value = self.number(element, name)?;
        }
        Ok(values)
    }

    /// A required attribute that is a whole number of 0 or more.
    pub(super) fn integer(&self, element: &Element, name: &str) -> Result<u32, Fault> {
        let text = self.required(element, name)?;
        let value = text.trim().parse().ok();
        value.ok_or_else(|| self.fault(element, format!("{name}={text:?}; expected a whole number")))
    }

    /// A problem with an element.
    pub(super) fn fault(&self, element: &Element, problem: impl Into<String>) -> Fault {
        self.fault_at(element.at, problem)
    }

    fn fault_at(&self, at: u64, problem: impl Into<String>) -> Fault {
        // The stream is past that place; lines are counted only for an error.
        let place = match regular_file::read(&self.file, MOST_BYTES) {
            Ok(bytes) => Place::of(&bytes, usize::try_from(at).unwrap_or(usize::MAX)).to_string(),
            Err(_) => format!("byte {at}"),
        };
        Fault::new(place, problem)
    }
}
