//! Bars: the parts of a frame, and the spread of frames.

use super::super::places::place;
use super::super::table::{Table, Value, time};
use super::drawing::{class, id_of, time_scale};
use super::plot::{BAR, Chart, Item, Legend, Scale, Shape};
use crate::frame::{Side, Stage, StageGroup};
use crate::results::{Point, Quantity, Study};
use crate::wording::duration;
use std::collections::BTreeSet;

/// Height of a bar with the space around it.
const ROW: i32 = 38;

/// Class of what no stage of a frame has.
const OTHER: &str = "rest";

/// A stage's class in the style sheet.
fn class_of(stage: Stage) -> &'static str {
    match stage {
        Stage::Sample => "s0",
        Stage::Blend => "s1",
        Stage::LocalToModel => "s2",
        Stage::Palette | Stage::Pose => "s3",
        Stage::Upload => "s4",
        Stage::Skin | Stage::PoseSkin => "s5",
        Stage::Draw => "s6",
        Stage::Cull | Stage::Update | Stage::Morph | Stage::Bounds | Stage::Sockets => "s7",
        Stage::Frame | Stage::EngineFrame | Stage::Throughput => "s7",
    }
}

/// The parts of each backend's frames, of what is ranked: without drawing, if that is emulated.
pub fn stages(study: &Study, point: &Point) -> Option<Chart> {
    let mut rows = Rows::new(["backend", "stage", "median"]);
    let mut present: BTreeSet<Stage> = BTreeSet::new();
    let mut has_other = false;
    let quantity = study.quantity(point.passes);
    for entry in study.ranked(point) {
        let Some(whole) = entry.time(quantity) else {
            continue;
        };
        let backend = &entry.backend;
        rows.begin(backend.clone());
        for &stage in Stage::ALL {
            let is_shown = match quantity {
                Quantity::Frame => stage.group() != StageGroup::Whole,
                Quantity::Work => is_work(stage),
            };
            if !is_shown {
                continue;
            }
            for side in Side::BOTH {
                let measured = entry.stage_on(stage, side);
                if let Some(ns) = measured.and_then(|row| row.median_ns) {
                    present.insert(stage);
                    let name = format!("{}, {}", stage.name(), side.name());
                    rows.time(backend, &name, class_of(stage), ns);
                }
            }
        }
        if quantity == Quantity::Frame
            && let Some(ns) = entry.other()
        {
            rows.time(backend, "other", OTHER, ns);
            has_other = true;
        }
        let words = format!("{backend}, {}: {}", quantity.name(), duration(whole));
        let points = vec![(whole as f64, rows.middle())];
        rows.items
            .push(Item::new(Shape::Stroke, "whole", points).described(words));
        rows.table.push(vec![
            Value::words(backend),
            Value::words(quantity.name()),
            Value::Time(whole),
        ]);
        rows.most = rows.most.max(whole as f64);
        rows.figure(duration(whole), whole as f64);
    }
    let mut legend = Vec::new();
    for stage in present {
        legend.push((class_of(stage).to_owned(), stage.name().to_owned()));
    }
    if has_other {
        legend.push((OTHER.into(), "other".into()));
    }
    legend.push(("whole".into(), quantity.name().into()));
    let title = format!("Stages of a frame: {}", place(point));
    let scale = Scale {
        title: "median".into(),
        ticks: 6,
        ..time_scale((0.0, rows.most * 1.03), false)
    };
    let caption = match quantity {
        Quantity::Frame => {
            "Medians of each stage on host and device; other is what the frame, the stroke, has besides its stages."
        }
        Quantity::Work => {
            "Medians of each stage before drawing, which a CPU emulates here; the stroke is their sum, by which backends are ranked."
        }
    };
    rows.chart(id_of("stages", point), title, caption, scale, legend)
}

/// Returns whether a stage is part of [`Quantity::Work`].
fn is_work(stage: Stage) -> bool {
    matches!(
        stage.group(),
        StageGroup::Pose | StageGroup::Upload | StageGroup::Skin
    )
}

