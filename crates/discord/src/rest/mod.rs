//! REST: one exchange per call, held to Discord's limits, and an honest word on how it ended.
//!
//! In: calls of the driver. Out: [`Outcome`]s. Never: a second try of what may have been done, a
//! proxy from the environment, a call after a 401, a mention that pings, a token in an error.

mod answer;
mod calls;
mod content;
mod limiter;
mod lookups;
mod outcome;
mod route;

pub use calls::{NONCE_MAX_CHARS, Nonce, Posted, Press, Reply};
pub use content::{
    Button, ButtonLook, ButtonState, Content, UPLOAD_MAX_BYTES, Upload, UploadTooLarge,
};
pub use limiter::{Hold, INVALID_BRAKE_COUNT, INVALID_WINDOW_MS};
pub use lookups::{ApplicationSeen, GatewayBot, Me, PAGE_MAX_COUNT, Page};
pub use outcome::{NotSent, NotSentWhy, Outcome, Reason, Refused, UnknownWhy};

use crate::{
    address::{ApiBase, Reach},
    attachment::{self, TextFault},
    http::{Answer, Loss, Outgoing, Pool},
    net::Dialer,
    said::Lens,
    secret::Token,
};
use answer::Verdict;
use guildhall_binding::ids::UserId;
use hyper::{HeaderMap, Method, header, header::HeaderValue};
use limiter::{Counting, Limiter, Ticket, Turn};
use route::{Deadline, Route};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// Exchanges of one call: a 429 says for certain that nothing was done, so the call may go again.
const EXCHANGES_PER_CALL: u32 = 3;
/// Largest answer that is read, in bytes: a server's list of channels is some hundred kilobytes.
const ANSWER_MAX_BYTES: usize = 8 * 1024 * 1024;
/// How long a caller should stay away when its bucket is busy.
const BUSY_RETRY: Duration = Duration::from_secs(1);

/// How long a call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// One exchange, from connecting to the last byte of the body.
    pub exchange: Duration,
    /// What a call waits by itself for limits and for requests before it.
    pub patience: Duration,
    /// The answer to a press, waits and exchanges together. Discord waits three seconds: API
    /// reference, "Interaction Callback".
    pub press: Duration,
}

impl Default for Deadlines {
    /// 15 seconds for an exchange, 10 for limits, 3 for the answer to a press.
    fn default() -> Self {
        Self {
            exchange: Duration::from_secs(15),
            patience: Duration::from_secs(10),
            press: Duration::from_secs(3),
        }
    }
}

/// The REST client of one bot. A clone is another handle on the same limits and connections.
#[derive(Clone)]
pub struct Rest {
    inner: Arc<Inner>,
}

struct Inner {
    pool: Pool,
    dialer: Dialer,
    reach: Reach,
    token: Token,
    bot: UserId,
    deadlines: Deadlines,
    limiter: Mutex<Limiter>,
    changed: Notify,
    started: Instant,
    server_time: Mutex<Option<ServerTime>>,
}

/// What Discord's clock said, and when it was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerTime {
    /// Discord's clock in milliseconds since the Unix epoch; its resolution is a second.
    pub unix_ms: i64,
    /// When the answer came.
    pub heard: Instant,
}

/// `DiscordBot (address, version)`; others may be turned away at the edge network.
pub(crate) fn user_agent() -> HeaderValue {
    HeaderValue::from_static(concat!(
        "DiscordBot (https://guildhall.invalid, ",
        env!("CARGO_PKG_VERSION"),
        ")"
    ))
}

impl Rest {
    /// A client of `bot` at `base`. Nothing is sent yet.
    #[must_use]
    pub fn new(base: &ApiBase, token: Token, bot: UserId) -> Self {
        Self::with_deadlines(base, token, bot, Deadlines::default())
    }

