//! Opening a journal: survey first, write after.
//!
//! In: the folder as a crash left it. Out: an open journal and what stood in it.
//! Never: writes before every file was found to be readable and ours.

use std::collections::BTreeMap;
use std::path::Path;

use super::complete::NamedPlan;
use super::error::{AppendErrorKind, OpenError, OpenErrorKind};
use super::survey::{self, LogPlan, Survey};
use super::unsynced::UnsyncedBuffer;
use super::write_once::{Found, OnceFolder};
use super::{COMMITS_FOLDER, Journal, JournalSpec, Recovered, State};
use crate::line::{self, FORMAT_VERSION, Folded, Header};
use crate::named::{NamedFile, file_name};
use crate::private::{Access, FolderLock, IfMissing, PrivateDir, PrivateError, PrivateErrorKind};
use crate::segment::{self, Room, Segment};

/// How often the lock of the journal is tried, a millisecond apart.
const LOCK_ATTEMPTS_COUNT: u32 = 500;

impl Journal {
    /// Opens the journal in `folder`, making it if there is none, and brings the named files up
    /// to date. `at` is the time now (RFC 3339, UTC).
    ///
    /// # Errors
    /// [`OpenErrorKind`] names the cause and the file. Only errors that the system gives while
    /// files are brought up to date come after something was written.
    pub fn open(
        folder: &Path,
        at: &str,
        spec: JournalSpec,
    ) -> Result<(Self, Recovered), OpenError> {
        Self::open_checked(folder, at, spec).map_err(|kind| OpenError {
            folder: folder.to_owned(),
            kind,
        })
    }

    /// Reads what stands in the journal without a lock and without writing: for views of a
    /// binding that may be running. What a crash left unfinished is told, not mended.
    ///
    /// # Errors
    /// As for [`Self::open`]; a folder that does not exist is an error here.
    pub fn peek(folder: &Path, spec: JournalSpec) -> Result<Recovered, OpenError> {
        let peek = || -> Result<Recovered, OpenErrorKind> {
            let dir = PrivateDir::open(folder, IfMissing::Fail)?;
            let commits = sub_if_any(&dir, COMMITS_FOLDER)?;
            survey::peek(&dir, commits.as_ref(), &spec)
        };
        peek().map_err(|kind| OpenError {
            folder: folder.to_owned(),
            kind,
        })
    }

    fn open_checked(
        folder: &Path,
        at: &str,
        spec: JournalSpec,
    ) -> Result<(Self, Recovered), OpenErrorKind> {
        let dir = PrivateDir::open(folder, IfMissing::Create)?;
        // Before the first start there is nothing to lock, and nothing is written before the
        // survey: two first starts at once meet at the lock that follows it.
        let early = match sub_if_any(&dir, COMMITS_FOLDER)? {
            Some(commits) => Some((lock(&commits)?, commits)),
            None => None,
        };
        let mut survey = survey::survey(&dir, early.as_ref().map(|(_, c)| c), &spec)?;
        let (lock, commits) = match early {
            Some(early) => early,
            None => {
                let commits = dir.sub(COMMITS_FOLDER, IfMissing::Create)?;
                let lock = lock(&commits)?;
                survey = survey::survey(&dir, Some(&commits), &spec)?;
                (lock, commits)
            }
        };
        let mut once = Vec::new();
        for logs in spec.write_once {
            once.push(OnceFolder::open(&dir, logs.log)?);
        }
        check_once(&dir, &once, &survey)?;
        for name in &survey.temporary {
            commits.remove(name)?;
        }
        let named = finish_named(&dir, &spec, &mut survey)?;
        for file in std::mem::take(&mut survey.once) {
            once[file.folder].write(&dir, file)?;
        }
        let segment = take_up_segment(&commits, at, &named, &survey)?;
        for name in survey
            .outdated
            .iter()
            .filter(|name| *name != segment.name())
        {
            commits.remove(name)?;
        }
        let unsynced = spec.logs.iter().enumerate();
        let unsynced = unsynced.filter(|(_, log)| spec.unsynced.contains(log));
        let mut journal = Self {
            unsynced: unsynced
                .map(|(index, _)| UnsyncedBuffer::new(index))
                .collect(),
            next_group: survey.recovered.next_group,
            aside: survey.aside,
            room: Room::Enough,
            state: State::Usable,
            _lock: lock,
            spec,
            dir,
            commits,
            segment,
            named,
            once,
        };
        journal
            .renew_room()
            .map_err(|kind| journal.open_fault(kind))?;
        Ok((journal, survey.recovered))
    }

