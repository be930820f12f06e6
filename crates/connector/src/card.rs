//! Cards: what people see of an ask, and how it ended.
//!
//! In: what the host shows of an effect, who asks, the policy of now. Out: one message of Discord's
//! length, whatever does not fit as a file, the people whom it mentions. Never: a name, a path or a
//! content that is more than text: each stands in code that it cannot end, and what shows nothing is
//! written out.

mod marks; // text in code, as it can be seen

use crate::{
    durable::{Ask, AskEnd, CallFate},
    ids::RowId,
    moment::Wall,
    record::{Decider, Who},
    reply::{self, MESSAGE_CONTENT_MAX_CHARS},
    step::{Attachment, CardParts},
};
use data_encoding::HEXLOWER;
use guildhall_authority::ask::{Answer, AskId, AskSpec, Content, may_decide};
use guildhall_binding::{ApprovalMentions, Policy, ids::UserId};
use marks::{Cut, Piece, block, code, list, one_line, units};
use sha2::{Digest as _, Sha256};

/// How a card begins while its ask is open, and once it has ended.
const HEAD: &str = "**Permission needed**";
const ENDED_HEAD: &str = "**Permission was asked**";
/// Longest line that says what will be done, in UTF-16 units.
const WHAT_MAX: usize = 300;
/// Longest list of facts, of what was read, of who may decide; each in UTF-16 units.
const FACTS_MAX: usize = 500;
const READ_MAX: usize = 300;
const DECIDERS_MAX: usize = 200;
/// Operators who are mentioned, at most: a mention has up to 24 characters of the card's 2000.
const MENTIONS_MAX_COUNT: usize = 20;
/// Longest name of a person, or label of a fact.
const NAME_MAX: usize = 60;
/// Longest single value in a list.
const VALUE_MAX: usize = 200;
/// Kept free for the sentence about what is attached.
const NOTE_MAX: usize = 260;
/// How the list of what was read begins.
const READ_HEAD: &str = "Read so far: the message that asks";
/// The name of the file with everything but the content, where that is not shown whole.
const REQUEST_NAME: &str = "request.txt";

/// Who asks, and until when.
pub(crate) struct Asker<'a> {
    /// Who caused the turn.
    pub(crate) who: &'a Who,
    /// What its message brought beside its own text.
    pub(crate) sources: &'a [String],
    /// The turn.
    pub(crate) turn: RowId,
    /// When no answer becomes a no.
    pub(crate) until: Wall,
}

/// The first words of a card; a channel's history is searched for them.
pub(crate) fn head(ask: AskId) -> String {
    format!("{HEAD} (ask `{ask}`)")
}

/// Whether an own message, as a read-back shows its text, is some ask's card, open or ended.
pub(crate) fn is_any(digested: &str) -> bool {
    let heads = [HEAD, ENDED_HEAD].map(reply::digest_text);
    heads.iter().any(|head| digested.starts_with(head.as_str()))
}

/// Whether an own message, as a read-back shows its text, is the card of an ask.
pub(crate) fn is_of(digested: &str, ask: AskId) -> bool {
    digested.starts_with(&reply::digest_text(&head(ask)))
}

/// The message of an ask.
pub(crate) fn of(policy: &Policy, spec: &AskSpec, asker: &Asker<'_>) -> (String, CardParts) {
    let deciders: Vec<_> = policy
        .users
        .values()
        .filter(|user| may_decide(policy, user.id))
        .collect();
    let mentions: Vec<UserId> = match policy.discord.approval_mentions {
        ApprovalMentions::On => deciders.iter().map(|user| user.id).collect(),
        ApprovalMentions::Off => Vec::new(),
    };
    // Discord tells those whose mention stands in the text, and nobody else.
    let mentions = &mentions[..mentions.len().min(MENTIONS_MAX_COUNT)];
    let by = list(
        deciders.iter().map(|user| code(&user.name, NAME_MAX)),
        ", ",
        DECIDERS_MAX,
    );
    let mut after = vec![match by.text.as_str() {
        "" => "May decide: nobody here; the binding names no operator".to_owned(),
        text => format!("May decide: {text}"),
    }];
    if !mentions.is_empty() {
        let words: Vec<_> = mentions.iter().map(|id| format!("<@{id}>")).collect();
        after.push(words.join(" "));
    }
    let unix = asker.until.0.div_euclid(1_000);
    after.push(format!(
        "Open until <t:{unix}:T> (<t:{unix}:R>); no answer is a no. By button, by a reply that is only `once` or `deny`, or by `guildhall asks` in the terminal."
    ));
    after.push(format!("Digest: `{}`", spec.digest));
    let (head, asker_line) = (head(spec.id), asker_line(policy, asker));
    let fixed = [&head, &asker_line].into_iter().chain(&after);
    let fixed: usize = fixed.map(|line| units(line) + 1).sum();
    let told = told(spec, asker.sources, fixed);
    let mut lines = vec![head, told.what];
    lines.extend(Some(told.facts).filter(|text| !text.is_empty()));
    lines.extend([asker_line, told.read]);
    lines.extend(after);
    let mut text = lines.join("\n");
    let attachments = put_content(&mut text, spec, asker.sources, told.cut);
    let parts = CardParts {
        ask: spec.id,
        mentions: mentions.to_vec(),
        attachments,
    };
    (text, parts)
}

