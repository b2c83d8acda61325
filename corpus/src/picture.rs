//! A picture of an engine's largest error: vertices as expected and as shown, from the front and from the side.

use crate::answer::{Answer, Judged, Judgement};
use crate::expected::Expected;
use std::fmt::{self, Write};

/// Edge of each of the two views, and the margin around points, in pixels.
const EDGE: f64 = 360.0;
const MARGIN: f64 = 40.0;
/// Vertices that are off by more diagonals are left out: their distance says nothing more.
const FAR: f64 = 10.0;

/// A vertex as expected and as shown.
struct Pair {
    want: [f64; 3],
    got: [f64; 3],
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
    let (time, vertex) = judged.worst;
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
    let mut svg = String::new();
    let [width, height] = [2.0 * EDGE, EDGE + 2.0 * MARGIN];
    writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">"#
    )?;
    writeln!(
        svg,
        r#"<rect width="{width}" height="{height}" fill="white"/>"#
    )?;
    writeln!(
        svg,
        r#"<text x="10" y="20">{}: off by {:.1e} of the diagonal at {time} s, vertex {vertex}</text>"#,
        expected.asset, judged.position
    )?;
    writeln!(
        svg,
        r##"<text x="10" y="{}"><tspan fill="#2a7">as specified</tspan>, <tspan fill="#c33">as the engine shows it</tspan>; left from the front (x, y), right from the side (z, y)</text>"##,
        height - 12.0
    )?;
    for (view, across) in [0, 2].into_iter().enumerate() {
        draw(&mut svg, &pairs, across, EDGE * view as f64)?;
    }
    writeln!(svg, "</svg>")?;
    Ok(Some(svg))
}

/// Draws axis `across` to the right and y up, from a place on.
fn draw(svg: &mut String, pairs: &[Pair], across: usize, left: f64) -> fmt::Result {
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
    for Pair { want, got } in pairs {
        let [[x1, y1], [x2, y2]] = [place(*want), place(*got)];
        writeln!(
            svg,
            r##"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" stroke="#999"/>"##
        )?;
        writeln!(
            svg,
            r##"<circle cx="{x1:.1}" cy="{y1:.1}" r="4" fill="#2a7"/>"##
        )?;
        writeln!(
            svg,
            r##"<circle cx="{x2:.1}" cy="{y2:.1}" r="3" fill="#c33"/>"##
        )?;
    }
    Ok(())
}
