//! The vault protocol: locks, checks and ids by the tools that the vault's repository brings.
//!
//! In: paths, a prefix, a title. Out: a lock taken or given back, a check passed, an id.
//! Never: a shell; an argument that a tool takes for an option; tools that are not as they were
//! committed, or that the seat itself committed.
//!
//! The command lines, with the seat as `OWNER`:
//!
//! ```text
//! python3 tools/vault_lock.py lock --owner OWNER --ttl 300 -- PATH
//! python3 tools/vault_lock.py unlock --owner OWNER -- PATH
//! python3 tools/vault_lock.py check --owner OWNER -- PATH...
//! python3 tools/vault_lock.py reserve --owner OWNER -- PREFIX TITLE
//! python3 tools/validate_vault.py
//! ```
//!
//! Exit code 0 is yes; anything else is no, and the first lines of what the tool said are the reason.
//! A lock tool that broke, by a signal, a usage message or a trace, does not say that somebody else has
//! the lock. `reserve` prints the id as its first line; the files that it changes go with the next commit.

pub(crate) mod reserved; // what goes with the next commit
mod tools; // as they were committed, byte for byte

use guildhall_confine::RelPath;

use crate::{
    environment::{self, Credential, Environment},
    masked::{Masked, is_unseen},
    refs::ObjectId,
    refusal::GitRefusal,
    root::{GitRoot, Held, Protocol},
    spawn::{CHILD_MAX, Cancel, Ended, Run},
    verb::Verb,
};

/// How long a lock lasts when it is not given back, in seconds. Source: the git page.
pub const LOCK_TTL_SECONDS: u32 = 300;
/// Longest title of a reservation, in characters. Source: the git page.
pub const TITLE_MAX_CHARS: usize = 200;
/// Kinds of records that ids are reserved for. Source: the git page.
pub const PREFIXES: [&str; 5] = ["BUS", "PRJ", "SS", "DEC", "REF"];

const LOCK_TOOL: &str = "tools/vault_lock.py";
const VALIDATE_TOOL: &str = "tools/validate_vault.py";
/// How many lines of a tool's words are shown.
const LINES_SHOWN: usize = 10;
/// Most bytes of a tool's words that are read.
const TOOL_KEEP_BYTES: usize = 64 * 1024;
/// Longest id.
const ID_MAX_CHARS: usize = 64;

impl GitRoot {
    /// Whether verbs run what stands at `path`: no call writes it.
    #[must_use]
    pub fn runs(&self, path: &RelPath) -> bool {
        self.0.settings.protocol == Protocol::Vault && tools::is_tool(path)
    }

    /// Takes the lock of `path` for the seat, for [`LOCK_TTL_SECONDS`].
    ///
    /// # Errors
    /// [`GitRefusal::NoVault`], [`GitRefusal::VaultLocked`] with the owner's name in the tool's words,
    /// [`GitRefusal::VaultToolFailed`], [`GitRefusal::VaultToolsChanged`], and what the repository is
    /// refused for.
    pub fn lock(&self, path: &RelPath, cancel: &Cancel) -> Result<(), GitRefusal> {
        let ttl = LOCK_TTL_SECONDS.to_string();
        self.locks(&["lock", "--ttl", &ttl], path, cancel)
    }

    /// Gives the lock of `path` back.
    ///
    /// # Errors
    /// As [`GitRoot::lock`].
    pub fn unlock(&self, path: &RelPath, cancel: &Cancel) -> Result<(), GitRefusal> {
        self.locks(&["unlock"], path, cancel)
    }

    /// Reserves the next id of `prefix` for a record with `title`.
    ///
    /// # Errors
    /// [`GitRefusal::NoVault`], [`GitRefusal::BadReservation`], [`GitRefusal::VaultReserve`] with the
    /// tool's words, [`GitRefusal::VaultToolsChanged`], [`GitRefusal::Remote`], and what the repository
    /// is refused for.
    pub fn reserve_id(
        &self,
        prefix: &str,
        title: &str,
        cancel: &Cancel,
    ) -> Result<String, GitRefusal> {
        let visible = title.chars().any(|c| !c.is_whitespace());
        let one_line = !title.chars().any(is_unseen);
        let fits = title.chars().count() <= TITLE_MAX_CHARS && visible && one_line;
        if !PREFIXES.contains(&prefix) || !fits {
            return Err(GitRefusal::BadReservation);
        }
        let _turn = self.0.turn.lock();
        let vault = Vault::ready(&self.0, cancel)?;
        let verb = &vault.verb;
        let remote = verb.remote()?;
        let mut run = tool(verb, LOCK_TOOL);
        run.env = vault_environment(verb, Some(&verb.credential(remote)));
        let owner = &self.0.settings.identity;
        let run = run.args(["reserve", "--owner", owner, "--", prefix, title]);
        let before = reserved::Before::of(verb)?;
        let ended = run_tool(verb, vault.head.as_ref(), &run)?;
        before.note(verb)?;
        let words = first_lines(verb, &ended);
        if !ended.is_ok() {
            return Err(GitRefusal::VaultReserve(words));
        }
        let said = String::from_utf8_lossy(&ended.out);
        let id = said.lines().next().unwrap_or("").trim();
        let rest = id.strip_prefix(prefix).and_then(|id| id.strip_prefix('-'));
        let is_id = |rest: &str| {
            !rest.is_empty()
                && id.len() <= ID_MAX_CHARS
                && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        };
        match rest {
            Some(rest) if is_id(rest) => Ok(id.to_owned()),
            _ => Err(GitRefusal::VaultReserve(words)),
        }
    }

