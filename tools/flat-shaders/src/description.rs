//! Descriptions of kernels as JSON. What a binding, a field or an override means is its comment in WGSL.

use crate::Result;
use crate::kernels::{DispatchRule, FlatKernel};
use naga::proc::Layouter;
use naga::{
    AddressSpace, Handle, Module, Scalar, ScalarKind, StorageAccess, StructMember, Type, TypeInner,
    VectorSize,
};
use serde::Serialize;
use serde_json::to_string;

/// A kernel's description.
pub struct Description<'a> {
    kernel: &'a FlatKernel,
    entry_points: Vec<EntryPoint>,
    overrides: Vec<Override>,
    /// In the order of groups and numbers.
    pub bindings: Vec<Binding>,
    structs: Vec<StructLayout>,
}

#[derive(Serialize)]
struct EntryPoint {
    name: String,
    stage: String,
    workgroup_size: [u32; 3],
}

#[derive(Serialize)]
struct Override {
    name: String,
    /// Value in the flat files; a pipeline of WGSL may have another.
    value: String,
    meaning: String,
}

/// A buffer that a kernel binds.
#[derive(Serialize)]
pub struct Binding {
    group: u32,
    binding: u32,
    /// Name of its variable.
    pub name: String,
    /// `uniform`, `read` or `read_write`.
    access: &'static str,
    #[serde(rename = "type")]
    ty: String,
    /// Bytes of a uniform, or from one element of an array to the next.
    stride: u32,
    /// Bytes that its elements are aligned to. A device may ask for more of the buffer's offset.
    alignment: u32,
    /// Its comment; lengths are in brackets.
    pub meaning: String,
}

#[derive(Serialize)]
struct StructLayout {
    name: String,
    bytes: u32,
    alignment: u32,
    fields: Vec<Field>,
}

#[derive(Serialize)]
struct Field {
    offset: u32,
    name: String,
    #[serde(rename = "type")]
    ty: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    meaning: String,
}

#[derive(Serialize)]
struct Head<'a> {
    kernel: &'a str,
    does: &'a str,
}

impl<'a> Description<'a> {
    /// Describes a kernel that was parsed.
    ///
    /// # Panics
    /// A type is none that the kernels bind.
    pub fn new(kernel: &'a FlatKernel, module: &Module) -> Self {
        let text = Text(kernel.wgsl.lines().collect());
        let mut layouter = Layouter::default();
        layouter.update(module.to_ctx()).expect("sized types");
        let mut description = Self {
            kernel,
            entry_points: Vec::new(),
            overrides: Vec::new(),
            bindings: Vec::new(),
            structs: Vec::new(),
        };
        for entry in &module.entry_points {
            description.entry_points.push(EntryPoint {
                name: entry.name.clone(),
                stage: format!("{:?}", entry.stage).to_lowercase(),
                workgroup_size: entry.workgroup_size,
            });
        }
        for (_, known) in module.overrides.iter() {
            let name = known.name.clone().unwrap_or_default();
            let line = text.line(&format!("override {name}"));
            let value = text.0[line].split_once('=').map_or("", |(_, value)| value);
            description.overrides.push(Override {
                value: value.trim().trim_end_matches(';').to_owned(),
                meaning: text.above(line),
                name,
            });
        }
        for (_, variable) in module.global_variables.iter() {
            let Some(place) = variable.binding else {
                continue;
            };
            let access = match variable.space {
                AddressSpace::Storage { access } if access.contains(StorageAccess::STORE) => {
                    "read_write"
                }
                AddressSpace::Storage { .. } => "read",
                _ => "uniform",
            };
            let name = variable.name.clone().unwrap_or_default();
            let line = text.line(&format!(
                "@group({}) @binding({}) ",
                place.group, place.binding
            ));
            let element = match module.types[variable.ty].inner {
                TypeInner::Array { base, .. } => base,
                _ => variable.ty,
            };
            description.bindings.push(Binding {
                group: place.group,
                binding: place.binding,
                name,
                access,
                ty: type_name(module, variable.ty),
                stride: layouter[element].to_stride(),
                alignment: layouter[element].alignment.round_up(1),
                meaning: text.above(line),
            });
            description.add_structs(module, &layouter, &text, element);
        }
        let place = |binding: &Binding| (binding.group, binding.binding);
        description.bindings.sort_by_key(place);
        description.structs.sort_by(|a, b| a.name.cmp(&b.name));
        description
    }

