//! Descriptors that a child must not have.
//!
//! In: nothing. Out: every descriptor of this process but the first three closes when a program is
//! started.
//! Never: a descriptor that is closed here; whoever has it keeps it.
//!
//! Our own are opened so. Those that this process was started with are not, and whoever started it
//! need not have known.

use rustix::{
    fd::BorrowedFd,
    io::{Errno, FdFlags},
};

use crate::refusal::GitRefusal;

/// Where the system lists this process's descriptors.
const LIST: &str = "/dev/fd";

/// Marks every descriptor above the first three so that no child has it.
pub(crate) fn keep_from_children() -> Result<(), GitRefusal> {
    let list = std::fs::read_dir(LIST).map_err(|error| GitRefusal::of_io(&error))?;
    for entry in list {
        let name = entry
            .map_err(|error| GitRefusal::of_io(&error))?
            .file_name();
        let number = name.to_str().and_then(|name| name.parse::<i32>().ok());
        if let Some(number) = number.filter(|number| *number > 2) {
            keep(number)?;
        }
    }
    Ok(())
}

#[expect(
    unsafe_code,
    reason = "a descriptor that was inherited has no owner to borrow from"
)]
fn keep(number: i32) -> Result<(), GitRefusal> {
    // SAFETY: the borrow ends with this function, and nothing is read, written or closed through it. The
    // number was just listed as open; if its owner closes it meanwhile, the call fails with EBADF or
    // marks a newer descriptor of ours, which has the mark already.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    let marked = rustix::io::fcntl_getfd(descriptor).and_then(|flags| {
        if flags.contains(FdFlags::CLOEXEC) {
            return Ok(());
        }
        rustix::io::fcntl_setfd(descriptor, flags | FdFlags::CLOEXEC)
    });
    match marked {
        Ok(()) | Err(Errno::BADF) => Ok(()),
        Err(errno) => Err(GitRefusal::of_errno(errno)),
    }
}

#[cfg(test)]
mod tests {
    use super::keep_from_children;
    use rustix::{
        fd::AsRawFd,
        io::{FdFlags, fcntl_getfd, fcntl_setfd},
    };

    #[test]
    fn an_inheritable_descriptor_is_kept_from_children() {
        let file = std::fs::File::open("/dev/null").expect("a file");
        fcntl_setfd(&file, FdFlags::empty()).expect("it is ours");
        assert!(file.as_raw_fd() > 2);
        keep_from_children().expect("they are listed");
        assert_eq!(fcntl_getfd(&file), Ok(FdFlags::CLOEXEC));
    }
}
