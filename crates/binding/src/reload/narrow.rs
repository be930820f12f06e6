//! The sections that may only narrow.
//!
//! In: a section before and after. Out: what was narrowed, and what does more than that. Never: a
//! doubt that counts as narrowing; two settings that cannot be compared need a new start.

use super::{Comparison, FixedWhy, Verdict, same};
use crate::policy::{
    ApprovalMode, Approvals, DiscordConfig, Platform, Policy, Root, RootWrite, SetSpark,
    ThreadSessions, Tools, Web,
};
use std::collections::BTreeSet;

pub(super) fn tools(old: Option<&Tools>, new: Option<&Tools>, verdict: &mut Verdict) {
    let (old, new) = match (old, new) {
        (None, None) => return,
        (Some(_), None) => return verdict.note("tools", Comparison::Narrower),
        (None, Some(_)) => return verdict.note("tools", Comparison::Wider),
        (Some(old), Some(new)) => (old, new),
    };
    roots(&old.roots, &new.roots, verdict);
    verdict.note(
        "tools.maxFileBytes",
        Comparison::of(&old.max_file_bytes, &new.max_file_bytes),
    );
    verdict.note(
        "tools.maxCallsPerTurn",
        Comparison::of(&old.max_calls_per_turn, &new.max_calls_per_turn),
    );
    web(old.web.as_ref(), new.web.as_ref(), verdict);
    setspark(old.setspark.as_ref(), new.setspark.as_ref(), verdict);
}

fn roots(old: &[Root], new: &[Root], verdict: &mut Verdict) {
    let named = |roots: &[Root], name: &str| roots.iter().position(|root| root.name == name);
    for before in old {
        match named(new, &before.name) {
            None => verdict.note(format!("tools.roots.{}", before.name), Comparison::Narrower),
            Some(index) => root(before, &new[index], verdict),
        }
    }
    let added = new.iter().filter(|now| named(old, &now.name).is_none());
    for now in added {
        verdict.note(format!("tools.roots.{}", now.name), Comparison::Wider);
    }
    // The first workspace is the one that a message means when it names none.
    let kept: Vec<_> = new.iter().filter_map(|now| named(old, &now.name)).collect();
    if !kept.is_sorted() {
        verdict.refuse("tools.roots", FixedWhy::Fixed);
    }
}

fn root(old: &Root, new: &Root, verdict: &mut Verdict) {
    let path = |key: &str| format!("tools.roots.{}.{key}", old.name);
    if old.path != new.path {
        verdict.note(path("path"), Comparison::Wider);
    }
    let write = match (old.write, new.write) {
        (RootWrite::No, RootWrite::No)
        | (RootWrite::Yes, RootWrite::Yes)
        | (RootWrite::Ask, RootWrite::Ask) => Comparison::Same,
        (RootWrite::Yes | RootWrite::Ask, RootWrite::No) => Comparison::Narrower,
        // From `true` to "ask" the root becomes a workspace, which another toolset serves.
        (RootWrite::No, RootWrite::Yes | RootWrite::Ask)
        | (RootWrite::Yes, RootWrite::Ask)
        | (RootWrite::Ask, RootWrite::Yes) => Comparison::Wider,
    };
    verdict.note(path("write"), write);
    verdict.note(path("git"), optional(old.git.as_ref(), new.git.as_ref()));
}

/// A section that may go, and may neither come nor change.
fn optional<T: PartialEq>(old: Option<&T>, new: Option<&T>) -> Comparison {
    match (old, new) {
        (Some(_), None) => Comparison::Narrower,
        (old, new) if old == new => Comparison::Same,
        _ => Comparison::Wider,
    }
}

fn web(old: Option<&Web>, new: Option<&Web>, verdict: &mut Verdict) {
    let (Some(old), Some(new)) = (old, new) else {
        return verdict.note("tools.web", optional(old, new));
    };
    verdict.note(
        "tools.web.searxng",
        optional(old.searxng.as_ref(), new.searxng.as_ref()),
    );
    verdict.note(
        "tools.web.maxFetchBytes",
        Comparison::of(&old.max_fetch_bytes, &new.max_fetch_bytes),
    );
}

fn setspark(old: Option<&SetSpark>, new: Option<&SetSpark>, verdict: &mut Verdict) {
    verdict.note("tools.setspark", optional(old, new));
}

pub(super) fn platform_toolsets(old: &Policy, new: &Policy, verdict: &mut Verdict) {
    let platforms = [
        (Platform::Discord, "platformToolsets.discord"),
        (Platform::Cotal, "platformToolsets.cotal"),
        (Platform::Schedule, "platformToolsets.schedule"),
    ];
    for (platform, path) in platforms {
        let (before, after) = (effective(old, platform), effective(new, platform));
        let comparison = if before == after {
            Comparison::Same
        } else if after.is_subset(&before) {
            Comparison::Narrower
        } else {
            Comparison::Wider
        };
        verdict.note(path, comparison);
    }
}

/// What a platform gets without a list: people everything that is configured but for these three,
/// the others nothing.
const OFF_BY_DEFAULT: [&str; 3] = ["discord", "discord_admin", "terminal"];

fn effective(policy: &Policy, platform: Platform) -> BTreeSet<&str> {
    match (policy.platform_toolsets.get(&platform), platform) {
        (Some(list), _) => list.iter().map(String::as_str).collect(),
        (None, Platform::Discord) => crate::read::TOOLSETS
            .into_iter()
            .filter(|name| !OFF_BY_DEFAULT.contains(name))
            .collect(),
        (None, Platform::Cotal | Platform::Schedule) => BTreeSet::new(),
    }
}

pub(super) fn discord(old: &DiscordConfig, new: &DiscordConfig, verdict: &mut Verdict) {
    verdict.fix("discord.apiUrl", same(&old.api_url, &new.api_url));
    let (before, after) = (&old.post_channels, &new.post_channels);
    // No list is more than any list to a person's turn, and less than any to the others.
    let posts = if before == after {
        Comparison::Same
    } else if !after.is_empty() && after.is_subset(before) {
        Comparison::Narrower
    } else {
        Comparison::Wider
    };
    verdict.note("discord.postChannels", posts);
    if old.approval_mentions != new.approval_mentions {
        // Whom a card mentions is no authority: both ways may be taken.
        verdict.note("discord.approvalMentions", Comparison::Narrower);
    }
    let sessions = match (old.thread_sessions, new.thread_sessions) {
        (ThreadSessions::Shared, ThreadSessions::PerUser) => Comparison::Narrower,
        (ThreadSessions::PerUser, ThreadSessions::Shared) => Comparison::Wider,
        (ThreadSessions::Shared, ThreadSessions::Shared)
        | (ThreadSessions::PerUser, ThreadSessions::PerUser) => Comparison::Same,
    };
    verdict.note("discord.threadSessionsPerUser", sessions);
}

pub(super) fn approvals(old: &Approvals, new: &Approvals, verdict: &mut Verdict) {
    let mode = match (old.mode, new.mode) {
        (old, new) if old == new => Comparison::Same,
        // A person decides everything.
        (_, ApprovalMode::Manual) => Comparison::Narrower,
        // A reviewer is launched with the process; `off` asks nobody.
        (_, ApprovalMode::Smart | ApprovalMode::Off) => Comparison::Wider,
    };
    verdict.note("approvals.mode", mode);
    if mode == Comparison::Same {
        verdict.fix("approvals.reviewer", same(&old.reviewer, &new.reviewer));
    }
    verdict.note(
        "approvals.askTimeoutSeconds",
        Comparison::of(&old.ask_timeout, &new.ask_timeout),
    );
}
