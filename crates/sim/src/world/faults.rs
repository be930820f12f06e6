//! Faults that wait for their occasion.
//!
//! In: what the control API armed. Out: the fault that applies now, if any.
//! Never: applies one more often than asked; a fault that is used up is forgotten.

use serde::{Deserialize, Serialize};

use crate::api::{Answer, Method, Request};
use crate::error::ApiError;

/// Most faults that can be armed at once.
pub(crate) const FAULTS_MAX_COUNT: usize = 1_000;

/// A fault and when it strikes. `times` defaults to one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "on", rename_all = "snake_case")]
pub(crate) enum Fault {
    /// A REST request.
    Request(RestFault),
    /// A new gateway connection, instead of HELLO.
    Connect {
        #[serde(flatten)]
        what: ConnectFault,
        #[serde(default = "once")]
        times: u32,
    },
    /// An IDENTIFY that would have been accepted.
    Identify {
        #[serde(flatten)]
        what: GatewayFault,
        #[serde(default = "once")]
        times: u32,
    },
    /// A RESUME that would have been accepted.
    Resume {
        #[serde(flatten)]
        what: GatewayFault,
        #[serde(default = "once")]
        times: u32,
    },
    /// A heartbeat, which gets no ACK.
    Heartbeat {
        #[serde(default = "once")]
        times: u32,
    },
    /// A dispatch on its way to a connected bot.
    Dispatch {
        kind: DispatchFault,
        /// Only events of this name; any when absent.
        event: Option<String>,
        #[serde(default = "once")]
        times: u32,
    },
}

/// What becomes of a REST request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RestFault {
    #[serde(flatten)]
    pub(crate) what: RestFaultKind,
    /// Only this method; any when absent.
    pub(crate) method: Option<Method>,
    /// Only paths that contain this text; any when absent.
    pub(crate) path: Option<String>,
    /// Requests that fit and are let through first.
    #[serde(default)]
    pub(crate) skip: u32,
    #[serde(default = "once")]
    pub(crate) times: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum RestFaultKind {
    /// Answers with a status, and does nothing.
    Status {
        status: u16,
        #[serde(default)]
        code: u32,
        message: Option<String>,
        /// `Retry-After` in seconds, if there is to be one.
        retry_after: Option<u32>,
        /// An HTML page instead of JSON, as a proxy in between would send it.
        html: Option<String>,
    },
    /// Does what was asked, then ends the connection without an answer.
    LoseResponse,
    /// Ends the connection and does nothing.
    LoseRequest,
    /// Does what was asked, then answers with an error of the server.
    StatusAfter { status: u16 },
    /// Does what was asked, and never answers; the connection stays open.
    StallResponse,
    /// Does nothing and never answers; the connection stays open.
    StallRequest,
    /// A 429 of the given scope.
    RateLimit {
        #[serde(default)]
        scope: LimitScope,
        #[serde(default = "one_second")]
        retry_after_ms: u64,
    },
    /// Waits before it is handled.
    Delay { ms: u64 },
    /// Handles it at once and sends the body in two halves with a wait between them.
    SlowBody { ms: u64 },
}

/// Who a 429 says is to blame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LimitScope {
    /// The bot, on this route.
    #[default]
    User,
    /// Everybody, on this resource. The bucket headers still look fine.
    Shared,
    /// The bot, on all routes.
    Global,
    /// Cloudflare's page: HTML, no JSON, no `Via`.
    Cloudflare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum ConnectFault {
    /// Closes with a code.
    Close { code: u16 },
    /// Says op 7 and nothing else.
    Reconnect,
    /// Says nothing.
    Silence,
    /// Ends TCP at once.
    Drop,
    /// Refuses the upgrade with an HTTP status.
    Refuse { status: u16 },
}

/// What the gateway does to one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum GatewayFault {
    /// Ends TCP without a close frame.
    Drop,
    /// Ends TCP in the middle of a frame.
    Tear,
    /// Keeps TCP open, and neither hears nor says anything more.
    HalfOpen,
    /// Says op 7.
    Reconnect,
    /// Says op 9.
    InvalidSession {
        #[serde(default)]
        resumable: bool,
    },
    /// Closes with a code.
    Close { code: u16 },
    /// Says op 1: the client must answer at once.
    AskHeartbeat,
}

/// What becomes of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DispatchFault {
    /// It is never sent; its number is used up.
    Lose,
    /// It is sent twice with the same number.
    Duplicate,
    /// It is sent after the one that follows it.
    Swap,
}

fn once() -> u32 {
    1
}

fn one_second() -> u64 {
    1_000
}

/// The armed faults, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Fault>);

/// What a REST request has to suffer.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct RestPlan {
    pub(crate) delay_ms: u64,
    /// An answer instead of the real one; nothing is done.
    pub(crate) instead: Option<Answer>,
    /// An answer instead of the real one, once what was asked is done.
    pub(crate) after: Option<Answer>,
    pub(crate) loss: Loss,
    pub(crate) slow_body_ms: Option<u64>,
}

/// What gets lost on the way: with the connection, or on one that stays open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Loss {
    #[default]
    Nothing,
    Request,
    Response,
    StalledRequest,
    StalledResponse,
}

impl Loss {
    /// Its name in the log.
    pub(crate) const fn name(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Request => Some("request"),
            Self::Response => Some("response"),
            Self::StalledRequest => Some("stalled_request"),
            Self::StalledResponse => Some("stalled_response"),
        }
    }
}

