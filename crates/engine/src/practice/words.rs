//! From a message to what is done about it.
//!
//! In: the envelope, the message, what was asked before. Out: a plan. Never: a clock, chance, an
//! effect; the same input gives the same plan.

use super::{
    filler,
    memory::Memory,
    shown::harmless,
    work::{self, Planned},
};
use crate::{contract::RunRequest, envelope::Envelope};
use guildhall_connector::run::RunFailure;

/// Longest time that `slow` takes, in seconds.
pub(super) const SLOW_MAX_SECONDS: u64 = 30;
/// Highest number that `count to` and `repeat` go to.
const COUNT_MAX: usize = 2_000;
/// Longest name that is repeated, in characters.
const NAME_MAX_CHARS: usize = 80;
/// Longest earlier ask that is repeated, in characters.
const QUOTE_MAX_CHARS: usize = 200;

const HELP: &str = "I am a practice seat: a small fixed program, no model. You can ask me who I \
am, where we are, who you are, which engine I am, or what you asked before. I also know:
- `say <text>`: I say it
- `repeat <n> <text>`: the text, n times
- `count to <n>`: a long list
- `long <n>`: n characters of prose, code and tables
- `table`, `code`, `code <n>`: a table, a block of code, one of n lines
- `slow <n>`: an answer that takes n seconds, 30 at most
- `fail`, `fail <reason>`: a turn that fails
- `empty`: an answer without text";

/// What is done about a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Plan {
    /// A tool is called, and its result is the answer.
    Work(Planned),
    /// This is the answer.
    Say(String),
    /// The answer comes after a while.
    TakeTime {
        /// How long, in seconds.
        seconds: u64,
        /// The answer.
        then: String,
    },
    /// The answer has no text.
    SayNothing,
    /// There is no answer.
    Fail(RunFailure),
}

/// Decides what is done about a message: work for a tool, else a command, else a question that it
/// knows, else a friendly line that says what it is.
pub(super) fn plan(envelope: &Envelope, request: &RunRequest, memory: &Memory) -> Plan {
    let text = asked(envelope, request.prompt.text.as_str());
    let specs = request.tools.specs();
    if !specs.is_empty()
        && let Some(wanted) = work::understood(&text, &request.ground)
    {
        return match work::planned(wanted, specs, &request.ground) {
            Ok(planned) => Plan::Work(planned),
            Err(why) => Plan::Say(why.to_owned()),
        };
    }
    let help = match work::help(specs) {
        with if with.is_empty() => HELP.to_owned(),
        with => format!("{HELP}\n\nWith the tools of this turn:\n{with}"),
    };
    command(&text, &help).unwrap_or_else(|| Plan::Say(talk(envelope, &text, memory, help)))
}

/// The message itself: without what is quoted after it, without mentions at its start, and without
/// blanks around it.
pub(super) fn asked(envelope: &Envelope, text: &str) -> String {
    let own = envelope
        .get("characters")
        .and_then(|chars| chars.parse().ok());
    let own: String = text.chars().take(own.unwrap_or(usize::MAX)).collect();
    let mut rest = own.trim();
    while let Some((inside, after)) = rest.strip_prefix("<@").and_then(|r| r.split_once('>')) {
        let id = inside.trim_start_matches(['!', '&']);
        if id.is_empty() || !id.bytes().all(|b| b.is_ascii_digit()) {
            break;
        }
        rest = after.trim_start_matches([',', ':']).trim_start();
    }
    rest.to_owned()
}

fn command(text: &str, help: &str) -> Option<Plan> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    let plan = match (word.to_lowercase().as_str(), rest) {
        ("help" | "help!" | "help?" | "commands", "") => Plan::Say(help.to_owned()),
        ("say", said) if !said.is_empty() => Plan::Say(said.to_owned()),
        ("repeat", rest) => repeat(rest)?,
        ("count", rest) => Plan::Say(count(number(rest.strip_prefix("to")?.trim())?)),
        ("table", "") => Plan::Say(filler::table(5)),
        ("code", "") => Plan::Say(filler::code(5)),
        ("code", lines) => Plan::Say(filler::code(number(lines)?.min(COUNT_MAX))),
        ("long", chars) => long(number(chars)?),
        ("slow", seconds) => slow(number(seconds)?),
        ("fail", "") => Plan::Fail(RunFailure::EngineDied),
        ("fail", code) => Plan::Fail(failure(code)?),
        ("empty", "") => Plan::SayNothing,
        _ => return None,
    };
    Some(plan)
}

