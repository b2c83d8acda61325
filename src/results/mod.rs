//! Results: what was measured, as rows of CSV files, and what follows from them.
//!
//! A [`Row`] is one stage of one backend by one clock, measured once; its first columns are its [`Point`]. Runs write rows
//! into a [`folder`], later commands read them back ([`recorded`]). A [`study::Study`] puts them in order: each
//! [`entry::Entry`] has the rows of one backend at one point. [`mod@verdict`] and [`crossover`] find the fastest backends,
//! [`memory`] those with the least memory, [`compare`] the changes between two sets. A [`session`] records the program
//! and the machine behind a folder of results.

pub mod atomic_file;
pub mod compare;
pub mod crossover;
mod csv_file;
pub mod entry;
pub mod folder;
pub mod limits;
pub mod machine;
pub mod memory;
mod old_hashes;
pub mod options;
pub mod page_results;
mod problem;
pub mod recorded;
pub mod row;
pub mod session;
pub mod study;
pub mod verdict;

pub use atomic_file::write_file;
pub use csv_file::{heading, lines_of};
pub use entry::{Entry, Quantity};
pub use folder::Results;
pub use limits::{LimitedMemory, LimitsRow};
pub use machine::{Machine, known};
pub use problem::Problem;
pub use recorded::{Recorded, SampleRow, summaries};
pub use row::{COLUMNS, MeasuredScene, Point, Row, RowKind, SCHEMA};
pub use session::{Browser, Program, Session};
pub use study::{Axis, CurvePoint, Sheet, SheetCurve, Study};
pub use verdict::{Lead, Verdict, verdict_of};

/// Confidence that a difference must reach to count.
const CONFIDENCE: f64 = 0.95;
/// Medians below this, in nanoseconds, are close to the resolution of a clock.
pub const RESOLUTION: u64 = 1_000;
