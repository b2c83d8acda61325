//! Files that are either complete or absent, text on stdout, and notes on stderr.

use super::UsageError;
use anyhow::{Context as _, bail};
use serde::Serialize;
use skinbench::report::Screen;
use skinbench::results;
use skinbench::wording::{self, one_line};
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

/// Writes a file that is either complete or absent, and says so.
pub fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    let folder = path.parent().unwrap_or(path);
    if !folder.as_os_str().is_empty() && !folder.exists() {
        bail!(
            "{}: no folder {}; expected one that exists",
            cannot(),
            folder.display()
        );
    }
    results::write_file(path, write).with_context(cannot)?;
    tell(format_args!("wrote {}", path.display()));
    Ok(())
}

/// Creates a folder, unless it exists.
pub fn create_folder(path: &Path) -> anyhow::Result<()> {
    expect_folder(path)?;
    std::fs::create_dir_all(path).with_context(|| format!("cannot create {}", path.display()))
}

/// Refuses a file in the place of a folder; there may be nothing yet.
pub fn expect_folder(path: &Path) -> anyhow::Result<()> {
    if path.is_file() {
        bail!(
            "{} is a file; expected a folder, which may be a new one",
            path.display()
        );
    }
    Ok(())
}

/// Checks that a file to write has no ending of another kind than what is written; devices and pipes have none.
pub fn expect_ending(path: &Path, what: &str, endings: &[&str]) -> Result<(), UsageError> {
    let ending = path.extension();
    if ending.is_none_or(|ending| {
        endings
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
    }) {
        return Ok(());
    }
    let endings: Vec<String> = endings.iter().map(|known| format!(".{known}")).collect();
    Err(UsageError(format!(
        "{}: {what} is written; expected a name that ends in {}",
        path.display(),
        wording::list(&endings)
    )))
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

/// As [`say`], with lines that fit a screen.
pub fn say_fitted(text: impl Display, screen: Screen) -> io::Result<()> {
    say(screen.wrapped(&text.to_string()))
}

/// Prints a line on stderr, without characters that control a terminal. If nobody reads it, the work goes on.
pub fn tell(line: impl Display) {
    let line = one_line(&line.to_string(), usize::MAX);
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints lines on stderr, each of which ends; there may be none.
pub fn tell_all(lines: &str) {
    lines.lines().for_each(tell);
}

/// Prints a value as JSON on stdout.
pub fn say_json(value: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    Ok(writeln!(io::stdout().lock(), "{}", escaped(&text))?)
}

/// Prints a value as JSON in one line on stdout; nobody may read it, as with [`say`].
pub fn say_json_line(value: &impl Serialize) -> io::Result<()> {
    say(escaped(&serde_json::to_string(value)?) + "\n")
}

/// JSON in which characters that control a terminal are escaped: those that JSON itself allows in strings.
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_control() && c != '\n' {
            escaped += &format!("\\u{:04x}", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    escaped
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
