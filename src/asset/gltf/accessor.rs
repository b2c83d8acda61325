//! The reader of accessors: any component type, stride and sparse substitution. Every offset and count is checked
//! before anything is allocated. Bytes are read one by one, so no alignment is required.

use super::document::Document;
use crate::asset::budget::Budget;
use crate::asset::fault::Fault;
use std::borrow::Cow;

/// Copies of decoded values that exist at once: the importer's, the store's, and the store's while it grows.
const COPIES: u64 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn new(code: u32, place: impl FnOnce() -> String) -> Result<Self, Fault> {
        Ok(match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => {
                return Err(Fault::new(
                    place(),
                    format!("{code}; expected 5120 (i8), 5121 (u8), 5122 (i16), 5123 (u16), 5125 (u32) or 5126 (f32)"),
                ));
            }
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }
}

/// Elements at a stride, checked to be inside their buffer view.
struct Elements<'a> {
    bytes: &'a [u8],
    stride: usize,
    count: usize,
}

impl Elements<'_> {
    fn decode<T: Copy + Default, const B: usize, const N: usize>(
        &self,
        component: fn([u8; B]) -> T,
    ) -> impl Iterator<Item = [T; N]> {
        self.bytes.chunks(self.stride).take(self.count).map(move |element| {
            let mut values = [T::default(); N];
            for (value, bytes) in values.iter_mut().zip(element.as_chunks::<B>().0) {
                *value = component(*bytes);
            }
            values
        })
    }

    fn integers<const N: usize>(&self, component: Component) -> Option<Vec<[u32; N]>> {
        Some(match component {
            Component::U8 => self.decode(|b| u32::from(u8::from_le_bytes(b))).collect(),
            Component::U16 => self.decode(|b| u32::from(u16::from_le_bytes(b))).collect(),
            Component::U32 => self.decode(u32::from_le_bytes).collect(),
            Component::I8 | Component::I16 | Component::F32 => return None,
        })
    }

    fn floats<const N: usize>(&self, component: Component, normalized: bool) -> Vec<[f32; N]> {
        match (component, normalized) {
            (Component::F32, _) => self.decode(f32::from_le_bytes).collect(),
            (Component::I8, false) => self.decode(|b| f32::from(i8::from_le_bytes(b))).collect(),
            (Component::U8, false) => self.decode(|b| f32::from(u8::from_le_bytes(b))).collect(),
            (Component::I16, false) => self.decode(|b| f32::from(i16::from_le_bytes(b))).collect(),
            (Component::U16, false) => self.decode(|b| f32::from(u16::from_le_bytes(b))).collect(),
            (Component::U32, false) => self.decode(|b| u32::from_le_bytes(b) as f32).collect(),
            (Component::I8, true) => self.decode(|b| (f32::from(i8::from_le_bytes(b)) / 127.0).max(-1.0)).collect(),
            (Component::U8, true) => self.decode(|b| f32::from(u8::from_le_bytes(b)) / 255.0).collect(),
            (Component::I16, true) => {
                self.decode(|b| (f32::from(i16::from_le_bytes(b)) / 32_767.0).max(-1.0)).collect()
            }
            (Component::U16, true) => self.decode(|b| f32::from(u16::from_le_bytes(b)) / 65_535.0).collect(),
            (Component::U32, true) => {
                self.decode(|b| (f64::from(u32::from_le_bytes(b)) / f64::from(u32::MAX)) as f32).collect()
            }
        }
    }
}

/// An accessor whose parts have been checked.
struct CheckedAccessor<'a> {
    count: usize,
    component: Component,
    normalized: bool,
    /// The elements; `None` means zeros.
    base: Option<Elements<'a>>,
    sparse: Option<(Vec<[u32; 1]>, Elements<'a>)>,
}

impl CheckedAccessor<'_> {
    fn read<T: Copy + Default, const N: usize>(
        &self,
        decode: impl Fn(&Elements) -> Option<Vec<[T; N]>>,
    ) -> Option<Vec<[T; N]>> {
        let mut values = match &self.base {
            Some(base) => decode(base)?,
            None => vec![[T::default(); N]; self.count],
        };
        if let Some((indices, elements)) = &self.sparse {
            for (&[index], value) in indices.iter().zip(decode(elements)?) {
                if let Some(target) = values.get_mut(index as usize) {
                    *target = value;
                }
            }
        }
        Some(values)
    }
}

/// Decodes accessors of a document.
pub(super) struct Reader<'a> {
    pub(super) document: &'a Document,
    pub(super) buffers: &'a [Cow<'a, [u8]>],
    pub(super) budget: &'a Budget,
}

