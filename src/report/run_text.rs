//! The text about a run: its table, the machine's limits, the decision card and warnings.

use super::{card, table};
use crate::frame::{Event, StageGroup};
use crate::harness::{Host, Outcome};
use crate::results::{MeasuredScene, warnings};
use crate::scene::BuiltScene;

/// The text about a run of a scene. `hosts` are the rates of the processor just before; `with_card` adds the decision
/// card.
pub fn text(
    measured: &MeasuredScene,
    hosts: &[Host],
    outcomes: &[Outcome],
    with_card: bool,
) -> String {
    let mut text = table::measured(measured, outcomes);
    text += &table::limits(hosts);
    if with_card {
        text += &card::text(&table::study_of(measured, outcomes));
    }
    text += &counted(measured.scene, outcomes);
    warnings(outcomes)
        .iter()
        .for_each(|warning| text += &format!("warning: {warning}\n"));
    text
}

/// Events of the stages on the processor, if they were counted: of pose stages per joint, of others per vertex.
fn counted(scene: &BuiltScene, outcomes: &[Outcome]) -> String {
    let mut lines = String::new();
    for (outcome, times) in outcomes
        .iter()
        .flat_map(|outcome| outcome.stages.iter().map(move |times| (outcome, times)))
    {
        let (items, name) = match times.stage.group() {
            StageGroup::Pose => (scene.crowd.joint_count(), "joint"),
            _ => (scene.crowd.vertex_count(), "vertex"),
        };
        let event = |event: Event| {
            Some(format!(
                "{:.3} {event}",
                times.counts.mean(event)? / items as f64
            ))
        };
        let [rates @ .., switches] = Event::ALL;
        let rates: Vec<_> = rates.into_iter().filter_map(event).collect();
        if let Some(switches) = times.counts.mean(switches) {
            let rates = if rates.is_empty() {
                String::new()
            } else {
                format!("{} per {name}; ", rates.join(", "))
            };
            let (backend, stage) = (outcome.name, times.stage.name());
            lines += &format!(
                "counted: {backend} {stage}: {rates}{switches:.1} context switches per frame\n"
            );
        }
    }
    lines
}
