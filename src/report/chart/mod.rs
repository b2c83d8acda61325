//! The charts of a study: what is drawn, in which order, and the same figures as a table.

mod bars;
mod curves;
mod drawing;
mod page;
mod plot;

pub use drawing::{Chart, STYLE};
pub use page::escaped;

use crate::results::study::Study;

/// Every chart that the results have figures for.
pub fn charts(study: &Study) -> Vec<Chart> {
    let mut charts = bars::stages(study);
    charts.extend(curves::curves(study));
    charts.extend(bars::limits(study));
    charts.extend(bars::distributions(study));
    charts
}
