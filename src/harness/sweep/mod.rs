//! What a run with lists of settings measures: its points, and the search for the largest crowd within a budget.

mod plan;
mod search;

pub use plan::{Shard, SweepAxes, SweepPoint, distinct};
pub use search::{Search, SearchBounds};
