//! What is left of a run or a model: CSV for programs, tables, text and pages for people.

#[cfg(feature = "cli")]
pub mod chart;
#[cfg(feature = "cli")]
pub mod compare;
#[cfg(feature = "cli")]
mod crossover;
#[cfg(feature = "cli")]
pub mod csv;
#[cfg(feature = "cli")]
mod findings;
#[cfg(feature = "cli")]
pub mod html;
pub mod inspection;
#[cfg(feature = "cli")]
pub mod markdown;
#[cfg(feature = "cli")]
pub mod recorded;
#[cfg(feature = "cli")]
mod resume;
#[cfg(feature = "cli")]
pub mod splice;
#[cfg(feature = "cli")]
pub mod study;
#[cfg(feature = "cli")]
pub mod table;
#[cfg(feature = "cli")]
pub mod text;
#[cfg(feature = "cli")]
pub mod warnings;
