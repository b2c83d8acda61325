//! Images of surfaces, as importers find them. A missing or unknown image is left out with a note: nothing that is
//! measured depends on it.

use crate::beside::{self, unreadable};
use crate::regular_file;
use skinbench_kernels::model::{Image, Notes};
use std::borrow::Cow;
use std::path::Path;

/// Most bytes of an encoded image.
const MOST_BYTES: u64 = 64 << 20;

/// An image in a file beside the model's.
///
/// # Errors
/// One line: it cannot be read, is too large, or is neither PNG nor JPEG.
pub fn beside(model: &Path, name: &str) -> Result<Image, String> {
    let path = beside::resolve(model, name)?;
    let file = regular_file::open(&path).map_err(|error| unreadable(name, error))?;
    let metadata = file.metadata().map_err(|error| unreadable(name, error))?;
    let head = regular_file::read_start(file, 8).map_err(|error| unreadable(name, error))?;
    check(&head, metadata.len()).map_err(|problem| format!("{name:?} {problem}"))?;
    Ok(Image::File(path))
}

/// An image in the model's own file.
///
/// # Errors
/// One line: it is too large, or is neither PNG nor JPEG.
pub fn embedded(bytes: &[u8]) -> Result<Image, String> {
    check(bytes, bytes.len() as u64)?;
    Ok(Image::Embedded(bytes.into()))
}

/// The encoded bytes of an image.
///
/// # Errors
/// One line: the file cannot be read or is too large.
pub fn encoded(image: &Image) -> Result<Cow<'_, [u8]>, String> {
    match image {
        Image::Embedded(bytes) => Ok(Cow::Borrowed(bytes)),
        Image::File(path) => match regular_file::read(path, MOST_BYTES) {
            Ok(bytes) => Ok(Cow::Owned(bytes)),
            Err(error) => Err(format!("{}: cannot be read: {error}", path.display())),
        },
    }
}

/// The media type of an encoded image; `None` if it is neither PNG nor JPEG.
pub fn media_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else {
        None
    }
}

fn check(head: &[u8], length: u64) -> Result<(), String> {
    if length > MOST_BYTES {
        Err(format!("has {length} bytes; expected at most {MOST_BYTES}"))
    } else if media_type(head).is_none() {
        Err("is neither PNG nor JPEG".into())
    } else {
        Ok(())
    }
}

/// The texture of a material, or nothing but a note if it had to be left out.
pub fn or_left_out<T>(texture: Result<T, String>, notes: &mut Notes) -> Option<T> {
    texture
        .map_err(|problem| notes.add_name("left out textures of materials", problem))
        .ok()
}
