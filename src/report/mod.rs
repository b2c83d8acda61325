//! What is left of a run or a model: CSV for programs, tables and text for people.

#[cfg(feature = "cli")]
pub mod csv;
pub mod inspection;
#[cfg(feature = "cli")]
pub mod table;
