//! A chart as data, and its conversion to SVG: plotters lays out axes, ticks and scales.

use super::page::{AXIS, GRID, INK, Page, escaped, points};
use plotters::chart::ChartBuilder;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Drawable, PointCollection};
use plotters::prelude::{IntoLogRange, LogCoord};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{IntoTextStyle, TextStyle};
use plotters_backend::{BackendCoord, DrawingErrorKind};
use std::convert::Infallible;
use std::fmt::Write;
use std::ops::Range;

/// Width of every chart; charts shrink with the window.
const WIDTH: u32 = 760;
/// Font size, and width of an average character.
const TEXT: f64 = 13.0;
const CHARACTER: f64 = 7.2;
/// Space for numbers below the plot, and beside it if there are numbers.
const BELOW: u32 = 44;
const BESIDE: u32 = 76;
/// Largest end of a scale, and smallest of a logarithmic one.
const MOST: f64 = 1e15;
const LEAST: f64 = 1e-9;
/// Height of one line of the legend.
const LEGEND: u32 = 20;

/// One direction of a chart.
pub struct Scale {
    /// Title with the unit.
    pub title: String,
    /// Smallest and largest value.
    pub range: (f64, f64),
    /// `true` if equal ratios have equal distances.
    pub logarithmic: bool,
    /// Formats a value; `None` if the items are named themselves.
    pub label: Option<fn(f64) -> String>,
    /// Largest number of labels.
    pub ticks: usize,
}

impl Scale {
    /// A scale of even steps.
    pub fn linear(title: &str, range: (f64, f64), label: fn(f64) -> String, ticks: usize) -> Self {
        Self { title: title.into(), range, logarithmic: false, label: Some(label), ticks }
    }
}

/// Appearance of an item.
#[derive(Debug, Clone)]
pub enum Shape {
    /// A line through its points, dashed by its class.
    Line,
    /// A point; the number selects a form, so that points differ in more than colour.
    Dot(usize),
    /// A bar between two corners.
    Bar,
    /// Short vertical strokes at its points.
    Strokes,
    /// A long vertical stroke.
    Stroke,
    /// A ring around a point.
    Ring,
    /// A line that is not a curve.
    Rule,
    /// Text to the left of its point.
    Name(String),
}

/// A drawn item.
pub struct Item {
    /// Appearance.
    pub shape: Shape,
    /// Class of the style sheet.
    pub class: String,
    /// Points in the units of the scales.
    pub points: Vec<(f64, f64)>,
    /// Description that is shown on hover and read aloud; items with one are marks.
    pub words: String,
}

impl Item {
    /// An item without a description.
    pub fn new(shape: Shape, class: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { shape, class: class.into(), points, words: String::new() }
    }

    /// The item with a description.
    pub fn described(self, words: String) -> Self {
        Self { words, ..self }
    }

    /// The item with all of its points inside of the scales: pixels of points far outside overflow.
    fn within(&self, x: &Scale, y: &Scale) -> Self {
        let range = |scale: &Scale| if scale.logarithmic { positive(scale.range) } else { linear(scale.range) };
        let (x, y) = (range(x), range(y));
        let inside = |point: &(f64, f64)| (point.0.clamp(x.start, x.end), point.1.clamp(y.start, y.end));
        let points = self.points.iter().map(inside).collect();
        Self { shape: self.shape.clone(), class: self.class.clone(), points, words: self.words.clone() }
    }
}

/// A chart.
pub struct Plot {
    /// Id, unique on the page; also the name of its file.
    pub id: String,
    /// One line.
    pub title: String,
    /// Height of the plot itself in pixels.
    pub height: u32,
    /// Space on the left in pixels, for names.
    pub left: u32,
    /// Horizontal scale.
    pub x: Scale,
    /// Vertical scale.
    pub y: Scale,
    /// Items in the order of drawing.
    pub items: Vec<Item>,
    /// Class and name of each entry.
    pub legend: Vec<(String, String)>,
}

impl Plot {
    /// Number of marks: items with a description.
    pub fn marks(&self) -> usize {
        self.items.iter().filter(|item| !item.words.is_empty()).count()
    }

