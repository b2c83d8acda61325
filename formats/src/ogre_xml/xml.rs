//! Elements of an XML document, their attributes, and their places in the text. What nobody asks for is noted.

use crate::budget::Budget;
use crate::ignored::{Ignored, note_unread};
use crate::place::Place;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use skinbench_kernels::error::{DataError, Result};
use skinbench_kernels::model::Notes;
use std::borrow::Cow;
use std::cell::Cell;

/// A document: its elements in the order of their start tags.
pub struct Xml<'a> {
    tags: Vec<Tag<'a>>,
    /// Texts between tags.
    texts: usize,
}

/// A start tag.
struct Tag<'a> {
    content: BytesStart<'a>,
    at: Place,
    /// Index after that of the last element inside.
    end: usize,
    is_read: Cell<bool>,
    /// A bit for each of the first 64 attributes that is read.
    read_attributes: Cell<u64>,
}

/// An element of a document.
#[derive(Clone, Copy)]
pub struct Element<'a> {
    xml: &'a Xml<'a>,
    index: usize,
}

impl<'a> Xml<'a> {
    /// Reads a document whose root element has this name.
    pub fn parse(text: &'a str, root: &str, budget: &Budget) -> Result<Self> {
        let most = text.matches('<').count();
        let bytes = (most * size_of::<Tag>()) as u64;
        budget.charge(bytes, || format!("XML of {most} tags"))?;
        let mut xml = Self {
            tags: Vec::with_capacity(most),
            texts: 0,
        };
        let mut open: Vec<usize> = Vec::new();
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        let mut at = Place::START;
        let mut from = 0;
        loop {
            let byte = reader.buffer_position() as usize;
            at = at.after(&text.as_bytes()[from..byte]);
            from = byte;
            let event = reader.read_event().map_err(|error| {
                let byte = reader.error_position() as usize;
                DataError::new(Place::of(text.as_bytes(), byte), error.to_string())
            })?;
            match event {
                Event::Start(content) => {
                    let name = content.name().0;
                    let is_root = xml.tags.is_empty();
                    ensure!(!is_root || name == root, at, "<{name}>; expected <{root}>");
                    ensure!(
                        is_root || !open.is_empty(),
                        at,
                        "content after the root element; expected the end of the file"
                    );
                    open.push(xml.tags.len());
                    xml.tags.push(Tag {
                        content,
                        at,
                        end: 0,
                        is_read: Cell::new(is_root),
                        read_attributes: Cell::new(0),
                    });
                }
                Event::End(_) => {
                    if let Some(index) = open.pop() {
                        xml.tags[index].end = xml.tags.len();
                    }
                }
                // Entities could grow without bound, and no exporter declares any.
                Event::DocType(_) => bail!(at, "a document type declaration; expected none"),
                Event::Text(text) => xml.texts += usize::from(!text.trim().is_empty()),
                Event::CData(_) | Event::GeneralRef(_) => xml.texts += 1,
                Event::Eof => {
                    ensure!(
                        open.is_empty() && !xml.tags.is_empty(),
                        at,
                        "the file ends inside an element; expected its end"
                    );
                    return Ok(xml);
                }
                _ => {}
            }
        }
    }

    pub fn root(&self) -> Element<'_> {
        Element {
            xml: self,
            index: 0,
        }
    }

    /// Notes the attributes of elements that were read, and the elements inside, if nobody read these; and texts.
    pub fn note_unread(&self, ignored: Ignored, notes: &mut Notes) {
        for _ in 0..self.texts {
            note_unread(ignored, "text between elements", notes);
        }
        let mut next = vec![self.root()];
        while let Some(element) = next.pop() {
            let tag = element.tag();
            let name = element.name();
            for (place, attribute) in tag.content.attributes().with_checks(false).enumerate() {
                if tag.read_attributes.get() & bit(place) == 0 {
                    let attribute = attribute.map_or("", |attribute| attribute.key.0);
                    note_unread(ignored, &format!("{name}@{attribute}"), notes);
                }
            }
            for child in element.children() {
                if child.tag().is_read.get() {
                    next.push(child);
                } else {
                    note_unread(ignored, &format!("{name}/{}", child.name()), notes);
                }
            }
        }
    }
}

