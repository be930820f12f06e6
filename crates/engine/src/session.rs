//! A route's private files, kept across restarts.
//!
//! In: a route's folder name and one line at a time. Out: the lines that were written whole. Never:
//! a link that is followed, a file that others may read, a torn last line taken for a whole one.
//!
//! Folders are 0700, files 0600. A session file is JSON lines, each with `v`. A line that a crash
//! tore stays where it is and is skipped; the next append begins on a fresh line.

use rustix::{
    fs::{AtFlags, CWD, FileType, Mode, OFlags},
    io::Errno,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

/// The version of the lines that this build writes, and the highest that it reads.
pub(crate) const LINE_VERSION: u32 = 1;

/// Longest route folder name. `thread-` and a snowflake make 27.
const ROUTE_MAX_CHARS: usize = 80;

/// Why a session could not be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    /// The route's name is no folder name.
    #[error("the route's name is not a folder name")]
    Route,
    /// Somebody else's, or more than private, or not a regular file.
    #[error("{what} is not a private regular file or folder of this user")]
    NotPrivate {
        /// Which of ours.
        what: &'static str,
    },
    /// A later version wrote it.
    #[error("the session was written by a later version (line version {found})")]
    TooNew {
        /// The version that was found.
        found: u32,
    },
    /// The system refused.
    #[error("the session's {what} could not be used")]
    Io {
        /// Which of ours.
        what: &'static str,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

fn failed(what: &'static str) -> impl Fn(Errno) -> SessionError {
    move |errno| SessionError::Io {
        what,
        source: errno.into(),
    }
}

fn failed_io(what: &'static str) -> impl Fn(std::io::Error) -> SessionError {
    move |source| SessionError::Io { what, source }
}

/// One line as it stands in a file: the version before everything else.
#[derive(Serialize)]
struct Written<'a, T> {
    v: u32,
    #[serde(flatten)]
    line: &'a T,
}

#[derive(Deserialize)]
struct Version {
    v: u32,
}

/// One file of one route's session. It opens nothing until it is used.
#[derive(Clone, Debug)]
pub(crate) struct SessionFile {
    sessions: PathBuf,
    route: String,
    name: &'static str,
}

/// What a file was at some time. Equal stamps mean the same content, but for a writer that sets the
/// clock back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    mode: u32,
    bytes: i64,
    modified: (i64, u64),
    changed: (i64, u64),
}

impl SessionFile {
    /// Names a file; nothing is opened.
    ///
    /// # Errors
    /// [`SessionError::Route`] where the route's name is no folder name.
    pub(crate) fn of(
        sessions: &Path,
        route: &str,
        name: &'static str,
    ) -> Result<Self, SessionError> {
        let safe = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if route.is_empty() || route.len() > ROUTE_MAX_CHARS || !route.chars().all(safe) {
            return Err(SessionError::Route);
        }
        Ok(Self {
            sessions: sessions.to_owned(),
            route: route.to_owned(),
            name,
        })
    }

    /// Reads the whole lines of the last `max_bytes`, oldest first. Lines that cannot be read are
    /// left out and counted in the log.
    ///
    /// # Errors
    /// [`SessionError::TooNew`], and what the system refuses.
    pub(crate) fn read<T: DeserializeOwned>(&self, max_bytes: u64) -> Result<Vec<T>, SessionError> {
        let mut file = self.open(OFlags::empty())?;
        let length = file.metadata().map_err(failed_io("file"))?.len();
        let skipped = length.saturating_sub(max_bytes);
        file.seek(SeekFrom::Start(skipped))
            .map_err(failed_io("file"))?;
        let mut bytes = Vec::new();
        file.take(max_bytes)
            .read_to_end(&mut bytes)
            .map_err(failed_io("file"))?;
        let mut lines = bytes.split(|b| *b == b'\n');
        if skipped > 0 {
            // It may have begun before the part that was read.
            lines.next();
        }
        parsed(lines.filter(|line| !line.is_empty()))
    }

    /// Appends one line; when it returns, the line survives the end of this process.
    ///
    /// # Errors
    /// What the system refuses.
    pub(crate) fn append<T: Serialize>(&self, line: &T) -> Result<(), SessionError> {
        let folder = self.folder()?;
        let mut file = private_file(&folder, self.name, OFlags::APPEND)?;
        let end = end(&mut file).map_err(failed_io("file"))?;
        let mut bytes = Vec::new();
        if matches!(end, End::Torn) {
            bytes.push(b'\n');
        }
        write_line(&mut bytes, line)?;
        // Not synced: it survives our crash. After a power loss the seat may have forgotten its last
        // few words, and the reader passes over a line that is torn; what was answered and what is
        // owed stands in the journal. A sync here would stand between each answer and its post.
        file.write_all(&bytes).map_err(failed_io("file"))?;
        if matches!(end, End::Empty) {
            // The first line: the file's name in its folder must survive as well.
            rustix::fs::fsync(&folder).map_err(failed("folder"))?;
        }
        Ok(())
    }

