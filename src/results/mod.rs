//! Results: what a run measured, as rows of CSV files and as a model of what was measured where.

pub mod compare;
pub mod crossover;
pub mod files;
pub mod recorded;
mod resume;
pub mod study;
pub mod warnings;
