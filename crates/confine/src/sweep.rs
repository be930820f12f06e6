//! What a crash left behind.
//!
//! In: a writable root, when this process started. Out: how many temporary files were removed.
//! Never: removes a file that is not named as ours, not plain, not this user's, has a second name,
//! or is as young as this process.

use std::sync::atomic::AtomicBool;

use rustix::{fd::OwnedFd, fs::AtFlags};

use crate::{
    Access, Refusal, RelPath, Root, staged,
    system::{self, Kind},
    tree::{Cut, Met, Name, Next, Visitor, Walk, WalkBounds},
};

/// What a sweep did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swept {
    /// Files that were removed.
    pub removed: usize,
    /// What cut it short: the rest waits for the next start.
    pub cut: Option<Cut>,
}

impl Root {
    /// Removes temporary files of this program that are older than `started`, in milliseconds since
    /// 1970. A file that is hardly older stays: clocks of file systems tick every few milliseconds, and
    /// it could be one that another seat has only just made.
    ///
    /// # Errors
    /// [`Refusal::RootReadonly`], [`Refusal::RootReplaced`], or the class of what the system said
    /// about the root itself; a folder below it that cannot be read is passed over.
    pub fn sweep(&self, started: i64, bounds: WalkBounds) -> Result<Swept, Refusal> {
        if self.access() == Access::Read {
            return Err(Refusal::RootReadonly);
        }
        self.refuse_replaced()?;
        let folder = self.start().folder(&RelPath::root(), system::LIST)?;
        let mut sweeper = Sweeper {
            before: started.saturating_sub(TICK_MAX_MS),
            removed: 0,
        };
        let never = AtomicBool::new(false);
        let cut = Walk::new(self.start(), bounds, &never).run(&folder, "", &mut sweeper)?;
        Ok(Swept {
            removed: sweeper.removed,
            cut,
        })
    }
}

struct Sweeper {
    before: i64,
    removed: usize,
}

/// Longest tick of a file system's clock that is reckoned with, in milliseconds.
const TICK_MAX_MS: i64 = 20;

/// Seconds and nanoseconds in milliseconds.
fn ms((seconds, nanoseconds): (i64, u32)) -> i64 {
    seconds
        .saturating_mul(1_000)
        .saturating_add(i64::from(nanoseconds / 1_000_000))
}

impl Visitor for Sweeper {
    fn enter(&mut self, _: &OwnedFd, _: &[u8], _: &[Name]) {}

    fn leave(&mut self) {}

    fn takes(&mut self, name: &[u8], _: &[u8], kind: Kind) -> bool {
        match kind {
            Kind::File => staged::is_ours(name),
            Kind::Folder => !name.starts_with(b"."),
            Kind::Link | Kind::Special => false,
        }
    }

    fn file(&mut self, met: &Met<'_>) -> Next {
        let old = system::facts_at(met.folder, met.name)
            .is_ok_and(|facts| staged::is_leftover(&facts) && ms(facts.changed[1]) < self.before);
        if old && rustix::fs::unlinkat(met.folder, met.name, AtFlags::empty()).is_ok() {
            self.removed += 1;
        }
        Next::On
    }

    fn closed(&mut self, _: Refusal) {}
}
