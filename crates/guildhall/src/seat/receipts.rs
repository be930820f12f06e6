//! Discord's answers in the connector's words.
//!
//! In: outcomes of the REST client. Out: receipts and what look-ups found. Never: a decision on what
//! comes next.

use guildhall_authority::{event::MessageText, place::Whereabouts};
use guildhall_binding::ids::DISCORD_EPOCH_MS;
use guildhall_binding::ids::{ChannelId, GuildId, MessageId, UserId};
use guildhall_connector::{
    ids::Nonce,
    input::{Found, HistoryPage, OwnMessage, Proof, ReadBack, Receipt, Refusal, Rest as Remainder},
    record::UnknownWhy,
    reply,
    turn::ReadReceipt,
};
use guildhall_discord::{
    Heard, Rest, TextFault,
    rest::{self, NotSent, Outcome, PAGE_MAX_COUNT, Page, Posted, Reason, Refused},
};
use std::time::Duration;

/// How long to stay away when the edge network in front of Discord turns us away.
const EDGE_WAIT: Duration = Duration::from_secs(60);
/// Pages that are read to find one message.
const READ_BACK_PAGES: usize = 5;
/// The read receipt.
const EYES: &str = "\u{1f440}";

/// What became of a post.
pub(crate) fn of_post(outcome: Outcome<Posted>) -> Receipt {
    match outcome {
        Outcome::Done(posted) => Receipt::Posted {
            message: posted.id,
            channel: posted.channel,
        },
        Outcome::Refused(no) => refused(no),
        Outcome::NotSent(not_sent) => Receipt::NotSent {
            wait_ms: wait_ms(not_sent),
        },
        Outcome::Unknown(rest::UnknownWhy::Server(_)) => Receipt::Unknown(UnknownWhy::ServerFault),
        Outcome::Unknown(_) => Receipt::Unknown(UnknownWhy::NoAnswer),
    }
}

fn wait_ms(not_sent: NotSent) -> u64 {
    u64::try_from(not_sent.retry_after.as_millis()).unwrap_or(u64::MAX)
}

fn refused(no: Refused) -> Receipt {
    let kind = match no.reason {
        Reason::UnknownMessage => return Receipt::PostedAndDeleted,
        Reason::UnknownReference | Reason::ReplyNeedsHistory => return Receipt::ReferenceGone,
        Reason::Edge => {
            let wait_ms = u64::try_from(EDGE_WAIT.as_millis()).unwrap_or(u64::MAX);
            return Receipt::NotSent { wait_ms };
        }
        Reason::Unauthorized => Refusal::Unauthorized,
        Reason::UnknownChannel
        | Reason::UnknownOther
        | Reason::NoAccess
        | Reason::NoPermission
        | Reason::Archived
        | Reason::Locked
        | Reason::ForumNeedsPost
        | Reason::Blocked => Refusal::NoAccess,
        Reason::TooLong
        | Reason::Empty
        | Reason::BadForm
        | Reason::Emoji
        | Reason::InteractionOver
        | Reason::ThreadExists
        | Reason::Moderated
        | Reason::Other => Refusal::Content,
    };
    Receipt::Refused {
        kind,
        code: code(no),
    }
}

fn code(no: Refused) -> Option<u64> {
    Some(if no.code == 0 {
        u64::from(no.status)
    } else {
        no.code
    })
}

/// Shows the eyes.
pub(crate) async fn eyes(rest: &Rest, channel: ChannelId, message: MessageId) -> ReadReceipt {
    match rest.react(channel, message, EYES).await {
        Outcome::Done(()) => ReadReceipt::Shown,
        Outcome::Refused(no) => ReadReceipt::Refused { code: code(no) },
        Outcome::NotSent(_) | Outcome::Unknown(_) => ReadReceipt::Unknown,
    }
}

fn found<T>(outcome: Outcome<T>) -> Found<T> {
    match outcome {
        Outcome::Done(value) => Found::Here(value),
        Outcome::Refused(no) if no.reason == Reason::Edge => Found::NoAnswer,
        Outcome::Refused(_) => Found::Nothing,
        Outcome::NotSent(_) | Outcome::Unknown(_) => Found::NoAnswer,
    }
}

/// Whether a channel id is a thread, and of which parent.
pub(crate) async fn whereabouts(
    rest: &Rest,
    guild: GuildId,
    channel: ChannelId,
) -> Found<Whereabouts> {
    match found(rest.channel(channel).await) {
        Found::Here(place) => {
            let ours = place.guild.is_none_or(|there| there == guild);
            let parent = place.parent.filter(|_| place.kind.is_thread() && ours);
            Found::Here(parent.map_or(Whereabouts::NoThread, Whereabouts::ThreadOf))
        }
        Found::Nothing => Found::Nothing,
        Found::NoAnswer => Found::NoAnswer,
    }
}

/// What a message says now.
pub(crate) async fn text(
    rest: &Rest,
    guild: GuildId,
    channel: ChannelId,
    message: MessageId,
) -> Found<Box<guildhall_authority::event::Said>> {
    match found(rest.message(channel, Some(guild), message).await) {
        Found::Here(heard) => Found::Here(Box::new(heard.said)),
        Found::Nothing => Found::Nothing,
        Found::NoAnswer => Found::NoAnswer,
    }
}

