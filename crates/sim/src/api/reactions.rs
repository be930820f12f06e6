//! Reactions by REST.
//!
//! In: a bot's wish about reactions to one message. Out: nothing but success, or the refusal.
//! Never: more than twenty kinds on one message.

use serde_json::Value;

use super::{Answer, Caller, Outcome};
use crate::clock::Moment;
use crate::error::ApiError;
use crate::id::Id;
use crate::model::Emoji;
use crate::permission::Permissions;
use crate::world::World;

/// Most kinds of reaction on one message. Source: Discord API docs, code 30010.
const KINDS_MAX_COUNT: usize = 20;

impl World {
    pub(super) fn add_reaction(
        &mut self,
        now: Moment,
        (channel, id): (Id, Id),
        emoji: &Emoji,
        caller: Caller,
    ) -> Outcome {
        self.may_react(now, (channel, id), emoji, caller.bot)?;
        self.react(channel, id, caller.bot, emoji);
        Ok(Answer::empty(204))
    }

    /// Passes when `user` may put `emoji` on a message.
    ///
    /// # Errors
    ///
    /// 10003, 10008, 50001, 50013, 50083; 10014 for an emoji that this server does not have; 30010
    /// when there are twenty kinds.
    pub(crate) fn may_react(
        &self,
        now: Moment,
        (channel, id): (Id, Id),
        emoji: &Emoji,
        user: Id,
    ) -> Result<(), ApiError> {
        self.allowed(user, channel, Permissions::READ_MESSAGE_HISTORY, now)?;
        let message = self.public_message(channel, id)?;
        if matches!(emoji, Emoji::Custom { .. }) {
            return Err(ApiError::UNKNOWN_EMOJI);
        }
        self.not_archived(channel)?;
        let first = !message
            .reactions
            .iter()
            .any(|reaction| &reaction.emoji == emoji);
        if first {
            self.allowed(user, channel, Permissions::ADD_REACTIONS, now)?;
        }
        if first && message.reactions.len() >= KINDS_MAX_COUNT {
            return Err(ApiError::TOO_MANY_REACTIONS);
        }
        Ok(())
    }

    pub(super) fn remove_reaction(
        &mut self,
        now: Moment,
        (channel, id): (Id, Id),
        emoji: &Emoji,
        user: Id,
        caller: Caller,
    ) -> Outcome {
        let wanted = match user == caller.bot {
            true => Permissions::VIEW_CHANNEL,
            false => Permissions::MANAGE_MESSAGES,
        };
        self.allowed(caller.bot, channel, wanted, now)?;
        self.public_message(channel, id)?;
        self.not_archived(channel)?;
        self.unreact(channel, id, user, emoji);
        Ok(Answer::empty(204))
    }

    pub(super) fn reaction_users(
        &mut self,
        now: Moment,
        (channel, id): (Id, Id),
        emoji: &Emoji,
        caller: Caller,
    ) -> Outcome {
        self.allowed(caller.bot, channel, Permissions::READ_MESSAGE_HISTORY, now)?;
        let message = self.public_message(channel, id)?;
        let reaction = message
            .reactions
            .iter()
            .find(|reaction| &reaction.emoji == emoji);
        let users = reaction.into_iter().flat_map(|reaction| &reaction.users);
        let list: Vec<Value> = users.map(|id| self.user_json(*id)).collect();
        Ok(Answer::ok(&Value::Array(list)))
    }

    pub(super) fn clear_reactions(
        &mut self,
        now: Moment,
        (channel, id): (Id, Id),
        caller: Caller,
    ) -> Outcome {
        self.allowed(caller.bot, channel, Permissions::MANAGE_MESSAGES, now)?;
        let message = self.public_message(channel, id)?;
        let all: Vec<(Emoji, Id)> = message
            .reactions
            .iter()
            .flat_map(|reaction| {
                reaction
                    .users
                    .iter()
                    .map(|user| (reaction.emoji.clone(), *user))
            })
            .collect();
        for (emoji, user) in all {
            self.unreact(channel, id, user, &emoji);
        }
        Ok(Answer::empty(204))
    }
}
