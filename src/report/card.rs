//! The decision card: cost and abilities of every backend at a point, and the cheapest backends in words.
//!
//! Costs are those of the results. Abilities are asked of the registry by the backend's name.

use super::Screen;
use super::columns::stacked;
use super::findings::{crowd, drawn, fastest, overtakes, place};
use super::table::device_clock;
use super::units::grouped;
use crate::backend::{Abilities, Joints, LaterPasses};
use crate::frame::{Ability, Side, Stage, StageGroup};
use crate::harness::stats::TAIL_SAMPLES;
use crate::registry;
use crate::results::crossover::crossovers;
use crate::results::decision::{least_memory, sheets_through, smallest};
use crate::results::{Axis, Point, Ranking, Sheet, Study, StudyEntry, ranking_of};

/// A column of the card: its heading, and the cell of a backend where results or registry have one.
type Column = (&'static str, fn(&StudyEntry) -> Option<String>);

/// Columns of the card that are read together.
pub struct Part {
    /// Its title.
    pub title: &'static str,
    /// Headings, then a row for each measured backend. What results or the registry do not say is a dash.
    pub rows: Vec<Vec<String>>,
}

/// Columns of time.
const TIME: [Column; 7] = [
    ("frame p50 ms", |entry| {
        Some(millions(entry.frame()?.median_ns?))
    }),
    ("p99 ms", |entry| {
        let row = entry.frame()?;
        match row.p99_ns {
            Some(ns) => Some(millions(ns)),
            None => row
                .frames
                .filter(|count| *count < TAIL_SAMPLES)
                .map(|_| format!("needs {TAIL_SAMPLES}")),
        }
    }),
    ("worst ms", |entry| Some(millions(entry.frame()?.max_ns?))),
    ("processor ms", |entry| Some(millions(entry.processor()?))),
    ("device ms", |entry| Some(millions(entry.device()?))),
    ("upload ms", |entry| {
        let times = Side::BOTH
            .into_iter()
            .filter_map(|side| entry.total_on(side, StageGroup::Upload));
        let times: Vec<String> = times.map(millions).collect();
        (!times.is_empty()).then(|| times.join(" + "))
    }),
    ("other ms", |entry| Some(millions(entry.other()?))),
];

/// Columns of memory and work.
const MEMORY: [Column; 5] = [
    ("host MB", |entry| {
        Some(millions(entry.frame()?.host_bytes?))
    }),
    ("device MB", |entry| {
        Some(millions(entry.frame()?.device_bytes?))
    }),
    ("MB up", |entry| {
        Some(millions(entry.frame()?.upload_bytes?))
    }),
    ("draws", |entry| Some(grouped(entry.frame()?.draws?))),
    ("largest error", |entry| {
        Some(format!("{:.1e}", entry.frame()?.parity_max_rel?))
    }),
];

/// Columns of what a backend can do.
const ABILITIES: [Column; 3] = [
    ("layers, fades", |entry| {
        let lacks = abilities(entry)?.lack(Ability::AdditiveLayers);
        Some(if lacks { "merge, crossfade" } else { "yes" }.into())
    }),
    ("joints", |entry| {
        let abilities = abilities(entry)?;
        let joints = match abilities.joints {
            Joints::Host => "same frame",
            Joints::Device => "by read-back",
            Joints::DeviceInView => "by read-back, in view",
            Joints::Nowhere if abilities.lack(Ability::Gameplay) => "none",
            Joints::Nowhere => "sockets by read-back",
        };
        Some(joints.into())
    }),
    ("later passes", |entry| {
        let passes = match abilities(entry)?.later_passes {
            LaterPasses::Free => "free",
            LaterPasses::SkinAgain => "skin again",
            LaterPasses::NotDrawn => "not drawn",
        };
        Some(passes.into())
    }),
];

/// Columns that a card has if one of its backends has a cell: the device's clock, what gameplay reads, and the energy of
/// processor and adapter.
const OPTIONAL: [Column; 5] = [
    ("clock %", device_clock),
    ("bounds", |entry| gameplay(entry, Stage::Bounds)),
    ("sockets", |entry| gameplay(entry, Stage::Sockets)),
    ("mJ per 1,000 instances", |entry| energy(entry, Side::Host)),
    ("adapter's mJ per 1,000 instances", |entry| {
        energy(entry, Side::Device)
    }),
];

/// The card of a point, in parts; each has a row for every measured backend.
pub fn parts(study: &Study, point: &Point) -> Vec<Part> {
    let entries: Vec<&StudyEntry> = study.at(point).filter(|entry| entry.is_ok()).collect();
    let has_cells = |(_, cell): &&Column| entries.iter().any(|entry| cell(entry).is_some());
    let optional: Vec<&Column> = OPTIONAL.iter().filter(has_cells).collect();
    let parts = [
        ("time", TIME.iter().collect()),
        ("memory, draws, error", MEMORY.iter().collect()),
        ("what gameplay can have", ABILITIES.iter().collect()),
        ("what gameplay reads, energy", optional),
    ];
    let mut card = Vec::new();
    for (title, columns) in parts {
        if columns.is_empty() {
            continue;
        }
        let mut headings = vec!["backend".to_owned()];
        headings.extend(columns.iter().map(|(heading, _)| (*heading).to_owned()));
        let mut rows = vec![headings];
        for entry in &entries {
            let mut row = vec![entry.backend.clone()];
            row.extend(
                columns
                    .iter()
                    .map(|(_, cell)| cell(entry).unwrap_or("-".into())),
            );
            rows.push(row);
        }
        card.push(Part { title, rows });
    }
    card
}

/// The card of a point as one table.
pub fn table(study: &Study, point: &Point) -> Vec<Vec<String>> {
    let mut parts = parts(study, point).into_iter();
    let mut table = parts.next().map_or(Vec::new(), |part| part.rows);
    for part in parts {
        for (row, more) in table.iter_mut().zip(part.rows) {
            // Each part repeats the backend.
            row.extend(more.into_iter().skip(1));
        }
    }
    table
}

/// A side's millijoules per frame and thousand instances, with their largest error.
fn energy(entry: &StudyEntry, side: Side) -> Option<String> {
    let energy = entry.energy(side)?;
    let of_thousand = |microjoules: f64| three_digits(microjoules / entry.point.instances as f64);
    Some(format!(
        "{} ± {}",
        of_thousand(energy.microjoules),
        of_thousand(energy.error)
    ))
}

/// Milliseconds of a stage that gameplay reads, and how many frames later the processor has it.
fn gameplay(entry: &StudyEntry, stage: Stage) -> Option<String> {
    let row = &entry.stage(stage)?.row;
    let parts = Side::BOTH
        .into_iter()
        .filter_map(|side| entry.part(stage, side)?.row.median_ns);
    let ns: u64 = parts.sum();
    let delay = match row.delay_frames {
        None => String::new(),
        Some(0) => ", same frame".into(),
        Some(1) => ", 1 frame later".into(),
        Some(frames) => format!(", {frames} frames later"),
    };
    Some(format!("{:.3} ms{delay}", ns as f64 / 1e6))
}

fn abilities(entry: &StudyEntry) -> Option<Abilities> {
    let known = registry::find(&entry.backend).filter(|known| known.is_built());
    known.map(registry::BackendEntry::abilities)
}

/// Milliseconds of nanoseconds, or megabytes of bytes.
fn millions(value: u64) -> String {
    three_digits(value as f64 / 1e6)
}

/// The cheapest backends at a point in time, in memory and at equal error, and where these answers change: a sentence for
/// each.
pub fn answers<'a>(study: &'a Study, point: &Point) -> Vec<String> {
    let quantity = study.quantity(point.passes);
    let whole: Vec<&StudyEntry> = study
        .at(point)
        .filter(|entry| entry.is_ok() && !entry.leaves_out())
        .collect();
    let (time, memory) = (
        ranking_of(quantity, whole.iter().copied()),
        smallest(whole.iter().copied()),
    );
    let mut sentences = Vec::new();
    sentences.extend(time.iter().flat_map(fastest));
    sentences.extend(memory.map(|(entry, bytes)| {
        format!(
            "{} takes the least memory, {} MB on host and device.",
            entry.backend,
            millions(bytes)
        )
    }));
    // The backends with the least time and with the least memory.
    let names = |time: &Option<Ranking<'a>>, memory: Option<(&'a StudyEntry, u64)>| {
        (
            time.as_ref().map(|ranking| &ranking.first.backend),
            memory.map(|(entry, _)| &entry.backend),
        )
    };
    // The tolerance to which a backend was held, over the diagonal of the model's bounding box; old results do not say.
    let held = |entry: &StudyEntry| entry.last()?.row.parity_tol;
    if let Some(tolerance) = whole
        .iter()
        .filter_map(|entry| held(entry))
        .min_by(f64::total_cmp)
    {
        let exact = || {
            whole
                .iter()
                .copied()
                .filter(|entry| held(entry) == Some(tolerance))
        };
        let (first, least) = names(&ranking_of(quantity, exact()), smallest(exact()));
        let fast = first.map(|backend| format!("{backend} is fastest"));
        let small = least.map(|backend| match first == least {
            true => "takes the least memory".into(),
            false => format!("{backend} takes the least memory"),
        });
        let answers: Vec<_> = fast.into_iter().chain(small).collect();
        if (first, least) == names(&time, memory) {
            sentences.push(format!(
                "The same holds among the backends with the smallest error (vertices within {tolerance:.0e})."
            ));
        } else if !answers.is_empty() {
            let answers = answers.join(" and ");
            sentences.push(format!(
                "Among the backends with the smallest error (vertices within {tolerance:.0e}), {answers}."
            ));
        }
    }
    let sheets = sheets_through(study, point);
    if sheets.is_empty() {
        sentences.push(
            "`skinbench sweep` finds where the answers change with instances and passes.".into(),
        );
    }
    sentences.extend(
        sheets
            .iter()
            .flat_map(|sheet| changes(study, sheet, memory.is_some())),
    );
    sentences
}

