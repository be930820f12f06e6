//! The sockets: one listener for REST, gateway, control and page.
//!
//! In: a configuration. Out: a running simulator and its addresses.
//! Never: decides anything about Discord; the world does.

mod guard;
mod hooks;
mod http;
mod page;
mod rest;
mod shared;
mod websocket;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};

use crate::clock::{Clock, ClockStart};
use crate::id::Id;
use crate::scenario::Scenario;
use crate::world::{ScenarioError, World};

pub use hooks::{ActionFuture, DemoAction, DemoActions, NoActions, NoPanel, PanelSource};
pub(crate) use http::{ReplyBody, json as control_json, query_pairs, read_body};
pub(crate) use shared::Shared;

/// How long [`Sim::stop`] waits for connections to end before it leaves them to the runtime.
const STOP_GRACE: Duration = Duration::from_secs(5);

/// What a simulator is made of.
#[derive(Clone)]
pub struct SimConfig {
    /// TCP port on 127.0.0.1; zero takes a free one.
    pub port: u16,
    /// What all ids and the tokens are made from.
    pub seed: u64,
    /// The server, its people and its numbers.
    pub scenario: Scenario,
    /// Where time comes from.
    pub clock: ClockStart,
    /// What the page's panel shows.
    pub panel: Arc<dyn PanelSource>,
    /// Buttons of the page that do something outside the simulator.
    pub actions: Arc<dyn DemoActions>,
}

impl SimConfig {
    /// `scenario` on a free port, with the system's clock, no panel and no actions.
    #[must_use]
    pub fn new(scenario: Scenario) -> Self {
        Self {
            port: 0,
            seed: 1,
            scenario,
            clock: ClockStart::System,
            panel: Arc::new(NoPanel),
            actions: Arc::new(NoActions),
        }
    }
}

/// A simulator that could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// The port is taken, or loopback is not there.
    #[error("cannot listen on 127.0.0.1:{port}")]
    Listen {
        /// The port that was asked for.
        port: u16,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The scenario does not fit together.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
}

/// An id and the name that goes with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// The snowflake.
    pub id: Id,
    /// The shown name.
    pub name: String,
}

/// A running simulator. It stops when it is dropped, or earlier with [`Sim::stop`].
#[derive(Debug)]
pub struct Sim {
    shared: Arc<Shared>,
    stop: watch::Sender<Running>,
    /// Closes when the last task has let go of its sender.
    ended: mpsc::Receiver<()>,
}

/// Whether the tasks go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Running {
    Yes,
    No,
}

/// Starts a simulator on 127.0.0.1.
///
/// It is reachable when this returns.
///
/// # Errors
///
/// Fails when the port cannot be had, or the scenario does not fit together.
pub async fn start(config: SimConfig) -> Result<Sim, SimError> {
    let port = config.port;
    let listen = |source| SimError::Listen { port, source };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = TcpListener::bind(address).await.map_err(listen)?;
    let origin = format!("http://{}", listener.local_addr().map_err(listen)?);
    let clock = Clock::new(config.clock);
    let world = World::new(&config.scenario, config.seed, clock.now(), origin.clone())?;
    let (stop, running) = watch::channel(Running::Yes);
    let (alive, ended) = mpsc::channel(1);
    let shared = Arc::new(Shared::new(
        world,
        clock,
        origin,
        config.panel,
        config.actions,
        running,
        alive,
    ));
    tokio::spawn(http::accept(Arc::clone(&shared), listener, shared.task()));
    tokio::spawn(shared::tick(Arc::clone(&shared), shared.task()));
    tracing::info!(origin = shared.origin(), "simulator listening");
    shared.release_task();
    Ok(Sim {
        shared,
        stop,
        ended,
    })
}

impl Sim {
    /// Where REST is, without a path: `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn origin(&self) -> String {
        self.shared.origin().to_owned()
    }

    /// Where the control API is.
    #[must_use]
    pub fn control(&self) -> String {
        format!("{}/control", self.shared.origin())
    }

    /// Where the page is.
    #[must_use]
    pub fn page(&self) -> String {
        format!("{}/", self.shared.origin())
    }

    /// The first bot's token.
    #[must_use]
    pub fn token(&self) -> String {
        self.shared.with(|world, _| world.apps[0].token.clone())
    }

    /// The guild's id.
    #[must_use]
    pub fn guild(&self) -> Id {
        self.shared.with(|world, _| world.guild.id)
    }

    /// The first bot's user id.
    #[must_use]
    pub fn bot(&self) -> Id {
        self.shared.with(|world, _| world.apps[0].bot)
    }

    /// The first bot's application id, which is not its user id.
    #[must_use]
    pub fn application(&self) -> Id {
        self.shared.with(|world, _| world.apps[0].id)
    }

    /// The people.
    #[must_use]
    pub fn users(&self) -> Vec<Named> {
        self.shared.with(|world, _| world.people())
    }

    /// The channels, forums and threads.
    #[must_use]
    pub fn channels(&self) -> Vec<Named> {
        self.shared.with(|world, _| world.named_channels())
    }

    /// Has every open page fetch the panel again.
    pub fn panel_changed(&self) {
        self.shared
            .with(|world, _| world.tell_page(&serde_json::json!({ "type": "panel" })));
    }

    /// Ends all connections and gives the port back.
    ///
    /// # Cancel safety
    ///
    /// Everything is told to stop at the first poll; dropping the future only ends the waiting.
    pub async fn stop(mut self) {
        self.stop.send_replace(Running::No);
        let ended = self.ended.recv();
        if tokio::time::timeout(STOP_GRACE, ended).await.is_err() {
            tracing::warn!("connections were still open when the simulator stopped");
        }
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        self.stop.send_replace(Running::No);
    }
}

impl World {
    pub(crate) fn people(&self) -> Vec<Named> {
        self.users
            .values()
            .filter(|user| user.kind == crate::model::UserKind::Person)
            .map(|user| Named {
                id: user.id,
                name: user
                    .global_name
                    .clone()
                    .unwrap_or_else(|| user.username.clone()),
            })
            .collect()
    }

    pub(crate) fn named_channels(&self) -> Vec<Named> {
        self.channels
            .values()
            .filter(|channel| channel.recipients.is_empty())
            .map(|channel| Named {
                id: channel.id,
                name: channel.name.clone(),
            })
            .collect()
    }
}
