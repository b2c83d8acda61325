//! Bars of memory by purpose, on host and device.

use super::super::places::place;
use super::super::table::Value;
use super::super::units::size;
use super::bars::Rows;
use super::drawing::id_of;
use super::plot::{Chart, Scale};
use crate::results::{Point, Row, Study};

/// Purposes of memory with their classes in the style sheet.
const PURPOSES: [[&str; 2]; 5] = [
    ["mesh", "s2"],
    ["clips", "s1"],
    ["palettes", "s3"],
    ["skinned output", "s5"],
    ["scratch", "s4"],
];

/// Bytes by purpose on host and device, in the order of [`PURPOSES`].
fn sides(row: &Row) -> Option<[(&'static str, [u64; 5]); 2]> {
    let host = [
        row.host_mesh_bytes?,
        row.host_clips_bytes?,
        row.host_palettes_bytes?,
        row.host_output_bytes?,
        row.host_scratch_bytes?,
    ];
    let device = [
        row.device_mesh_bytes?,
        row.device_clips_bytes?,
        row.device_palettes_bytes?,
        row.device_output_bytes?,
        row.device_scratch_bytes?,
    ];
    Some([("host", host), ("device", device)])
}

/// The memory of each backend; none for results without columns of memory.
pub fn memory(study: &Study, point: &Point) -> Option<Chart> {
    let mut rows = Rows::new(["backend", "side", "purpose", "bytes"]);
    for entry in study.ranked(point) {
        let backend = entry.backend.as_str();
        let Some(sides) = entry.frame().and_then(sides) else {
            continue;
        };
        for (side, bytes) in sides {
            rows.begin(format!("{backend} {side}"));
            for ([purpose, class], bytes) in PURPOSES.into_iter().zip(bytes) {
                if bytes == 0 {
                    continue;
                }
                let names = [backend, side, purpose];
                rows.bar(bytes as f64, class, names, Value::Bytes(bytes));
            }
            let whole = rows.end();
            rows.figure(size(whole), whole);
        }
    }
    let most = rows.most;
    let scale = Scale::linear("memory", (0.0, most * 1.03), size, 6);
    let legend = PURPOSES.map(|[purpose, class]| (class.into(), purpose.into()));
    let title = format!("Memory: {}", place(point));
    let caption = "Memory that frames need, without pictures and staging.";
    rows.chart(
        id_of("memory", point),
        title,
        caption,
        scale,
        legend.to_vec(),
    )
    .filter(|_| most > 0.0)
}
