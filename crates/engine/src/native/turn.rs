//! One turn with a model: the conversation so far, tries at an answer, calls of tools, what is made
//! of it all.
//!
//! In: a request and a provider. Out: how the run finished. Never: a second try at a message of which
//! text or a call has come, two calls at once, a call that came as text carried out, a turn in the
//! transcript that came to nothing.

pub(super) mod settle; // what is made of a whole answer

use super::{
    Settings,
    api::{Called, Calling, Conversation, Message, Step},
    calls::{Call, Ids},
    exchange::{ANSWER_MAX_BYTES, Ask, Told},
    heard::Stop,
    problem::Next,
    prompt,
    tidy::tidy,
    transcript::{Exchange, KeptStep, Shown, Transcript},
};
use crate::{
    contract::RunRequest,
    markup,
    start::{Finished, Signs},
};
use guildhall_authority::event::MessageText;
use guildhall_connector::run::{Progress, Prompt, RunFailure, RunOutcome};
use guildhall_tools::{CallTools, Outcome, ToolCall, ToolResult};
use settle::{Settled, settle};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

/// Messages of the model beside one for each call that a turn has: one that answers, and two that call
/// all the same once calls are used up.
const SPARE_STEPS: u32 = 3;
/// Calls of a turn whose ground does not say.
const CALLS_DEFAULT: u32 = 8;
/// Longest tool name that is sent back, in characters. Source: Anthropic's documentation of tools.
const NAME_MAX_CHARS: usize = 64;

/// Given to the model in place of the result of a call that was not whole.
const CUT_CALL: &str = "not-carried-out: the message reached its limit in the middle of this call";
/// Told to people when a model called tools to the end.
const KEPT_CALLING: &str = "(The model kept calling tools and gave no last answer. It stops here.)";
/// Kept in the transcript in place of the answer of a turn that called tools and failed.
const UNANSWERED: &str = "(This turn ended without an answer, after the tool calls above.)";

/// Answers one request.
pub(super) async fn answer(signs: Signs, request: RunRequest, settings: Arc<Settings>) -> Finished {
    let transcript = match settings.conversations.open(&request.route).await {
        Ok(transcript) => transcript,
        Err(error) => {
            tracing::error!(turn = request.turn, %error, "the native engine cannot read its session");
            return Finished::failed(RunFailure::EngineUnavailable);
        }
    };
    let specs = request.tools.specs();
    let mut turn = Turn {
        id: &request.turn,
        signs: &signs,
        settings: &settings,
        transcript: &transcript,
        tools: &*request.tools,
        system: prompt::system(&settings.context, &request.ground.words(specs)),
        asked: asked(&request.prompt),
        budget: settings.transcript_tokens,
        calls_max: match request.ground.calls_max {
            0 => CALLS_DEFAULT,
            calls => calls,
        },
        time_left: request.longest,
        ids: Ids::default(),
        steps: Vec::new(),
        texts: Vec::new(),
    };
    let Settled {
        outcome,
        tools,
        remembered,
    } = turn.run().await;
    let steps: Vec<KeptStep> = turn.steps.iter().map(KeptStep::from).collect();
    let remembered = remembered.or_else(|| (!steps.is_empty()).then(|| UNANSWERED.to_owned()));
    let asked = turn.asked;
    let keep = remembered.map(|answered| {
        let (turn, route) = (request.turn, request.route);
        let settings = Arc::clone(&settings);
        let exchange = Exchange {
            turn,
            asked,
            steps,
            answered,
        };
        Box::new(move || {
            let budget = settings.transcript_tokens;
            settings
                .conversations
                .keep(&route, transcript, exchange, budget);
        }) as Box<dyn FnOnce() + Send>
    });
    Finished {
        outcome,
        tools,
        keep,
    }
}

fn asked(prompt: &Prompt) -> String {
    format!("{}\n{}", prompt.envelope, prompt.text.as_str())
}

/// A turn while it is at work.
struct Turn<'t> {
    id: &'t str,
    signs: &'t Signs,
    settings: &'t Settings,
    transcript: &'t Transcript,
    tools: &'t dyn CallTools,
    system: String,
    asked: String,
    /// Tokens of the conversation; less once the model has said that it is too long.
    budget: usize,
    calls_max: u32,
    /// Of the turn's own time; what tools and the people they ask take is not of it.
    time_left: Duration,
    ids: Ids,
    steps: Vec<Step>,
    /// What was said before tools were called, for people.
    texts: Vec<String>,
}

