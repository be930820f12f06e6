//! Records that are a file each: made once, never changed.
//!
//! In: records of groups that are synced in the commit log. Out: `<log>/<id>.json`.
//! Never: overwrites a file that holds something else.

use std::io::Write;

use super::error::AppendErrorKind;
use super::{Journal, WriteOnce};
use crate::line::{RecordFault, body_of};
use crate::private::{Access, IfMissing, PrivateDir, PrivateError, PrivateErrorKind};

/// Longest id that may name a file, in bytes.
const ID_MAX_BYTES: usize = 64;

/// A file that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OnceFile {
    /// Place of its log in the specification.
    pub(super) folder: usize,
    pub(super) name: String,
    pub(super) contents: Vec<u8>,
}

/// The folder of one write-once log.
#[derive(Debug)]
pub(super) struct OnceFolder {
    log: &'static str,
    dir: Option<PrivateDir>,
    /// Files made since the checkpoint: they are synced at the next one.
    unsynced: Vec<String>,
    behind: Vec<OnceFile>,
}

/// What stands under the name of a file that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    /// An empty or cut file, as a crash can leave it.
    Unfinished,
    Same,
    Other,
}

impl OnceFolder {
    /// Opens the folder if it exists.
    pub(super) fn open(dir: &PrivateDir, log: &'static str) -> Result<Self, PrivateError> {
        let dir = match dir.sub(log, IfMissing::Fail) {
            Ok(folder) => Some(folder),
            Err(PrivateError {
                kind: PrivateErrorKind::Missing,
                ..
            }) => None,
            Err(error) => return Err(error),
        };
        Ok(Self {
            log,
            dir,
            unsynced: Vec::new(),
            behind: Vec::new(),
        })
    }

    pub(super) fn log(&self) -> &'static str {
        self.log
    }

    pub(super) fn is_behind(&self) -> bool {
        !self.behind.is_empty()
    }

    /// Compares what stands under the name of `file` with what should.
    pub(super) fn found(&self, file: &OnceFile) -> Result<Found, PrivateError> {
        let Some(dir) = &self.dir else {
            return Ok(Found::Nothing);
        };
        let max_bytes = crate::line::GROUP_MAX_BYTES as u64;
        let bytes = match dir.read(&file.name, max_bytes) {
            Ok(bytes) => bytes,
            Err(PrivateError {
                kind: PrivateErrorKind::Missing,
                ..
            }) => return Ok(Found::Nothing),
            Err(PrivateError {
                kind: PrivateErrorKind::TooLarge { .. },
                ..
            }) => {
                return Ok(Found::Other);
            }
            Err(error) => return Err(error),
        };
        let used = crate::segment::used_length(&bytes);
        Ok(if body_of(&bytes) == body_of(&file.contents) {
            Found::Same
        } else if file.contents.starts_with(&bytes[..used]) {
            Found::Unfinished
        } else {
            Found::Other
        })
    }

    /// Makes the file, or keeps it for later if there is no room.
    pub(super) fn write(&mut self, root: &PrivateDir, file: OnceFile) -> Result<(), PrivateError> {
        if !self.make(root, &file)? {
            self.behind.push(file);
        }
        Ok(())
    }

    /// Tries to make the files that are behind.
    pub(super) fn catch_up(&mut self, root: &PrivateDir) -> Result<(), PrivateError> {
        while let Some(file) = self.behind.pop() {
            if !self.make(root, &file)? {
                self.behind.push(file);
                break;
            }
        }
        Ok(())
    }

    fn make(&mut self, root: &PrivateDir, file: &OnceFile) -> Result<bool, PrivateError> {
        match self.try_make(root, file) {
            Ok(()) => Ok(true),
            Err(error) if error.kind.is_no_room() => {
                if let Some(dir) = &self.dir {
                    dir.remove(&file.name)?;
                }
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn try_make(&mut self, root: &PrivateDir, file: &OnceFile) -> Result<(), PrivateError> {
        if self.dir.is_none() {
            self.dir = Some(root.sub(self.log, IfMissing::Create)?);
        }
        let found = self.found(file)?;
        let Some(dir) = &self.dir else { return Ok(()) };
        match found {
            Found::Same => {
                self.unsynced.push(file.name.clone());
                return Ok(());
            }
            Found::Nothing => {}
            Found::Unfinished => dir.remove(&file.name)?,
            // Checked before the group was committed: it was made in between.
            Found::Other => {
                let taken = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
                return Err(PrivateError::new(dir.join(&file.name), taken));
            }
        }
        let mut made = dir.file(&file.name, Access::CreateNew)?;
        crate::platform::check_size_limit(file.contents.len() as u64)
            .and_then(|()| made.write_all(&file.contents))
            .map_err(|error| PrivateError::new(dir.join(&file.name), error))?;
        self.unsynced.push(file.name.clone());
        Ok(())
    }

    /// Makes the files since the last checkpoint survive a power loss.
    pub(super) fn sync(&mut self) -> Result<(), PrivateError> {
        let Some(dir) = &self.dir else { return Ok(()) };
        if self.unsynced.is_empty() {
            return Ok(());
        }
        for name in &self.unsynced {
            dir.file(name, Access::Read)?
                .sync_all()
                .map_err(|error| PrivateError::new(dir.join(name), error))?;
        }
        dir.sync()?;
        self.unsynced.clear();
        Ok(())
    }
}

impl Journal {
    /// The file for a record of a write-once log, unless the same one stands there already.
    pub(super) fn once_file(
        &self,
        log: &str,
        json: &str,
        line: String,
        before: &[OnceFile],
    ) -> Result<Option<OnceFile>, AppendErrorKind> {
        let file = once_file(self.spec.write_once, log, json, line).map_err(|fault| {
            AppendErrorKind::BadRecord {
                log: log.to_owned(),
                fault,
            }
        })?;
        let folder = &self.once[file.folder];
        let taken = |file: &OnceFile| AppendErrorKind::WrittenOnce {
            file: self.dir.join(log).join(&file.name),
        };
        let is_twin = |other: &&OnceFile| other.folder == file.folder && other.name == file.name;
        let pending = before.iter().chain(&folder.behind);
        if let Some(twin) = pending.into_iter().find(is_twin) {
            return match body_of(&twin.contents) == body_of(&file.contents) {
                true => Ok(None),
                false => Err(taken(&file)),
            };
        }
        match folder.found(&file) {
            Ok(Found::Nothing | Found::Unfinished) => Ok(Some(file)),
            Ok(Found::Same) => Ok(None),
            Ok(Found::Other) => Err(taken(&file)),
            Err(PrivateError { path, kind }) => Err(AppendErrorKind::Io { path, error: kind }),
        }
    }
}

/// Finds the folder and the name for a record of a write-once log.
pub(super) fn once_file(
    logs: &[WriteOnce],
    log: &str,
    json: &str,
    line: String,
) -> Result<OnceFile, RecordFault> {
    let folder = logs
        .iter()
        .position(|once| once.log == log)
        .ok_or(RecordFault::UnknownLog)?;
    let value: serde_json::Value =
        serde_json::from_str(json).map_err(|_| RecordFault::NotAnObject)?;
    let id = value.get(logs[folder].id).and_then(|id| id.as_str());
    let id = id
        .filter(|id| is_file_name(id))
        .ok_or(RecordFault::NoFileName)?;
    Ok(OnceFile {
        folder,
        name: format!("{id}.json"),
        contents: line.into_bytes(),
    })
}

fn is_file_name(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= ID_MAX_BYTES
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}
