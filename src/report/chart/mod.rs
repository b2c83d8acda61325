//! The charts of a study: their content and order, and the same figures as tables.

mod bars;
mod curves;
pub mod drawing;
mod memory;
pub mod plot;

pub use plot::{Chart, STYLE};

use crate::results::Study;
use std::collections::HashSet;

/// All charts for which the results have figures, the one that answers first: times along an axis, or what is ranked.
pub fn charts(study: &Study) -> Vec<Chart> {
    let headlines = study.headlines();
    let mut charts = curves::curves(study);
    for point in &headlines {
        charts.extend(bars::stages(study, point));
    }
    for point in &headlines {
        charts.extend(memory::memory(study, point));
    }
    for point in &headlines {
        charts.extend(bars::distribution(study, point));
    }
    number_repeated(&mut charts);
    charts
}

/// Appends `-2` and so on to ids that an earlier chart has, as they name files, too.
pub fn number_repeated(charts: &mut [Chart]) {
    let mut taken: HashSet<String> = charts.iter().map(|chart| chart.id.clone()).collect();
    let mut met = HashSet::new();
    for chart in charts {
        if !met.insert(chart.id.clone()) {
            let numbered = (2..)
                .map(|number| format!("{}-{number}", chart.id))
                .find(|id| !taken.contains(id));
            chart.id = numbered.unwrap_or_default();
            taken.insert(chart.id.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_in_all_scripts() {
        assert_eq!(
            drawing::slug("Frame: \u{41a}\u{43e}\u{442}, 1 pass"),
            "frame-\u{43a}\u{43e}\u{442}-1-pass"
        );
        let chart = |id: &str| {
            let (id, empty) = (id.to_owned(), String::new);
            let scale = || plot::Scale::linear("", (0.0, 1.0), |value| value.to_string(), 2);
            let (height, x, y, items, legend) = (100, scale(), scale(), Vec::new(), Vec::new());
            Chart {
                id,
                title: empty(),
                caption: empty(),
                height,
                x,
                y,
                items,
                legend,
                table: crate::report::table::Table::new([""]),
            }
        };
        let mut charts = ["a", "a", "a-2", "a", "b"].map(chart);
        number_repeated(&mut charts);
        assert_eq!(
            charts.map(|chart| chart.id),
            ["a", "a-3", "a-2", "a-4", "b"]
        );
    }
}
