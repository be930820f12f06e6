//! `guildhall sim`: the Discord stand-in alone.

use super::{Output, print};
use crate::{
    cli::SimArgs,
    exit::{Failure, chain},
};
use guildhall_sim::{ClockStart, Rules, Scenario, SimConfig, start};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

pub(super) fn run(args: &SimArgs, output: Output) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("cannot start the runtime: {error}")))?;
    runtime.block_on(async {
        let mut config = SimConfig::new(scenario(args)?);
        config.clock = args.clock.map_or(ClockStart::System, ClockStart::FixedMs);
        config.port = args.port;
        config.seed = args.seed;
        let sim = start(config)
            .await
            .map_err(|error| Failure::failed(chain(&error)))?;
        match output {
            Output::Text => {
                print(sim.origin());
                eprintln!("page     {}", sim.page());
                eprintln!("control  {}", sim.control());
                eprintln!("token    {}", sim.token());
                eprintln!("Point a bot's base URL at the origin; Ctrl-C ends it.");
            }
            Output::Json => print(json!({
                "origin": sim.origin(),
                "control": sim.control(),
                "token": sim.token(),
                "guild": sim.guild(),
                "bot": sim.bot(),
                "users": sim.users(),
                "channels": sim.channels(),
            })),
        }
        ended().await?;
        sim.stop().await;
        Ok(())
    })
}

/// The file's server, or the demo's.
fn scenario(args: &SimArgs) -> Result<Scenario, Failure> {
    let mut scenario = match &args.scenario {
        None => Scenario::demo(),
        Some(path) => {
            let fail = |error: &dyn std::fmt::Display| {
                Failure::invalid(format!("the scenario {}: {error}", path.display()))
                    .hint("docs/sim.md describes what stands in one")
            };
            let text = std::fs::read(path).map_err(|error| fail(&error))?;
            serde_json::from_slice(&text).map_err(|error| fail(&error))?
        }
    };
    if args.lenient {
        scenario.rules = Rules::lenient();
    }
    Ok(scenario)
}

/// Waits for SIGINT or SIGTERM.
pub(super) async fn ended() -> Result<(), Failure> {
    let on = |kind| {
        signal(kind).map_err(|error| Failure::failed(format!("cannot listen to signals: {error}")))
    };
    let (mut interrupt, mut terminate) =
        (on(SignalKind::interrupt())?, on(SignalKind::terminate())?);
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use guildhall_sim::{Scenario, SimConfig, start};

    #[tokio::test]
    async fn the_example_of_a_scenario_is_a_server_that_starts() {
        let text = include_str!("../../../../examples/scenario.small.json");
        let scenario: Scenario = serde_json::from_str(text).expect("a scenario");
        let sim = start(SimConfig::new(scenario)).await.expect("a server");
        let names: Vec<_> = sim.users().into_iter().map(|user| user.name).collect();
        assert_eq!(names, ["Mia", "Tom"]);
        sim.stop().await;
    }
}
