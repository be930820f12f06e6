//! Every numeric bound and default of the file, in one place.
//!
//! In: nothing. Out: constants that the reader enforces and the schema prints, so that the two
//! cannot drift apart. Never: a bound written a second time elsewhere.

/// A whole number of the file: least, most, and what an absent key means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole {
    pub(crate) min: u64,
    pub(crate) max: u64,
    pub(crate) default: u64,
}

const fn whole(min: u64, max: u64, default: u64) -> Whole {
    Whole { min, max, default }
}

/// The only version of the file that this program reads.
pub(crate) const BINDING_VERSION: u64 = 1;
/// Largest file that is read, in bytes.
pub const FILE_MAX_BYTES: usize = 1024 * 1024;

pub(crate) const TURNS_PER_DAY: Whole = whole(1, 1_000_000, 200);
pub(crate) const TURN_TIMEOUT_SECONDS: Whole = whole(1, 3600, 180);
/// The upper end is Discord's: Create Message, field `content`.
pub(crate) const REPLY_CHUNK_CHARS: Whole = whole(50, 2000, 1900);
pub(crate) const INBOUND_MAX_CHARS: Whole = whole(1, 100_000, 4000);
pub(crate) const CATCH_UP_SECONDS: Whole = whole(0, 604_800, 900);
pub(crate) const PARALLEL_TURNS: Whole = whole(1, 256, 4);
pub(crate) const QUEUED_TURNS: Whole = whole(1, 10_000, 256);
pub(crate) const USD_PER_DAY_MIN: f64 = 0.000_001;
pub(crate) const USD_PER_DAY_MAX: f64 = 1_000_000.0;
pub(crate) const USD_PER_MTOK_MAX: f64 = 1_000_000.0;
pub(crate) const IDLE_SECONDS: Whole = whole(0, 86_400, 300);
pub(crate) const ASK_TIMEOUT_SECONDS: Whole = whole(1, 86_400, 300);
pub(crate) const MAX_FILE_BYTES: Whole = whole(1, 16_777_216, 262_144);
pub(crate) const MAX_CALLS_PER_TURN: Whole = whole(1, 1000, 8);
pub(crate) const MAX_FETCH_BYTES: Whole = whole(1, 16_777_216, 1_048_576);
pub(crate) const SETSPARK_TIMEOUT_MS: Whole = whole(100, 60_000, 15_000);

/// Discord allows this many channels in a server.
pub(crate) const CHANNELS_MAX: usize = 500;
pub(crate) const USERS_MAX: usize = 1000;
pub(crate) const CONTEXT_FILES_MAX: usize = 64;
pub(crate) const ROOTS_MAX: usize = 32;
pub(crate) const TOOLSETS_MAX: usize = 32;
pub(crate) const COMMAND_MAX: usize = 64;
/// Longest argument of a command, in characters.
pub(crate) const ARGUMENT_MAX_CHARS: usize = 4096;
/// Longest display name (server, channel, person), in characters; Discord's own limit is the same.
pub(crate) const DISPLAY_NAME_MAX_CHARS: usize = 100;
/// Longest name of a model, a provider and the like, in characters.
pub(crate) const LABEL_MAX_CHARS: usize = 200;
/// Longest path, in characters.
pub(crate) const PATH_MAX_CHARS: usize = 4000;
/// Longest URL, in characters.
pub(crate) const URL_MAX_CHARS: usize = 2000;
