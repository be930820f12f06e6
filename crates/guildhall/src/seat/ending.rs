//! Why a seat ends that did not want to, in words.
//!
//! In: what Discord or the connector said for good. Out: a failure with its code and what to do.
//! Never: a reason that a retry would mend under a code that says it does not.

use crate::exit::{ExitReason, Failure};
use guildhall_binding::Policy;
use guildhall_connector::ids::Nonce;
use guildhall_discord::gateway::Fatal;

/// Deliveries that nobody but a person can settle.
pub(super) fn unresolved(open: &[Nonce], binding: &str) -> Failure {
    let nonces: Vec<_> = open.iter().map(ToString::to_string).collect();
    Failure::failed(format!(
        "these deliveries cannot be settled: {}",
        nonces.join(", ")
    ))
    .hint("look in the channel whether the message stands there")
    .hint(format!(
        "then say so: guildhall deliveries {binding} NONCE --there MESSAGE | --not-there"
    ))
}

/// The bot is not in the server.
pub(super) fn not_in_guild(policy: &Policy) -> Failure {
    let guild = policy.guild.id;
    Failure::invalid(format!(
        "the bot is not in the server {guild}, or may not see it"
    ))
    .hint(format!("invite the bot: {}", invite(policy)))
    .hint("or correct guildId in the binding")
}

/// Reads, sends, reacts, reads history, sends in threads.
const PERMISSIONS: u64 = 274_877_975_616;

/// Where a person invites the bot with the rights it needs.
pub(crate) fn invite(policy: &Policy) -> String {
    // The application's id is the bot user's for every application made since 2016.
    format!(
        "https://discord.com/oauth2/authorize?client_id={}&scope=bot&permissions={PERMISSIONS}",
        policy.bot
    )
}

/// What a link that ended for good means for the process.
pub(crate) fn fatal_failure(fatal: Fatal) -> Failure {
    let reason = match fatal {
        Fatal::IdentifiesLow { .. } | Fatal::OwnIdentifiesSpent => ExitReason::Failed,
        Fatal::Closed(_)
        | Fatal::Unauthorized
        | Fatal::WrongIdentity { .. }
        | Fatal::AddressRefused => ExitReason::Invalid,
    };
    Failure::new(reason, fatal.words())
}