/// What a text file says that somebody attached.
pub(crate) async fn paste(rest: &Rest, url: &str) -> Found<MessageText> {
    match rest.fetch_text_attachment(url).await {
        Ok(text) => Found::Here(MessageText::new(text)),
        Err(TextFault::Unreachable) => Found::NoAnswer,
        Err(
            TextFault::ForeignHost | TextFault::TooLarge | TextFault::Gone | TextFault::NotText,
        ) => Found::Nothing,
    }
}

/// What was said after an id, oldest first.
pub(crate) async fn history(
    rest: &Rest,
    guild: GuildId,
    channel: ChannelId,
    after: u64,
) -> Found<HistoryPage> {
    match found(page_after(rest, guild, channel, after).await) {
        Found::Here((heard, remainder)) => {
            let said = heard.into_iter().map(|heard| heard.said).collect();
            Found::Here(HistoryPage {
                said,
                rest: remainder,
            })
        }
        Found::Nothing => Found::Nothing,
        Found::NoAnswer => Found::NoAnswer,
    }
}

async fn page_after(
    rest: &Rest,
    guild: GuildId,
    channel: ChannelId,
    after: u64,
) -> Outcome<(Vec<Heard>, Remainder)> {
    let Ok(after) = MessageId::from_number(after.max(1)) else {
        return Outcome::Done((Vec::new(), Remainder::Nothing));
    };
    match rest
        .messages(channel, Some(guild), Page::After(after), PAGE_MAX_COUNT)
        .await
    {
        Outcome::Done(mut heard) => {
            let full = heard.len() >= usize::from(PAGE_MAX_COUNT);
            heard.sort_by_key(|heard| heard.said.id);
            Outcome::Done((
                heard,
                if full {
                    Remainder::More
                } else {
                    Remainder::Nothing
                },
            ))
        }
        Outcome::Refused(no) => Outcome::Refused(no),
        Outcome::NotSent(not_sent) => Outcome::NotSent(not_sent),
        Outcome::Unknown(why) => Outcome::Unknown(why),
    }
}

/// One delivery that is looked for.
#[derive(Clone, Copy)]
pub(crate) struct Sought {
    pub(crate) guild: GuildId,
    pub(crate) bot: UserId,
    pub(crate) channel: ChannelId,
    pub(crate) after: Option<MessageId>,
    pub(crate) since_ms: i64,
}

/// What a channel shows after the message that a delivery replies to.
pub(crate) async fn read_back(rest: &Rest, sought: Sought) -> Found<ReadBack> {
    let mut own = Vec::new();
    let mut inbound_seen = false;
    let mut anything_seen = false;
    let mut whole = false;
    let mut after = match sought.after {
        Some(inbound) => inbound.get() - 1,
        // Five seconds of difference between two clocks are within reason.
        None => snowflake_at(u64::try_from(sought.since_ms - 5_000).unwrap_or(0)),
    };
    for _ in 0..READ_BACK_PAGES {
        let outcome = page_after(rest, sought.guild, sought.channel, after).await;
        if let Outcome::Refused(Refused {
            reason: Reason::UnknownChannel,
            ..
        }) = outcome
        {
            // The channel is gone, and everything in it.
            return Found::Here(ReadBack {
                proof: Proof::Whole,
                own: Vec::new(),
            });
        }
        let (heard, remainder) = match found(outcome) {
            Found::Here(page) => page,
            Found::Nothing => return Found::Nothing,
            Found::NoAnswer => return Found::NoAnswer,
        };
        after = heard
            .iter()
            .map(|heard| heard.said.id.get())
            .max()
            .unwrap_or(after);
        anything_seen |= !heard.is_empty();
        inbound_seen |= heard
            .iter()
            .any(|heard| Some(heard.said.id) == sought.after);
        let ours = heard
            .into_iter()
            .filter(|heard| heard.said.author.id == sought.bot);
        own.extend(
            ours.filter(|heard| Some(heard.said.id) != sought.after)
                .map(own_message),
        );
        if remainder == Remainder::Nothing {
            whole = true;
            break;
        }
    }
    let proof = match (whole, inbound_seen, sought.after) {
        (true, true, _) => Proof::Whole,
        (true, false, Some(inbound)) => deleted(rest, sought, inbound).await,
        // A page with something in it shows that the history may be read.
        (true, false, None) if anything_seen => Proof::Whole,
        (true, false, None) | (false, _, _) => Proof::Doubtful,
    };
    Found::Here(ReadBack { proof, own })
}

/// A page without the inbound message proves something only if that message is known to be gone:
/// Discord looks at the right to read history before it says so.
async fn deleted(rest: &Rest, sought: Sought, inbound: MessageId) -> Proof {
    match rest
        .message(sought.channel, Some(sought.guild), inbound)
        .await
    {
        Outcome::Refused(Refused {
            reason: Reason::UnknownMessage,
            ..
        }) => Proof::Whole,
        Outcome::Done(_) | Outcome::Refused(_) | Outcome::NotSent(_) | Outcome::Unknown(_) => {
            Proof::Doubtful
        }
    }
}

fn own_message(heard: Heard) -> OwnMessage {
    OwnMessage {
        id: heard.said.id,
        replies_to: heard.said.replies_to,
        nonce: heard
            .nonce
            .as_deref()
            .and_then(|nonce| nonce.parse::<Nonce>().ok()),
        text: reply::digest_text(heard.said.text.as_str()),
    }
}

fn snowflake_at(unix_ms: u64) -> u64 {
    unix_ms.saturating_sub(DISCORD_EPOCH_MS) << 22
}
