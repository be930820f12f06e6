//! One call while it is worked on: its number, its time, its cancellation.
//!
//! In: how long it may take. Out: work, until that time is used up. Never: a clock that runs while a
//! person is asked.

use crate::refusal::CallRefusal;
use guildhall_authority::offer::ToolName;
use std::{
    future::Future,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::time::Instant;

/// Says that nobody waits for a call any more.
pub(crate) struct Cancel {
    flag: AtomicBool,
    git: guildhall_git::Cancel,
}

impl Default for Cancel {
    fn default() -> Self {
        Self {
            flag: AtomicBool::new(false),
            git: guildhall_git::Cancel::new(),
        }
    }
}

impl Cancel {
    /// Whatever looks at it ends.
    pub(crate) fn set(&self) {
        self.flag.store(true, Ordering::SeqCst);
        self.git.cancel();
    }

    /// Whether it was set.
    pub(crate) fn is_set(&self) -> bool {
        self.flag.load(Ordering::SeqCst)
    }

    /// For work that looks by itself.
    pub(crate) const fn flag(&self) -> &AtomicBool {
        &self.flag
    }

    /// For git's programs.
    pub(crate) const fn git(&self) -> &guildhall_git::Cancel {
        &self.git
    }
}

/// A call that is worked on.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) number: u32,
    pub(crate) tool: ToolName,
    pub(crate) cancel: Arc<Cancel>,
    /// How much of its time is left.
    left: Arc<Mutex<Duration>>,
}

impl Call {
    pub(crate) fn new(number: u32, tool: ToolName, deadline: Duration) -> Self {
        Self {
            number,
            tool,
            cancel: Arc::new(Cancel::default()),
            left: Arc::new(Mutex::new(deadline)),
        }
    }

    /// Lets `work` take what is left of the call's time.
    ///
    /// After [`CallRefusal::Deadline`] the call is cancelled: a thread that still works on it ends at
    /// its next look.
    pub(crate) async fn within<T>(&self, work: impl Future<Output = T>) -> Result<T, CallRefusal> {
        let left = *self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let began = Instant::now();
        let done = tokio::time::timeout(left, work).await;
        let taken = began.elapsed();
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) = left.saturating_sub(taken);
        done.map_err(|_| {
            self.cancel.set();
            CallRefusal::Deadline
        })
    }

    /// How much of `deadline` it has used.
    pub(crate) fn used(&self, deadline: Duration) -> Duration {
        let left = *self.left.lock().unwrap_or_else(PoisonError::into_inner);
        deadline.saturating_sub(left)
    }
}
