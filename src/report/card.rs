//! The decision card: cost and abilities of every backend at a point.
//!
//! Costs are those of the results. Abilities are asked of the registry by the backend's name.

use super::table::{Column, Table, Value, bytes, count, magnitude, number, time};
use super::{Screen, places};
use crate::backend::{Abilities, Joints, LaterPasses};
use crate::frame::{Ability, Side, Stage};
use crate::harness::TAIL_SAMPLES;
use crate::registry;
use crate::results::{Entry, Point, Study};

/// Columns of the card that are read together.
pub struct Section {
    /// Its title.
    pub title: &'static str,
    /// A row for each measured backend, the fastest first.
    pub table: Table,
}

/// The first column of each section.
const BACKEND: Column<Entry> = Column::new("backend", |entry| Value::words(&entry.backend));

/// Columns of whole frames.
const TIME: [Column<Entry>; 4] = [
    BACKEND,
    Column::new("frame", |entry| {
        time(entry.frame().and_then(|row| row.median_ns))
    }),
    Column::new("p99", |entry| match entry.frame() {
        Some(row) if row.p99_ns.is_none() && row.frames.is_some_and(|n| n < TAIL_SAMPLES) => {
            Value::Words(format!("needs {TAIL_SAMPLES} frames"))
        }
        row => time(row.and_then(|row| row.p99_ns)),
    }),
    Column::new("worst", |entry| {
        time(entry.frame().and_then(|row| row.max_ns))
    }),
];

/// Columns of what a frame's time consists of.
const SHARES: [Column<Entry>; 6] = [
    BACKEND,
    Column::optional("processor", 0, |entry| time(entry.processor())),
    Column::optional("device", 0, |entry| time(entry.device())),
    Column::optional("upload, processor", 0, |entry| upload(entry, Side::Host)),
    Column::optional("upload, device", 0, |entry| upload(entry, Side::Device)),
    Column::optional("other", 0, |entry| time(entry.other())),
];

/// Columns of memory and work.
const MEMORY: [Column<Entry>; 7] = [
    BACKEND,
    Column::new("host", |entry| {
        bytes(entry.frame().and_then(|row| row.host_bytes))
    }),
    Column::new("device", |entry| {
        bytes(entry.frame().and_then(|row| row.device_bytes))
    }),
    Column::new("uploaded", |entry| {
        bytes(entry.frame().and_then(|row| row.upload_bytes))
    }),
    Column::new("draws", |entry| {
        count(entry.frame().and_then(|row| row.draws))
    }),
    Column::new("largest error", |entry| {
        magnitude(entry.frame().and_then(|row| row.parity_max_rel))
    }),
    Column::optional("clock %", 0, |entry| {
        number(entry.frame().and_then(|row| row.device_clock_pct), 0)
    }),
];

/// Columns of what a backend can do, and of what gameplay reads.
const GAMEPLAY: [Column<Entry>; 6] = [
    BACKEND,
    Column::new("layers, fades", |entry| match abilities(entry) {
        None => Value::Absent,
        Some(abilities) if abilities.lack(Ability::AdditiveLayers) => {
            Value::words("merge, crossfade")
        }
        Some(_) => Value::words("yes"),
    }),
    Column::new("joints", |entry| {
        let Some(abilities) = abilities(entry) else {
            return Value::Absent;
        };
        Value::words(match abilities.joints {
            Joints::Host => "same frame",
            Joints::Device => "by read-back",
            Joints::DeviceInView => "by read-back, in view",
            Joints::Nowhere if abilities.lack(Ability::Gameplay) => "none",
            Joints::Nowhere => "sockets by read-back",
        })
    }),
    Column::new("later passes", |entry| {
        let Some(abilities) = abilities(entry) else {
            return Value::Absent;
        };
        Value::words(match abilities.later_passes {
            LaterPasses::Free => "free",
            LaterPasses::SkinAgain => "skin again",
            LaterPasses::NotDrawn => "not drawn",
        })
    }),
    Column::optional("bounds", 0, |entry| read(entry, Stage::Bounds)),
    Column::optional("sockets", 0, |entry| read(entry, Stage::Sockets)),
];

/// The card of a point, in sections.
pub fn sections(study: &Study, point: &Point) -> Vec<Section> {
    let mut entries = study.ranked(point);
    entries.retain(|entry| entry.is_ok());
    let mut card = Vec::new();
    for (title, columns) in [
        ("time", &TIME[..]),
        ("where the time goes", &SHARES),
        ("memory, draws, error", &MEMORY),
        ("what gameplay can have", &GAMEPLAY),
    ] {
        let table = Table::of(columns, entries.iter().copied());
        // Without times of stages, nothing stands beside the backend.
        if table.columns() > 1 {
            card.push(Section { title, table });
        }
    }
    card
}

/// The cards of all points as text for terminals.
pub fn text(study: &Study, screen: Screen) -> String {
    let mut text = String::new();
    for point in &study.points {
        text += &format!("\ncard: {}\n", places::place(point));
        for section in sections(study, point) {
            text += &format!("\n{}", section.table.stacked(screen));
        }
    }
    text
}

fn upload(entry: &Entry, side: Side) -> Value {
    time(
        entry
            .stage_on(Stage::Upload, side)
            .and_then(|row| row.median_ns),
    )
}

/// Time of a stage that gameplay reads, and how many frames later the processor has it.
fn read(entry: &Entry, stage: Stage) -> Value {
    let Some(row) = entry.stage(stage) else {
        return Value::Absent;
    };
    let times = Side::BOTH.map(|side| entry.stage_on(stage, side)?.median_ns);
    let ns: u64 = times.into_iter().flatten().sum();
    let delay = match row.delay_frames {
        None => String::new(),
        Some(0) => ", same frame".into(),
        Some(1) => ", 1 frame later".into(),
        Some(frames) => format!(", {frames} frames later"),
    };
    Value::Words(format!("{}{delay}", Value::Time(ns)))
}

fn abilities(entry: &Entry) -> Option<Abilities> {
    let known = registry::find(&entry.backend).filter(|known| known.is_built());
    known.map(registry::BackendEntry::abilities)
}
