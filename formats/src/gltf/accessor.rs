//! The reader of accessors: any component type, stride and sparse substitution. Every offset and count is checked
//! before anything is allocated. Bytes are read one by one, so no alignment is required.

use super::document::{Document, SparsePart};
use super::names;
use crate::budget::Budget;
use crate::fault::{Fault, ensure, item};
use std::borrow::Cow;

/// Copies of decoded values that exist at once: the importer's, the store's, and the store's while it grows.
const COPIES: u64 = 3;

/// A type of numbers.
struct Component {
    code: u32,
    name: &'static str,
    /// Bytes of a number.
    size: usize,
    /// The number that stands for 1 if numbers are normalised; floats never are.
    one: Option<f64>,
    /// The first number of some bytes; f64 holds each one exactly.
    read: fn(&[u8]) -> f64,
}

static COMPONENTS: [Component; 6] = [
    Component {
        code: 5120,
        name: "I8",
        size: 1,
        one: Some(127.0),
        read: |b| first(b, i8::from_le_bytes),
    },
    Component {
        code: 5121,
        name: "U8",
        size: 1,
        one: Some(255.0),
        read: |b| first(b, u8::from_le_bytes),
    },
    Component {
        code: 5122,
        name: "I16",
        size: 2,
        one: Some(32_767.0),
        read: |b| first(b, i16::from_le_bytes),
    },
    Component {
        code: 5123,
        name: "U16",
        size: 2,
        one: Some(65_535.0),
        read: |b| first(b, u16::from_le_bytes),
    },
    Component {
        code: 5125,
        name: "U32",
        size: 4,
        one: Some(u32::MAX as f64),
        read: |b| first(b, u32::from_le_bytes),
    },
    Component {
        code: 5126,
        name: "F32",
        size: 4,
        one: None,
        read: |b| first(b, f32::from_le_bytes),
    },
];

fn first<const B: usize, T: Into<f64>>(bytes: &[u8], number: fn([u8; B]) -> T) -> f64 {
    number(bytes.first_chunk().copied().unwrap_or([0; B])).into()
}

impl Component {
    fn new(code: u32, place: impl FnOnce() -> String) -> Result<&'static Self, Fault> {
        COMPONENTS
            .iter()
            .find(|component| component.code == code)
            .ok_or_else(|| {
                let known =
                    "5120 (i8), 5121 (u8), 5122 (i16), 5123 (u16), 5125 (u32) or 5126 (f32)";
                Fault::new(place(), format!("{code}; expected {known}"))
            })
    }

    /// Refuses numbers that may be negative or have fractions.
    fn check_unsigned(&self, place: impl FnOnce() -> String, user: &str) -> Result<(), Fault> {
        let holds = self.name.starts_with('U');
        ensure(holds, || {
            Fault::new(
                place(),
                format!("{}; expected U8, U16 or U32{user}", self.name),
            )
        })
    }
}

/// Elements at a stride, checked to be inside their buffer view: the bytes end with the last one.
struct Elements<'a> {
    bytes: &'a [u8],
    stride: usize,
}

impl Elements<'_> {
    fn decode<T, const N: usize>(
        &self,
        component: &Component,
        convert: impl Fn(f64) -> T,
    ) -> Vec<[T; N]> {
        let number = |bytes: &[u8], c: usize| (component.read)(&bytes[c * component.size..]);
        let element = |bytes: &[u8]| std::array::from_fn(|c| convert(number(bytes, c)));
        self.bytes.chunks(self.stride).map(element).collect()
    }
}

/// An accessor whose parts have been checked.
struct CheckedAccessor<'a> {
    count: u64,
    component: &'static Component,
    /// The number that stands for 1, if not 1 itself.
    one: Option<f64>,
    /// The elements; `None` means zeros.
    base: Option<Elements<'a>>,
    sparse: Option<(Vec<u32>, Elements<'a>)>,
}