/// The bit of an attribute; none after the first 64.
fn bit(place: usize) -> u64 {
    1u64.checked_shl(place as u32).unwrap_or(0)
}

impl<'a> Element<'a> {
    fn tag(self) -> &'a Tag<'a> {
        &self.xml.tags[self.index]
    }

    fn name(self) -> &'a str {
        self.tag().content.name().0
    }

    /// The elements directly inside.
    fn children(self) -> impl Iterator<Item = Self> {
        let end = self.tag().end;
        let mut index = self.index + 1;
        std::iter::from_fn(move || {
            let child = Self { index, ..self };
            if index == end {
                return None;
            }
            index = child.tag().end;
            Some(child)
        })
    }

    /// The elements directly inside which have this name.
    pub fn all(self, name: &'static str) -> impl Iterator<Item = Self> {
        let named = self.children().filter(move |child| child.name() == name);
        named.inspect(|child| child.tag().is_read.set(true))
    }

    /// The first of them.
    pub fn first(self, name: &'static str) -> Option<Self> {
        self.all(name).next()
    }

    /// The elements of one name inside those of another name.
    pub fn items(self, list: &'static str, item: &'static str) -> impl Iterator<Item = Self> {
        self.all(list).flat_map(move |list| list.all(item))
    }

    /// An attribute's text.
    pub fn text(self, name: &str) -> Result<Option<Cow<'a, str>>> {
        let tag = self.tag();
        for (place, attribute) in tag.content.attributes().with_checks(false).enumerate() {
            if let Ok(attribute) = attribute
                && attribute.key.0 == name
            {
                let read = &tag.read_attributes;
                read.set(read.get() | bit(place));
                return match attribute.normalized_value(XmlVersion::Explicit1_0) {
                    Ok(text) => Ok(Some(text)),
                    Err(error) => bail!(tag.at, "attribute {name}: {error}"),
                };
            }
        }
        Ok(None)
    }

    /// The text of a required attribute.
    pub fn required(self, name: &str) -> Result<Cow<'a, str>> {
        match self.text(name)? {
            Some(text) => Ok(text),
            None => bail!(self.at(), "<{}> without {name}; expected one", self.name()),
        }
    }

    /// A required attribute that is a finite number.
    pub fn number(self, name: &str) -> Result<f32> {
        let text = self.required(name)?;
        match text.trim().parse::<f32>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => bail!(self.at(), "{name}={text:?}; expected a finite number"),
        }
    }

    /// A required attribute that is a finite number of at least this.
    pub fn number_from(self, least: f32, name: &str) -> Result<f32> {
        let value = self.number(name)?;
        ensure!(
            value >= least,
            self.at(),
            "{name}={value}; expected {least} or more"
        );
        Ok(value)
    }

    /// The required attributes x, y and z, finite numbers.
    pub fn vector(self) -> Result<[f32; 3]> {
        Ok([self.number("x")?, self.number("y")?, self.number("z")?])
    }

    /// A required attribute that is a whole number of 0 or more.
    pub fn integer(self, name: &str) -> Result<u32> {
        let text = self.required(name)?;
        match text.trim().parse() {
            Ok(value) => Ok(value),
            Err(_) => bail!(self.at(), "{name}={text:?}; expected a whole number"),
        }
    }

    /// A required attribute that is the index of one of `count` vertices.
    pub fn vertex(self, name: &str, count: usize) -> Result<u32> {
        let vertex = self.integer(name)?;
        ensure!(
            (vertex as usize) < count,
            self.at(),
            "vertex {vertex} is out of range; there are {count}"
        );
        Ok(vertex)
    }

    /// The place of its start tag.
    pub fn at(self) -> Place {
        self.tag().at
    }
}
