//! The reader of accessors: any component type, stride and sparse substitution. Every offset and count is checked
//! before anything is allocated. Bytes are read one by one, so no alignment is required.

use super::document::{BufferView, Document, Sparse, SparseView};
use super::names;
use crate::budget::Budget;
use crate::check::item;
use skinbench_kernels::error::{DataError, Result};
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
    /// The component type of an object at a place.
    fn new(code: u32, place: &str) -> Result<&'static Self> {
        let known = COMPONENTS.iter().find(|known| known.code == code);
        known.ok_or_else(|| {
            let expected = "5120 (i8), 5121 (u8), 5122 (i16), 5123 (u16), 5125 (u32) or 5126 (f32)";
            DataError::new(
                format!("{place}.componentType"),
                format!("{code}; expected {expected}"),
            )
        })
    }

    /// Refuses numbers that may be negative or have fractions.
    fn check_unsigned(&self, place: &str, user: &str) -> Result<()> {
        ensure!(
            self.name.starts_with('U'),
            format!("{place}.componentType"),
            "{}; expected U8, U16 or U32{user}",
            self.name
        );
        Ok(())
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
        let elements = self.bytes.chunks(self.stride).map(|element| {
            std::array::from_fn(|c| convert((component.read)(&element[c * component.size..])))
        });
        elements.collect()
    }
}

/// The elements that a sparse accessor lists.
struct Listed<'a> {
    /// Strictly rising.
    indices: Vec<u32>,
    elements: Elements<'a>,
}

/// An accessor whose parts have been checked.
struct CheckedAccessor<'a> {
    count: u64,
    component: &'static Component,
    /// The number that stands for 1, if not 1 itself.
    one: Option<f64>,
    /// The elements; `None` means zeros.
    base: Option<Elements<'a>>,
    listed: Option<Listed<'a>>,
}

impl CheckedAccessor<'_> {
    fn read<T: Copy + Default, const N: usize>(&self, convert: impl Fn(f64) -> T) -> Vec<[T; N]> {
        let mut values = match &self.base {
            Some(base) => base.decode(self.component, &convert),
            None => vec![[T::default(); N]; self.count as usize],
        };
        if let Some(Listed { indices, elements }) = &self.listed {
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
pub struct AccessorReader<'a> {
    pub document: &'a Document,
    pub buffers: &'a [Cow<'a, [u8]>],
    /// One item per buffer view; `None` if it is not compressed.
    pub decompressed: &'a [Option<Vec<u8>>],
    pub budget: &'a Budget,
}

impl<'a> AccessorReader<'a> {
    /// Reads finite numbers of any component type, normalised if the accessor says so; `user` is the JSON path that
    /// refers to the accessor.
    pub fn floats<const N: usize>(&self, index: u32, user: &str) -> Result<Vec<[f32; N]>> {
        let accessor = self.checked::<N>(index, user, false)?;
        let values = accessor.read(|number| accessor.float(number));
        check_finite(index, user, &values)?;
        Ok(values)
    }

    /// Returns whether the document has no numbers of an accessor, which are then zeros.
    pub fn is_without_data(&self, index: u32) -> bool {
        let accessor = self.document.accessors.get(index as usize);
        accessor.is_some_and(|it| it.buffer_view.is_none() && it.sparse.is_none())
    }

    /// Returns whether an accessor has elements of this shape, such as "VEC3".
    pub fn has_shape(&self, index: u32, shape: &str) -> bool {
        let accessor = self.document.accessors.get(index as usize);
        accessor.is_some_and(|accessor| accessor.shape == shape)
    }

    /// Reads the elements of `count` that are not zero, with their indices: of an accessor without a buffer view only
    /// those that it lists.
    pub fn deltas(&self, index: u32, user: &str, count: usize) -> Result<Vec<(u32, [f32; 3])>> {
        let accessor = self.checked::<3>(index, user, true)?;
        check_count(user, accessor.count as usize, count)?;
        let mut deltas: Vec<(u32, [f32; 3])> = Vec::new();
        if accessor.base.is_some() {
            let values = accessor.read(|number| accessor.float(number));
            check_finite(index, user, &values)?;
            deltas.extend((0..).zip(values));
        } else if let Some(Listed { indices, elements }) = &accessor.listed {
            let values = elements.decode(accessor.component, |number| accessor.float(number));
            check_finite(index, user, &values)?;
            deltas.extend(indices.iter().copied().zip(values));
        }
        deltas.retain(|delta| delta.1 != [0.0; 3]);
        Ok(deltas)
    }

    /// Reads unsigned integers.
    pub fn integers<const N: usize>(&self, index: u32, user: &str) -> Result<Vec<[u32; N]>> {
        let accessor = self.checked::<N>(index, user, false)?;
        let component = accessor.component;
        component.check_unsigned(&format!("accessors[{index}]"), &format!(" for {user}"))?;
        Ok(accessor.read(|number| number as u32))
    }