/// Every frame of each backend.
pub fn distribution(study: &Study, point: &Point) -> Option<Chart> {
    let mut rows = Rows::new([
        "backend",
        "frames",
        "smallest",
        "median",
        "95th percentile",
        "99th percentile",
        "largest",
    ]);
    let mut low: f64 = 0.98;
    let mut high: f64 = 1.02;
    for entry in study.at(point) {
        let Some(row) = entry.frame().filter(|row| !row.samples.is_empty()) else {
            continue;
        };
        rows.begin(entry.backend.clone());
        let y = rows.middle();
        let middle = row.median_ns.unwrap_or(1).max(1) as f64;
        let mut points = Vec::new();
        for ns in row.times() {
            let x = ns as f64 / middle;
            low = low.min(x);
            high = high.max(x);
            points.push((x, y));
        }
        let count = row.samples.len();
        let mut line = vec![Value::words(&entry.backend), Value::Count(count as u64)];
        line.extend(
            [
                row.min_ns,
                row.median_ns,
                row.p95_ns,
                row.p99_ns,
                row.max_ns,
            ]
            .map(time),
        );
        let words = format!(
            "{}: {count} frames, median {}, from {} to {}",
            entry.backend, line[3], line[2], line[6]
        );
        rows.items
            .push(Item::new(Shape::Strokes, class(study, &entry.backend), points).described(words));
        rows.items
            .push(Item::new(Shape::Stroke, "whole", vec![(1.0, y)]));
        rows.table.push(line);
    }
    let range = (low - 0.01, high + 0.01);
    let scale = Scale::linear(
        "% of the backend's median",
        range,
        |ratio| format!("{:.0} %", ratio * 1e2),
        8,
    );
    let title = format!("Every frame: {}", place(point));
    let caption = "One stroke per frame, in percent of the median of its backend, which is the long stroke. Several clusters are several states of the machine.";
    rows.chart(id_of("frames", point), title, caption, scale, Vec::new())
}

/// A row of a chart of bars.
struct BarRow {
    name: String,
    /// What stands at the end of its bars; empty for nothing.
    figure: String,
    /// End of its bars.
    end: f64,
}

/// A chart of named rows, while its items are collected.
pub(super) struct Rows {
    /// From the top.
    rows: Vec<BarRow>,
    items: Vec<Item>,
    table: Table,
    /// The largest end of a row's bars.
    pub most: f64,
}

impl Rows {
    pub fn new<const N: usize>(headings: [&str; N]) -> Self {
        Self {
            rows: Vec::new(),
            items: Vec::new(),
            table: Table::new(headings),
            most: 0.0,
        }
    }

    /// Begins a row.
    pub fn begin(&mut self, name: String) {
        self.rows.push(BarRow {
            name,
            figure: String::new(),
            end: 0.0,
        });
    }

    /// Writes a figure at the end of the last row's bars, or at `end` if that is farther.
    pub fn figure(&mut self, figure: String, end: f64) {
        if let Some(row) = self.rows.last_mut() {
            row.figure = figure;
            row.end = row.end.max(end);
        }
    }

    /// End of the bars of the last row.
    pub fn end(&self) -> f64 {
        self.rows.last().map_or(0.0, |row| row.end)
    }

    /// The middle of the last row.
    fn middle(&self) -> f64 {
        0.5 - self.rows.len() as f64
    }

    /// Adds a bar for a time, named after what took it.
    fn time(&mut self, backend: &str, name: &str, class: &str, ns: u64) {
        self.bar(ns as f64, class, [backend, name], Value::Time(ns));
    }

    /// Adds a bar at the end of those that the last row has, with its names and its figure.
    pub fn bar<const N: usize>(
        &mut self,
        length: f64,
        class: &str,
        names: [&str; N],
        figure: Value,
    ) {
        let words = format!("{}: {figure}", names.join(", "));
        let y = self.middle();
        let half = BAR / 2.0;
        let from = self.end();
        let end = from + length;
        if let Some(row) = self.rows.last_mut() {
            row.end = end;
        }
        self.most = self.most.max(end);
        self.items.push(
            Item::new(Shape::Bar, class, vec![(from, y - half), (end, y + half)]).described(words),
        );
        let mut figures: Vec<Value> = names.into_iter().map(Value::words).collect();
        figures.push(figure);
        self.table.push(figures);
    }

    /// The chart; none without rows.
    pub fn chart(
        self,
        id: String,
        title: String,
        caption: &str,
        x: Scale,
        legend: Legend,
    ) -> Option<Chart> {
        let count = i32::try_from(self.rows.len())
            .ok()
            .filter(|count| *count > 0)?;
        let mut items = self.items;
        for (at, BarRow { name, figure, end }) in self.rows.into_iter().enumerate() {
            let middle = -0.5 - at as f64;
            let points = vec![(x.range.0, middle), (end, middle)];
            items.push(Item::new(Shape::Row { name, figure }, "", points));
        }
        let y = Scale::linear("", (-f64::from(count), 0.0), |_| String::new(), 0);
        Some(Chart {
            id,
            title,
            caption: caption.into(),
            height: ROW * count,
            x,
            y,
            items,
            legend,
            table: self.table,
        })
    }
}
