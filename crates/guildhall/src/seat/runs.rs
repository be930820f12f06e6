//! Runs of the engine, with the tools of their turn.
//!
//! In: a run to start, to abort. Out: the engine's reports, its calls as the host itself saw them.
//! Never: a call after its run, a record of calls that rests on an engine's word.

use super::{
    driver::{Driver, Running},
    effects::send,
    gate::TurnGate,
};
use guildhall_authority::event::MessageText;
use guildhall_confine::without_known_secrets;
use guildhall_connector::{
    ids::RowId,
    input::{FileSeen, Found, Input, Learned},
    run::{Ended, RunEvent, RunOutcome},
    step::StartRun,
};
use guildhall_engine::{Abort, Ground, RunRequest};
use guildhall_journal::failpoint;
use guildhall_tools::{Holds, Host, TurnTools};
use std::sync::Arc;

/// A run that goes on.
pub(super) struct Run {
    abort: Box<dyn Abort>,
    tools: TurnTools,
}

impl Run {
    /// Ends it. What has not begun to change anything does not begin any more.
    fn abort(&mut self) {
        self.tools.end();
        self.abort.abort();
    }
}

impl Driver {
    pub(super) fn start_run(&self, running: &mut Running, start: StartRun) {
        let StartRun {
            turn,
            route,
            mut prompt,
            scope,
        } = start;
        // A session keeps what it was asked.
        if let Some(without) = without_known_secrets(prompt.text.as_str()) {
            tracing::warn!(%turn, "somebody wrote a secret of this binding; the engine does not see it");
            prompt.text = MessageText::new(without);
        }
        tracing::info!(%turn, %route, bytes = prompt.text.as_str().len(), "turn started");
        failpoint("engine.before-run");
        let ground = Ground::of(&scope);
        let longest = scope.policy().limits.turn_timeout;
        let gate = TurnGate {
            turn,
            waiting: self.waiting.clone(),
            inputs: running.inputs.clone(),
        };
        let tools = self.host.turn(scope, Arc::new(gate));
        let (inputs, waiting, used) = (running.inputs.clone(), self.waiting.clone(), tools.clone());
        let report = Box::new(move |event| {
            let event = match event {
                RunEvent::Ended(mut ended) => {
                    failpoint("engine.after-run");
                    put_uses(&mut ended, &used);
                    if let RunOutcome::Answered(texts) = &mut ended.outcome {
                        mask_secrets(turn, texts);
                    }
                    waiting.over(turn);
                    RunEvent::Ended(ended)
                }
                other => other,
            };
            send(&inputs, Input::Run(turn, event));
        });
        let request = RunRequest {
            turn: turn.to_string(),
            route: route.to_string(),
            prompt,
            tools: Arc::new(tools.clone()),
            ground,
            longest,
        };
        let abort = self.engine.run(request, report);
        running.runs.insert(turn, Run { abort, tools });
    }

    pub(super) fn abort_run(running: &mut Running, turn: RowId) {
        tracing::info!(%turn, "abort");
        if let Some(run) = running.runs.get_mut(&turn) {
            run.abort();
        }
    }
}

/// Puts the calls that the host saw before what the engine adds to them.
fn put_uses(ended: &mut Ended, tools: &TurnTools) {
    tools.end();
    let mut uses = tools.uses();
    uses.append(&mut ended.tools);
    ended.tools = uses;
}

/// Takes the binding's secrets out of an answer, wherever the model has them from.
fn mask_secrets(turn: RowId, texts: &mut Vec<MessageText>) {
    let mut found = false;
    for text in texts.iter_mut() {
        if let Some(without) = without_known_secrets(text.as_str()) {
            *text = MessageText::new(without);
            found = true;
        }
    }
    // Halves of one in two texts.
    let whole = texts.iter().map(MessageText::as_str).collect::<Vec<_>>();
    if let Some(without) = without_known_secrets(&whole.join("\n")) {
        *texts = vec![MessageText::new(without)];
        found = true;
    }
    if found {
        tracing::warn!(%turn, "an answer held a secret of this binding; it is masked");
    }
}

/// Looks at a file that a dead process was about to write.
pub(super) async fn file_seen(host: Host, turn: RowId, call: u32, file: Sought) -> Learned {
    let looked =
        tokio::task::spawn_blocking(move || host.holds(&file.root, &file.path, &file.after));
    let seen = match looked.await {
        Ok(Holds::Yes) => Found::Here(FileSeen::AsMeant),
        Ok(Holds::No) => Found::Here(FileSeen::Otherwise),
        Ok(Holds::Unknown) | Err(_) => Found::NoAnswer,
    };
    Learned::File(turn, call, seen)
}

/// A file, and the hex SHA-256 of what it was to hold.
pub(super) struct Sought {
    pub(super) root: String,
    pub(super) path: String,
    pub(super) after: String,
}
