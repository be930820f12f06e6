//! The one address that a root's credential is for, kept over restarts.
//!
//! In: what `origin` was when the root was first served. Out: that address, for as long as the
//! operator does not take the note away.
//! Never: another address because the repository's configuration changed while nobody looked.

use std::{
    fs::OpenOptions,
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    sync::OnceLock,
};

use crate::{
    private,
    refusal::{GitRefusal, RemoteFault},
    remote::RemoteUrl,
};

/// The note's name in the root's private folder.
const NOTE: &str = "remote";
/// Longest note: an address and a path.
const NOTE_MAX_BYTES: u64 = 8 * 1024;

/// The address, once it is known.
#[derive(Debug, Default)]
pub(crate) struct Bound(OnceLock<RemoteUrl>);

impl Bound {
    /// An address of the policy: nothing is noted.
    pub(crate) fn given(remote: RemoteUrl) -> Self {
        Self(remote.into())
    }

    /// The address, if the root was bound.
    pub(crate) fn get(&self) -> Option<&RemoteUrl> {
        self.0.get()
    }

    /// The address that the root at `path` is bound to: the noted one, else `origin`, which is noted
    /// in `state` before it is used.
    ///
    /// # Errors
    /// [`GitRefusal::Remote`] when nothing is noted and `origin` cannot be used, or the note cannot be
    /// read for what it is; what the system says about the note.
    pub(crate) fn bind(
        &self,
        state: &Path,
        path: &Path,
        origin: &Result<RemoteUrl, RemoteFault>,
    ) -> Result<&RemoteUrl, GitRefusal> {
        if let Some(bound) = self.0.get() {
            return Ok(bound);
        }
        let noted = noted(state, path)?;
        let remote = match (noted, origin) {
            (Some(noted), _) => noted,
            (None, Err(fault)) => return Err(GitRefusal::Remote(*fault)),
            (None, Ok(origin)) => {
                note(state, path, origin).map_err(|error| GitRefusal::of_io(&error))?;
                origin.clone()
            }
        };
        Ok(self.0.get_or_init(|| remote))
    }
}

/// What is noted for the root at `path`. A note of another directory binds nothing.
fn noted(state: &Path, path: &Path) -> Result<Option<RemoteUrl>, GitRefusal> {
    let of_io = |error: io::Error| GitRefusal::of_io(&error);
    let mut options = OpenOptions::new();
    let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let file = match options
        .read(true)
        .custom_flags(no_link)
        .open(state.join(NOTE))
    {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(of_io(error)),
    };
    let mut text = String::new();
    file.take(NOTE_MAX_BYTES)
        .read_to_string(&mut text)
        .map_err(of_io)?;
    let (address, of) = text.split_once('\n').unwrap_or((&text, ""));
    if of.trim_end_matches('\n') != path.to_string_lossy() {
        return Ok(None);
    }
    let remote = RemoteUrl::parse(address);
    remote
        .map(Some)
        .map_err(|_| GitRefusal::Remote(RemoteFault::NotTheBound))
}

/// Notes an address before it is used.
fn note(state: &Path, path: &Path, remote: &RemoteUrl) -> io::Result<()> {
    let text = format!("{remote}\n{}\n", path.display());
    private::replace(state, NOTE, text.as_bytes())
}
