//! Images of surfaces, as importers find them. A missing or unknown image is left out with a note: nothing that is
//! measured depends on it.

use crate::beside;
use crate::regular_file;
use skinbench_kernels::model::{Image, Repair};
use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

/// Most bytes of an encoded image.
const MOST_BYTES: u64 = 64 << 20;

/// An image in a file beside the model's.
///
/// # Errors
/// One line: it cannot be read, is too large, or is neither PNG nor JPEG.
pub(super) fn beside(folder: &Path, name: &str) -> Result<Image, String> {
    let path = beside::resolve(folder, name)?;
    let unreadable = |error| format!("{name:?} cannot be read: {error}");
    let file = regular_file::open(&path).map_err(unreadable)?;
    let bytes = file.metadata().map_err(unreadable)?.len();
    let mut head = Vec::new();
    file.take(8).read_to_end(&mut head).map_err(unreadable)?;
    check(&head, bytes).map_err(|problem| format!("{name:?} {problem}"))?;
    Ok(Image::File(path))
}

/// An image in the model's own file.
///
/// # Errors
/// One line: it is too large, or is neither PNG nor JPEG.
pub(super) fn embedded(bytes: &[u8]) -> Result<Image, String> {
    check(bytes, bytes.len() as u64)?;
    Ok(Image::Embedded(bytes.into()))
}

/// The encoded bytes of an image.
///
/// # Errors
/// One line: the file cannot be read or is too large.
pub(super) fn encoded(image: &Image) -> Result<Cow<'_, [u8]>, String> {
    match image {
        Image::Embedded(bytes) => Ok(Cow::Borrowed(bytes)),
        Image::File(path) => {
            let read = regular_file::read(path, MOST_BYTES);
            read.map(Cow::Owned)
                .map_err(|error| format!("{}: cannot be read: {error}", path.display()))
        }
    }
}

/// The media type of an encoded image; `None` if it is neither PNG nor JPEG.
pub(super) fn media_type(bytes: &[u8]) -> Option<&'static str> {
    let known: [(&[u8], _); 2] = [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
    ];
    known
        .into_iter()
        .find_map(|(start, name)| bytes.starts_with(start).then_some(name))
}

fn check(head: &[u8], length: u64) -> Result<(), String> {
    if length > MOST_BYTES {
        return Err(format!("has {length} bytes; expected at most {MOST_BYTES}"));
    }
    media_type(head)
        .map(|_| ())
        .ok_or_else(|| "is neither PNG nor JPEG".into())
}

/// Problems of textures, each with the number of materials that have it.
#[derive(Default)]
pub(super) struct LeftOut(Vec<(String, u32)>);

impl LeftOut {
    /// The texture, or nothing if it had to be left out.
    pub(super) fn keep<T>(&mut self, texture: Result<T, String>) -> Option<T> {
        let count = |problem: String| match self.0.iter_mut().find(|(known, _)| *known == problem) {
            Some((_, count)) => *count += 1,
            None => self.0.push((problem, 1)),
        };
        texture.map_err(count).ok()
    }

    /// One note for each problem.
    pub(super) fn describe(self) -> impl Iterator<Item = Repair> {
        self.0.into_iter().map(|(problem, count)| {
            let materials = if count == 1 {
                "a material".into()
            } else {
                format!("{count} materials")
            };
            Repair::new(format!("left out the texture of {materials}: {problem}"))
        })
    }
}