impl Turn<'_> {
    async fn run(&mut self) -> Settled {
        let steps_max = self.calls_max.saturating_add(SPARE_STEPS);
        for _ in 0..steps_max {
            let told = match self.tries().await {
                Ok(told) => told,
                Err(why) => return Settled::failed(why),
            };
            let bytes = self.texts.iter().map(String::len).sum::<usize>() + told.text.len();
            if bytes > ANSWER_MAX_BYTES {
                return Settled::failed(RunFailure::TooLong);
            }
            if told.calls.is_empty() || self.tools.specs().is_empty() {
                return settle(&told, &self.names(), std::mem::take(&mut self.texts));
            }
            self.step(told).await;
        }
        tracing::warn!(turn = self.id, "the model kept calling tools to the end");
        self.texts.push(KEPT_CALLING.to_owned());
        let texts = self.texts.iter().map(MessageText::new).collect();
        Settled {
            outcome: RunOutcome::Answered(texts),
            tools: Vec::new(),
            remembered: Some(KEPT_CALLING.to_owned()),
        }
    }

    fn names(&self) -> Vec<String> {
        let names = self.tools.specs().iter().map(|spec| spec.name.as_str());
        names.map(str::to_owned).collect()
    }

    /// Whether the model may call tools in its next message.
    fn calling(&self) -> Calling {
        let calls: usize = self.steps.iter().map(|step| step.calls.len()).sum();
        if u32::try_from(calls).is_ok_and(|calls| calls < self.calls_max) {
            Calling::May
        } else {
            Calling::MayNot
        }
    }

    /// Asks until a whole message has come.
    async fn tries(&mut self) -> Result<Told, RunFailure> {
        let shown = match self.tools.specs() {
            [] => Shown::Texts,
            _ => Shown::Calls,
        };
        let mut attempt = 1;
        loop {
            let sent = self
                .transcript
                .messages(&self.asked, &self.steps, self.budget, shown);
            let ask = Ask {
                body: self.body(&sent.messages),
                price: self.settings.price,
                longest: self.time_left,
                arguments_max: self.tools.arguments_max(),
                signs: self.signs,
            };
            let began = Instant::now();
            let answered = self.settings.provider.ask(ask).await;
            self.time_left = self.time_left.saturating_sub(began.elapsed());
            let cut = match answered {
                Ok(told) => return Ok(told),
                Err(cut) => cut,
            };
            let mut next = cut.problem.next(attempt, cut.shown, fastrand::f64());
            if matches!(next, Next::Again(wait) if wait >= self.time_left) {
                // To wait until the turn's time is up would hide what kept it waiting.
                next = Next::GiveUp(cut.problem.failure());
            }
            tracing::warn!(
                turn = self.id,
                attempt,
                problem = cut.problem.word(),
                ?next,
                "no answer from the model"
            );
            match next {
                Next::GiveUp(why) => return Err(why),
                Next::Again(wait) => {
                    tokio::time::sleep(wait).await;
                    self.time_left = self.time_left.saturating_sub(wait);
                }
                // With nothing left to leave out, the ask itself is too long.
                Next::Shorter if !sent.shrinks => return Err(cut.problem.failure()),
                Next::Shorter => self.budget /= 2,
            }
            attempt += 1;
        }
    }

    fn body(&self, messages: &[Message]) -> bytes::Bytes {
        self.settings.provider.api.body(&Conversation {
            model: &self.settings.model,
            system: &self.system,
            messages,
            thinking: self.settings.thinking.as_deref(),
            tools: self.tools.specs(),
            calling: self.calling(),
        })
    }

    /// Carries out the calls of a message, one after the other: a person may be asked about each.
    async fn step(&mut self, told: Told) {
        let Told {
            text,
            thoughts,
            mut calls,
            stopped,
        } = told;
        self.ids.settle(&mut calls);
        let text = tidy(&text);
        // A call that came as text beside real ones is not for people either.
        if !text.is_empty() && markup::raw_call(&text, &self.names()).is_none() {
            self.texts.push(text.clone());
        }
        let cut = (stopped == Some(Stop::Length)).then(|| calls.len().saturating_sub(1));
        let mut step = Step {
            text,
            thoughts: thoughts.into_values().collect(),
            calls: Vec::new(),
        };
        for (at, call) in calls.into_iter().enumerate() {
            let result = if cut == Some(at) {
                ToolResult {
                    outcome: Outcome::Refused,
                    text: CUT_CALL.to_owned(),
                }
            } else {
                self.call(&call).await
            };
            step.calls.push(Called {
                id: call.id,
                name: name_to_send(&call.name),
                arguments: call.arguments,
                outcome: result.outcome,
                result: result.text,
            });
        }
        self.steps.push(step);
    }

    async fn call(&self, call: &Call) -> ToolResult {
        self.signs.progress(Progress::ToolBegan);
        let result = self
            .tools
            .call(ToolCall {
                id: call.id.clone(),
                name: call.name.clone(),
                arguments: call.arguments.clone(),
            })
            .await;
        self.signs.progress(Progress::ToolEnded);
        result
    }
}

/// A tool's name as it may stand in a transcript: providers refuse one that a model made up.
fn name_to_send(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name: String = name
        .chars()
        .take(NAME_MAX_CHARS)
        .map(|c| if plain(c) { c } else { '_' })
        .collect();
    if name.is_empty() {
        "unnamed".to_owned()
    } else {
        name
    }
}
