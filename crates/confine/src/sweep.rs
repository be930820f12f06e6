//! What a crash left behind.
//!
//! In: a writable root. Out: how many temporary files were removed.
//! Never: removes a file that somebody holds, that is not named as ours, not plain, not this user's,
//! or has a second name.
//!
//! Whoever publishes holds a lock on both files of the exchange, and a death lets go of it. Clocks do
//! not tell the dead from the living: the next process starts within milliseconds of the last write.

use std::{sync::atomic::AtomicBool, thread, time::Duration};

use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{AtFlags, FlockOperation, OFlags},
    io::Errno,
};

use crate::{
    Access, Refusal, RelPath, Root, staged,
    system::{self, Facts, Kind},
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
    /// Removes temporary files of this program that no process works on.
    ///
    /// One that changed within the last second is looked at again after a fifth of one: somebody
    /// may be between making it and locking it. On a file system without locks only files that are
    /// older than `started`, in milliseconds since 1970, are known to be dead.
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
            young: Vec::new(),
        };
        let never = AtomicBool::new(false);
        let cut = Walk::new(self.start(), bounds, &never).run(&folder, "", &mut sweeper)?;
        sweeper.look_again();
        Ok(Swept {
            removed: sweeper.removed,
            cut,
        })
    }
}

struct Sweeper {
    before: i64,
    removed: usize,
    young: Vec<Young>,
}

/// A file that nobody holds, and that somebody may have been about to.
struct Young {
    folder: OwnedFd,
    name: Vec<u8>,
    facts: Facts,
}

/// Below this age, in milliseconds, a file is looked at twice.
const YOUNG_MS: i64 = 1_000;

/// How long the second look waits.
const SECOND_LOOK: Duration = Duration::from_millis(200);

/// Most files that are looked at twice; more of them wait for the next start.
const YOUNG_MAX_COUNT: usize = 64;

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
        let Ok(facts) = system::facts_at(met.folder, met.name) else {
            return Next::On;
        };
        if !staged::is_leftover(&facts) {
            return Next::On;
        }
        let Some(held) = Held::take(met.folder, met.name, &facts) else {
            return Next::On;
        };
        let old = ms(facts.changed[1]) < self.before;
        if old || (held.locked && ms(facts.changed[1]) < now().saturating_sub(YOUNG_MS)) {
            self.removed += usize::from(held.remove(met.folder, met.name));
        } else if held.locked && self.young.len() < YOUNG_MAX_COUNT {
            self.young
                .extend(rustix::io::dup(met.folder).ok().map(|folder| Young {
                    folder,
                    name: met.name.to_vec(),
                    facts,
                }));
        }
        Next::On
    }

    fn closed(&mut self, _: Refusal) {}
}

impl Sweeper {
    fn look_again(&mut self) {
        if self.young.is_empty() {
            return;
        }
        thread::sleep(SECOND_LOOK);
        for Young {
            folder,
            name,
            facts,
        } in self.young.drain(..)
        {
            let unchanged = system::facts_at(folder.as_fd(), &name).is_ok_and(|now| {
                now.inode == facts.inode && now.changed == facts.changed && now.links == 1
            });
            let held =
                Held::take(folder.as_fd(), &name, &facts).filter(|held| unchanged && held.locked);
            self.removed +=
                usize::from(held.is_some_and(|held| held.remove(folder.as_fd(), &name)));
        }
    }
}

/// A file that nobody else works on while this is there.
struct Held {
    _file: OwnedFd,
    /// Whether the file system has locks.
    locked: bool,
    facts: Facts,
}

impl Held {
    /// Locks the file that the name stands for, unless somebody holds it or it is another one by now.
    fn take(folder: BorrowedFd<'_>, name: &[u8], facts: &Facts) -> Option<Self> {
        // For writing too: network file systems lock nothing else.
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = system::step(folder, name, flags).ok()?;
        let facts = system::facts(file.as_fd())
            .ok()
            .filter(|found| found.inode == facts.inode)?;
        let locked = match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => true,
            Err(Errno::WOULDBLOCK) => return None,
            Err(_) => false,
        };
        Some(Self {
            _file: file,
            locked,
            facts,
        })
    }

    fn remove(&self, folder: BorrowedFd<'_>, name: &[u8]) -> bool {
        let same =
            system::facts_at(folder, name).is_ok_and(|found| found.inode == self.facts.inode);
        same && rustix::fs::unlinkat(folder, name, AtFlags::empty()).is_ok()
    }
}

fn now() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    ms((now.tv_sec, u32::try_from(now.tv_nsec).unwrap_or_default()))
}
