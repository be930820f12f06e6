//! The table of contents of the API: method and target to handler.
//!
//! In: a request whose target is known. Out: the handler's answer, 401 or 405.
//! Never: does anything itself.

use super::route::{Target, Who};
use super::{Caller, Method, Outcome, Request};
use crate::clock::Moment;
use crate::error::ApiError;
use crate::world::World;

impl World {
    /// The call for a target, by a bot that is logged in.
    pub(super) fn route(
        &mut self,
        now: Moment,
        request: &Request,
        target: &Target,
        caller: Caller,
    ) -> Outcome {
        use Method::{Delete, Get, Patch, Post};
        match (request.method, target) {
            (Get, Target::GatewayBot) => self.gateway_bot(now, caller),
            (Get, Target::Me) => self.me(caller),
            (Get, Target::MyApplication) => self.my_application(caller),
            (Patch, Target::MyApplication) => self.change_application(request, caller),
            (Get, Target::MyGuilds) => self.my_guilds(caller),
            (_, Target::Commands(app, guild)) => {
                self.commands_of(now, (*app, *guild), request, caller)
            }
            (_, Target::Command(app, guild, id)) => {
                self.command(now, (*app, *guild), *id, request, caller)
            }
            (Post, Target::DirectMessages) => self.open_direct_message(now, request, caller),
            (Get, Target::User(user)) => self.get_user(*user),
            (Get, Target::Guild(guild)) => self.get_guild(*guild, request),
            (Get, Target::GuildChannels(guild)) => self.list_channels(*guild, caller),
            (Get, Target::GuildThreads(guild)) => self.active_threads(*guild, caller),
            (Get, Target::GuildRoles(guild)) => self.list_roles(*guild),
            (Get, Target::GuildMembers(guild)) => self.list_members(*guild, request, caller),
            (Get, Target::GuildMemberSearch(guild)) => self.search_members(*guild, request),
            (Get, Target::GuildMember(guild, who)) => self.get_member(*guild, who.id(caller)),
            (Get, Target::Channel(channel)) => self.get_channel(*channel, caller),
            (Patch, Target::Channel(channel)) => {
                self.change_channel(now, *channel, request, caller)
            }
            (Delete, Target::Channel(channel)) => self.remove_channel(now, *channel, caller),
            _ => self.route_message(now, request, target, caller),
        }
    }

    /// The same for messages, reactions and typing.
    fn route_message(
        &mut self,
        now: Moment,
        request: &Request,
        target: &Target,
        caller: Caller,
    ) -> Outcome {
        use Method::{Delete, Get, Patch, Post, Put};
        match (request.method, target) {
            (Get, Target::Messages(channel)) => self.list_messages(now, *channel, request, caller),
            (Post, Target::Messages(channel)) => {
                self.create_message(now, *channel, request, caller)
            }
            (Get, Target::Message(channel, id)) => self.get_message(now, *channel, *id, caller),
            (Patch, Target::Message(channel, id)) => {
                self.edit_message(now, *channel, *id, request, caller)
            }
            (Delete, Target::Message(channel, id)) => {
                self.delete_message(now, *channel, *id, caller)
            }
            (Post, Target::Typing(channel)) => self.start_typing(now, *channel, caller),
            (_, Target::BadEmoji(channel)) => {
                self.visible(caller.bot, *channel)?;
                Err(ApiError::UNKNOWN_EMOJI)
            }
            (Put, Target::Reaction(channel, id, emoji, Who::Me)) => {
                self.add_reaction(now, (*channel, *id), emoji, caller)
            }
            (Delete, Target::Reaction(channel, id, emoji, who)) => {
                self.remove_reaction(now, (*channel, *id), emoji, who.id(caller), caller)
            }
            (Get, Target::ReactionUsers(channel, id, emoji)) => {
                self.reaction_users(now, (*channel, *id), emoji, caller)
            }
            (Delete, Target::Reactions(channel, id)) => {
                self.clear_reactions(now, (*channel, *id), caller)
            }
            _ => self.route_thread(now, request, target, caller),
        }
    }

    /// The same for threads.
    fn route_thread(
        &mut self,
        now: Moment,
        request: &Request,
        target: &Target,
        caller: Caller,
    ) -> Outcome {
        use Method::{Delete, Get, Post, Put};
        match (request.method, target) {
            (Post, Target::Threads(channel)) => self.create_thread(now, *channel, request, caller),
            (Post, Target::MessageThreads(channel, id)) => {
                self.create_thread_from(now, (*channel, *id), request, caller)
            }
            (Get, Target::ArchivedThreads(channel)) => self.archived_threads(*channel, caller),
            (Get, Target::ThreadMembers(channel)) => self.thread_members(*channel, caller),
            (Get, Target::ThreadMember(channel, who)) => {
                self.thread_member(*channel, who.id(caller), caller)
            }
            (Put, Target::ThreadMember(channel, who)) => {
                self.add_thread_member(now, *channel, who.id(caller), caller)
            }
            (Delete, Target::ThreadMember(channel, who)) => {
                self.remove_thread_member(now, *channel, who.id(caller), caller)
            }
            _ => self.route_open(now, request, target),
        }
    }

    /// The call for a target that needs no bot token.
    pub(super) fn route_open(
        &mut self,
        now: Moment,
        request: &Request,
        target: &Target,
    ) -> Outcome {
        use Method::{Delete, Get, Patch, Post};
        match (request.method, target) {
            (Get, Target::Gateway) => self.gateway(),
            (Post, Target::Callback(id, token)) => self.callback(now, (*id, token), request),
            (Post, Target::Webhook(app, token)) => self.follow_up(now, (*app, token), request),
            (Get, Target::WebhookMessage(app, token, which)) => {
                self.get_follow_up(now, (*app, token), *which)
            }
            (Patch, Target::WebhookMessage(app, token, which)) => {
                self.edit_follow_up(now, (*app, token), *which, request)
            }
            (Delete, Target::WebhookMessage(app, token, which)) => {
                self.delete_follow_up(now, (*app, token), *which)
            }
            (
                _,
                Target::Gateway
                | Target::Callback(..)
                | Target::Webhook(..)
                | Target::WebhookMessage(..),
            ) => Err(ApiError::METHOD),
            _ if request.authorization.as_deref().is_none_or(|header| {
                !header.starts_with("Bot ") || self.app_of_token(header).is_none()
            }) =>
            {
                Err(ApiError::UNAUTHORIZED)
            }
            _ => Err(ApiError::METHOD),
        }
    }
}
