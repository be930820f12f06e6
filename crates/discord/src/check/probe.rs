//! One login: connect, READY, goodbye.
//!
//! In: a client. Out: whether Discord lets the bot in, and why not. Never: a second login after the
//! first was let in, a session that is left open.

use crate::{
    gateway::{DownWhy, Fatal, GatewayConfig, Leave, News, SessionState, connect},
    rest::Rest,
};
use std::time::Duration;
use tokio::time::timeout;

/// How long a probe may take in all.
const PROBE_DEADLINE: Duration = Duration::from_secs(75);
/// Losses after which a probe gives up: one may be chance.
const LOSSES_COUNT: u32 = 2;

/// How a probe ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// READY came, from the right bot.
    Ready,
    /// Only a person can help.
    Fatal(Fatal),
    /// The link was lost before READY.
    Lost(DownWhy),
    /// Nothing in time.
    TimedOut,
}

/// Logs in once and out again. The second value is the caller's count of logins, to be kept.
///
/// # Cancel safety
/// A dropped future leaves the session to end by itself.
pub async fn probe(rest: &Rest, config: GatewayConfig) -> (Probe, SessionState) {
    let identifies = config.state.identifies;
    let fresh = SessionState {
        session: None,
        identifies,
    };
    let (handle, mut events) = connect(
        rest,
        GatewayConfig {
            state: fresh,
            ..config
        },
    );
    let mut losses = 0;
    let ended = timeout(PROBE_DEADLINE, async {
        while let Some(event) = events.next().await {
            if let News::Ready(_) = event.news {
                return Probe::Ready;
            }
            if let News::Fatal(fatal) = event.news {
                return Probe::Fatal(fatal);
            }
            if let News::Down(down) = event.news {
                losses += 1;
                if losses >= LOSSES_COUNT {
                    return Probe::Lost(down.why);
                }
            }
        }
        Probe::TimedOut
    });
    let probe = ended.await.unwrap_or(Probe::TimedOut);
    handle.leave(Leave::ForGood);
    while events.next().await.is_some() {}
    let state = handle.session().borrow().clone();
    (probe, state)
}
