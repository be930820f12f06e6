//! A schedule: what happens to the seat, and when.
//!
//! In: a seed. Out: knobs and a list of timed actions, faults among them. Never: an action that
//! depends on how an earlier one ended, so that any of them may be taken out and the rest still
//! means the same.

mod generate;

use crate::settings::{Bounds, Speaker, Spot, Variant};
use guildhall_connector::{moment::Brake, run::RunFailure};

/// One schedule, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The seed that made it; delays are drawn from it too.
    pub seed: u64,
    /// What holds for the whole run.
    pub knobs: Knobs,
    /// What happens, in order of time.
    pub steps: Vec<PlanStep>,
}

/// One action and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanStep {
    /// Milliseconds since the run began.
    pub at_ms: u64,
    /// What happens.
    pub action: Action,
}

/// What holds for a whole run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knobs {
    /// The policy's bounds.
    pub bounds: Bounds,
    /// How long Discord remembers a nonce, in milliseconds.
    pub nonce_window_ms: u64,
    /// What Discord does with a reply to a message that is gone.
    pub gone_reference: GoneReference,
    /// Whether history shows nonces.
    pub history_nonce: HistoryNonce,
    /// How long a session may be resumed after its link broke, in milliseconds.
    pub resume_ms: u64,
    /// Messages on a page of history, at most.
    pub page: usize,
    /// Milliseconds from the run's begin to midnight UTC.
    pub midnight_ms: u64,
    /// What happens once everything is quiet.
    pub encore: Encore,
}

/// What Discord does with a reply to a message that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoneReference {
    /// Posts it without the reference.
    Posts,
    /// Refuses it.
    Refuses,
}

/// Whether history shows nonces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryNonce {
    /// It does.
    Shown,
    /// It does not.
    Hidden,
}

/// What happens once everything is quiet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encore {
    /// Nothing.
    None,
    /// The process is killed, and comes up again after so many milliseconds, with or without hints.
    Restart(u64, Hints),
}

/// What happens to `gateway.json` over a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hints {
    /// It is there, and lags behind.
    Kept,
    /// It is lost.
    Lost,
}

/// What becomes of a write that was under way in a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Neither is on disk.
    Lost,
    /// Both are, though nobody was told.
    Durable,
    /// The group is, the spool is not.
    GroupAlone,
    /// The spool is, the group is not.
    SpoolAlone,
}

/// How a process goes and comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Down {
    /// How long it is down, in milliseconds.
    pub for_ms: u64,
    /// What becomes of a write under way.
    pub fate: Fate,
    /// What becomes of the hints.
    pub hints: Hints,
}

/// What a message looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A few words.
    Plain,
    /// A few words that mention the seat.
    Mention,
    /// Longer than the binding takes.
    Oversize,
    /// A few words with a text file, as clients send a long paste.
    Paste,
    /// A message that is no talk.
    Pin,
    /// Of another server.
    Elsewhere,
}

/// How a post goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostFault {
    /// Not sent; may be tried after so many milliseconds.
    NotSent(u64),
    /// Posted, and the answer is lost.
    AnswerLost,
    /// Never arrives, and the answer does not come.
    NeverArrives,
    /// No answer in time, and it arrives so many milliseconds after that.
    ArrivesLate(u64),
    /// Discord fails before it posts.
    FaultBefore,
    /// Discord posts and then fails.
    FaultAfter,
    /// Posted, and the answer takes so many milliseconds.
    AnswerSlow(u64),
    /// Discord does not take the content.
    ContentRefused,
    /// Discord does not take the token.
    Unauthorized,
}

/// How a look-up goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookUpFault {
    /// No answer.
    NoAnswer,
    /// What it shows was true so many milliseconds before the answer.
    Slow(u64),
}

