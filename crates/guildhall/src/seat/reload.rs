//! Reload: the edited file, checked against what runs.
//!
//! In: the file as it is now, the policy in force. Out: one order, applied or refused with reasons.
//! Never: a policy that was not checked whole, a channel of another server.

use super::{
    driver::{Driver, Running},
    effects::send,
    orders::Owed,
};
use crate::home::Home;
use guildhall_binding::{Change, Differences, Policy, change};
use guildhall_connector::input::{Input, Order, ReloadNote};
use guildhall_discord::{Rest, rest::Outcome};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Whether the binding is being read again, and who waits to hear of it. Never two readings at a
/// time, so that an older one cannot come after a newer one.
#[derive(Default)]
pub(super) struct Reloads {
    step: ReloadStep,
    waiting: Vec<oneshot::Sender<Value>>,
    /// Who asked while the file was being read: it may have changed since.
    waiting_for_next: Vec<oneshot::Sender<Value>>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum ReloadStep {
    #[default]
    Idle,
    Reading,
    ReadingThenAgain,
}

impl Driver {
    /// Reads the binding, or has it read once more when a reading is under way.
    pub(super) fn reload(&mut self, running: &mut Running, who: Option<oneshot::Sender<Value>>) {
        let reloads = &mut running.reloads;
        if reloads.step != ReloadStep::Idle {
            reloads.step = ReloadStep::ReadingThenAgain;
            reloads.waiting_for_next.extend(who);
            return;
        }
        reloads.step = ReloadStep::Reading;
        reloads.waiting.extend(who);
        self.watch.reloading();
        let (home, rest) = (self.home.clone(), self.rest.clone());
        let (policy, inputs) = (Arc::clone(&self.policy), running.inputs.clone());
        tokio::spawn(async move {
            let order = order(&home, &policy, &rest).await;
            send(&inputs, Input::Ordered(order));
        });
    }

    /// A reading has ended: who waits hears of it once it is on disk.
    pub(super) fn reload_ended(&mut self, running: &mut Running, outcome: &Value) {
        let reloads = &mut running.reloads;
        let told = reloads.waiting.drain(..);
        running.owed.extend(told.map(|to| Owed {
            answer: outcome.clone(),
            to,
        }));
        let step = std::mem::take(&mut reloads.step);
        reloads.waiting = std::mem::take(&mut reloads.waiting_for_next);
        match step {
            ReloadStep::ReadingThenAgain => self.reload(running, None),
            ReloadStep::Idle | ReloadStep::Reading => self.watch.reloaded(),
        }
    }
}

/// What a client is told of a reading that ended, where this input is the end of one.
pub(super) fn outcome(input: &Input) -> Option<Value> {
    let Input::Ordered(order) = input else {
        return None;
    };
    match order {
        Order::Reload(_, note) => Some(
            json!({"ok": true, "outcome": "applied", "file": note.file, "changes": note.lines}),
        ),
        Order::ReloadRefused(note) => {
            Some(json!({"ok": true, "outcome": "refused", "file": note.file, "why": note.lines}))
        }
        Order::Drain
        | Order::Cancel(_)
        | Order::Abort(_)
        | Order::Settle(..)
        | Order::Decide(..) => None,
    }
}

/// SHA-256 of a file's bytes, as records hold it.
pub(crate) fn digest(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(bytes))
}

/// Reads the file and says what is to be done.
async fn order(home: &Home, old: &Arc<Policy>, rest: &Rest) -> Order {
    let (new, file) = match home.policy_and_bytes(old.name.as_str()) {
        Ok((policy, bytes)) => (policy, digest(&bytes)),
        Err(failure) => {
            let first = failure.what.lines().take(20).map(str::to_owned).collect();
            return Order::ReloadRefused(ReloadNote {
                file: None,
                lines: first,
            });
        }
    };
    let refused = |lines| {
        let file = Some(file.clone());
        tracing::warn!(?lines, "reload refused");
        Order::ReloadRefused(ReloadNote { file, lines })
    };
    let change = match change(old, &new) {
        Ok(change) => change,
        Err(fixed) => return refused(vec![fixed.to_string()]),
    };
    for channel in new
        .channels
        .keys()
        .filter(|id| !old.channels.contains_key(id))
    {
        match rest.channel(*channel).await {
            Outcome::Done(place) if place.guild == Some(old.guild.id) => {}
            Outcome::Done(_) => {
                return refused(vec![format!("channel {channel} is of another server")]);
            }
            Outcome::Refused(no) => {
                let (status, code) = (no.status, no.code);
                return refused(vec![format!(
                    "channel {channel} could not be read: Discord answered {status}, code {code}"
                )]);
            }
            Outcome::NotSent(_) => {
                return refused(vec![format!(
                    "channel {channel} could not be read: Discord could not be reached"
                )]);
            }
            Outcome::Unknown(_) => {
                return refused(vec![format!(
                    "channel {channel} could not be read: Discord gave no answer"
                )]);
            }
        }
    }
    let lines = lines(&change);
    tracing::info!(?lines, "reload applied");
    Order::Reload(
        new,
        ReloadNote {
            file: Some(file),
            lines,
        },
    )
}

/// A change in one line for each list.
fn lines(change: &Change) -> Vec<String> {
    fn ids<Id: ToString>(what: &str, differences: &Differences<Id>) -> Vec<String> {
        let kinds = [
            ("added", &differences.added),
            ("removed", &differences.removed),
            ("changed", &differences.changed),
        ];
        let filled = kinds.into_iter().filter(|(_, ids)| !ids.is_empty());
        let line = |(kind, ids): (&str, &Vec<Id>)| {
            let ids: Vec<_> = ids.iter().map(ToString::to_string).collect();
            format!("{what} {kind}: {}", ids.join(" "))
        };
        filled.map(line).collect()
    }
    let mut lines = ids("channels", &change.channels);
    lines.extend(ids("users", &change.users));
    lines.extend(change.limits.iter().map(|limit| {
        let number = |it: Option<u64>| it.map_or("none".to_owned(), |it| it.to_string());
        format!(
            "limits.{}: {} to {}",
            limit.limit,
            number(limit.from),
            number(limit.to)
        )
    }));
    lines.extend(change.other.iter().cloned());
    lines
}
