//! What Discord says: the bot, its application, the server, each channel, one login.
//!
//! In: a policy and a client. Out: facts. Never: a post, a second login.

use super::Findings;
use crate::{
    clock::Clocks,
    exit::{ExitReason, Failure},
    seat,
};
use guildhall_binding::Policy;
use guildhall_discord::{
    Rest,
    check::{CheckOutcome, Facts, LookupFault, Probe, facts, probe, report},
    gateway::{Clock, GatewayConfig, Now, SessionState},
};

/// What these facts are about.
const ABOUT: &str = "discord";

/// Reads everything, tries one login, and tells what came of it.
pub(super) async fn look(policy: &Policy, rest: &Rest, findings: &mut Findings) {
    let facts = facts(rest, policy).await;
    // Without a token that is taken, or a way to Discord, every other line would say the same.
    if let Err(fault) = facts.me
        && ends_it(fault)
    {
        let failure = Failure::new(reason(fault), fault.words());
        let failure = if matches!(fault, LookupFault::Unauthorized) {
            failure.hint("copy a fresh token from the developer portal into tokenFile")
        } else {
            failure.hint("nothing else could be asked: check the way to Discord, then try again")
        };
        return findings.bad(ABOUT, &failure);
    }
    let probed = if matches!(&facts.me, Ok(me) if me.id == policy.bot) {
        Some(log_in(policy, rest).await)
    } else {
        None
    };
    let trouble = trouble(&facts, probed);
    for line in report(policy, &facts, probed) {
        match line.outcome {
            CheckOutcome::Ok => findings.ok(ABOUT, line.what),
            CheckOutcome::Warning => {
                findings.warn(ABOUT, &line.what, line.hint.as_deref().unwrap_or_default());
            }
            CheckOutcome::NotOk => {
                let mut failure = Failure::new(trouble, line.what);
                failure.hints.extend(line.hint);
                findings.bad(ABOUT, &failure);
            }
        }
    }
}

async fn log_in(policy: &Policy, rest: &Rest) -> Probe {
    let clocks = Clocks::default();
    let now = move || Now {
        mono_ms: clocks.mono().0,
        wall_ms: u64::try_from(clocks.wall().0).unwrap_or(0),
    };
    let config = GatewayConfig {
        bot: policy.bot,
        intents: seat::intents(policy, rest).await,
        state: SessionState::default(),
        clock: Clock::new(now),
        seed: fastrand::u64(..),
    };
    probe(rest, config).await.0
}

/// Whether this fault makes every other question pointless.
const fn ends_it(fault: LookupFault) -> bool {
    match fault {
        LookupFault::Unauthorized
        | LookupFault::NoConnection(_)
        | LookupFault::NoAnswer
        | LookupFault::Server(_)
        | LookupFault::Odd => true,
        LookupFault::Forbidden(_)
        | LookupFault::NotFound(_)
        | LookupFault::Refused(..)
        | LookupFault::Held => false,
    }
}

/// Whether trying again may help.
const fn reason(fault: LookupFault) -> ExitReason {
    match fault {
        LookupFault::NoConnection(_)
        | LookupFault::NoAnswer
        | LookupFault::Held
        | LookupFault::Server(_) => ExitReason::Failed,
        LookupFault::Unauthorized
        | LookupFault::Forbidden(_)
        | LookupFault::NotFound(_)
        | LookupFault::Refused(..)
        | LookupFault::Odd => ExitReason::Invalid,
    }
}

/// What lines that are not in order come to: with an outage among them, trying again may help.
fn trouble(facts: &Facts, probed: Option<Probe>) -> ExitReason {
    let faults = [
        facts.application.as_ref().err(),
        facts.gateway.as_ref().err(),
        facts.guild.as_ref().err(),
        facts.member.as_ref().err(),
    ];
    let channels = facts.channels.values().map(|read| read.as_ref().err());
    let passing = faults
        .into_iter()
        .chain(channels)
        .flatten()
        .any(|fault| reason(*fault) == ExitReason::Failed);
    let lost = matches!(probed, Some(Probe::Lost(_) | Probe::TimedOut));
    if passing || lost {
        ExitReason::Failed
    } else {
        ExitReason::Invalid
    }
}
