//! Calls that change something: messages, reactions, typing, threads, answers to presses.
//!
//! In: what to post and where. Out: an [`Outcome`] each. Never: a message without a nonce that is
//! enforced, a message or an edit that pings somebody who was not named, a thread that is private
//! by default.

use super::{
    Outcome, Reason, Rest, answer,
    content::{Content, Form, Upload},
    route::Route,
};
use crate::{
    http::Answer,
    interaction::InteractionId,
    place::Place,
    said,
    secret::InteractionToken,
    wire::objects::{Channel, Message},
};
use guildhall_authority::event::Said;
use guildhall_binding::ids::{ApplicationId, ChannelId, MessageId};
use serde_json::{Value, json};

/// Longest nonce, in characters. Source: Discord API reference, Create Message, field `nonce`.
pub const NONCE_MAX_CHARS: usize = 25;
/// Kind number of a public thread; without it a thread is private.
const PUBLIC_THREAD: u64 = 11;
/// Longest name of a thread, in characters. Source: Discord API reference, Start Thread.
const THREAD_NAME_MAX_CHARS: usize = 100;
/// Flag of an answer that only the presser sees.
const EPHEMERAL: u64 = 1 << 6;

/// What makes a repeated post harmless: of one bot, each message has its own. It is 1 to 25 visible
/// ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nonce(String);

impl Nonce {
    /// Checks a nonce.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let fits = (1..=NONCE_MAX_CHARS).contains(&text.len());
        (fits && text.bytes().all(|b| b.is_ascii_graphic())).then(|| Self(text.to_owned()))
    }

    /// The nonce as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a post replies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing.
    No,
    /// This message; where it is gone, the post stands by itself.
    To(MessageId),
    /// The same, when nothing can have been posted with this nonce before: then "unknown message"
    /// can only mean the one that is replied to, and the post goes out without it.
    FirstTo(MessageId),
}

impl Reply {
    /// Whether a refusal is about the reference alone: nothing was posted because of it.
    fn is_refused_by(self, reason: Reason) -> bool {
        let about_the_reply =
            matches!(reason, Reason::UnknownReference | Reason::ReplyNeedsHistory);
        about_the_reply || (reason == Reason::UnknownMessage && matches!(self, Self::FirstTo(_)))
    }
}

/// A message that stands in Discord, as its answer told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    /// Its id.
    pub id: MessageId,
    /// Where it stands: a repeat with the same nonce answers the earlier message, wherever it is.
    pub channel: ChannelId,
    /// The message as Discord stored it, where its author could be read.
    pub said: Option<Said>,
    /// Its nonce.
    pub nonce: Option<String>,
}

/// How a press is answered. Source: Discord API reference, "Interaction Callback Type".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Press<'a> {
    /// Nothing is shown; the card is edited later.
    Deferred,
    /// A line that only the presser sees.
    Private(&'a str),
}

impl Rest {
    /// Posts a message. A repeat with the same nonce within some minutes answers the message that
    /// the first one made. One exchange, or a second one without the reference where Discord said
    /// that nothing was posted because of it.
    ///
    /// # Cancel safety
    /// A dropped future leaves it open whether the message was posted.
    pub async fn create_message(
        &self,
        channel: ChannelId,
        content: Content<'_>,
        nonce: &Nonce,
        reply: Reply,
    ) -> Outcome<Posted> {
        self.create(channel, content, &[], nonce, reply).await
    }

