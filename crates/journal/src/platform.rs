//! What differs from one operating system to another, in one place. Today: Linux.
//!
//! In: descriptors and pids. Out: room, and facts about processes.
//! Never: decides anything, waits, or keeps state.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use rustix::process::{Resource, Signal};

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