/// What an engine's next run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Answers with so many parts.
    Parts(u8),
    /// Answers with nothing.
    Empty,
    /// Answers with characters that show nothing.
    Unseen,
    /// Answers in two texts.
    TwoTexts,
    /// Takes so many milliseconds, then answers.
    Slow(u64),
    /// Fails.
    Fails(RunFailure),
    /// Says that it was aborted though nobody asked.
    AbortsItself,
    /// Never ends, not even when aborted.
    Never,
    /// Never ends by itself; ends so many milliseconds after it was aborted, with an answer.
    AnswersAfterAbort(u64),
    /// Answers, and says so again.
    EndsTwice,
}

/// What calls the next run makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallPlan {
    /// How many, all at once.
    pub count: u8,
    /// Whether they need a person; else the policy allows them.
    pub asks: bool,
    /// After so many milliseconds they wait no longer.
    pub gone_ms: Option<u64>,
    /// Lines of the content that a card shows.
    pub lines: u8,
}

/// What a press or a reply says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Once.
    Once,
    /// Deny.
    Deny,
    /// Something that decides nothing.
    Other,
}

/// What the disk does with the next write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskFault {
    /// Takes so many milliseconds.
    Slow(u64),
    /// Fails: the process ends.
    Fails(Down),
}

/// What the seat may do in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everything.
    Whole,
    /// Read, not post.
    NoPost,
    /// Post, not read history.
    NoHistory,
}

/// Requests that an outage is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requests {
    /// Posts; none arrives.
    Posts,
    /// Look-ups.
    LookUps,
}

/// Whether a broken link's session can be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Session {
    /// As long as it lives.
    Lives,
    /// Discord has forgotten it.
    Forgotten,
}

/// Whether a new thread is announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announced {
    /// Over the gateway.
    Yes,
    /// It has to be looked up.
    No,
}

/// What becomes of the next message of the seat's own on its way over the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EchoFault {
    /// It never comes.
    Lost,
    /// It comes so many milliseconds late.
    Late(u64),
    /// It comes twice.
    Twice,
}

/// One thing that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Somebody writes.
    Say(Speaker, Spot, Shape),
    /// Somebody writes so many messages at once.
    Burst(Speaker, Spot, u8),
    /// The person's message so many back is edited.
    Edit(u8),
    /// The person's message so many back is deleted.
    Delete(u8),
    /// A moderator deletes the seat's own message so many back.
    DeleteOwn(u8),
    /// A thread is opened.
    OpenThread(Spot, Announced),
    /// The next post goes wrong.
    Post(PostFault),
    /// The next look-up goes wrong.
    LookUp(LookUpFault),
    /// The next run behaves so.
    Engine(Behaviour),
    /// The next write goes so.
    Disk(DiskFault),
    /// A checkpoint is made, when nothing is being written.
    Checkpoint,
    /// The disk is full.
    NoRoom,
    /// The disk has room again.
    Room,
    /// `STOP` is set or removed.
    Stop(Brake),
    /// `ESTOP` is set or removed.
    Estop(Brake),
    /// The binding file changes and is reloaded.
    Reload(Variant),
    /// SIGTERM, and a start so many milliseconds after the end.
    Drain(u64),
    /// SIGKILL.
    Kill(Down),
    /// SIGKILL after so many driver steps.
    KillIn(u8, Down),
    /// The link breaks and is mended after so many milliseconds.
    LinkDrop(u64, Session),
    /// The gateway repeats the last so many events.
    Repeat(u8),
    /// The next own message's event.
    Echo(EchoFault),
    /// The guild's threads come so many milliseconds after the next fresh session.
    GuildLate(u64),
    /// The operator withdraws the oldest row that waits.
    Cancel,
    /// The operator ends the oldest turn that runs.
    AbortTurn,
    /// The next run makes calls.
    Calls(CallPlan),
    /// Somebody presses a button of the card so many back, so many times.
    Press(Speaker, u8, Word, u8),
    /// Somebody replies to the card so many back.
    ReplyCard(Speaker, u8, Word),
    /// The operator answers the oldest open ask in the terminal.
    Terminal(Word),
    /// The wall clock jumps by so many milliseconds.
    WallJump(i64),
    /// For so many milliseconds no request of this kind gets an answer.
    Outage(Requests, u64),
    /// The seat's rights in a place change.
    Rights(Spot, Access),
}
