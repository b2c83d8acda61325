//! Tables: columns and rows of values, and how they are printed as text, Markdown, HTML and CSV.

use super::Screen;
use super::units::size;
use crate::wording::{duration, grouped};
use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table as TextTable, TableStyle,
};
use maud::{Markup, html};
use std::fmt;

/// Spaces between two columns.
const GAP: usize = 2;

/// A value of a cell. As text it has its unit, in CSV it is a number.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing; a dash in text.
    Absent,
    /// Words.
    Words(String),
    /// Nanoseconds.
    Time(u64),
    /// A median in nanoseconds, and its median absolute deviation.
    Spread(u64, u64),
    /// Bytes.
    Bytes(u64),
    /// A number of things.
    Count(u64),
    /// A number with so many decimals.
    Number(f64, usize),
    /// A small number of which the order of magnitude matters.
    Magnitude(f64),
}

impl Value {
    /// Words, unless they are empty.
    pub fn words(text: impl Into<String>) -> Self {
        let text = text.into();
        if text.is_empty() {
            Self::Absent
        } else {
            Self::Words(text)
        }
    }

    /// The number of a value; empty without one.
    fn raw(&self) -> String {
        match self {
            Self::Absent => String::new(),
            Self::Words(text) => text.clone(),
            Self::Time(number) | Self::Spread(number, _) => number.to_string(),
            Self::Bytes(number) | Self::Count(number) => number.to_string(),
            Self::Number(number, _) | Self::Magnitude(number) => number.to_string(),
        }
    }

    fn is_number(&self) -> bool {
        !matches!(self, Self::Absent | Self::Words(_))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Absent => write!(f, "-"),
            Self::Words(text) => write!(f, "{text}"),
            Self::Time(ns) => write!(f, "{}", duration(*ns)),
            Self::Spread(ns, mad) => {
                let percent = 100.0 * *mad as f64 / (*ns).max(1) as f64;
                write!(f, "{} ± {percent:.0} %", duration(*ns))
            }
            Self::Bytes(bytes) => write!(f, "{}", size(*bytes as f64)),
            Self::Count(count) => write!(f, "{}", grouped(*count)),
            Self::Number(number, digits) => write!(f, "{number:.digits$}"),
            Self::Magnitude(number) => write!(f, "{number:.1e}"),
        }
    }
}

/// A number of nanoseconds, or nothing.
pub fn time(ns: Option<u64>) -> Value {
    ns.map_or(Value::Absent, Value::Time)
}

/// A number of bytes, or nothing.
pub fn bytes(bytes: Option<u64>) -> Value {
    bytes.map_or(Value::Absent, Value::Bytes)
}

/// A number of things, or nothing.
pub fn count(count: Option<u64>) -> Value {
    count.map_or(Value::Absent, Value::Count)
}

/// A number with so many decimals, or nothing.
pub fn number(number: Option<f64>, digits: usize) -> Value {
    number.map_or(Value::Absent, |number| Value::Number(number, digits))
}

/// A small number, or nothing.
pub fn magnitude(number: Option<f64>) -> Value {
    number.map_or(Value::Absent, Value::Magnitude)
}

/// When a column makes room for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// Never.
    Stays,
    /// If the screen is too narrow, after all columns with a lower number, and if no row has a value.
    DropsAfter(u8),
}

/// A column of a table with a row for each `T`.
pub struct Column<T: ?Sized> {
    heading: &'static str,
    priority: Priority,
    value: fn(&T) -> Value,
}

impl<T: ?Sized> Column<T> {
    /// A column that stays.
    pub const fn new(heading: &'static str, value: fn(&T) -> Value) -> Self {
        Self {
            heading,
            priority: Priority::Stays,
            value,
        }
    }

    /// A column that leaves a narrow screen after those with lower numbers, and any screen if no row has a value.
    pub const fn optional(heading: &'static str, turn: u8, value: fn(&T) -> Value) -> Self {
        Self {
            heading,
            priority: Priority::DropsAfter(turn),
            value,
        }
    }
}

/// A heading of a table.
#[derive(Debug, Clone, PartialEq)]
struct Heading {
    text: String,
    priority: Priority,
}

/// Headings, and rows with a value for each.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    headings: Vec<Heading>,
    rows: Vec<Vec<Value>>,
}

/// A table on a screen.
pub struct Fitted {
    /// Its lines, each with its end.
    pub text: String,
    /// Headings of the columns that the screen had no room for.
    pub left_out: Vec<String>,
}

impl Table {
    /// An empty table with these headings.
    pub fn new(headings: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut table = Self {
            headings: Vec::new(),
            rows: Vec::new(),
        };
        for text in headings {
            table.headings.push(Heading {
                text: text.into(),
                priority: Priority::Stays,
            });
        }
        table
    }

