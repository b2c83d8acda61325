//! Pictures of errors: vertices as wanted and as shown, from the front and from the side.

use crate::answer::{Answer, Displaced, Judged, Judgement};
use crate::expected::Expected;
use glam::DVec3;
use std::fmt::{self, Write};

/// Edge of each of the two views, and the margin around points, in pixels.
const EDGE: f64 = 360.0;
const MARGIN: f64 = 40.0;
/// Vertices that are off by more diagonals are left out: their distance says nothing more.
const FAR: f64 = 10.0;
/// Vertices beyond this number are thinned out.
const MANY: usize = 1500;
/// Number of vertices up to which they are drawn as large dots.
const FEW: usize = 100;

/// A vertex as wanted and as shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Where it should be.
    pub want: [f64; 3],
    /// Where it is.
    pub got: [f64; 3],
}

/// The asset with the largest finite position error among those that are wrong, as SVG; `None` if none is.
///
/// # Errors
/// None but those of the formatter.
pub fn worst(
    expected: &[Expected],
    answer: &Answer,
    judged: &[Judged],
) -> Result<Option<String>, fmt::Error> {
    let wrong = expected.iter().zip(judged);
    let wrong = wrong
        .filter(|(_, judged)| judged.judgement == Judgement::Wrong && judged.position.is_finite());
    let worst = wrong.max_by(|(_, a), (_, b)| a.position.total_cmp(&b.position));
    let Some((expected, judged)) = worst else {
        return Ok(None);
    };
    let Displaced { time, vertex, .. } = judged.worst;
    let moments = &answer.assets[&expected.asset].moments;
    let mut pairs = Vec::new();
    for (moment, shown) in expected.moments.iter().zip(moments) {
        if moment.time == time {
            for (want, got) in moment.positions.iter().zip(&shown.positions) {
                let got = got.map(|number| number.unwrap_or(f64::NAN));
                let is_near = (0..3).all(|c| (got[c] - want[c]).abs() <= FAR * expected.diagonal);
                if is_near {
                    pairs.push(Pair { want: *want, got });
                }
            }
        }
    }
    let title = format!(
        "{}: off by {:.1e} of the diagonal at {time} s, vertex {vertex}",
        expected.asset, judged.position
    );
    draw(&title, ["as specified", "as the engine shows it"], &pairs).map(Some)
}

/// Vertices from the front and from the side, as SVG, below a title and above what the two colours stand for.
///
/// # Errors
/// None but those of the formatter.
pub fn draw(title: &str, [want, got]: [&str; 2], pairs: &[Pair]) -> Result<String, fmt::Error> {
    let mut svg = String::new();
    let [width, height] = [2.0 * EDGE, EDGE + 2.0 * MARGIN];
    let [title, want, got] = [title, want, got].map(escaped);
    writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">"#
    )?;
    writeln!(
        svg,
        r#"<rect width="{width}" height="{height}" fill="white"/>"#
    )?;
    writeln!(svg, r#"<text x="10" y="20">{title}</text>"#)?;
    writeln!(
        svg,
        r##"<text x="10" y="{}"><tspan fill="#2a7">{want}</tspan>, <tspan fill="#c33">{got}</tspan>; left from the front (x, y), right from the side (z, y)</text>"##,
        height - 12.0
    )?;
    let step = pairs.len().div_ceil(MANY).max(1);
    let mut drawn: Vec<&Pair> = pairs.iter().step_by(step).collect();
    let distance = |pair: &&Pair| DVec3::from(pair.want).distance(DVec3::from(pair.got));
    if step > 1 {
        drawn.extend(
            pairs
                .iter()
                .max_by(|a, b| distance(a).total_cmp(&distance(b))),
        );
    }
    for (view, across) in [0, 2].into_iter().enumerate() {
        draw_view(&mut svg, &drawn, across, EDGE * view as f64)?;
    }
    writeln!(svg, "</svg>")?;
    Ok(svg)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Draws axis `across` to the right and y up, from a place on.
fn draw_view(svg: &mut String, pairs: &[&Pair], across: usize, left: f64) -> fmt::Result {
    let mut low = [f64::INFINITY; 2];
    let mut high = [f64::NEG_INFINITY; 2];
    for point in pairs.iter().flat_map(|pair| [pair.want, pair.got]) {
        for (side, axis) in [across, 1].into_iter().enumerate() {
            low[side] = low[side].min(point[axis]);
            high[side] = high[side].max(point[axis]);
        }
    }
    let extent = (high[0] - low[0]).max(high[1] - low[1]).max(1e-9);
    let scale = (EDGE - 2.0 * MARGIN) / extent;
    let place = |point: [f64; 3]| {
        let x = left + MARGIN + (point[across] - low[0]) * scale;
        [x, EDGE - (point[1] - low[1]) * scale]
    };
    let [outer, inner] = if pairs.len() > FEW {
        [1.5, 1.0]
    } else {
        [4.0, 3.0]
    };
    for Pair { want, got } in pairs {
        let [[x1, y1], [x2, y2]] = [place(*want), place(*got)];
        writeln!(
            svg,
            r##"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" stroke="#999"/>"##
        )?;
        writeln!(
            svg,
            r##"<circle cx="{x1:.1}" cy="{y1:.1}" r="{outer}" fill="#2a7"/>"##
        )?;
        writeln!(
            svg,
            r##"<circle cx="{x2:.1}" cy="{y2:.1}" r="{inner}" fill="#c33"/>"##
        )?;
    }
    Ok(())
}
