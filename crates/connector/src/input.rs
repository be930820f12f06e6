//! What the connector is told.
//!
//! In: nothing; the driver makes these values. Out: one closed enum. Every input about a turn, a
//! part or a look-up carries its id; one that fits nothing that is open is counted and ignored.

use crate::{
    ids::{Nonce, RowId},
    record::UnknownWhy,
    run::RunEvent,
    turn::ReadReceipt,
};
use guildhall_authority::{
    ask::{Answer, AskId, AskSpec},
    call::{CallBegun, CallEnded},
    event::{Deleted, Edited, MessageText, Said},
    place::Whereabouts,
};
use guildhall_binding::{
    Policy,
    ids::{ChannelId, MessageId, UserId},
};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The process is up; comes once, before anything else.
    Started(Start),
    /// The link to Discord changed.
    Link(Link),
    /// A message arrived.
    Said(Box<Said>),
    /// A message was edited.
    Edited(Box<Edited>),
    /// A message was deleted.
    Deleted(Deleted),
    /// A message of our own came back over the gateway.
    Echoed(Echo),
    /// A look-up ended.
    Learned(Learned),
    /// One post ended.
    Sent(Nonce, Receipt),
    /// The read receipt of a turn's message ended.
    Eyes(RowId, ReadReceipt),
    /// An engine's run moved.
    Run(RowId, RunEvent),
    /// The operator ordered something.
    Ordered(Order),
    /// Whether the disk has room for more work.
    Journal(Room),
    /// A call of a turn needs a person's permission.
    Asked(AskSpec),
    /// The call that asked does not wait any more.
    AskGone(AskId),
    /// Somebody pressed a button.
    Pressed(Press),
    /// A call is about to change something.
    CallBegins(CallBegun),
    /// A call ended that had begun, or one was refused that a person had allowed.
    CallEnds(CallEnded),
    /// One edit of a card ended.
    CardEdited(AskId, Receipt),
    /// The deadline came.
    Tick,
}

/// What the driver read before anything else. `Debug` shows no text.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Start {
    /// Parts that stood in the spool, by nonce.
    pub spool: BTreeMap<Nonce, String>,
    /// Newest message that was looked at, by place; a hint that may be older than the truth.
    pub cursors: BTreeMap<ChannelId, MessageId>,
    /// Messages that lately left a drop line; a hint, so that no second one is written.
    pub dropped: Vec<MessageId>,
}

impl fmt::Debug for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spooled = self.spool.len();
        write!(f, "Start({spooled} parts, {:?})", self.cursors)
    }
}

/// The link to Discord.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// A fresh session: what was said before it is not replayed.
    Ready,
    /// The old session goes on: what was missed is replayed.
    Resumed,
    /// The guild's threads as they stand now, with the newest message of each.
    Guild(Vec<KnownThread>),
    /// A channel id is a thread of this parent, or none.
    Place(ChannelId, Whereabouts),
    /// The link is down; it is being mended.
    Down,
}

/// An active thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownThread {
    /// The thread.
    pub id: ChannelId,
    /// Its parent.
    pub parent: ChannelId,
    /// Its newest message, where it has one.
    pub newest: Option<MessageId>,
}

/// A message of our own, with the nonce it was posted under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// Its nonce; absent where it has none that could be ours.
    pub nonce: Option<Nonce>,
    /// The message.
    pub message: MessageId,
    /// Where it stands.
    pub channel: ChannelId,
}

/// How one post ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// Discord answered with this message, standing in this channel.
    Posted {
        /// The message.
        message: MessageId,
        /// Where it stands: of another channel, it is not ours.
        channel: ChannelId,
    },
    /// Discord knows the nonce, and its message was deleted.
    PostedAndDeleted,
    /// Discord does not know the message that this one replies to; nothing was posted.
    ReferenceGone,
    /// Discord will not have it.
    Refused {
        /// Which kind of "no".
        kind: Refusal,
        /// Discord's error code, where it gave one.
        code: Option<u64>,
    },
    /// Nothing was sent: no connection, or a rate limit. Free to try again.
    NotSent {
        /// Not before this many milliseconds.
        wait_ms: u64,
    },
    /// It may have been posted.
    Unknown(UnknownWhy),
}

