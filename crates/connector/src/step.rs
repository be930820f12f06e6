//! What the connector answers: one step for each input.
//!
//! In: nothing; the connector makes these values. Out: what may start now, one durable group, and
//! what may start once that group and every earlier one is on disk. Never: an order that only the
//! driver knows.

use crate::{
    ids::{Nonce, Route, RowId},
    line::Line,
    record::{DropLine, Record},
    run::Prompt,
};
use guildhall_authority::{
    ask::{AskId, Decision},
    scope::TurnScope,
};
use guildhall_binding::ids::{ChannelId, MessageId, UserId};

/// One decision.
#[derive(Debug, PartialEq, Eq, Default)]
#[must_use = "a step that is not carried out is work that is lost"]
pub struct Step {
    /// May start now: needs nothing on disk.
    pub at_once: Vec<Command>,
    /// Becomes one durable group.
    pub commit: Vec<Record>,
    /// Is made durable in the spool beside that group.
    pub spool: Vec<SpoolEntry>,
    /// Starts once the group and every earlier one is durable.
    pub after: Vec<Command>,
}

/// One part of a reply, kept until its row is settled.
#[derive(Clone, PartialEq, Eq)]
pub struct SpoolEntry {
    /// Whose.
    pub row: RowId,
    /// Which part, from 1.
    pub part: u32,
    /// The nonce it is posted under.
    pub nonce: Nonce,
    /// The text.
    pub text: String,
}

impl std::fmt::Debug for SpoolEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "SpoolEntry({} part {}, {} bytes)",
            self.row,
            self.part,
            self.text.len()
        )
    }
}

/// One thing to do. It cannot be copied, since a decision cannot.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// Post to Discord, one exchange; its end comes back as `Sent`.
    Post(Post),
    /// Show the eyes; its end comes back as `Eyes`.
    React {
        /// The turn.
        row: RowId,
        /// Where.
        channel: ChannelId,
        /// The message.
        message: MessageId,
    },
    /// Show that somebody types; nothing comes back.
    Type(ChannelId),
    /// Look something up; its end comes back as `Learned`.
    LookUp(LookUp),
    /// Start the engine on a turn.
    Start(StartRun),
    /// End a turn's run.
    Abort(RowId),
    /// Write a drop line that need not be synced.
    Drop(DropLine),
    /// The spool may forget this row's parts.
    Forget(RowId),
    /// Connect to the gateway: what was open is reconciled.
    Connect,
    /// End the process.
    Exit(Exit),
    /// Tell the operator, by a line in the log.
    Tell(Tell),
    /// Give this decision to the call that waits for it.
    Decide(Decision),
    /// It is on disk that this call begins: it may.
    Begin {
        /// Whose turn.
        turn: RowId,
        /// Which call.
        call: u32,
    },
    /// Show on a card how its ask ended; its end comes back as `CardEdited`.
    EditCard(CardEdit),
    /// Answer a pressed button; nothing comes back.
    AnswerPress(PressAnswer),
}

/// One post.
#[derive(Clone, PartialEq, Eq)]
pub struct Post {
    /// Under this nonce.
    pub nonce: Nonce,
    /// Where.
    pub channel: ChannelId,
    /// What.
    pub content: String,
    /// The message that it replies to.
    pub reply_to: Option<MessageId>,
    /// What makes it a card.
    pub card: Option<CardParts>,
}

impl std::fmt::Debug for Post {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Post({:?} in {}, {} bytes)",
            self.nonce,
            self.channel,
            self.content.len()
        )
    }
}

/// What a card has beside its text.
#[derive(Clone, PartialEq, Eq)]
pub struct CardParts {
    /// The ask that its buttons decide.
    pub ask: AskId,
    /// The only people whose mention in it counts.
    pub mentions: Vec<UserId>,
    /// What the card does not show as it is, exactly: the content, the rest of the request.
    pub attachments: Vec<Attachment>,
}

