//! Durable private files of one binding.
//!
//! In: records as JSON texts for named logs, small files that are replaced whole, claims on a
//! binding, brakes. Out: the same after a crash, and named errors.
//! Never: knows what a record means, reads a clock, or follows a symbolic link.
//!
//! Start with [`Journal`].

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
    FILE_MODE, FOLDER_MODE, PrivateError, PrivateErrorKind, ensure_private_folder, read_private,
};
pub use replace::{Absent, REPLACED_MAX_BYTES, read_replaced, replace};
pub use segment::Room;
pub use spool::{SPOOL_MAX_BYTES, Spool, SpoolError, Spooled};
