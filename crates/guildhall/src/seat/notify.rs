//! Words to the supervisor: ready, alive, reloading, stopping, and one line of state.
//!
//! In: what systemd put into the environment. Out: datagrams on its socket; nothing without one.
//! Never: a wait for the supervisor, a failure of the seat because nobody listens.
//! Source: sd_notify(3), sd_watchdog_enabled(3).

use std::{
    ffi::OsStr,
    os::{
        linux::net::SocketAddrExt as _,
        unix::{
            ffi::OsStrExt as _,
            net::{SocketAddr, UnixDatagram},
        },
    },
    time::Duration,
};

/// Where the supervisor listens.
pub(crate) const SOCKET_VARIABLE: &str = "NOTIFY_SOCKET";
/// How long it waits for a sign of life, in microseconds.
pub(crate) const WATCHDOG_VARIABLE: &str = "WATCHDOG_USEC";
/// Whom it wants to hear from.
pub(crate) const WATCHDOG_PID_VARIABLE: &str = "WATCHDOG_PID";

/// The way to the supervisor, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Notifier {
    way: Option<(UnixDatagram, SocketAddr)>,
    watchdog: Option<Duration>,
}

impl Notifier {
    /// The notifier of the environment's three variables; `pid` is this process.
    pub(crate) fn of(
        socket: Option<&OsStr>,
        watchdog: Option<&str>,
        watchdog_pid: Option<&str>,
        pid: u32,
    ) -> Self {
        let way = socket.and_then(way);
        let ours = watchdog_pid.is_none_or(|wanted| wanted.parse() == Ok(pid));
        let micros = watchdog
            .and_then(|text| text.parse().ok())
            .filter(|n| *n > 0);
        Self {
            watchdog: micros
                .filter(|_| ours && way.is_some())
                .map(Duration::from_micros),
            way,
        }
    }

    /// How long the supervisor waits for a sign of life, where it does.
    pub(crate) const fn watchdog(&self) -> Option<Duration> {
        self.watchdog
    }

    /// The seat serves.
    pub(crate) fn ready(&self) {
        self.say("READY=1");
    }

    /// The seat is alive.
    pub(crate) fn alive(&self) {
        if self.watchdog.is_some() {
            self.say("WATCHDOG=1");
        }
    }

    /// What is under way takes longer, up to this from now on.
    pub(crate) fn extend(&self, by: Duration) {
        self.say(&format!("EXTEND_TIMEOUT_USEC={}", by.as_micros()));
    }

    /// The binding is being read again; [`Notifier::ready`] ends that.
    pub(crate) fn reloading(&self) {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let micros = now.tv_sec * 1_000_000 + now.tv_nsec / 1_000;
        self.say(&format!("RELOADING=1\nMONOTONIC_USEC={micros}"));
    }

    /// The seat ends.
    pub(crate) fn stopping(&self) {
        self.say("STOPPING=1");
    }

    /// What it does, for people, in one line.
    pub(crate) fn status(&self, line: &str) {
        self.say(&format!("STATUS={}", line.replace('\n', " ")));
    }

    fn say(&self, words: &str) {
        let Some((socket, to)) = &self.way else {
            return;
        };
        if let Err(error) = socket.send_to_addr(words.as_bytes(), to) {
            tracing::debug!(%error, "the supervisor was not told");
        }
    }
}

/// The supervisor's socket: a path, or a name of the abstract space after an `@`.
fn way(name: &OsStr) -> Option<(UnixDatagram, SocketAddr)> {
    let bytes = name.as_bytes();
    let to = match bytes.first()? {
        b'@' => SocketAddr::from_abstract_name(&bytes[1..]),
        b'/' => SocketAddr::from_pathname(name),
        _ => {
            tracing::warn!("the supervisor's socket is of a kind that is not known");
            return None;
        }
    };
    let socket = UnixDatagram::unbound().and_then(|socket| {
        // A supervisor that reads nothing must not hold up the seat.
        socket.set_nonblocking(true)?;
        Ok(socket)
    });
    match (to, socket) {
        (Ok(to), Ok(socket)) => Some((socket, to)),
        (Err(error), _) | (_, Err(error)) => {
            tracing::warn!(%error, "the supervisor cannot be told anything");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn told(socket: &UnixDatagram) -> String {
        let mut bytes = [0; 256];
        let length = socket.recv(&mut bytes).expect("a datagram");
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }

    #[test]
    fn words_arrive_at_a_path_and_at_an_abstract_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("notify");
        let by_path = UnixDatagram::bind(&path).expect("a socket");
        let name = format!("guildhall-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("a name");
        let by_name = UnixDatagram::bind_addr(&address).expect("a socket");
        let cases = [
            (path.into_os_string(), &by_path),
            (OsString::from(format!("@{name}")), &by_name),
        ];
        for (variable, socket) in cases {
            let notifier = Notifier::of(Some(&variable), Some("3000000"), None, 7);
            assert_eq!(notifier.watchdog(), Some(Duration::from_secs(3)));
            notifier.ready();
            assert_eq!(told(socket), "READY=1");
            notifier.alive();
            assert_eq!(told(socket), "WATCHDOG=1");
            notifier.status("two\nlines");
            assert_eq!(told(socket), "STATUS=two lines");
            notifier.extend(Duration::from_secs(2));
            assert_eq!(told(socket), "EXTEND_TIMEOUT_USEC=2000000");
            notifier.reloading();
            assert!(told(socket).starts_with("RELOADING=1\nMONOTONIC_USEC="));
        }
    }

    #[test]
    fn a_watchdog_counts_only_when_it_waits_for_this_process() {
        let cases = [
            ("none", None, None, None),
            ("ours", Some("5000000"), Some("7"), Some(5)),
            ("for nobody by name", Some("5000000"), None, Some(5)),
            ("another's", Some("5000000"), Some("8"), None),
            ("off", Some("0"), Some("7"), None),
            ("no number", Some("soon"), Some("7"), None),
        ];
        for (name, micros, pid, want) in cases {
            let notifier = Notifier::of(Some(OsStr::new("@x")), micros, pid, 7);
            assert_eq!(notifier.watchdog(), want.map(Duration::from_secs), "{name}");
        }
        let nobody = Notifier::of(None, Some("5000000"), None, 7);
        assert_eq!(
            nobody.watchdog(),
            None,
            "without a socket there is nobody to feed"
        );
        nobody.ready();
    }
}