/// What the host says of an effect beside its content, as a card shows it.
struct Told {
    what: String,
    facts: String,
    read: String,
    cut: Cut,
}

/// Each part has its share of what the fixed lines leave, so that a card fits however many people it
/// mentions.
fn told(spec: &AskSpec, sources: &[String], fixed: usize) -> Told {
    let taken = fixed + units(READ_HEAD) + NOTE_MAX + 8;
    let left = MESSAGE_CONTENT_MAX_CHARS.saturating_sub(taken);
    let share = |most: usize| most.min(left * most / (WHAT_MAX + FACTS_MAX + READ_MAX));
    let what = code(&spec.shown.what, share(WHAT_MAX));
    let facts = spec.shown.facts.iter().map(labelled);
    let facts = list(facts, "\n", share(FACTS_MAX));
    let read = sources.iter().chain(&spec.shown.read);
    let read = list(
        read.map(|read| code(read, VALUE_MAX)),
        ", ",
        share(READ_MAX),
    );
    Told {
        cut: what.cut.and(facts.cut).and(read.cut),
        what: what.text,
        facts: facts.text,
        read: match read.text.as_str() {
            "" => READ_HEAD.to_owned(),
            text => format!("{READ_HEAD}, {text}"),
        },
    }
}

fn labelled((label, value): &(String, String)) -> Piece {
    let (label, value) = (code(label, NAME_MAX), code(value, VALUE_MAX));
    Piece {
        text: format!("{}: {}", label.text, value.text),
        cut: label.cut.and(value.cut),
    }
}

/// Adds the content as far as it fits. What is cut, and what had to be written out or changed to be
/// shown at all, is said to be so and attached exactly as it is: the content by itself, so that its
/// digest is that of the bytes, and the rest of the request in a file of its own.
fn put_content(text: &mut String, spec: &AskSpec, sources: &[String], cut: Cut) -> Vec<Attachment> {
    let mut attached = Vec::new();
    if let Some(content) = &spec.shown.content
        && put_block(text, content) == Cut::Changed
    {
        attached.push(Attachment {
            name: file_name(content),
            text: content.text.clone(),
        });
    }
    if cut == Cut::Changed {
        let name = REQUEST_NAME.to_owned();
        let text = whole(spec, sources);
        attached.push(Attachment { name, text });
    }
    let named: Vec<_> = attached.iter().map(named).collect();
    if !named.is_empty() {
        let named = named.join(" and ");
        text.push_str(&format!(
            "\nNot all of it is shown as it is: the whole is in {named}."
        ));
    }
    attached
}

fn put_block(text: &mut String, content: &Content) -> Cut {
    let language = if content.name.ends_with(".diff") {
        "diff"
    } else {
        ""
    };
    let room = MESSAGE_CONTENT_MAX_CHARS.saturating_sub(units(text) + NOTE_MAX + 16);
    let block = block(&content.text, room);
    if !block.text.trim().is_empty() {
        text.push_str(&format!("\n```{language}\n{}\n```", block.text));
        return block.cut;
    }
    let bytes = content.text.len();
    text.push_str(&format!("\nContent: {bytes} bytes in which nothing shows"));
    match bytes {
        0 => Cut::Whole,
        _ => Cut::Changed,
    }
}

