//! The unit's text.
//!
//! In: where the program, the data root, the repository and `node` are. Out: a systemd template
//! unit. Never: a binding's contents, a token, a directive that a user's manager cannot carry out.

use std::path::{Path, PathBuf};

/// The unit's file name.
pub(crate) const UNIT_FILE: &str = "guildhall@.service";

/// Longest turn that a binding may allow, in seconds. Source: the binding's `limits.turnTimeoutSeconds`.
const TURN_TIMEOUT_MAX_SECONDS: u32 = 3_600;
/// What a stop takes beside the turn in flight: its delivery, the disk, the gateway's close.
const STOP_MARGIN_SECONDS: u32 = 100;
/// How long a seat that says nothing is taken to be alive. It speaks four times in this span.
const WATCHDOG_SECONDS: u32 = 120;

/// What the unit is made of.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// This program.
    pub(crate) program: PathBuf,
    /// Where bindings are.
    pub(crate) data_root: PathBuf,
    /// Where context files are.
    pub(crate) repo: PathBuf,
    /// The folder of `node`, which pi needs, where there is one.
    pub(crate) node: Option<PathBuf>,
}

/// A path that a unit cannot hold.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} has characters that a unit file cannot hold")]
pub(crate) struct BadPath(PathBuf);

/// Hardening that a manager without privileges can carry out by itself: kernel filters and limits.
/// What needs a namespace or a capability is left out: depending on the machine, a user's manager
/// ignores it, or cannot start the unit because of it.
const FILTERS: [(&str, &str); 12] = [
    ("NoNewPrivileges", "yes"),
    ("SystemCallArchitectures", "native"),
    // Beside what services need: what an engine confines itself with.
    (
        "SystemCallFilter",
        "@system-service landlock_create_ruleset landlock_add_rule landlock_restrict_self seccomp",
    ),
    ("SystemCallErrorNumber", "EPERM"),
    (
        "RestrictAddressFamilies",
        "AF_UNIX AF_INET AF_INET6 AF_NETLINK",
    ),
    ("RestrictNamespaces", "yes"),
    ("RestrictRealtime", "yes"),
    ("RestrictSUIDSGID", "yes"),
    ("LockPersonality", "yes"),
    ("KeyringMode", "private"),
    ("UMask", "0077"),
    ("LimitCORE", "0"),
];

/// The unit's text.
///
/// # Errors
/// A path with a line break or another control character, or one that is not UTF-8.
pub(crate) fn render(unit: &Unit) -> Result<String, BadPath> {
    let (program, root) = (argument(&unit.program)?, argument(&unit.data_root)?);
    let repo = argument(&unit.repo)?;
    let path = search_path(unit.node.as_deref())?;
    let stop = TURN_TIMEOUT_MAX_SECONDS + STOP_MARGIN_SECONDS;
    let mut text = format!(
        "\
# One instance for each binding: guildhall@BINDING.service
# Written by `guildhall service install`; `systemctl --user edit guildhall@.service` changes it.

[Unit]
Description=Guildhall seat %i
StartLimitIntervalSec=600
StartLimitBurst=5

[Service]
Type=notify
NotifyAccess=main
ExecStart={program} run %i --supervised --data-root {root} --repo {repo}
ExecReload=/bin/kill -HUP $MAINPID
Environment={path}
SyslogIdentifier=guildhall-%i

# A crash is tried again; a brake (exit 3) never is.
Restart=on-failure
RestartSec=15
RestartPreventExitStatus=3

# The seat asks for more time while it waits for the network.
TimeoutStartSec=120
# The longest turn that a binding may allow, and a margin.
TimeoutStopSec={stop}
# Fed by the seat while its gateway and its engine are alive.
WatchdogSec={WATCHDOG_SECONDS}
TimeoutAbortSec=30
# SIGTERM goes to the seat alone, so that the turn in flight finishes; what it leaves behind is killed.
KillMode=mixed
OOMPolicy=continue

# Filters and limits; docs/operations.md says what each remaining point of `systemd-analyze security` costs.
"
    );
    for (key, value) in FILTERS {
        text.push_str(&format!("{key}={value}\n"));
    }
    text.push_str("\n[Install]\nWantedBy=default.target\n");
    Ok(text)
}

fn search_path(node: Option<&Path>) -> Result<String, BadPath> {
    let usual = "/usr/local/bin:/usr/bin:/bin";
    let known = |node: &&Path| !usual.split(':').any(|folder| Path::new(folder) == *node);
    let Some(node) = node.filter(known) else {
        return Ok(format!("PATH={usual}"));
    };
    Ok(quoted(&format!(
        "PATH={}:{usual}",
        plain(node)?.replace('%', "%%")
    )))
}

/// A path as one argument of a command line: specifiers and variables in it mean nothing.
fn argument(path: &Path) -> Result<String, BadPath> {
    Ok(quoted(&plain(path)?.replace('%', "%%").replace('$', "$$")))
}

fn plain(path: &Path) -> Result<&str, BadPath> {
    path.to_str()
        .filter(|text| !text.chars().any(char::is_control))
        .ok_or_else(|| BadPath(path.to_owned()))
}

fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:=@%$".contains(c);
    if text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

#[cfg(test)]
mod tests;
