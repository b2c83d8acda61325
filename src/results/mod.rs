//! Results: what a run measured, as rows of CSV files and as a model of what was measured where.
//!
//! A [`rows::Measurement`] is one stage of one backend by one clock; its [`key::Key`] says which. Runs write them
//! ([`files`]), later commands read them back ([`recorded`]). A [`study::Study`] puts them in order; [`ranking`] and
//! [`crossover`] say what is fastest where, [`compare`] what changed between two sets.

pub mod compare;
pub mod crossover;
pub mod files;
pub mod key;
pub mod ranking;
pub mod recorded;
mod resume;
pub mod rows;
pub mod study;
pub mod warnings;

/// Confidence that a difference must reach to count.
const CONFIDENCE: f64 = 0.95;
/// Medians below are near to what a clock tells apart, in nanoseconds.
const RESOLUTION: u64 = 1_000;
