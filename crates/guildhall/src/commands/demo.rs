//! `guildhall demo`: everything on this machine, without an account.
//!
//! In: a port. Out: a stand-in for Discord, its page, and a seat that is a process of its own, so that
//! it can be killed for real. Never: the real Discord, a file outside the scratch folder.

mod desk; // a work tree for it
mod pages; // a web for it
mod panel;
mod scratch;
mod seat_process;

use super::{Output, print, sim::ended};
use crate::{
    cli::{DemoArgs, DemoEngine},
    exit::{Failure, chain},
    home::Home,
};
use guildhall_sim::{Scenario, Sim, SimConfig, start};
use pages::Pages;
use panel::Panel;
use scratch::Scratch;
use seat_process::{Actions, SeatProcess};
use serde_json::json;
use std::{io::IsTerminal as _, sync::Arc, time::Duration};

/// The binding's name.
const BINDING: &str = "demo";
/// How often the page's panel looks at the journal.
const PANEL_EVERY: Duration = Duration::from_millis(250);
/// How long the page is kept back for the seat.
const SERVING_WITHIN: Duration = Duration::from_secs(60);

pub(super) fn run(args: &DemoArgs, output: Output) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("cannot start the runtime: {error}")))?;
    let ended = runtime.block_on(demo(args, output));
    runtime.shutdown_timeout(Duration::from_secs(1));
    ended
}

async fn demo(args: &DemoArgs, output: Output) -> Result<(), Failure> {
    let scratch = Scratch::make(args.keep.as_ref().map(Option::as_deref))?;
    let seat = SeatProcess::new(scratch.root(), &scratch.stand_in(), args.think);
    let mut config = SimConfig::new(Scenario::demo());
    config.port = args.port;
    let panel = Panel::new(scratch.root(), seat.clone());
    let names = panel.names();
    config.panel = Arc::new(panel);
    config.actions = Arc::new(Actions::new(seat.clone()));
    let sim = start(config)
        .await
        .map_err(|error| Failure::failed(chain(&error)))?;
    names.get_or_init(|| {
        sim.channels()
            .into_iter()
            .map(|it| (it.id.to_string(), it.name))
            .collect()
    });
    let pages = Pages::start().await?;
    scratch.bind(&sim, &pages, engine(args))?;
    // Faults of what was typed are told here, not by a seat that does not start.
    Home::find(Some(scratch.root()), None)?.policy(BINDING)?;
    let mut supervised = tokio::spawn(seat.clone().supervise());
    // What is said before it serves would have no answer.
    tokio::select! {
        () = panel::serving(scratch.root()) => {}
        () = tokio::time::sleep(SERVING_WITHIN) => {
            tracing::warn!("the seat takes long to come up; its log says why");
        }
        gone = &mut supervised => return Err(gone_for(gone)),
        ended = ended() => {
            seat.end().await;
            return ended;
        }
    }
    tell(&sim, &scratch, args, output);
    let watched = async {
        let mut last = None;
        loop {
            tokio::time::sleep(PANEL_EVERY).await;
            let now = panel::stamp(scratch.root());
            if now != last {
                last = now;
                sim.panel_changed();
            }
        }
    };
    let ended = tokio::select! {
        ended = ended() => ended,
        () = watched => Ok(()),
        gone = &mut supervised => Err(gone_for(gone)),
    };
    seat.end().await;
    sim.stop().await;
    drop(pages);
    drop(scratch);
    ended
}

/// Why the supervisor ended, which it does when the seat cannot be started.
fn gone_for(gone: Result<Failure, tokio::task::JoinError>) -> Failure {
    gone.unwrap_or_else(|error| Failure::failed(format!("the seat's supervisor ended: {error}")))
}

fn tell(sim: &Sim, scratch: &Scratch, args: &DemoArgs, output: Output) {
    match output {
        Output::Text => print(sim.page()),
        Output::Json => print(json!({
            "origin": sim.origin(),
            "control": sim.control(),
            "page": sim.page(),
            "token": sim.token(),
            "guild": sim.guild(),
            "bot": sim.bot(),
            "users": sim.users(),
            "channels": sim.channels(),
            "dataRoot": scratch.root(),
            "files": scratch.top().join("files"),
        })),
    }
    match args.engine {
        DemoEngine::Practice => {
            eprintln!(
                "Open that page and type a message: a practice seat answers it. It is no model."
            );
        }
        DemoEngine::Native | DemoEngine::Pi => {
            eprintln!("Open that page and type a message: the model answers it.");
        }
    }
    eprintln!("Speak as Olga, Ana or Ben; Eve is not listed, so she gets no answer.");
    eprintln!(
        "Ask it to list, read or search the handbook, or to change a file on the desk: that posts a \
         card, and Olga may allow it."
    );
    eprintln!(
        "It may read https://{}/ too, which this machine serves.",
        pages::HOST
    );
    eprintln!("The page has a button that kills the seat in mid-turn, and shows how it recovers.");
    eprintln!(
        "The journal, the seat's log and the files that it may read and change are in {}",
        scratch.top().display()
    );
    eprintln!(
        "Ctrl-C ends it{}.",
        if args.keep.is_some() {
            ""
        } else {
            " and leaves nothing behind"
        }
    );
    if !args.no_open && std::io::stdout().is_terminal() {
        open_browser(&sim.page());
    }
}

/// The engine's part of the binding.
fn engine(args: &DemoArgs) -> serde_json::Value {
    let mut engine = json!({"kind": match args.engine {
        DemoEngine::Practice => "practice",
        DemoEngine::Native => "native",
        DemoEngine::Pi => "pi",
    }});
    let key_file = args
        .key_file
        .as_ref()
        .map(|path| path.display().to_string());
    let fields = [
        ("provider", args.provider.clone()),
        ("model", args.model.clone()),
        ("baseUrl", args.base_url.clone()),
        ("keyEnv", args.key_env.clone()),
        ("keyFile", key_file),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            engine[name] = json!(value);
        }
    }
    engine
}

/// Opens the page where a desktop is there to open it; a machine without one is no failure.
fn open_browser(page: &str) {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let has_desktop = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some());
    if !has_desktop {
        return;
    }
    let quiet = std::process::Stdio::null;
    let spawned = std::process::Command::new(opener)
        .arg(page)
        .stdin(quiet())
        .stdout(quiet())
        .stderr(quiet())
        .spawn();
    if let Err(error) = spawned {
        tracing::debug!(%error, "no browser was opened");
    }
}
