//! A drawing backend for plotters that writes SVG with classes instead of colours, which a style sheet paints for light
//! and dark, and items with descriptions.

use plotters::prelude::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontTransform,
};
use std::convert::Infallible;
use std::fmt::Write;

/// Colours that stand for the classes of elements that plotters itself draws.
pub const GRID: RGBColor = RGBColor(1, 0, 0);
pub const AXIS: RGBColor = RGBColor(2, 0, 0);
pub const INK: RGBColor = RGBColor(3, 0, 0);

type Result = std::result::Result<(), DrawingErrorKind<Infallible>>;

/// An SVG under construction, in pixels.
pub struct Page<'a> {
    size: (u32, u32),
    out: &'a mut String,
}

impl<'a> Page<'a> {
    pub fn new(size: (u32, u32), out: &'a mut String) -> Self {
        Self { size, out }
    }

    /// Adds elements as they are.
    pub fn raw(&mut self, text: &str) {
        self.out.push_str(text);
    }
}

/// Text that is escaped for an attribute or between tags.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A list of points for `points=`.
pub fn points(path: &[BackendCoord]) -> String {
    let points: Vec<_> = path.iter().map(|(x, y)| format!("{x},{y}")).collect();
    points.join(" ")
}

fn class(color: BackendColor) -> &'static str {
    match color.rgb.0 {
        1 => "grid",
        2 => "axis",
        _ => "ink",
    }
}

/// Writing to a string cannot fail.
fn written(_: std::fmt::Result) -> Result {
    Ok(())
}

impl DrawingBackend for Page<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Result {
        Ok(())
    }

    fn present(&mut self) -> Result {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Result {
        written(write!(self.out, r#"<rect class="{}" x="{x}" y="{y}" width="1" height="1"/>"#, class(color)))
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Result {
        self.draw_path([from, to], style)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Result {
        let path: Vec<_> = path.into_iter().collect();
        let class = class(style.color());
        written(writeln!(self.out, r#"<polyline class="{class}" points="{}"/>"#, points(&path)))
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, (x, y): BackendCoord) -> Result {
        let anchor = match style.anchor().h_pos {
            HPos::Left => "start",
            HPos::Center => "middle",
            HPos::Right => "end",
        };
        // Baselines: a capital is approximately 0.7 of the font size high.
        let down = match style.anchor().v_pos {
            VPos::Top => 0.75,
            VPos::Center => 0.35,
            VPos::Bottom => -0.1,
        };
        let turn = match style.transform() {
            FontTransform::Rotate270 => format!(r#" transform="rotate(-90 {x} {y})""#),
            _ => String::new(),
        };
        let down = down * style.size();
        let class = class(style.color());
        written(writeln!(
            self.out,
            r#"<text class="{class}" x="{x}" y="{y}" dy="{down:.1}" text-anchor="{anchor}"{turn}>{}</text>"#,
            escaped(text)
        ))
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> std::result::Result<(u32, u32), DrawingErrorKind<Infallible>> {
        Ok(((text.chars().count() as f64 * style.size() * 0.55) as u32, style.size() as u32))
    }
}
