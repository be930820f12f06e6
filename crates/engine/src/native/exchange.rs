//! One try at an answer: a request out, a stream in.
//!
//! In: a provider and a request body. Out: the whole answer, or what went wrong and how far it got.
//! Never: a keep-alive taken for progress, more text than the product takes, a wait without an end.

use super::{
    api::Api,
    calls::{self, Call},
    heard::{Heard, Stop, Thought, join},
    http::{Answer, Target},
    meter::{Charge, Meter},
    problem::{Problem, Shown},
    sse::{BadStream, LINE_MAX_BYTES, Reader},
};
use crate::{secret::Secret, start::Signs};
use bytes::Bytes;
use guildhall_binding::Price;
use guildhall_connector::run::Progress;
use std::{collections::BTreeMap, time::Duration};
use tokio::time::{Instant, timeout_at};

/// Longest text of a model's message, in bytes of UTF-8.
pub const ANSWER_MAX_BYTES: usize = 256 * 1024;
/// Longest stream, thoughts and wrapping included, in bytes.
const STREAM_MAX_BYTES: usize = 32 * 1024 * 1024;
/// How long after the model's stop the usage and the end of the stream are waited for.
const AFTER_STOP: Duration = Duration::from_secs(5);
/// Signs of progress come at most this often.
const SIGN_EVERY: Duration = Duration::from_millis(250);

/// How long is waited for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// For a connection, TLS included.
    pub connect: Duration,
    /// For the next sign that the model is at work. For the first one the turn's own time counts where
    /// it is longer: a local model may read a long prompt for minutes before it says anything.
    pub silence: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            silence: Duration::from_secs(120),
        }
    }
}

/// A provider, as one request needs it.
#[derive(Clone)]
pub(super) struct Provider {
    pub(super) api: Api,
    pub(super) target: Target,
    pub(super) key: Option<Secret>,
    pub(super) timing: Timing,
}

/// A whole answer.
#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct Told {
    pub(super) text: String,
    pub(super) thoughts: BTreeMap<u64, Thought>,
    pub(super) calls: Vec<Call>,
    pub(super) stopped: Option<Stop>,
}

/// What is asked of a provider at once.
pub(super) struct Ask<'a> {
    /// The request's body.
    pub(super) body: Bytes,
    /// The price of what is asked, where the binding has one.
    pub(super) price: Option<Price>,
    /// How long the turn may take in all.
    pub(super) longest: Duration,
    /// Longest arguments of a call; one byte more is kept, so that the host refuses it for its length.
    pub(super) arguments_max: usize,
    /// Where progress and cost are told.
    pub(super) signs: &'a Signs,
}

/// An answer that did not come, or not whole.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) problem: Problem,
    pub(super) shown: Shown,
}

impl Provider {
    /// Asks once. What it cost is told however it ends, when it is dropped as well.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection that it uses.
    ///
    /// # Errors
    /// What went wrong, with what had come until then.
    pub(super) async fn ask(&self, ask: Ask<'_>) -> Result<Told, Cut> {
        let mut listener = Listener {
            told: Told::default(),
            quiet_until: Instant::now() + self.timing.silence.max(ask.longest),
            next_sign: Instant::now(),
            silence: self.timing.silence,
            arguments_max: ask.arguments_max,
            meter: Meter::new(ask.signs, ask.price, ask.body.len()),
            signs: ask.signs,
        };
        match self.listen(ask.body, &mut listener).await {
            Ok(()) => {
                listener.meter.charge = Charge::Whole;
                Ok(listener.told)
            }
            Err(problem) => Err(Cut {
                problem,
                shown: match listener.told.text.is_empty() && listener.told.calls.is_empty() {
                    true => Shown::Nothing,
                    false => Shown::Something,
                },
            }),
        }
    }

    async fn listen(&self, body: Bytes, listener: &mut Listener<'_>) -> Result<(), Problem> {
        let path = self.api.path(&self.target);
        let headers = self.api.headers(self.key.as_ref());
        let posted = self.target.post(&path, &headers, body, self.timing.connect);
        listener.meter.charge = Charge::Running;
        let answer = timeout_at(listener.quiet_until, posted).await;
        let answer = answer.map_err(|_| Problem::Silent)?;
        let mut answer = answer.inspect_err(|_| listener.meter.charge = Charge::Nothing)?;
        if answer.status != 200 {
            listener.meter.charge = Charge::Nothing;
            let retry_after = answer.retry_after();
            let body = timeout_at(listener.quiet_until, answer.error_body()).await;
            let body = body.unwrap_or_default();
            return Err(Problem::of_status(answer.status, retry_after, &body));
        }
        listener.signs.engine_turn();
        let first = first(&mut answer, listener).await?;
        // What it is called is not what it is: servers send streams as documents and the reverse.
        match first.trim_ascii_start().first() {
            Some(b'{' | b'[') => self.document(&mut answer, listener, first).await?,
            // A comment, a field of an event, or a byte order mark.
            Some(b':' | b'd' | b'e' | b'i' | b'r' | 0xef) => {
                self.stream(&mut answer, listener, first).await?;
            }
            Some(_) | None => return Err(Problem::Rubbish("neither a stream nor a document")),
        }
        answer.finish().await;
        Ok(())
    }