/// A file by its name, and the content with what its bytes have to hash to.
fn named(file: &Attachment) -> String {
    let name = code(&file.name, NAME_MAX).text;
    if file.name == REQUEST_NAME {
        return name;
    }
    let digest = Sha256::digest(file.text.as_bytes());
    format!("{name} (sha256 `{}`)", HEXLOWER.encode(&digest))
}

/// Everything that is asked beside the content, one line each.
fn whole(spec: &AskSpec, sources: &[String]) -> String {
    let shown = &spec.shown;
    let mut text = format!("{}\n", one_line(&shown.what));
    for (label, value) in &shown.facts {
        text.push_str(&format!("{}: {}\n", one_line(label), one_line(value)));
    }
    for read in sources.iter().chain(&shown.read) {
        text.push_str(&format!("read so far: {}\n", one_line(read)));
    }
    text.push_str(&format!("digest: {}\n", spec.digest));
    text
}

fn file_name(content: &Content) -> String {
    let plain = |c: &char| c.is_ascii_alphanumeric() || ['.', '-', '_'].contains(c);
    let name: String = content.name.chars().filter(plain).take(NAME_MAX).collect();
    match name.trim_start_matches('.') {
        "" | REQUEST_NAME => "content.txt".to_owned(),
        name => name.to_owned(),
    }
}

fn asker_line(policy: &Policy, asker: &Asker<'_>) -> String {
    let cause = match asker.turn {
        RowId::Message(_) => "a message of",
        RowId::Foreign(_) => "work of",
    };
    match asker.who {
        Who::User(id) => {
            let name = policy.users.get(id).map_or("", |user| user.name.as_str());
            format!("For: {cause} {} (user {id})", code(name, NAME_MAX).text)
        }
        Who::Other(name) => format!("For: {cause} {}", code(name, NAME_MAX).text),
    }
}

/// What a card says once its ask has ended. `what` is lost with the process that asked.
pub(crate) fn ended(
    policy: &Policy,
    id: AskId,
    ask: &Ask,
    what: Option<&str>,
    end: AskEnd,
    carried: &Carried,
) -> String {
    let what = match what {
        Some(what) => code(what, WHAT_MAX).text,
        None => format!(
            "{} (digest `{}`)",
            code(&ask.tool, NAME_MAX).text,
            ask.digest
        ),
    };
    let line = match end {
        AskEnd::Decided { by, answer, .. } => decided(policy, by, answer, carried),
        AskEnd::Expired => {
            "Expired: the seat was started anew before anybody answered, and nothing was done."
                .to_owned()
        }
        AskEnd::Undelivered => "It came too late: the request counted as not delivered.".to_owned(),
        AskEnd::Withdrawn => {
            "Withdrawn: its turn ended before anybody answered, and nothing was done.".to_owned()
        }
    };
    format!("{ENDED_HEAD} (ask `{id}`)\n{what}\n{line}")
}

fn decided(policy: &Policy, by: Decider, answer: Answer, carried: &Carried) -> String {
    let by = match by {
        Decider::User(id) => match policy.users.get(&id) {
            Some(user) => format!("by {}", code(&user.name, NAME_MAX).text),
            None => format!("by user {id}"),
        },
        Decider::Terminal => "in the terminal".to_owned(),
        Decider::Deadline | Decider::Stop => "by nobody".to_owned(),
    };
    match answer {
        Answer::Once => {
            let carried = match carried {
                Carried::NotYet => ".".to_owned(),
                Carried::Never => ", and not carried out: its turn ended first.".to_owned(),
                Carried::Ended(CallFate::Done(_)) => ", and done.".to_owned(),
                Carried::Ended(CallFate::Refused(why)) => {
                    format!(", and not done: {}.", code(why, NAME_MAX).text)
                }
                Carried::Ended(CallFate::Unknown(_)) => {
                    "; it is not known whether it was done.".to_owned()
                }
            };
            format!("Allowed once {by}{carried}")
        }
        Answer::Denied => format!("Denied {by}."),
        Answer::TimedOut => "Nobody answered in time, so it was not done.".to_owned(),
        Answer::Stopped => "A stop denied it.".to_owned(),
        Answer::Undelivered | Answer::Withdrawn => "It was not done.".to_owned(),
    }
}

/// What became of an effect that was allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Carried {
    /// Nothing yet.
    NotYet,
    /// Its turn ended before the call began.
    Never,
    /// Its call ended.
    Ended(CallFate),
}

#[cfg(test)]
mod tests;
