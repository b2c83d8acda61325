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
    /// Print all columns; without it, those that fit the terminal (or COLUMNS; 80 characters in a pipe)
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
    let stated = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok())
        .filter(|columns| *columns > 0);
    let terminal = || terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    Screen::Narrow(stated.or_else(terminal).unwrap_or(PIPED))
}
