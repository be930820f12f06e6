//! Confined file access: from one directory and a relative path to bytes, listings, hits and
//! published files.
//!
//! In: the operator's directory, opened once as a [`Root`]; paths from models and people, checked
//! as a [`RelPath`]; text to write. Out: text, listings, hits, a file with new content, or one of
//! the fixed refusals.
//! Never: follows a link, leaves the root, crosses a mount, opens what is no regular file with one
//! name, returns or writes what has the shape of a credential, or names a path of the host. It knows
//! no permit: whoever calls [`Root::publish`] has one.
//!
//! | what | where |
//! | --- | --- |
//! | a directory and its identity | [`Root`] |
//! | a path as it is written | [`RelPath`] |
//! | why something was not done | [`Refusal`] |
//! | the text of a file | [`Root::read_text`] |
//! | what lies in a folder | [`Root::list`] |
//! | what files hold | [`Root::search`] |
//! | a change, prepared and then made | [`Root::prepare_create`], [`Root::prepare_write`], [`Root::prepare_edit`], [`Root::publish`] |
//! | what a crash left | [`Root::sweep`] |
//! | one exact replacement | [`splice`] |
//! | shapes of credentials | [`credential_in`] |
//!
//! Two calls change files: [`Root::publish`] and [`Root::sweep`]. Everything is synchronous and may
//! wait for a disk; it belongs on a thread for blocking work.
//!
//! ```
//! use guildhall_confine::{Access, FileLimit, Refusal, RelPath, Root};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let place = tempfile::Builder::new().prefix("confine-").tempdir()?;
//! let limit = FileLimit::bytes(256 * 1024);
//! let root = Root::open_ambient(place.path(), Access::Write)?;
//! let path = RelPath::parse("notes.txt")?;
//!
//! let created = root.prepare_create(&path, "one\r\ntwo\r\n", limit)?;
//! root.publish(created)?;
//!
//! let edit = root.prepare_edit(&path, "two", "2", limit)?;
//! assert_eq!(edit.text_before(), Some("one\r\ntwo\r\n"));
//! root.publish(edit)?;
//! assert_eq!(root.read_text(&path, limit)?.as_str(), "one\r\n2\r\n");
//!
//! assert_eq!(RelPath::parse("../notes.txt"), Err(Refusal::ParentSegment));
//! # Ok(())
//! # }
//! ```

mod edit; // one exact replacement
mod list; // one folder
mod moment; // where tests act between two calls
mod path; // a path as it is written
mod prepare; // a change that is not made yet
mod publish; // the only place where a file changes
mod read; // one file whole
mod refusal; // start here: every way in which nothing happens
mod resolve; // from a directory and a path to a descriptor
mod root; // a directory that is held open
mod search; // what files hold
mod shapes; // shapes of credentials
mod staged; // a file that stands ready beside its target
mod sweep; // what a crash left
mod system; // the system calls
mod tree; // a bounded walk

pub use edit::splice;
pub use list::{End, Entry, EntryKind, Listing, NAMES_MAX_COUNT, Reach};
pub use path::{PATH_MAX_BYTES, RelPath, SEGMENT_MAX_BYTES, SEGMENTS_MAX_COUNT, is_unseen};
pub use prepare::{Change, ContentDigest, Prepared};
pub use publish::{How, Published};
pub use read::{BINARY_SCAN_BYTES, FileLimit, FileText};
pub use refusal::{Hint, Refusal, Trouble};
pub use resolve::Way;
pub use root::{Access, Root, RootIdentity};
pub use search::{Found, Hit, PATTERN_MAX_BYTES, Pattern, Query, SearchBounds, Skipped};
pub use shapes::{Family, credential_in, families, know_secrets, without_known_secrets};
pub use sweep::Swept;
pub use tree::{Cut, WalkBounds};

#[cfg(test)]
mod tests;
