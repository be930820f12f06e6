//! Code fences of Markdown.
//!
//! In: lines, in order. Out: which of them stand in a fence. Never: an inline code span taken for a
//! fence.

/// Whether lines stand in a code fence.
#[derive(Default)]
pub(crate) struct Fence {
    open: Option<(char, usize)>,
}

impl Fence {
    /// Whether the fence is open after the last line.
    pub(crate) const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Takes the next line; true where it is in a fence or is one of its marks.
    pub(crate) fn holds(&mut self, line: &str) -> bool {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let line = line.trim();
        let mark = line
            .chars()
            .next()
            .filter(|c| matches!(c, '`' | '~') && indent < 4);
        let length = mark.map_or(0, |mark| line.chars().take_while(|c| *c == mark).count());
        match (self.open, mark) {
            (Some((open, least)), Some(mark))
                if mark == open && length >= least && line.chars().all(|c| c == mark) =>
            {
                self.open = None;
                true
            }
            (Some(_), _) => true,
            // A backtick in the info string makes it inline code and no fence.
            (None, Some(mark)) if length >= 3 && !(mark == '`' && line[length..].contains('`')) => {
                self.open = Some((mark, length));
                true
            }
            (None, _) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_ends_with_its_own_mark_only() {
        let cases = [
            ("```rust", true),
            ("~~~", true),
            ("``` not an end", true),
            ("text", true),
            ("````", true),
            ("after", false),
            ("```inline```", false),
            ("``", false),
        ];
        let mut fence = Fence::default();
        for (line, want) in cases {
            assert_eq!(fence.holds(line), want, "{line}");
        }
    }
}
