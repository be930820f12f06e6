//! Permission as a value.
//!
//! In: an effect that is prepared, and the scope of its turn. Out: a [`Permit`] from the policy, a
//! [`Pending`] effect that needs a person, or a named no. Never: a permit for another effect than
//! the one that was judged, one that outlives its turn, one that can be used twice.
//!
//! A [`Permit`] can be made in this module and nowhere else: its fields are private and it has no
//! constructor. Whoever changes the world takes one by value.

use crate::{
    ask::{Answer, AskBook, AskId, BookId, Decision},
    offer::{ToolName, Toolset, offered},
    scope::{Origin, TurnScope},
};
use guildhall_binding::RootWrite;
use sha2::{Digest as _, Sha256};
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// SHA-256 of an exact effect.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EffectDigest([u8; 32]);

impl EffectDigest {
    /// Digest of a tag and fields, each with its length before it, so that no two effects share one.
    #[must_use]
    pub fn of(tag: &str, fields: &[&[u8]]) -> Self {
        let mut sha = Sha256::new();
        let mut put = |bytes: &[u8]| {
            let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            sha.update(length.to_be_bytes());
            sha.update(bytes);
        };
        put(tag.as_bytes());
        fields.iter().for_each(|field| put(field));
        Self(sha.finalize().into())
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// 64 hex digits.
impl fmt::Display for EffectDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for EffectDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What the policy looks at to judge an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject<'e> {
    /// Looks at files of a root.
    Reads {
        /// The root's name.
        root: &'e str,
    },
    /// Changes a root: its files, its branch, or what its remote has.
    Changes {
        /// The root's name.
        root: &'e str,
    },
    /// Reads the web.
    Web,
}

/// One exact thing that a tool does to the world, prepared and not done.
pub trait Effect: Send {
    /// Which tool does it.
    fn tool(&self) -> ToolName;
    /// What the policy judges it by.
    fn subject(&self) -> Subject<'_>;
    /// Digest of exactly what is done: kind, target, what is there and what will be.
    fn digest(&self) -> EffectDigest;
}

/// Why an effect may not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// The turn was not offered this tool.
    #[error("this turn was not offered that tool")]
    NotOffered,
    /// The binding has no such root.
    #[error("there is no root of that name")]
    UnknownRoot,
    /// The root may only be read.
    #[error("this root may only be read")]
    RootReadonly,
    /// The root is a workspace: its own tools write there.
    #[error("this root is a workspace; its writes go through the workspace tools")]
    WorkspaceOnly,
    /// Work of a peer never asks a person.
    #[error("this needs a person's permission, and a peer's turn never asks")]
    PeerNeverAsks,
    /// The turn is over.
    #[error("the turn is over")]
    Revoked,
    /// A person said no.
    #[error("a person denied this")]
    ByPerson,
    /// Nobody answered in time.
    #[error("nobody answered in time; that counts as a no")]
    TimedOut,
    /// The card could not be delivered.
    #[error("the request for permission could not be delivered")]
    Undelivered,
    /// A stop denied it.
    #[error("a stop denied this")]
    Stopped,
    /// The decision is about another effect.
    #[error("the decision is about another effect")]
    OtherEffect,
}

impl Denied {
    /// The code in records and results.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotOffered => "not-offered",
            Self::UnknownRoot => "unknown-root",
            Self::RootReadonly => "root-readonly",
            Self::WorkspaceOnly => "workspace-only",
            Self::PeerNeverAsks => "peer-never-asks",
            Self::Revoked => "revoked",
            Self::ByPerson => "denied",
            Self::TimedOut => "ask-timed-out",
            Self::Undelivered => "ask-undelivered",
            Self::Stopped => "stopped",
            Self::OtherEffect => "other-effect",
        }
    }
}

/// Whether a turn still lives. Dropping it, or [`TurnLife::end`], revokes every permit of the turn.
#[derive(Debug)]
pub struct TurnLife(Arc<AtomicBool>);

impl TurnLife {
    /// The turn is over: nothing that was permitted and not begun happens any more.
    pub fn end(&self) {
        self.0.store(false, Ordering::SeqCst);
    }

    /// Whether the turn lives.
    #[must_use]
    pub fn lives(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

impl Drop for TurnLife {
    fn drop(&mut self) {
        self.end();
    }
}

/// Proof that one exact effect was allowed.
#[must_use = "a permit that is dropped allows nothing"]
pub struct Permit<E> {
    effect: E,
    digest: EffectDigest,
    life: Arc<AtomicBool>,
    by: PermittedBy,
}

/// What a permit came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermittedBy {
    /// The binding.
    Policy,
    /// A person's decision about this ask.
    Ask(AskId),
}

impl<E: Effect> Permit<E> {
    /// What it is for.
    pub const fn effect(&self) -> &E {
        &self.effect
    }

    /// What it came from.
    pub const fn by(&self) -> PermittedBy {
        self.by
    }

    /// Uses the permit up, at the moment of use.
    ///
    /// # Errors
    /// [`Denied::Revoked`] after the turn, [`Denied::OtherEffect`] where the effect is not what was
    /// judged any more.
    pub fn spend(self) -> Result<E, Denied> {
        if !self.life.load(Ordering::SeqCst) {
            return Err(Denied::Revoked);
        }
        if self.effect.digest() != self.digest {
            return Err(Denied::OtherEffect);
        }
        Ok(self.effect)
    }
}

/// An effect that waits for a person.
#[must_use = "an effect that is dropped does not happen"]
pub struct Pending<E> {
    effect: E,
    digest: EffectDigest,
    ask: AskId,
    book: BookId,
    turn: TurnScope,
    life: Arc<AtomicBool>,
}

impl<E: Effect> Pending<E> {
    /// What waits.
    pub const fn effect(&self) -> &E {
        &self.effect
    }

