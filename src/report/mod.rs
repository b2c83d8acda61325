//! Views of results and models for people: tables, text and pages.

#[cfg(feature = "cli")]
pub mod card;
#[cfg(feature = "cli")]
pub mod chart;
pub mod clip_sizes;
#[cfg(feature = "cli")]
pub mod comparison;
#[cfg(feature = "cli")]
pub mod findings;
#[cfg(feature = "cli")]
pub mod head;
#[cfg(feature = "cli")]
pub mod html;
pub mod inspection;
#[cfg(feature = "cli")]
pub mod markdown;
#[cfg(feature = "cli")]
pub mod run_text;
#[cfg(feature = "cli")]
pub mod site;
#[cfg(feature = "cli")]
pub mod sustained;
#[cfg(feature = "cli")]
pub mod table;
#[cfg(feature = "cli")]
pub mod text;
#[cfg(feature = "cli")]
mod units;

#[cfg(feature = "cli")]
pub use units::{abbreviated, grouped};
