//! One try at an answer: a request out, a stream in.
//!
//! In: a provider and a request body. Out: the whole answer, or what went wrong and how far it got.
//! Never: a keep-alive taken for progress, more text than the product takes, a wait without an end.

use super::{
    api::Api,
    heard::{Heard, Stop, Tokens},
    http::{Answer, Target},
    problem::{Problem, Shown},
    sse::{BadStream, LINE_MAX_BYTES, Reader},
};
use crate::{secret::Secret, start::Signs};
use bytes::Bytes;
use guildhall_connector::run::Progress;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Longest answer, in bytes of UTF-8.
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
    /// For the next sign that the model is at work; the first one too. A local model may read a long
    /// prompt for a minute before it says anything.
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
    pub(super) tokens: Tokens,
    pub(super) stopped: Option<Stop>,
}

/// An answer that did not come, or not whole.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) problem: Problem,
    pub(super) shown: Shown,
    pub(super) tokens: Tokens,
}

impl Provider {
    /// Asks once.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection.
    ///
    /// # Errors
    /// What went wrong, with what had come until then.
    pub(super) async fn ask(&self, body: Bytes, signs: &Signs) -> Result<Told, Cut> {
        let mut listener = Listener {
            told: Told::default(),
            quiet_until: Instant::now() + self.timing.silence,
            next_sign: Instant::now(),
            silence: self.timing.silence,
            signs,
        };
        match self.listen(body, &mut listener).await {
            Ok(()) => Ok(listener.told),
            Err(problem) => Err(Cut {
                problem,
                shown: match listener.told.text.is_empty() {
                    true => Shown::Nothing,
                    false => Shown::Text,
                },
                tokens: listener.told.tokens,
            }),
        }
    }

    async fn listen(&self, body: Bytes, listener: &mut Listener<'_>) -> Result<(), Problem> {
        let path = self.api.path(&self.target);
        let headers = self.api.headers(self.key.as_ref());
        let posted = self.target.post(&path, &headers, body, self.timing.connect);
        let answer = timeout_at(listener.quiet_until, posted).await;
        let mut answer = answer.map_err(|_| Problem::Silent)??;
        if answer.status != 200 {
            let retry_after = answer.retry_after();
            let body = timeout_at(listener.quiet_until, answer.error_body()).await;
            let body = body.unwrap_or_default();
            return Err(Problem::of_status(answer.status, retry_after, &body));
        }
        listener.signs.engine_turn();
        if answer.is_whole() {
            self.document(&mut answer, listener).await
        } else {
            self.stream(&mut answer, listener).await
        }
    }

    async fn stream(
        &self,
        answer: &mut Answer,
        listener: &mut Listener<'_>,
    ) -> Result<(), Problem> {
        let mut reader = Reader::default();
        let mut read = 0;
        loop {
            let piece = match timeout_at(listener.quiet_until, answer.piece()).await {
                // The answer is whole; only the tail of the stream is missing.
                Err(_) | Ok(Err(_) | Ok(None)) if listener.told.stopped.is_some() => return Ok(()),
                Err(_) => return Err(Problem::Silent),
                Ok(Err(problem)) => return Err(problem),
                Ok(Ok(None)) => return Err(Problem::Broken),
                Ok(Ok(Some(piece))) => piece,
            };
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
        }
    }

    /// Some servers answer with one document, whatever was asked for.
    async fn document(
        &self,
        answer: &mut Answer,
        listener: &mut Listener<'_>,
    ) -> Result<(), Problem> {
        let mut body = Vec::new();
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
    signs: &'a Signs,
}

impl Listener<'_> {
    fn hear(&mut self, heard: Heard) -> Result<Rest, Problem> {
        let now = Instant::now();
        if self.told.text.len() + heard.text.len() > ANSWER_MAX_BYTES {
            return Err(Problem::TooLong);
        }
        self.told.text.push_str(&heard.text);
        if let Some(tokens) = heard.usage {
            self.told.tokens.update(tokens);
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
