//! Conversations that are kept in memory while their route is warm.
//!
//! In: a route. Out: its conversation, from memory where the file is what it was. Never: a
//! conversation of a file that somebody changed, more of them than are bounded.

use super::{Exchange, Transcript};
use crate::session::{SessionError, SessionFile, Stamp};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// Most conversations in memory; the one that was used least lately goes first.
const WARM_MAX: usize = 32;

struct Warm {
    stamp: Stamp,
    transcript: Arc<Transcript>,
    used: Instant,
}

/// The conversations of an engine's routes.
pub(in crate::native) struct Conversations {
    sessions: PathBuf,
    keep: Duration,
    warm: Mutex<BTreeMap<String, Warm>>,
    /// How often a file was read.
    #[cfg(test)]
    pub(super) reads: std::sync::atomic::AtomicU64,
}

impl Conversations {
    /// Conversations below a folder, each kept in memory for `keep` after it was used.
    pub(in crate::native) fn new(sessions: PathBuf, keep: Duration) -> Self {
        Self {
            sessions,
            keep,
            warm: Mutex::default(),
            #[cfg(test)]
            reads: std::sync::atomic::AtomicU64::new(0),
        }
    }

    /// The folder.
    pub(in crate::native) fn folder(&self) -> &Path {
        &self.sessions
    }

    /// The conversation of a route. One look at the file's entry tells whether memory is right.
    ///
    /// # Errors
    /// What the session says.
    pub(in crate::native) async fn open(
        self: &Arc<Self>,
        route: &str,
    ) -> Result<Arc<Transcript>, SessionError> {
        let file = SessionFile::of(&self.sessions, route, "native.jsonl")?;
        if let Some(transcript) = self.recall(route, &file) {
            return Ok(transcript);
        }
        let (all, route) = (Arc::clone(self), route.to_owned());
        let reading = tokio::task::spawn_blocking(move || all.read(&route, file));
        match reading.await {
            Ok(read) => read,
            Err(error) => Err(SessionError::Io {
                what: "file",
                source: std::io::Error::other(error),
            }),
        }
    }

    fn recall(&self, route: &str, file: &SessionFile) -> Option<Arc<Transcript>> {
        let mut warm = self.warm();
        warm.retain(|_, conversation| conversation.used.elapsed() < self.keep);
        let conversation = warm.get_mut(route)?;
        if file.stamp() != Some(conversation.stamp) {
            warm.remove(route);
            return None;
        }
        conversation.used = Instant::now();
        Some(Arc::clone(&conversation.transcript))
    }

    fn read(&self, route: &str, file: SessionFile) -> Result<Arc<Transcript>, SessionError> {
        #[cfg(test)]
        self.reads.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        // Before it is read: what is added meanwhile makes memory wrong, not right.
        let stamp = file.stamp();
        let transcript = Arc::new(Transcript::read(file)?);
        self.remember(route, stamp, &transcript);
        Ok(transcript)
    }

    /// Adds a turn to a route's conversation, on disk and in memory. Blocking.
    pub(in crate::native) fn keep(
        &self,
        route: &str,
        transcript: Arc<Transcript>,
        turn: Exchange,
        budget: usize,
    ) {
        self.warm().remove(route);
        let mut transcript = Arc::unwrap_or_clone(transcript);
        transcript.keep(turn, budget);
        let stamp = transcript.file.stamp();
        self.remember(route, stamp, &Arc::new(transcript));
    }

    fn remember(&self, route: &str, stamp: Option<Stamp>, transcript: &Arc<Transcript>) {
        let Some(stamp) = stamp.filter(|_| !self.keep.is_zero()) else {
            return;
        };
        let mut warm = self.warm();
        if warm.len() >= WARM_MAX
            && let Some(oldest) = warm.iter().min_by_key(|(_, one)| one.used)
        {
            let oldest = oldest.0.clone();
            warm.remove(&oldest);
        }
        let conversation = Warm {
            stamp,
            transcript: Arc::clone(transcript),
            used: Instant::now(),
        };
        warm.insert(route.to_owned(), conversation);
    }

    fn warm(&self) -> MutexGuard<'_, BTreeMap<String, Warm>> {
        self.warm.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
