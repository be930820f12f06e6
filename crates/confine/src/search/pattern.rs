//! What is looked for.
//!
//! In: the text of a pattern and of a glob. Out: a compiled matcher and a compiled glob.
//! Never: the compiler's own words about a bad pattern, which repeat its text; an expression that
//! takes more than linear time or compiles to more than its bound.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::{Refusal, RelPath, system::Kind};

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
    /// Only in files that match: by name, or by path from the root where the glob has a slash. After
    /// `!`, in all but those, and not in folders that match.
    pub glob: Option<&'q str>,
    /// Below this folder, or in this file.
    pub path: &'q RelPath,
}

/// Which files are looked at.
pub(super) enum Files {
    /// Those that match.
    Only { glob: GlobMatcher, by: By },
    /// All but what matches, as a line of an ignore file does: folders and what is in them too.
    But(Gitignore),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Name,
    Path,
}

impl Files {
    pub(super) fn parse(glob: &str) -> Result<Self, Refusal> {
        if glob.is_empty() || glob.len() > PATTERN_MAX_BYTES {
            return Err(Refusal::BadPattern);
        }
        if let Some(but) = glob.strip_prefix('!') {
            return Self::but(but);
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
        Ok(Self::Only { glob, by })
    }

    fn but(glob: &str) -> Result<Self, Refusal> {
        // Nothing, no twice, a comment: a line that leaves nothing out.
        if glob.trim().is_empty() || glob.starts_with(['!', '#']) {
            return Err(Refusal::BadPattern);
        }
        // Ignore files take a class that does not end for its letters.
        GlobBuilder::new(glob)
            .build()
            .map_err(|_| Refusal::BadPattern)?;
        let mut builder = GitignoreBuilder::new("");
        builder
            .add_line(None, glob)
            .map_err(|_| Refusal::BadPattern)?;
        let rules = builder.build().map_err(|_| Refusal::BadPattern)?;
        Ok(Self::But(rules))
    }

    /// Whether a file is looked at, or a folder entered.
    pub(super) fn takes(&self, name: &str, path: &str, kind: Kind) -> bool {
        match self {
            Self::Only { .. } if kind == Kind::Folder => true,
            Self::Only { glob, by } => glob.is_match(if *by == By::Name { name } else { path }),
            Self::But(rules) => !rules
                .matched(Path::new(path), kind == Kind::Folder)
                .is_ignore(),
        }
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
