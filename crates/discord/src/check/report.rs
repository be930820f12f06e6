//! What is said about the facts: one line for each thing.
//!
//! In: a policy and facts. Out: lines, each with what to do where something is wrong. Never: a
//! read, a line that says "failed" without saying what.

use super::{
    facts::{Facts, LookupFault},
    invite::invite_url,
    permissions::{Needs, Permission, TimeOut, effective, missing},
    probe::Probe,
};
use crate::{
    gateway::Intents,
    place::{Place, PlaceKind},
};
use guildhall_binding::{ChannelMode, Policy, RootWrite, ids::ChannelId};

/// Application flags that say that the message-content intent is granted, to small and to large
/// bots. Source: Discord API reference, "Application Flags".
const CONTENT_FLAGS: u64 = 1 << 18 | 1 << 19;
/// Logins that should be left.
const LOGINS_LEFT: u64 = 50;

/// One thing that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckLine {
    /// What was checked and what was found.
    pub what: String,
    /// Whether it is as it should be.
    pub outcome: CheckOutcome,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Whether something is as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckOutcome {
    /// It is.
    Ok,
    /// It works, and may surprise.
    Warning,
    /// It is not, and the seat will not work.
    NotOk,
}

/// What the bot can ask to hear: with the message-content intent where it is granted.
#[must_use]
pub fn intents(application_flags: u64) -> Intents {
    if application_flags & CONTENT_FLAGS == 0 {
        Intents::MENTIONS_ONLY
    } else {
        Intents::CHANNELS
    }
}

/// Judges the facts. `probe` is absent where no login was tried.
#[must_use]
pub fn report(policy: &Policy, facts: &Facts, probe: Option<Probe>) -> Vec<CheckLine> {
    let mut lines = vec![identity(policy, facts)];
    lines.extend(application(policy, facts));
    lines.push(logins(facts));
    lines.push(guild(policy, facts));
    lines.extend(time_out_line(facts));
    for (id, channel) in &policy.channels {
        lines.push(place(policy, facts, *id, &channel.name, Needs::Talk));
    }
    for id in &policy.discord.post_channels {
        if !policy.channels.contains_key(id) {
            lines.push(place(policy, facts, *id, "", Needs::Post));
        }
    }
    lines.extend(cards(policy, facts));
    lines.extend(probe.map(login));
    lines
}

fn ok(what: impl Into<String>) -> CheckLine {
    CheckLine {
        what: what.into(),
        outcome: CheckOutcome::Ok,
        hint: None,
    }
}

fn not_ok(what: impl Into<String>, hint: impl Into<String>) -> CheckLine {
    CheckLine {
        what: what.into(),
        outcome: CheckOutcome::NotOk,
        hint: Some(hint.into()),
    }
}

fn warning(what: impl Into<String>, hint: impl Into<String>) -> CheckLine {
    CheckLine {
        what: what.into(),
        outcome: CheckOutcome::Warning,
        hint: Some(hint.into()),
    }
}

fn unread(what: &str, fault: LookupFault) -> CheckLine {
    let hint = match fault {
        LookupFault::Unauthorized => "copy a fresh token from the developer portal into tokenFile",
        LookupFault::NoConnection(_) | LookupFault::NoAnswer => {
            "check the network of this machine, then run the check again"
        }
        LookupFault::Held | LookupFault::Server(_) => "run the check again later",
        LookupFault::Forbidden(_) | LookupFault::NotFound(_) | LookupFault::Refused(..) => {
            "check the id in the binding, and whether the bot may see it"
        }
        LookupFault::Odd => "check discord.apiUrl in the binding",
    };
    not_ok(format!("{what}: {}", fault.words()), hint)
}

