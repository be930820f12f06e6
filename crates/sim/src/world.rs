//! The whole simulated server as one state machine.
//!
//! In: requests, gateway frames, what the control API asks for, and the present moment with each.
//! Out: answers, and effects in order for the shell to carry out.
//! Never: opens a socket, waits, reads a clock, or holds more than the rules allow.

mod access;
mod build;
pub(crate) mod commands;
pub(crate) mod dispatch;
mod faults;
mod gateway;
pub(crate) mod interactions;
pub(crate) mod limits;
pub(crate) mod log;
mod nonce;
mod page;
pub(crate) mod post;
pub(crate) mod session;
pub(crate) mod store;
pub(crate) mod threads;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::id::{Id, IdSource};
use crate::model::{App, Channel, Guild, Member, Message, Role, User};
use crate::scenario::Rules;

pub use build::ScenarioError;
pub(crate) use faults::{Fault, Faults, GatewayFault, LimitScope, Loss, RestPlan};
pub(crate) use gateway::ConnectionId;
pub(crate) use interactions::{Interactions, Press};
pub(crate) use limits::{Charge, Limits};
pub(crate) use log::Log;
pub(crate) use nonce::Nonces;
pub(crate) use post::{Draft, Upload};
pub(crate) use session::Sessions;
pub(crate) use store::Files;

/// One of the scenario's applications, by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AppIndex(pub(crate) usize);

/// Something for the shell to do, in the order in which it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// Send a text frame.
    Frame { to: ConnectionId, text: String },
    /// Send a close frame and end the connection.
    Close {
        to: ConnectionId,
        code: u16,
        reason: &'static str,
    },
    /// End the TCP connection without a close frame.
    Drop { to: ConnectionId },
    /// Send the first half of a frame, then end the TCP connection.
    Tear { to: ConnectionId, text: String },
    /// Tell every open page.
    Page(Arc<str>),
}

/// Everything there is.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) origin: String,
    pub(crate) rules: Rules,
    pub(crate) ids: IdSource,
    pub(crate) guild: Guild,
    pub(crate) users: BTreeMap<Id, User>,
    pub(crate) members: BTreeMap<Id, Member>,
    pub(crate) roles: BTreeMap<Id, Role>,
    pub(crate) channels: BTreeMap<Id, Channel>,
    pub(crate) messages: BTreeMap<Id, BTreeMap<Id, Message>>,
    pub(crate) files: Files,
    pub(crate) apps: Vec<App>,
    pub(crate) sessions: Sessions,
    pub(crate) nonces: Nonces,
    pub(crate) limits: Limits,
    pub(crate) interactions: Interactions,
    pub(crate) commands: Vec<commands::Command>,
    pub(crate) faults: Faults,
    pub(crate) log: Log,
    effects: Vec<Effect>,
}

impl World {
    /// Takes what is to be done since the last call.
    pub(crate) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    pub(crate) fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub(crate) fn app(&self, index: AppIndex) -> &App {
        &self.apps[index.0]
    }

    /// The gateway's address, which READY repeats so that no client leaves for the real service.
    pub(crate) fn gateway_url(&self) -> String {
        self.origin.replacen("http", "ws", 1)
    }

    /// Tells the open pages that something changed.
    pub(crate) fn tell_page(&mut self, event: &Value) {
        self.effects.push(Effect::Page(event.to_string().into()));
    }
}
