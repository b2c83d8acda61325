//! Words for messages: lists, suggestions for unknown names, and texts of others.

use std::str::FromStr;

/// Kinds of names that `skinbench list` has, too many for a line.
const IN_LIST: [&str; 3] = ["backend", "scene", "model"];

/// One line about an unknown name: the closest known one, and what is accepted.
pub fn unknown(kind: &str, name: &str, known: &[impl AsRef<str>]) -> String {
    let nearest = known
        .iter()
        .map(AsRef::as_ref)
        .filter(|one| similarity(name, one) > 0.7)
        .max_by(|a, b| similarity(name, a).total_cmp(&similarity(name, b)));
    let all = if IN_LIST.contains(&kind) {
        "`skinbench list` has all".into()
    } else {
        format!("expected {}", list(known))
    };
    let question = nearest.map_or(String::new(), |one| format!(" did you mean {one:?}?"));
    format!("unknown {kind} {name:?};{question} {all}")
}

fn similarity(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(&a.to_lowercase(), &b.to_lowercase())
}

/// Index of a name among those that are known.
///
/// # Errors
/// It is none of them: one line from [`unknown`].
pub fn position(kind: &str, name: &str, known: &[impl AsRef<str>]) -> Result<usize, String> {
    let index = known.iter().position(|one| one.as_ref() == name);
    index.ok_or_else(|| unknown(kind, name, known))
}

/// The value among `all` with this name.
///
/// # Errors
/// No value has this name: one line from [`unknown`].
pub fn named<T: Copy>(
    kind: &str,
    name: &str,
    all: &[T],
    name_of: fn(T) -> &'static str,
) -> Result<T, String> {
    let names: Vec<&str> = all.iter().map(|&value| name_of(value)).collect();
    Ok(all[position(kind, name, &names)?])
}

/// What is said of `000`, which is what is left of `1,000` where commas separate values.
const LEADING_ZERO: &str =
    "expected no zero in front; commas separate values here, so 1000 is written without one";

/// Parses a value that is accepted; `1,000` is 1000.
///
/// # Errors
/// Any other text: what is expected.
pub fn parsed<T: FromStr>(
    text: &str,
    accepts: impl Fn(&T) -> bool,
    expected: &'static str,
) -> Result<T, &'static str> {
    let is_number = text.chars().all(|c| c.is_ascii_digit());
    if is_number && text.len() > 1 && text.starts_with('0') {
        return Err(LEADING_ZERO);
    }
    let without_commas = ungrouped(text);
    let text = without_commas.as_deref().unwrap_or(text);
    text.parse().ok().filter(accepts).ok_or(expected)
}

/// A number without the commas after every third digit from its end; `None` for other texts.
fn ungrouped(text: &str) -> Option<String> {
    let digits: String = text.split(',').collect();
    let number: u64 = digits.parse().ok()?;
    (text.contains(',') && grouped(number) == text).then_some(digits)
}

/// Parses a finite number above 0.
///
/// # Errors
/// Any other text: what is expected.
pub fn above_zero(text: &str) -> Result<f64, &'static str> {
    parsed(
        text,
        |number| is_above_zero(*number),
        "expected a finite number, more than 0",
    )
}

/// Returns whether a number is finite and above 0.
pub fn is_above_zero(number: f64) -> bool {
    number > 0.0 && number < f64::INFINITY
}

/// A text in one line with at most so many characters, without those that control a terminal.
pub fn one_line(text: &str, most: usize) -> String {
    let kept = text.chars().take(most).collect::<String>();
    let kept = kept.replace(char::is_control, " ");
    let more = text.chars().nth(most).map(|_| "...");
    kept.split_whitespace()
        .chain(more)
        .collect::<Vec<_>>()
        .join(" ")
}

/// A number that is not negative, rounded to a whole one with this many digits other than 0.
pub fn rounded(number: f64, digits: i32) -> u64 {
    let unit = 10f64
        .powi(number.max(1.0).log10().floor() as i32 + 1 - digits)
        .max(1.0);
    ((number / unit).round() * unit) as u64
}

/// A number and the word for what is counted, such as `1 row` or `2,000 rows`.
pub fn counted(count: u64, one: &str) -> String {
    counted_as(count, one, &format!("{one}s"))
}

/// As [`counted`], for words with another plural, such as `1 vertex` or `2,000 vertices`.
pub fn counted_as(count: u64, one: &str, more: &str) -> String {
    let word = if count == 1 { one } else { more };
    format!("{} {word}", grouped(count))
}

/// A number with a comma after every third digit from the end.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let threes = digits.as_bytes().rchunks(3).rev();
    let threes: Vec<_> = threes.map(String::from_utf8_lossy).collect();
    threes.join(",")
}

/// Nanoseconds with three digits and a unit.
pub fn duration(ns: u64) -> String {
    let ns = ns as f64;
    let (value, unit) = match ns {
        ..1e3 => return format!("{ns} ns"),
        ..1e6 => (ns / 1e3, "µs"),
        ..1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    let digits = if value < 10.0 {
        2
    } else {
        usize::from(value < 100.0)
    };
    format!("{value:.digits$} {unit}")
}

/// `a, b or c`.
pub fn list(words: &[impl AsRef<str>]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match &words[..] {
        [] => "nothing".into(),
        [one] => (*one).into(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_digits_stay() {
        assert_eq!(
            [0.4, 7.6, 1_234.0, 99_960.0].map(|number| rounded(number, 3)),
            [0, 8, 1_230, 100_000]
        );
    }

    #[test]
    fn numbers_are_read_as_they_are_printed() {
        let read = |text| parsed::<u32>(text, |_| true, "a whole number");
        assert_eq!(
            [read("1,000"), read("12,345,678"), read("7")].map(Result::ok),
            [Some(1_000), Some(12_345_678), Some(7)]
        );
        for text in ["1,00", "1000,000", ",100", "1,000.5", "-1,000", "1,"] {
            assert_eq!(read(text), Err("a whole number"), "{text}");
        }
        assert_eq!(read("000"), Err(LEADING_ZERO));
        assert_eq!(parsed::<f64>("0.5", |_| true, "a number"), Ok(0.5));
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(counted(0, "row"), "0 rows");
        assert_eq!(counted_as(2_000, "vertex", "vertices"), "2,000 vertices");
    }

    #[test]
    fn texts_of_others_are_short_and_plain() {
        assert_eq!(one_line("a\n\x1b[31m b\t", 80), "a [31m b");
        assert_eq!(one_line("äöü", 2), "äö ...");
    }

    #[test]
    fn only_a_similar_name_is_suggested() {
        let known = ["grid", "disc", "line"];
        assert_eq!(
            unknown("layout", "gird", &known),
            r#"unknown layout "gird"; did you mean "grid"? expected grid, disc or line"#
        );
        assert_eq!(
            unknown("layout", "qqq", &known),
            r#"unknown layout "qqq"; expected grid, disc or line"#
        );
    }
}
