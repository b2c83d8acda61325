//! The binary container: a header, then chunks.
//!
//! The `gltf` crate is not used, because it underflows on a header length below 12 and refuses unknown chunks, which
//! clients must ignore according to the specification.

use crate::fault::{Fault, ensure};

const MAGIC: &[u8] = b"glTF";
const HEADER: usize = 12;
const CHUNK_HEADER: usize = 8;

/// The parts of a file. A `.gltf` is JSON only.
pub(super) struct Container<'a> {
    pub(super) json: &'a [u8],
    /// The BIN chunk, buffer 0 of a `.glb`.
    pub(super) bin: Option<&'a [u8]>,
    pub(super) binary: bool,
}

/// A JSON chunk without the NUL bytes that some programs pad it with instead of spaces.
fn without_padding(chunk: &[u8]) -> &[u8] {
    let end = chunk.iter().rposition(|&byte| byte != 0);
    &chunk[..end.map_or(0, |last| last + 1)]
}

/// Finds the JSON and the BIN chunk by the file's first bytes, regardless of its name.
pub(super) fn split(bytes: &[u8]) -> Result<Container<'_>, Fault> {
    if !bytes.starts_with(MAGIC) {
        return Ok(Container {
            json: bytes,
            bin: None,
            binary: false,
        });
    }
    let at = |offset: usize| {
        let word = bytes
            .get(offset..)
            .and_then(<[u8]>::first_chunk)
            .map(|b| u32::from_le_bytes(*b));
        word.ok_or_else(|| {
            Fault::new(
                format!("byte {offset}"),
                "the file ends here; expected 4 bytes of a header",
            )
        })
    };
    let version = at(4)?;
    ensure(version == 2, || {
        Fault::new("byte 4", format!("container version {version}; expected 2"))
    })?;
    let length = at(8)? as usize;
    ensure((HEADER..=bytes.len()).contains(&length), || {
        let problem = format!(
            "a length of {length} bytes; expected {HEADER} to the file's {}",
            bytes.len()
        );
        Fault::new("byte 8", problem)
    })?;
    let (mut json, mut bin, mut offset) = (None, None, HEADER);
    while offset < length {
        let size = at(offset)? as usize;
        let kind = at(offset + 4)?.to_le_bytes();
        let start = offset + CHUNK_HEADER;
        let chunk = start
            .checked_add(size)
            .filter(|&end| end <= length)
            .and_then(|end| bytes.get(start..end));
        let Some(chunk) = chunk else {
            let problem = format!(
                "a chunk of {size} bytes; expected at most the {} that follow",
                length.saturating_sub(start)
            );
            return Err(Fault::new(format!("byte {offset}"), problem));
        };
        match &kind {
            b"JSON" if json.is_none() => json = Some(without_padding(chunk)),
            b"BIN\0" if bin.is_none() => bin = Some(chunk),
            _ => {}
        }
        offset = start + size;
    }
    let json = json
        .ok_or_else(|| Fault::new(format!("byte {HEADER}"), "no JSON chunk; expected it first"))?;
    Ok(Container {
        json,
        bin,
        binary: true,
    })
}
