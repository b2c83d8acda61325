//! Elements of an XML document, their attributes, and their places in the text.

use crate::budget::Budget;
use crate::fault::Fault;
use crate::place::Place;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use std::borrow::Cow;

/// A document: its elements in the order of their start tags.
pub struct Xml<'a> {
    text: &'a str,
    tags: Vec<Tag<'a>>,
    /// Texts between tags.
    texts: u32,
}

/// A start tag.
struct Tag<'a> {
    content: BytesStart<'a>,
    /// Byte offset in the text.
    at: u64,
    /// Index after that of the last element inside.
    end: usize,
}

/// An element of a document.
#[derive(Clone, Copy)]
pub struct Element<'a> {
    xml: &'a Xml<'a>,
    index: usize,
}

impl<'a> Xml<'a> {
    /// Reads a document whose root element has this name.
    pub fn parse(text: &'a str, root: &str, budget: &Budget) -> Result<Self, Fault> {
        let most = text.matches('<').count();
        let bytes = (most * size_of::<Tag>()) as u64;
        budget.charge(bytes, || format!("XML of {most} tags"))?;
        let mut xml = Self {
            text,
            tags: Vec::with_capacity(most),
            texts: 0,
        };
        let mut open: Vec<usize> = Vec::new();
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        loop {
            let at = reader.buffer_position();
            let is_outside = open.is_empty();
            let is_first = xml.tags.is_empty();
            let problem = match reader.read_event() {
                Ok(Event::Start(_) | Event::DocType(_)) if is_outside && !is_first => {
                    "content after the root element; expected the end of the file".into()
                }
                Ok(Event::Start(tag)) if is_first && tag.name().0 != root => {
                    format!("<{}>; expected <{root}>", tag.name().0)
                }
                // Entities could grow without bound, and no exporter declares any.
                Ok(Event::DocType(_)) => "a document type declaration; expected none".into(),
                Ok(Event::Eof) if !is_outside || is_first => {
                    "the file ends inside an element; expected its end".into()
                }
                Err(error) => bail!(xml.place(reader.error_position()), "{error}"),
                Ok(Event::Eof) => return Ok(xml),
                Ok(Event::Start(content)) => {
                    open.push(xml.tags.len());
                    xml.tags.push(Tag {
                        content,
                        at,
                        end: 0,
                    });
                    continue;
                }
                Ok(Event::End(_)) => {
                    if let Some(index) = open.pop() {
                        xml.tags[index].end = xml.tags.len();
                    }
                    continue;
                }
                Ok(Event::Text(text)) => {
                    xml.texts += u32::from(!text.trim().is_empty());
                    continue;
                }
                Ok(Event::CData(_) | Event::GeneralRef(_)) => {
                    xml.texts += 1;
                    continue;
                }
                Ok(_) => continue,
            };
            return Err(Fault::new(xml.place(at), problem));
        }
    }

    pub fn root(&self) -> Element<'_> {
        Element {
            xml: self,
            index: 0,
        }
    }

    /// The line and column of a byte.
    fn place(&self, at: u64) -> String {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        Place::of(self.text.as_bytes(), at).to_string()
    }
}

impl<'a> Element<'a> {
    /// Number of texts between the tags of the document, which has none by its format.
    pub fn texts(self) -> u32 {
        self.xml.texts
    }

    fn tag(self) -> &'a Tag<'a> {
        &self.xml.tags[self.index]
    }

    pub fn name(self) -> &'a str {
        self.tag().content.name().0
    }

    /// The elements directly inside.
    pub fn children(self) -> impl Iterator<Item = Self> {
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
    pub fn named(self, name: &'static str) -> impl Iterator<Item = Self> {
        self.children().filter(move |child| child.name() == name)
    }

    /// The elements inside those which have this name.
    pub fn inside(self, name: &'static str) -> impl Iterator<Item = Self> {
        self.named(name).flat_map(Self::children)
    }

    /// The names of all attributes.
    pub fn attributes(self) -> impl Iterator<Item = &'a str> {
        let mut attributes = self.tag().content.attributes();
        // Of two with one name, whoever reads it finds out.
        attributes.with_checks(false);
        attributes.flatten().map(|attribute| attribute.key.0)
    }

    /// An attribute's text.
    pub fn text(self, name: &str) -> Result<Option<Cow<'a, str>>, Fault> {
        match self.attribute(name) {
            Ok(text) => Ok(text),
            Err(error) => bail!(self.place(), "attribute {name}: {error}"),
        }
    }

    fn attribute(self, name: &str) -> Result<Option<Cow<'a, str>>, quick_xml::Error> {
        match self.tag().content.try_get_attribute(name)? {
            Some(attribute) => Ok(Some(attribute.normalized_value(XmlVersion::Explicit1_0)?)),
            None => Ok(None),
        }
    }

    /// The text of a required attribute.
    pub fn required(self, name: &str) -> Result<Cow<'a, str>, Fault> {
        let Some(text) = self.text(name)? else {
            bail!(
                self.place(),
                "<{}> without {name}; expected one",
                self.name()
            );
        };
        Ok(text)
    }

    /// A required attribute that is a finite number.
    pub fn number(self, name: &str) -> Result<f32, Fault> {
        let text = self.required(name)?;
        match text.trim().parse::<f32>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => bail!(self.place(), "{name}={text:?}; expected a finite number"),
        }
    }

    /// The required attributes x, y and z, finite numbers.
    pub fn vector(self) -> Result<[f32; 3], Fault> {
        Ok([self.number("x")?, self.number("y")?, self.number("z")?])
    }

    /// A required attribute that is a whole number of 0 or more.
    pub fn integer(self, name: &str) -> Result<u32, Fault> {
        let text = self.required(name)?;
        match text.trim().parse() {
            Ok(value) => Ok(value),
            Err(_) => bail!(self.place(), "{name}={text:?}; expected a whole number"),
        }
    }

    /// The line and column of its start tag.
    pub fn place(self) -> String {
        self.xml.place(self.tag().at)
    }
}
