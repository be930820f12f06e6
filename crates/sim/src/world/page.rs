//! What the page is told.
//!
//! In: the same records that the bots get. Out: one event for each change, and the whole at start.
//! Never: a token.

use serde_json::{Value, json};

use crate::id::Id;
use crate::model::{Channel, Message, UserKind};
use crate::view::{Content, Viewer};
use crate::world::World;
use crate::world::session::Link;

/// Messages of each channel that a page gets at once.
const PAGE_MESSAGES_COUNT: usize = 100;

impl World {
    /// Everything that a page needs when it opens.
    pub(crate) fn page_state_json(&self) -> Value {
        let messages: Vec<Value> = self
            .messages
            .values()
            .flat_map(|kept| kept.values().rev().take(PAGE_MESSAGES_COUNT))
            .map(|message| self.page_message_json(message))
            .collect();
        json!({
            "type": "state",
            "guild": { "id": self.guild.id, "name": self.guild.name },
            "users": self.users.keys().map(|id| self.page_user_json(*id)).collect::<Vec<_>>(),
            "roles": self.roles.values().map(|role| json!({ "id": role.id, "name": role.name }))
                .collect::<Vec<_>>(),
            "channels": self.channels.values().map(|c| self.page_channel_json(c)).collect::<Vec<_>>(),
            "messages": messages,
            "bots": self.page_bots_json(),
            "faults": self.faults.list(),
        })
    }

    fn page_user_json(&self, id: Id) -> Value {
        let Some(user) = self.users.get(&id) else {
            return Value::Null;
        };
        let member = self.members.get(&id);
        let shown = member
            .and_then(|member| member.nick.as_ref())
            .or(user.global_name.as_ref());
        json!({
            "id": id, "name": shown.unwrap_or(&user.username), "note": user.note,
            "bot": user.kind == UserKind::Bot,
            "roles": member.map(|member| &member.roles),
        })
    }

    /// A channel with the people who can see it, and those who can write in it.
    fn page_channel_json(&self, channel: &Channel) -> Value {
        let people = || self.users.keys().copied();
        let sees: Vec<Id> = people()
            .filter(|user| self.can_see(*user, channel.id))
            .collect();
        let mut json = self.channel_json(channel, None);
        json["seen_by"] = json!(sees);
        if let Some(thread) = &channel.thread {
            json["members"] = json!(thread.members.keys().collect::<Vec<_>>());
        }
        if !channel.recipients.is_empty() {
            json["recipients"] = json!(channel.recipients);
        }
        json
    }

    /// A message as the page shows it: whole, with everybody's reactions by name.
    pub(crate) fn page_message_json(&self, message: &Message) -> Value {
        let viewer = Viewer {
            user: self.guild.id,
            content: Content::Full,
        };
        let mut json = self.message_json(message, viewer);
        for (shown, reaction) in message.reactions.iter().enumerate() {
            json["reactions"][shown]["users"] = json!(reaction.users);
        }
        json["only_for"] = json!(message.only_for);
        json["is_webhook"] = json!(matches!(
            message.author,
            crate::model::Author::Webhook { .. }
        ));
        json
    }

    pub(crate) fn tell_page_of_channel(&mut self, id: Id) {
        if let Some(channel) = self.channels.get(&id) {
            let event = json!({ "type": "channel", "channel": self.page_channel_json(channel) });
            self.tell_page(&event);
        }
    }

    /// Tells the page which bots are there.
    pub(crate) fn tell_page_of_bots(&mut self) {
        let event = json!({ "type": "bots", "bots": self.page_bots_json() });
        self.tell_page(&event);
    }

    fn page_bots_json(&self) -> Value {
        let link = |index: usize| {
            let own = self
                .sessions
                .iter()
                .filter(|(_, session)| session.app.0 == index);
            own.fold("offline", |best, (_, session)| match session.link {
                Link::Connected(_) => "online",
                Link::Dropped(_) if best == "offline" => "lost",
                Link::Dropped(_) => best,
            })
        };
        self.apps
            .iter()
            .enumerate()
            .map(|(index, app)| json!({ "id": app.bot, "name": app.name, "link": link(index) }))
            .collect()
    }

    pub(crate) fn tell_page_of_faults(&mut self) {
        let event = json!({ "type": "faults", "faults": self.faults.list() });
        self.tell_page(&event);
    }
}