/// A number that is only digits; one past what a machine word holds is the largest one.
fn number(text: &str) -> Option<usize> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(usize::MAX))
}

fn repeat(rest: &str) -> Option<Plan> {
    let (times, said) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let said = match said.trim() {
        "" => "Here it is once more.",
        said => said,
    };
    // Bounded in length as well: 2,000 times a long message is no answer any more.
    let room = filler::TEXT_MAX_CHARS / (said.chars().count() + 2);
    let times = number(times)?.clamp(1, COUNT_MAX).min(room.max(1));
    Some(Plan::Say(vec![said; times].join("\n\n")))
}

fn count(to: usize) -> String {
    let to = to.clamp(1, COUNT_MAX);
    (1..=to)
        .map(|n| n.to_string())
        .collect::<Vec<_>>()
        .join("\n")
}

fn long(chars: usize) -> Plan {
    match filler::mixed(chars) {
        text if text.is_empty() => Plan::SayNothing,
        text => Plan::Say(text),
    }
}

fn slow(seconds: usize) -> Plan {
    let seconds = u64::try_from(seconds).map_or(SLOW_MAX_SECONDS, |s| s.min(SLOW_MAX_SECONDS));
    Plan::TakeTime {
        seconds,
        then: format!("That took {seconds} seconds, as you asked."),
    }
}

/// A reason by its code, as records spell it.
fn failure(code: &str) -> Option<RunFailure> {
    serde_json::from_value(serde_json::Value::String(code.to_lowercase())).ok()
}

/// What a message is about, as far as it understands it.
enum Subject {
    Before,
    Turns,
    Place,
    Requester,
    Engine,
    Itself,
    Help,
    Thanks,
    Parting,
    Greeting,
    Unknown,
}

/// A message as lower-case words.
struct Words(Vec<String>);

impl Words {
    fn of(text: &str) -> Self {
        let lower = text.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
        Self(
            words
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect(),
        )
    }

    /// Whether one of these words is there.
    fn has(&self, any: &[&str]) -> bool {
        self.0.iter().any(|word| any.contains(&word.as_str()))
    }

    /// Whether one of these phrases is there.
    fn says(&self, any: &[&str]) -> bool {
        let all = format!(" {} ", self.0.join(" "));
        any.iter()
            .any(|phrase| all.contains(&format!(" {phrase} ")))
    }

    fn greets(&self) -> bool {
        self.has(&[
            "hi",
            "hello",
            "hey",
            "hallo",
            "greetings",
            "howdy",
            "hola",
            "bonjour",
        ]) || self.says(&["good morning", "good afternoon", "good evening", "good day"])
    }

    /// The first subject that fits; the more exact ones come first.
    fn subject(&self) -> Subject {
        let past = ["before", "previous", "previously", "last", "earlier"];
        if self.has(&["ask", "asked", "question", "say", "said"]) && self.has(&past) {
            Subject::Before
        } else if self.has(&["turn", "turns", "times"]) && self.says(&["how many"]) {
            Subject::Turns
        } else if self.has(&["server", "guild", "channel", "thread"])
            || self.says(&["where are we", "where am i", "where are you", "what place"])
        {
            Subject::Place
        } else if self.says(&[
            "who am i",
            "my name",
            "who asked",
            "who is asking",
            "know me",
        ]) {
            Subject::Requester
        } else if self.has(&[
            "engine", "model", "llm", "ai", "gpt", "human", "robot", "bot",
        ]) {
            Subject::Engine
        } else if self.says(&["who are you", "what are you", "your name", "about yourself"]) {
            Subject::Itself
        } else if self.has(&["help"]) || self.says(&["can you do", "do you do", "your commands"]) {
            Subject::Help
        } else if self.has(&["thanks", "thank", "danke", "merci"]) {
            Subject::Thanks
        } else if self.has(&["bye", "goodbye"]) {
            Subject::Parting
        } else if self.greets() {
            Subject::Greeting
        } else {
            Subject::Unknown
        }
    }
}

