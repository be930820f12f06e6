//! Runs the demo's server until Ctrl-C, with a panel and a button that do nothing real.
//!
//! `cargo run -p guildhall-sim --example page [PORT]`

use std::sync::Arc;

use guildhall_sim::{ActionFuture, DemoAction, DemoActions, Scenario, SimConfig};
use serde_json::json;

struct Kill;

impl DemoActions for Kill {
    fn actions(&self) -> Vec<DemoAction> {
        vec![DemoAction {
            name: "kill".to_owned(),
            label: "Kill the connector".to_owned(),
            hint: "Ends its process at once; it comes back and picks up where it was.".to_owned(),
        }]
    }

    fn run(&self, _name: &str) -> ActionFuture {
        Box::pin(async { Ok("Nothing was killed; this is an example.".to_owned()) })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 0,
    };
    let panel = || {
        Some(json!({
            "state": "Idle",
            "lines": [
                { "label": "Engine", "value": "practice" },
                { "label": "Queued", "value": 0 },
                { "label": "Last reply", "value": "delivered", "tone": "good" },
            ],
        }))
    };
    let config = SimConfig {
        port,
        panel: Arc::new(panel),
        actions: Arc::new(Kill),
        ..SimConfig::new(Scenario::for_tests())
    };
    let sim = guildhall_sim::start(config).await?;
    println!("{}", sim.page());
    tokio::signal::ctrl_c().await?;
    sim.stop().await;
    Ok(())
}
