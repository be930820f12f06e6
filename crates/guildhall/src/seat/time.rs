//! Discord's time, before anything is decided about a post in doubt.
//!
//! In: a REST client that may not have heard from Discord yet, or not for a while. Out: Discord's clock,
//! and whether ours went on like it. Never: a wait for a Discord that answers.

use guildhall_discord::{Rest, rest::Outcome};
use std::time::Duration;

/// The first pause after a try without an answer; each later one is twice as long.
const PAUSE_FIRST: Duration = Duration::from_secs(1);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// A difference between two clocks that is no jump: Discord's date counts seconds.
const JUMP_MIN_MS: i64 = 10_000;

/// How Discord's clock went on since it was last heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// As this machine's.
    Even,
    /// By more or less: this machine slept, was paused, or its clock was set.
    Jumped,
    /// Nobody answered.
    Unheard,
}

/// Hears Discord's clock anew and compares it with the time that passed here.
///
/// # Cancel safety
/// A dropped future leaves nothing behind.
pub(super) async fn pace(rest: &Rest) -> Pace {
    let before = rest.server_time();
    match rest.application().await {
        Outcome::Done(_) | Outcome::Refused(_) => {}
        Outcome::NotSent(_) | Outcome::Unknown(_) => return Pace::Unheard,
    }
    let (Some(before), Some(after)) = (before, rest.server_time()) else {
        return Pace::Even;
    };
    let here = after.heard.saturating_duration_since(before.heard);
    let here = i64::try_from(here.as_millis()).unwrap_or(i64::MAX);
    let there = after.unix_ms.saturating_sub(before.unix_ms);
    if there.saturating_sub(here).saturating_abs() < JUMP_MIN_MS {
        Pace::Even
    } else {
        Pace::Jumped
    }
}

/// Waits until Discord's clock was heard.
///
/// A post in doubt is sent again while Discord still knows its nonce, so its age decides. This
/// machine's clock may have stood still or been set since the post went out; then the age by it is
/// wrong, and the person would get the answer twice.
///
/// # Cancel safety
/// A dropped future leaves nothing behind.
pub(super) async fn known(rest: &Rest) {
    let mut pause = PAUSE_FIRST;
    while rest.server_time().is_none() {
        match rest.application().await {
            Outcome::Done(_) | Outcome::Refused(_) => return,
            Outcome::NotSent(_) | Outcome::Unknown(_) => {
                tracing::info!("waiting for Discord's time: there are posts in doubt");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(PAUSE_MAX);
            }
        }
    }
}
