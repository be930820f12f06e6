//! What other commands ask of a running seat.
//!
//! In: requests from the control socket. Out: answers; orders to the connector. Never: "done" for
//! an order whose records are not on disk.

use super::{
    control::{Asked, LIST_MAX_COUNT, Request, Word, no},
    driver::{Driver, Running},
};
use guildhall_authority::ask::{Answer, AskId, AskSpec};
use guildhall_connector::{
    durable::{Ask, Delivery, DeliveryState, Row, RowState},
    ids::{Nonce, RowId},
    input::{Input, Order, Verdict},
    moment::Moment,
    record::Who,
};
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// Longest content of an ask in an answer, in bytes: its JSON form stays below the longest answer.
const CONTENT_MAX_BYTES: usize = 128 * 1024;

/// An answer that waits for the disk.
pub(super) struct Owed {
    pub(super) answer: Value,
    pub(super) to: oneshot::Sender<Value>,
}

impl Driver {
    /// Answers a request, or carries it out and answers once that is durable.
    pub(super) fn asked(&mut self, running: &mut Running, at: &Moment, asked: Asked) {
        let Asked { request, answer } = asked;
        let said = match request {
            Request::Status {} => json!({"ok": true, "status": self.shown(running, at)}),
            Request::Rows {} => list(
                "rows",
                self.connector
                    .durable()
                    .open_rows()
                    .map(|(id, row)| row_shown(id, row)),
            ),
            Request::Deliveries {} => {
                let open = self.connector.durable().open_deliveries();
                list(
                    "deliveries",
                    open.map(|(nonce, it)| delivery_shown(nonce, it)),
                )
            }
            Request::Reload {} => return self.reload(running, Some(answer)),
            Request::Settle { nonce, there } => {
                let verdict = there.map_or(Verdict::NotThere, Verdict::There);
                let order = Order::Settle(nonce, verdict);
                let was_open = self.is_open_delivery(nonce);
                self.decide(running, at, Input::Ordered(order));
                match (was_open, self.is_open_delivery(nonce)) {
                    (false, _) => no("not-open", "that is not an open delivery"),
                    (true, true) => no("under-way", "the seat is still working on that delivery"),
                    (true, false) => json!({"ok": true}),
                }
            }
            Request::Asks {} => list(
                "asks",
                self.connector
                    .open_asks()
                    .map(|(spec, open)| self.ask_summary(spec, open)),
            ),
            Request::Ask { ask } => self.ask_whole(ask),
            Request::Decide { ask, answer } => self.decide_ask(running, at, ask, answer),
            Request::Cancel { row } => self.cancel(running, at, row),
            Request::Abort { row } => self.abort(running, at, row),
        };
        running.owed.push(Owed {
            answer: said,
            to: answer,
        });
        self.pay(running);
    }

    /// Gives the answers that waited for the disk, when nothing does any more.
    pub(super) fn pay(&mut self, running: &mut Running) {
        if running.owed.is_empty() || !self.outbound.is_idle() {
            return;
        }
        for owed in running.owed.drain(..) {
            if owed.to.send(owed.answer).is_err() {
                tracing::debug!("a control client did not wait for its answer");
            }
        }
    }

    fn is_open_delivery(&self, nonce: Nonce) -> bool {
        let mut open = self.connector.durable().open_deliveries();
        open.any(|(known, _)| known == nonce)
    }

    fn state_of(&self, row: RowId) -> Option<RowState> {
        let mut open = self.connector.durable().open_rows();
        open.find(|(known, _)| *known == row)
            .map(|(_, found)| found.state.clone())
    }

    fn cancel(&mut self, running: &mut Running, at: &Moment, row: RowId) -> Value {
        match self.state_of(row) {
            None => no("not-open", "that is not an open row"),
            Some(RowState::Queued) => {
                self.decide(running, at, Input::Ordered(Order::Cancel(row)));
                json!({"ok": true, "row": row, "how": "cancelled"})
            }
            Some(_) => no(
                "claimed",
                "its turn has begun: it can be aborted, not cancelled",
            ),
        }
    }

