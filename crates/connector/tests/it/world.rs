//! A driver without a disk or a network: every group is durable at once, every command is kept.

use guildhall_authority::{
    event::{Author, AuthorKind, Deleted, Mentioned, MessageText, Said, SaidKind},
    permit::found,
};
use guildhall_binding::{
    Approvals, BindingName, Channel, ChannelMode, DiscordConfig, EngineConfig, EngineKind, Guild,
    Limits, Policy, PolicyDigest, SeatName, SessionScope, Standing, User, UserChannels,
    ids::{ChannelId, GuildId, MessageId, UserId},
};
use guildhall_connector::{
    Connector,
    durable::Durable,
    ids::{Nonce, RowId},
    input::{Found, HistoryPage, Input, Learned, Link, Receipt, Rest, Start},
    moment::{Brake, Brakes, Moment, Mono, Wall},
    record::{InboxRecord, Record},
    run::{Ended, RunEvent, RunFailure, RunOutcome, Usage},
    seen::Seen,
    step::{Command, LookUp, Post, Step},
};
use std::{collections::BTreeMap, sync::Arc};

pub(crate) const ANA: u64 = 10;
pub(crate) const EVE: u64 = 66;
pub(crate) const GENERAL: u64 = 100;
pub(crate) const HELP: u64 = 101;
pub(crate) const NOW: i64 = 1_796_047_445_000;

pub(crate) fn channel(id: u64) -> ChannelId {
    ChannelId::from_number(id).expect("not zero")
}

pub(crate) fn message(id: u64) -> MessageId {
    MessageId::from_number(id).expect("not zero")
}

pub(crate) fn row(id: u64) -> RowId {
    RowId::Message(message(id))
}

pub(crate) fn user(id: u64) -> UserId {
    UserId::from_number(id).expect("not zero")
}

pub(crate) fn policy() -> Policy {
    let listed = |id, name: &str| {
        let name = name.to_owned();
        (
            channel(id),
            Channel {
                id: channel(id),
                name,
                mode: ChannelMode::Open,
            },
        )
    };
    let ana = User {
        id: user(ANA),
        name: "Ana".into(),
        channels: UserChannels::Every,
        standing: Standing::Member,
    };
    Policy {
        name: BindingName::parse("hall").expect("a name"),
        seat: SeatName::parse("Seat").expect("a name"),
        guild: Guild {
            id: GuildId::from_number(1).expect("not zero"),
            name: "Hall".into(),
        },
        bot: user(2),
        token_file: "/nowhere/token".into(),
        channels: [listed(GENERAL, "general"), listed(HELP, "help")].into(),
        users: [(user(ANA), ana)].into(),
        engine: EngineConfig {
            kind: EngineKind::Practice,
            provider: None,
            model: None,
            thinking: None,
            base_url: None,
            key_file: None,
            key_env: None,
            command: Vec::new(),
            idle: std::time::Duration::from_secs(300),
            price: None,
        },
        limits: Limits::default(),
        context_files: Vec::new(),
        scope: SessionScope::Seat,
        tools: None,
        platform_toolsets: BTreeMap::new(),
        discord: DiscordConfig::default(),
        approvals: Approvals::default(),
        digest: PolicyDigest::of(b"{}"),
    }
}

pub(crate) fn said(id: u64, author: u64, place: u64, text: &str) -> Said {
    Said {
        id: message(id),
        channel: channel(place),
        guild: Some(GuildId::from_number(1).expect("not zero")),
        author: Author {
            id: user(author),
            kind: AuthorKind::Person,
            name: MessageText::new("somebody"),
        },
        kind: SaidKind::Plain,
        text: MessageText::new(text),
        mentions_bot: Mentioned::No,
        enclosed: Vec::new(),
        replies_to: None,
    }
}

/// The connector with a clock and everything it ever asked for.
pub(crate) struct World {
    pub(crate) connector: Connector,
    pub(crate) at: Moment,
    pub(crate) records: Vec<Record>,
    pub(crate) spool: BTreeMap<Nonce, String>,
}

impl World {
    pub(crate) fn new(policy: Policy) -> Self {
        let connector = Connector::new(Arc::new(policy), Durable::default(), found().1);
        let at = Moment {
            mono: Mono(1_000),
            wall: Wall(NOW),
            brakes: Brakes::default(),
        };
        Self {
            connector,
            at,
            records: Vec::new(),
            spool: BTreeMap::new(),
        }
    }

    /// A connector that serves.
    pub(crate) fn serving(policy: Policy) -> Self {
        let mut world = Self::new(policy);
        world.come_up();
        world
    }

    pub(crate) fn come_up(&mut self) -> Vec<Command> {
        let start = Start {
            spool: self.spool.clone(),
            ..Start::default()
        };
        let mut commands = self.on(Input::Started(start));
        commands.extend(self.come_up_link());
        commands
    }

