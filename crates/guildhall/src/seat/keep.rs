//! The two files that are replaced: what `status` shows, and where the gateway was.
//!
//! In: the connector's status, the link's, the session. Out: bytes for the journal's thread, at most
//! once a second. Never: a cursor that is ahead of what is committed, a text of a message.

use super::health::Health;
use guildhall_binding::ids::{ChannelId, MessageId};
use guildhall_connector::{
    moment::{Moment, Mono, Wall},
    status::Status,
};
use guildhall_discord::gateway::{LinkStatus, SessionState};
use guildhall_engine::EngineDescription;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// Name of the file that `status` shows.
pub(crate) const STATUS_FILE: &str = "status.json";
/// Name of the file with the gateway's session and cursors.
pub(crate) const GATEWAY_FILE: &str = "gateway.json";
/// How often the files are written at most.
const EVERY: Duration = Duration::from_secs(1);

/// What is written, and when.
pub(super) struct Keep {
    folder: PathBuf,
    started: Wall,
    engine: EngineDescription,
    last: Option<(Wall, String)>,
    due: Option<Mono>,
    written: Mono,
}

/// `gateway.json`.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Kept {
    v: u64,
    pub(crate) session: SessionState,
    pub(crate) cursors: Vec<(ChannelId, MessageId)>,
}

impl Keep {
    pub(super) fn new(folder: &Path, started: Wall, engine: EngineDescription) -> Self {
        let folder = folder.to_owned();
        Self {
            folder,
            started,
            engine,
            last: None,
            due: Some(Mono(0)),
            written: Mono(0),
        }
    }

    /// Something changed.
    pub(super) fn touch(&mut self, now: Mono) {
        let next = self.written.plus(EVERY).max(now);
        self.due.get_or_insert(next);
    }

    /// The last thing that went wrong, for people: no text of a message.
    pub(super) fn error(&mut self, what: String) {
        self.last = Some((Wall::default(), what));
    }

    pub(super) fn due(&self) -> Option<Mono> {
        self.due
    }

    pub(super) fn is_due(&self, now: Mono) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    /// What `status` shows of a seat.
    pub(super) fn shown(
        &mut self,
        at: &Moment,
        status: &Status,
        link: Option<LinkStatus>,
        health: &Health,
    ) -> Value {
        if let Some((when, _)) = &mut self.last
            && *when == Wall::default()
        {
            *when = at.wall;
        }
        let wall = |ms: u64| Wall(i64::try_from(ms).unwrap_or(0));
        json!({
            "v": 1,
            "at": at.wall,
            "started": self.started,
            "engine": self.engine,
            "connector": status,
            "degraded": health.told(),
            "channels": health.events(),
            "gateway": link.map(|link| json!({
                "stage": format!("{:?}", link.stage).to_lowercase(),
                "since": wall(link.since_ms),
                "heard": link.heard_ms.map(wall),
                "event": link.event_ms.map(wall),
                "connects": link.connects_count,
            })),
            "lastError": self.last.as_ref().map(|(at, what)| json!({"at": at, "what": what})),
        })
    }

    /// The files as they should be now.
    pub(super) fn files(
        &mut self,
        at: &Moment,
        shown: &Value,
        session: &SessionState,
        cursors: Option<Vec<(ChannelId, MessageId)>>,
    ) -> Vec<(PathBuf, Vec<u8>)> {
        self.due = None;
        self.written = at.mono;
        let mut files = vec![(
            self.folder.join(STATUS_FILE),
            shown.to_string().into_bytes(),
        )];
        if let Some(cursors) = cursors {
            let kept = Kept {
                v: 1,
                session: session.clone(),
                cursors,
            };
            if let Ok(bytes) = serde_json::to_vec(&kept) {
                files.push((self.folder.join(GATEWAY_FILE), bytes));
            }
        }
        files
    }
}