    fn abort(&mut self, running: &mut Running, at: &Moment, row: RowId) -> Value {
        if !running.runs.contains_key(&row) {
            return no("not-running", "no engine runs for that row");
        }
        self.decide(running, at, Input::Ordered(Order::Abort(row)));
        json!({"ok": true, "row": row, "how": "aborting"})
    }
}

/// Asks, and a person's word on them.
impl Driver {
    fn ask_summary(&self, spec: &AskSpec, open: &Ask) -> Value {
        let mut rows = self.connector.durable().open_rows();
        let who = rows.find(|(row, _)| *row == open.turn).map(|(_, row)| row);
        json!({
            "ask": spec.id,
            "what": spec.shown.what,
            "tool": open.tool,
            "turn": open.turn,
            "who": who.map(|row| &row.who),
            "for": who.map(|row| self.named(&row.who)),
            "place": open.place,
            "card": open.message,
            "since": open.since,
            "until": open.until,
        })
    }

    /// A requester as people know them.
    fn named(&self, who: &Who) -> String {
        match who {
            Who::Other(name) => name.clone(),
            Who::User(id) => match self.policy.users.get(id) {
                Some(user) => format!("{} ({id})", user.name),
                None => id.to_string(),
            },
        }
    }

    fn ask_whole(&self, ask: AskId) -> Value {
        let mut open = self.connector.open_asks();
        let Some((spec, open)) = open.find(|(spec, _)| spec.id == ask) else {
            return no("not-open", "that ask is not open");
        };
        let mut whole = self.ask_summary(spec, open);
        let shown = &spec.shown;
        whole["facts"] = json!(shown.facts);
        whole["read"] = json!(shown.read);
        whole["digest"] = json!(open.digest);
        if let Some(content) = &shown.content {
            let end = content.text.floor_char_boundary(CONTENT_MAX_BYTES);
            whole["name"] = json!(content.name);
            whole["content"] = json!(&content.text[..end]);
            whole["bytesLeftOut"] = json!(content.text.len() - end);
        }
        json!({"ok": true, "ask": whole})
    }

    fn decide_ask(&mut self, running: &mut Running, at: &Moment, ask: AskId, word: Word) -> Value {
        let is_open = self.connector.open_asks().any(|(spec, _)| spec.id == ask);
        if !is_open {
            return no("not-open", "that ask is not open");
        }
        let (answer, how) = match word {
            Word::Once => (Answer::Once, "allowed once"),
            Word::Deny => (Answer::Denied, "denied"),
        };
        self.decide(running, at, Input::Ordered(Order::Decide(ask, answer)));
        if self.connector.open_asks().any(|(spec, _)| spec.id == ask) {
            return no("under-way", "the ask cannot be decided at this moment");
        }
        json!({"ok": true, "ask": ask, "how": how})
    }
}

/// A list with a bound; what is beyond it is counted.
fn list(name: &str, entries: impl Iterator<Item = Value>) -> Value {
    let mut shown: Vec<Value> = Vec::new();
    let mut more = 0_usize;
    for entry in entries {
        if shown.len() < LIST_MAX_COUNT {
            shown.push(entry);
        } else {
            more += 1;
        }
    }
    json!({"ok": true, name: shown, "more": more})
}

/// A row as `rows` shows it.
pub(crate) fn row_shown(id: RowId, row: &Row) -> Value {
    json!({
        "row": id,
        "route": row.route,
        "descriptor": row.descriptor,
        "who": row.who,
        "place": row.place,
        "state": row.state.word(),
    })
}

/// A delivery as `deliveries` shows it.
pub(crate) fn delivery_shown(nonce: Nonce, delivery: &Delivery) -> Value {
    let state = if delivery.state == DeliveryState::Unknown {
        "unknown"
    } else {
        "intended"
    };
    json!({
        "nonce": nonce,
        "owner": delivery.owner.to_string(),
        "purpose": delivery.purpose.word(),
        "part": delivery.part,
        "of": delivery.of,
        "place": delivery.place,
        "since": delivery.since,
        "state": state,
        "replyTo": delivery.reply_to,
    })
}
