//! The reader of accessors: any component type, stride and sparse substitution. Every offset and count is checked
//! before anything is allocated. Bytes are read one by one, so no alignment is required.

use super::document::{Document, SparsePart};
use crate::budget::Budget;
use crate::fault::{Fault, ensure, item};
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
                let known = "5120 (i8), 5121 (u8), 5122 (i16), 5123 (u16), 5125 (u32) or 5126 (f32)";
                return Err(Fault::new(place(), format!("{code}; expected {known}")));
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
        let (mut values, largest): (Vec<[f32; N]>, f32) = match component {
            Component::F32 => return self.decode(f32::from_le_bytes).collect(),
            Component::I8 => (self.decode(|b| i8::from_le_bytes(b).into()).collect(), 127.0),
            Component::U8 => (self.decode(|b| u8::from_le_bytes(b).into()).collect(), 255.0),
            Component::I16 => (self.decode(|b| i16::from_le_bytes(b).into()).collect(), 32_767.0),
            Component::U16 => (self.decode(|b| u16::from_le_bytes(b).into()).collect(), 65_535.0),
            Component::U32 => (self.decode(|b| u32::from_le_bytes(b) as f32).collect(), u32::MAX as f32),
        };
        if normalized {
            values.as_flattened_mut().iter_mut().for_each(|v| *v = (*v / largest).max(-1.0));
        }
        values
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
        ensure(layout.count == count, || {
            Fault::new(user, format!("{} elements; expected {count}, as POSITION has", layout.count))
        })?;
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
        if let Some((at, v)) = values.as_flattened().iter().enumerate().find(|(_, v)| !v.is_finite()) {
            let problem = format!("element {} holds {v}; expected finite numbers for {user}", at / N);
            return Err(Fault::new(format!("accessors[{index}]"), problem));
        }
        Ok(values)
    }

    /// Reads unsigned integers.
    pub(super) fn integers<const N: usize>(&self, index: u32, user: &str) -> Result<Vec<[u32; N]>, Fault> {
        let layout = self.layout::<N>(index, user, false)?;
        layout.read(|e| e.integers(layout.component)).ok_or_else(|| {
            let problem = format!("{:?}; expected U8, U16 or U32 for {user}", layout.component);
            Fault::new(format!("accessors[{index}].componentType"), problem)
        })
    }

    /// The bytes of a buffer view.
    pub(super) fn bytes(&self, view: u32, user: &str) -> Result<&'a [u8], Fault> {
        let length = self.document.buffer_views.get(view as usize).map_or(0, |view| view.byte_length);
        Ok(self.elements(view, 0, length.max(1), 1, false, || user.into())?.bytes)
    }

    /// Checks an accessor and charges its elements to the budget: all of them, or those that differ from zero if
    /// `sparse`.
    fn layout<const N: usize>(&self, index: u32, user: &str, sparse: bool) -> Result<CheckedAccessor<'a>, Fault> {
        let accessor = item(&self.document.accessors, index, "accessor", || user.into())?;
        let place = |field: &str| format!("accessors[{index}]{field}");
        let shape = shape_of(N);
        ensure(accessor.shape == shape, || {
            Fault::new(place(".type"), format!("{:?}; expected {shape:?} for {user}", accessor.shape))
        })?;
        let component = Component::new(accessor.component_type, || place(".componentType"))?;
        ensure(accessor.count > 0, || Fault::new(place(".count"), format!("0; expected at least 1 for {user}")))?;
        let size = component.size() * N;
        let elements = |view| self.elements(view, accessor.byte_offset, accessor.count, size, true, || place(""));
        let base = accessor.buffer_view.map(elements).transpose()?;
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
        ensure((1..=accessor.count).contains(&sparse.count), || {
            let problem = format!("{}; expected 1 to the accessor's count, which is {count}", sparse.count);
            Fault::new(place(".sparse.count"), problem)
        })?;
        let place = |field: &str| format!("accessors[{index}].sparse{field}");
        let SparsePart { buffer_view, byte_offset, .. } = sparse.values;
        let values = self.elements(buffer_view, byte_offset, sparse.count, size, false, || place(".values"))?;
        let place = |field: &str| place(&format!(".indices{field}"));
        let SparsePart { buffer_view, byte_offset, component_type } = sparse.indices;
        let component = Component::new(component_type, || place(".componentType"))?;
        let size = component.size();
        let indices = self.elements(buffer_view, byte_offset, sparse.count, size, false, || place(""))?;
        let indices: Vec<[u32; 1]> = indices
            .integers(component)
            .ok_or_else(|| Fault::new(place(".componentType"), format!("{component:?}; expected U8, U16 or U32")))?;
        if let Some(at) = indices.iter().position(|&[i]| i as usize >= count) {
            let problem =
                format!("index {} at {at} is out of range; the accessor has {count} elements", indices[at][0]);
            return Err(Fault::new(place(""), problem));
        }
        if let Some(at) = indices.array_windows().position(|[a, b]| b <= a) {
            let [[before], [index]] = [indices[at], indices[at + 1]];
            return Err(Fault::new(place(""), format!("index {index} after {before}; expected strictly rising ones")));
        }
        layout.sparse = Some((indices, values));
        Ok(layout)
    }

    /// `count` elements of `size` bytes from `offset` in a buffer view; `place` refers to it.
    fn elements(
        &self,
        view: u32,
        offset: u64,
        count: u64,
        size: usize,
        strided: bool,
        place: impl Fn() -> String,
    ) -> Result<Elements<'a>, Fault> {
        let v = item(&self.document.buffer_views, view, "buffer view", &place)?;
        let in_view = |field: &str| format!("bufferViews[{view}]{field}");
        let buffer = item(self.buffers, v.buffer, "buffer", || in_view(".buffer"))?;
        let bytes = slice(buffer, v.byte_offset, v.byte_length).ok_or_else(|| {
            let expected = format!("expected them inside the buffer's {}", buffer.len());
            Fault::new(in_view(""), format!("{} bytes from {}; {expected}", v.byte_length, v.byte_offset))
        })?;
        let stride = match v.byte_stride {
            // Some exporters write 0 for tightly packed data.
            Some(stride) if strided && stride != 0 => usize::try_from(stride).unwrap_or(usize::MAX),
            _ => size,
        };
        ensure(stride >= size, || {
            Fault::new(in_view(".byteStride"), format!("{stride}; expected at least the element's {size} bytes"))
        })?;
        let needed =
            (count - 1).checked_mul(stride as u64).and_then(|n| n.checked_add(size as u64)).unwrap_or(u64::MAX);
        let Some(bytes) = slice(bytes, offset, needed) else {
            let expected = format!("expected them inside the {} bytes of bufferViews[{view}]", v.byte_length);
            let problem = format!("{count} elements of {size} bytes every {stride} from {offset}; {expected}");
            return Err(Fault::new(place(), problem));
        };
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        Ok(Elements { bytes, stride, count })
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
