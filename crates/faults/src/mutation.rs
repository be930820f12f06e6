//! Safeguards that can be taken away, to see whether anybody would notice.
//!
//! In: a record, on its way to the disk. Out: whether it gets there. The other mutations are asked
//! for where they act. Never: more than one at a time.

use guildhall_connector::record::{
    AdmissionRecord, ApprovalRecord, CallRecord, InboxRecord, NoticeRecord, OutboxRecord, Record,
    RowRecord,
};

macro_rules! mutations {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// One safeguard that is missing.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Mutation { $($(#[$doc])* $name,)* }

        impl Mutation {
            /// Every mutation, for the table.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// What is missing, in a few words.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }
        }
    };
}

mutations! {
    /// `seen` never reaches the disk.
    Seen = "record seen",
    /// `admitted` never reaches the disk.
    Admitted = "record admitted",
    /// `queued` never reaches the disk.
    Queued = "record queued",
    /// `claimed` never reaches the disk.
    Claimed = "record claimed",
    /// `answered` never reaches the disk.
    Answered = "record answered",
    /// `settled` never reaches the disk.
    Settled = "record settled",
    /// `intent` never reaches the disk.
    Intent = "record intent",
    /// `confirmed` never reaches the disk.
    Confirmed = "record confirmed",
    /// `refused` never reaches the disk.
    Refused = "record refused",
    /// `unknown` never reaches the disk.
    Unknown = "record unknown",
    /// `attempted` never reaches the disk.
    Notice = "record attempted",
    /// `served` never reaches the disk.
    Served = "record served",
    /// `started` never reaches the disk.
    Started = "record started",
    /// The spool is empty at each start.
    SpoolLost = "spool",
    /// Each post carries a nonce of its own.
    FreshNonce = "derived nonce",
    /// Discord does not enforce nonces.
    NotEnforced = "enforced nonce",
    /// What was seen is forgotten at each start.
    NothingSeen = "duplicate guard",
    /// A read-back shows a whole page with nothing on it.
    BlindReadBack = "read-back",
    /// A post starts before its intent is durable.
    PostEarly = "post after its intent",
    /// A run starts before its claim is durable.
    StartEarly = "run after its claim",
    /// Part 2 is posted together with part 1.
    PartTwoEarly = "part 2 after part 1",
    /// History shows nothing.
    EmptyCatchUp = "catch-up",
    /// `opened` never reaches the disk.
    Opened = "record opened",
    /// `posted` never reaches the disk.
    CardPosted = "record posted",
    /// `decided` never reaches the disk.
    Decided = "record decided",
    /// `begun` never reaches the disk.
    Begun = "record begun",
    /// A decision is given before it is durable.
    DecideEarly = "decision after its record",
    /// A call begins before that is durable.
    BeginEarly = "call after its record",
    /// Whoever presses a button counts as an operator.
    AnybodyPresses = "operators alone decide",
}

impl Mutation {
    /// Whether its absence can show from outside; `docs/faults.md` says why where it cannot.
    #[must_use]
    pub const fn is_seen_outside(self) -> bool {
        let silent = matches!(self, Self::Unknown | Self::Started);
        !silent && !matches!(self, Self::CardPosted | Self::DecideEarly)
    }

    /// Whether a record does not reach the disk.
    pub(crate) const fn drops(self, record: &Record) -> bool {
        match (self, record) {
            (Self::Seen, Record::Inbox(InboxRecord::Seen { .. }))
            | (Self::Admitted, Record::Admissions(AdmissionRecord::Admitted { .. }))
            | (Self::Notice, Record::Notices(NoticeRecord::Attempted { .. })) => true,
            (_, Record::Rows(record)) => self.drops_row(record),
            (_, Record::Outbox(record)) => self.drops_outbox(record),
            (Self::Opened, Record::Approvals(ApprovalRecord::Opened { .. }))
            | (Self::CardPosted, Record::Approvals(ApprovalRecord::Posted { .. }))
            | (Self::Decided, Record::Approvals(ApprovalRecord::Decided { .. }))
            | (Self::Begun, Record::Calls(CallRecord::Begun { .. })) => true,
            (_, Record::Inbox(_) | Record::Admissions(_) | Record::Notices(_))
            | (_, Record::Drops(_) | Record::Reloads(_) | Record::Turns(_))
            | (_, Record::Approvals(_) | Record::Calls(_)) => false,
        }
    }

    const fn drops_row(self, record: &RowRecord) -> bool {
        match record {
            RowRecord::Started { .. } => matches!(self, Self::Started),
            RowRecord::Served { .. } => matches!(self, Self::Served),
            RowRecord::Queued { .. } => matches!(self, Self::Queued),
            RowRecord::Claimed { .. } => matches!(self, Self::Claimed),
            RowRecord::Answered { .. } => matches!(self, Self::Answered),
            RowRecord::Settled { .. } => matches!(self, Self::Settled),
            RowRecord::Spent { .. } | RowRecord::RoutePaused { .. } => false,
        }
    }

    const fn drops_outbox(self, record: &OutboxRecord) -> bool {
        match record {
            OutboxRecord::Intent { .. } => matches!(self, Self::Intent),
            OutboxRecord::Confirmed { .. } => matches!(self, Self::Confirmed),
            OutboxRecord::Refused { .. } => matches!(self, Self::Refused),
            OutboxRecord::Unknown { .. } => matches!(self, Self::Unknown),
        }
    }
}
