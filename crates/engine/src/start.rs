//! One run as a task: exactly one end, whatever happens in it.
//!
//! In: a future that does a run's work. Out: its progress, then one end; a panic, an abort and a
//! dropped handle end it too. Never: an event after the end, work that goes on after an abort.

use crate::contract::{Abort, Report};
use guildhall_connector::run::{Ended, Progress, RunEvent, RunFailure, RunOutcome, ToolUse, Usage};
use std::{
    convert::Infallible,
    future::Future,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    runtime::Handle,
    sync::{Notify, oneshot},
    time::timeout,
};

/// What a run's work comes to.
pub(crate) struct Finished {
    /// How it ended.
    pub(crate) outcome: RunOutcome,
    /// One entry for each tool call.
    pub(crate) tools: Vec<ToolUse>,
    /// What is written to the session before the end is reported. An abort that comes this late
    /// no longer counts, so that the session and the outcome never disagree.
    pub(crate) keep: Option<Box<dyn FnOnce() + Send>>,
}

impl Finished {
    /// A run that leaves nothing in its session.
    pub(crate) fn bare(outcome: RunOutcome) -> Self {
        Self {
            outcome,
            tools: Vec::new(),
            keep: None,
        }
    }

    /// A run without an answer.
    pub(crate) fn failed(why: RunFailure) -> Self {
        Self::bare(RunOutcome::Failed(why))
    }
}

/// What a run has cost so far. It is reported however the run ends, by an abort too.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    usage: Usage,
    engine_turns: u32,
}

struct Line {
    /// Gone once the end was reported.
    report: Option<Report>,
    tally: Tally,
}

impl Drop for Line {
    // Only a panic in the work, or a runtime that shuts down, leaves a line without its end.
    fn drop(&mut self) {
        self.end(RunOutcome::Failed(RunFailure::EngineDied), Vec::new());
    }
}

impl Line {
    fn end(&mut self, outcome: RunOutcome, tools: Vec<ToolUse>) {
        if let Some(mut report) = self.report.take() {
            report(RunEvent::Ended(Box::new(Ended {
                outcome,
                usage: self.tally.usage,
                engine_turns: self.tally.engine_turns,
                tools,
            })));
        }
    }
}

/// What a run's work reports with.
#[derive(Clone)]
pub(crate) struct Signs {
    line: Arc<Mutex<Line>>,
    stop: Arc<Notify>,
}

impl Signs {
    /// Says that the engine is at work.
    pub(crate) fn progress(&self, what: Progress) {
        if let Some(report) = self.line().report.as_mut() {
            report(RunEvent::Progress(what));
        }
    }

    /// Counts one call of the engine's model.
    pub(crate) fn engine_turn(&self) {
        let mut line = self.line();
        line.tally.engine_turns = line.tally.engine_turns.saturating_add(1);
    }

    /// Adds to what the run has cost.
    pub(crate) fn spend(&self, usage: Usage) {
        let sum = &mut self.line().tally.usage;
        sum.input_tokens = sum.input_tokens.saturating_add(usage.input_tokens);
        sum.output_tokens = sum.output_tokens.saturating_add(usage.output_tokens);
        sum.micro_usd = sum.micro_usd.saturating_add(usage.micro_usd);
    }

