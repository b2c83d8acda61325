//! A chart as data, and its SVG, with classes instead of colours, which a style sheet paints for light and dark.

use super::super::table::Table;
use std::ops::Range;

/// Colours and lines of charts, for light and dark.
pub const STYLE: &str = include_str!("chart.css");
/// Height of a bar, as a fraction of its row.
pub(super) const BAR: f64 = 0.62;
/// Height of a plot whose rows have their names above them, over that of one with names beside them.
const NAMED_ABOVE: f64 = 1.4;
/// Width of an average character.
const CHARACTER: f64 = 7.2;
/// Space for numbers below the plot, and beside it if there are numbers; space above and on the right.
const BELOW: i32 = 44;
const BESIDE: i32 = 76;
const ABOVE: i32 = 8;
const RIGHT: i32 = 16;
/// Space beside a plot whose rows are named above them: half a label of the axis.
const MARGIN: i32 = 24;
/// Space between a text and its point.
const NEAR: i32 = 8;
/// Largest end of a scale, and smallest of a logarithmic one.
const MOST: f64 = 1e15;
const LEAST: f64 = 1e-9;
/// Height of one line of the legend.
const LEGEND: i32 = 20;

/// The screen that a chart is drawn for: each chart is drawn for both, as its text must not shrink with it.
struct Format {
    /// Class in the style sheet.
    class: &'static str,
    /// Width in pixels; the height follows from the content.
    width: i32,
    /// Most labels of the horizontal axis.
    most_ticks: usize,
    /// `true` if names of rows stand above them, and not beside them.
    names_above: bool,
}

const WIDE: Format = Format {
    class: "chart wide",
    width: 760,
    most_ticks: usize::MAX,
    names_above: false,
};

/// For phones.
const NARROW: Format = Format {
    class: "chart narrow",
    width: 340,
    most_ticks: 4,
    names_above: true,
};

/// One direction of a chart.
pub struct Scale {
    /// Title with the unit.
    pub title: String,
    /// Smallest and largest value.
    pub range: (f64, f64),
    /// `true` if equal ratios have equal distances.
    pub logarithmic: bool,
    /// Formats a value.
    pub label: fn(f64) -> String,
    /// Largest number of labels; 0 if the items are named themselves.
    pub ticks: usize,
}

impl Scale {
    /// A scale of even steps.
    pub fn linear(title: &str, range: (f64, f64), label: fn(f64) -> String, ticks: usize) -> Self {
        Self {
            title: title.into(),
            range,
            logarithmic: false,
            label,
            ticks,
        }
    }

    /// The smallest and the largest value that are drawn: figures of others may be anything, and an empty or an infinite
    /// range has no round values.
    fn ends(&self) -> Range<f64> {
        let least = if self.logarithmic { LEAST } else { -MOST };
        // What is no number becomes the least.
        let low = self.range.0.max(least).min(MOST);
        let high = self.range.1.max(least).min(MOST);
        if low < high {
            low..high
        } else {
            low..low + low.abs().max(1.0)
        }
    }

    /// The place of a value between the ends, 0 to 1; of a value beyond them that of the nearer end.
    fn place(&self, value: f64) -> f64 {
        let Range { start, end } = self.ends();
        let value = value.clamp(start, end);
        if self.logarithmic {
            (value / start).ln() / (end / start).ln()
        } else {
            (value - start) / (end - start)
        }
    }

    /// The pixel of a value on an axis from one pixel to another.
    fn pixel(&self, value: f64, start: i32, end: i32) -> i32 {
        (f64::from(start) + self.place(value) * f64::from(end - start)).round() as i32
    }

    /// The values that have labels: round ones, at most `most`; none for a scale whose items are named.
    fn round_values(&self, most: usize) -> Vec<f64> {
        let ends = self.ends();
        if self.logarithmic {
            let tens = multiples(&[1.0], &ends);
            if tens.len() > most {
                let step = tens.len().div_ceil(most.max(1));
                return tens.into_iter().step_by(step).collect();
            }
            for digits in [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]] {
                let values = multiples(digits, &ends);
                if (2..=most).contains(&values.len()) {
                    return values;
                }
            }
        }
        let Range { start, end } = ends;
        let power = 10f64.powi(((end - start) / most.max(1) as f64).log10().floor() as i32);
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|digit| digit * power)
            .into_iter()
            .find(|step| (end / step).floor() - (start / step).ceil() < most as f64)
            .unwrap_or(f64::INFINITY);
        let first = (start / step).ceil();
        (0..most)
            .map(|at| (first + at as f64) * step)
            .filter(|value| (start..=end).contains(value))
            .collect()
    }
}

