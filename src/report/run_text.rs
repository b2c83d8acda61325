//! The text about a run: its table, the machine's limits, the decision card and warnings.

use super::findings::place;
use super::{Screen, card, table};
use crate::harness::{MachineLimits, Outcome};
use crate::results::{MeasuredScene, warnings};
use crate::wording::counted;

/// The text about a run of a scene. `limits` are the rates of the machine just before; `with_card` adds the decision
/// card.
pub fn text(
    measured: &MeasuredScene,
    limits: &MachineLimits,
    outcomes: &[Outcome],
    with_card: bool,
    screen: Screen,
) -> String {
    let mut text = table::measured(measured, outcomes, screen);
    text += &table::limits(limits);
    if with_card {
        text += &card::text(&table::study_of(measured, outcomes), screen);
    }
    for warning in warnings(outcomes) {
        text += &format!("warning: {warning}\n");
    }
    text
}

/// The verdict on a run of a scene, a fact per line, with an empty line and its place above: what is fastest; with the
/// decision card also what takes the least memory, and where the answers change.
pub fn verdict(measured: &MeasuredScene, outcomes: &[Outcome], with_card: bool) -> String {
    let study = table::study_of(measured, outcomes);
    let mut text = String::new();
    for point in &study.points {
        let mut facts = table::verdict(&study, point);
        if with_card {
            let answers = card::answers(&study, point);
            let known = facts.clone();
            facts.extend(answers.into_iter().filter(|fact| !known.contains(fact)));
        }
        if facts.is_empty() {
            continue;
        }
        let threads = counted(measured.environment.threads as u64, "thread");
        text += &format!("\n{}, {threads}:\n", place(point));
        for fact in facts {
            text += &format!("{fact}\n");
        }
    }
    text
}
