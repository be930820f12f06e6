//! What one turn may do: a meet over binding, origin, person and message.
//!
//! In: the policy that the turn was claimed with, and who caused it. Out: a [`TurnScope`]. Never:
//! anything inherited from another turn, a process or a task.

use guildhall_binding::{Policy, ids::UserId};
use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc};

/// Who caused a turn, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A Discord author.
    User,
    /// A mesh principal.
    Peer,
    /// A plugin.
    Plugin,
    /// A schedule.
    Schedule,
}

/// A turn's id as text: its row's id.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TurnKey(Arc<str>);

impl TurnKey {
    /// The key of a row's turn.
    #[must_use]
    pub fn new(row: &str) -> Self {
        Self(row.into())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TurnKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TurnKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A person who caused a turn, as the server shows them. `Debug` shows no name.
#[derive(Clone, PartialEq, Eq)]
pub struct Requester {
    /// Their id.
    pub id: UserId,
    /// The name that the server showed with the message: display text.
    pub name: String,
}

impl fmt::Debug for Requester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Requester({})", self.id)
    }
}

/// The authority of one turn. Nothing else gives a turn any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnScope {
    turn: TurnKey,
    origin: Origin,
    requester: Option<Requester>,
    workspace: Option<String>,
    policy: Arc<Policy>,
}

impl TurnScope {
    /// The scope of a turn, made when its row is claimed. `workspace` is the one that the message
    /// names ([`workspace_of`]).
    #[must_use]
    pub const fn of(
        turn: TurnKey,
        origin: Origin,
        requester: Option<Requester>,
        workspace: Option<String>,
        policy: Arc<Policy>,
    ) -> Self {
        Self {
            turn,
            origin,
            requester,
            workspace,
            policy,
        }
    }

    /// Which turn.
    #[must_use]
    pub const fn turn(&self) -> &TurnKey {
        &self.turn
    }

    /// Who caused it, by kind.
    #[must_use]
    pub const fn origin(&self) -> Origin {
        self.origin
    }

    /// The person who caused it, where it was one.
    #[must_use]
    pub const fn requester(&self) -> Option<&Requester> {
        self.requester.as_ref()
    }

    /// The one workspace of this turn; absent where the binding has none.
    #[must_use]
    pub fn workspace(&self) -> Option<&str> {
        self.workspace.as_deref()
    }

    /// The policy that the turn was claimed with.
    #[must_use]
    pub const fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }
}

/// The workspace that a message selects: by its name and a colon at the very start, as people write
/// them (`Site:`, `site :`, `**site**:`), else the first of the binding. Absent where the binding has
/// none.
#[must_use]
pub fn workspace_of(policy: &Policy, message: &str) -> Option<String> {
    let tools = policy.tools.as_ref()?;
    let all = || {
        let asks =
            |root: &&guildhall_binding::Root| root.write == guildhall_binding::RootWrite::Ask;
        tools.roots.iter().filter(asks)
    };
    let text = after_mentions(message);
    // A name that is written to the letter goes before one that differs in case alone.
    let to_the_letter: fn(&str, &str) -> bool = |one, other| one == other;
    let named = [to_the_letter, str::eq_ignore_ascii_case];
    let named = named
        .into_iter()
        .find_map(|same| all().find(|root| begins_with(text, &root.name, same)));
    named.or_else(|| all().next()).map(|root| root.name.clone())
}

/// Whether a text begins with a name and a colon: the name perhaps in emphasis or code, with the colon
/// in it or behind it, and blanks before the colon.
fn begins_with(text: &str, name: &str, same: fn(&str, &str) -> bool) -> bool {
    let bare = text.trim_start_matches(['*', '_', '`']);
    // A name may begin with such a sign itself.
    let marks = (0..=text.len() - bare.len()).map(|length| text.split_at(length));
    marks.into_iter().any(|(marks, rest)| {
        let Some((is, rest)) = rest.split_at_checked(name.len()) else {
            return false;
        };
        if !same(is, name) {
            return false;
        }
        let closing: String = marks.chars().rev().collect();
        let colon = |rest: &str| rest.trim_start_matches([' ', '\t']).starts_with(':');
        let behind = rest.strip_prefix(closing.as_str()).is_some_and(colon);
        let within = colon(rest)
            && rest
                .split_once(':')
                .is_some_and(|(_, after)| after.starts_with(closing.as_str()));
        behind || within
    })
}

/// What follows the mentions that a message begins with: who asks the bot names it first.
fn after_mentions(message: &str) -> &str {
    let mut rest = message.trim_start();
    while let Some((id, after)) = rest.strip_prefix("<@").and_then(|at| at.split_once('>')) {
        let digits = id.strip_prefix(['!', '&']).unwrap_or(id);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        rest = after.trim_start();
    }
    rest
}
