//! Durable private files of one binding.
//!
//! In: records as JSON texts for named logs, small files that are replaced whole, claims on a
//! binding, brakes. Out: the same after a crash, and named errors.
//! Never: knows what a record means, reads a clock, or follows a symbolic link.
//!
//! | what | where |
//! | --- | --- |
//! | groups of records, all or nothing | [`Journal`] |
//! | the parts of replies until they are delivered | [`Spool`] |
//! | small files that may be lost | [`replace()`], [`read_replaced`] |
//! | tokens and bindings | [`read_private`] |
//! | who runs a binding | [`lock`] |
//! | `STOP` and `ESTOP` | [`read_brake`], [`set_brake`], [`release_brake`] |
//! | long logs, line by line or for their ids | [`scan`] |
//! | dying and failing on request, for tests | [`failpoint()`], [`failing`], [`arm`] |
//!
//! ```
//! use guildhall_journal::{Journal, JournalSpec, Room};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let place = tempfile::tempdir()?;
//! # let folder = place.path().join("hall");
//! let spec = JournalSpec::new(&["inbox", "rows"]);
//! let now = "2026-11-30T14:04:05.123Z";
//! let (mut journal, recovered) = Journal::open(&folder, now, spec)?;
//! assert_eq!(recovered.next_group, 1);
//! let group = [
//!     ("inbox", r#"{"k":"seen","row":"12","channel":"7"}"#),
//!     ("rows", r#"{"k":"queued","row":"12","route":"seat"}"#),
//! ];
//! let committed = journal.append(now, &group)?;
//! assert_eq!((committed.g, committed.room), (1, Room::Enough));
//! drop(journal);
//!
//! let (_journal, recovered) = Journal::open(&folder, now, spec)?;
//! assert_eq!(recovered.records.len(), 2);
//! # Ok(())
//! # }
//! ```
//!
//! # What the shape costs
//!
//! `examples/measure.rs` on ext4, in a virtual machine with two cores that other work kept busy;
//! three runs, each figure as its ratio to one synced append to a file that grows:
//!
//! | what | p50 | p95 |
//! | --- | --- | --- |
//! | a synced append into a file padded ahead | 0.70 to 1.00 | 0.70 to 1.00 |
//! | a group of three records, synced once, and its copies | 1.00 to 1.16 | 0.76 to 1.06 |
//! | three files that grow, each synced | 2.7 to 3.1 | 2.0 to 4.0 |
//!
//! A start with a full segment (8 MiB) took 50 to 100 ms, and the ids of a million accepted
//! messages (111 MiB of inbox) another 130 to 330 ms, with a peak of 28 MB of memory.

mod brake;
mod failpoint;
mod journal;
mod line;
pub mod lock;
mod named;
mod platform;
mod private;
mod replace;
pub mod scan;
mod segment;
mod spool;

pub use brake::{
    Brake, BrakeFound, BrakeSet, Brakes, WHY_MAX_BYTES, read_brake, release_brake, set_brake,
};
pub use failpoint::{
    ArmError, FAIL_POINT_VARIABLE, FAIL_POINTS, FAILING_POINTS, arm, failing, failpoint,
};
pub use journal::{
    ASIDE_KEPT_COUNT, ASIDE_MAX_BYTES, AppendError, AppendErrorKind, Buffered, COMMITS_FOLDER,
    CheckpointError, Committed, Journal, JournalSpec, OpenError, OpenErrorKind, Record, Recovered,
    SEGMENT_MAX_BYTES, Source, Standing, Torn, TornFate, WriteOnce,
};
pub use line::{FORMAT_VERSION, GROUP_MAX_BYTES, NO_GROUP, RecordFault};
pub use private::{
    FILE_MODE, FOLDER_MODE, PrivateError, PrivateErrorKind, check_private, ensure_private_folder,
    read_private,
};
pub use replace::{Absent, REPLACED_MAX_BYTES, read_replaced, replace};
pub use segment::Room;
pub use spool::{SPOOL_MAX_BYTES, Spool, SpoolError, Spooled};
