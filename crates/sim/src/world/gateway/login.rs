//! IDENTIFY and RESUME.
//!
//! In: what the client says about itself. Out: READY and GUILD_CREATE, or a replay and RESUMED,
//! or the close code that tells what is wrong.
//! Never: counts a RESUME against the IDENTIFY quota.

use serde_json::{Value, json};

use super::{ConnectionId, Resumable, close, ends_session};
use crate::clock::Moment;
use crate::view::application::application_flags;
use crate::world::dispatch::intent;
use crate::world::session::{Dispatched, Link, Session, SessionKey};
use crate::world::{AppIndex, GatewayFault, World};

/// The IDENTIFY quota's window. Source: Discord API docs, Session Start Limit.
const DAY_MS: u64 = 24 * 3_600_000;

impl World {
    pub(super) fn identify(&mut self, now: Moment, id: ConnectionId, data: &Value) {
        let app = match self.login(data) {
            Ok(app) => app,
            Err(refusal) => return self.close(now, id, refusal),
        };
        let intents = data["intents"].as_u64().unwrap_or(intent::NONE);
        if let Some(fault) = self.faults.on_identify() {
            return self.strike(now, id, fault);
        }
        if self.identifies_too_fast(now, app) {
            return self.invalidate(now, id, Resumable::No);
        }
        let used = self.identifies_used(now, app);
        if used >= self.rules.identify_total {
            self.reset_token(app);
            return self.close(now, id, close::AUTHENTICATION);
        }
        self.sessions
            .identifies
            .entry(app)
            .or_default()
            .push_back(now);
        self.begin_session(id, app, intents, &data["shard"]);
        self.tell_page_of_bots();
    }

    /// Checks token, intents and shard.
    fn login(&self, data: &Value) -> Result<AppIndex, (u16, &'static str)> {
        if !data.is_object() {
            return Err(close::DECODE);
        }
        let token = data["token"].as_str().unwrap_or_default();
        let app = self.app_of_token(token).ok_or(close::AUTHENTICATION)?;
        let Some(intents) = data["intents"].as_u64() else {
            return Err(close::DECODE);
        };
        if intents & !intent::KNOWN != 0 {
            return Err(close::INVALID_INTENTS);
        }
        let portal = self.app(app).portal;
        let switches = [
            (intent::MESSAGE_CONTENT, portal.message_content),
            (intent::GUILD_MEMBERS, portal.members),
            (intent::GUILD_PRESENCES, portal.presence),
        ];
        if switches
            .iter()
            .any(|(bit, switch)| intents & bit != 0 && !switch.is_on())
        {
            return Err(close::DISALLOWED_INTENTS);
        }
        match (
            &data["shard"],
            data["shard"][0].as_u64(),
            data["shard"][1].as_u64(),
        ) {
            (Value::Null, _, _) => Ok(app),
            (_, Some(shard), Some(count)) if shard < count => Ok(app),
            _ => Err(close::INVALID_SHARD),
        }
    }

    /// The application of a token, with or without `Bot ` in front.
    pub(crate) fn app_of_token(&self, token: &str) -> Option<AppIndex> {
        let token = token.strip_prefix("Bot ").unwrap_or(token).trim();
        self.apps
            .iter()
            .position(|app| app.token == token)
            .map(AppIndex)
    }

    /// IDENTIFYs of the last day.
    pub(crate) fn identifies_used(&self, now: Moment, app: AppIndex) -> u32 {
        let all = self.sessions.identifies.get(&app);
        let used = all.map_or(0, |all| {
            all.iter().filter(|at| now.since(**at) < DAY_MS).count()
        });
        u32::try_from(used).unwrap_or(u32::MAX)
    }

    /// Milliseconds until the quota is whole again.
    pub(crate) fn identify_reset_ms(&self, now: Moment, app: AppIndex) -> u64 {
        let all = self.sessions.identifies.get(&app);
        let first = all.and_then(|all| all.iter().find(|at| now.since(**at) < DAY_MS));
        first.map_or(0, |at| DAY_MS.saturating_sub(now.since(*at)))
    }

    fn identifies_too_fast(&mut self, now: Moment, app: AppIndex) -> bool {
        let window = self.rules.identify_window_ms;
        let all = self.sessions.identifies.entry(app).or_default();
        while all.front().is_some_and(|at| now.since(*at) >= DAY_MS) {
            all.pop_front();
        }
        let recent = all.iter().filter(|at| now.since(**at) < window).count();
        recent >= usize::try_from(self.rules.max_concurrency).unwrap_or(usize::MAX)
    }