/// The products of digits and powers of ten between two ends.
fn multiples(digits: &[f64], ends: &Range<f64>) -> Vec<f64> {
    let first = ends.start.log10().floor() as i32;
    let last = ends.end.log10().floor() as i32;
    let mut values = Vec::new();
    for power in first..=last {
        for digit in digits {
            let value = digit * 10f64.powi(power);
            if (ends.start..=ends.end).contains(&value) {
                values.push(value);
            }
        }
    }
    values
}

/// Appearance of an item.
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
    /// Name of a row whose middle is its point, and the figure at the end of its bars, which is the second point.
    Row {
        /// The name.
        name: String,
        /// The figure.
        figure: String,
    },
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
        Self {
            shape,
            class: class.into(),
            points,
            words: String::new(),
        }
    }

    /// The item with a description.
    pub fn described(self, words: String) -> Self {
        Self { words, ..self }
    }

    /// Its elements, with its points in pixels.
    fn svg(&self, at: &[(i32, i32)]) -> String {
        let class = &self.class;
        let shape = match (&self.shape, at) {
            (Shape::Line, _) => polyline(&format!("line {class}"), at),
            (Shape::Rule, _) => polyline("rule", at),
            (Shape::Dot(form), [(x, y)]) => dot(*form, *x, *y, class),
            (Shape::Bar, [(x0, y0), (x1, y1)]) => format!(
                r#"<rect class="{class}" x="{}" y="{}" width="{}" height="{}"/>"#,
                x0.min(x1),
                y0.min(y1),
                (x1 - x0).abs().max(1),
                (y1 - y0).abs()
            ),
            (Shape::Strokes, _) => {
                let mut strokes = String::new();
                for (x, y) in at {
                    strokes += &format!("M{x} {}v12", y - 6);
                }
                format!(r#"<path class="strokes {class}" d="{strokes}"/>"#)
            }
            (Shape::Stroke, [(x, y)]) => {
                format!(r#"<path class="stroke {class}" d="M{x} {}v26"/>"#, y - 13)
            }
            (Shape::Ring, [(x, y)]) => format!(r#"<circle class="ring" cx="{x}" cy="{y}" r="8"/>"#),
            // Where rows are named depends on the format of the chart.
            _ => String::new(),
        };
        if self.words.is_empty() {
            return shape;
        }
        let words = escaped(&self.words);
        let title = format!("<title>{words}</title>");
        format!(
            "<g class=\"mark\" role=\"img\" tabindex=\"-1\" aria-label=\"{words}\">{title}{shape}</g>\n"
        )
    }
}

/// Class and name of each entry.
pub type Legend = Vec<(String, String)>;

/// A chart and its figures.
pub struct Chart {
    /// Id, unique on the page; also the name of its file.
    pub id: String,
    /// One line.
    pub title: String,
    /// Explanation of how to read it, if necessary.
    pub caption: String,
    /// Height of the plot itself in pixels.
    pub height: i32,
    /// Horizontal scale.
    pub x: Scale,
    /// Vertical scale.
    pub y: Scale,
    /// Items in the order of drawing.
    pub items: Vec<Item>,
    /// Its legend.
    pub legend: Legend,
    /// The same figures as a table.
    pub table: Table,
}

impl Chart {
    /// Number of marks: items with a description.
    pub fn marks(&self) -> usize {
        self.items
            .iter()
            .filter(|item| !item.words.is_empty())
            .count()
    }

    /// Pixels of the longest name and of the longest figure of its rows.
    fn longest(&self) -> [i32; 2] {
        let mut longest = [0, 0];
        for item in &self.items {
            if let Shape::Row { name, figure } = &item.shape {
                longest[0] = longest[0].max(name.chars().count());
                longest[1] = longest[1].max(figure.chars().count());
            }
        }
        longest.map(|characters| (characters as f64 * CHARACTER) as i32)
    }

    /// The SVG elements for wide and for narrow screens, without colours; the style sheet shows one of them.
    pub fn svg(&self) -> String {
        self.drawn(&WIDE) + &self.drawn(&NARROW)
    }

    /// The SVG element in a format.
    fn drawn(&self, format: &Format) -> String {
        let width = format.width;
        let legend = self.legend(width);
        let has_rows = self.y.ticks == 0;
        let named_above = has_rows && format.names_above;
        let plot = if named_above {
            (f64::from(self.height) * NAMED_ABOVE) as i32
        } else {
            self.height
        };
        let height = plot + BELOW + legend.height + 12;
        let [left, beside] = if named_above {
            [MARGIN, MARGIN]
        } else if has_rows {
            let [name, figure] = self.longest();
            [name + 20, figure + RIGHT]
        } else {
            [BESIDE, RIGHT]
        };
        let right = width - beside;
        let top = legend.height + ABOVE;
        let bottom = height - BELOW;
        let mut body = String::new();
        for value in self.x.round_values(self.x.ticks.min(format.most_ticks)) {
            let x = self.x.pixel(value, left, right);
            body += &polyline("grid", &[(x, bottom), (x, top)]);
            body += &text(x, bottom + 20, "middle", &(self.x.label)(value));
        }
        for value in self.y.round_values(self.y.ticks) {
            let y = self.y.pixel(value, bottom, top);
            body += &polyline("grid", &[(left, y), (right, y)]);
            body += &text(left - 10, y + 4, "end", &(self.y.label)(value));
        }
        body += &polyline("axis", &[(left, top), (left, bottom), (right, bottom)]);
        body += &text((left + right) / 2, bottom + 38, "middle", &self.x.title);
        for item in &self.items {
            let mut at = Vec::new();
            for (x, y) in &item.points {
                let x = self.x.pixel(*x, left, right);
                at.push((x, self.y.pixel(*y, bottom, top)));
            }
            body += &match (&item.shape, &at[..]) {
                (Shape::Row { name, figure }, [(_, middle), _]) if named_above => {
                    // In the space above the row's bars.
                    let rows = self.y.ends();
                    let row = f64::from(bottom - top) / (rows.end - rows.start);
                    let y = middle - (row * BAR / 2.0) as i32 - 5;
                    text(left, y, "start", name) + &text(right, y, "end", figure)
                }
                (Shape::Row { name, figure }, [(_, middle), (end, _)]) => {
                    text(left - NEAR, middle + 4, "end", name)
                        + &text(end + NEAR, middle + 4, "start", figure)
                }
                _ => item.svg(&at),
            };
        }
        let title = escaped(&self.title);
        format!(
            "<svg class=\"{}\" viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\" role=\"group\" \
             aria-label=\"{title}\" data-marks=\"{}\">\n<title>{title}</title>\n{}{body}</svg>\n",
            format.class,
            self.marks(),
            legend.svg
        )
    }

    /// The SVG as a file of its own, with its colours.
    pub fn file(&self) -> String {
        let style = format!(
            "<style>{STYLE}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n"
        );
        self.drawn(&WIDE).replacen('\n', &format!("\n{style}"), 1)
    }

    /// The legend in a width.
    fn legend(&self, most: i32) -> LegendSvg {
        let mut svg = String::new();
        let mut x = 8.0;
        let mut top = 0;
        for (class, name) in &self.legend {
            let width = 30.0 + name.chars().count() as f64 * CHARACTER;
            if x + width > f64::from(most) && x > 8.0 {
                x = 8.0;
                top += LEGEND;
            }
            svg += &format!(
                r#"<rect class="{class}" x="{x:.0}" y="{}" width="12" height="12"/>"#,
                top + 3
            );
            svg += &format!(
                "<text class=\"ink\" x=\"{:.0}\" y=\"{}\">{}</text>\n",
                x + 17.0,
                top + 14,
                escaped(name)
            );
            x += width;
        }
        let height = if svg.is_empty() { 0 } else { top + LEGEND };
        LegendSvg { svg, height }
    }
}

/// The elements of a legend, and their height in pixels.
struct LegendSvg {
    svg: String,
    height: i32,
}

/// Text that is escaped for an attribute or between tags.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// A list of points for `points=`.
fn points(path: &[(i32, i32)]) -> String {
    let mut points = Vec::new();
    for (x, y) in path {
        points.push(format!("{x},{y}"));
    }
    points.join(" ")
}

fn polyline(class: &str, path: &[(i32, i32)]) -> String {
    format!(
        "<polyline class=\"{class}\" points=\"{}\"/>\n",
        points(path)
    )
}

/// Text whose baseline ends, begins or has its middle at a point.
fn text(x: i32, y: i32, anchor: &str, words: &str) -> String {
    format!(
        "<text class=\"ink\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>\n",
        escaped(words)
    )
}

/// Forms that can be distinguished without colour.
fn dot(form: usize, x: i32, y: i32, class: &str) -> String {
    let corners: &[(i32, i32)] = match form % 5 {
        0 => return format!(r#"<circle class="{class}" cx="{x}" cy="{y}" r="5"/>"#),
        1 => &[(-5, -5), (5, -5), (5, 5), (-5, 5)],
        2 => &[(0, -6), (6, 5), (-6, 5)],
        3 => &[(0, -7), (7, 0), (0, 7), (-7, 0)],
        _ => &[(0, 6), (6, -5), (-6, -5)],
    };
    let mut path = Vec::new();
    for (right, down) in corners {
        path.push((x + right, y + down));
    }
    let points = points(&path);
    format!(r#"<polygon class="{class}" points="{points}"/>"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_figures_have_a_scale() {
        let ends = [
            0.0,
            -1.0,
            1e-12,
            5.0,
            1.7e308,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        for range in ends.iter().flat_map(|&low| ends.map(|high| (low, high))) {
            for logarithmic in [false, true] {
                let scale = || Scale {
                    title: "t".into(),
                    range,
                    logarithmic,
                    label: |v| v.to_string(),
                    ticks: 6,
                };
                let drawn = scale().ends();
                assert!(
                    drawn.start < drawn.end && (drawn.end - drawn.start).is_finite(),
                    "{range:?}: {drawn:?}"
                );
                let values = scale().round_values(6);
                assert!(
                    values.len() <= 6
                        && values
                            .iter()
                            .all(|value| (drawn.start..=drawn.end).contains(value))
                );
                let empty = String::new;
                let points = vec![range, (f64::MAX, -f64::MAX)];
                let bar = Item {
                    shape: Shape::Bar,
                    class: "c".into(),
                    points,
                    words: String::new(),
                };
                let chart = Chart {
                    id: empty(),
                    title: empty(),
                    caption: empty(),
                    height: 100,
                    x: scale(),
                    y: scale(),
                    items: vec![bar],
                    legend: Vec::new(),
                    table: crate::report::table::Table::new([""]),
                };
                assert!(chart.svg().contains("<rect class=\"c\""), "{range:?}");
            }
        }
    }

    #[test]
    fn labels_are_round_and_places_are_in_proportion() {
        let scale = |range, logarithmic, ticks| Scale {
            title: String::new(),
            range,
            logarithmic,
            label: |value| value.to_string(),
            ticks,
        };
        let even = scale((-1.0, 9.0), false, 6);
        assert_eq!(even.round_values(6), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(
            [-5.0, -1.0, 4.0, 9.0, f64::INFINITY].map(|value| even.place(value)),
            [0.0, 0.0, 0.5, 1.0, 1.0]
        );
        assert_eq!(
            scale((8.0, 1_200.0), true, 8).round_values(8),
            [10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0]
        );
        assert_eq!(
            scale((1.0, 1e6), true, 4).round_values(4),
            [1.0, 100.0, 1e4, 1e6]
        );
        assert_eq!(
            scale((110.0, 190.0), true, 4).round_values(4),
            [120.0, 140.0, 160.0, 180.0],
            "no power of ten"
        );
        assert!((scale((10.0, 1_000.0), true, 8).place(100.0) - 0.5).abs() < 1e-12);
    }
}
