//! Whose process is at the other end of a socket.
//!
//! In: the kernel's word about the peer, and what `/proc` says of it. Out: yes or no. Never: a
//! process of another user or outside the group.

use tokio::net::UnixStream;

/// Whether the peer runs as this user and belongs to the process group.
pub(super) fn is_of(stream: &UnixStream, group: u32) -> bool {
    let Ok(peer) = stream.peer_cred() else {
        return false;
    };
    let ours = peer.uid() == rustix::process::geteuid().as_raw();
    ours && peer.pid().and_then(group_of) == Some(group)
}

/// The process group of a process.
fn group_of(pid: i32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    group_in(&stat)
}

/// The fifth field. The second is a name in parentheses that may hold anything.
fn group_in(stat: &str) -> Option<u32> {
    let (_, after) = stat.rsplit_once(')')?;
    after.split_ascii_whitespace().nth(2)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_is_found_behind_any_name() {
        for (stat, want) in [
            ("42 (pi) S 1 42 42 0 -1", Some(42)),
            ("42 (a) S 9 9 (b)) S 1 77 42 0", Some(77)),
            ("42 (pi) S 1", None),
            ("42 pi S 1 42", None),
            ("", None),
        ] {
            assert_eq!(group_in(stat), want, "{stat}");
        }
    }

    #[tokio::test]
    async fn a_process_outside_the_group_is_refused() {
        let (ours, _theirs) = UnixStream::pair().expect("a pair");
        let group = rustix::process::getpgrp().as_raw_nonzero().get();
        let group = u32::try_from(group).expect("positive");
        assert!(is_of(&ours, group));
        assert!(!is_of(&ours, group + 1));
    }
}
