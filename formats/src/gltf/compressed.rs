//! Buffer views that are stored as meshoptimizer compresses them: EXT_meshopt_compression and KHR_meshopt_compression.

use super::document::{Compression, Document, Filter, Mode};
use crate::budget::Budget;
use crate::check::item;
use meshoptimizer_rs::codec::{
    decode_filter_color, decode_filter_exp, decode_filter_oct, decode_filter_quat,
    decode_index_buffer, decode_index_sequence, decode_vertex_buffer,
};
use meshoptimizer_rs::{Error, Workspace};
use skinbench_kernels::error::{DataError, Result};
use std::borrow::Cow;

/// Decodes every compressed buffer view; `None` stands for the others.
///
/// # Errors
/// Streams that are damaged or outside their buffer, lengths that disagree, or more bytes than the budget allows.
pub fn decode(
    document: &Document,
    buffers: &[Cow<[u8]>],
    budget: &Budget,
) -> Result<Vec<Option<Vec<u8>>>> {
    let mut workspace = Workspace::default();
    let mut decoded = Vec::with_capacity(document.buffer_views.len());
    for (index, view) in document.buffer_views.iter().enumerate() {
        let Some((name, compression)) = view.extensions.compression() else {
            decoded.push(None);
            continue;
        };
        let place = format!("bufferViews[{index}].extensions.{name}");
        let buffer = item(buffers, compression.buffer, "buffer", || {
            format!("{place}.buffer")
        })?;
        let Some(source) = compression.range().and_then(|range| buffer.get(range)) else {
            bail!(
                place,
                "{} bytes from {}; expected them inside the buffer's {}",
                compression.byte_length,
                compression.byte_offset,
                buffer.len()
            );
        };
        let length = compression.count.checked_mul(compression.byte_stride);
        ensure!(
            length == Some(view.byte_length),
            place,
            "{} elements of {} bytes; expected the buffer view's {}",
            compression.count,
            compression.byte_stride,
            view.byte_length
        );
        budget.charge(view.byte_length, || format!("{place}.count"))?;
        let bytes = decompressed(compression, source, &mut workspace)
            .map_err(|error| DataError::new(place, error.to_string()))?;
        decoded.push(Some(bytes));
    }
    Ok(decoded)
}

/// The bytes that a compressed stream stands for.
fn decompressed(
    compression: &Compression,
    source: &[u8],
    workspace: &mut Workspace,
) -> Result<Vec<u8>, Error> {
    let count = usize::try_from(compression.count).map_err(|_| Error::SizeOverflow)?;
    let stride = usize::try_from(compression.byte_stride).map_err(|_| Error::SizeOverflow)?;
    let mut bytes = match compression.mode {
        Mode::Attributes => decode_vertex_buffer(count, stride, source, workspace)?,
        Mode::Triangles => decode_index_buffer(count, stride, source, workspace)?,
        Mode::Indices => decode_index_sequence(count, stride, source, workspace)?,
    };
    match compression.filter {
        Filter::None => {}
        _ if compression.mode != Mode::Attributes => return Err(Error::InvalidParameter),
        Filter::Octahedral => decode_filter_oct(&mut bytes, count, stride, workspace)?,
        Filter::Quaternion => decode_filter_quat(&mut bytes, count, stride, workspace)?,
        Filter::Exponential => decode_filter_exp(&mut bytes, count, stride, workspace)?,
        Filter::Color => decode_filter_color(&mut bytes, count, stride, workspace)?,
    }
    Ok(bytes)
}
