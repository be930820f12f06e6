//! What must hold, by name, and what a run found against it.
//!
//! In: nothing; the machine makes these values. Out: one closed list. Never: the text of a message.

use std::fmt;

macro_rules! invariants {
    ($($(#[$doc:meta])* $name:ident = $side:ident $code:literal,)*) => {
        /// Something that must hold.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Invariant { $($(#[$doc])* $name,)* }

        impl Invariant {
            /// A few words.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// Who can see that it is broken.
            #[must_use]
            pub const fn side(self) -> Side {
                match self { $(Self::$name => Side::$side,)* }
            }
        }
    };
}

/// Who can see that an invariant is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Somebody on Discord, the engine, or a reader of the turn records and drop lines.
    Outward,
    /// Only somebody who looks into the machine.
    Inward,
}

invariants! {
    /// Nobody who is not listed reaches the engine, from nowhere that is not listed.
    Stranger = Outward "a stranger reaches nothing",
    /// A message that was not taken leaves one line.
    DropLine = Outward "one line for each message that is not taken",
    /// A message that had to be taken was.
    Lost = Outward "nothing is lost",
    /// What was taken came to its end as it had to.
    Answered = Outward "each taken message is answered in full or told why not",
    /// Nothing is posted twice.
    Doubled = Outward "nothing is posted twice",
    /// One message is not answered in two ways.
    Contradicted = Outward "one answer or one line, not both",
    /// Parts stand in their order.
    PartOrder = Outward "parts stand in order",
    /// The engine runs a message once.
    RunTwice = Outward "the engine runs a message once",
    /// What a receipt says is true.
    Receipt = Outward "receipts are true",
    /// Rows of a route run one at a time, first in first out.
    RouteOrder = Outward "one row of a route at a time, in order",
    /// Under a brake nothing new starts.
    Brake = Outward "nothing starts under a brake",
    /// An edit or a delete before the turn counts.
    Stale = Outward "edits and deletes before the turn count",
    /// No more turns a day than the binding allows, and each notice once.
    Ceiling = Outward "the day's ceiling and its notices hold",
    /// Nothing is caught up from before a channel was served.
    BeforeServed = Outward "nothing from before a channel was served",
    /// One turn record for each claimed row.
    TurnRecord = Outward "one turn record for each claimed row",
    /// A message of the seat's own is not taken for that of another process.
    Twin = Outward "no twin is seen where there is none",
    /// One decision for each ask, by somebody who may decide; no effect without it.
    Decision = Outward "one decision for each ask, by somebody who may",
    /// Each card ends with what became of its ask.
    Card = Outward "each card ends with what became of its ask",
    /// Intents and claims are durable before their effects.
    WriteOrder = Inward "durable before its effect",
    /// The fold of the records is the state.
    Fold = Inward "the records add up to the state",
    /// No record holds a text.
    TextOnDisk = Inward "no record holds a text",
    /// Nothing is left over when all is quiet.
    LeftOver = Inward "nothing is left over when all is quiet",
    /// Work ends.
    Restless = Inward "work comes to rest",
    /// The connector does not panic.
    Panic = Inward "no panic",
}

/// One invariant that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub invariant: Invariant,
    /// When, in milliseconds since the run began.
    pub at_ms: u64,
    /// About what.
    pub about: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (code, at) = (self.invariant.code(), self.at_ms);
        write!(f, "[{at:>8} ms] {code}: {}", self.about)
    }
}
