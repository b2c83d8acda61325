//! Views of results and models for people: tables, text and pages.

pub mod card;
pub mod chart;
mod columns;
pub mod comparison;
pub mod findings;
pub mod head;
pub mod html;
pub mod inspection;
pub mod markdown;
pub mod run_text;
mod screen;
pub mod table;
pub mod text;
mod units;

pub use columns::described;
pub use screen::Screen;
pub use units::{abbreviated, duration, grouped, size};