    /// What renewing the room can answer, as an answer to opening.
    fn open_fault(&self, kind: AppendErrorKind) -> OpenErrorKind {
        if let AppendErrorKind::Io { path, error } = kind {
            return PrivateError { path, kind: error }.into();
        }
        PrivateError::new(self.dir.path(), std::io::Error::other(kind)).into()
    }
}

fn sub_if_any(dir: &PrivateDir, name: &str) -> Result<Option<PrivateDir>, PrivateError> {
    match dir.sub(name, IfMissing::Fail) {
        Ok(found) => Ok(Some(found)),
        Err(PrivateError {
            kind: PrivateErrorKind::Missing,
            ..
        }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Takes the lock that keeps a second writer out; it ends with the process, however that ends.
fn lock(commits: &PrivateDir) -> Result<FolderLock, OpenErrorKind> {
    commits
        .lock(LOCK_ATTEMPTS_COUNT)?
        .ok_or(OpenErrorKind::Busy)
}

/// Refuses when a write-once file that is due exists with other contents.
fn check_once(dir: &PrivateDir, once: &[OnceFolder], survey: &Survey) -> Result<(), OpenErrorKind> {
    for file in &survey.once {
        let folder = &once[file.folder];
        if folder.found(file)? == Found::Other {
            let file = dir.join(folder.log()).join(&file.name);
            return Err(OpenErrorKind::WrittenOnce { file });
        }
    }
    Ok(())
}

/// Cuts, completes and takes up every named file.
fn finish_named(
    dir: &PrivateDir,
    spec: &JournalSpec,
    survey: &mut Survey,
) -> Result<Vec<NamedFile>, OpenErrorKind> {
    let mut named = Vec::with_capacity(spec.logs.len());
    for (log, plan) in spec.logs.iter().zip(std::mem::take(&mut survey.plans)) {
        let LogPlan {
            put_aside,
            plan:
                NamedPlan {
                    keep,
                    found,
                    append,
                    ..
                },
        } = plan;
        let name = file_name(log);
        if let Some(number) = put_aside {
            dir.rename_to_free_name(&name, &survey::aside_name(log, number))?;
            dir.sync()?;
        }
        if keep < found {
            let file = dir.file(&name, Access::Write)?;
            file.set_len(keep)
                .and_then(|()| file.sync_all())
                .map_err(|error| PrivateError::new(dir.join(&name), error))?;
        }
        named.push(NamedFile::resume(dir, log, keep, append)?);
    }
    Ok(named)
}

fn take_up_segment(
    commits: &PrivateDir,
    at: &str,
    named: &[NamedFile],
    survey: &Survey,
) -> Result<Segment, OpenErrorKind> {
    if let Some((name, contents)) = &survey.segment {
        return Ok(Segment::resume(commits, name.clone(), contents)?);
    }
    let lengths: BTreeMap<_, _> = named
        .iter()
        .map(|named| (named.log.to_owned(), named.due_length()))
        .collect();
    let is_empty = lengths.values().all(|length| *length == 0);
    let header = Header {
        v: FORMAT_VERSION,
        next: survey.recovered.next_group,
        at: at.to_owned(),
        lengths,
        aside: survey.aside.clone(),
        // Until the first checkpoint, a start reads the named files whole again.
        folded: if is_empty { Folded::Yes } else { Folded::No },
        carry: None,
    };
    let line = line::header_line(&header);
    let segment = Segment::write(commits, segment::name_of(header.next), line.as_bytes())?;
    segment.publish(commits)?;
    Ok(segment)
}
