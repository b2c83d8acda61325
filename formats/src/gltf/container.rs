//! The binary container: a header, then chunks.
//!
//! The `gltf` crate is not used, because it underflows on a header length below 12 and refuses unknown chunks, which
//! clients must ignore according to the specification.

use crate::read_file::without_mark;
use skinbench_kernels::error::Result;

const MAGIC: &[u8] = b"glTF";
const HEADER: usize = 12;
const CHUNK_HEADER: usize = 8;

/// The parts of a file. A `.gltf` is JSON only.
pub struct Container<'a> {
    pub json: &'a [u8],
    /// The BIN chunk, buffer 0 of a `.glb`.
    pub bin: Option<&'a [u8]>,
    pub binary: bool,
}

/// A JSON chunk without the NUL bytes that some programs pad it with instead of spaces.
fn without_padding(chunk: &[u8]) -> &[u8] {
    let end = chunk.iter().rposition(|&byte| byte != 0);
    &chunk[..end.map_or(0, |last| last + 1)]
}

/// Finds the JSON and the BIN chunk by the file's first bytes, regardless of its name.
pub fn split(bytes: &[u8]) -> Result<Container<'_>> {
    if !bytes.starts_with(MAGIC) {
        let text = without_mark(bytes).trim_ascii_start();
        ensure!(
            text.starts_with(b"{"),
            "byte 0",
            "begins neither with glTF, as a .glb does, nor with {{, as a .gltf does"
        );
        return Ok(Container {
            json: bytes,
            bin: None,
            binary: false,
        });
    }
    let version = word(bytes, 4)?;
    ensure!(
        version == 2,
        "byte 4",
        "container version {version}; expected 2"
    );
    let length = word(bytes, 8)? as usize;
    ensure!(
        (HEADER..=bytes.len()).contains(&length),
        "byte 8",
        "a length of {length} bytes; expected {HEADER} to the file's {}",
        bytes.len()
    );
    let mut json = None;
    let mut bin = None;
    let mut offset = HEADER;
    while offset < length {
        let size = word(bytes, offset)? as usize;
        let kind = word(bytes, offset + 4)?.to_le_bytes();
        let start = offset + CHUNK_HEADER;
        let end = start.saturating_add(size);
        ensure!(
            end <= length,
            format!("byte {offset}"),
            "a chunk of {size} bytes; expected at most the {} that follow",
            length.saturating_sub(start)
        );
        let chunk = &bytes[start..end];
        match &kind {
            b"JSON" if json.is_none() => json = Some(without_padding(chunk)),
            b"BIN\0" if bin.is_none() => bin = Some(chunk),
            _ => {}
        }
        offset = end;
    }
    let Some(json) = json else {
        bail!(format!("byte {HEADER}"), "no JSON chunk; expected it first");
    };
    Ok(Container {
        json,
        bin,
        binary: true,
    })
}

/// A number of a header.
fn word(bytes: &[u8], offset: usize) -> Result<u32> {
    match bytes.get(offset..).and_then(<[u8]>::first_chunk) {
        Some(word) => Ok(u32::from_le_bytes(*word)),
        None => bail!(
            format!("byte {offset}"),
            "the file ends here; expected 4 bytes of a header"
        ),
    }
}
