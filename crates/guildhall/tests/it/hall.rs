//! A Discord to run against: the simulator in this process, on a thread of its own.
//!
//! In: what people say, faults, time. Out: what stands in the channels and what went over the wire.
//! Never: a look into the simulator's memory; its control API says everything.

use crate::http::exchange;
use guildhall_sim::{ChannelKindSpec, ChannelSpec, PersonSpec, Scenario, Sim, SimConfig};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::mpsc,
    thread::{self, JoinHandle},
};
use tokio::sync::oneshot;

/// Channels of the server. Discord's limits count by channel, so a test that posts much moves on.
pub(crate) const CHANNELS: [&str; 12] = [
    "ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "yew",
];
/// A listed person.
pub(crate) const ANA: &str = "Ana";

/// A running simulator.
pub(crate) struct Hall {
    pub(crate) origin: String,
    pub(crate) token: String,
    pub(crate) guild: String,
    pub(crate) bot: String,
    users: BTreeMap<String, String>,
    channels: BTreeMap<String, String>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// A message as it stands in a channel.
#[derive(Clone, Debug)]
pub(crate) struct Post {
    pub(crate) id: u64,
    pub(crate) author: String,
    pub(crate) content: String,
    pub(crate) nonce: Option<String>,
    pub(crate) replies_to: Option<u64>,
}

impl Hall {
    /// The usual server: twelve channels, one listed person, lenient numbers.
    pub(crate) fn open() -> Self {
        Self::with(|_| {})
    }

    /// The usual server with other numbers.
    pub(crate) fn with(change: impl FnOnce(&mut Scenario)) -> Self {
        let mut scenario = Scenario::for_tests();
        let text = |name: &&str| ChannelSpec::named(name, ChannelKindSpec::Text);
        scenario.channels = CHANNELS.iter().map(text).collect();
        scenario.people = vec![PersonSpec {
            name: ANA.to_owned(),
            ..PersonSpec::default()
        }];
        change(&mut scenario);
        let (tell, told) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || simulate(SimConfig::new(scenario), &tell, stopped));
        let mut hall: Self = told.recv().expect("the simulator starts");
        (hall.stop, hall.thread) = (Some(stop), Some(thread));
        hall
    }

    fn of(sim: &Sim) -> Self {
        let named = |list: Vec<guildhall_sim::Named>| {
            let pairs = list.into_iter().map(|it| (it.name, it.id.to_string()));
            pairs.collect()
        };
        Self {
            origin: sim.origin(),
            token: sim.token(),
            guild: sim.guild().to_string(),
            bot: sim.bot().to_string(),
            users: named(sim.users()),
            channels: named(sim.channels()),
            stop: None,
            thread: None,
        }
    }

    pub(crate) fn channel(&self, name: &str) -> &str {
        &self.channels[name]
    }

    pub(crate) fn user(&self, name: &str) -> &str {
        &self.users[name]
    }

    /// A control request, which must succeed.
    pub(crate) fn control(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let address = self.origin.trim_start_matches("http://");
        exchange(method, address, &format!("/control{path}"), body)
    }

    /// Ana says something; gives the message's id.
    pub(crate) fn say(&self, channel: &str, content: &str) -> u64 {
        let body = json!({"channel": channel, "author": ANA, "content": content});
        id_of(&self.control("POST", "/messages", Some(&body))["id"])
    }

    /// What stands in a channel after a message, oldest first.
    pub(crate) fn posts(&self, channel: &str, after: u64) -> Vec<Post> {
        let path = format!("/messages?channel={channel}&after={after}");
        let found = self.control("GET", &path, None);
        let posts = found.as_array().expect("a list of messages").iter();
        posts.map(Post::read).collect()
    }

    /// What the bot posted in a channel after a message, oldest first.
    pub(crate) fn bot_posts(&self, channel: &str, after: u64) -> Vec<Post> {
        let mut posts = self.posts(channel, after);
        posts.retain(|post| post.author == self.bot);
        posts
    }

    /// Arms a fault that waits for its occasion.
    pub(crate) fn arm(&self, fault: &Value) {
        self.control("POST", "/faults", Some(fault));
    }

    /// How many armed faults wait for their occasion.
    pub(crate) fn armed(&self) -> usize {
        let faults = self.control("GET", "/faults", None);
        faults.as_array().map_or(0, Vec::len)
    }

    /// Does something to the gateway's connections at once.
    pub(crate) fn strike(&self, what: &Value) {
        self.control("POST", "/gateway", Some(what));
    }

    /// Moves Discord's clock.
    pub(crate) fn advance(&self, ms: i64) {
        self.control("POST", "/clock", Some(&json!({"advance_ms": ms})));
    }

    /// A moderator, or its author, removes a message.
    pub(crate) fn delete(&self, channel: &str, message: u64) {
        let body = json!({"channel": channel, "message": message.to_string()});
        self.control("DELETE", "/messages", Some(&body));
    }

    /// How many posts of the bot reached Discord so far, repeats included.
    pub(crate) fn post_count(&self) -> usize {
        let found = self.control("GET", "/log?kind=request", None);
        let entries = found["entries"].as_array().cloned().unwrap_or_default();
        let is_post = |entry: &&Value| {
            let path = entry["path"].as_str().unwrap_or_default();
            entry["method"] == "POST" && path.ends_with("/messages")
        };
        entries.iter().filter(is_post).count()
    }
}

impl Drop for Hall {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            stop.send(()).ok();
        }
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl Post {
    fn read(json: &Value) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let reference = &json["message_reference"]["message_id"];
        Self {
            id: id_of(&json["id"]),
            author: text(&json["author"]["id"]).unwrap_or_default(),
            content: text(&json["content"]).unwrap_or_default(),
            nonce: text(&json["nonce"]),
            replies_to: reference.as_str().and_then(|id| id.parse().ok()),
        }
    }
}

fn id_of(json: &Value) -> u64 {
    let id = json.as_str().and_then(|id| id.parse().ok());
    id.expect("an id")
}

fn simulate(config: SimConfig, tell: &mpsc::Sender<Hall>, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let sim = guildhall_sim::start(config).await.expect("a free port");
        if tell.send(Hall::of(&sim)).is_ok() {
            // An error means that the hall is gone, which ends the simulator as well.
            drop(stopped.await);
        }
        sim.stop().await;
    });
}
