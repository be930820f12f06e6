//! The host's own record of a turn: every call, and what was read.
//!
//! In: calls as they come, begin and end. Out: entries for the turn record, and the list that a card
//! shows. Never: the model's word for any of it, a text that was read or written.

use crate::{
    call::Cancel,
    refusal::CallRefusal,
    shown::{encoded, recorded},
};
use guildhall_authority::{call::ToolUse, offer::ToolName};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

/// Calls beyond a turn's limit that still get an entry of their own; the rest is answered and not
/// counted, so that an engine that calls for ever fills nothing.
const BEYOND_LIMIT_MAX_COUNT: usize = 64;
/// Things that were read, as a card lists them.
const READ_MAX_COUNT: usize = 60;
/// Longest id of a call that an engine may give, in bytes.
const CALL_ID_MAX_BYTES: usize = 512;

/// Longest target of an entry as it is in JSON, in bytes: a URL or a query is whole.
const TARGET_MAX_BYTES: usize = 4 * 1024;
/// Bytes of all targets of a turn that are longer than the bound below. A record is one line of the
/// journal, which takes a mebibyte, and a turn may have a thousand calls.
const LONG_MAX_BYTES: usize = 256 * 1024;
/// Longest target where those bytes are used up.
const SHORT_MAX_BYTES: usize = 300;
/// Longest name of a root, real or not.
const ROOT_MAX_BYTES: usize = 64;
/// Longest pattern of a search in files where those bytes are used up.
const QUERY_MAX_BYTES: usize = 100;

/// What a call is about, for its entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    pub(crate) root: Option<String>,
    pub(crate) target: Option<String>,
    /// What is searched for, where that is not the target itself.
    pub(crate) query: Option<String>,
    pub(crate) bytes: u64,
    pub(crate) status: Option<u16>,
    pub(crate) hits: Option<u32>,
}

/// A turn's record.
#[derive(Default)]
pub(crate) struct Record {
    ids: BTreeSet<String>,
    uses: Vec<Use>,
    running: BTreeMap<u32, Arc<Cancel>>,
    read: Vec<String>,
    read_more: usize,
}

