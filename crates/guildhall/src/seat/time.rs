//! Discord's time, before anything is decided about a post in doubt.
//!
//! In: a REST client that may not have heard from Discord yet. Out: the return, once Discord's clock
//! is known or it answers without one. Never: a wait for a Discord that answers.

use guildhall_discord::{Rest, rest::Outcome};
use std::time::Duration;

/// The first pause after a try without an answer; each later one is twice as long.
const PAUSE_FIRST: Duration = Duration::from_secs(1);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(60);

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