impl<'a> Reader<'a> {
    /// Reads finite numbers of any component type, normalised if the accessor says so; `user` is the JSON path that
    /// refers to the accessor.
    pub(super) fn floats<const N: usize>(&self, index: u32, user: &str) -> Result<Vec<[f32; N]>, Fault> {
        let layout = self.layout::<N>(index, user, false)?;
        let values = layout.read(|e| Some(e.floats(layout.component, layout.normalized))).unwrap_or_default();
        self.finite(index, user, values)
    }

    /// Reads the elements of `count` that are not zero, with their indices: of an accessor without a buffer view only
    /// those that it lists.
    pub(super) fn deltas(&self, index: u32, user: &str, count: usize) -> Result<Vec<(u32, [f32; 3])>, Fault> {
        let layout = self.layout::<3>(index, user, true)?;
        if layout.count != count {
            return Err(Fault::new(user, format!("{} elements; expected {count}, as POSITION has", layout.count)));
        }
        let decode = |e: &Elements| e.floats(layout.component, layout.normalized);
        let (indices, values): (Vec<u32>, Vec<[f32; 3]>) = match (&layout.base, &layout.sparse) {
            (None, None) => (Vec::new(), Vec::new()),
            (None, Some((indices, elements))) => (indices.as_flattened().to_vec(), decode(elements)),
            (Some(_), _) => {
                let all = layout.read(|e| Some(decode(e))).unwrap_or_default();
                ((0..all.len() as u32).collect(), all)
            }
        };
        let values = self.finite(index, user, values)?;
        Ok(indices.into_iter().zip(values).filter(|(_, value)| *value != [0.0; 3]).collect())
    }

    fn finite<const N: usize>(&self, index: u32, user: &str, values: Vec<[f32; N]>) -> Result<Vec<[f32; N]>, Fault> {
        match values.as_flattened().iter().position(|v| !v.is_finite()) {
            Some(at) => Err(Fault::new(
                format!("accessors[{index}]"),
                format!("element {} holds {}; expected finite numbers for {user}", at / N, values.as_flattened()[at]),
            )),
            None => Ok(values),
        }
    }

    /// Reads unsigned integers.
    pub(super) fn integers<const N: usize>(&self, index: u32, user: &str) -> Result<Vec<[u32; N]>, Fault> {
        let layout = self.layout::<N>(index, user, false)?;
        layout.read(|e| e.integers(layout.component)).ok_or_else(|| {
            Fault::new(
                format!("accessors[{index}].componentType"),
                format!("{:?}; expected U8, U16 or U32 for {user}", layout.component),
            )
        })
    }

