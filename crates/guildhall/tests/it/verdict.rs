//! The judge: what became of each message, by what Discord saw and by what the journal says.
//!
//! In: what was said, the channels, the journal. Out: one outcome for each message, and every way in
//! which something was lost, doubled or left open. Never: an outcome by the journal's word alone.

use crate::{
    ask::{Said, is_interrupted_line},
    hall::{Hall, Post},
    journal::Journal,
};
use std::collections::{BTreeMap, BTreeSet};

/// What a person got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The whole answer, once.
    Answered,
    /// The turn failed, and one fixed line said so.
    FailureLine,
    /// The process died in the turn, and one fixed line said so.
    InterruptedLine,
    /// Nothing.
    Lost,
    /// More than one of the above, or a part twice.
    Doubled,
    /// Neither a whole answer nor one fixed line.
    Broken,
}

/// What became of everything that was said.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) outcomes: Vec<Outcome>,
    /// What must not be, in words.
    pub(crate) faults: Vec<String>,
}

impl Verdict {
    pub(crate) fn count(&self, outcome: Outcome) -> usize {
        self.outcomes.iter().filter(|it| **it == outcome).count()
    }
}

/// Judges messages that are settled.
pub(crate) fn judge(hall: &Hall, journal: &Journal, said: &[Said]) -> Verdict {
    let mut verdict = Verdict::default();
    let intents = Intents::read(journal);
    let channels: BTreeSet<_> = said.iter().map(|said| said.channel).collect();
    for channel in channels {
        let here: Vec<_> = said.iter().filter(|said| said.channel == channel).collect();
        let first = here.iter().map(|said| said.row).min().unwrap_or(0);
        let posts = hall.bot_posts(channel, first);
        for post in posts.iter().filter(|post| !intents.knows(post)) {
            let fault = format!("a post that nobody intended: {post:?}");
            verdict.faults.push(fault);
        }
        judge_order(&here, &posts, &mut verdict);
        for said in here {
            let posts: Vec<_> = posts
                .iter()
                .filter(|p| intents.is_of(p, said.row))
                .collect();
            let outcome = outcome(*said, &posts, &intents);
            if matches!(outcome, Outcome::Lost | Outcome::Doubled | Outcome::Broken) {
                verdict
                    .faults
                    .push(format!("{outcome:?}: {said:?}: {posts:?}"));
            }
            let ids: Vec<_> = posts.iter().map(|post| post.id.to_string()).collect();
            judge_records(journal, said.row, outcome, &mut verdict.faults);
            judge_receipts(journal, said.row, &ids, &mut verdict.faults);
            verdict.outcomes.push(outcome);
        }
    }
    verdict
}

/// Who every nonce belongs to.
struct Intents(BTreeMap<String, (String, u64)>);

impl Intents {
    fn read(journal: &Journal) -> Self {
        let lines = journal.lines("outbox");
        let intents = lines.iter().filter(|line| line["k"] == "intent");
        let pairs = intents.map(|line| {
            let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            let part = line["part"].as_u64().unwrap_or(0);
            (text("nonce"), (text("owner"), part))
        });
        Self(pairs.collect())
    }

    fn of(&self, post: &Post) -> Option<&(String, u64)> {
        self.0.get(post.nonce.as_deref()?)
    }

    fn knows(&self, post: &Post) -> bool {
        self.of(post).is_some()
    }

    fn is_of(&self, post: &Post, row: u64) -> bool {
        self.of(post)
            .is_some_and(|(owner, _)| *owner == row.to_string())
    }
}

fn outcome(said: Said, posts: &[&Post], intents: &Intents) -> Outcome {
    let texts: Vec<_> = posts.iter().map(|post| post.content.as_str()).collect();
    let parts: Vec<_> = posts
        .iter()
        .filter_map(|p| intents.of(p))
        .map(|(_, n)| *n)
        .collect();
    let distinct: BTreeSet<_> = posts.iter().map(|post| &post.nonce).collect();
    let is_reply = posts
        .first()
        .is_some_and(|post| post.replies_to == Some(said.row))
        && posts.iter().skip(1).all(|post| post.replies_to.is_none());
    match texts.as_slice() {
        [] => Outcome::Lost,
        _ if distinct.len() < posts.len() => Outcome::Doubled,
        parts_seen if said.ask.is_answered_by(parts_seen) => {
            let in_order = parts.iter().copied().eq(1..=posts.len() as u64);
            if is_reply && in_order {
                Outcome::Answered
            } else {
                Outcome::Broken
            }
        }
        [line] if is_reply && is_interrupted_line(line) => Outcome::InterruptedLine,
        [line] if is_reply && said.ask.is_failed_by(line) => Outcome::FailureLine,
        lines if lines.len() > 1 && lines.iter().any(|line| is_interrupted_line(line)) => {
            Outcome::Doubled
        }
        _ => Outcome::Broken,
    }
}

