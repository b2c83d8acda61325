//! Files that are either complete or absent.

use anyhow::Context as _;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use tempfile::Builder;

/// Writes a file under a temporary name and moves it to its place when it is complete.
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = Builder::new();
    // Temporary files are private by default; this one becomes an ordinary file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let written = builder.prefix(".skinbench-").tempfile_in(folder).and_then(|file| {
        let mut buffered = BufWriter::new(file);
        write(&mut buffered)?;
        buffered.into_inner()?.persist(path)?;
        Ok(())
    });
    written.with_context(|| format!("cannot write {}", path.display()))
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