    /// A fresh session; nothing was said meanwhile.
    pub(crate) fn come_up_link(&mut self) -> Vec<Command> {
        let mut commands = self.on(Input::Link(Link::Ready));
        let asked = self.on(Input::Link(Link::Guild(Vec::new())));
        for command in &asked {
            if let Command::LookUp(LookUp::History { channel, .. }) = command {
                let page = HistoryPage {
                    said: Vec::new(),
                    rest: Rest::Nothing,
                };
                let learned = Learned::History(*channel, Found::Here(page));
                commands.extend(self.on(Input::Learned(learned)));
            }
        }
        commands.extend(asked);
        commands
    }

    /// The process dies and comes up again over what was durable.
    pub(crate) fn restart(&mut self) -> Vec<Command> {
        self.restart_with(policy())
    }

    /// The same, under this policy.
    pub(crate) fn restart_with(&mut self, policy: Policy) -> Vec<Command> {
        let mut durable = Durable::default();
        for record in &self.records {
            durable.apply(record).expect("a legal order");
        }
        assert_eq!(&durable, self.connector.durable(), "the fold is the state");
        let by_checkpoint = Durable::of_checkpoint(durable.checkpoint()).map(|mut by| {
            by.set_seen(Seen::of_messages(self.seen_ids()));
            by
        });
        assert_eq!(
            by_checkpoint.as_ref(),
            Ok(&durable),
            "a checkpoint is the state"
        );
        let policy = Arc::new(policy);
        self.connector = Connector::new(policy, durable, found().1);
        let start = Start {
            spool: self.spool.clone(),
            ..Start::default()
        };
        self.on(Input::Started(start))
    }

    /// As the inbox file holds them.
    fn seen_ids(&self) -> Vec<u64> {
        let id = |record: &Record| match record {
            Record::Inbox(InboxRecord::Seen { row, .. }) => row.message().map(|id| id.get()),
            _ => None,
        };
        self.records.iter().filter_map(id).collect()
    }

    pub(crate) fn on(&mut self, input: Input) -> Vec<Command> {
        let Step {
            at_once,
            commit,
            spool,
            after,
        } = self.connector.on(&self.at, input);
        self.records.extend(commit);
        self.spool
            .extend(spool.into_iter().map(|entry| (entry.nonce, entry.text)));
        at_once.into_iter().chain(after).collect()
    }

    pub(crate) fn say(&mut self, id: u64, text: &str) -> Vec<Command> {
        self.on(Input::Said(Box::new(said(id, ANA, GENERAL, text))))
    }

    pub(crate) fn answer(&mut self, id: u64, text: &str) -> Vec<Command> {
        self.end(id, RunOutcome::Answered(vec![MessageText::new(text)]))
    }

    pub(crate) fn fail(&mut self, id: u64, why: RunFailure) -> Vec<Command> {
        self.end(id, RunOutcome::Failed(why))
    }

    fn end(&mut self, id: u64, outcome: RunOutcome) -> Vec<Command> {
        self.end_for(id, outcome, 0)
    }

    /// A run ends, and this is what it cost.
    pub(crate) fn end_for(&mut self, id: u64, outcome: RunOutcome, micro_usd: u64) -> Vec<Command> {
        let usage = Usage {
            micro_usd,
            ..Usage::default()
        };
        let ended = Ended {
            outcome,
            usage,
            engine_turns: 1,
            tools: Vec::new(),
        };
        self.on(Input::Run(row(id), RunEvent::Ended(Box::new(ended))))
    }

    /// Discord takes every post, and what follows it.
    pub(crate) fn deliver_all(&mut self, commands: Vec<Command>, first_id: u64) -> Vec<String> {
        let mut todo = commands;
        let mut texts = Vec::new();
        let mut id = first_id;
        while let Some(post) = posts(&todo).pop() {
            texts.push(post.content);
            let receipt = Receipt::Posted {
                message: message(id),
                channel: post.channel,
            };
            todo = self.on(Input::Sent(post.nonce, receipt));
            id += 1;
        }
        texts
    }

    pub(crate) fn pass(&mut self, ms: u64) -> Vec<Command> {
        self.at.mono = Mono(self.at.mono.0 + ms);
        self.at.wall = Wall(self.at.wall.0 + ms as i64);
        self.on(Input::Tick)
    }

    pub(crate) fn delete(&mut self, id: u64) -> Vec<Command> {
        self.on(Input::Deleted(Deleted {
            id: message(id),
            channel: channel(GENERAL),
        }))
    }

    pub(crate) fn stop(&mut self, stop: Brake) {
        self.at.brakes.stop = stop;
    }
}

pub(crate) fn posts(commands: &[Command]) -> Vec<Post> {
    let post = |command: &Command| match command {
        Command::Post(post) => Some(post.clone()),
        _ => None,
    };
    commands.iter().filter_map(post).collect()
}

pub(crate) fn starts(commands: &[Command]) -> Vec<RowId> {
    let start = |command: &Command| match command {
        Command::Start(start) => Some(start.turn),
        _ => None,
    };
    commands.iter().filter_map(start).collect()
}
