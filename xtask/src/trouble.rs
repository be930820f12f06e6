//! What went wrong in a chore, for the person who started it.
//!
//! In: what was tried, and why it failed. Out: one or two lines of text. Never: a panic.

use std::fmt;

/// A chore that could not be done, with what to do about it where that is known.
#[derive(Debug)]
pub(crate) struct Trouble {
    what: String,
    remedy: Option<String>,
}

/// The outcome of a piece of a chore.
pub(crate) type Outcome<T> = Result<T, Trouble>;

impl Trouble {
    /// Says what went wrong.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            remedy: None,
        }
    }

    /// Says what went wrong while doing something to somebody else's program or a file.
    pub(crate) fn because(what: impl Into<String>, cause: impl fmt::Display) -> Self {
        Self::new(format!("{}: {cause}", what.into()))
    }

    /// Adds what the person can do.
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.remedy {
            Some(remedy) => write!(f, "\n  {remedy}"),
            None => Ok(()),
        }
    }
}
