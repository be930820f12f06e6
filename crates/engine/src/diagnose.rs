//! What a binding's real engine and model can do: a bounded list of small tasks with tools.
//!
//! In: an engine, and the tools of a scratch workspace, anew for each task. Out: one finding for each
//! task. Never: a root of the binding, more tasks than are listed, a finding that the model made itself:
//! each is read from the calls that were made and from the file that is there.

mod plan; // the tasks, and what each has to leave
mod report; // as text and as JSON

pub use plan::{FILE, Task};
pub use report::{Finding, Report, Verdict};

use crate::{
    contract::{Engine, RunRequest},
    ground::Ground,
    markup::RAW_CALL,
};
use guildhall_authority::event::MessageText;
use guildhall_binding::RootWrite;
use guildhall_connector::run::{Ended, Prompt, RunEvent, RunFailure, RunOutcome};
use guildhall_tools::{CallTools, Outcome, ToolCall, ToolResult, ToolSpec, Work};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{sync::mpsc, time::Instant};

/// Calls that one task may take.
const CALLS_MAX: u32 = 8;
/// The scratch workspace's name towards the model.
const WORKSPACE: &str = "scratch";

/// The scratch workspace, as the caller has it.
pub trait Scratch: Send + Sync {
    /// The tools of a task: the workspace's four. With [`Task::Refusal`] each change is refused.
    fn tools(&self, task: Task) -> Arc<dyn CallTools>;

    /// What the file [`FILE`] holds now; `None` where there is none.
    fn holds(&self) -> Option<String>;
}

/// Runs every task, one after the other, each no longer than `longest`.
///
/// # Cancel safety
/// Dropping the future aborts the run at work.
pub async fn diagnose(engine: &dyn Engine, scratch: &dyn Scratch, longest: Duration) -> Report {
    let mut findings = Vec::new();
    for task in Task::ALL {
        let before = scratch.holds();
        let calls = Arc::new(Counted::over(scratch.tools(task)));
        let began = Instant::now();
        let ended = run(engine, task, calls.clone(), longest).await;
        let seen = plan::Seen {
            structured: calls.calls(),
            refused: calls.refused(),
            before,
            after: scratch.holds(),
            raw: ended
                .as_ref()
                .is_some_and(|ended| ended.outcome == RunOutcome::Failed(RunFailure::RawToolCall)),
            answer: ended.as_ref().and_then(answer),
        };
        let usage = ended.as_ref().map(|ended| ended.usage).unwrap_or_default();
        findings.push(Finding {
            task,
            verdict: task.verdict(&seen),
            why: ended.as_ref().and_then(failure),
            dialect: ended.as_ref().and_then(dialect),
            ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            micro_usd: usage.micro_usd,
            calls: seen.structured,
        });
    }
    Report {
        engine: engine.describe(),
        findings,
    }
}

fn answer(ended: &Ended) -> Option<String> {
    match &ended.outcome {
        RunOutcome::Answered(texts) => Some(
            texts
                .iter()
                .map(MessageText::as_str)
                .collect::<Vec<_>>()
                .join("\n"),
        ),
        RunOutcome::Failed(_) | RunOutcome::Aborted => None,
    }
}

/// Why a run gave no answer. A call as text has a verdict of its own.
fn failure(ended: &Ended) -> Option<RunFailure> {
    match ended.outcome {
        RunOutcome::Failed(RunFailure::RawToolCall)
        | RunOutcome::Answered(_)
        | RunOutcome::Aborted => None,
        RunOutcome::Failed(why) => Some(why),
    }
}

/// How a call was written that came as text.
fn dialect(ended: &Ended) -> Option<String> {
    let mut reasons = ended.tools.iter().filter_map(|used| used.reason.as_deref());
    reasons.find_map(|reason| reason.strip_prefix(RAW_CALL).map(str::to_owned))
}

/// One task as one turn; `None` where it had to be aborted.
async fn run(
    engine: &dyn Engine,
    task: Task,
    tools: Arc<dyn CallTools>,
    longest: Duration,
) -> Option<Ended> {
    let (sender, mut events) = mpsc::unbounded_channel();
    let report = Box::new(move |event| drop(sender.send(event)));
    let request = RunRequest {
        turn: format!("diagnose-{}", task.code()),
        // A route of its own, so that one task does not show the model how another was done.
        route: format!("diagnose-{}", task.code()),
        prompt: Prompt {
            envelope: "[guildhall server=\"diagnose\" channel=\"diagnose\"]".to_owned(),
            text: MessageText::new(task.asks()),
        },
        tools,
        ground: Ground {
            roots: vec![(WORKSPACE.to_owned(), RootWrite::Ask)],
            workspace: Some(WORKSPACE.to_owned()),
            calls_max: CALLS_MAX,
        },
        longest,
    };
    let _running = engine.run(request, report);
    let end = async {
        loop {
            match events.recv().await {
                Some(RunEvent::Ended(ended)) => return Some(*ended),
                Some(RunEvent::Progress(_)) => {}
                None => return None,
            }
        }
    };
    tokio::time::timeout(longest, end).await.unwrap_or(None)
}

/// Tools whose calls are counted.
struct Counted {
    tools: Arc<dyn CallTools>,
    made: Mutex<(u32, u32)>,
}

impl Counted {
    fn over(tools: Arc<dyn CallTools>) -> Self {
        Self {
            tools,
            made: Mutex::default(),
        }
    }

    fn calls(&self) -> u32 {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    fn refused(&self) -> u32 {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).1
    }
}

impl CallTools for Counted {
    fn arguments_max(&self) -> usize {
        self.tools.arguments_max()
    }

    fn specs(&self) -> &[ToolSpec] {
        self.tools.specs()
    }

    fn call(&self, call: ToolCall) -> Work<'_, ToolResult> {
        Box::pin(async move {
            let result = self.tools.call(call).await;
            let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
            made.0 += 1;
            made.1 += u32::from(result.outcome == Outcome::Refused);
            result
        })
    }
}

#[cfg(test)]
mod tests;
