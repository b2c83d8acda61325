//! The charts of a study: their content and order, and the same figures as tables.

mod bars;
mod curves;
mod drawing;
mod levels;
mod memory;
mod page;
mod plot;

pub use drawing::{Chart, STYLE};
pub use page::escaped;

use crate::results::study::Study;

/// All charts for which the results have figures.
pub fn charts(study: &Study) -> Vec<Chart> {
    let mut charts = bars::stages(study);
    charts.extend(memory::memory(study));
    charts.extend(curves::curves(study));
    charts.extend(levels::levels(study));
    charts.extend(bars::limits(study));
    charts.extend(bars::distributions(study));
    charts
}
