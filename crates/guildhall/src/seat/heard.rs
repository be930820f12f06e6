//! What the gateway told: logged, looked at for an end, given to the connector.
//!
//! In: events, in order. Out: inputs; a failure where the link has ended for good. Never: an event
//! that overtakes another, a word of a message in the log.

use super::{
    driver::{CheckpointStep, Driver, Running},
    ending::{fatal_failure, not_in_guild},
    news,
};
use crate::exit::Failure;
use guildhall_connector::moment::Moment;
use guildhall_discord::{
    gateway::{Event, News},
    rest::Outcome,
};

/// Events that are taken at one wake: enough to share its cost, few enough to keep answers quick.
const EVENTS_A_WAKE: usize = 64;
/// Discord's codes for a server that the bot is not in: unknown guild, and missing access. A bare
/// 404 says only that somebody between us and Discord does not know the path.
const GUILD_UNSEEN: [u64; 2] = [10_004, 50_001];

impl Driver {
    /// One event, and those that have come behind it, as far as nothing else waits too long.
    pub(super) fn heard_many(
        &mut self,
        running: &mut Running,
        at: &Moment,
        first: Option<Event>,
    ) -> Result<(), Failure> {
        self.heard(running, at, first)?;
        for _ in 1..EVENTS_A_WAKE {
            if running.checkpoint != CheckpointStep::NotDue || running.exit.is_some() {
                break;
            }
            let gateway = running.gateway.as_mut();
            let Some(event) = gateway.and_then(|(_, stream)| stream.try_next()) else {
                break;
            };
            self.heard(running, at, Some(event))?;
        }
        Ok(())
    }

    fn heard(
        &mut self,
        running: &mut Running,
        at: &Moment,
        event: Option<Event>,
    ) -> Result<(), Failure> {
        let Some(Event { seq, news }) = event else {
            running.gateway = None;
            return Ok(());
        };
        self.log_news(&news);
        if let News::Fatal(fatal) = news {
            return Err(fatal_failure(fatal));
        }
        if let News::Ready(ready) = &news
            && !ready.guilds.contains(&self.policy.guild.id)
        {
            self.look_for_guild(running);
        }
        if let News::GuildRemoved(guild) = news
            && guild == self.policy.guild.id
        {
            return Err(not_in_guild(&self.policy));
        }
        if let News::Said { said, .. } = &news
            && self.policy.channels.contains_key(&said.channel)
        {
            self.watch.health.heard(at.wall, said.channel, said.id);
        }
        for input in news::inputs(news, self.policy.guild.id, self.policy.bot) {
            self.decide(running, at, input);
        }
        running.newest = seq.or(running.newest);
        Ok(())
    }

    /// The session names no such server: Discord is asked before that is believed.
    fn look_for_guild(&self, running: &Running) {
        let (rest, guild, lost) = (
            self.rest.clone(),
            self.policy.guild.id,
            running.lost.clone(),
        );
        tokio::spawn(async move {
            if let Outcome::Refused(no) = rest.guild(guild).await
                && GUILD_UNSEEN.contains(&no.code)
                && lost.send(()).is_err()
            {
                tracing::debug!("the answer came after the end");
            }
        });
    }

    fn log_news(&mut self, news: &News) {
        if let News::Ready(_) = news {
            tracing::info!("connected: a fresh session");
        } else if let News::Resumed = news {
            tracing::info!("connected: the session goes on");
        } else if let News::Down(down) = news {
            self.keep.error(format!("link down: {:?}", down.why));
            tracing::warn!(why = ?down.why, retry_ms = down.retry_in.as_millis(), "link down");
        } else if let News::Unreadable { event, .. } = news {
            tracing::warn!(event, "an event could not be read");
        }
    }
}
