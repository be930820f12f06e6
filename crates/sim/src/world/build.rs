//! A world from its scenario.
//!
//! In: names. Out: records with ids, all made from the seed and one moment.
//! Never: a reference to a name that the scenario does not have; that is an error.

use std::collections::BTreeMap;

use crate::clock::Moment;
use crate::id::{Id, IdSource};
use crate::model::{
    App, Archive, Author, Channel, ChannelKind, Guild, Lock, Member, Role, Thread, User, UserKind,
};
use crate::permission::{Overwrite, OverwriteTarget, Permissions};
use crate::scenario::{BotSpec, ChannelKindSpec, ChannelSpec, OverwriteSpec, PersonSpec, Scenario};
use crate::world::{Draft, Faults, Files, Interactions, Limits, Log, Nonces, Sessions, World};

/// A scenario that cannot become a world.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// There is nobody who could own the guild.
    #[error("a scenario needs at least one person")]
    Nobody,
    /// There is no bot to test.
    #[error("a scenario needs at least one bot")]
    NoBot,
    /// A name is used that nothing has.
    #[error("nothing in the scenario is called {0:?}")]
    UnknownName(String),
    /// A thread has no parent, or a parent that cannot hold threads.
    #[error("the thread {0:?} needs a text channel or forum as its parent")]
    BadParent(String),
}

/// How long before the start the guild was made.
const GUILD_AGE_MS: u64 = 30 * 24 * 3_600_000;

impl World {
    /// Fills a world from `scenario`.
    ///
    /// # Errors
    ///
    /// Fails when the scenario has no person or no bot, or a name leads nowhere.
    pub(crate) fn new(
        scenario: &Scenario,
        seed: u64,
        now: Moment,
        origin: String,
    ) -> Result<Self, ScenarioError> {
        if scenario.people.is_empty() {
            return Err(ScenarioError::Nobody);
        }
        if scenario.bots.is_empty() {
            return Err(ScenarioError::NoBot);
        }
        let past = Moment::from_ms(now.as_ms().saturating_sub(GUILD_AGE_MS));
        let mut ids = IdSource::new(seed);
        let guild = ids.next(past);
        let mut world = Self {
            origin,
            rules: scenario.rules,
            guild: Guild {
                id: guild,
                name: scenario.guild.clone(),
                owner: guild,
            },
            ids,
            users: BTreeMap::new(),
            members: BTreeMap::new(),
            roles: BTreeMap::new(),
            channels: BTreeMap::new(),
            messages: BTreeMap::new(),
            files: Files::new(scenario.rules.attachment_bytes),
            apps: Vec::new(),
            sessions: Sessions::default(),
            nonces: Nonces::default(),
            limits: Limits::default(),
            interactions: Interactions::default(),
            commands: Vec::new(),
            faults: Faults::default(),
            log: Log::new(scenario.rules.log_entries, scenario.rules.log_bytes),
            effects: Vec::new(),
        };
        world.add_roles(scenario, past);
        for person in &scenario.people {
            world.add_person(person, past)?;
        }
        world.guild.owner = world.user_named(&scenario.people[0].name)?;
        for (index, bot) in scenario.bots.iter().enumerate() {
            world.add_bot(bot, index, seed, past)?;
        }
        for channel in &scenario.channels {
            world.add_channel(channel, past)?;
        }
        for channel in &scenario.channels {
            world.add_messages(channel, now)?;
        }
        world.effects.clear();
        Ok(world)
    }

    fn add_roles(&mut self, scenario: &Scenario, past: Moment) {
        let everyone = (self.guild.id, "@everyone".to_owned(), scenario.everyone);
        let others: Vec<_> = scenario
            .roles
            .iter()
            .map(|role| (self.ids.next(past), role.name.clone(), role.permissions))
            .collect();
        for (position, (id, name, permissions)) in
            std::iter::once(everyone).chain(others).enumerate()
        {
            self.roles.insert(
                id,
                Role {
                    id,
                    name,
                    permissions,
                    position,
                    bot: None,
                },
            );
        }
    }

    fn add_person(&mut self, person: &PersonSpec, past: Moment) -> Result<(), ScenarioError> {
        let id = self.ids.next(past);
        let roles = self.roles_named(&person.roles)?;
        let user = User {
            id,
            username: username(&person.name),
            global_name: Some(person.name.clone()),
            kind: UserKind::Person,
            note: person.note.clone(),
        };
        self.add_member(user, person.nick.clone(), roles, past);
        Ok(())
    }

    fn add_member(&mut self, user: User, nick: Option<String>, roles: Vec<Id>, joined: Moment) {
        let id = user.id;
        self.users.insert(id, user);
        let member = Member {
            nick,
            roles,
            joined,
            timed_out_until: None,
        };
        self.members.insert(id, member);
    }

    fn add_bot(
        &mut self,
        spec: &BotSpec,
        index: usize,
        seed: u64,
        past: Moment,
    ) -> Result<(), ScenarioError> {
        // Two ids on purpose: a client that takes one for the other should fail here, too.
        let (app, bot, role) = (
            self.ids.next(past),
            self.ids.next(past),
            self.ids.next(past),
        );
        let managed = Role {
            id: role,
            name: spec.name.clone(),
            permissions: Permissions::NONE,
            position: self.roles.len(),
            bot: Some(bot),
        };
        let mut roles = self.roles_named(&spec.roles)?;
        self.roles.insert(role, managed);
        roles.push(role);
        let user = User {
            id: bot,
            username: spec.name.clone(),
            global_name: None,
            kind: UserKind::Bot,
            note: String::new(),
        };
        self.add_member(user, None, roles, past);
        self.apps.push(App {
            id: app,
            bot,
            name: spec.name.clone(),
            token: format!("simulated-token-{seed}-{}", index + 1),
            portal: spec.portal,
        });
        Ok(())
    }