    /// Adds a struct and those that it holds, unless they are there.
    fn add_structs(&mut self, module: &Module, layouter: &Layouter, text: &Text, ty: Handle<Type>) {
        let Type { name, inner } = &module.types[ty];
        let TypeInner::Struct { members, span } = inner else {
            return;
        };
        let name = name.clone().unwrap_or_default();
        if self.structs.iter().any(|known| known.name == name) {
            return;
        }
        let first = text.line(&format!("struct {name} "));
        let field = |member: &StructMember| {
            let field = member.name.clone().unwrap_or_default();
            Field {
                offset: member.offset,
                ty: type_name(module, member.ty),
                meaning: text.behind(first, &format!("{field}: ")),
                name: field,
            }
        };
        self.structs.push(StructLayout {
            name,
            bytes: *span,
            alignment: layouter[ty].alignment.round_up(1),
            fields: members.iter().map(field).collect(),
        });
        for member in members {
            self.add_structs(module, layouter, text, member.ty);
        }
    }

    /// The text of its file: a line for each item.
    ///
    /// # Errors
    /// None: numbers and strings have a form in JSON.
    pub fn json(&self) -> Result<String> {
        let head = to_string(&Head {
            kernel: self.kernel.name,
            does: self.kernel.does,
        })?;
        let mut json = head
            .trim_end_matches('}')
            .replace(",\"does\"", ",\n\"does\"");
        json += &list("entry_points", &self.entry_points)?;
        if let Some(DispatchRule { .. }) = &self.kernel.dispatch {
            json += &format!(",\n\"dispatch\":{}", to_string(&self.kernel.dispatch)?);
        }
        json += &list("overrides", &self.overrides)?;
        json += &list("bindings", &self.bindings)?;
        json += &list("structs", &self.structs)?;
        Ok(json + "}\n")
    }
}

/// A member of JSON, each of whose items is a line.
fn list(name: &str, items: &[impl Serialize]) -> Result<String> {
    let mut lines = Vec::with_capacity(items.len());
    for item in items {
        lines.push(format!("\n  {}", to_string(item)?));
    }
    Ok(format!(",\n\"{name}\":[{}]", lines.join(",")))
}

/// The lines of a complete shader.
struct Text<'a>(Vec<&'a str>);

impl Text<'_> {
    /// Index of the line that begins with these words.
    fn line(&self, words: &str) -> usize {
        let found = self.0.iter().position(|line| line.starts_with(words));
        found.unwrap_or_else(|| panic!("no line begins with {words:?}"))
    }

    /// The comment on the lines above a line.
    fn above(&self, line: usize) -> String {
        let before = self.0[..line].iter().rev();
        let comment = before.map_while(|line| line.strip_prefix("// "));
        let mut lines: Vec<&str> = comment.collect();
        lines.reverse();
        lines.join(" ")
    }

    /// The comment at the end of the first line, from a line on, that declares a field.
    fn behind(&self, first: usize, field: &str) -> String {
        let mut lines = self.0[first..].iter().map(|line| line.trim_start());
        let line = lines.find(|line| line.starts_with(field));
        let comment = line.and_then(|line| line.split_once(" // "));
        comment.map_or(String::new(), |(_, comment)| comment.to_owned())
    }
}

/// A type as WGSL writes it.
fn type_name(module: &Module, ty: Handle<Type>) -> String {
    let Type { name, inner } = &module.types[ty];
    match inner {
        TypeInner::Scalar(scalar) => scalar_name(*scalar).into(),
        TypeInner::Vector { size, scalar } => {
            format!("vec{}<{}>", *size as u8, scalar_name(*scalar))
        }
        TypeInner::Matrix { columns, rows, .. } => {
            let count = |size: VectorSize| size as u8;
            format!("mat{}x{}<f32>", count(*columns), count(*rows))
        }
        TypeInner::Array { base, size, .. } => match size {
            naga::ArraySize::Constant(count) => {
                format!("array<{}, {count}>", type_name(module, *base))
            }
            _ => format!("array<{}>", type_name(module, *base)),
        },
        _ => name.clone().unwrap_or_default(),
    }
}

fn scalar_name(scalar: Scalar) -> &'static str {
    match scalar.kind {
        ScalarKind::Uint => "u32",
        ScalarKind::Sint => "i32",
        _ => "f32",
    }
}
