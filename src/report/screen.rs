//! The width that text is fitted to.

/// Spaces before the part of a line that did not fit, beyond those before the line.
const INDENT: usize = 2;

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
    /// A text whose lines fit. One that is too long goes on below itself, further in; words stay whole.
    pub fn wrapped(self, text: &str) -> String {
        let mut wrapped = String::new();
        for line in text.split_inclusive('\n') {
            if self.fits(width(line)) {
                wrapped += line;
                continue;
            }
            let indent = line.len() - line.trim_start_matches(' ').len() + INDENT;
            let mut at = 0;
            for word in line.split_inclusive(' ') {
                if at > indent && !self.fits(at + width(word)) {
                    wrapped.truncate(wrapped.trim_end_matches(' ').len());
                    wrapped += &format!("\n{:indent$}", "");
                    at = indent;
                }
                wrapped += word;
                at += word.chars().count();
            }
        }
        wrapped
    }
}

/// Characters of a line or a word, without spaces after it.
fn width(text: &str) -> usize {
    text.trim_end().chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_go_on_further_in() {
        let text = "short\n  a: one two three, four\nhttps://a.very.long.address it\n\nend";
        let wrapped =
            "short\n  a: one two\n    three,\n    four\nhttps://a.very.long.address\n  it\n\nend";
        assert_eq!(Screen::Narrow(12).wrapped(text), wrapped);
        assert_eq!(Screen::Narrow(30).wrapped(text), text);
        assert_eq!(Screen::Wide.wrapped(text), text);
        assert_eq!(Screen::Narrow(3).wrapped("ä ö ü\n"), "ä ö\n  ü\n");
    }
}
