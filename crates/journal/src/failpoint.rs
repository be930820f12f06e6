//! Fail points: named places where a test can make the process die.
//!
//! In: the text of `GUILDHALL_FAIL_POINT`, handed over once by `main`. Out: nothing, or the end
//! of the process. Never: acts when it was not armed, and never reads the environment itself.
//!
//! The text is `name` or `name:n`: the process kills itself (SIGKILL, so no destructor runs and
//! no buffer is flushed) when the point `name` is reached for the `n`th time, counted from 1.
//! The check is compiled into every build and costs one atomic load.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::platform;

/// The variable that `main` reads and passes to [`arm`].
pub const FAIL_POINT_VARIABLE: &str = "GUILDHALL_FAIL_POINT";

/// The durable steps of this crate, in the order in which a group passes them; then those of a
/// checkpoint, then those of the other files. Callers add points of their own.
pub const FAIL_POINTS: &[&str] = &[
    "journal.before-line",
    "journal.line-written",
    "journal.line-synced",
    "journal.copy-written",
    "journal.copies-written",
    "checkpoint.copies-synced",
    "checkpoint.segment-written",
    "checkpoint.segment-named",
    "checkpoint.old-removed",
    "spool.written",
    "spool.synced",
    "spool.compacted",
    "lock.made",
    "lock.published",
    "unlock.braked",
    "recover.braked",
    "clear.record-removed",
    "recover.cleared",
    "brake.moved",
];

/// The fail point text cannot be understood.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("fail point {0:?} is not `name` or `name:count`")]
pub struct ArmError(pub String);

#[derive(Debug)]
struct Armed {
    name: String,
    hits_left: AtomicU64,
}

static ARMED: OnceLock<Armed> = OnceLock::new();

/// Arms one fail point for the life of this process; `None` leaves all of them inert.
///
/// Only the first call with a text counts.
///
/// # Errors
/// [`ArmError`] when the text has no name, or a count that is not a positive number.
pub fn arm(text: Option<&str>) -> Result<(), ArmError> {
    let Some(text) = text else { return Ok(()) };
    let (name, count) = parse(text).ok_or_else(|| ArmError(text.to_owned()))?;
    ARMED.get_or_init(|| Armed {
        name: name.to_owned(),
        hits_left: AtomicU64::new(count),
    });
    Ok(())
}

/// Marks a durable step; ends the process if this is the armed one and its count is reached.
pub fn failpoint(name: &str) {
    if let Some(armed) = ARMED.get()
        && armed.name == name
        && armed.hits_left.fetch_sub(1, Ordering::SeqCst) == 1
    {
        platform::kill_self();
    }
}

fn parse(text: &str) -> Option<(&str, u64)> {
    let (name, count) = match text.split_once(':') {
        None => (text, 1),
        Some((name, count)) => (name, count.parse().ok()?),
    };
    (!name.is_empty() && count > 0).then_some((name, count))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_text_is_a_name_with_an_optional_count() {
        let cases = [
            ("journal.line-written", Some(("journal.line-written", 1))),
            ("a:3", Some(("a", 3))),
            ("a:0", None),
            ("a:-1", None),
            ("a:x", None),
            (":2", None),
            ("", None),
        ];
        for (text, want) in cases {
            assert_eq!(parse(text), want, "{text}");
        }
    }
}