fn identity(policy: &Policy, facts: &Facts) -> CheckLine {
    match &facts.me {
        Ok(me) if me.id == policy.bot => ok(format!("the token belongs to bot user {}", me.id)),
        Ok(me) => not_ok(
            format!(
                "the token belongs to bot user {}, the binding names {}",
                me.id, policy.bot
            ),
            "put the right token into tokenFile, or the right id into botUserId",
        ),
        Err(fault) => unread("the bot's own user", *fault),
    }
}

fn application(policy: &Policy, facts: &Facts) -> Vec<CheckLine> {
    let application = match &facts.application {
        Ok(application) => application,
        Err(fault) => return vec![unread("the bot's application", *fault)],
    };
    let open = policy
        .channels
        .values()
        .any(|channel| channel.mode == ChannelMode::Open);
    let granted = application.flags & CONTENT_FLAGS != 0;
    let content = match (granted, open) {
        (true, _) => ok("the message-content intent is granted"),
        (false, true) => not_ok(
            "the message-content intent is not granted, and a channel with mode open needs it",
            "in the developer portal open the bot's page and switch on \"Message Content Intent\", \
             or give every channel mode mention",
        ),
        (false, false) => warning(
            "the message-content intent is not granted",
            "that is enough here: messages that mention the bot come with their text",
        ),
    };
    let endpoint = match &application.interactions_endpoint {
        None => ok("presses of buttons come over the gateway"),
        Some(_) => warning(
            "an interactions endpoint URL is set, so presses of buttons never reach this program",
            "in the developer portal open General Information and clear \"Interactions Endpoint \
             URL\"; until then asks can be decided in the terminal only",
        ),
    };
    vec![content, endpoint]
}

fn logins(facts: &Facts) -> CheckLine {
    match &facts.gateway {
        Ok(gateway) => match gateway.identifies_left {
            Some(left) if left < LOGINS_LEFT => not_ok(
                format!("Discord allows only {left} more logins today"),
                "find out what logs in so often: Discord resets the token when they run out",
            ),
            Some(left) => ok(format!("Discord allows {left} more logins today")),
            None => ok("the gateway's address is known"),
        },
        Err(fault) => unread("the gateway's address", *fault),
    }
}

fn guild(policy: &Policy, facts: &Facts) -> CheckLine {
    let id = policy.guild.id;
    match &facts.guild {
        Ok(_) => ok(format!("the bot is in server {id}")),
        Err(LookupFault::Forbidden(_) | LookupFault::NotFound(_)) => {
            let invite = facts.application.as_ref().map_or_else(
                |_| "invite the bot to the server, or correct guildId".to_owned(),
                |application| format!("invite the bot: {}", invite_url(application.id, id)),
            );
            not_ok(format!("the bot is not in server {id}"), invite)
        }
        Err(fault) => unread(&format!("server {id}"), *fault),
    }
}

fn time_out(facts: &Facts) -> TimeOut {
    let until = facts
        .member
        .as_ref()
        .ok()
        .and_then(|member| member.timed_out_until.as_deref());
    let until = until.and_then(|text| text.parse::<jiff::Timestamp>().ok());
    match (until, facts.server_ms) {
        (Some(until), Some(now)) if until.as_millisecond() > now => TimeOut::Running,
        (Some(_) | None, _) => TimeOut::None,
    }
}

fn time_out_line(facts: &Facts) -> Option<CheckLine> {
    (time_out(facts) == TimeOut::Running).then(|| {
        not_ok(
            "the bot is timed out in this server: it can read and not write",
            "ask somebody who moderates the server to end the time-out",
        )
    })
}

fn place(policy: &Policy, facts: &Facts, id: ChannelId, name: &str, needs: Needs) -> CheckLine {
    let what = if name.is_empty() {
        format!("channel {id}")
    } else {
        format!("channel {id} ({name})")
    };
    let place = match facts.channels.get(&id) {
        Some(Ok(place)) => place,
        Some(Err(fault)) => return unread(&what, *fault),
        None => return unread(&what, LookupFault::NoAnswer),
    };
    if place.guild.is_some_and(|guild| guild != policy.guild.id) {
        return not_ok(
            format!("{what} is not in server {}", policy.guild.id),
            "list channels of the bound server only",
        );
    }
    if let Some(hint) = wrong_kind(place, needs) {
        return not_ok(format!("{what} is no channel to talk in"), hint);
    }
    rights(policy, facts, place, &what, needs)
}