/// Sentences about the changes of the fastest backend and, if results have it, of the one with the least memory along the
/// axis of one of the [`sheets_through`] a point.
fn changes(study: &Study, sheet: &Sheet, has_memory: bool) -> Vec<String> {
    let leading = crossovers(study, sheet)
        .into_iter()
        .filter(|crossover| crossover.leads);
    let mut found: Vec<String> = leading
        .map(|crossover| overtakes(sheet, &crossover))
        .collect();
    // The other axis is that of passes.
    let by_instances = sheet.axis == Axis::Instances;
    let place = |value: u64| {
        if by_instances {
            crowd(&sheet.fixed.scene, value)
        } else {
            drawn(value as u32)
        }
    };
    let fixed = if by_instances {
        format!(" ({})", drawn(sheet.fixed.passes))
    } else {
        String::new()
    };
    let least = least_memory(study, sheet);
    found.extend(
        least
            .windows(2)
            .filter(|pair| pair[0].1 != pair[1].1)
            .map(|pair| {
                let [(_, before), (from, after)] = [pair[0], pair[1]];
                format!(
                    "From {} on, {after} takes the least memory instead of {before}{fixed}.",
                    place(from)
                )
            }),
    );
    if let ([first, .., last], true) = (&sheet.values[..], found.is_empty()) {
        let (first, last) = (place(*first), place(*last));
        let memory = if has_memory {
            ", and the same one takes the least memory"
        } else {
            ""
        };
        found.push(format!(
            "From {first} to {last}, the same backend is fastest{memory}{fixed}."
        ));
    }
    found
}