    fn add_channel(&mut self, spec: &ChannelSpec, past: Moment) -> Result<(), ScenarioError> {
        let kind = channel_kind(spec.kind);
        let parent = match &spec.parent {
            Some(name) => Some(self.channel_named(name)?),
            None => None,
        };
        let parent_kind = parent.and_then(|id| self.channels.get(&id)).map(|p| p.kind);
        let may_hold_threads = matches!(parent_kind, Some(ChannelKind::Text | ChannelKind::Forum));
        if kind.is_thread() && !may_hold_threads {
            return Err(ScenarioError::BadParent(spec.name.clone()));
        }
        let overwrites = spec
            .overwrites
            .iter()
            .map(|overwrite| self.overwrite(overwrite))
            .collect::<Result<_, _>>()?;
        let id = self.ids.next(past);
        let thread = kind.is_thread().then(|| new_thread(self.guild.owner, past));
        let channel = Channel {
            id,
            kind,
            name: spec.name.clone(),
            topic: spec.topic.clone(),
            parent,
            position: self.channels.len(),
            overwrites,
            last_message: None,
            recipients: Vec::new(),
            thread,
        };
        self.channels.insert(id, channel);
        Ok(())
    }

    fn overwrite(&self, spec: &OverwriteSpec) -> Result<Overwrite, ScenarioError> {
        let role = self
            .roles
            .values()
            .find(|role| role.bot.is_none() && role.name == spec.target);
        let target = match role {
            Some(role) => OverwriteTarget::Role(role.id),
            None => OverwriteTarget::Member(self.user_named(&spec.target)?),
        };
        Ok(Overwrite {
            target,
            allow: spec.allow,
            deny: spec.deny,
        })
    }

    fn add_messages(&mut self, spec: &ChannelSpec, now: Moment) -> Result<(), ScenarioError> {
        let channel = self.channel_named(&spec.name)?;
        let owner = match spec.messages.first() {
            Some((author, _)) => self.user_named(author)?,
            None => self.guild.owner,
        };
        if let Some(thread) = self
            .channels
            .get_mut(&channel)
            .and_then(|c| c.thread.as_mut())
        {
            thread.owner = owner;
            thread.members.insert(owner, thread.created);
        }
        let in_forum = self.parent_kind(channel) == Some(ChannelKind::Forum);
        for (index, (author, text)) in spec.messages.iter().enumerate() {
            let author = Author::User(self.user_named(author)?);
            // The first message of a forum post has the post's id.
            let id = (in_forum && index == 0).then_some(channel);
            self.post(
                now,
                channel,
                Draft {
                    id,
                    ..Draft::text(author, text)
                },
            );
        }
        Ok(())
    }

    /// The person or bot with this shown name or user name.
    pub(crate) fn user_named(&self, name: &str) -> Result<Id, ScenarioError> {
        self.users
            .values()
            .find(|user| user.global_name.as_deref() == Some(name) || user.username == name)
            .map(|user| user.id)
            .ok_or_else(|| ScenarioError::UnknownName(name.to_owned()))
    }

    /// The channel or thread with this name.
    pub(crate) fn channel_named(&self, name: &str) -> Result<Id, ScenarioError> {
        self.channels
            .values()
            .find(|channel| channel.name == name)
            .map(|channel| channel.id)
            .ok_or_else(|| ScenarioError::UnknownName(name.to_owned()))
    }

    fn roles_named(&self, names: &[String]) -> Result<Vec<Id>, ScenarioError> {
        names
            .iter()
            .map(|name| {
                let role = self.roles.values().find(|role| &role.name == name);
                role.map(|role| role.id)
                    .ok_or_else(|| ScenarioError::UnknownName(name.clone()))
            })
            .collect()
    }
}

/// A thread that nobody has joined yet.
pub(crate) fn new_thread(owner: Id, now: Moment) -> Thread {
    Thread {
        owner,
        archive: Archive::Active,
        lock: Lock::Open,
        archive_changed: now,
        auto_archive_minutes: 4_320,
        created: now,
        members: BTreeMap::new(),
        messages: 0,
        total_sent: 0,
    }
}

fn channel_kind(kind: ChannelKindSpec) -> ChannelKind {
    match kind {
        ChannelKindSpec::Text => ChannelKind::Text,
        ChannelKindSpec::Announcement => ChannelKind::Announcement,
        ChannelKindSpec::Voice => ChannelKind::Voice,
        ChannelKindSpec::Category => ChannelKind::Category,
        ChannelKindSpec::Forum => ChannelKind::Forum,
        ChannelKindSpec::Thread => ChannelKind::PublicThread,
        ChannelKindSpec::PrivateThread => ChannelKind::PrivateThread,
    }
}

/// Discord's user names: lower case, no spaces.
fn username(name: &str) -> String {
    name.to_lowercase()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join("_")
}
