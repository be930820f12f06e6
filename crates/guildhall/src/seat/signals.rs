//! Signals: how a supervisor or a terminal speaks to a seat.
//!
//! In: SIGTERM, SIGINT, SIGHUP. Out: the end, or a reload. Never: an end in the middle of a turn.

use crate::exit::Failure;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Clone, Copy)]
pub(super) enum Signalled {
    End,
    Reload,
}

pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    pub(super) fn listen() -> Result<Self, Failure> {
        let on = |kind| {
            signal(kind)
                .map_err(|error| Failure::failed(format!("cannot listen to signals: {error}")))
        };
        Ok(Self {
            terminate: on(SignalKind::terminate())?,
            interrupt: on(SignalKind::interrupt())?,
            hang_up: on(SignalKind::hangup())?,
        })
    }

    pub(super) async fn next(&mut self) -> Signalled {
        tokio::select! {
            _ = self.terminate.recv() => Signalled::End,
            _ = self.interrupt.recv() => Signalled::End,
            _ = self.hang_up.recv() => Signalled::Reload,
        }
    }
}
