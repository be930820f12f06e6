//! A Discord stand-in on loopback: REST API v10, gateway, a page that looks like a chat server,
//! and a control API for tests.
//!
//! In: a [`SimConfig`]. Out: a running [`Sim`] that ordinary bots log in to unchanged but for the
//! base URL.
//! Never: listens on anything but loopback, speaks to the network, knows the rest of the product.
//!
//! The modules, in the order to read them:
//!
//! - `scenario`: what a world holds at first, and Discord's numbers;
//! - `world`: the whole server as one state machine, which takes the present as an argument and
//!   gives back effects;
//! - `api`: Discord's REST API over the world, one file for each kind of thing;
//! - `control`: what a test or the page may do as a person, or to the network;
//! - `server`: the sockets, which carry out what the world decided.

mod scenario;

mod clock;
mod error;
mod id;
mod model;
mod permission;
mod view;
mod world;

mod api;
mod control;
mod server;

pub use clock::{ClockStart, Moment};
pub use id::{Id, NotAnId};
pub use permission::Permissions;
pub use scenario::{
    BotSpec, ChannelKindSpec, ChannelSpec, OverwriteSpec, PersonSpec, Portal, RateLimitRule,
    RoleSpec, Rules, Scenario, Switch,
};
pub use server::{
    ActionFuture, DemoAction, DemoActions, Named, NoActions, NoPanel, PanelSource, Sim, SimConfig,
    SimError, start,
};
pub use world::ScenarioError;
