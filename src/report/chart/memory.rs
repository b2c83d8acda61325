//! Bars of memory by purpose, on host and device.

use super::super::findings::place;
use super::bars::{bar, rows};
use super::drawing::{Chart, slug};
use super::plot::Scale;
use crate::results::{Point, Study, StudyEntry, SummaryRow};
use bytesize::ByteSize;

/// Purposes of memory with their classes in the style sheet.
const PURPOSES: [(&str, &str); 5] =
    [("mesh", "s2"), ("clips", "s1"), ("palettes", "s3"), ("skinned output", "s5"), ("scratch", "s4")];

/// Bytes by purpose on host and device, in the order of [`PURPOSES`].
fn sides(row: &SummaryRow) -> Option<[(&'static str, [u64; 5]); 2]> {
    let host = [row.host_mesh?, row.host_clips?, row.host_palettes?, row.host_output?, row.host_scratch?];
    let device = [row.device_mesh?, row.device_clips?, row.device_palettes?, row.device_output?, row.device_scratch?];
    Some([("host", host), ("device", device)])
}

/// The memory of each backend; none for results without columns of memory.
pub fn memory(study: &Study, point: &Point) -> Option<Chart> {
    let label: fn(f64) -> String = |bytes| ByteSize(bytes.round().max(0.0) as u64).display().si().to_string();
    let bars_of = |entry: &StudyEntry| {
        let sides = sides(entry.frame()?)?;
        Some(sides.map(|(side, bytes)| (entry.backend.clone(), side, bytes)))
    };
    let bars: Vec<_> = study.at(point).filter_map(bars_of).flatten().collect();
    let mut table = vec![["backend", "side", "purpose", "bytes"].map(String::from).to_vec()];
    let (mut items, mut most) = (Vec::new(), 0.0f64);
    for (row, (backend, side, bytes)) in bars.iter().enumerate() {
        let mut from = 0.0;
        for ((purpose, class), &bytes) in PURPOSES.iter().zip(bytes).filter(|(_, bytes)| **bytes > 0) {
            let (to, words) = (from + bytes as f64, format!("{backend}, {side}, {purpose}: {}", label(bytes as f64)));
            items.push(bar(bars.len(), row, (from, to), class, words));
            table.push(vec![backend.clone(), (*side).into(), (*purpose).into(), bytes.to_string()]);
            from = to;
        }
        most = most.max(from);
    }
    let names: Vec<_> = bars.iter().map(|(backend, side, _)| format!("{backend} {side}")).collect();
    let scale = Scale::linear("memory", (0.0, most * 1.03), label, 6);
    let legend = PURPOSES.map(|(purpose, class)| (class.to_owned(), purpose.to_owned())).to_vec();
    let id = slug(&format!("memory {} {} passes {}", point.scene, point.instances, point.passes));
    let plot = rows(id, format!("Memory: {}", place(point)), &names, items, scale, legend);
    let caption = "Memory that frames need, without pictures and staging.".into();
    (most > 0.0).then(|| Chart::new(&plot, caption, table))
}