    /// The same with other deadlines.
    #[must_use]
    pub fn with_deadlines(base: &ApiBase, token: Token, bot: UserId, deadlines: Deadlines) -> Self {
        let dialer = Dialer::new();
        Self {
            inner: Arc::new(Inner {
                pool: Pool::new(base.target.clone(), dialer.clone()),
                dialer,
                reach: base.reach(),
                token,
                bot,
                deadlines,
                limiter: Mutex::new(Limiter::default()),
                changed: Notify::new(),
                started: Instant::now(),
                server_time: Mutex::new(None),
            }),
        }
    }

    /// Whether a 401 has ended everything: every later call is refused without being sent.
    #[must_use]
    pub fn is_halted(&self) -> bool {
        self.limiter().is_halted()
    }

    /// The last time that Discord's clock was heard.
    #[must_use]
    pub fn server_time(&self) -> Option<ServerTime> {
        *self
            .inner
            .server_time
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a text attachment of at most 64 KiB from Discord's own hosts.
    ///
    /// # Errors
    /// [`TextFault`], by which the file is named to the seat as not read.
    ///
    /// # Cancel safety
    /// A dropped future closes its connection.
    pub async fn fetch_text_attachment(&self, url: &str) -> Result<String, TextFault> {
        let within = self.inner.deadlines.exchange;
        attachment::fetch(&self.inner.dialer, url, self.inner.reach, within).await
    }

    pub(crate) fn lens(&self) -> Lens {
        Lens {
            bot: self.inner.bot,
            reach: self.inner.reach,
        }
    }

    pub(crate) fn reach(&self) -> Reach {
        self.inner.reach
    }

    pub(crate) fn dialer(&self) -> &Dialer {
        &self.inner.dialer
    }

    pub(crate) fn token(&self) -> &Token {
        &self.inner.token
    }

    /// Makes one call and hands a successful answer to `read`.
    pub(crate) async fn call<T>(
        &self,
        route: Route,
        read: impl FnOnce(&Answer) -> Option<T>,
    ) -> Outcome<T> {
        let name = route.key.route;
        let outcome = self.send(route).await;
        let outcome = outcome.and_then(|answer| match read(&answer) {
            Some(value) => Outcome::Done(value),
            None => Outcome::Unknown(UnknownWhy::Unreadable),
        });
        match &outcome {
            Outcome::Done(_) => tracing::trace!(route = name, "call done"),
            Outcome::Refused(no) => {
                tracing::debug!(
                    route = name,
                    status = no.status,
                    code = no.code,
                    "call refused"
                );
            }
            Outcome::NotSent(no) => tracing::debug!(route = name, why = ?no.why, "call not sent"),
            Outcome::Unknown(why) => tracing::debug!(route = name, ?why, "call unknown"),
        }
        outcome
    }

    async fn send(&self, route: Route) -> Outcome<Answer> {
        let begun = Instant::now();
        let whole = match route.deadline {
            Deadline::Exchange => None,
            Deadline::Press => Some(begun + self.inner.deadlines.press),
        };
        let patience = begun + self.inner.deadlines.patience;
        let patience = whole.map_or(patience, |whole| patience.min(whole));
        let mut exchanges = 0;
        loop {
            let Some(entry) = self.limiter().enter(route.key) else {
                return busy();
            };
            let mut place = Place {
                rest: self,
                ticket: Some(entry),
            };
            if let Err(outcome) = self.wait(entry, patience).await {
                return outcome;
            }
            exchanges += 1;
            let answer = match self.exchange(&route, whole).await {
                Ok(answer) => answer,
                Err(loss) => return lost(loss),
            };
            self.note_server_time(&answer);
            let (reading, verdict) = answer::read(&answer);
            let now = self.now_ms();
            place.ticket = None;
            self.limiter().answered(now, entry, &reading);
            self.inner.changed.notify_waiters();
            match verdict {
                Verdict::Success => return Outcome::Done(answer),
                Verdict::Refused(refused) => return Outcome::Refused(refused),
                Verdict::Unknown(why) => return Outcome::Unknown(why),
                Verdict::Wait if exchanges < EXCHANGES_PER_CALL => {}
                Verdict::Wait => {
                    let limited = reading.limited.map(|limited| {
                        let wait = Duration::from_millis(limited.wait_ms);
                        not_sent(NotSentWhy::Held(limited.scope.hold()), wait)
                    });
                    return limited.unwrap_or_else(busy);
                }
            }
        }
    }

    /// Waits until the limiter lets the ticket go, at most until `patience`.
    async fn wait(&self, ticket: Ticket, patience: Instant) -> Result<(), Outcome<Answer>> {
        loop {
            let changed = self.inner.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let now = self.now_ms();
            let turn = self.limiter().turn(now, ticket);
            let until = match turn {
                Turn::Go => return Ok(()),
                Turn::Halted => {
                    return Err(Outcome::Refused(Refused {
                        status: 401,
                        code: 0,
                        reason: Reason::Unauthorized,
                    }));
                }
                Turn::At(at, hold) => {
                    let wait = Duration::from_millis(at.saturating_sub(now));
                    let until = Instant::now() + wait;
                    if until > patience {
                        return Err(not_sent(NotSentWhy::Held(hold), wait));
                    }
                    until
                }
                Turn::Behind => patience,
            };
            tokio::select! {
                () = &mut changed => {}
                () = sleep_until(until) => {
                    if turn == Turn::Behind {
                        return Err(busy());
                    }
                }
            }
        }
    }

    async fn exchange(&self, route: &Route, whole: Option<Instant>) -> Result<Answer, Loss> {
        let mut headers = HeaderMap::new();
        headers.insert(header::USER_AGENT, user_agent());
        if let Some(media) = &route.media {
            headers.insert(header::CONTENT_TYPE, media.clone());
        } else if route.method != Method::GET {
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        if route.key.counting == Counting::Counts {
            let mut bearer = HeaderValue::try_from(format!("Bot {}", self.inner.token.reveal()))
                .expect("a token is visible ASCII: checked when it was parsed");
            bearer.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, bearer);
        }
        let exchange = self.inner.deadlines.exchange;
        let left = whole.map_or(exchange, |whole| exchange.min(whole - Instant::now()));
        let outgoing = Outgoing {
            method: route.method.clone(),
            path: route.path.clone(),
            headers,
            body: route.body.clone(),
            body_cap: ANSWER_MAX_BYTES,
            within: left,
        };
        self.inner.pool.exchange(outgoing).await
    }

    fn note_server_time(&self, answer: &Answer) {
        let heard = Instant::now();
        let date = answer.header("date").and_then(|text| {
            jiff::fmt::rfc2822::DateTimeParser::new()
                .parse_timestamp(text)
                .ok()
        });
        if let Some(date) = date {
            let unix_ms = date.as_millisecond();
            let mut kept = self
                .inner
                .server_time
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *kept = Some(ServerTime { unix_ms, heard });
        }
    }

    fn limiter(&self) -> MutexGuard<'_, Limiter> {
        self.inner
            .limiter
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ms(&self) -> u64 {
        let elapsed = self.inner.started.elapsed().as_millis();
        // The limiter's zero means "never", so its time begins at one.
        u64::try_from(elapsed)
            .unwrap_or(u64::MAX - 1)
            .saturating_add(1)
    }
}

/// Gives the ticket back when a call ends without an answer, or is dropped.
struct Place<'a> {
    rest: &'a Rest,
    ticket: Option<Ticket>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.rest.limiter().leave(ticket);
            self.rest.inner.changed.notify_waiters();
        }
    }
}

fn busy<T>() -> Outcome<T> {
    not_sent(NotSentWhy::Busy, BUSY_RETRY)
}

fn not_sent<T>(why: NotSentWhy, retry_after: Duration) -> Outcome<T> {
    Outcome::NotSent(NotSent { why, retry_after })
}

fn lost(loss: Loss) -> Outcome<Answer> {
    match loss {
        Loss::Unsent(fault) => not_sent(NotSentWhy::NoConnection(fault), BUSY_RETRY),
        Loss::Unanswered => Outcome::Unknown(UnknownWhy::AnswerLost),
        Loss::TimedOut => Outcome::Unknown(UnknownWhy::TimedOut),
    }
}
