//! Views of results and models for people: tables, text and pages.

pub mod card;
pub mod chart;
pub mod comparison;
pub mod difference;
pub mod findings;
pub mod head;
pub mod html;
pub mod inspection;
pub mod judgement;
pub mod markdown;
pub mod places;
pub mod remark;
pub mod run_table;
pub mod run_text;
mod screen;
pub mod table;
mod units;
pub mod wide;

pub use crate::wording::{duration, grouped};
pub use screen::Screen;
pub use table::described;
pub use units::{abbreviated, size};
