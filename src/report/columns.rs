//! Tables in text: which columns fit a screen, and how they are set.

use super::Screen;
use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle,
};
use std::fmt::Display;

/// Spaces between two columns.
const GAP: usize = 2;

/// A column of a table with a row for each `T`.
pub struct Column<T> {
    /// Its heading.
    heading: &'static str,
    /// When it makes room for others.
    place: Place,
    /// How its cells are set.
    align: CellAlignment,
    /// The cell of a row; `None` is shown as a dash.
    cell: fn(&T) -> Option<String>,
}

impl<T> Column<T> {
    /// A column of words, which stays.
    pub const fn words(heading: &'static str, cell: fn(&T) -> Option<String>) -> Self {
        Self {
            heading,
            place: Place::Stays,
            align: CellAlignment::Left,
            cell,
        }
    }

    /// A column of figures.
    pub const fn figures(
        heading: &'static str,
        place: Place,
        cell: fn(&T) -> Option<String>,
    ) -> Self {
        Self {
            heading,
            place,
            align: CellAlignment::Right,
            cell,
        }
    }
}

/// When a column makes room for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Never.
    Stays,
    /// If the screen is too narrow, after all columns with a lower number, and if no row has a cell.
    Leaves(u8),
}

/// A table on a screen.
pub struct Fitted {
    /// Its lines, each with its end.
    pub text: String,
    /// Headings of the columns that the screen had no room for.
    pub left_out: Vec<&'static str>,
}

/// A table with those columns that fit a screen.
pub fn fitted<T>(columns: &[Column<T>], rows: &[&T], screen: Screen) -> Fitted {
    let mut shown = with_cells(columns, rows);
    let mut left_out = Vec::new();
    while !screen.fits(width(&table(&shown, rows))) {
        // The columns that stay are shown at any width.
        let Some(at) = first_to_leave(&shown) else {
            break;
        };
        left_out.push(shown.remove(at).heading);
    }
    Fitted {
        text: set(&table(&shown, rows)),
        left_out,
    }
}

/// Headings, then the cells of each row: all columns that some row has a cell for.
pub fn cells<T>(columns: &[Column<T>], rows: &[&T]) -> Vec<Vec<String>> {
    let shown = with_cells(columns, rows);
    let headings = shown.iter().map(|column| column.heading.to_owned());
    let mut cells = vec![headings.collect()];
    for row in rows {
        cells.push(shown.iter().map(|column| cell(column, row)).collect());
    }
    cells
}

/// The columns that stay, and those that some row has a cell for.
fn with_cells<'a, T>(columns: &'a [Column<T>], rows: &[&T]) -> Vec<&'a Column<T>> {
    let mut shown = Vec::new();
    for column in columns {
        if column.place == Place::Stays || rows.iter().any(|row| (column.cell)(row).is_some()) {
            shown.push(column);
        }
    }
    shown
}

/// Index of the column that leaves first; of those with the same number, the last.
fn first_to_leave<T>(columns: &[&Column<T>]) -> Option<usize> {
    let mut first = None;
    let mut earliest = u8::MAX;
    for (at, column) in columns.iter().enumerate() {
        if let Place::Leaves(turn) = column.place
            && turn <= earliest
        {
            earliest = turn;
            first = Some(at);
        }
    }
    first
}

/// The cell of a row, or a dash.
fn cell<T>(column: &Column<T>, row: &T) -> String {
    (column.cell)(row).unwrap_or("-".into())
}

/// Names with their descriptions, each indented; a description that does not fit goes on below itself.
pub fn described(rows: &[[impl Display; 2]], screen: Screen) -> String {
    let mut table = Table::new();
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
    set(&table)
}

/// Several tables one below the other, with as many columns each as fit a screen: `rows[0]` are the headings, and the
/// first column is repeated in each table.
pub fn stacked(rows: &[Vec<String>], screen: Screen) -> String {
    let rows = &without_empty_columns(rows);
    let mut text = String::new();
    let columns = rows.first().map_or(0, Vec::len);
    let mut from = 1;
    while from < columns {
        let mut to = from + 1;
        while to < columns && screen.fits(width(&columns_between(rows, from, to + 1))) {
            to += 1;
        }
        if !text.is_empty() {
            text += "\n";
        }
        text += &set(&columns_between(rows, from, to));
        from = to;
    }
    text
}

/// The rows without columns in which all but the heading are dashes.
fn without_empty_columns(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    let columns = rows.first().map_or(0, Vec::len);
    let mut kept = vec![Vec::new(); rows.len()];
    for column in 0..columns {
        if rows[1..].iter().any(|row| row[column] != "-") {
            for (kept, row) in kept.iter_mut().zip(rows) {
                kept.push(row[column].clone());
            }
        }
    }
    kept
}

/// The first column of some rows, and those from `from` to before `to`; all but the first are figures.
fn columns_between(rows: &[Vec<String>], from: usize, to: usize) -> Table {
    let mut lines = Vec::new();
    for row in rows {
        let mut cells = vec![row[0].clone()];
        cells.extend_from_slice(&row[from..to]);
        lines.push(cells);
    }
    let mut table = new_table(lines.remove(0));
    table.add_rows(lines);
    align(&mut table, |at| {
        if at == 0 {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        }
    });
    table
}

/// A table with these columns.
fn table<T>(columns: &[&Column<T>], rows: &[&T]) -> Table {
    let headings = columns.iter().map(|column| column.heading.to_owned());
    let mut table = new_table(headings.collect());
    for row in rows {
        table.add_row(columns.iter().map(|column| cell(column, row)));
    }
    align(&mut table, |at| columns[at].align);
    table
}

/// An empty table: no borders, a line below the headings.
fn new_table(headings: Vec<String>) -> Table {
    let style = TableStyle::new().header_separator(LineStyle::none().fill('─'));
    let mut table = Table::new();
    table
        .load_style(style)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(headings);
    table
}

fn align(table: &mut Table, align: impl Fn(usize) -> CellAlignment) {
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_cell_alignment(align(at));
        let before = if at == 0 { 0 } else { GAP };
        column.set_padding((before as u16, 0));
    }
}

/// Characters in the lines of a table.
fn width(table: &Table) -> usize {
    let widths = table.column_max_content_widths();
    let cells: usize = widths.iter().map(|width| usize::from(*width)).sum();
    cells + GAP * widths.len().saturating_sub(1)
}

/// The lines of a table, each with its end.
fn set(table: &Table) -> String {
    table.trim_fmt() + "\n"
}
