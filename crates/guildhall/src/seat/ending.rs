//! Why a seat ends that did not want to, in words.
//!
//! In: what Discord or the connector said for good. Out: a failure with its code and what to do.
//! Never: a reason that a retry would mend under a code that says it does not.

use crate::exit::{ExitReason, Failure};
use guildhall_binding::{Policy, ids::ApplicationId};
use guildhall_connector::ids::Nonce;
use guildhall_discord::{check::invite_url, gateway::Fatal};

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

/// Where a person invites the bot with the rights it needs.
fn invite(policy: &Policy) -> String {
    // The application's id is the bot user's for every application made since 2016.
    ApplicationId::from_number(policy.bot.get()).map_or_else(
        |_| "in the developer portal, under OAuth2".to_owned(),
        |application| invite_url(application, policy.guild.id),
    )
}

/// What a link that ended for good means for the process.
pub(super) fn fatal_failure(fatal: Fatal) -> Failure {
    let reason = match fatal {
        Fatal::IdentifiesLow { .. } | Fatal::OwnIdentifiesSpent => ExitReason::Failed,
        Fatal::Closed(_)
        | Fatal::Unauthorized
        | Fatal::WrongIdentity { .. }
        | Fatal::AddressRefused => ExitReason::Invalid,
    };
    Failure::new(reason, fatal.words())
}
