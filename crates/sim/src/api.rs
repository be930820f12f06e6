//! Discord's REST API over the world.
//!
//! In: one request, already read. Out: one answer, with its headers.
//! Never: waits, or touches a socket; delays and losses are a plan that the shell carries out.

mod answer;
mod calls;
mod channels;
mod commands;
mod components;
mod embeds;
mod form;
mod guilds;
mod interactions;
mod messages;
mod multipart;
mod polls;
mod reactions;
mod route;
mod threads;
pub(crate) mod write;

use crate::clock::Moment;
use crate::error::ApiError;
use crate::id::Id;
use crate::world::limits::Verdict;
use crate::world::log::What;
use crate::world::{AppIndex, Charge, Loss, RestPlan, World};

pub(crate) use answer::{Answer, Body};
pub(crate) use form::REQUEST_MAX_BYTES;
pub(crate) use route::{Target, percent_decoded};

/// HTTP methods that Discord's API uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete]
            .into_iter()
            .find(|method| method.name() == name)
    }
}

/// One request, its path without `/api/v10`.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) authorization: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// The first value of a query parameter.
    pub(crate) fn query(&self, key: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }

    /// The body as the log keeps it: JSON as it came, anything else by its size.
    fn logged_body(&self) -> String {
        let is_json = self
            .content_type
            .as_deref()
            .is_some_and(|t| t.contains("json"));
        match std::str::from_utf8(&self.body) {
            Ok(text) if is_json => text.to_owned(),
            _ if self.body.is_empty() => String::new(),
            _ => format!("({} bytes)", self.body.len()),
        }
    }
}

/// The bot that asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) app: AppIndex,
    pub(crate) bot: Id,
}

/// What a handler gives: an answer, or Discord's refusal.
pub(crate) type Outcome = Result<Answer, ApiError>;

impl World {
    /// What a request has to suffer; asked once, before anything else.
    pub(crate) fn plan(&mut self, request: &Request) -> RestPlan {
        let plan = self.faults.on_request(request);
        if plan != RestPlan::default() {
            self.tell_page_of_faults();
        }
        plan
    }

    /// Answers a request and writes it into the log.
    pub(crate) fn serve(&mut self, now: Moment, request: &Request, plan: &RestPlan) -> Answer {
        self.log.at(now);
        let answer = match (&plan.instead, plan.loss) {
            (_, Loss::Request | Loss::StalledRequest) => Answer::empty(0),
            (Some(instead), _) => instead.clone(),
            (None, _) => {
                let done = self.handle(now, request);
                plan.after.clone().unwrap_or(done)
            }
        };
        if answer.is_invalid_request() {
            let rules = self.rules;
            self.limits.note_invalid(now, &rules);
        }
        self.log.add(
            now,
            What::Request {
                method: request.method.name(),
                path: request.path.clone(),
                body: request.logged_body(),
                status: answer.status,
                answer: answer.logged_body(),
                lost: plan.loss.name(),
            },
        );
        answer
    }

    fn handle(&mut self, now: Moment, request: &Request) -> Answer {
        let target = match Target::parse(&request.path) {
            Some(target) => target,
            None => return Answer::refusal(&ApiError::NOT_FOUND),
        };
        let app = request.authorization.as_deref().and_then(|header| {
            header
                .starts_with("Bot ")
                .then(|| self.app_of_token(header))
                .flatten()
        });
        let charge = Charge {
            app,
            bucket: target.bucket(request.method),
            major: target.major(),
            global: target.global(),
        };
        let rules = self.rules;
        let standing = match self.limits.charge(now, &charge, &rules) {
            Verdict::Pass(standing) => standing,
            Verdict::Bucket(standing) => return Answer::bucket_empty(&standing),
            Verdict::GlobalMs(ms) => {
                return Answer::too_many(crate::world::LimitScope::Global, ms);
            }
            Verdict::BanMs(ms) => {
                return Answer::too_many(crate::world::LimitScope::Cloudflare, ms);
            }
        };
        let outcome = match app {
            Some(app) => {
                let caller = Caller {
                    app,
                    bot: self.app(app).bot,
                };
                self.route(now, request, &target, caller)
            }
            None => self.route_open(now, request, &target),
        };
        let answer = outcome.unwrap_or_else(|refusal| Answer::refusal(&refusal));
        match standing {
            Some(standing) => answer.with_bucket(&standing),
            None => answer,
        }
    }
}