    /// Waits until the run is to end. Only work with a grace is told; other work is dropped.
    pub(crate) async fn stopped(&self) {
        self.stop.notified().await;
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        // A report that panicked does not take the end away from the run.
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends its run when asked to, or when dropped: the task sees the other end of the channel go.
struct Running {
    stop: Option<oneshot::Sender<Infallible>>,
}

impl Abort for Running {
    fn abort(&mut self) {
        drop(self.stop.take());
    }
}

/// Starts `work` as a task of the current runtime. An abort drops it.
pub(crate) fn start<W, F>(report: Report, work: W) -> Box<dyn Abort>
where
    W: FnOnce(Signs) -> F,
    F: Future<Output = Finished> + Send + 'static,
{
    start_with_grace(report, Duration::ZERO, work)
}

/// The same, but work that is aborted is told so, and dropped after `grace`.
pub(crate) fn start_with_grace<W, F>(report: Report, grace: Duration, work: W) -> Box<dyn Abort>
where
    W: FnOnce(Signs) -> F,
    F: Future<Output = Finished> + Send + 'static,
{
    let (stop, stopped) = oneshot::channel::<Infallible>();
    let signs = Signs {
        line: Arc::new(Mutex::new(Line {
            report: Some(report),
            tally: Tally::default(),
        })),
        stop: Arc::default(),
    };
    match Handle::try_current() {
        Err(_) => signs.line().end(
            RunOutcome::Failed(RunFailure::EngineUnavailable),
            Vec::new(),
        ),
        Ok(runtime) => {
            let work = work(signs.clone());
            // The task ends by itself when the sender goes, so its own handle is not kept.
            drop(runtime.spawn(carry_out(signs, stopped, grace, work)));
        }
    }
    Box::new(Running { stop: Some(stop) })
}

async fn carry_out(
    signs: Signs,
    stopped: oneshot::Receiver<Infallible>,
    grace: Duration,
    work: impl Future<Output = Finished>,
) {
    // The work is gone before its end is told.
    let finished = {
        let mut work = pin!(work);
        tokio::select! {
            biased;
            _ = stopped => {
                if !grace.is_zero() {
                    signs.stop.notify_one();
                    // Whatever it comes to now, it was aborted.
                    drop(timeout(grace, work).await);
                }
                Finished::bare(RunOutcome::Aborted)
            }
            finished = &mut work => finished,
        }
    };
    if let Some(keep) = finished.keep
        && tokio::task::spawn_blocking(keep).await.is_err()
    {
        tracing::error!("keeping the turn in the session panicked");
    }
    signs.line().end(finished.outcome, finished.tools);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn reported() -> (Report, mpsc::Receiver<RunEvent>) {
        let (sender, events) = mpsc::channel();
        (Box::new(move |event| drop(sender.send(event))), events)
    }

    fn outcomes(events: &mpsc::Receiver<RunEvent>) -> Vec<RunOutcome> {
        let ends = events.try_iter().filter_map(|event| match event {
            RunEvent::Ended(ended) => Some(ended.outcome),
            RunEvent::Progress(_) => None,
        });
        ends.collect()
    }

    async fn settled(events: &mpsc::Receiver<RunEvent>) -> Vec<RunOutcome> {
        let mut ends = Vec::new();
        while ends.is_empty() {
            tokio::task::yield_now().await;
            ends = outcomes(events);
        }
        ends.extend(outcomes(events));
        ends
    }

    #[tokio::test]
    async fn work_that_panics_ends_its_run_once() {
        let (report, events) = reported();
        let _handle = start(report, |_| async { panic!("on purpose") });
        let died = RunOutcome::Failed(RunFailure::EngineDied);
        assert_eq!(settled(&events).await, [died]);
    }

    #[tokio::test]
    async fn what_a_run_has_cost_is_told_however_it_ends() {
        let (report, events) = reported();
        let mut handle = start(report, |signs| async move {
            signs.engine_turn();
            signs.spend(Usage {
                input_tokens: 5,
                ..Usage::default()
            });
            signs.progress(Progress::Text);
            std::future::pending().await
        });
        while events.try_recv().is_err() {
            tokio::task::yield_now().await;
        }
        handle.abort();
        let ended = loop {
            tokio::task::yield_now().await;
            if let Ok(RunEvent::Ended(ended)) = events.try_recv() {
                break *ended;
            }
        };
        assert_eq!(ended.outcome, RunOutcome::Aborted);
        assert_eq!((ended.usage.input_tokens, ended.engine_turns), (5, 1));
    }

    #[test]
    fn a_runtime_that_goes_away_ends_its_runs() {
        let (report, events) = reported();
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.expect("a runtime");
        let handle = runtime.block_on(async { start(report, |_| std::future::pending()) });
        drop(runtime);
        let died = RunOutcome::Failed(RunFailure::EngineDied);
        assert_eq!(outcomes(&events), [died]);
        drop(handle);
        assert_eq!(outcomes(&events), []);
    }
}
