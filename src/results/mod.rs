//! Results: measurements of runs, as rows of CSV files and as a typed model.
//!
//! A [`rows::Measurement`] is one stage of one backend by one clock, identified by its [`key::MeasurementKey`]. Runs
//! write measurements ([`files`]), later commands read them back ([`recorded`]). A [`study::Study`] puts them in order;
//! [`ranking`](mod@ranking) and [`crossover`] find the fastest backends, [`decision`] those with the least memory,
//! [`compare`] the changes between two sets. A [`session`] records the program and the machine behind a folder of
//! results; [`page_results`] has the form in which a page for browsers gives the same in one text.

mod bounds;
pub mod compare;
pub mod crossover;
mod csv_rows;
pub mod decision;
pub mod files;
mod input;
pub mod key;
pub mod page_results;
pub mod ranking;
pub mod recorded;
mod resume;
pub mod rows;
pub mod session;
pub mod study;
pub mod warnings;
pub mod whole;

pub use files::Results;
pub use key::{Machine, MeasurementKey, Point};
pub use ranking::{Lead, Ranking, ranking, ranking_of};
pub use recorded::{Recorded, ResultFile};
pub use rows::{
    LimitedMemory, LimitsRow, MeasuredScene, Measurement, SCHEMA, SampleRow, SummaryRow, heading,
};
pub use session::{Browser, Program, Session};
pub use study::{Axis, Curve, CurvePoint, Quantity, Sheet, Study, StudyEntry};
pub use warnings::{of_machine, warnings};
pub use whole::write_file;

pub(in crate::results) use csv_rows::read_rows;
pub(in crate::results) use input::bytes_of;

/// Confidence that a difference must reach to count.
const CONFIDENCE: f64 = 0.95;
/// Medians below this, in nanoseconds, are close to the resolution of a clock.
const RESOLUTION: u64 = 1_000;
