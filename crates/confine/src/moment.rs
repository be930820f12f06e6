//! Moments between two system calls, where a test can act as another process or as the system.
//!
//! In: the name of a moment. Out: nothing; in this crate's own tests, an error number that the next
//! call is taken to have given. Never: anything in a build that is not this crate's test build.

use rustix::io::Errno;

/// A moment inside an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A file was opened for reading; nothing is known of it yet.
    Opened,
    /// A file was opened for reading and its facts are known; nothing is read yet.
    Looked,
    /// The bytes stand in a temporary file, synced.
    Staged,
    /// Everything was checked once more; the next call publishes.
    LastCheck,
    /// The call that publishes without replacing.
    PublishNew,
    /// The call that publishes without replacing on file systems that lack the first.
    PublishByLink,
    /// The call that publishes by exchange.
    Exchange,
    /// The call that publishes by a plain rename.
    Rename,
    /// The new name stands; the folder is not synced yet.
    Published,
}

/// Does nothing.
///
/// # Errors
/// None.
#[cfg(not(test))]
#[inline]
#[expect(clippy::unnecessary_wraps, reason = "the test build's twin can fail")]
pub(crate) fn pass(_: Moment) -> Result<(), Errno> {
    Ok(())
}

#[cfg(test)]
pub(crate) use rehearsed::{during, pass};

#[cfg(test)]
mod rehearsed {
    use super::{Errno, Moment};
    use std::cell::RefCell;

    type Act = Box<dyn FnMut(Moment) -> Result<(), Errno>>;

    thread_local! {
        static ACT: RefCell<Option<Act>> = const { RefCell::new(None) };
    }

    pub(crate) fn pass(moment: Moment) -> Result<(), Errno> {
        // Taken out while it runs, so that what it does may pass moments too.
        let Some(mut act) = ACT.with_borrow_mut(Option::take) else {
            return Ok(());
        };
        let said = act(moment);
        ACT.with_borrow_mut(|place| *place = Some(act));
        said
    }

    /// Runs `work` with `act` called at each moment that this thread passes.
    pub(crate) fn during<T>(
        act: impl FnMut(Moment) -> Result<(), Errno> + 'static,
        work: impl FnOnce() -> T,
    ) -> T {
        ACT.with_borrow_mut(|place| *place = Some(Box::new(act)));
        let done = work();
        ACT.with_borrow_mut(|place| *place = None);
        done
    }
}
