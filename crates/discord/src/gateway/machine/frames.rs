//! Frames that come in on an open connection, and the heartbeat.
//!
//! In: text. Out: news in order, heartbeats, a lost link. Never: a body that is read before its
//! number is noted, a frame that ends more than itself.

use super::{
    Aim, Beat, DownWhy, Envelope, Event, Fatal, Field, Frame, HEARTBEAT_DEFAULT_MS, Hello, Lens,
    Machine, News, Now, OpenSession, Output, READY_DEADLINE_MS, SENDS_PER_MINUTE_COUNT, Stage,
    dispatch,
};
use crate::wire::field;

/// The wait before a new IDENTIFY after an invalid session, in milliseconds.
const INVALID_SESSION_WAIT_MS: std::ops::RangeInclusive<u64> = 1_000..=5_000;
/// Intervals that a HELLO may ask for, in milliseconds.
const HEARTBEAT_MS: (u64, u64) = (1_000, 600_000);

impl Machine {
    pub(super) fn frame(&mut self, now: Now, text: &str, out: &mut Vec<Output>) {
        let envelope: Option<Envelope<'_>> = field::read(text.as_bytes()).and_then(Field::object);
        let Some(envelope) = envelope else {
            tracing::warn!(bytes = text.len(), "gateway frame is not an object");
            return;
        };
        match envelope.op.number() {
            Some(0) => self.dispatched(now, &envelope, out),
            Some(1) => self.send_heartbeat(now, out),
            Some(7) => self.close_and_lose(now, DownWhy::AskedToReconnect, 0, out),
            Some(9) => {
                if !envelope.d.is_true() {
                    self.forget_session();
                }
                let wait = self.random.u64(INVALID_SESSION_WAIT_MS);
                self.close_and_lose(now, DownWhy::InvalidSession, wait, out);
            }
            Some(10) => {
                let hello: Hello<'_> = envelope.d.object().unwrap_or_default();
                let interval = hello
                    .heartbeat_interval
                    .number()
                    .unwrap_or(HEARTBEAT_DEFAULT_MS);
                self.hello(now, interval.clamp(HEARTBEAT_MS.0, HEARTBEAT_MS.1), out);
            }
            Some(11) => {
                if let Stage::Entering { beat, .. } | Stage::Live { beat, .. } = &mut self.stage {
                    beat.acked = true;
                }
            }
            Some(_) | None => {}
        }
    }

    fn dispatched(&mut self, now: Now, envelope: &Envelope<'_>, out: &mut Vec<Output>) {
        let kind = envelope.t.text().unwrap_or_default();
        let number = envelope.s.number();
        if kind == "READY" {
            self.ready(now, number.unwrap_or(0), envelope.d, out);
            return;
        }
        // Before READY or RESUMED only a resume has anything to tell: what was missed.
        match &mut self.stage {
            Stage::Live { .. } => {}
            Stage::Entering {
                aim: Aim::Resume,
                until,
                ..
            } => {
                *until = now.mono_ms + READY_DEADLINE_MS;
            }
            Stage::Waiting { .. }
            | Stage::Finding { .. }
            | Stage::Connecting { .. }
            | Stage::Greeting { .. }
            | Stage::Entering { .. }
            | Stage::Ended => return,
        }
        if let Some(number) = number {
            self.ledger.saw(number);
        }
        if kind == "RESUMED" {
            self.enter(now);
            self.deliver(News::Resumed, out);
            return;
        }
        let lens = Lens {
            bot: self.settings.bot,
            reach: self.settings.reach,
        };
        if let Some(news) = dispatch::read(&kind, envelope.d, lens) {
            self.deliver(news, out);
        }
    }

    fn ready(&mut self, now: Now, number: u64, body: Field<'_>, out: &mut Vec<Output>) {
        if !matches!(self.stage, Stage::Entering { .. }) {
            return;
        }
        let greeting = dispatch::greeting(body);
        match (greeting.bot, greeting.ready) {
            (Some(found), Some(_)) if found != self.settings.bot => {
                self.forget_session();
                self.end(Fatal::WrongIdentity { found }, out);
            }
            (Some(_), Some(ready)) => {
                let resume_url = greeting.resume_url;
                self.session = greeting.session.map(|id| OpenSession { id, resume_url });
                self.ledger.begin(number);
                self.enter(now);
                out.push(Output::SessionChanged);
                self.deliver(News::Ready(ready), out);
            }
            // Without an identity nothing may be served: tried again like a READY that never came.
            (None, _) | (_, None) => {
                self.close_and_lose(now, DownWhy::InvalidSession, 0, out);
            }
        }
    }

    fn deliver(&mut self, news: News, out: &mut Vec<Output>) {
        let seq = Some(self.ledger.tell());
        out.push(Output::Deliver(Event { seq, news }));
    }

    /// A heartbeat is due: the link is dead if the last one was not acknowledged.
    pub(super) fn beat(&mut self, now: Now, beat: Beat, out: &mut Vec<Output>) {
        if !beat.acked {
            self.close_and_lose(now, DownWhy::NoAck, 0, out);
            return;
        }
        let next = now.mono_ms + beat.interval;
        if let Stage::Entering { beat, .. } | Stage::Live { beat, .. } = &mut self.stage {
            *beat = Beat {
                next,
                acked: false,
                ..*beat
            };
        }
        // What moved without news, such as others' typing, is kept now and then as well.
        out.push(Output::SessionChanged);
        self.send_heartbeat(now, out);
    }

    fn send_heartbeat(&mut self, now: Now, out: &mut Vec<Output>) {
        if !matches!(self.stage, Stage::Entering { .. } | Stage::Live { .. }) {
            return;
        }
        let (since, count) = &mut self.sends;
        if now.mono_ms >= *since + 60_000 {
            (*since, *count) = (now.mono_ms, 0);
        }
        if *count >= SENDS_PER_MINUTE_COUNT {
            return;
        }
        *count += 1;
        let seen = self.ledger.seen();
        out.push(Output::Send(Frame::Heartbeat((seen > 0).then_some(seen))));
    }
}