    /// The SVG element, without colours.
    pub fn svg(&self) -> String {
        let (legend, lines) = self.legend();
        let height = self.height + BELOW + lines * LEGEND + 12;
        let mut body = String::new();
        {
            let area = Page::new((WIDTH, height), &mut body).into_drawing_area();
            let (_, area) = area.split_vertically(lines * LEGEND);
            let drawn = match (self.x.logarithmic, self.y.logarithmic) {
                (true, true) => self.draw(&area, log(self.x.range), log(self.y.range)),
                (false, true) => self.draw(&area, linear(self.x.range), log(self.y.range)),
                (true, false) => self.draw(&area, log(self.x.range), linear(self.y.range)),
                (false, false) => self.draw(&area, linear(self.x.range), linear(self.y.range)),
            };
            // This page's errors are Infallible; plotters has others, for images, which this page never draws.
            debug_assert!(drawn.is_ok(), "{}: {drawn:?}", self.id);
        }
        let title = escaped(&self.title);
        format!(
            "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" xmlns=\"http://www.w3.org/2000/svg\" role=\"group\" \
             aria-label=\"{title}\" data-marks=\"{}\">\n<title>{title}</title>\n{legend}{body}</svg>\n",
            self.marks()
        )
    }

    fn legend(&self) -> (String, u32) {
        let mut out = String::new();
        let (mut x, mut line) = (8.0, 0);
        for (class, name) in &self.legend {
            let width = 30.0 + name.chars().count() as f64 * CHARACTER;
            if x + width > f64::from(WIDTH) && x > 8.0 {
                (x, line) = (8.0, line + 1);
            }
            let y = line * LEGEND;
            let _ = writeln!(
                out,
                "<rect class=\"{class}\" x=\"{x:.0}\" y=\"{}\" width=\"12\" height=\"12\"/>\
                 <text class=\"ink\" x=\"{:.0}\" y=\"{}\">{}</text>",
                y + 3,
                x + 17.0,
                y + 14,
                escaped(name)
            );
            x += width;
        }
        (out, if self.legend.is_empty() { 0 } else { line + 1 })
    }

    fn draw<'a, X, Y>(&self, area: &DrawingArea<Page<'a>, Shift>, x: X, y: Y) -> Result<(), Box<dyn std::error::Error>>
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let beside = if self.y.label.is_some() { BESIDE } else { self.left };
        let mut chart = ChartBuilder::on(area)
            .margin_right(16)
            .margin_top(8)
            .x_label_area_size(BELOW)
            .y_label_area_size(beside)
            .build_cartesian_2d(x, y)
            .map_err(|error| error.to_string())?;
        let text = |pos: Pos| -> TextStyle { ("sans-serif", TEXT).into_text_style(area).color(&INK).pos(pos) };
        let name = |scale: &Scale, value: &f64| scale.label.map_or(String::new(), |label| label(*value));
        let (x_name, y_name) = (|value: &f64| name(&self.x, value), |value: &f64| name(&self.y, value));
        let mut mesh = chart.configure_mesh();
        mesh.x_labels(self.x.ticks)
            .y_labels(self.y.ticks)
            .max_light_lines(0)
            .axis_style(AXIS)
            .bold_line_style(GRID)
            .x_label_formatter(&x_name)
            .y_label_formatter(&y_name)
            .x_label_style(text(Pos::new(HPos::Center, VPos::Top)))
            .y_label_style(text(Pos::new(HPos::Right, VPos::Center)))
            .axis_desc_style(text(Pos::new(HPos::Center, VPos::Center)))
            .x_desc(self.x.title.as_str());
        if self.y.label.is_some() {
            mesh.y_desc(self.y.title.as_str());
        } else {
            mesh.disable_y_mesh();
        }
        mesh.draw().map_err(|error| error.to_string())?;
        for item in &self.items {
            let item = item.within(&self.x, &self.y);
            chart.plotting_area().draw(&item).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// A range that a scale can be drawn for: figures of others may be anything, and the search for ticks of an empty or an
/// infinite range does not end.
fn linear((low, high): (f64, f64)) -> Range<f64> {
    let end = |value: f64| if value.is_nan() { 0.0 } else { value.clamp(-MOST, MOST) };
    let (low, high) = (end(low), end(high));
    if low < high { low..high } else { low..low + low.abs().max(1.0) }
}

/// As [`linear`], with ends above 0.
fn positive((low, high): (f64, f64)) -> Range<f64> {
    let low = if low.is_nan() { LEAST } else { low.clamp(LEAST, MOST / 10.0) };
    if high > low { low..high.min(MOST) } else { low..10.0 * low }
}

fn log(range: (f64, f64)) -> LogCoord<f64> {
    positive(range).log_scale().into()
}

impl<'a> PointCollection<'a, (f64, f64)> for &'a Item {
    type Point = &'a (f64, f64);
    type IntoIter = &'a [(f64, f64)];

    fn point_iter(self) -> Self::IntoIter {
        &self.points
    }
}