struct Use {
    name: String,
    about: About,
    taken: Duration,
    state: State,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// It is worked on, and has changed nothing.
    Open,
    /// A change of it has begun.
    Begun,
    Done,
    Refused(&'static str),
    Unknown(&'static str),
}

impl Record {
    /// Numbers a call that came.
    pub(crate) fn comes(
        &mut self,
        id: &str,
        name: &str,
        limit: usize,
    ) -> (Option<u32>, Result<(), CallRefusal>) {
        let number = self.uses.len();
        if number >= limit.saturating_add(BEYOND_LIMIT_MAX_COUNT) {
            return (None, Err(CallRefusal::CallLimit));
        }
        self.uses.push(Use {
            name: name.to_owned(),
            about: About::default(),
            taken: Duration::ZERO,
            state: State::Open,
        });
        let fresh = id.len() <= CALL_ID_MAX_BYTES && self.ids.insert(id.to_owned());
        let fits = if number >= limit {
            Err(CallRefusal::CallLimit)
        } else if fresh {
            Ok(())
        } else {
            Err(CallRefusal::CallId)
        };
        (u32::try_from(number).ok(), fits)
    }

    /// Work on a call starts, and can be cancelled.
    pub(crate) fn runs(&mut self, call: u32, cancel: &Arc<Cancel>) {
        self.running.insert(call, Arc::clone(cancel));
    }

    /// Nobody waits for a call any more, or it is over.
    pub(crate) fn rests(&mut self, call: u32) {
        self.running.remove(&call);
    }

    /// Cancels everything that is worked on.
    pub(crate) fn cancel_all(&self) {
        self.running.values().for_each(|cancel| cancel.set());
    }

    /// Says what a call is about.
    pub(crate) fn is_about(&mut self, call: u32, about: About) {
        if let Some(one) = self.entry(call) {
            one.about = about;
        }
    }

    /// What a call searches for.
    pub(crate) fn searches_for(&mut self, call: u32, query: &str) {
        if let Some(one) = self.entry(call) {
            one.about.query = Some(query.to_owned());
        }
    }

    /// How many bytes a call read or wrote.
    pub(crate) fn had_bytes(&mut self, call: u32, bytes: usize) {
        if let Some(one) = self.entry(call) {
            one.about.bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        }
    }

    /// What a web server answered.
    pub(crate) fn had_status(&mut self, call: u32, status: u16) {
        if let Some(one) = self.entry(call) {
            one.about.status = Some(status);
        }
    }

    /// How many hits a web search gave.
    pub(crate) fn had_hits(&mut self, call: u32, hits: usize) {
        if let Some(one) = self.entry(call) {
            one.about.hits = Some(u32::try_from(hits).unwrap_or(u32::MAX));
        }
    }

    /// A change of a call begins.
    pub(crate) fn begins(&mut self, call: u32) {
        if let Some(one) = self.entry(call) {
            one.state = State::Begun;
        }
    }

    /// A call, or a change of it, ended.
    pub(crate) fn ends(&mut self, call: u32, refused: Option<&CallRefusal>) {
        let state = match refused {
            None => State::Done,
            Some(refusal) if refusal.is_unknown() => State::Unknown(refusal.code()),
            Some(refusal) => State::Refused(refusal.code()),
        };
        if let Some(one) = self.entry(call) {
            // The end of a change, where it was seen, stands.
            if matches!(one.state, State::Open | State::Begun | State::Unknown(_)) {
                one.state = state;
            }
        }
    }

    /// How long a call has been worked on.
    pub(crate) fn took(&mut self, call: u32, taken: Duration) {
        if let Some(one) = self.entry(call) {
            one.taken = taken;
        }
    }

    /// Notes something that the model has been shown.
    pub(crate) fn was_shown(&mut self, what: &str) {
        let what = crate::shown::line(what);
        if self.read.contains(&what) {
            return;
        }
        if self.read.len() == READ_MAX_COUNT {
            self.read_more += 1;
            return;
        }
        self.read.push(what);
    }

    /// What the model has been shown so far, oldest first.
    pub(crate) fn what_was_read(&self) -> Vec<String> {
        let mut read = self.read.clone();
        if self.read_more > 0 {
            read.push(format!("and {} more", self.read_more));
        }
        read
    }

    /// One entry a call, in the order that they came.
    pub(crate) fn uses(&self) -> Vec<ToolUse> {
        let mut left = LONG_MAX_BYTES;
        self.uses.iter().map(|one| one.entry(&mut left)).collect()
    }

    fn entry(&mut self, call: u32) -> Option<&mut Use> {
        self.uses.get_mut(usize::try_from(call).ok()?)
    }
}

impl Use {
    /// The entry. What its target has beyond the short bound it takes of `left`.
    fn entry(&self, left: &mut usize) -> ToolUse {
        let (outcome, reason) = match self.state {
            State::Done => ("done", None),
            State::Refused(why) => ("refused", Some(why)),
            State::Unknown(why) => ("unknown", Some(why)),
            // The turn ended first.
            State::Open => ("refused", Some(CallRefusal::Cancelled.code())),
            State::Begun => ("unknown", Some(CallRefusal::EndUnseen.code())),
        };
        let root = self.about.root.as_deref();
        let mut shown = |text: &str, short: usize| {
            let shown = recorded(text, TARGET_MAX_BYTES.min(short + *left));
            *left -= encoded(&shown).saturating_sub(short).min(*left);
            shown
        };
        let target = self.about.target.as_deref();
        let target = target.map(|text| shown(text, SHORT_MAX_BYTES));
        let query = self.about.query.as_deref();
        let query = query.map(|text| shown(text, QUERY_MAX_BYTES));
        let (path, url, query) = match ToolName::parse(&self.name) {
            Some(ToolName::WebFetch) => (None, target, query),
            Some(ToolName::WebSearch) => (None, None, target),
            Some(_) | None => (target, None, query),
        };
        ToolUse {
            name: self.name.clone(),
            outcome: outcome.to_owned(),
            reason: reason.map(str::to_owned),
            root: root.map(|root| recorded(root, ROOT_MAX_BYTES)),
            path,
            url,
            query,
            status: self.about.status,
            hits: self.about.hits,
            bytes: self.about.bytes,
            duration_ms: u64::try_from(self.taken.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entries of so many calls, all about one target.
    fn uses(calls: usize, target: &str) -> Vec<ToolUse> {
        uses_of("web_fetch", calls, target)
    }

    fn uses_of(tool: &str, calls: usize, target: &str) -> Vec<ToolUse> {
        let mut record = Record::default();
        for number in 0..calls {
            let (call, _) = record.comes(&number.to_string(), tool, 1_000);
            let about = About {
                root: Some("\"".repeat(400)),
                target: Some(target.to_owned()),
                query: (tool == "search").then(|| target.to_owned()),
                status: Some(599),
                bytes: u64::MAX,
                ..About::default()
            };
            record.is_about(call.expect("a number"), about);
        }
        record.uses()
    }

    #[test]
    fn a_target_is_whole_and_one_that_is_endless_is_cut() {
        // Nothing is longer than a URL, and quotes and what is not ASCII make it longest.
        for target in [
            "u".repeat(2_048),
            "\"".repeat(2_048),
            "é".repeat(1_024),
            "漢".repeat(400),
        ] {
            let kept = uses(1, &target).remove(0).url;
            assert_eq!(kept.as_ref(), Some(&target));
        }
        let kept = uses(1, &"u".repeat(100_000)).remove(0).url;
        assert_eq!(kept, Some(format!("{}…", "u".repeat(TARGET_MAX_BYTES))));
    }

    #[test]
    fn the_longest_record_is_a_line_that_the_journal_takes() {
        for target in [
            "u".repeat(2_048),
            "\"".repeat(3_000),
            "\u{202e}\\".repeat(900),
        ] {
            for tool in ["web_fetch", "search"] {
                let uses = uses_of(tool, 1_000 + BEYOND_LIMIT_MAX_COUNT, &target);
                assert_eq!(uses.len(), 1_064);
                let line = serde_json::to_string(&uses).expect("texts and numbers");
                assert!(line.len() < 1_000_000, "{tool}: {}", line.len());
                let last = uses.last().expect("many");
                let ends = last.url.as_ref().or(last.path.as_ref());
                assert!(ends.is_some_and(|text| text.len() > 140), "{ends:?}");
            }
        }
    }
}
