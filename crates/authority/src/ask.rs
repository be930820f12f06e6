//! Asks: a request for a human's permission, and the one place where its decision is made.
//!
//! In: what an effect would do, and what a person, the clock or an operator says. Out: a
//! [`Decision`] that fits that one ask. Never: a decision without an open ask, two for one ask, a
//! decision that could be copied, read from text or made anywhere else.

use crate::{offer::ToolName, permit::EffectDigest, scope::TurnKey};
use guildhall_binding::{Policy, Standing, ids::UserId};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fmt,
    str::FromStr,
    sync::atomic::{AtomicU64, Ordering},
};

/// Characters of an ask's id.
const ASK_ID_CHARS: usize = 16;

/// An ask's id: derived from the turn and the number of its call. No authority is in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AskId([u8; ASK_ID_CHARS]);

impl AskId {
    /// The id of a call's ask.
    #[must_use]
    pub fn derive(turn: &TurnKey, call: u32) -> Self {
        let digest = EffectDigest::of(
            "guildhall ask 1",
            &[turn.as_str().as_bytes(), &call.to_be_bytes()],
        );
        let text = digest.to_string();
        let mut id = [0; ASK_ID_CHARS];
        id.copy_from_slice(&text.as_bytes()[..ASK_ID_CHARS]);
        Self(id)
    }
}

impl fmt::Display for AskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|byte| fmt::Write::write_char(f, char::from(*byte)))
    }
}

impl fmt::Debug for AskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why a text is no ask's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the id of an ask: 16 of 0-9 and a-f")]
pub struct NotAnAskId;

impl FromStr for AskId {
    type Err = NotAnAskId;
    fn from_str(text: &str) -> Result<Self, NotAnAskId> {
        let id: [u8; ASK_ID_CHARS] = text.as_bytes().try_into().map_err(|_| NotAnAskId)?;
        let hex = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
        if id.iter().all(hex) {
            Ok(Self(id))
        } else {
            Err(NotAnAskId)
        }
    }
}

impl Serialize for AskId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AskId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A request for a human's permission for one exact effect. `Debug` shows no text.
#[derive(Clone, PartialEq, Eq)]
pub struct AskSpec {
    /// Its id.
    pub id: AskId,
    /// Whose turn.
    pub turn: TurnKey,
    /// Which call of the turn, from 0.
    pub call: u32,
    /// Which tool.
    pub tool: ToolName,
    /// Digest of the exact effect.
    pub digest: EffectDigest,
    /// What a person is shown.
    pub shown: Shown,
}

impl fmt::Debug for AskSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "AskSpec({}, turn {}, call {}, {})",
            self.id, self.turn, self.call, self.tool
        )
    }
}

/// What a card shows of an effect, from the host's own knowledge; secrets are masked already.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Shown {
    /// One line: what will be done, such as `Create notes/today.md`.
    pub what: String,
    /// Further facts, each a short label and its value: workspace, branch, URL.
    pub facts: Vec<(String, String)>,
    /// The exact content or difference, whole. A card shows what fits and attaches the rest.
    pub content: Option<Content>,
    /// What this turn has read so far, one entry each: files, pages.
    pub read: Vec<String>,
}

/// The exact content of an effect.
#[derive(Clone, PartialEq, Eq)]
pub struct Content {
    /// The name it is attached under, such as `change.diff`.
    pub name: String,
    /// The exact text: whoever shows it writes out what cannot be seen, and says so.
    pub text: String,
}

/// What a person, or the absence of one, says to an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// This effect, this once.
    Once,
    /// A person said no.
    Denied,
    /// Nobody answered in time.
    TimedOut,
    /// The card could not be delivered.
    Undelivered,
    /// The turn ended before anybody answered.
    Withdrawn,
    /// A brake was set, or the process is ending.
    Stopped,
}

/// A decision about one ask. Only an [`AskBook`] makes one; it fits one ask of one turn and one
/// digest, and using it uses it up.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a decision that is dropped leaves its call waiting"]
pub struct Decision {
    pub(crate) book: BookId,
    pub(crate) ask: AskId,
    pub(crate) turn: TurnKey,
    pub(crate) digest: EffectDigest,
    pub(crate) answer: Answer,
}

impl Decision {
    /// Which ask.
    #[must_use]
    pub const fn ask(&self) -> AskId {
        self.ask
    }

    /// Whose turn.
    #[must_use]
    pub const fn turn(&self) -> &TurnKey {
        &self.turn
    }

    /// What was said.
    #[must_use]
    pub const fn answer(&self) -> Answer {
        self.answer
    }
}

/// Which founding a book and a judge are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BookId(u64);

impl BookId {
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The open asks of a process. It starts empty: what was open when a process died is void.
#[derive(Debug)]
pub struct AskBook {
    pub(crate) id: BookId,
    open: BTreeMap<AskId, (TurnKey, EffectDigest)>,
}

impl AskBook {
    pub(crate) const fn new(id: BookId) -> Self {
        Self {
            id,
            open: BTreeMap::new(),
        }
    }

    /// Opens an ask.
    ///
    /// # Errors
    /// [`AlreadyAsked`] where one of this id is open.
    pub fn open(&mut self, spec: &AskSpec) -> Result<(), AlreadyAsked> {
        if self.open.contains_key(&spec.id) {
            return Err(AlreadyAsked);
        }
        self.open.insert(spec.id, (spec.turn.clone(), spec.digest));
        Ok(())
    }

    /// Whether an ask is open.
    #[must_use]
    pub fn is_open(&self, ask: AskId) -> bool {
        self.open.contains_key(&ask)
    }

    /// Closes an ask with its decision; `None` where it is not open any more.
    pub fn decide(&mut self, ask: AskId, answer: Answer) -> Option<Decision> {
        let (turn, digest) = self.open.remove(&ask)?;
        Some(Decision {
            book: self.id,
            ask,
            turn,
            digest,
            answer,
        })
    }
}

/// An ask of this id is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an ask of this id is open")]
pub struct AlreadyAsked;

/// Whether a person may decide asks, by the policy in force at that moment.
#[must_use]
pub fn may_decide(policy: &Policy, who: UserId) -> bool {
    policy
        .users
        .get(&who)
        .is_some_and(|user| user.standing == Standing::Operator)
}
