//! The decision card: cost and abilities of every backend at a point, and the cheapest backends in words.
//!
//! Costs are those of the results. Abilities are asked of the registry by the backend's name.

use super::Screen;
use super::columns::{Column, Place, cells, stacked};
use super::findings::{crowd, drawn, fastest, overtakes, place};
use super::table::{device_clock, on_both_sides};
use super::units::grouped;
use crate::backend::{Abilities, Joints, LaterPasses};
use crate::frame::{Ability, Side, Stage, StageGroup};
use crate::harness::stats::TAIL_SAMPLES;
use crate::registry;
use crate::results::crossover::crossovers;
use crate::results::decision::{least_memory, sheets_through, smallest};
use crate::results::{Axis, Point, Quantity, Ranking, Sheet, Study, StudyEntry, ranking_of};

/// Columns of the card that are read together.
pub struct Section {
    /// Its title.
    pub title: &'static str,
    /// Headings, then a row for each measured backend. What results or the registry do not say is a dash.
    pub rows: Vec<Vec<String>>,
}

/// The first column of each section.
const BACKEND: Column<StudyEntry> = Column::words("backend", |entry| Some(entry.backend.clone()));

/// Columns of time.
const TIME: [Column<StudyEntry>; 8] = [
    BACKEND,
    Column::figures("frame p50 ms", Place::Stays, |entry| {
        Some(millions(entry.frame()?.median_ns?))
    }),
    Column::figures("p99 ms", Place::Stays, |entry| {
        let row = entry.frame()?;
        match row.p99_ns {
            Some(ns) => Some(millions(ns)),
            None => row
                .frames
                .filter(|count| *count < TAIL_SAMPLES)
                .map(|_| format!("needs {TAIL_SAMPLES}")),
        }
    }),
    Column::figures("worst ms", Place::Stays, |entry| {
        Some(millions(entry.frame()?.max_ns?))
    }),
    Column::figures("processor ms", Place::Stays, |entry| {
        Some(millions(entry.processor()?))
    }),
    Column::figures("device ms", Place::Stays, |entry| {
        Some(millions(entry.device()?))
    }),
    Column::figures("upload ms", Place::Stays, |entry| {
        on_both_sides(entry, StageGroup::Upload, millions)
    }),
    Column::figures("other ms", Place::Stays, |entry| {
        Some(millions(entry.other()?))
    }),
];

/// Columns of memory and work.
const MEMORY: [Column<StudyEntry>; 6] = [
    BACKEND,
    Column::figures("host MB", Place::Stays, |entry| {
        Some(millions(entry.frame()?.host_bytes?))
    }),
    Column::figures("device MB", Place::Stays, |entry| {
        Some(millions(entry.frame()?.device_bytes?))
    }),
    Column::figures("MB up", Place::Stays, |entry| {
        Some(millions(entry.frame()?.upload_bytes?))
    }),
    Column::figures("draws", Place::Stays, |entry| {
        Some(grouped(entry.frame()?.draws?))
    }),
    Column::figures("largest error", Place::Stays, |entry| {
        Some(format!("{:.1e}", entry.frame()?.parity_max_rel?))
    }),
];