/// The cards of all points as text for terminals.
pub fn text(study: &Study, screen: Screen) -> String {
    let mut text = String::new();
    for point in &study.points {
        text += &format!("\ncard: {}\n", place(point));
        if screen == Screen::Wide {
            text += &format!("\n{}", stacked(&table(study, point), screen));
            continue;
        }
        for part in parts(study, point) {
            text += &format!("\n{}", stacked(&part.rows, screen));
        }
    }
    text
}

/// A number with three digits, or with all digits before the point.
fn three_digits(value: f64) -> String {
    let digits = match value {
        ..10.0 => 2,
        ..100.0 => 1,
        _ => return grouped(value.round() as u64),
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Abilities;

    #[test]
    fn numbers_have_three_digits_or_more() {
        assert_eq!(
            [0.0, 1.234, 12.34, 123.4, 12_345.6].map(three_digits),
            ["0.00", "1.23", "12.3", "123", "12,346"]
        );
    }

    #[test]
    fn abilities_are_the_backends_own() {
        let said = |name: &str| {
            let entry = registry::find(name).unwrap();
            let Abilities {
                joints,
                later_passes,
                ..
            } = entry.abilities();
            (
                entry.abilities().lack(Ability::AdditiveLayers),
                joints,
                later_passes,
            )
        };
        assert_eq!(said("cpu-rayon"), (false, Joints::Host, LaterPasses::Free));
        assert_eq!(
            said("cpu-simd:dual-quaternion"),
            (false, Joints::Host, LaterPasses::Free)
        );
        assert_eq!(
            said("cpu-simd:lanes-interleaved"),
            (false, Joints::Host, LaterPasses::NotDrawn)
        );
        #[cfg(feature = "gpu")]
        for (name, expected) in [
            ("gpu-vertex", (false, Joints::Host, LaterPasses::SkinAgain)),
            ("gpu-compute", (false, Joints::Host, LaterPasses::Free)),
            ("gpu-full", (false, Joints::Device, LaterPasses::Free)),
            (
                "gpu-full:vertex-culled",
                (false, Joints::DeviceInView, LaterPasses::SkinAgain),
            ),
            ("gpu-baked", (true, Joints::Nowhere, LaterPasses::SkinAgain)),
            (
                "gpu-baked:compute",
                (true, Joints::Nowhere, LaterPasses::Free),
            ),
            ("gpu-vat", (true, Joints::Nowhere, LaterPasses::SkinAgain)),
        ] {
            assert_eq!(said(name), expected, "{name}");
        }
    }
}
