//! The width of the terminal.

use clap::Args;
use skinbench::report::Screen;
use std::io;
use terminal_size::terminal_size_of;

/// Width of text that goes to a file or another program, in characters.
const PIPED: usize = 80;

/// Arguments of commands that print tables.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Output")]
pub struct ScreenArguments {
    /// Print all columns, and lines of any length
    ///
    /// Without it, what fits the terminal is printed, or COLUMNS characters, or 80 in a pipe
    #[arg(long)]
    wide: bool,
}

impl ScreenArguments {
    /// The screen that tables are fitted to.
    pub fn screen(&self) -> Screen {
        if self.wide { Screen::Wide } else { narrow() }
    }
}

/// The screen of text that is never wider than its terminal: as wide as `COLUMNS` says, or as the terminal is.
pub fn narrow() -> Screen {
    if let Ok(columns) = std::env::var("COLUMNS")
        && let Ok(columns) = columns.parse()
        && columns > 0
    {
        return Screen::Narrow(columns);
    }
    match terminal_size_of(io::stdout()) {
        Some((width, _)) => Screen::Narrow(width.0.into()),
        None => Screen::Narrow(PIPED),
    }
}