/// Columns of what a backend can do.
const ABILITIES: [Column<StudyEntry>; 4] = [
    BACKEND,
    Column::figures("layers, fades", Place::Stays, |entry| {
        let lacks = abilities(entry)?.lack(Ability::AdditiveLayers);
        Some(if lacks { "merge, crossfade" } else { "yes" }.into())
    }),
    Column::figures("joints", Place::Stays, |entry| {
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
    Column::figures("later passes", Place::Stays, |entry| {
        let passes = match abilities(entry)?.later_passes {
            LaterPasses::Free => "free",
            LaterPasses::SkinAgain => "skin again",
            LaterPasses::NotDrawn => "not drawn",
        };
        Some(passes.into())
    }),
];

/// Columns that a card has if one of its backends has a cell: the device's clock, and what gameplay reads.
const OPTIONAL: [Column<StudyEntry>; 4] = [
    BACKEND,
    Column::figures("clock %", Place::Leaves(0), device_clock),
    Column::figures("bounds", Place::Leaves(0), |entry| {
        gameplay(entry, Stage::Bounds)
    }),
    Column::figures("sockets", Place::Leaves(0), |entry| {
        gameplay(entry, Stage::Sockets)
    }),
];

/// The card of a point, in sections; each has a row for every measured backend.
pub fn sections(study: &Study, point: &Point) -> Vec<Section> {
    let entries: Vec<&StudyEntry> = study.at(point).filter(|entry| entry.is_ok()).collect();
    let mut card = Vec::new();
    for (title, columns) in [
        ("time", &TIME[..]),
        ("memory, draws, error", &MEMORY),
        ("what gameplay can have", &ABILITIES),
        ("what gameplay reads", &OPTIONAL),
    ] {
        let rows = cells(columns, &entries);
        if rows[0].len() > 1 {
            card.push(Section { title, rows });
        }
    }
    card
}

/// The card of a point as one table.
pub fn table(study: &Study, point: &Point) -> Vec<Vec<String>> {
    let mut sections = sections(study, point).into_iter();
    let mut table = sections.next().map_or(Vec::new(), |section| section.rows);
    for section in sections {
        for (row, more) in table.iter_mut().zip(section.rows) {
            // Each section repeats the backend.
            row.extend(more.into_iter().skip(1));
        }
    }
    table
}

/// Milliseconds of a stage that gameplay reads, and how many frames later the processor has it.
fn gameplay(entry: &StudyEntry, stage: Stage) -> Option<String> {
    let row = &entry.stage(stage)?.row;
    let times = Side::BOTH.map(|side| entry.stage_on(stage, side)?.row.median_ns);
    let ns: u64 = times.into_iter().flatten().sum();
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
pub fn answers(study: &Study, point: &Point) -> Vec<String> {
    let quantity = study.quantity(point.passes);
    let whole: Vec<&StudyEntry> = study
        .at(point)
        .filter(|entry| entry.is_ok() && !entry.leaves_out())
        .collect();
    let time = ranking_of(quantity, whole.iter().copied());
    let memory = smallest(whole.iter().copied());
    let mut sentences = Vec::new();
    sentences.extend(time.iter().flat_map(fastest));
    if let Some(entry) = memory {
        sentences.push(format!(
            "{} takes the least memory, {} MB on host and device.",
            entry.backend,
            millions(entry.memory().unwrap_or_default())
        ));
    }
    sentences.extend(among_exact(&whole, quantity, time.as_ref(), memory));
    let sheets = sheets_through(study, point);
    if sheets.is_empty() {
        sentences.push(
            "`skinbench sweep` finds where the answers change with instances and passes.".into(),
        );
    }
    for sheet in sheets {
        sentences.extend(changes(study, sheet, memory.is_some()));
    }
    sentences
}

/// The sentence about the cheapest backends among those with the smallest error; `time` and `memory` are the cheapest of
/// all.
fn among_exact(
    whole: &[&StudyEntry],
    quantity: Quantity,
    time: Option<&Ranking>,
    memory: Option<&StudyEntry>,
) -> Option<String> {
    let tolerances = whole.iter().filter_map(|entry| tolerance(entry));
    let least = tolerances.min_by(f64::total_cmp)?;
    let mut exact = whole.to_vec();
    exact.retain(|entry| tolerance(entry) == Some(least));
    let exact_time = ranking_of(quantity, exact.iter().copied());
    let fast = exact_time.map(|ranking| &ranking.first.backend);
    let small = smallest(exact.into_iter()).map(|entry| &entry.backend);
    if fast == time.map(|ranking| &ranking.first.backend)
        && small == memory.map(|entry| &entry.backend)
    {
        return Some(format!(
            "The same holds among the backends with the smallest error (vertices within {least:.0e})."
        ));
    }
    let mut answers = Vec::new();
    answers.extend(fast.map(|backend| format!("{backend} is fastest")));
    if small.is_some() && small == fast {
        answers.push("takes the least memory".into());
    } else {
        answers.extend(small.map(|backend| format!("{backend} takes the least memory")));
    }
    if answers.is_empty() {
        return None;
    }
    Some(format!(
        "Among the backends with the smallest error (vertices within {least:.0e}), {}.",
        answers.join(" and ")
    ))
}

/// The tolerance to which a backend was held, over the diagonal of the model's bounding box; old results do not say.
fn tolerance(entry: &StudyEntry) -> Option<f64> {
    entry.last()?.row.parity_tol
}

/// Sentences about the changes of the fastest backend and, if results have it, of the one with the least memory along the
/// axis of one of the [`sheets_through`] a point.
fn changes(study: &Study, sheet: &Sheet, has_memory: bool) -> Vec<String> {
    let mut found = Vec::new();
    for crossover in crossovers(study, sheet) {
        if crossover.leads {
            found.push(overtakes(sheet, &crossover));
        }
    }
    // The other axis is that of passes.
    let by_instances = sheet.axis == Axis::Instances;
    let place = |value: u64| {
        if by_instances {
            crowd(&sheet.fixed.scene, value)
        } else {
            drawn(value as u32)
        }
    };
    let passes = sheet.fixed.passes;
    let fixed = passes.map_or(String::new(), |passes| format!(" ({})", drawn(passes)));
    for pair in least_memory(study, sheet).windows(2) {
        let [(_, before), (from, after)] = [pair[0], pair[1]];
        if before != after {
            found.push(format!(
                "From {} on, {after} takes the least memory instead of {before}{fixed}.",
                place(from)
            ));
        }
    }
    if let [first, .., last] = &sheet.values[..]
        && found.is_empty()
    {
        let memory = if has_memory {
            ", and the same one takes the least memory"
        } else {
            ""
        };
        found.push(format!(
            "From {} to {}, the same backend is fastest{memory}{fixed}.",
            place(*first),
            place(*last)
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
        for section in sections(study, point) {
            text += &format!("\n{}", stacked(&section.rows, screen));
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
        let abilities_of = |name: &str| {
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
        assert_eq!(
            abilities_of("cpu-rayon"),
            (false, Joints::Host, LaterPasses::Free)
        );
        assert_eq!(
            abilities_of("cpu-simd:dual-quaternion"),
            (false, Joints::Host, LaterPasses::Free)
        );
        assert_eq!(
            abilities_of("cpu-simd:lanes-interleaved"),
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
            assert_eq!(abilities_of(name), expected, "{name}");
        }
    }
}
