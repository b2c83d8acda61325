//! The bytes behind buffers: the BIN chunk, data URIs, and files in the model's folder.

use super::document::Buffer;
use crate::beside::{self, unreadable};
use crate::budget::Budget;
use crate::read_file::MOST_BYTES;
use crate::regular_file;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;
use skinbench_kernels::error::{DataError, Result};
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Accepts data URIs with and without padding, because exporters differ.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Reads every buffer. Each result is at least `byteLength` long, but for buffers that only readers without decompression
/// need: these are empty if the file has no bytes for them.
pub fn load<'a>(
    file: &Path,
    buffers: &[Buffer],
    bin: Option<&'a [u8]>,
    budget: &Budget,
) -> Result<Vec<Cow<'a, [u8]>>> {
    let mut files = Files {
        model: file,
        known: HashSet::new(),
        left: MOST_BYTES,
        budget,
    };
    let mut loaded = Vec::new();
    for (index, buffer) in buffers.iter().enumerate() {
        let place = format!("buffers[{index}]");
        let length = buffer.byte_length;
        let bytes = if let Some(uri) = &buffer.uri {
            let uri_place = format!("{place}.uri");
            Cow::Owned(match after_data_scheme(uri) {
                Some(data) => decode_data_uri(data, budget, &uri_place)?,
                None => files
                    .read(uri, length)
                    .map_err(|problem| DataError::new(uri_place, problem))?,
            })
        } else if let Some(bin) = bin.filter(|_| index == 0) {
            Cow::Borrowed(bin)
        } else if buffer.extensions.is_fallback() {
            loaded.push(Cow::Borrowed(&[][..]));
            continue;
        } else {
            bail!(
                place,
                "no uri; expected one, or a BIN chunk in a .glb for buffer 0"
            );
        };
        ensure!(
            bytes.len() as u64 >= length,
            place,
            "{} bytes; expected at least byteLength, which is {length}",
            bytes.len()
        );
        loaded.push(bytes);
    }
    Ok(loaded)
}

/// The part of a data URI after `data:`, in which letters of either case count as equal (RFC 3986, 3.1).
pub fn after_data_scheme(uri: &str) -> Option<&str> {
    let (scheme, rest) = uri.split_once(':')?;
    scheme.eq_ignore_ascii_case("data").then_some(rest)
}

/// Decodes the part of a data URI after `data:`.
pub fn decode_data_uri(data: &str, budget: &Budget, place: &str) -> Result<Vec<u8>> {
    let (head, encoded) = data.split_once(',').unwrap_or_default();
    let encoding = head.rsplit_once(';').unwrap_or_default().1;
    ensure!(
        encoding.eq_ignore_ascii_case("base64"),
        place,
        "a data URI without ;base64; expected data:application/octet-stream;base64,"
    );
    budget.charge(encoded.len() as u64, || place.into())?;
    let encoded: Cow<[u8]> = percent_decode_str(encoded).into();
    BASE64
        .decode(encoded)
        .map_err(|error| DataError::new(place, format!("not base64: {error}")))
}

struct Files<'a> {
    model: &'a Path,
    known: HashSet<PathBuf>,
    /// Bytes that may still be read.
    left: u64,
    budget: &'a Budget,
}

impl Files<'_> {
    /// Reads the first `length` bytes of a file in the model's folder.
    fn read(&mut self, uri: &str, length: u64) -> Result<Vec<u8>, String> {
        let path = beside::resolve(self.model, &relative_path(uri)?)?;
        let file = regular_file::open_within(&path, MOST_BYTES);
        let file = file.map_err(|error| unreadable(uri, error))?;
        let metadata = file.metadata().map_err(|error| unreadable(uri, error))?;
        let held = metadata.len();
        if held < length {
            return Err(format!(
                "{uri:?} has {held} bytes; expected byteLength, which is {length}"
            ));
        }
        let Some(left) = self.left.checked_sub(length) else {
            return Err(format!(
                "{uri:?}: more than {MOST_BYTES} bytes in the files of all buffers; expected fewer"
            ));
        };
        self.left = left;
        // A file that several buffers refer to is granted once, so that it does not enlarge the allowance.
        if self.known.insert(path) {
            self.budget.grant(held);
        } else {
            let charged = self.budget.charge(length, String::new);
            charged.map_err(|fault| fault.problem)?;
        }
        regular_file::read_start(file, length).map_err(|error| unreadable(uri, error))
    }
}

/// The path that a relative URI stands for.
///
/// # Errors
/// One line: it has a scheme or a drive, or does not decode.
pub fn relative_path(uri: &str) -> Result<Cow<'_, str>, String> {
    let decoded = percent_decode_str(uri).decode_utf8().map_err(|_| {
        format!("{uri:?} does not decode to UTF-8; expected a percent-encoded relative path")
    })?;
    if let Some((scheme, _)) = decoded.split_once(':')
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    {
        return Err(format!(
            "{uri:?} has the scheme or drive {scheme:?}; expected a path inside the model's folder"
        ));
    }
    Ok(decoded)
}