impl std::fmt::Debug for CardParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes: Vec<_> = self.attachments.iter().map(|it| it.text.len()).collect();
        write!(f, "CardParts({}, attached {bytes:?})", self.ask)
    }
}

/// A text file beside a card.
#[derive(Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Its name.
    pub name: String,
    /// The text.
    pub text: String,
}

/// A card's last words.
#[derive(Clone, PartialEq, Eq)]
pub struct CardEdit {
    /// The ask.
    pub ask: AskId,
    /// Where the card stands.
    pub channel: ChannelId,
    /// The card.
    pub message: MessageId,
    /// What it says now; it has no buttons any more.
    pub content: String,
}

impl std::fmt::Debug for CardEdit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (ask, message, bytes) = (self.ask, self.message, self.content.len());
        write!(f, "CardEdit({ask}, {message}, {bytes} bytes)")
    }
}

/// The answer to a press. `Debug` hides the token.
#[derive(Clone, PartialEq, Eq)]
pub struct PressAnswer {
    /// The interaction's id.
    pub interaction: u64,
    /// What answers it; secret.
    pub token: String,
    /// How.
    pub how: PressHow,
}

impl std::fmt::Debug for PressAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PressAnswer({}, {:?})", self.interaction, self.how)
    }
}

/// How a press is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PressHow {
    /// It counts; the card will show it.
    Deferred,
    /// A line that only the one who pressed sees.
    Private(Line),
}

/// One look-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookUp {
    /// Is this channel id a thread, and of which parent?
    Whereabouts(ChannelId),
    /// What does the row's message say?
    Text {
        /// The row.
        row: RowId,
        /// Where its message stands.
        channel: ChannelId,
        /// The message.
        message: MessageId,
    },
    /// What does the text file say that the row's message brought?
    Paste {
        /// The row.
        row: RowId,
        /// Where the file lies.
        url: String,
    },
    /// What was said in a place after this message, oldest first?
    History {
        /// The place.
        channel: ChannelId,
        /// After this id, which need not exist.
        after: u64,
    },
    /// What stands in a channel after a message?
    ReadBack {
        /// The delivery in doubt.
        nonce: Nonce,
        /// Its channel.
        channel: ChannelId,
        /// The message that it answers.
        after: Option<MessageId>,
        /// When it was intended, in milliseconds since the Unix epoch.
        since_ms: i64,
    },
    /// Does a file hold what a call was to write, which a dead process had begun?
    File {
        /// Whose turn.
        turn: RowId,
        /// Which call.
        call: u32,
        /// The root's name.
        root: String,
        /// The file's path in it.
        path: String,
        /// Hex SHA-256 of what was to be written.
        after: String,
    },
}

/// One run to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartRun {
    /// The turn.
    pub turn: RowId,
    /// Whose session it continues.
    pub route: Route,
    /// What is asked.
    pub prompt: Prompt,
    /// What it may do.
    pub scope: TurnScope,
}

/// Why the process ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It was told to, and nothing is under way.
    Drained,
    /// These deliveries cannot be settled without a person.
    Unresolved(Vec<Nonce>),
    /// Discord does not accept the token any more.
    Unauthorized,
}

/// What an operator should hear. Ids and counts only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tell {
    /// Discord refused a part of a reply.
    DeliveryRefused(Nonce, Option<u64>),
    /// A message of ours carries a nonce that nobody here intended: another process uses the token.
    Twin(MessageId),
    /// A route is paused since a row is of a kind that this program does not know.
    RoutePaused(Route),
    /// Discord answered a nonce with a message of another channel.
    WrongReceipt(Nonce),
    /// A place could not be read while catching up.
    NotCaughtUp(ChannelId),
    /// More was said while the link was down than is read back.
    CatchUpCut(ChannelId),
    /// A delivery cannot be settled without a person.
    Stuck(Nonce),
}
