//! Whom a text pings.
//!
//! In: content, what the sender allowed, the reply's target. Out: users, roles, everyone.
//! Never: pings somebody whom this server does not have.

use crate::clock::Moment;
use crate::id::Id;
use crate::model::{Everyone, Mentions, Message, Reference, message_kind};
use crate::permission::Permissions;
use crate::world::World;
use crate::world::post::Draft;

/// What a sender lets its text ping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AllowedMentions {
    pub(crate) users: Allowed,
    pub(crate) roles: Allowed,
    pub(crate) everyone: Everyone,
    /// Whether a reply pings its target.
    pub(crate) replied_user: ReplyPing,
}

/// Which of the mentions of one kind count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Allowed {
    All,
    Only(Vec<Id>),
}

/// Whether a reply pings its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplyPing {
    Ping,
    Silent,
}

/// Discord's default: everything is parsed.
impl Default for AllowedMentions {
    fn default() -> Self {
        Self {
            users: Allowed::All,
            roles: Allowed::All,
            everyone: Everyone::Pinged,
            replied_user: ReplyPing::Ping,
        }
    }
}

impl AllowedMentions {
    /// The default of webhooks and interactions: users only.
    pub(crate) fn users_only() -> Self {
        Self {
            roles: Allowed::Only(Vec::new()),
            everyone: Everyone::Silent,
            ..Self::default()
        }
    }
}

impl Allowed {
    fn has(&self, id: Id) -> bool {
        match self {
            Self::All => true,
            Self::Only(ids) => ids.contains(&id),
        }
    }
}

impl World {
    pub(crate) fn mentions(&self, draft: &Draft, channel: Id, now: Moment) -> Mentions {
        let text = Text {
            content: &draft.content,
            author: draft.author.id(),
            channel,
            reply_to: draft
                .reference
                .filter(|_| draft.kind == message_kind::REPLY),
        };
        self.pings(&text, &draft.allowed_mentions, now)
    }

    pub(crate) fn mentions_of(
        &self,
        message: &Message,
        allowed: &AllowedMentions,
        now: Moment,
    ) -> Mentions {
        let text = Text {
            content: &message.content,
            author: message.author.id(),
            channel: message.channel,
            reply_to: message
                .reference
                .filter(|_| message.kind == message_kind::REPLY),
        };
        self.pings(&text, allowed, now)
    }

    fn pings(&self, text: &Text<'_>, allowed: &AllowedMentions, now: Moment) -> Mentions {
        let may_all = self
            .permissions(text.author, text.channel, now)
            .contains(Permissions::MENTION_EVERYONE);
        let mut found = Mentions::default();
        for tag in tags(text.content) {
            match tag {
                Tag::User(id) if self.users.contains_key(&id) && allowed.users.has(id) => {
                    push_new(&mut found.users, id);
                }
                Tag::Role(id) if self.roles.contains_key(&id) && allowed.roles.has(id) => {
                    push_new(&mut found.roles, id);
                }
                Tag::Everyone if may_all && allowed.everyone == Everyone::Pinged => {
                    found.everyone = Everyone::Pinged;
                }
                Tag::User(_) | Tag::Role(_) | Tag::Everyone => {}
            }
        }
        let target = text
            .reply_to
            .and_then(|reference| self.message(reference.channel, reference.message?))
            .map(|target| target.author.id());
        if let Some(target) = target
            && allowed.replied_user == ReplyPing::Ping
            && target != text.author
            && self.users.contains_key(&target)
        {
            push_new(&mut found.users, target);
        }
        found
    }
}

struct Text<'a> {
    content: &'a str,
    author: Id,
    channel: Id,
    reply_to: Option<Reference>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    User(Id),
    Role(Id),
    Everyone,
}

/// The mention tags of a text, in order.
fn tags(content: &str) -> Vec<Tag> {
    let mut found = Vec::new();
    for (at, _) in content.match_indices(['<', '@']) {
        let rest = &content[at..];
        if rest.starts_with("@everyone") || rest.starts_with("@here") {
            found.push(Tag::Everyone);
        }
        let Some(inner) = rest.strip_prefix("<@") else {
            continue;
        };
        let Some((number, _)) = inner.split_once('>') else {
            continue;
        };
        let tag = match number.strip_prefix('&') {
            Some(role) => role.parse().map(Tag::Role),
            None => number
                .strip_prefix('!')
                .unwrap_or(number)
                .parse()
                .map(Tag::User),
        };
        found.extend(tag.ok());
    }
    found
}

fn push_new(list: &mut Vec<Id>, id: Id) {
    if !list.contains(&id) {
        list.push(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_in_order() {
        let id = |text: &str| text.parse::<Id>().expect("an id");
        let cases = [
            ("hello", vec![]),
            (
                "<@12> and <@!13>",
                vec![Tag::User(id("12")), Tag::User(id("13"))],
            ),
            ("<@&5>!", vec![Tag::Role(id("5"))]),
            ("hey @everyone", vec![Tag::Everyone]),
            ("@here <@x> <@ <@7", vec![Tag::Everyone]),
        ];
        for (text, want) in cases {
            assert_eq!(tags(text), want, "{text}");
        }
    }
}
