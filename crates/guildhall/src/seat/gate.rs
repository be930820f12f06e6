//! The way from the tool host to the connector: asks, and the records around calls.
//!
//! In: what a call of a turn needs before it may change anything. Out: the connector's decision, or
//! word that the call's beginning is on disk. Never: a decision that the connector did not make, a
//! call of a turn that is over.

use super::effects::send;
use guildhall_authority::{
    ask::{AskId, AskSpec, Decision},
    call::{CallBegun, CallEnded},
};
use guildhall_connector::{ids::RowId, input::Input};
use guildhall_journal::failpoint;
use guildhall_tools::{Gate, GateClosed, Work};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::{mpsc::UnboundedSender, oneshot};

/// Who waits for what, shared by the driver and the gates of its turns.
#[derive(Clone, Default)]
pub(super) struct Waiting(Arc<Mutex<Waiters>>);

#[derive(Default)]
struct Waiters {
    asks: BTreeMap<AskId, (RowId, oneshot::Sender<Decision>)>,
    begins: BTreeMap<(RowId, u32), oneshot::Sender<()>>,
}

impl Waiting {
    fn waiters(&self) -> MutexGuard<'_, Waiters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a decision to the call that asked for it.
    pub(super) fn decided(&self, decision: Decision) {
        let ask = decision.ask();
        let waiter = self.waiters().asks.remove(&ask);
        let told = waiter.map(|(_, to)| to.send(decision).is_ok());
        if told != Some(true) {
            tracing::debug!(%ask, "nobody waits for that decision any more");
        }
    }

    /// A call's beginning is on disk.
    pub(super) fn begun(&self, turn: RowId, call: u32) {
        let waiter = self.waiters().begins.remove(&(turn, call));
        let told = waiter.map(|to| to.send(()).is_ok());
        if told != Some(true) {
            tracing::debug!(%turn, call, "nobody waits for that call any more");
        }
    }

    /// The turn is over: whoever still waits is told so.
    pub(super) fn over(&self, turn: RowId) {
        let mut waiters = self.waiters();
        waiters.asks.retain(|_, (of, _)| *of != turn);
        waiters.begins.retain(|(of, _), _| *of != turn);
    }
}

/// The gate of one turn.
pub(super) struct TurnGate {
    pub(super) turn: RowId,
    pub(super) waiting: Waiting,
    pub(super) inputs: UnboundedSender<Input>,
}

impl Gate for TurnGate {
    fn ask(&self, spec: AskSpec) -> Work<'_, Result<Decision, GateClosed>> {
        Box::pin(async move {
            let (to, answer) = oneshot::channel();
            let ask = spec.id;
            self.waiting.waiters().asks.insert(ask, (self.turn, to));
            let mut open = OpenAsk {
                ask,
                gate: self,
                answered: Answered::NotYet,
            };
            send(&self.inputs, Input::Asked(spec));
            let decision = answer.await;
            open.answered = Answered::Yes;
            decision.map_err(|_| GateClosed)
        })
    }

    fn begin(&self, begun: CallBegun) -> Work<'_, Result<(), GateClosed>> {
        Box::pin(async move {
            let (to, durable) = oneshot::channel();
            let key = (self.turn, begun.call);
            self.waiting.waiters().begins.insert(key, to);
            send(&self.inputs, Input::CallBegins(begun));
            durable.await.map_err(|_| GateClosed)?;
            failpoint("tools.begun");
            Ok(())
        })
    }

    fn end(&self, ended: CallEnded) {
        failpoint("tools.ended");
        send(&self.inputs, Input::CallEnds(ended));
    }
}

/// An ask whose call still waits. Dropping it withdraws the ask.
struct OpenAsk<'g> {
    ask: AskId,
    gate: &'g TurnGate,
    answered: Answered,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answered {
    NotYet,
    Yes,
}

impl Drop for OpenAsk<'_> {
    fn drop(&mut self) {
        if self.answered == Answered::Yes {
            return;
        }
        self.gate.waiting.waiters().asks.remove(&self.ask);
        send(&self.gate.inputs, Input::AskGone(self.ask));
    }
}