    async fn stream(
        &self,
        answer: &mut Answer,
        listener: &mut Listener<'_>,
        first: Vec<u8>,
    ) -> Result<(), Problem> {
        let mut reader = Reader::default();
        let mut read = 0;
        let mut piece = Bytes::from(first);
        loop {
            read += piece.len();
            if read > STREAM_MAX_BYTES {
                return Err(Problem::TooLong);
            }
            let events = reader.push(&piece).map_err(|bad| match bad {
                BadStream::TooLong => Problem::Rubbish("a line past its bound"),
                BadStream::NotText => Problem::Rubbish("bytes that are no text"),
            })?;
            for event in events {
                if listener.hear(self.api.hear(&event)?)? == Rest::Over {
                    return Ok(());
                }
            }
            piece = match timeout_at(listener.quiet_until, answer.piece()).await {
                // The answer is whole; only the tail of the stream is missing.
                Err(_) | Ok(Err(_) | Ok(None)) if listener.told.stopped.is_some() => return Ok(()),
                Err(_) => return Err(Problem::Silent),
                Ok(Err(problem)) => return Err(problem),
                Ok(Ok(None)) => return Err(Problem::Broken),
                Ok(Ok(Some(piece))) => piece,
            };
        }
    }

    /// Some servers answer with one document, whatever was asked for.
    async fn document(
        &self,
        answer: &mut Answer,
        listener: &mut Listener<'_>,
        mut body: Vec<u8>,
    ) -> Result<(), Problem> {
        loop {
            match timeout_at(listener.quiet_until, answer.piece()).await {
                Err(_) => return Err(Problem::Silent),
                Ok(piece) => match piece? {
                    None => break,
                    Some(piece) if body.len() + piece.len() > LINE_MAX_BYTES => {
                        return Err(Problem::TooLong);
                    }
                    Some(piece) => body.extend_from_slice(&piece),
                },
            }
        }
        listener.hear(self.api.whole(&body)?).map(drop)
    }
}

/// What an answer begins with, up to the first piece that is more than white space.
async fn first(answer: &mut Answer, listener: &Listener<'_>) -> Result<Vec<u8>, Problem> {
    let mut first = Vec::new();
    while first.trim_ascii_start().is_empty() {
        let piece = timeout_at(listener.quiet_until, answer.piece()).await;
        match piece.map_err(|_| Problem::Silent)?? {
            None => return Err(Problem::Broken),
            Some(piece) if first.len() + piece.len() > LINE_MAX_BYTES => {
                return Err(Problem::TooLong);
            }
            Some(piece) => first.extend_from_slice(&piece),
        }
    }
    Ok(first)
}

/// Whether more is to come.
#[derive(PartialEq, Eq)]
enum Rest {
    More,
    Over,
}

/// What has come so far, and until when silence is taken.
struct Listener<'a> {
    told: Told,
    quiet_until: Instant,
    next_sign: Instant,
    silence: Duration,
    arguments_max: usize,
    meter: Meter<'a>,
    signs: &'a Signs,
}

impl Listener<'_> {
    fn hear(&mut self, heard: Heard) -> Result<Rest, Problem> {
        let now = Instant::now();
        self.meter.hear(&heard);
        if self.told.text.len() + heard.text.len() > ANSWER_MAX_BYTES {
            return Err(Problem::TooLong);
        }
        self.told.text.push_str(&heard.text);
        for piece in heard.calls {
            calls::add(&mut self.told.calls, piece, self.arguments_max)
                .map_err(|calls::TooMany| Problem::Rubbish("too many tool calls in one message"))?;
        }
        for (slot, piece) in heard.thoughts {
            join(self.told.thoughts.entry(slot).or_default(), piece);
        }
        if heard.at_work {
            self.quiet_until = now + self.silence;
            if now >= self.next_sign {
                self.next_sign = now + SIGN_EVERY;
                self.signs.progress(Progress::Text);
            }
        }
        if heard.stopped.is_some() {
            self.told.stopped = heard.stopped;
            self.quiet_until = now + AFTER_STOP.min(self.silence);
        }
        Ok(if heard.over { Rest::Over } else { Rest::More })
    }
}
