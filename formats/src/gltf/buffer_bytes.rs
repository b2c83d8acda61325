//! The bytes behind buffers: the BIN chunk, data URIs, and files in the model's folder.

use super::document::Buffer;
use crate::beside;
use crate::budget::Budget;
use crate::fault::{Fault, ensure};
use crate::read_file::MOST_BYTES;
use crate::regular_file;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Accepts data URIs with and without padding, because exporters differ.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Reads every buffer. Each result is at least `byteLength` long.
pub(super) fn load<'a>(
    file: &Path,
    buffers: &[Buffer],
    bin: Option<&'a [u8]>,
    budget: &Budget,
) -> Result<Vec<Cow<'a, [u8]>>, Fault> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut files = Files {
        folder,
        known: HashSet::new(),
        left: MOST_BYTES,
        budget,
    };
    let mut loaded = Vec::with_capacity(buffers.len());
    for (index, buffer) in buffers.iter().enumerate() {
        let place = format!("buffers[{index}]");
        let uri_place = || format!("{place}.uri");
        let bytes = match (&buffer.uri, bin.filter(|_| index == 0)) {
            (None, Some(bin)) => Cow::Borrowed(bin),
            (None, None) => {
                return Err(Fault::new(
                    place,
                    "no uri; expected one, or a BIN chunk in a .glb for buffer 0",
                ));
            }
            (Some(uri), _) => Cow::Owned(match after_data_scheme(uri) {
                Some(data) => decode_data_uri(data, budget, uri_place)?,
                None => files
                    .read(uri, buffer.byte_length)
                    .map_err(|problem| Fault::new(uri_place(), problem))?,
            }),
        };
        let (found, length) = (bytes.len(), buffer.byte_length);
        ensure(found as u64 >= length, || {
            Fault::new(
                place,
                format!("{found} bytes; expected at least byteLength, which is {length}"),
            )
        })?;
        loaded.push(bytes);
    }
    Ok(loaded)
}

/// The part of a data URI after `data:`, in which letters of either case count as equal (RFC 3986, 3.1).
pub(super) fn after_data_scheme(uri: &str) -> Option<&str> {
    let (scheme, rest) = uri.split_once(':')?;
    scheme.eq_ignore_ascii_case("data").then_some(rest)
}

/// Decodes the part of a data URI after `data:`.
pub(super) fn decode_data_uri(
    data: &str,
    budget: &Budget,
    place: impl Fn() -> String,
) -> Result<Vec<u8>, Fault> {
    let is_base64 = |head: &str| {
        head.rsplit_once(';')
            .is_some_and(|(_, last)| last.eq_ignore_ascii_case("base64"))
    };
    let Some(encoded) = data
        .split_once(',')
        .and_then(|(head, body)| is_base64(head).then_some(body))
    else {
        return Err(Fault::new(
            place(),
            "a data URI without ;base64; expected data:application/octet-stream;base64,",
        ));
    };
    budget.charge(encoded.len() as u64, &place)?;
    let encoded: Cow<[u8]> = percent_decode_str(encoded).into();
    BASE64
        .decode(encoded)
        .map_err(|error| Fault::new(place(), format!("not base64: {error}")))
}

struct Files<'a> {
    folder: &'a Path,
    known: HashSet<PathBuf>,
    /// Bytes that may still be read.
    left: u64,
    budget: &'a Budget,
}

impl Files<'_> {
    /// Reads the first `length` bytes of a file in the folder.
    fn read(&mut self, uri: &str, length: u64) -> Result<Vec<u8>, String> {
        let path = beside::resolve(self.folder, &relative_path(uri)?)?;
        let unreadable = |error| format!("{uri:?} cannot be read: {error}");
        let file = regular_file::open_within(&path, MOST_BYTES).map_err(unreadable)?;
        let held = file.metadata().map_err(unreadable)?.len();
        if held < length {
            return Err(format!(
                "{uri:?} has {held} bytes; expected byteLength, which is {length}"
            ));
        }
        let enough = format!(
            "{uri:?}: more than {MOST_BYTES} bytes in the files of all buffers; expected fewer"
        );
        self.left = self.left.checked_sub(length).ok_or(enough)?;
        // A file that several buffers refer to is granted once, so that it does not enlarge the allowance.
        if self.known.insert(path.clone()) {
            self.budget.grant(held);
        } else {
            self.budget
                .charge(length, String::new)
                .map_err(|fault| fault.problem)?;
        }
        let mut bytes = Vec::with_capacity(length as usize);
        file.take(length)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        Ok(bytes)
    }
}

/// The path that a relative URI stands for.
///
/// # Errors
/// One line: it has a scheme or a drive, or does not decode.
pub(super) fn relative_path(uri: &str) -> Result<Cow<'_, str>, String> {
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
