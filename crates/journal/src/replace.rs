//! Small files that are replaced whole: what the gateway knew, what `status` shows.
//!
//! In: bytes. Out: the same bytes, or the reason why there are none.
//! Never: leaves a half-written file under the name, or is needed for a correct start.

use std::io::Write;
use std::path::Path;

use crate::private::{Access, IfMissing, PrivateDir, PrivateError, PrivateErrorKind, read_private};

/// Longest file that is replaced or read back, in bytes.
pub const REPLACED_MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Puts `bytes` in the place of what `path` holds, mode 0600, by a rename.
///
/// Not synced: after a power loss the old contents may be back. Nobody ever reads a part.
///
/// # Errors
/// A folder that is missing or not private, contents over [`REPLACED_MAX_BYTES`], and what the
/// system answers; the old contents stay.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), PrivateError> {
    let length = bytes.len() as u64;
    if length > REPLACED_MAX_BYTES {
        let (bytes, max) = (length, REPLACED_MAX_BYTES);
        return Err(PrivateError::new(
            path,
            PrivateErrorKind::TooLarge { bytes, max },
        ));
    }
    let (folder, name) = folder_and_name(path)?;
    let dir = PrivateDir::open(folder, IfMissing::Fail)?;
    let temporary = format!(".{name}.tmp");
    dir.remove(&temporary)?;
    let mut file = dir.file(&temporary, Access::CreateNew)?;
    let written = crate::platform::check_size_limit(length).and_then(|()| file.write_all(bytes));
    let renamed = written
        .map_err(|error| PrivateError::new(path, error))
        .and_then(|()| dir.rename(&temporary, name));
    if renamed.is_err() {
        dir.remove(&temporary)?;
    }
    renamed
}

/// Why a replaced file has nothing to say. None of them stops a start.
#[derive(Debug)]
pub enum Absent {
    /// It is not there.
    Missing,
    /// It cannot be decoded: the text of the reason holds no contents.
    Rubbish(String),
    /// It is there and cannot be read.
    Unreadable(PrivateError),
}

/// Reads a replaced file as JSON.
///
/// # Errors
/// [`Absent`] says why there is nothing; the caller goes on without.
pub fn read_replaced<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Absent> {
    let bytes = match read_private(path, REPLACED_MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(PrivateError {
            kind: PrivateErrorKind::Missing,
            ..
        }) => return Err(Absent::Missing),
        Err(error) => return Err(Absent::Unreadable(error)),
    };
    serde_json::from_slice(&bytes).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        Absent::Rubbish(format!(
            "{:?} error at line {line} column {column}",
            error.classify()
        ))
    })
}

/// Splits a path into an existing folder and a plain name.
pub(crate) fn folder_and_name(path: &Path) -> Result<(&Path, &str), PrivateError> {
    let name = path.file_name().and_then(|name| name.to_str());
    match (path.parent(), name) {
        (Some(folder), Some(name)) if folder.as_os_str().is_empty() => Ok((Path::new("."), name)),
        (Some(folder), Some(name)) => Ok((folder, name)),
        _ => Err(PrivateError::new(path, PrivateErrorKind::NotRegular)),
    }
}