/// Which kind of "no" Discord gave to a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The place is gone, or the bot may not post there: another line would fare no better.
    NoAccess,
    /// This content is not taken.
    Content,
    /// The token is not accepted.
    Unauthorized,
}

/// A look-up that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Learned {
    /// Whether a channel id is a thread, and of which parent.
    Whereabouts(ChannelId, Found<Whereabouts>),
    /// What a row's message says now.
    Text(RowId, Found<Box<Said>>),
    /// What the text file says that a row's message brought.
    Paste(RowId, Found<MessageText>),
    /// What was said in a place after a cursor, oldest first.
    History(ChannelId, Found<HistoryPage>),
    /// What stands in a channel after the message that a delivery replies to.
    ReadBack(Nonce, Found<ReadBack>),
    /// What a file holds that a call was to write.
    File(RowId, u32, Found<FileSeen>),
}

/// The answer to a look-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<T> {
    /// This.
    Here(T),
    /// Discord says that it is not there, or not for us to see.
    Nothing,
    /// No answer; ask again later.
    NoAnswer,
}

/// What a file holds that a call was to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSeen {
    /// What the call was to leave there.
    AsMeant,
    /// Something else.
    Otherwise,
}

/// A pressed button. `Debug` hides the token.
#[derive(Clone, PartialEq, Eq)]
pub struct Press {
    /// The interaction's id.
    pub interaction: u64,
    /// What answers it; secret, worth fifteen minutes.
    pub token: String,
    /// Who pressed.
    pub who: UserId,
    /// Where the card stands.
    pub channel: ChannelId,
    /// The card.
    pub message: MessageId,
    /// The button's id, as it came.
    pub custom_id: String,
}

impl fmt::Debug for Press {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, who, message) = (self.interaction, self.who, self.message);
        write!(f, "Press({id} by {who} on {message})")
    }
}

/// One page of a place's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryPage {
    /// Messages, oldest first.
    pub said: Vec<Said>,
    /// Whether there is more after the last of them.
    pub rest: Rest,
}

/// Whether a page was the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// There is more.
    More,
    /// That was all.
    Nothing,
}

/// What a channel shows after the message that a delivery replies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadBack {
    /// Whether the page can prove that something is absent.
    pub proof: Proof,
    /// Own messages, oldest first.
    pub own: Vec<OwnMessage>,
}

/// Whether a page can prove that something is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// It is whole from the inbound message on, or that message is known to be deleted.
    Whole,
    /// It may lack something: no right to read history looks like an empty channel.
    Doubtful,
}

/// A message of our own in a channel's history. `Debug` shows no text.
#[derive(Clone, PartialEq, Eq)]
pub struct OwnMessage {
    /// The message.
    pub id: MessageId,
    /// The message that it replies to.
    pub replies_to: Option<MessageId>,
    /// Its nonce, where Discord shows one.
    pub nonce: Option<Nonce>,
    /// Its text, without white space and controls.
    pub text: String,
}

impl fmt::Debug for OwnMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, bytes) = (self.id, self.text.len());
        write!(f, "OwnMessage({id}, {bytes} bytes, {:?})", self.nonce)
    }
}

/// What an operator orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Start nothing more, finish what runs, then exit.
    Drain,
    /// Use this policy from the next decision on.
    Reload(Arc<Policy>, ReloadNote),
    /// A reload was refused; the policy stays.
    ReloadRefused(ReloadNote),
    /// Withdraw a row that waits.
    Cancel(RowId),
    /// End a turn that runs.
    Abort(RowId),
    /// Settle a delivery by hand: a person looked.
    Settle(Nonce, Verdict),
    /// Answer an ask from the terminal: once or denied; anything else is ignored.
    Decide(AskId, Answer),
}

/// What the reload's record says.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ReloadNote {
    /// SHA-256 of the file, where it could be read.
    pub file: Option<String>,
    /// What changed, or why not.
    pub lines: Vec<String>,
}

/// What a person saw in the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It stands there, as this message.
    There(MessageId),
    /// It does not stand there.
    NotThere,
}

/// Whether the disk has room for more work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Room {
    /// It has.
    #[default]
    Enough,
    /// What was accepted may finish; nothing new is accepted.
    None,
}
