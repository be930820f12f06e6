//! Fail points: named places where a test can make the process die, or make the device fail.
//!
//! In: the text of `GUILDHALL_FAIL_POINT`, handed over once by `main`. Out: nothing, or the end
//! of the process, or an error as the system would give it. Never: acts when it was not armed,
//! and never reads the environment itself.
//!
//! | text | what happens |
//! | --- | --- |
//! | `name` | at the first pass of the point the process kills itself |
//! | `name:3` | at the third pass |
//! | `name:3=ENOSPC` | the third pass fails with that error: `ENOSPC`, `EIO`, `EROFS` or `EACCES` |
//! | `name:3-9=ENOSPC` | passes three to nine fail |
//! | `name:3+=ENOSPC` | the third pass and all after it fail |
//!
//! Dying is SIGKILL, so that no destructor runs and no buffer is flushed. The points that can
//! fail are [`FAILING_POINTS`]; at the others only dying makes sense. The check is compiled into
//! every build and costs one atomic load.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;

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

/// The writes and syncs of this crate that can be made to fail.
pub const FAILING_POINTS: &[&str] = &[
    "journal.line",
    "journal.sync",
    "journal.room",
    "journal.copy",
    "checkpoint.segment",
    "spool.entry",
    "spool.sync",
];

/// The fail point text cannot be understood.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("fail point {0:?} is not `name`, `name:count` or `name:count=ERROR`")]
pub struct ArmError(pub String);

#[derive(Debug)]
struct Armed {
    point: Point,
    passes: AtomicU64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Point {
    name: String,
    /// The first pass that counts, from 1.
    first: u64,
    /// The last one.
    last: u64,
    effect: Effect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Die,
    Fail(Errno),
}

static ARMED: OnceLock<Armed> = OnceLock::new();

/// Arms one fail point for the life of this process; `None` leaves all of them inert.
///
/// Only the first call with a text counts.
///
/// # Errors
/// [`ArmError`] when the text is none of those in the table above.
pub fn arm(text: Option<&str>) -> Result<(), ArmError> {
    let Some(text) = text else { return Ok(()) };
    let point = parse(text).ok_or_else(|| ArmError(text.to_owned()))?;
    ARMED.get_or_init(|| Armed {
        point,
        passes: AtomicU64::new(0),
    });
    Ok(())
}

/// Marks a durable step; ends the process if this is the armed one and its count is reached.
pub fn failpoint(name: &str) {
    if pass(name) == Some(Effect::Die) {
        platform::kill_self();
    }
}

/// Marks a write or a sync that can fail, before it is tried; dies where it is armed without an
/// error.
///
/// # Errors
/// The armed error, for the armed passes.
pub fn failing(name: &str) -> io::Result<()> {
    match pass(name) {
        None => Ok(()),
        Some(Effect::Die) => platform::kill_self(),
        Some(Effect::Fail(errno)) => Err(errno.into()),
    }
}

fn pass(name: &str) -> Option<Effect> {
    let Armed { point, passes } = ARMED.get()?;
    if point.name != name {
        return None;
    }
    let pass = passes.fetch_add(1, Ordering::SeqCst) + 1;
    (point.first..=point.last)
        .contains(&pass)
        .then_some(point.effect)
}

fn parse(text: &str) -> Option<Point> {
    let (place, effect) = match text.split_once('=') {
        None => (text, Effect::Die),
        Some((place, error)) => (place, Effect::Fail(errno(error)?)),
    };
    let (name, passes) = place.split_once(':').unwrap_or((place, "1"));
    let (first, last) = match (passes.strip_suffix('+'), passes.split_once('-')) {
        (Some(first), _) => (first.parse().ok()?, u64::MAX),
        (None, Some((first, last))) => (first.parse().ok()?, last.parse().ok()?),
        (None, None) => {
            let only = passes.parse().ok()?;
            (only, only)
        }
    };
    let is_sound = !name.is_empty() && first > 0 && first <= last;
    is_sound.then(|| Point {
        name: name.to_owned(),
        first,
        last,
        effect,
    })
}

fn errno(name: &str) -> Option<Errno> {
    let known = [
        ("ENOSPC", Errno::NOSPC),
        ("EIO", Errno::IO),
        ("EROFS", Errno::ROFS),
        ("EACCES", Errno::ACCESS),
    ];
    known
        .into_iter()
        .find(|(known, _)| *known == name)
        .map(|(_, errno)| errno)
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::{Effect, Point, parse};

    #[test]
    fn the_text_is_a_name_with_passes_and_an_error() {
        let point = |name: &str, first, last, effect| {
            Some(Point {
                name: name.to_owned(),
                first,
                last,
                effect,
            })
        };
        let full = Effect::Fail(Errno::NOSPC);
        let cases = [
            (
                "journal.line-written",
                point("journal.line-written", 1, 1, Effect::Die),
            ),
            ("a:3", point("a", 3, 3, Effect::Die)),
            ("a=EIO", point("a", 1, 1, Effect::Fail(Errno::IO))),
            ("a:3=ENOSPC", point("a", 3, 3, full)),
            ("a:3-9=ENOSPC", point("a", 3, 9, full)),
            ("a:3+=ENOSPC", point("a", 3, u64::MAX, full)),
            ("a:9-3=ENOSPC", None),
            ("a=EWHATEVER", None),
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
