//! What differs from one operating system to another, in one place. Today: Linux.
//!
//! In: descriptors and pids. Out: room, and facts about processes.
//! Never: decides anything, waits, or keeps state.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Resource, Signal};

use crate::lock::{OwnerSignal, Seen};

/// Padding is written in pieces of this size, in bytes.
static PADDING_PIECE: [u8; 64 * 1024] = [0; 64 * 1024];

/// Whether freeing space, quota or a limit would cure this error.
pub(crate) fn is_no_room(errno: Errno) -> bool {
    matches!(errno, Errno::NOSPC | Errno::DQUOT | Errno::FBIG)
}

/// As [`is_no_room`], for the standard library's errors.
pub(crate) fn is_no_room_error(error: &io::Error) -> bool {
    Errno::from_io_error(error).is_some_and(is_no_room)
}

/// Refuses a file length beyond the process's limit before the kernel does, because the
/// kernel's answer comes with a signal that ends the process.
pub(crate) fn check_size_limit(length: u64) -> io::Result<()> {
    match rustix::process::getrlimit(Resource::Fsize).current {
        Some(limit) if length > limit => Err(Errno::FBIG.into()),
        _ => Ok(()),
    }
}

/// Makes `file` `length` bytes longer than `from` by reserving blocks and writing NULs into
/// them, so that a later write there changes no metadata. Returns once that is on the device.
pub(crate) fn pad(file: &File, from: u64, length: u64) -> io::Result<()> {
    check_size_limit(from + length)?;
    match rustix::fs::fallocate(file, FallocateFlags::empty(), from, length) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
        Err(errno) => return Err(errno.into()),
    }
    write_nuls(file, from, length)?;
    Ok(rustix::fs::fdatasync(file)?)
}

/// Overwrites a range with NULs; not synced.
pub(crate) fn write_nuls(file: &File, from: u64, length: u64) -> io::Result<()> {
    let mut done = 0;
    while done < length {
        let piece = (length - done).min(PADDING_PIECE.len() as u64);
        let bytes = &PADDING_PIECE[..usize::try_from(piece).unwrap_or(PADDING_PIECE.len())];
        file.write_all_at(bytes, from + done)?;
        done += piece;
    }
    Ok(())
}

/// Ends this process at once, as a crash would: no destructor runs, no buffer is flushed.
pub(crate) fn kill_self() -> ! {
    // If the signal cannot be sent, aborting is the next best crash.
    let _sent = rustix::process::kill_process(rustix::process::getpid(), Signal::KILL);
    std::process::abort()
}

/// A name that no other process or thread of this system uses at the same time.
pub(crate) fn unique() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let pid = rustix::process::getpid().as_raw_nonzero();
    format!("{pid}-{}", COUNTER.fetch_add(1, Ordering::Relaxed))
}

/// What can be seen of the process `pid`.
pub(crate) fn see(pid: i32) -> Seen {
    let Some(pid) = Pid::from_raw(pid) else {
        return Seen::Gone;
    };
    match rustix::process::test_kill_process(pid) {
        Err(Errno::SRCH) => Seen::Gone,
        // Somebody else's process is a process.
        Ok(()) | Err(Errno::PERM) => see_stat(pid),
        Err(_) => Seen::Unknown,
    }
}

fn see_stat(pid: Pid) -> Seen {
    let path = format!("/proc/{}/stat", pid.as_raw_nonzero());
    let stat = std::fs::read_to_string(path).ok();
    match stat.as_deref().and_then(parse_stat) {
        // It has ended; only its parent has not asked for its status yet. A leader that ended
        // before its threads looks the same but for their number.
        Some(Stat {
            state: "Z" | "X",
            threads: 0..=1,
            ..
        }) => Seen::Gone,
        Some(Stat { start, .. }) => Seen::Alive { start: Some(start) },
        None => Seen::Alive { start: None },
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Stat<'a> {
    state: &'a str,
    threads: u64,
    start: u64,
}

/// Reads `/proc/<pid>/stat`. The second field is the program's name, which may hold anything, so
/// fields are counted from its closing parenthesis. Source: proc(5), fields 3, 20 and 22.
fn parse_stat(stat: &str) -> Option<Stat<'_>> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<_> = rest.split_ascii_whitespace().collect();
    Some(Stat {
        state: fields.first()?,
        threads: fields.get(17)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
    })
}

/// The present boot's id.
pub(crate) fn boot_id() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

/// A process that stays the same one whatever happens to its id.
#[derive(Debug)]
pub(crate) struct ProcessHandle(OwnedFd);

impl ProcessHandle {
    /// Takes hold of whatever has the id `pid` now.
    pub(crate) fn of(pid: i32) -> io::Result<Self> {
        let pid = Pid::from_raw(pid).ok_or(Errno::SRCH)?;
        Ok(Self(rustix::process::pidfd_open(pid, PidfdFlags::empty())?))
    }

    /// Signals it.
    pub(crate) fn signal(&self, signal: OwnerSignal) -> io::Result<()> {
        let signal = match signal {
            OwnerSignal::Terminate => Signal::TERM,
            OwnerSignal::Reload => Signal::HUP,
        };
        Ok(rustix::process::pidfd_send_signal(&self.0, signal)?)
    }
}

#[cfg(test)]
mod tests {
    use super::{Stat, parse_stat};

    #[test]
    fn the_start_tick_is_found_behind_any_program_name() {
        let rest = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 9 18 4711 20 21";
        let want = Some(Stat {
            state: "S",
            threads: 9,
            start: 4711,
        });
        for name in ["guildhall", "a b", "x) Z 0 0", ""] {
            assert_eq!(parse_stat(&format!("42 ({name}) {rest}\n")), want, "{name}");
        }
        for broken in [
            "",
            "42",
            "42 (x) S 1 2",
            "42 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 9 18 x",
        ] {
            assert_eq!(parse_stat(broken), None, "{broken}");
        }
    }
}