    /// What Discord does to a bot that used up its IDENTIFYs: no session stays, and the old token
    /// is worthless.
    fn reset_token(&mut self, app: AppIndex) {
        self.sessions.remove_app(app);
        let token = &mut self.apps[app.0].token;
        token.push_str("-reset");
    }

    fn begin_session(&mut self, id: ConnectionId, app: AppIndex, intents: u64, shard: &Value) {
        let session = Session {
            id: self.sessions.next_id(self.guild.id.get()),
            app,
            intents,
            seq: 0,
            replay: std::collections::VecDeque::new(),
            link: Link::Connected(id),
        };
        let ready = self.ready_json(&session, shard);
        let key = self.sessions.add(session);
        if let Some(connection) = self.sessions.connections.get_mut(&id) {
            connection.session = Some(key);
        }
        self.push(key, "READY", ready.to_string().into());
        if intents & intent::GUILDS != 0 {
            let guild = self.guild_create_json(self.app(app).bot);
            self.push(key, "GUILD_CREATE", guild.to_string().into());
        }
    }

    fn ready_json(&self, session: &Session, shard: &Value) -> Value {
        let app = self.app(session.app);
        let mut ready = json!({
            "v": 10,
            "user": self.me_json(app.bot),
            "guilds": [{ "id": self.guild.id, "unavailable": true }],
            "session_id": session.id,
            "resume_gateway_url": self.gateway_url(),
            "application": { "id": app.id, "flags": application_flags(app) },
            "session_type": "normal",
            "private_channels": [],
            "relationships": [],
            "presences": [],
            "user_settings": {},
            "guild_join_requests": [],
            "geo_ordered_rtc_regions": [],
            "_trace": [],
        });
        if let (Value::Array(_), Some(map)) = (shard, ready.as_object_mut()) {
            map.insert("shard".to_owned(), shard.clone());
        }
        ready
    }

    pub(super) fn resume(&mut self, now: Moment, id: ConnectionId, data: &Value) {
        let Some(app) = data["token"]
            .as_str()
            .and_then(|token| self.app_of_token(token))
        else {
            return self.close(now, id, close::AUTHENTICATION);
        };
        self.sessions.forget_old(now, self.rules.session_life_ms);
        let key = data["session_id"]
            .as_str()
            .and_then(|session| self.sessions.by_id(session));
        let session = key.and_then(|key| Some((key, self.sessions.get(key)?)));
        let Some((key, session)) = session.filter(|(_, session)| session.app == app) else {
            return self.invalidate(now, id, Resumable::No);
        };
        let Some(seq) = data["seq"].as_u64() else {
            return self.close(now, id, close::DECODE);
        };
        if seq > session.seq {
            return self.close(now, id, close::INVALID_SEQ);
        }
        let whole = session
            .replay
            .front()
            .is_none_or(|first| first.seq <= seq + 1);
        if let Some(fault) = self.faults.on_resume() {
            let ends = match fault {
                GatewayFault::InvalidSession { resumable } => !resumable,
                GatewayFault::Close { code } => ends_session(code),
                GatewayFault::Drop
                | GatewayFault::Tear
                | GatewayFault::HalfOpen
                | GatewayFault::Reconnect
                | GatewayFault::AskHeartbeat => false,
            };
            if ends {
                self.sessions.remove(key);
            }
            return self.strike(now, id, fault);
        }
        if !whole {
            drop(self.sessions.remove(key));
            return self.invalidate(now, id, Resumable::No);
        }
        self.replay(now, id, key, seq);
        self.tell_page_of_bots();
    }

    fn replay(&mut self, now: Moment, id: ConnectionId, key: SessionKey, seq: u64) {
        let Some(session) = self.sessions.get_mut(key) else {
            return;
        };
        let before = std::mem::replace(&mut session.link, Link::Connected(id));
        session.seq += 1;
        let resumed = Dispatched {
            seq: session.seq,
            name: "RESUMED",
            data: r#"{"_trace":[]}"#.into(),
        };
        let missed: Vec<Dispatched> = session
            .replay
            .iter()
            .filter(|one| one.seq > seq)
            .cloned()
            .collect();
        if let Link::Connected(old) = before {
            // The session moves; the connection that had it ends.
            if let Some(old) = self.sessions.connections.get_mut(&old) {
                old.session = None;
            }
            self.close(now, old, (4000, "Session resumed elsewhere."));
        }
        if let Some(connection) = self.sessions.connections.get_mut(&id) {
            connection.session = Some(key);
        }
        for one in missed.iter().chain([&resumed]) {
            self.send_dispatch(id, one);
        }
    }
}