    /// The bytes of a buffer view.
    pub(super) fn bytes(&self, view: u32, user: &str) -> Result<&'a [u8], Fault> {
        let length = self.document.buffer_views.get(view as usize).map_or(0, |view| view.byte_length);
        let elements = self.elements(view, 0, length.max(1), 1, false);
        elements.map(|elements| elements.bytes).map_err(|fault| fault.at(|field| format!("{user}{field}")))
    }

    /// Checks an accessor and charges its elements to the budget: all of them, or those that differ from zero if
    /// `sparse`.
    fn layout<const N: usize>(&self, index: u32, user: &str, sparse: bool) -> Result<CheckedAccessor<'a>, Fault> {
        let Some(accessor) = self.document.accessors.get(index as usize) else {
            let count = self.document.accessors.len();
            return Err(Fault::new(user, format!("accessor {index} is out of range; there are {count}")));
        };
        let place = |field: &str| format!("accessors[{index}]{field}");
        let shape = shape_of(N);
        if accessor.shape != shape {
            return Err(Fault::new(place(".type"), format!("{:?}; expected {shape:?} for {user}", accessor.shape)));
        }
        let component = Component::new(accessor.component_type, || place(".componentType"))?;
        if accessor.count == 0 {
            return Err(Fault::new(place(".count"), format!("0; expected at least 1 for {user}")));
        }
        let size = component.size() * N;
        let base = match accessor.buffer_view {
            Some(view) => {
                Some(self.elements(view, accessor.byte_offset, accessor.count, size, true).map_err(|e| e.at(place))?)
            }
            None => None,
        };
        // With a buffer view the size is known to fit, so this saturates only for accessors without data.
        let elements = match &accessor.sparse {
            listed if sparse && base.is_none() => listed.as_ref().map_or(0, |listed| listed.count),
            _ => accessor.count,
        };
        self.budget.charge(elements.saturating_mul(N as u64 * 4 * COPIES), || place(".count"))?;
        let count = usize::try_from(accessor.count)
            .map_err(|_| Fault::new(place(".count"), format!("{}; too many for this machine", accessor.count)))?;
        let mut layout = CheckedAccessor { count, component, normalized: accessor.normalized, base, sparse: None };
        let Some(sparse) = &accessor.sparse else { return Ok(layout) };
        if sparse.count == 0 || sparse.count > accessor.count {
            return Err(Fault::new(
                place(".sparse.count"),
                format!("{}; expected 1 to the accessor's count, which is {count}", sparse.count),
            ));
        }
        let place = |field: &str| format!("accessors[{index}].sparse{field}");
        let values = self
            .elements(sparse.values.buffer_view, sparse.values.byte_offset, sparse.count, size, false)
            .map_err(|e| e.at(|field| place(&format!(".values{field}"))))?;
        let place = |field: &str| place(&format!(".indices{field}"));
        let component = Component::new(sparse.indices.component_type, || place(".componentType"))?;
        let indices = self
            .elements(sparse.indices.buffer_view, sparse.indices.byte_offset, sparse.count, component.size(), false)
            .map_err(|e| e.at(place))?;
        let indices: Vec<[u32; 1]> = indices
            .integers(component)
            .ok_or_else(|| Fault::new(place(".componentType"), format!("{component:?}; expected U8, U16 or U32")))?;
        if let Some(at) = indices.iter().position(|&[i]| i as usize >= count) {
            return Err(Fault::new(
                place(""),
                format!("index {} at {at} is out of range; the accessor has {count} elements", indices[at][0]),
            ));
        }
        if let Some(at) = indices.array_windows().position(|[a, b]| b <= a) {
            return Err(Fault::new(
                place(""),
                format!("index {} after {}; expected strictly rising ones", indices[at + 1][0], indices[at][0]),
            ));
        }
        layout.sparse = Some((indices, values));
        Ok(layout)
    }

    /// `count` elements of `size` bytes from `offset` in a buffer view.
    fn elements(
        &self,
        view: u32,
        offset: u64,
        count: u64,
        size: usize,
        strided: bool,
    ) -> Result<Elements<'a>, ViewFault> {
        let Some(v) = self.document.buffer_views.get(view as usize) else {
            return Err(ViewFault::Reference(format!(
                "buffer view {view} is out of range; there are {}",
                self.document.buffer_views.len()
            )));
        };
        let fault =
            |field: &str, problem: String| ViewFault::View(Fault::new(format!("bufferViews[{view}]{field}"), problem));
        let Some(buffer) = self.buffers.get(v.buffer as usize) else {
            return Err(fault(
                ".buffer",
                format!("buffer {} is out of range; there are {}", v.buffer, self.buffers.len()),
            ));
        };
        let bytes = slice(buffer, v.byte_offset, v.byte_length).ok_or_else(|| {
            let (offset, length) = (v.byte_offset, v.byte_length);
            fault("", format!("{length} bytes from {offset}; expected them inside the buffer's {}", buffer.len()))
        })?;
        let stride = match v.byte_stride {
            // Some exporters write 0 for tightly packed data.
            Some(stride) if strided && stride != 0 => usize::try_from(stride).unwrap_or(usize::MAX),
            _ => size,
        };
        if stride < size {
            return Err(fault(".byteStride", format!("{stride}; expected at least the element's {size} bytes")));
        }
        let needed =
            (count - 1).checked_mul(stride as u64).and_then(|n| n.checked_add(size as u64)).unwrap_or(u64::MAX);
        let Some(bytes) = slice(bytes, offset, needed) else {
            return Err(ViewFault::Reference(format!(
                "{count} elements of {size} bytes every {stride} from {offset}; \
                 expected them inside the {} bytes of bufferViews[{view}]",
                v.byte_length
            )));
        };
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        Ok(Elements { bytes, stride, count })
    }
}

/// Fault in a use of a buffer view: the reference to it, or the view itself.
enum ViewFault {
    Reference(String),
    View(Fault),
}

impl ViewFault {
    fn at(self, place: impl Fn(&str) -> String) -> Fault {
        match self {
            Self::Reference(problem) => Fault::new(place(""), problem),
            Self::View(fault) => fault,
        }
    }
}

fn slice(bytes: &[u8], offset: u64, length: u64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    bytes.get(start..start.checked_add(usize::try_from(length).ok()?)?)
}

/// The `type` of elements with this many components.
const fn shape_of(components: usize) -> &'static str {
    match components {
        1 => "SCALAR",
        2 => "VEC2",
        3 => "VEC3",
        4 => "VEC4",
        _ => "MAT4",
    }
}