impl CheckedAccessor<'_> {
    fn read<T: Copy + Default, const N: usize>(&self, convert: impl Fn(f64) -> T) -> Vec<[T; N]> {
        let mut values = match &self.base {
            Some(base) => base.decode(self.component, &convert),
            None => vec![[T::default(); N]; self.count as usize],
        };
        if let Some((indices, elements)) = &self.sparse {
            for (&index, value) in indices.iter().zip(elements.decode(self.component, convert)) {
                values[index as usize] = value;
            }
        }
        values
    }

    fn float(&self, number: f64) -> f32 {
        self.one.map_or(number, |one| (number / one).max(-1.0)) as f32
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
    pub(super) fn floats<const N: usize>(
        &self,
        index: u32,
        user: &str,
    ) -> Result<Vec<[f32; N]>, Fault> {
        let layout = self.layout::<N>(index, user, false)?;
        self.finite(index, user, layout.read(|number| layout.float(number)))
    }

    /// Reads the elements of `count` that are not zero, with their indices: of an accessor without a buffer view only
    /// those that it lists.
    pub(super) fn deltas(
        &self,
        index: u32,
        user: &str,
        count: usize,
    ) -> Result<Vec<(u32, [f32; 3])>, Fault> {
        let layout = self.layout::<3>(index, user, true)?;
        check_count(user, layout.count as usize, count)?;
        let to_float = |number| layout.float(number);
        let (indices, values): (Vec<u32>, Vec<[f32; 3]>) = match (&layout.base, &layout.sparse) {
            (None, None) => (Vec::new(), Vec::new()),
            (None, Some((indices, elements))) => {
                (indices.clone(), elements.decode(layout.component, to_float))
            }
            (Some(_), _) => ((0..count as u32).collect(), layout.read(to_float)),
        };
        let values = self.finite(index, user, values)?;
        Ok(indices
            .into_iter()
            .zip(values)
            .filter(|(_, value)| *value != [0.0; 3])
            .collect())
    }

    fn finite<const N: usize>(
        &self,
        index: u32,
        user: &str,
        values: Vec<[f32; N]>,
    ) -> Result<Vec<[f32; N]>, Fault> {
        if let Some((at, v)) = values
            .as_flattened()
            .iter()
            .enumerate()
            .find(|(_, v)| !v.is_finite())
        {
            let problem = format!(
                "element {} holds {v}; expected finite numbers for {user}",
                at / N
            );
            return Err(Fault::new(format!("accessors[{index}]"), problem));
        }
        Ok(values)
    }

    /// Reads unsigned integers.
    pub(super) fn integers<const N: usize>(
        &self,
        index: u32,
        user: &str,
    ) -> Result<Vec<[u32; N]>, Fault> {
        let layout = self.layout::<N>(index, user, false)?;
        let place = || format!("accessors[{index}].componentType");
        layout
            .component
            .check_unsigned(place, &format!(" for {user}"))?;
        Ok(layout.read(|number| number as u32))
    }

    /// The bytes of a buffer view.
    pub(super) fn bytes(&self, view: u32, user: &str) -> Result<&'a [u8], Fault> {
        let length = self
            .document
            .buffer_views
            .get(view as usize)
            .map_or(0, |view| view.byte_length);
        Ok(self
            .elements(view, 0, length.max(1), 1, false, || user.into())?
            .bytes)
    }

    /// Checks an accessor and charges its elements to the budget: all of them, or those that differ from zero if
    /// `sparse`.
    fn layout<const N: usize>(
        &self,
        index: u32,
        user: &str,
        sparse: bool,
    ) -> Result<CheckedAccessor<'a>, Fault> {
        let accessor = item(&self.document.accessors, index, "accessor", || user.into())?;
        let place = |field: &str| format!("accessors[{index}]{field}");
        let shape = names::shape(N);
        ensure(accessor.shape == shape, || {
            Fault::new(
                place(".type"),
                format!("{:?}; expected {shape:?} for {user}", accessor.shape),
            )
        })?;
        let component = Component::new(accessor.component_type, || place(".componentType"))?;
        ensure(accessor.count > 0, || {
            Fault::new(
                place(".count"),
                format!("0; expected at least 1 for {user}"),
            )
        })?;
        let size = component.size * N;
        let elements = |view| {
            self.elements(
                view,
                accessor.byte_offset,
                accessor.count,
                size,
                true,
                || place(""),
            )
        };
        let base = accessor.buffer_view.map(elements).transpose()?;
        // With a buffer view the size is known to fit, so this saturates only for accessors without data.
        let elements = match &accessor.sparse {
            listed if sparse && base.is_none() => listed.as_ref().map_or(0, |listed| listed.count),
            _ => accessor.count,
        };
        self.budget
            .charge(elements.saturating_mul(N as u64 * 4 * COPIES), || {
                place(".count")
            })?;
        let count = accessor.count;
        let one = component.one.filter(|_| accessor.normalized);
        let mut layout = CheckedAccessor {
            count,
            component,
            one,
            base,
            sparse: None,
        };
        let Some(sparse) = &accessor.sparse else {
            return Ok(layout);
        };
        ensure((1..=count).contains(&sparse.count), || {
            let problem = format!(
                "{}; expected 1 to the accessor's count, which is {count}",
                sparse.count
            );
            Fault::new(place(".sparse.count"), problem)
        })?;
        let place = |field: &str| format!("accessors[{index}].sparse{field}");
        let SparsePart {
            buffer_view,
            byte_offset,
            ..
        } = sparse.values;
        let values = self.elements(buffer_view, byte_offset, sparse.count, size, false, || {
            place(".values")
        })?;
        let place = |field: &str| place(&format!(".indices{field}"));
        let SparsePart {
            buffer_view,
            byte_offset,
            component_type,
            ..
        } = sparse.indices;
        let component = Component::new(component_type, || place(".componentType"))?;
        let size = component.size;
        let indices = self.elements(buffer_view, byte_offset, sparse.count, size, false, || {
            place("")
        })?;
        component.check_unsigned(|| place(".componentType"), "")?;
        let indices = indices
            .decode::<_, 1>(component, |number| number as u32)
            .into_flattened();
        if let Some(at) = indices.iter().position(|&i| u64::from(i) >= count) {
            let problem = format!(
                "index {} at {at} is out of range; the accessor has {count} elements",
                indices[at]
            );
            return Err(Fault::new(place(""), problem));
        }
        if let Some([before, index]) = indices.array_windows().find(|[a, b]| b <= a) {
            return Err(Fault::new(
                place(""),
                format!("index {index} after {before}; expected strictly rising ones"),
            ));
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
        // A BIN chunk is padded: the bytes after byteLength are not part of the buffer.
        let buffer = &buffer[..self.document.buffers[v.buffer as usize].byte_length as usize];
        let bytes = slice(buffer, v.byte_offset, v.byte_length).ok_or_else(|| {
            let expected = format!("expected them inside the buffer's {}", buffer.len());
            Fault::new(
                in_view(""),
                format!("{} bytes from {}; {expected}", v.byte_length, v.byte_offset),
            )
        })?;
        let stride = match v.byte_stride {
            // Some exporters write 0 for tightly packed data.
            Some(stride) if strided && stride != 0 => usize::try_from(stride).unwrap_or(usize::MAX),
            _ => size,
        };
        ensure(stride >= size, || {
            Fault::new(
                in_view(".byteStride"),
                format!("{stride}; expected at least the element's {size} bytes"),
            )
        })?;
        let needed = (count - 1)
            .checked_mul(stride as u64)
            .and_then(|n| n.checked_add(size as u64))
            .unwrap_or(u64::MAX);
        let Some(bytes) = slice(bytes, offset, needed) else {
            let expected = format!(
                "expected them inside the {} bytes of bufferViews[{view}]",
                v.byte_length
            );
            let problem = format!(
                "{count} elements of {size} bytes every {stride} from {offset}; {expected}"
            );
            return Err(Fault::new(place(), problem));
        };
        Ok(Elements { bytes, stride })
    }
}

/// Refuses an attribute that has not as many elements as the positions of its primitive.
pub(super) fn check_count(user: &str, count: usize, expected: usize) -> Result<(), Fault> {
    ensure(count == expected, || {
        Fault::new(
            user,
            format!("{count} elements; expected {expected}, as POSITION has"),
        )
    })
}

fn slice(bytes: &[u8], offset: u64, length: u64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    bytes.get(start..start.checked_add(usize::try_from(length).ok()?)?)
}