    /// The bytes of a buffer view.
    pub fn bytes(&self, view: u32, user: &str) -> Result<&'a [u8]> {
        let known = self.document.buffer_views.get(view as usize);
        let length = known.map_or(0, |view| view.byte_length);
        let elements = self.elements(view, 0, length.max(1), 1, false, user)?;
        Ok(elements.bytes)
    }

    /// Checks an accessor and charges its elements to the budget: all of them, or those that differ from zero if
    /// `sparse`.
    fn checked<const N: usize>(
        &self,
        index: u32,
        user: &str,
        sparse: bool,
    ) -> Result<CheckedAccessor<'a>> {
        let accessor = item(&self.document.accessors, index, "accessor", || user.into())?;
        let place = format!("accessors[{index}]");
        let shape = names::shape(N);
        ensure!(
            accessor.shape == shape,
            place + ".type",
            "{:?}; expected {shape:?} for {user}",
            accessor.shape
        );
        let component = Component::new(accessor.component_type, &place)?;
        let count = accessor.count;
        ensure!(
            count > 0,
            place + ".count",
            "0; expected at least 1 for {user}"
        );
        let size = component.size * N;
        let base = accessor
            .buffer_view
            .map(|view| self.elements(view, accessor.byte_offset, count, size, true, &place))
            .transpose()?;
        // With a buffer view the size is known to fit, so this saturates only for accessors without data.
        let charged = match &accessor.sparse {
            listed if sparse && base.is_none() => listed.as_ref().map_or(0, |listed| listed.count),
            _ => count,
        };
        let bytes = charged.saturating_mul(N as u64 * 4 * COPIES);
        self.budget.charge(bytes, || format!("{place}.count"))?;
        let listed = accessor
            .sparse
            .as_ref()
            .map(|sparse| self.listed(sparse, count, size, &format!("{place}.sparse")))
            .transpose()?;
        Ok(CheckedAccessor {
            count,
            component,
            one: component.one.filter(|_| accessor.normalized),
            base,
            listed,
        })
    }

    /// Checks what a sparse accessor lists, which has `count` elements of `size` bytes.
    fn listed(&self, sparse: &Sparse, count: u64, size: usize, place: &str) -> Result<Listed<'a>> {
        let listed = sparse.count;
        ensure!(
            (1..=count).contains(&listed),
            format!("{place}.count"),
            "{listed}; expected 1 to the accessor's count, which is {count}"
        );
        let SparseView {
            buffer_view,
            byte_offset,
            ..
        } = sparse.values;
        let values_place = format!("{place}.values");
        let elements =
            self.elements(buffer_view, byte_offset, listed, size, false, &values_place)?;
        let SparseView {
            buffer_view,
            byte_offset,
            component_type,
            ..
        } = sparse.indices;
        let place = format!("{place}.indices");
        let component = Component::new(component_type, &place)?;
        let size = component.size;
        let indices = self.elements(buffer_view, byte_offset, listed, size, false, &place)?;
        component.check_unsigned(&place, "")?;
        let indices = indices.decode::<_, 1>(component, |number| number as u32);
        let indices = indices.into_flattened();
        if let Some(at) = indices.iter().position(|&i| u64::from(i) >= count) {
            bail!(
                place,
                "index {} at {at} is out of range; the accessor has {count} elements",
                indices[at]
            );
        }
        if let Some([before, index]) = indices.array_windows().find(|[a, b]| b <= a) {
            bail!(
                place,
                "index {index} after {before}; expected strictly rising ones"
            );
        }
        Ok(Listed { indices, elements })
    }

    /// `count` elements of `size` bytes from `offset` in a buffer view, to which `place` refers.
    fn elements(
        &self,
        view: u32,
        offset: u64,
        count: u64,
        size: usize,
        strided: bool,
        place: &str,
    ) -> Result<Elements<'a>> {
        let known = item(&self.document.buffer_views, view, "buffer view", || {
            place.into()
        })?;
        let bytes = match &self.decompressed[view as usize] {
            Some(bytes) => bytes,
            None => self.stored(view, known)?,
        };
        let view = format!("bufferViews[{view}]");
        let stride = match known.byte_stride {
            // Some exporters write 0 for tightly packed data.
            Some(stride) if strided && stride != 0 => usize::try_from(stride).unwrap_or(usize::MAX),
            _ => size,
        };
        ensure!(
            stride >= size,
            view + ".byteStride",
            "{stride}; expected at least the element's {size} bytes"
        );
        let before_last = (count - 1).saturating_mul(stride as u64);
        let needed = before_last.saturating_add(size as u64);
        let Some(bytes) = slice(bytes, offset, needed) else {
            bail!(
                place,
                "{count} elements of {size} bytes every {stride} from {offset}; expected them inside the {} bytes of {view}",
                bytes.len()
            );
        };
        Ok(Elements { bytes, stride })
    }

    /// The bytes of a buffer view as its buffer has them.
    fn stored(&self, index: u32, view: &BufferView) -> Result<&'a [u8]> {
        let place = format!("bufferViews[{index}]");
        let bytes = item(self.buffers, view.buffer, "buffer", || {
            format!("{place}.buffer")
        })?;
        // A BIN chunk is padded: the bytes after byteLength are not part of the buffer.
        let length = self.document.buffers[view.buffer as usize].byte_length as usize;
        let bytes = &bytes[..length.min(bytes.len())];
        let Some(bytes) = slice(bytes, view.byte_offset, view.byte_length) else {
            bail!(
                place,
                "{} bytes from {}; expected them inside the buffer's {}",
                view.byte_length,
                view.byte_offset,
                bytes.len()
            );
        };
        Ok(bytes)
    }
}

/// Refuses numbers of an accessor that are not finite.
fn check_finite<const N: usize>(index: u32, user: &str, values: &[[f32; N]]) -> Result<()> {
    let values = values.as_flattened();
    if let Some(at) = values.iter().position(|value| !value.is_finite()) {
        bail!(
            format!("accessors[{index}]"),
            "element {} holds {}; expected finite numbers for {user}",
            at / N,
            values[at]
        );
    }
    Ok(())
}

/// Refuses an attribute that has not as many elements as the positions of its primitive.
pub fn check_count(user: &str, count: usize, expected: usize) -> Result<()> {
    ensure!(
        count == expected,
        user,
        "{count} elements; expected {expected}, as POSITION has"
    );
    Ok(())
}

fn slice(bytes: &[u8], offset: u64, length: u64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    bytes.get(start..start.checked_add(usize::try_from(length).ok()?)?)
}