    /// The columns that stay, and those for which some row has a value, of some rows.
    pub fn of<'a, T: 'a + ?Sized>(
        columns: &[Column<T>],
        of_rows: impl IntoIterator<Item = &'a T>,
    ) -> Self {
        let mut table = Self {
            headings: Vec::new(),
            rows: Vec::new(),
        };
        for column in columns {
            table.headings.push(Heading {
                text: column.heading.into(),
                priority: column.priority,
            });
        }
        for row in of_rows {
            let values = columns.iter().map(|column| (column.value)(row)).collect();
            table.rows.push(values);
        }
        for at in (0..columns.len()).rev() {
            let is_empty = table.rows.iter().all(|row| row[at] == Value::Absent);
            if is_empty && columns[at].priority != Priority::Stays {
                table.remove(at);
            }
        }
        table
    }

    /// Adds a row, which has a value for each heading.
    pub fn push(&mut self, row: Vec<Value>) {
        self.rows.push(row);
    }

    /// The table with the columns of another one, whose rows are of the same things, behind its own.
    pub fn beside(mut self, other: Self) -> Self {
        self.headings.extend(other.headings);
        for (row, more) in self.rows.iter_mut().zip(other.rows) {
            row.extend(more);
        }
        self
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.headings.len()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns whether it has a column with this heading.
    pub fn has(&self, heading: &str) -> bool {
        self.headings.iter().any(|known| known.text == heading)
    }

    /// Removes the column with a heading, if there is one.
    pub fn leave_out(&mut self, heading: &str) {
        if let Some(at) = self.headings.iter().position(|known| known.text == heading) {
            self.remove(at);
        }
    }

    /// Changes when the column with a heading makes room for others.
    pub fn prioritise(&mut self, heading: &str, priority: Priority) {
        for known in &mut self.headings {
            if known.text == heading {
                known.priority = priority;
            }
        }
    }

    /// The table with rows and columns exchanged; the first heading stays.
    pub fn transposed(&self) -> Self {
        let mut headings = vec![self.headings[0].text.clone()];
        headings.extend(self.rows.iter().map(|row| row[0].to_string()));
        let mut table = Self::new(headings);
        for at in 1..self.headings.len() {
            let mut row = vec![Value::words(&self.headings[at].text)];
            row.extend(self.rows.iter().map(|values| values[at].clone()));
            table.push(row);
        }
        table
    }

    /// Headings, then the cells of each row as text.
    pub fn cells(&self) -> Vec<Vec<String>> {
        let headings = self.headings.iter().map(|heading| heading.text.clone());
        let mut cells = vec![headings.collect()];
        for row in &self.rows {
            cells.push(row.iter().map(ToString::to_string).collect());
        }
        cells
    }

    fn remove(&mut self, at: usize) -> Heading {
        for row in &mut self.rows {
            row.remove(at);
        }
        self.headings.remove(at)
    }

    /// Returns whether a column has numbers, or words that all begin with one: it is aligned to the right. The first
    /// column has names, which may begin with a number.
    fn is_figures(&self, at: usize) -> bool {
        let values = self.rows.iter().map(|row| &row[at]);
        let mut given = values.filter(|value| **value != Value::Absent).peekable();
        given.peek().is_some()
            && (given.clone().any(Value::is_number)
                || at > 0
                    && given
                        .all(|value| value.to_string().starts_with(|c: char| c.is_ascii_digit())))
    }

    /// The text with those columns that fit a screen.
    pub fn fitted(&self, screen: Screen) -> Fitted {
        let mut shown = self.clone();
        let mut left_out = Vec::new();
        while !screen.fits(shown.text_width()) {
            // The columns that stay are shown at any width, in several tables if need be.
            let Some(at) = shown.first_to_leave() else {
                break;
            };
            left_out.push(shown.remove(at).text);
        }
        Fitted {
            text: shown.stacked(screen),
            left_out,
        }
    }

    /// Index of the column that leaves first; of those with the same number, the last.
    fn first_to_leave(&self) -> Option<usize> {
        let mut first = None;
        let mut earliest = u8::MAX;
        for (at, heading) in self.headings.iter().enumerate() {
            if let Priority::DropsAfter(turn) = heading.priority
                && turn <= earliest
            {
                earliest = turn;
                first = Some(at);
            }
        }
        first
    }

    /// Several tables one below the other, with as many columns each as fit a screen; the first column is repeated in each.
    /// Where a column does not even fit beside the first, values stand below the name of their row.
    pub fn stacked(&self, screen: Screen) -> String {
        if screen.fits(self.text_width()) {
            return self.text();
        }
        let mut text = String::new();
        let mut rest = self.clone();
        while rest.headings.len() > 1 {
            let mut part = rest.clone();
            while part.headings.len() > 1 && !screen.fits(part.text_width()) {
                part.remove(part.headings.len() - 1);
            }
            if part.headings.len() == 1 {
                return self.listed(screen);
            }
            if !text.is_empty() {
                text += "\n";
            }
            text += &part.text();
            for _ in 1..part.headings.len() {
                rest.remove(1);
            }
        }
        text
    }

    /// Each row's name with its values below, one a line.
    fn listed(&self, screen: Screen) -> String {
        let headings = self.headings.iter().skip(1);
        let lengths = headings.map(|heading| heading.text.chars().count());
        let longest = lengths.max().unwrap_or(0);
        let mut text = String::new();
        for row in &self.rows {
            text += &screen.wrapped(&format!("{}\n", row[0]));
            for (heading, value) in self.headings.iter().zip(row).skip(1) {
                let line = format!("{:GAP$}{:longest$}{:GAP$}{value}\n", "", heading.text, "");
                text += &screen.wrapped(&line);
            }
        }
        text
    }

    fn text_table(&self) -> TextTable {
        let style = TableStyle::new().header_separator(LineStyle::none().fill('─'));
        let mut table = TextTable::new();
        table
            .load_style(style)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(self.headings.iter().map(|heading| &heading.text));
        for row in &self.rows {
            table.add_row(row);
        }
        for (at, column) in table.column_iter_mut().enumerate() {
            column.set_cell_alignment(if self.is_figures(at) {
                CellAlignment::Right
            } else {
                CellAlignment::Left
            });
            let before = if at == 0 { 0 } else { GAP };
            column.set_padding((before as u16, 0));
        }
        table
    }

    /// Characters in the lines of the text.
    fn text_width(&self) -> usize {
        let widths = self.text_table().column_max_content_widths();
        let cells: usize = widths.iter().map(|width| usize::from(*width)).sum();
        cells + GAP * widths.len().saturating_sub(1)
    }

    /// The lines of the text, each with its end.
    fn text(&self) -> String {
        self.text_table().trim_fmt() + "\n"
    }

    /// The table in Markdown.
    pub fn markdown(&self) -> String {
        let mut lines = Vec::new();
        for cells in self.cells() {
            lines.push(format!("| {} |\n", cells.join(" | ")));
        }
        let columns = 0..self.headings.len();
        let rules = columns.map(|at| if self.is_figures(at) { "---:" } else { "---" });
        let rule = rules.collect::<Vec<_>>().join(" | ");
        lines.insert(1, format!("| {rule} |\n"));
        lines.concat()
    }

    /// The table in HTML, which scrolls by itself beside its first column. Readers with scripts sort by a heading.
    pub fn html(&self, caption: &str) -> Markup {
        let columns = 0..self.headings.len();
        let classes: Vec<Option<&str>> = columns
            .map(|at| self.is_figures(at).then_some("number"))
            .collect();
        html! {
            div.scroll {
                table.sortable {
                    caption { (caption) }
                    thead { tr { @for (at, heading) in self.headings.iter().enumerate() {
                        th scope="col" class=[classes[at]] { (heading.text) }
                    } } }
                    tbody { @for row in &self.rows {
                        tr { @for (at, value) in row.iter().enumerate() {
                            @if at == 0 { th scope="row" { (value.to_string()) } }
                            @else {
                                td class=[classes[at]] data-sort=[value.is_number().then(|| value.raw())] { (value.to_string()) }
                            }
                        } }
                    } }
                }
            }
        }
    }

    /// The table as CSV, with numbers in nanoseconds, bytes and the like.
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let headings = self.headings.iter().map(|heading| &heading.text);
        let mut done = writer.write_record(headings);
        for row in &self.rows {
            done = done.and_then(|()| writer.write_record(row.iter().map(Value::raw)));
        }
        debug_assert!(
            done.is_ok(),
            "memory can be written, and rows are equally long"
        );
        let bytes = writer.into_inner().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The columns that a screen had no room for, in a line; empty if it had room for all.
pub fn left_out(headings: &[String]) -> String {
    if headings.is_empty() {
        return String::new();
    }
    format!("--wide also shows {}\n", headings.join(", "))
}

/// Least characters of a description beside its name.
const LEAST_BESIDE: usize = 30;

/// Names with their descriptions, each indented; a description that does not fit goes on below itself. Where there is no
/// room for it beside the names, it stands below its own.
pub fn described(rows: &[[impl fmt::Display; 2]], screen: Screen) -> String {
    let names = rows
        .iter()
        .map(|[name, _]| name.to_string().chars().count());
    let names = names.max().unwrap_or(0);
    if !screen.fits(names + 2 * GAP + LEAST_BESIDE) {
        let mut text = String::new();
        for [name, description] in rows {
            text += &format!("{:GAP$}{name}\n", "");
            text += &screen.wrapped(&format!("{:1$}{description}\n", "", 2 * GAP));
        }
        return text;
    }
    let mut table = TextTable::new();
    table.load_style(TableStyle::new());
    if let Screen::Narrow(width) = screen {
        let width = u16::try_from(width).unwrap_or(u16::MAX);
        table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(width);
    }
    table.add_rows(rows);
    if let Some(names) = table.column_mut(0) {
        names.set_constraint(ColumnConstraint::ContentWidth);
    }
    for column in table.column_iter_mut() {
        column.set_padding((GAP as u16, 0));
    }
    table.trim_fmt() + "\n"
}