    /// Puts these lines in the place of all that were there, by rename.
    ///
    /// # Errors
    /// What the system refuses; the old lines then stand as they were.
    pub(crate) fn replace<T: Serialize>(&self, lines: &[T]) -> Result<(), SessionError> {
        let folder = self.folder()?;
        let fresh = format!("{}.new", self.name);
        let mut bytes = Vec::new();
        for line in lines {
            write_line(&mut bytes, line)?;
        }
        let mut file = private_file(&folder, &fresh, OFlags::TRUNC)?;
        file.write_all(&bytes)
            .and_then(|()| file.sync_all())
            .map_err(failed_io("file"))?;
        rustix::fs::renameat(&folder, &fresh, &folder, self.name).map_err(failed("file"))?;
        rustix::fs::fsync(&folder).map_err(failed("folder"))
    }

    /// Bytes that the file takes now.
    ///
    /// # Errors
    /// What the system refuses.
    pub(crate) fn bytes(&self) -> Result<u64, SessionError> {
        let file = self.open(OFlags::empty())?;
        Ok(file.metadata().map_err(failed_io("file"))?.len())
    }

    /// What the file is now, by its entry alone; `None` where there is none or it cannot be looked at.
    /// A look costs microseconds.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        let path = self.sessions.join(&self.route).join(self.name);
        let stat = rustix::fs::lstat(path).ok()?;
        Some(Stamp {
            device: stat.st_dev,
            inode: stat.st_ino,
            mode: stat.st_mode,
            bytes: stat.st_size,
            modified: (stat.st_mtime, stat.st_mtime_nsec),
            changed: (stat.st_ctime, stat.st_ctime_nsec),
        })
    }

    fn open(&self, more: OFlags) -> Result<File, SessionError> {
        private_file(&self.folder()?, self.name, more)
    }

    fn folder(&self) -> Result<OwnedFd, SessionError> {
        let sessions = prepare(&self.sessions)?;
        match rustix::fs::mkdirat(&sessions, &self.route, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(failed("folder")(errno)),
        }
        private_folder(&sessions, Path::new(&self.route))
    }
}

/// Makes sure that the folder of all sessions is there and private, and opens it.
///
/// # Errors
/// What the system refuses, and a folder that is not private.
pub(crate) fn prepare(sessions: &Path) -> Result<OwnedFd, SessionError> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(sessions)
        .map_err(failed_io("folder"))?;
    private_folder(CWD, sessions)
}

/// Whether sessions can be kept in this folder, as one sentence for the operator.
///
/// # Errors
/// The sentence.
pub(crate) async fn usable(sessions: PathBuf) -> Result<(), String> {
    let tried = tokio::task::spawn_blocking(move || prepare(&sessions).map(drop)).await;
    match tried {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(match std::error::Error::source(&error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        }),
        Err(_) => Err("looking at the session folder ended early".to_owned()),
    }
}

fn private_folder(at: impl rustix::fd::AsFd, path: &Path) -> Result<OwnedFd, SessionError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = rustix::fs::openat(at, path, flags, Mode::empty()).map_err(failed("folder"))?;
    owned(&folder, FileType::Directory, "the session folder")?;
    Ok(folder)
}

fn private_file(folder: &OwnedFd, name: &str, more: OFlags) -> Result<File, SessionError> {
    // NONBLOCK: a FIFO in the file's place must not hold us until somebody opens its other end.
    let flags =
        OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::openat(folder, name, flags | more, Mode::RUSR | Mode::WUSR)
        .map_err(failed("file"))?;
    owned(&file, FileType::RegularFile, "the session file")?;
    Ok(File::from(file))
}

fn owned(fd: &OwnedFd, kind: FileType, what: &'static str) -> Result<(), SessionError> {
    let stat = rustix::fs::statat(fd, "", AtFlags::EMPTY_PATH).map_err(failed("file"))?;
    let ours = stat.st_uid == rustix::process::geteuid().as_raw();
    let private = Mode::from_raw_mode(stat.st_mode) & (Mode::RWXG | Mode::RWXO) == Mode::empty();
    if ours && private && FileType::from_raw_mode(stat.st_mode) == kind {
        Ok(())
    } else {
        Err(SessionError::NotPrivate { what })
    }
}

/// How a file ends.
enum End {
    Empty,
    Whole,
    Torn,
}

fn end(file: &mut File) -> std::io::Result<End> {
    if file.metadata()?.len() == 0 {
        return Ok(End::Empty);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(if last == *b"\n" {
        End::Whole
    } else {
        End::Torn
    })
}

fn write_line<T: Serialize>(bytes: &mut Vec<u8>, line: &T) -> Result<(), SessionError> {
    let written = Written {
        v: LINE_VERSION,
        line,
    };
    serde_json::to_writer(&mut *bytes, &written)
        .map_err(|err| failed_io("line")(std::io::Error::other(err)))?;
    bytes.push(b'\n');
    Ok(())
}

fn parsed<'a, T: DeserializeOwned>(
    lines: impl Iterator<Item = &'a [u8]>,
) -> Result<Vec<T>, SessionError> {
    let mut whole = Vec::new();
    let mut unreadable = 0_u32;
    for line in lines {
        match serde_json::from_slice::<Version>(line) {
            Ok(Version { v }) if v > LINE_VERSION => {
                return Err(SessionError::TooNew { found: v });
            }
            Ok(_) | Err(_) => match serde_json::from_slice(line) {
                Ok(value) => whole.push(value),
                Err(_) => unreadable += 1,
            },
        }
    }
    if unreadable > 0 {
        tracing::warn!(unreadable, "lines of a session were left out");
    }
    Ok(whole)
}

#[cfg(test)]
mod tests;