    /// The same with files attached. Where a file is refused, nothing is posted.
    ///
    /// # Cancel safety
    /// A dropped future leaves it open whether the message was posted.
    pub async fn create_message_with_files(
        &self,
        channel: ChannelId,
        content: Content<'_>,
        files: &[Upload<'_>],
        nonce: &Nonce,
        reply: Reply,
    ) -> Outcome<Posted> {
        self.create(channel, content, files, nonce, reply).await
    }

    async fn create(
        &self,
        channel: ChannelId,
        content: Content<'_>,
        files: &[Upload<'_>],
        nonce: &Nonce,
        reply: Reply,
    ) -> Outcome<Posted> {
        let mut body = content.body();
        body["nonce"] = json!(nonce.as_str());
        body["enforce_nonce"] = json!(true);
        let route = |body: &Value| match files {
            [] => Route::create_message(channel).with(body),
            _ => Route::create_message(channel).with_form(Form::of(body.clone(), files)),
        };
        let post = async |route| {
            self.call(route, |answer| self.posted(answer, channel))
                .await
        };
        let message = match reply {
            Reply::No => return post(route(&body)).await,
            Reply::To(message) | Reply::FirstTo(message) => message,
        };
        body["message_reference"] = json!({
            "message_id": message,
            "fail_if_not_exists": false,
        });
        let outcome = post(route(&body)).await;
        if let Outcome::Refused(no) = &outcome
            && reply.is_refused_by(no.reason)
        {
            tracing::debug!(%channel, code = no.code, "posting without the reference");
            if let Some(fields) = body.as_object_mut() {
                fields.remove("message_reference");
            }
            return post(route(&body)).await;
        }
        outcome
    }

    /// Edits one of the bot's own messages: text, pings and buttons are replaced, and what is
    /// attached to it stays.
    ///
    /// # Cancel safety
    /// A dropped future leaves it open whether the message was edited; an edit can be repeated.
    pub async fn edit_message(
        &self,
        channel: ChannelId,
        message: MessageId,
        content: Content<'_>,
    ) -> Outcome<Posted> {
        let route = Route::edit_message(channel, message).with(&content.body());
        self.call(route, |answer| self.posted(answer, channel))
            .await
    }

    /// Reacts with an emoji: a character, or `name:id` of one of the server's own.
    ///
    /// # Cancel safety
    /// A dropped future leaves it open whether the reaction is there; it can be repeated.
    pub async fn react(&self, channel: ChannelId, message: MessageId, emoji: &str) -> Outcome<()> {
        self.call(Route::react(channel, message, emoji), |_| Some(()))
            .await
    }

    /// Shows the bot as typing for ten seconds, or until it posts.
    ///
    /// # Cancel safety
    /// A dropped future leaves it open whether it shows.
    pub async fn typing(&self, channel: ChannelId) -> Outcome<()> {
        self.call(Route::typing(channel), |_| Some(())).await
    }

    /// Opens a public thread that stands on no message. The name is cut at 100 characters. There
    /// is no nonce: after an unknown end, look for the thread before trying again.
    ///
    /// # Cancel safety
    /// A dropped future leaves it open whether the thread was made.
    pub async fn create_thread(&self, channel: ChannelId, name: &str) -> Outcome<Place> {
        let name: String = name.chars().take(THREAD_NAME_MAX_CHARS).collect();
        let body = json!({ "name": name, "type": PUBLIC_THREAD });
        let route = Route::create_thread(channel).with(&body);
        self.call(route, |answer| {
            let channel: Channel<'_> = answer::json(answer)?.object()?;
            Place::read(&channel)
        })
        .await
    }

    /// Answers a press. Discord takes one answer, within three seconds; after that the call ends by
    /// itself. No limit of a channel, and none over all routes, holds it back.
    ///
    /// # Cancel safety
    /// A dropped future leaves it open whether the press was answered.
    pub async fn answer_press(
        &self,
        id: InteractionId,
        token: &InteractionToken,
        press: Press<'_>,
    ) -> Outcome<()> {
        let body = match press {
            Press::Deferred => json!({ "type": 6 }),
            Press::Private(text) => json!({ "type": 4, "data": private(text) }),
        };
        let route = Route::interaction_callback(id.get(), token).with(&body);
        self.call(route, |_| Some(())).await
    }

    /// Says a line to the presser alone, within fifteen minutes of an answered press. There is no
    /// nonce: a repeat says it twice.
    ///
    /// # Cancel safety
    /// A dropped future leaves it open whether the line was said.
    pub async fn follow_up(
        &self,
        application: ApplicationId,
        id: InteractionId,
        token: &InteractionToken,
        text: &str,
    ) -> Outcome<()> {
        let route = Route::follow_up(application, id.get(), token).with(&private(text));
        self.call(route, |_| Some(())).await
    }

    /// An answer without a channel stands in the one that was asked; one with another says so.
    fn posted(&self, answer: &Answer, asked: ChannelId) -> Option<Posted> {
        let message: Message<'_> = answer::json(answer)?.object()?;
        let heard = said::heard(&message, None, self.lens());
        let nonce = message.nonce.text().map(Into::into);
        Some(Posted {
            id: message.id.id()?,
            channel: message.channel_id.id().unwrap_or(asked),
            nonce: heard
                .as_ref()
                .and_then(|heard| heard.nonce.clone())
                .or(nonce),
            said: heard.map(|heard| heard.said),
        })
    }
}

fn private(text: &str) -> Value {
    json!({ "content": text, "flags": EPHEMERAL, "allowed_mentions": { "parse": [] } })
}
