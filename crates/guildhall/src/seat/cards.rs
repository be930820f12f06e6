//! Cards: the post of an ask, the words that end it, the answer to a press.
//!
//! In: what the connector composed. Out: receipts in its words. Never: a text of a card's own, a
//! button that belongs to another ask, a token of an interaction in a log.

use super::receipts;
use guildhall_connector::{
    input::{Receipt, Refusal},
    step::{CardEdit, Post, PressAnswer, PressHow},
};
use guildhall_discord::{
    InteractionId, InteractionToken, Rest,
    rest::{self, Button, Content, Nonce, Outcome, Posted, Reply, Upload},
};

/// Posts, once: a text, or a card with its buttons and what it attaches.
pub(super) async fn post(rest: &Rest, post: &Post) -> Receipt {
    const UNFIT: Receipt = Receipt::Refused {
        kind: Refusal::Content,
        code: None,
    };
    let Some(nonce) = Nonce::parse(post.nonce.as_str()) else {
        return UNFIT;
    };
    let reply = post.reply_to.map_or(Reply::No, Reply::To);
    let Some(card) = &post.card else {
        let content = Content::text(&post.content);
        let outcome = rest.create_message(post.channel, content, &nonce, reply);
        return receipts::of_post(outcome.await);
    };
    let buttons = [Button::once_and_deny(card.ask)];
    let content = Content {
        text: &post.content,
        pings: &card.mentions,
        buttons: &buttons,
    };
    let files = card.attachments.iter();
    let files: Result<Vec<_>, _> = files
        .map(|file| Upload::new(&file.name, &file.text))
        .collect();
    // Without the exact content nobody could know what they allow.
    let Ok(files) = files else { return UNFIT };
    let outcome = rest
        .create_message_with_files(post.channel, content, &files, &nonce, reply)
        .await;
    receipts::of_post(outcome)
}

/// Shows on a card how its ask ended.
pub(super) async fn edit(rest: &Rest, edit: &CardEdit) -> Receipt {
    let content = Content::text(&edit.content);
    let outcome: Outcome<Posted> = rest.edit_message(edit.channel, edit.message, content).await;
    match outcome {
        // An edit has no reference: what is unknown is the card itself.
        Outcome::Refused(no) if no.reason == rest::Reason::UnknownMessage => {
            Receipt::PostedAndDeleted
        }
        outcome @ (Outcome::Done(_)
        | Outcome::Refused(_)
        | Outcome::NotSent(_)
        | Outcome::Unknown(_)) => receipts::of_post(outcome),
    }
}

/// Answers a press, once. A press is worth three seconds: there is nothing to repeat.
pub(super) async fn answer(rest: &Rest, answer: PressAnswer) {
    let id = InteractionId::from_number(answer.interaction);
    let token = InteractionToken::parse(&answer.token);
    let (Some(id), Some(token)) = (id, token) else {
        return tracing::warn!(
            press = answer.interaction,
            "a press that cannot be answered"
        );
    };
    let how = match answer.how {
        PressHow::Deferred => rest::Press::Deferred,
        PressHow::Private(line) => rest::Press::Private(line.text()),
    };
    match rest.answer_press(id, &token, how).await {
        Outcome::Done(()) => tracing::debug!(press = answer.interaction, "press answered"),
        outcome @ (Outcome::Refused(_) | Outcome::NotSent(_) | Outcome::Unknown(_)) => {
            tracing::warn!(
                press = answer.interaction,
                ?outcome,
                "a press was not answered"
            );
        }
    }
}
