//! What is looked for.
//!
//! In: the text of a pattern and of a glob. Out: a compiled matcher and a compiled glob.
//! Never: the compiler's own words about a bad pattern, which repeat its text; an expression that
//! takes more than linear time or compiles to more than its bound.

use globset::{GlobBuilder, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::{Refusal, RelPath};

/// Longest pattern and longest glob, in bytes.
pub const PATTERN_MAX_BYTES: usize = 4096;

/// Most bytes that a compiled expression may take.
const COMPILED_MAX_BYTES: usize = 1024 * 1024;
/// Most bytes of its states that are kept while searching.
const STATES_MAX_BYTES: usize = 8 * 1024 * 1024;
/// Deepest nesting of an expression.
const NEST_MAX: u32 = 100;

/// How the pattern is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern<'q> {
    /// These characters.
    Literal(&'q str),
    /// This regular expression, in the syntax of the `regex` crate, line by line.
    Regex(&'q str),
}

/// What is looked for, and where.
#[derive(Clone, Copy, Debug)]
pub struct Query<'q> {
    /// What.
    pub pattern: Pattern<'q>,
    /// Only in files that match: by name, or by path from the root where the glob has a slash.
    pub glob: Option<&'q str>,
    /// Below this folder, or in this file.
    pub path: &'q RelPath,
}

/// Which files are looked at.
pub(super) struct Files {
    glob: GlobMatcher,
    by: By,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Name,
    Path,
}

impl Files {
    pub(super) fn parse(glob: &str) -> Result<Self, Refusal> {
        if glob.is_empty() || glob.len() > PATTERN_MAX_BYTES {
            return Err(Refusal::BadPattern);
        }
        let by = if glob.contains('/') {
            By::Path
        } else {
            By::Name
        };
        let glob = GlobBuilder::new(glob.trim_start_matches('/'))
            .literal_separator(true)
            .build()
            .map_err(|_| Refusal::BadPattern)?
            .compile_matcher();
        Ok(Self { glob, by })
    }

    pub(super) fn holds(&self, name: &str, path: &str) -> bool {
        self.glob
            .is_match(if self.by == By::Name { name } else { path })
    }
}

/// Compiles a pattern.
pub(super) fn matcher(pattern: Pattern<'_>) -> Result<RegexMatcher, Refusal> {
    let (text, literal) = match pattern {
        Pattern::Literal(text) => (text, true),
        Pattern::Regex(text) => (text, false),
    };
    if text.is_empty() || text.len() > PATTERN_MAX_BYTES {
        return Err(Refusal::BadPattern);
    }
    RegexMatcherBuilder::new()
        .multi_line(true)
        .fixed_strings(literal)
        // Both line ends, so that `$` holds at either. A pattern with a line end in it is refused.
        .crlf(true)
        .size_limit(COMPILED_MAX_BYTES)
        .dfa_size_limit(STATES_MAX_BYTES)
        .nest_limit(NEST_MAX)
        .build(text)
        .map_err(|_| Refusal::BadPattern)
}
