//! Files that are either complete or absent, and text on stdout.

use anyhow::Context as _;
use skinbench::results::whole;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

/// Writes a file that is either complete or absent.
pub fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    whole::write_file(path, write).with_context(|| format!("cannot write {}", path.display()))
}

/// Prints text on stdout, without characters that control a terminal: results and peers of others have a say in it. A
/// pipe that is closed at the other end is no error: the work and its verdict do not depend on a reader.
pub fn say(text: impl Display) -> io::Result<()> {
    let plain = text
        .to_string()
        .replace(|c: char| c.is_control() && c != '\n', " ");
    match io::stdout().lock().write_all(plain.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes RGBA 8 bit sRGB pixels, rows from the top, as a PNG file.
#[cfg(feature = "gpu")]
pub fn write_png(path: &Path, [width, height]: [u32; 2], pixels: &[u8]) -> anyhow::Result<()> {
    write_file(path, |out| {
        let mut encoder = png::Encoder::new(out, width, height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header()?.write_image_data(pixels)?;
        Ok(())
    })
}
