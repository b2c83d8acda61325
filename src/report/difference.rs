//! The difference of two files, in words.

use super::Screen;
use super::table::{Column, Table, Value};
use crate::wording::counted;
use skinbench_corpus::{Difference, FarthestApart, Motion, Side};

/// Motions that are listed at most.
const LISTED: usize = 12;

const COLUMNS: [Column<FarthestApart>; 5] = [
    Column::new("pose", |farthest| Value::words(name(&farthest.motion))),
    Column::new("distance", |farthest| Value::Magnitude(farthest.error)),
    Column::optional("at s", 2, |farthest| match farthest.motion {
        Motion::Clip { .. } => Value::Number(farthest.time, 3),
        _ => Value::Absent,
    }),
    Column::optional("vertex at rest", 1, |farthest| {
        let [x, y, z] = farthest.at_rest.to_array();
        Value::words(format!("{x:.4} {y:.4} {z:.4}"))
    }),
    Column::optional("keys at times", 0, |farthest| match farthest.motion {
        Motion::Clip { keys: [a, b], .. } => Value::words(format!("{a}, {b}")),
        _ => Value::Absent,
    }),
];

/// What moves vertices.
pub fn name(motion: &Motion) -> String {
    match motion {
        Motion::Rest => "at rest".into(),
        Motion::Turned => "joints turned".into(),
        Motion::Target(name) => format!("morph target {name:?}"),
        Motion::Clip { name, .. } => format!("clip {name:?}"),
    }
}

/// What files of these names lack, a table of the motions that differ by more than a tolerance, and the verdict.
pub fn text(
    difference: &Difference,
    [first, second]: [&str; 2],
    tolerance: f64,
    screen: Screen,
) -> String {
    let mut text = String::new();
    for (side, missing) in &difference.missing {
        let file = match side {
            Side::First => first,
            Side::Second => second,
        };
        text += &format!("{file} lacks {missing}\n");
    }
    let mut motions = difference.motions.clone();
    motions.sort_by(|a, b| b.error.total_cmp(&a.error));
    let beyond = motions.iter().filter(|motion| motion.error > tolerance);
    let listed = beyond.count().clamp(1, LISTED);
    let others = motions.split_off(listed);
    text += &Table::of(&COLUMNS, &motions).fitted(screen).text;
    text += "distance: the largest one of a vertex, over the diagonal\n";
    if let Some(other) = others.first() {
        let count = counted(others.len() as u64, "other");
        text += &format!("{count}: at most {:.1e}\n", other.error);
    }
    let is_resampled = motions.iter().any(|farthest| {
        farthest.error > tolerance
            && matches!(farthest.motion, Motion::Clip { keys: [a, b], .. } if a != b)
    });
    if is_resampled {
        text += "a clip has keys at other times: it was sampled anew or lost keys, which changes it in between\n";
    }
    if !difference.turned_joints {
        text += "names or transforms of joints at rest differ, so joints were not turned: a weight that no clip shows may differ\n";
    }
    if difference.other_uvs {
        text += "UVs differ, or are in other units: they were not used to tell vertices apart\n";
    }
    let error = difference.farthest().error;
    text += &if difference.is_same(tolerance) {
        "the same character\n".to_owned()
    } else if difference.missing.is_empty() {
        // Rounded up.
        format!(
            "not the same character; --tolerance {:.1e} would pass\n",
            1.05 * error
        )
    } else {
        "not the same character\n".to_owned()
    };
    text
}
