//! The control API: what a test may do as a person, or to the network.
//!
//! In: JSON requests under `/control`. Out: JSON, with `{"error": ..}` when something is wrong.
//! Never: speaks as a bot; bots have their own door.

mod describe;
mod gateway;
mod people;

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::error::ApiError;
use crate::id::Id;
use crate::server::{ReplyBody, Shared, control_json, query_pairs, read_body};
use crate::world::World;

/// Largest body of a control request.
const BODY_MAX_BYTES: usize = 16 * 1024 * 1024;

/// A control request that could not be done.
#[derive(Debug)]
pub(crate) struct Refused {
    status: u16,
    body: Value,
}

impl Refused {
    fn new(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            body: json!({ "error": message.into() }),
        }
    }
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        let mut body = error.body();
        body["error"] = json!(error.message);
        Self {
            status: error.status,
            body,
        }
    }
}

type Done = Result<Value, Refused>;

/// One control request.
struct Call {
    path: String,
    query: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Call {
    fn query(&self, key: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }

    /// The body as a value of the wanted shape.
    fn read<T: DeserializeOwned>(&self) -> Result<T, Refused> {
        let text: &[u8] = if self.body.is_empty() {
            b"{}"
        } else {
            &self.body
        };
        serde_json::from_slice(text).map_err(|error| Refused::new(400, error.to_string()))
    }
}

/// Answers one control request; `path` is what follows `/control`.
pub(crate) async fn reply(
    shared: &Arc<Shared>,
    request: Request<Incoming>,
    path: &str,
) -> Response<ReplyBody> {
    let method = request.method().clone();
    let query = query_pairs(request.uri().query());
    let done = match read_body(request.into_body(), BODY_MAX_BYTES).await {
        Some(body) => {
            let path = path.trim_matches('/').to_owned();
            let call = Call {
                path,
                query,
                body: body.to_vec(),
            };
            run(shared, method.as_str(), &call).await
        }
        None => Err(Refused::new(413, "the body is too large")),
    };
    match done {
        Ok(body) => control_json(StatusCode::OK, &body),
        Err(refused) => {
            let status = StatusCode::from_u16(refused.status).unwrap_or(StatusCode::BAD_REQUEST);
            control_json(status, &refused.body)
        }
    }
}

/// The table of contents.
async fn run(shared: &Arc<Shared>, method: &str, call: &Call) -> Done {
    match (method, call.path.as_str()) {
        ("GET", "") => Ok(shared.with(|world, _| describe::all(world))),
        ("GET", "messages") => shared.with(|world, _| describe::messages(world, call)),
        ("GET", "log") => shared.with(|world, _| describe::log(world, call)),
        ("GET", "bots") => Ok(shared.with(|world, now| describe::bots(world, now))),
        ("POST", "messages") => shared.with(|world, now| people::send(world, now, call)),
        ("PATCH", "messages") => shared.with(|world, now| people::edit(world, now, call)),
        ("DELETE", "messages") => shared.with(|world, _| people::delete(world, call)),
        ("POST", "reactions") => shared.with(|world, now| people::react(world, now, call)),
        ("DELETE", "reactions") => shared.with(|world, _| people::unreact(world, call)),
        ("POST", "presses") => shared.with(|world, now| people::press(world, now, call)),
        ("GET", "commands") => Ok(shared.with(|world, _| describe::commands(world))),
        ("POST", "commands") => shared.with(|world, now| people::command(world, now, call)),
        ("POST", "typing") => shared.with(|world, now| people::typing(world, now, call)),
        ("POST", "threads") => shared.with(|world, now| people::open_thread(world, now, call)),
        ("PATCH", "threads") => shared.with(|world, now| people::change_thread(world, now, call)),
        ("DELETE", "threads") => shared.with(|world, _| people::delete_thread(world, call)),
        ("POST", "direct") => shared.with(|world, now| people::direct(world, now, call)),
        ("POST", "gateway") => shared.with(|world, now| gateway::strike(world, now, call)),
        ("GET", "faults") => Ok(shared.with(|world, _| gateway::faults(world))),
        ("POST", "faults") => shared.with(|world, _| gateway::arm(world, call)),
        ("DELETE", "faults") => Ok(shared.with(|world, _| gateway::clear(world))),
        ("GET", "clock") => Ok(shared.with(|_, now| json!({ "now_ms": now }))),
        ("POST", "clock") => gateway::advance(shared, call),
        ("GET", "rules") => Ok(shared.with(|world, _| json!(world.rules))),
        ("PATCH", "rules") => shared.with(|world, _| gateway::change_rules(world, call)),
        ("POST", "portal") => shared.with(|world, _| gateway::portal(world, call)),
        ("POST", "overwrites") => shared.with(|world, _| gateway::overwrite(world, call)),
        ("POST", "members") => shared.with(|world, now| gateway::member(world, now, call)),
        ("GET", "panel") => Ok(shared.panel.panel().unwrap_or(Value::Null)),
        ("GET", "actions") => Ok(json!(shared.actions.actions())),
        ("POST", path) if path.starts_with("actions/") => {
            act(shared, path.trim_start_matches("actions/")).await
        }
        (_, path) => Err(Refused::new(404, format!("there is no {method} {path}"))),
    }
}

async fn act(shared: &Shared, name: &str) -> Done {
    if !shared
        .actions
        .actions()
        .iter()
        .any(|action| action.name == name)
    {
        return Err(Refused::new(404, format!("there is no action {name}")));
    }
    match shared.actions.run(name).await {
        Ok(message) => Ok(json!({ "message": message })),
        Err(message) => Err(Refused::new(500, message)),
    }
}

/// A channel by id or by name.
fn channel_of(world: &World, text: &str) -> Result<Id, Refused> {
    let by_id = text
        .parse()
        .ok()
        .filter(|id| world.channels.contains_key(id));
    by_id
        .or_else(|| world.channel_named(text.trim_start_matches('#')).ok())
        .ok_or_else(|| Refused::new(404, format!("there is no channel {text:?}")))
}

/// A person or bot by id or by name.
fn user_of(world: &World, text: &str) -> Result<Id, Refused> {
    let by_id = text.parse().ok().filter(|id| world.users.contains_key(id));
    by_id
        .or_else(|| world.user_named(text.trim_start_matches('@')).ok())
        .ok_or_else(|| Refused::new(404, format!("there is no user {text:?}")))
}

fn message_of(text: &str) -> Result<Id, Refused> {
    text.parse()
        .map_err(|_| Refused::new(400, format!("{text:?} is no message id")))
}