/// On a route, messages are answered in the order in which they came.
fn judge_order(said: &[&Said], posts: &[Post], verdict: &mut Verdict) {
    let rows: BTreeSet<_> = said.iter().map(|said| said.row).collect();
    let replies: Vec<_> = posts
        .iter()
        .filter_map(|post| post.replies_to)
        .filter(|row| rows.contains(row))
        .collect();
    if !replies.is_sorted() {
        verdict.faults.push(format!("out of order: {replies:?}"));
    }
}

/// The journal holds each step of a message once, and its end fits what Discord saw.
fn judge_records(journal: &Journal, row: u64, outcome: Outcome, faults: &mut Vec<String>) {
    let once = [
        ("inbox", "seen"),
        ("admissions", "admitted"),
        ("rows", "queued"),
        ("rows", "settled"),
    ];
    for (log, kind) in once {
        let count = journal.about(log, kind, row).len();
        if count != 1 {
            faults.push(format!("{row}: {count} lines `{kind}` in {log}"));
        }
    }
    let how = match outcome {
        Outcome::Answered => "done",
        Outcome::FailureLine => "failed",
        Outcome::InterruptedLine => "interrupted",
        Outcome::Lost | Outcome::Doubled | Outcome::Broken => return,
    };
    match journal.turn(row) {
        None => faults.push(format!("{row}: no turn record")),
        Some(turn) if turn["how"] != how => {
            faults.push(format!("{row}: its record says {}, not {how}", turn["how"]));
        }
        Some(_) => {}
    }
}

/// The turn's record names the posts as they stand in the channel, all of them and no other.
fn judge_receipts(journal: &Journal, row: u64, posts: &[String], faults: &mut Vec<String>) {
    let Some(turn) = journal.turn(row) else {
        return;
    };
    let delivery = turn["delivery"].as_array().cloned().unwrap_or_default();
    let confirmed = delivery
        .iter()
        .filter(|it| it["outcome"]["state"] == "confirmed")
        .map(|it| it["outcome"]["message"].as_str().unwrap_or_default());
    if !confirmed.eq(posts.iter().map(String::as_str)) {
        faults.push(format!(
            "{row}: its record names other posts than {posts:?}: {turn}"
        ));
    }
}

#[test]
fn the_judge_sees_an_answer_that_is_not_there_or_not_whole() {
    use crate::{ask::Ask, seat::Ended, stage::Stage};
    let mut stage = Stage::open();
    let [one, two] = crate::stage::HERE;
    let said = [
        crate::ask::say(&stage.hall, one, Ask::Short(1)),
        crate::ask::say(&stage.hall, two, Ask::Long),
    ];
    stage.answered(&said);
    assert_eq!(stage.seat.terminate(), Ended::Exit(0));
    let short = stage.hall.bot_posts(one, said[0].row);
    let long = stage.hall.bot_posts(two, said[1].row);
    stage.hall.delete(one, short[0].id);
    stage.hall.delete(two, long[1].id);
    let verdict = judge(&stage.hall, &stage.seat.journal(), &said);
    assert_eq!(verdict.outcomes, [Outcome::Lost, Outcome::Broken]);
    assert!(verdict.faults.len() >= 4, "{verdict:#?}");
}

/// Judges a change that was asked for, by the file and by the journal.
pub(crate) fn judge_asked(
    journal: &Journal,
    row: u64,
    found: &str,
    before: &str,
    after: &str,
) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |what: String| faults.push(what);
    let row = row.to_string();
    let approvals = journal.lines("approvals");
    let opened: Vec<_> = approvals
        .iter()
        .filter(|line| line["k"] == "opened" && line["turn"] == *row)
        .collect();
    let of = |kind: &str| {
        let about = |line: &&serde_json::Value| {
            line["k"] == kind && opened.iter().any(|ask| ask["ask"] == line["ask"])
        };
        approvals.iter().filter(about).collect::<Vec<_>>()
    };
    let decided = of("decided");
    let allowed = decided
        .iter()
        .filter(|line| line["answer"] == "once")
        .count();
    let calls = journal.lines("calls");
    let mine = |kinds: &[&str]| {
        let is = |line: &&serde_json::Value| {
            line["turn"] == *row && kinds.iter().any(|kind| line["k"] == **kind)
        };
        calls.iter().filter(is).collect::<Vec<_>>()
    };
    let (begun, ended) = (mine(&["begun"]), mine(&["done", "refused", "unknown"]));
    if found != before && found != after {
        fault(format!("the file is neither: {found:?}"));
    }
    if found == after && (allowed != 1 || begun.len() != 1) {
        fault(format!(
            "changed by {allowed} decisions and {} beginnings",
            begun.len()
        ));
    }
    if begun.len() > 1 || begun.len() != ended.len() || decided.len() > 1 {
        fault(format!("{decided:?}, {begun:?}, {ended:?}"));
    }
    for end in ended {
        let tells = match end["k"].as_str() {
            Some("done") => found == after,
            Some("refused") => found == before,
            _ => true,
        };
        if !tells {
            fault(format!("on record as {end}, and the file is {found:?}"));
        }
    }
    if opened.len() != of("closed").len() {
        fault(format!(
            "{} asks, {} closed",
            opened.len(),
            of("closed").len()
        ));
    }
    faults
}
