//! What a named file lacks after a crash, found by comparing it with the commit log.
//!
//! In: a named file, the length it had at the checkpoint, and the lines that should follow.
//! Out: how to finish it, or whose bytes stand in the way. Never: writes.
//!
//! A copy is written only after its group was synced, so a file that was left alone is a prefix
//! of what the log says: shorter, with its last line cut, or, after a power loss, with NULs where
//! its last bytes never reached the device.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use super::error::OpenErrorKind;
use super::recovered::{Torn, TornFate};
use crate::line::UNSYNCED_PREFIX;
use crate::named::file_name;
use crate::private::{Access, PrivateDir, PrivateError};

/// An unfinished line of somebody is at most this long, in bytes; more is not a torn line.
const TORN_MAX_BYTES: u64 = crate::line::GROUP_MAX_BYTES as u64;

/// How to bring a named file up to date.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NamedPlan {
    /// Length to keep, in bytes; what stands behind it is cut off.
    pub(super) keep: u64,
    /// Length found, in bytes.
    pub(super) found: u64,
    /// Lines to append.
    pub(super) append: Vec<u8>,
    pub(super) torn: Option<Torn>,
}

/// Whether other lines than those of groups may stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mixture {
    GroupsOnly,
    WithUnsynced,
}

/// Compares the file of `log` with the `expected` lines after `synced` bytes.
pub(super) fn plan(
    dir: &PrivateDir,
    log: &str,
    synced: u64,
    expected: Vec<u8>,
    mixture: Mixture,
) -> Result<NamedPlan, OpenErrorKind> {
    let name = file_name(log);
    let path = dir.join(&name);
    let failed = |error: std::io::Error| PrivateError::new(dir.join(&name), error);
    let Some(mut file) = dir.file_if_any(&name, Access::Read)? else {
        if synced > 0 {
            let (found_bytes, synced_bytes) = (0, synced);
            return Err(OpenErrorKind::Shortened {
                file: path,
                found_bytes,
                synced_bytes,
            });
        }
        return Ok(NamedPlan {
            keep: 0,
            found: 0,
            append: expected,
            torn: None,
        });
    };
    let found = file.metadata().map_err(failed)?.len();
    if found < synced {
        let (found_bytes, synced_bytes) = (found, synced);
        return Err(OpenErrorKind::Shortened {
            file: path,
            found_bytes,
            synced_bytes,
        });
    }
    file.seek(SeekFrom::Start(synced)).map_err(failed)?;
    let end = match mixture {
        Mixture::GroupsOnly => end_of_groups(file, found - synced, &expected),
        Mixture::WithUnsynced => end_of_mixture(file, &expected),
    };
    let End {
        same,
        written,
        torn,
    } = match end.map_err(failed)? {
        Ok(end) => end,
        Err(Foreign { after }) => {
            return Err(OpenErrorKind::Foreign {
                file: path,
                offset: synced + after,
            });
        }
    };
    let (keep, append) = (synced + same, expected[written..].to_vec());
    let torn = torn_of(path, keep, found, &append, torn);
    Ok(NamedPlan {
        keep,
        found,
        append,
        torn,
    })
}

/// How far a file agrees with what it should hold; all in bytes after the synced length.
#[derive(Debug, PartialEq, Eq)]
struct End {
    /// Length of what is right.
    same: u64,
    /// How much of the expected lines that covers.
    written: usize,
    torn: TornFate,
}

/// Bytes that nobody of us wrote, `after` so many that are right.
#[derive(Debug, PartialEq, Eq)]
struct Foreign {
    after: u64,
}

fn torn_of(
    file: std::path::PathBuf,
    keep: u64,
    found: u64,
    append: &[u8],
    fate: TornFate,
) -> Option<Torn> {
    let (offset, added) = (keep, append.len() as u64);
    match fate {
        TornFate::Finished if added > 0 => Some(Torn {
            file,
            offset,
            bytes: added,
            fate,
        }),
        TornFate::Dropped if found > keep => Some(Torn {
            file,
            offset,
            bytes: found - keep,
            fate,
        }),
        TornFate::Finished | TornFate::Dropped => None,
    }
}

fn end_of_groups(
    file: File,
    length: u64,
    expected: &[u8],
) -> std::io::Result<Result<End, Foreign>> {
    let mut have = Vec::new();
    file.take(expected.len() as u64 + TORN_MAX_BYTES)
        .read_to_end(&mut have)?;
    let same = have
        .iter()
        .zip(expected)
        .take_while(|(a, b)| a == b)
        .count();
    let rest = &have[same..];
    let is_cut = rest.is_empty();
    // Never reached the device.
    let is_blank = rest.iter().all(|byte| *byte == 0) && length == have.len() as u64;
    // A line that was never finished, behind everything that we wrote.
    let is_torn = same == expected.len()
        && memchr::memchr(b'\n', rest).is_none()
        && length == have.len() as u64;
    let torn = if same < expected.len() {
        TornFate::Finished
    } else {
        TornFate::Dropped
    };
    Ok(if is_cut || is_blank || is_torn {
        Ok(End {
            same: same as u64,
            written: same,
            torn,
        })
    } else {
        Err(Foreign { after: same as u64 })
    })
}

fn end_of_mixture(file: File, expected: &[u8]) -> std::io::Result<Result<End, Foreign>> {
    let mut file = BufReader::new(file);
    let (mut same, mut written) = (0, 0);
    let mut line = Vec::new();
    loop {
        line.clear();
        if file.read_until(b'\n', &mut line)? == 0 {
            let torn = TornFate::Finished;
            return Ok(Ok(End {
                same,
                written,
                torn,
            }));
        }
        let is_blank = line.contains(&0);
        let is_whole = line.ends_with(b"\n") && !is_blank;
        if is_whole && line.starts_with(UNSYNCED_PREFIX) {
            same += line.len() as u64;
        } else if is_whole && expected[written..].starts_with(&line) {
            same += line.len() as u64;
            written += line.len();
        } else if is_whole {
            return Ok(Err(Foreign { after: same }));
        } else {
            // Cut, or never on the device: the expected line is written again from its start.
            let is_due = written < expected.len();
            let torn = if is_due {
                TornFate::Finished
            } else {
                TornFate::Dropped
            };
            return Ok(Ok(End {
                same,
                written,
                torn,
            }));
        }
    }
}