impl Faults {
    /// Arms a fault. Says no when too many are armed already.
    pub(crate) fn arm(&mut self, fault: Fault) -> Result<(), TooManyFaults> {
        if self.0.len() >= FAULTS_MAX_COUNT {
            return Err(TooManyFaults);
        }
        self.0.push(fault);
        Ok(())
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn list(&self) -> &[Fault] {
        &self.0
    }

    /// Uses up one time of the first fault that `pick` takes, and forgets it when it is spent.
    fn take<T>(&mut self, pick: impl Fn(&mut Fault) -> Option<(T, &mut u32)>) -> Option<T> {
        let (index, (what, spent)) = self.0.iter_mut().enumerate().find_map(|(index, fault)| {
            let (what, times) = pick(fault)?;
            *times = times.saturating_sub(1);
            Some((index, (what, *times == 0)))
        })?;
        if spent {
            self.0.remove(index);
        }
        Some(what)
    }

    pub(crate) fn on_connect(&mut self) -> Option<ConnectFault> {
        self.take(|fault| {
            let Fault::Connect { what, times } = fault else {
                return None;
            };
            Some((*what, times))
        })
    }

    /// The refusal of an upgrade, if that is the next fault of a connection.
    pub(crate) fn on_upgrade(&mut self) -> Option<u16> {
        let next = self.0.iter().find_map(|fault| {
            let Fault::Connect { what, .. } = fault else {
                return None;
            };
            Some(*what)
        });
        let Some(ConnectFault::Refuse { status }) = next else {
            return None;
        };
        self.on_connect();
        Some(status)
    }

    pub(crate) fn on_identify(&mut self) -> Option<GatewayFault> {
        self.take(|fault| {
            let Fault::Identify { what, times } = fault else {
                return None;
            };
            Some((*what, times))
        })
    }

    pub(crate) fn on_resume(&mut self) -> Option<GatewayFault> {
        self.take(|fault| {
            let Fault::Resume { what, times } = fault else {
                return None;
            };
            Some((*what, times))
        })
    }

    /// Whether this heartbeat stays without an ACK.
    pub(crate) fn on_heartbeat(&mut self) -> Option<()> {
        self.take(|fault| {
            let Fault::Heartbeat { times } = fault else {
                return None;
            };
            Some(((), times))
        })
    }

    pub(crate) fn on_dispatch(&mut self, name: &str) -> Option<DispatchFault> {
        self.take(|fault| {
            let Fault::Dispatch { kind, event, times } = fault else {
                return None;
            };
            let fits = event.as_deref().is_none_or(|event| event == name);
            fits.then_some((*kind, times))
        })
    }

    /// All faults that this request meets, each used up once.
    pub(crate) fn on_request(&mut self, request: &Request) -> RestPlan {
        let mut plan = RestPlan::default();
        for fault in &mut self.0 {
            let Fault::Request(fault) = fault else {
                continue;
            };
            if fault.times == 0 || !fault.fits(request) {
                continue;
            }
            if fault.skip > 0 {
                fault.skip -= 1;
                continue;
            }
            fault.times -= 1;
            plan.add(&fault.what);
        }
        self.0
            .retain(|fault| !matches!(fault, Fault::Request(fault) if fault.times == 0));
        plan
    }
}

/// The switchboard is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyFaults;

impl RestFault {
    fn fits(&self, request: &Request) -> bool {
        self.method.is_none_or(|method| method == request.method)
            && self
                .path
                .as_deref()
                .is_none_or(|path| request.path.contains(path))
    }
}

impl RestPlan {
    fn add(&mut self, what: &RestFaultKind) {
        match what {
            RestFaultKind::Delay { ms } => self.delay_ms = self.delay_ms.saturating_add(*ms),
            RestFaultKind::SlowBody { ms } => self.slow_body_ms = Some(*ms),
            RestFaultKind::LoseRequest => self.loss = Loss::Request,
            RestFaultKind::LoseResponse => self.loss = Loss::Response,
            RestFaultKind::StallRequest => self.loss = Loss::StalledRequest,
            RestFaultKind::StallResponse => self.loss = Loss::StalledResponse,
            RestFaultKind::StatusAfter { status } => {
                let body = serde_json::json!({ "message": format!("{status}: Fault"), "code": 0 });
                self.after = Some(Answer::json(*status, &body));
            }
            RestFaultKind::RateLimit {
                scope,
                retry_after_ms,
            } => {
                self.instead = Some(Answer::too_many(*scope, *retry_after_ms));
            }
            RestFaultKind::Status {
                status,
                code,
                message,
                retry_after,
                html,
            } => {
                let mut answer = match html {
                    Some(html) => Answer::html(*status, html.clone()),
                    None => {
                        let message = message
                            .clone()
                            .unwrap_or_else(|| format!("{status}: Fault"));
                        Answer::json(
                            *status,
                            &serde_json::json!({ "message": message, "code": code }),
                        )
                    }
                };
                if let Some(seconds) = retry_after {
                    answer = answer.with("Retry-After", seconds.to_string());
                }
                self.instead = Some(answer);
            }
        }
    }
}

impl From<TooManyFaults> for ApiError {
    fn from(_: TooManyFaults) -> Self {
        Self::form(
            &["times"],
            "TOO_MANY",
            "Too many faults are armed; clear some first.",
        )
    }
}
