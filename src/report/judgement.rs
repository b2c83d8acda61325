//! The verdicts of the corpus on an engine.

use super::Screen;
use super::table::{Column, Table, Value, left_out, magnitude};
use crate::wording::{counted, one_line};
use skinbench_corpus::{Answer, Displaced, Judged, Judgement};

/// Most characters of a text that an engine wrote.
const MOST_CHARACTERS: usize = 200;

const COLUMNS: [Column<Judged>; 6] = [
    Column::new("asset", |judged| Value::words(&judged.asset)),
    Column::new("verdict", |judged| Value::words(verdict(judged))),
    Column::new("position", |judged| error(judged, Some(judged.position))),
    Column::optional("direction", 2, |judged| error(judged, judged.direction)),
    Column::optional("time", 1, |judged| {
        worst(judged, |worst| Value::Number(worst.time, 3))
    }),
    Column::optional("vertex", 0, |judged| {
        worst(judged, |worst| Value::Count(worst.vertex as u64))
    }),
];

fn verdict(judged: &Judged) -> &'static str {
    match judged.judgement {
        Judgement::Right => "right",
        Judgement::Wrong if judged.optional => "differs",
        Judgement::Wrong => "wrong",
        Judgement::Refused(_) => "refused",
        Judgement::Unusable(_) | Judgement::Missing => "missing",
    }
}

fn error(judged: &Judged, error: Option<f64>) -> Value {
    match judged.judgement {
        Judgement::Right | Judgement::Wrong => magnitude(error),
        Judgement::Refused(_) | Judgement::Unusable(_) | Judgement::Missing => Value::Absent,
    }
}

/// Where a vertex should be and where it is; `None` if the digits that are printed do not differ.
fn displaced(worst: &Displaced) -> Option<String> {
    let list = |numbers: [String; 3]| format!("[{}]", numbers.join(", "));
    let want = list(worst.want.map(|number| format!("{number:.6}")));
    let got = list(
        worst
            .got
            .map(|number| number.map_or("null".into(), |number| format!("{number:.6}"))),
    );
    (want != got).then(|| format!("expected {want}, given {got}"))
}

fn worst(judged: &Judged, value: fn(&Displaced) -> Value) -> Value {
    if judged.judgement == Judgement::Wrong {
        value(&judged.worst)
    } else {
        Value::Absent
    }
}

/// A table of the assets in the answer, what engines say of those that they do not show, wrong vertices, and how many there
/// are of each verdict.
pub fn text(answer: &Answer, judged: &[Judged], screen: Screen) -> String {
    let mut answered: Vec<&Judged> = judged.iter().collect();
    answered.retain(|judged| judged.judgement != Judgement::Missing);
    let fitted = Table::of(&COLUMNS, answered.iter().copied()).fitted(screen);
    let mut text = fitted.text;
    text += "position: over the diagonal; direction: in radians\n";
    for judged in &answered {
        let why = match &judged.judgement {
            Judgement::Refused(why) | Judgement::Unusable(why) => {
                Some(one_line(why, MOST_CHARACTERS))
            }
            Judgement::Wrong => displaced(&judged.worst),
            Judgement::Right | Judgement::Missing => None,
        };
        if let Some(why) = why {
            text += &format!("{}: {}: {why}\n", judged.asset, verdict(judged));
        }
    }
    match judged.len() - answered.len() {
        0 => {}
        1 => text += "1 asset is not in the answer\n",
        count => text += &format!("{count} assets are not in the answer\n"),
    }
    let mut verdicts = Vec::new();
    for known in ["right", "wrong", "differs", "refused", "missing"] {
        let count = judged
            .iter()
            .filter(|judged| verdict(judged) == known)
            .count();
        if count > 0 {
            verdicts.push(format!("{count} {known}"));
        }
    }
    let assets = counted(judged.len() as u64, "asset");
    let engine = format!("{} {}", answer.engine, answer.version);
    let engine = one_line(&engine, MOST_CHARACTERS);
    text += &format!("{engine}: {} of {assets}\n", verdicts.join(", "));
    text + &left_out(&fitted.left_out)
}