    fn locks(&self, command: &[&str], path: &RelPath, cancel: &Cancel) -> Result<(), GitRefusal> {
        let _turn = self.0.turn.lock();
        let Vault { verb, head } = Vault::ready(&self.0, cancel)?;
        let ended = lock_tool(&verb, head.as_ref(), command, std::slice::from_ref(path))?;
        if ended.is_ok() {
            return Ok(());
        }
        let words = first_lines(&verb, &ended);
        Err(if broke(&ended) {
            GitRefusal::VaultToolFailed(words)
        } else {
            GitRefusal::VaultLocked(words)
        })
    }
}

/// Refuses a commit that the vault's tools refuse, or that would change them.
pub(crate) fn refuse_commit(
    verb: &Verb<'_>,
    head: Option<&ObjectId>,
    paths: &[RelPath],
) -> Result<(), GitRefusal> {
    if paths.iter().any(tools::is_tool) {
        return Err(GitRefusal::VaultToolsProtected);
    }
    let ended = lock_tool(verb, head, &["check"], paths)?;
    if !ended.is_ok() {
        return Err(GitRefusal::VaultCheck(first_lines(verb, &ended)));
    }
    let ended = run_tool(verb, head, &tool(verb, VALIDATE_TOOL))?;
    if !ended.is_ok() {
        return Err(GitRefusal::VaultInvalid(first_lines(verb, &ended)));
    }
    Ok(())
}

/// A vault that is ready for its tools.
struct Vault<'a> {
    verb: Verb<'a>,
    head: Option<ObjectId>,
}

impl<'a> Vault<'a> {
    fn ready(held: &'a Held, cancel: &'a Cancel) -> Result<Self, GitRefusal> {
        if held.settings.protocol != Protocol::Vault {
            return Err(GitRefusal::NoVault);
        }
        let verb = Verb::ground(held, cancel)?;
        let head = verb.stand()?.head;
        Ok(Self { verb, head })
    }
}

/// Runs a tool, which is looked at right before: the one run may have changed what the next one runs.
fn run_tool(verb: &Verb<'_>, head: Option<&ObjectId>, run: &Run) -> Result<Ended, GitRefusal> {
    tools::refuse_changed(verb, head)?;
    verb.run(run)
}

/// Whether a tool ended without having said yes or no.
fn broke(ended: &Ended) -> bool {
    let err = String::from_utf8_lossy(&ended.err);
    let line = |starts: &str| err.lines().any(|line| line.starts_with(starts));
    ended.code.is_none()
        || (!ended.is_ok() && (line("Traceback (most recent call last):") || line("usage: ")))
        || (ended.code == Some(2) && err.contains("can't open file"))
}

fn lock_tool(
    verb: &Verb<'_>,
    head: Option<&ObjectId>,
    command: &[&str],
    paths: &[RelPath],
) -> Result<Ended, GitRefusal> {
    let owner = &verb.held.settings.identity;
    let (name, options) = command.split_first().ok_or(GitRefusal::NoVault)?;
    let run = tool(verb, LOCK_TOOL).args([*name, "--owner", owner]);
    let run = run.args(options).args(["--"]);
    run_tool(verb, head, &run.args(paths.iter().map(RelPath::as_str)))
}

fn tool(verb: &Verb<'_>, script: &str) -> Run {
    let settings = &verb.held.settings;
    Run {
        program: settings.programs.python.clone().unwrap_or_default(),
        args: vec![script.into()],
        env: vault_environment(verb, None),
        folder: settings.path.clone(),
        input: Vec::new(),
        keep: TOOL_KEEP_BYTES,
        deadline: CHILD_MAX,
    }
}

fn vault_environment(verb: &Verb<'_>, credential: Option<&Credential<'_>>) -> Environment {
    let ca_file = verb.held.trial.ca_file.as_deref();
    environment::of_vault(&verb.private, credential, ca_file)
}

/// What a tool said first: what it printed, then its errors.
fn first_lines(verb: &Verb<'_>, ended: &Ended) -> Masked {
    let said = [&ended.out[..], b"\n", &ended.err[..]].concat();
    let said = String::from_utf8_lossy(&said);
    let lines = said.lines().filter(|line| !line.trim().is_empty());
    let first: Vec<&str> = lines.take(LINES_SHOWN).collect();
    Masked::of(first.join("\n").as_bytes(), &verb.held.places())
}