    /// The ask that it waits for.
    pub const fn ask(&self) -> AskId {
        self.ask
    }

    /// Digest of the exact effect.
    pub const fn digest(&self) -> EffectDigest {
        self.digest
    }

    /// Makes a permit of a decision.
    ///
    /// # Errors
    /// What the decision says, where it is no [`Answer::Once`]; [`Denied::OtherEffect`] for a decision
    /// about anything else than this effect of this turn; [`Denied::Revoked`] after the turn.
    pub fn redeem(self, decision: Decision) -> Result<Permit<E>, Denied> {
        let Decision {
            book,
            ask,
            turn,
            digest,
            answer,
        } = decision;
        let fits = book == self.book
            && ask == self.ask
            && turn == *self.turn.turn()
            && digest == self.digest;
        if !fits {
            return Err(Denied::OtherEffect);
        }
        match answer {
            Answer::Once => {}
            Answer::Denied => return Err(Denied::ByPerson),
            Answer::TimedOut => return Err(Denied::TimedOut),
            Answer::Undelivered => return Err(Denied::Undelivered),
            Answer::Withdrawn => return Err(Denied::Revoked),
            Answer::Stopped => return Err(Denied::Stopped),
        }
        if !self.life.load(Ordering::SeqCst) {
            return Err(Denied::Revoked);
        }
        Ok(Permit {
            effect: self.effect,
            digest: self.digest,
            life: self.life,
            by: PermittedBy::Ask(ask),
        })
    }
}

/// What is said about an effect.
#[must_use]
pub enum Verdict<E> {
    /// The binding allows it.
    Allowed(Permit<E>),
    /// A person has to be asked.
    Asks(Pending<E>),
    /// No.
    Refused(Denied),
}

/// Says what may happen. [`found`] makes it.
#[derive(Debug)]
pub struct Judge {
    book: BookId,
}

/// Makes the one judge of a process and the book of its asks; a decision of another book is worth
/// nothing to it. Called once, where the process is put together.
#[must_use]
pub fn found() -> (Judge, AskBook) {
    let book = BookId::next();
    (Judge { book }, AskBook::new(book))
}

impl Judge {
    /// Begins a turn's life.
    #[must_use]
    pub fn begin_turn(&self) -> TurnLife {
        TurnLife(Arc::new(AtomicBool::new(true)))
    }

    /// Judges an effect of a call of a turn.
    pub fn judge<E: Effect>(
        &self,
        effect: E,
        scope: &TurnScope,
        life: &TurnLife,
        call: u32,
    ) -> Verdict<E> {
        if !life.lives() {
            return Verdict::Refused(Denied::Revoked);
        }
        let rule = match rule_of(&effect, scope) {
            Ok(rule) => rule,
            Err(no) => return Verdict::Refused(no),
        };
        let digest = effect.digest();
        match rule {
            Rule::Allow => Verdict::Allowed(Permit {
                effect,
                digest,
                life: Arc::clone(&life.0),
                by: PermittedBy::Policy,
            }),
            Rule::Ask if scope.origin() == Origin::Peer => Verdict::Refused(Denied::PeerNeverAsks),
            Rule::Ask => Verdict::Asks(Pending {
                effect,
                digest,
                ask: AskId::derive(scope.turn(), call),
                book: self.book,
                turn: scope.clone(),
                life: Arc::clone(&life.0),
            }),
        }
    }
}

enum Rule {
    Allow,
    Ask,
}

/// The policy's word on an effect. Workspace writes ask in every mode.
fn rule_of<E: Effect>(effect: &E, scope: &TurnScope) -> Result<Rule, Denied> {
    if !offered(scope).contains(&effect.tool()) {
        return Err(Denied::NotOffered);
    }
    let write_of = |name: &str| {
        let tools = scope.policy().tools.as_ref();
        let root = tools.and_then(|tools| tools.roots.iter().find(|root| root.name == name));
        root.map(|root| root.write).ok_or(Denied::UnknownRoot)
    };
    let subject = effect.subject();
    if let (Toolset::Workspace, Subject::Reads { root } | Subject::Changes { root }) =
        (effect.tool().toolset(), subject)
        && scope.workspace() != Some(root)
    {
        // A turn has one workspace; no call chooses another.
        return Err(Denied::UnknownRoot);
    }
    match subject {
        Subject::Web => Ok(Rule::Allow),
        Subject::Reads { root } => write_of(root).map(|_| Rule::Allow),
        Subject::Changes { root } => match (write_of(root)?, effect.tool()) {
            (RootWrite::No, _) => Err(Denied::RootReadonly),
            (RootWrite::Ask, ToolName::WriteFile | ToolName::EditFile) => {
                Err(Denied::WorkspaceOnly)
            }
            (RootWrite::Ask, _) => Ok(Rule::Ask),
            (RootWrite::Yes, _) => Ok(Rule::Allow),
        },
    }
}

#[cfg(test)]
mod tests;