impl Drawable<Page<'_>> for Item {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        pos: I,
        page: &mut Page,
        _: (u32, u32),
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        let at: Vec<BackendCoord> = pos.collect();
        let class = &self.class;
        let shape = match (&self.shape, &at[..]) {
            (Shape::Line, _) => format!(r#"<polyline class="line {class}" points="{}"/>"#, points(&at)),
            (Shape::Rule, _) => format!(r#"<polyline class="rule" points="{}"/>"#, points(&at)),
            (Shape::Dot(form), [(x, y)]) => dot(*form, *x, *y, class),
            (Shape::Bar, [(x0, y0), (x1, y1)]) => {
                let (left, top) = (x0.min(x1), y0.min(y1));
                let (width, height) = ((x1 - x0).abs().max(1), (y1 - y0).abs());
                format!(r#"<rect class="{class}" x="{left}" y="{top}" width="{width}" height="{height}"/>"#)
            }
            (Shape::Strokes, _) => {
                let strokes: String = at.iter().map(|(x, y)| format!("M{x} {}v12", y - 6)).collect();
                format!(r#"<path class="strokes {class}" d="{strokes}"/>"#)
            }
            (Shape::Stroke, [(x, y)]) => format!(r#"<path class="stroke {class}" d="M{x} {}v26"/>"#, y - 13),
            (Shape::Ring, [(x, y)]) => format!(r#"<circle class="ring" cx="{x}" cy="{y}" r="8"/>"#),
            (Shape::Name(name), [(x, y)]) => {
                let (x, y, words) = (x - 8, y + 4, escaped(name));
                format!(r#"<text class="ink" x="{x}" y="{y}" text-anchor="end">{words}</text>"#)
            }
            _ => String::new(),
        };
        if self.words.is_empty() {
            page.raw(&format!("{shape}\n"));
        } else {
            let words = escaped(&self.words);
            page.raw(&format!(
                "<g class=\"mark\" role=\"img\" tabindex=\"-1\" aria-label=\"{words}\"><title>{words}</title>{shape}</g>\n"
            ));
        }
        Ok(())
    }
}

/// Forms that can be distinguished without colour.
fn dot(form: usize, x: i32, y: i32, class: &str) -> String {
    let polygon = |corners: &[(i32, i32)]| {
        let corners: Vec<_> = corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        format!(r#"<polygon class="{class}" points="{}"/>"#, points(&corners))
    };
    match form % 5 {
        0 => format!(r#"<circle class="{class}" cx="{x}" cy="{y}" r="5"/>"#),
        1 => polygon(&[(-5, -5), (5, -5), (5, 5), (-5, 5)]),
        2 => polygon(&[(0, -6), (6, 5), (-6, 5)]),
        3 => polygon(&[(0, -7), (7, 0), (0, 7), (-7, 0)]),
        _ => polygon(&[(0, 6), (6, -5), (-6, -5)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_figures_have_a_scale() {
        let ends = [0.0, -1.0, 1e-12, 5.0, 1.7e308, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        for range in ends.iter().flat_map(|&low| ends.map(|high| (low, high))) {
            for logarithmic in [false, true] {
                let scale =
                    || Scale { title: "t".into(), range, logarithmic, label: Some(|v| v.to_string()), ticks: 6 };
                let drawn = if logarithmic { positive(range) } else { linear(range) };
                assert!(drawn.start < drawn.end && (drawn.end - drawn.start).is_finite(), "{range:?}: {drawn:?}");
                let (id, title) = (String::new(), String::new());
                let points = vec![range, (f64::MAX, -f64::MAX)];
                let bar = Item { shape: Shape::Bar, class: "c".into(), points, words: String::new() };
                let plot = Plot {
                    id,
                    title,
                    height: 100,
                    left: 0,
                    x: scale(),
                    y: scale(),
                    items: vec![bar],
                    legend: Vec::new(),
                };
                assert!(plot.svg().contains("<rect class=\"c\""), "{range:?}");
            }
        }
        assert_eq!((linear((0.0, 2.0)), positive((0.5, 2.0))), (0.0..2.0, 0.5..2.0), "ordinary ranges stay");
    }
}
