//! Where blocking work is done.
//!
//! In: a function. Out: what it gives, once a thread was free for it. Never: more threads at once
//! than the bound, so that files of one turn do not keep another's records from the disk.

use std::sync::Arc;
use tokio::sync::Semaphore;

/// A bounded share of the runtime's threads for blocking work.
#[derive(Clone)]
pub(crate) struct Pool(Arc<Semaphore>);

impl Pool {
    /// At most this many functions at once.
    pub(crate) fn new(threads: usize) -> Self {
        Self(Arc::new(Semaphore::new(threads)))
    }

    /// Runs a function; `None` where the runtime is ending, or the function panicked.
    ///
    /// # Cancel safety
    /// A dropped future leaves a function that runs to its end, and one that waits is never called.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        act: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let slot = Arc::clone(&self.0).acquire_owned().await.ok()?;
        let work = move || {
            // Held until the work is done, whoever still waits for it.
            let _slot = slot;
            act()
        };
        tokio::task::spawn_blocking(work).await.ok()
    }
}
