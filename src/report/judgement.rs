//! The verdicts of the corpus on an engine.

use super::Screen;
use super::table::{Column, Table, Value, left_out};
use crate::wording::{counted, one_line};
use skinbench_corpus::{Answer, Judged, Judgement};

/// Most characters of a text that an engine wrote.
const MOST_CHARACTERS: usize = 200;

const COLUMNS: [Column<Judged>; 6] = [
    Column::new("asset", |judged| Value::words(&judged.asset)),
    Column::new("verdict", |judged| Value::words(verdict(judged))),
    Column::new("position", |judged| error(judged, judged.position)),
    Column::optional("direction", 2, |judged| error(judged, judged.direction)),
    Column::optional("time", 1, |judged| {
        worst(judged, |(time, _)| Value::Number(time, 3))
    }),
    Column::optional("vertex", 0, |judged| {
        worst(judged, |(_, vertex)| Value::Count(vertex as u64))
    }),
];

fn verdict(judged: &Judged) -> &'static str {
    match judged.judgement {
        Judgement::Right => "right",
        Judgement::Wrong if judged.optional => "differs",
        Judgement::Wrong => "wrong",
        Judgement::Refused(_) => "refused",
        Judgement::Unusable(_) => "missing",
    }
}

fn error(judged: &Judged, error: f64) -> Value {
    match judged.judgement {
        Judgement::Right | Judgement::Wrong => Value::Magnitude(error),
        Judgement::Refused(_) | Judgement::Unusable(_) => Value::Absent,
    }
}

fn worst(judged: &Judged, value: fn((f64, usize)) -> Value) -> Value {
    if judged.judgement == Judgement::Wrong {
        value(judged.worst)
    } else {
        Value::Absent
    }
}

/// A table of assets, what engines say of those that they do not show, and how many there are of each verdict.
pub fn text(answer: &Answer, judged: &[Judged], screen: Screen) -> String {
    let fitted = Table::of(&COLUMNS, judged).fitted(screen);
    let mut text = fitted.text;
    text += "position: over the diagonal; direction: in radians\n";
    for judged in judged {
        if let Judgement::Refused(why) | Judgement::Unusable(why) = &judged.judgement {
            let why = one_line(why, MOST_CHARACTERS);
            text += &format!("{}: {}: {why}\n", judged.asset, verdict(judged));
        }
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