fn wrong_kind(place: &Place, needs: Needs) -> Option<&'static str> {
    match (place.kind, needs) {
        (PlaceKind::Category, _) => Some("it is a category: list the channels in it"),
        (PlaceKind::Direct, _) => Some("direct messages are not served"),
        (PlaceKind::PublicThread | PlaceKind::PrivateThread, Needs::Talk) => {
            Some("it is a thread: list the channel that it belongs to")
        }
        (PlaceKind::Forum, Needs::Post) => {
            Some("it is a forum, and a forum takes posts, not messages")
        }
        (
            PlaceKind::PublicThread
            | PlaceKind::PrivateThread
            | PlaceKind::Forum
            | PlaceKind::Text
            | PlaceKind::Voice
            | PlaceKind::Other(_),
            _,
        ) => None,
    }
}

fn rights(policy: &Policy, facts: &Facts, place: &Place, what: &str, needs: Needs) -> CheckLine {
    let (Ok(guild), Ok(member)) = (&facts.guild, &facts.member) else {
        return warning(
            format!("{what} can be read; what the bot may do there could not be worked out"),
            "mend the lines about the server first",
        );
    };
    let bits = effective(guild, policy.bot, member, place, time_out(facts));
    let missing = missing(bits, needs.in_a(place.kind));
    if missing.is_empty() {
        return ok(format!("the bot may do what it needs in {what}"));
    }
    let names: Vec<&str> = missing.iter().map(|permission| permission.name()).collect();
    not_ok(
        format!("in {what} the bot lacks: {}", names.join(", ")),
        "give the bot's role these permissions, and look for an overwrite of the channel or its \
         category that takes them away",
    )
}

/// Where the cards of asks cannot be whole. Posts without a file work there.
fn cards(policy: &Policy, facts: &Facts) -> Option<CheckLine> {
    let tools = policy.tools.as_ref()?;
    let asks = |root: &guildhall_binding::Root| root.write == RootWrite::Ask || root.git.is_some();
    if !tools.roots.iter().any(asks) {
        return None;
    }
    let (Ok(guild), Ok(member)) = (&facts.guild, &facts.member) else {
        return None;
    };
    let lacks = |id: &&ChannelId| {
        facts.channels.get(id).is_some_and(|place| {
            place.as_ref().is_ok_and(|place| {
                let bits = effective(guild, policy.bot, member, place, time_out(facts));
                !missing(bits, &[Permission::AttachFiles]).is_empty()
            })
        })
    };
    let lacking: Vec<String> = policy
        .channels
        .keys()
        .filter(lacks)
        .map(ToString::to_string)
        .collect();
    (!lacking.is_empty()).then(|| {
        warning(
            format!(
                "the bot lacks {} in: {}",
                Permission::AttachFiles.name(),
                lacking.join(", ")
            ),
            "give the bot's role this permission: an ask whose content does not fit on its card \
             cannot be posted without it, and counts as denied",
        )
    })
}

fn login(probe: Probe) -> CheckLine {
    match probe {
        Probe::Ready => ok("the bot can log in to the gateway"),
        Probe::Fatal(fatal) => not_ok(
            format!("the gateway let the bot not in ({})", fatal.code()),
            fatal.words(),
        ),
        Probe::Lost(why) => not_ok(
            format!("the gateway was lost before the bot was in ({why:?})"),
            "check the network of this machine, then run the check again",
        ),
        Probe::TimedOut => not_ok(
            "the gateway did not let the bot in within the time",
            "Discord may have an outage: run the check again later",
        ),
    }
}

#[cfg(test)]
mod tests;
