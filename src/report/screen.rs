//! The width that text is fitted to.

/// Width of the lines that a reader sees without wrapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// So many characters per line.
    Narrow(usize),
    /// Lines of any length.
    Wide,
}

impl Screen {
    /// Returns whether a line of `width` characters fits.
    pub fn fits(self, width: usize) -> bool {
        match self {
            Self::Narrow(most) => width <= most,
            Self::Wide => true,
        }
    }
}
