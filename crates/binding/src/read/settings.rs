//! Limits, sessions, toolsets, Discord and approvals.
//!
//! In: one object each. Out: the checked settings, defaults filled in. Never: a toolset where the
//! policy may not have it, an empty allowlist.

use super::engine::{micro_usd, model_source};
use crate::{
    bounds::{
        ASK_TIMEOUT_SECONDS, CATCH_UP_SECONDS, CHANNELS_MAX, INBOUND_MAX_CHARS, PARALLEL_TURNS,
        QUEUED_TURNS, REPLY_CHUNK_CHARS, TOOLSETS_MAX, TURN_TIMEOUT_SECONDS, TURNS_PER_DAY,
        USD_PER_DAY_MAX, USD_PER_DAY_MIN,
    },
    fault::FaultCode,
    ids::ChannelId,
    policy::{
        ApprovalMentions, ApprovalMode, Approvals, DiscordConfig, Limits, Platform, SessionScope,
        ThreadSessions,
    },
    url::{self, UrlShape},
    walk::{Place, RESERVED_ALLOWED, all, distinct},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

pub(super) fn limits(place: &Place<'_>) -> Option<Limits> {
    let mut fields = place.object()?;
    let turns = fields.whole("turnsPerDay", TURNS_PER_DAY);
    let timeout = fields.whole("turnTimeoutSeconds", TURN_TIMEOUT_SECONDS);
    let chunk = fields.whole("replyChunkChars", REPLY_CHUNK_CHARS);
    let inbound = fields.whole("inboundMaxChars", INBOUND_MAX_CHARS);
    let catch_up = fields.whole("catchUpSeconds", CATCH_UP_SECONDS);
    let parallel = fields.whole("parallelTurns", PARALLEL_TURNS);
    let queued = fields.whole("queuedTurns", QUEUED_TURNS);
    let usd = fields.may("usdPerDay", |place| {
        place.real(USD_PER_DAY_MIN..=USD_PER_DAY_MAX).map(micro_usd)
    });
    fields.end();
    Some(Limits {
        turns_per_day: u32::try_from(turns?).ok()?,
        turn_timeout: Duration::from_secs(timeout?),
        reply_chunk_chars: usize::try_from(chunk?).ok()?,
        inbound_max_chars: usize::try_from(inbound?).ok()?,
        catch_up: Duration::from_secs(catch_up?),
        parallel_turns: usize::try_from(parallel?).ok()?,
        queued_turns: usize::try_from(queued?).ok()?,
        micro_usd_per_day: usd?,
    })
}

pub(super) const SCOPES: [(&str, SessionScope); 2] = [
    ("seat", SessionScope::Seat),
    ("thread", SessionScope::Thread),
];

pub(super) fn sessions(place: &Place<'_>) -> Option<SessionScope> {
    let mut fields = place.object()?;
    let scope = fields.or("scope", SessionScope::Seat, |place| place.choice(&SCOPES));
    fields.end();
    scope
}

const PLATFORMS: [(&str, Platform); 3] = [
    ("discord", Platform::Discord),
    ("cotal", Platform::Cotal),
    ("schedule", Platform::Schedule),
];

pub(super) fn platform_toolsets(place: &Place<'_>) -> Option<BTreeMap<Platform, BTreeSet<String>>> {
    let mut fields = place.object()?;
    let mut clean = Some(());
    let mut lists = BTreeMap::new();
    for (key, platform) in PLATFORMS {
        match fields.may(key, |place| toolsets(place, platform)) {
            Some(Some(list)) => {
                lists.insert(platform, list);
            }
            Some(None) => {}
            None => clean = None,
        }
    }
    fields.end();
    clean.map(|()| lists)
}

/// Toolsets that this version serves.
pub(crate) const TOOLSETS: [&str; 7] = [
    "files",
    "workspace",
    "web",
    "git",
    "records",
    "discord",
    "discord_admin",
];

fn toolsets(place: &Place<'_>, platform: Platform) -> Option<BTreeSet<String>> {
    let places = place.list(
        1..=TOOLSETS_MAX,
        "toolsets; leave the key out for the default",
    )?;
    let read = all(&places, |place| toolset(place, platform))?;
    distinct(read.iter().cloned().zip(places.iter().cloned()), "toolset")?;
    Some(read.into_iter().collect())
}

fn toolset(place: &Place<'_>, platform: Platform) -> Option<String> {
    let known = TOOLSETS.join(", ");
    let name = place.text(&known)?;
    if matches!(name, "terminal" | "schedule") || name.starts_with("mcp:") {
        return place.fault(FaultCode::Reserved, RESERVED_ALLOWED);
    }
    if name == "discord_admin" && platform != Platform::Discord {
        let allowed = "this toolset under `platformToolsets.discord` alone";
        return place.fault(FaultCode::Conflict, allowed);
    }
    if TOOLSETS.contains(&name) {
        return Some(name.to_owned());
    }
    place.fault(FaultCode::BadValue, &format!("one of {known}"))
}

pub(super) fn discord(place: &Place<'_>) -> Option<DiscordConfig> {
    let mut fields = place.object()?;
    let api_url = fields.may("apiUrl", |place| {
        place.parsed(url::ORIGIN_ALLOWED, |text| {
            url::check(text, UrlShape::Origin)
        })
    });
    let post_channels = fields.or("postChannels", BTreeSet::new(), post_channels);
    let mentions = fields.or("approvalMentions", ApprovalMentions::Off, |place| {
        Some(match place.flag()? {
            true => ApprovalMentions::On,
            false => ApprovalMentions::Off,
        })
    });
    let sessions = fields.or("threadSessionsPerUser", ThreadSessions::Shared, |place| {
        Some(match place.flag()? {
            true => ThreadSessions::PerUser,
            false => ThreadSessions::Shared,
        })
    });
    fields.end();
    Some(DiscordConfig {
        api_url: api_url?.map(|url| url.text),
        post_channels: post_channels?,
        approval_mentions: mentions?,
        thread_sessions: sessions?,
    })
}

fn post_channels(place: &Place<'_>) -> Option<BTreeSet<ChannelId>> {
    // Absent means every channel of the server on a person's turn: an empty list would be read
    // both ways.
    let places = place.list(1..=CHANNELS_MAX, "channel ids")?;
    let read = all(&places, |place| {
        Some((place.snowflake::<ChannelId>()?, place.clone()))
    })?;
    distinct(read.iter().cloned(), "channel id")?;
    Some(read.into_iter().map(|(id, _)| id).collect())
}

pub(super) const APPROVAL_MODES: [(&str, ApprovalMode); 3] = [
    ("manual", ApprovalMode::Manual),
    ("smart", ApprovalMode::Smart),
    ("off", ApprovalMode::Off),
];

pub(super) fn approvals(place: &Place<'_>) -> Option<Approvals> {
    let mut fields = place.object()?;
    let mode = fields.or("mode", ApprovalMode::Manual, |place| {
        place.choice(&APPROVAL_MODES)
    });
    let timeout = fields.whole("askTimeoutSeconds", ASK_TIMEOUT_SECONDS);
    let reviewer = fields.may("reviewer", reviewer);
    let fits = match (mode, &reviewer) {
        (Some(ApprovalMode::Smart), Some(None)) => {
            let allowed = "the reviewer's model: mode \"smart\" needs one";
            fields.absent("reviewer", FaultCode::Needed, allowed)
        }
        (Some(ApprovalMode::Manual | ApprovalMode::Off), Some(Some(_))) => {
            let allowed = "nothing: only mode \"smart\" has a reviewer";
            fields.present("reviewer", FaultCode::Conflict, allowed)
        }
        _ => Some(()),
    };
    fields.end();
    let () = fits?;
    Some(Approvals {
        mode: mode?,
        ask_timeout: Duration::from_secs(timeout?),
        reviewer: reviewer?,
    })
}

/// A model that reviews: named as the native engine's is, and kept as written.
fn reviewer(place: &Place<'_>) -> Option<String> {
    let mut fields = place.object()?;
    let source = model_source(&mut fields);
    let complete = source.complete(&fields);
    fields.end();
    complete.map(|()| place.node().compact())
}