const ENGINE: &str = "My engine is `practice`: fixed rules, no model behind them, and nothing \
leaves this machine to be answered.";
const ITSELF: &str = "I am the practice seat: a small fixed program that stands where a model \
will stand. I am no model. Say `help` for what I can do.";
const GREETING: &str =
    "I am the practice seat: a small fixed program, no model. Say `help` for what I can do.";

fn talk(envelope: &Envelope, text: &str, memory: &Memory, help: String) -> String {
    let words = Words::of(text);
    let answer = match words.subject() {
        Subject::Before => before(envelope, memory),
        Subject::Turns => turns(memory),
        Subject::Place => place(envelope),
        Subject::Requester => requester(envelope),
        Subject::Engine => ENGINE.to_owned(),
        Subject::Itself => ITSELF.to_owned(),
        Subject::Help => help,
        Subject::Thanks => format!("You are welcome{}.", comma_name(envelope)),
        Subject::Parting => format!("Goodbye{}.", comma_name(envelope)),
        Subject::Greeting => GREETING.to_owned(),
        Subject::Unknown => stranger(envelope, text),
    };
    if words.greets() {
        format!("Hello{}! {answer}", comma_name(envelope))
    } else {
        answer
    }
}

fn comma_name(envelope: &Envelope) -> String {
    match envelope.get("requester") {
        Some(name) => format!(", {}", harmless(name, NAME_MAX_CHARS)),
        None => String::new(),
    }
}

fn place(envelope: &Envelope) -> String {
    let name = |key| envelope.get(key).map(|name| harmless(name, NAME_MAX_CHARS));
    let server = name("server").unwrap_or_else(|| "a server whose name I was not told".to_owned());
    let channel = name("channel").unwrap_or_else(|| "not named".to_owned());
    let thread = envelope.get("thread").map(|thread| {
        let is_id = thread.bytes().all(|b| b.is_ascii_digit());
        // Discord shows a thread's id as its name; that is no mention and calls nobody.
        if is_id {
            format!("<#{thread}>")
        } else {
            harmless(thread, NAME_MAX_CHARS)
        }
    });
    match thread {
        Some(thread) => {
            format!(
                "We are on the server {server}, in the thread {thread} of the channel {channel}."
            )
        }
        None => format!("We are on the server {server}, in the channel {channel}, in no thread."),
    }
}

fn requester(envelope: &Envelope) -> String {
    match envelope.get("requester") {
        Some(name) => format!(
            "This server knows you as {}. You are on the list of people whom I may answer.",
            harmless(name, NAME_MAX_CHARS)
        ),
        None => "I was not told your name, but you are on the list of people whom I may answer."
            .to_owned(),
    }
}

fn before(envelope: &Envelope, memory: &Memory) -> String {
    let author = envelope.get("author_id").unwrap_or_default();
    match memory.last_of(author) {
        Some(asked) => format!(
            "Before this you asked, in turn {} of this conversation: \u{201c}{}\u{201d}",
            asked.number,
            harmless(&asked.text, QUOTE_MAX_CHARS)
        ),
        None => "You have not asked me anything in this conversation before.".to_owned(),
    }
}

fn turns(memory: &Memory) -> String {
    format!("This is turn {} of this conversation.", memory.turns() + 1)
}

fn stranger(envelope: &Envelope, text: &str) -> String {
    format!(
        "Your message of {} characters reached me{}, but I am a practice seat without a model and \
         have no answer to it. Say `help` for what I can do.",
        text.chars().count(),
        comma_name(envelope)
    )
}

#[cfg(test)]
mod tests;
