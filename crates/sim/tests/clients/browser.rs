//! The page in a real browser.

use std::time::Duration;

use guildhall_sim::Scenario;

use crate::harness::Hall;
use crate::tools;

/// Longest run of the browser's script.
const PATIENCE: Duration = Duration::from_secs(180);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_works_in_a_browser() {
    let modules = tools::variable("GUILDHALL_NODE_MODULES");
    let chromium = std::env::var("GUILDHALL_CHROMIUM");
    let hall = Hall::with(Scenario::for_tests()).await;
    let variables = [
        ("SIM_ORIGIN", hall.sim.origin()),
        ("GUILDHALL_NODE_MODULES", modules),
        (
            "GUILDHALL_CHROMIUM",
            chromium.unwrap_or_else(|_| "/usr/bin/chromium".to_owned()),
        ),
    ];
    let mut run = tools::spawn(&tools::node(), &tools::script("page/page.mjs"), &variables);
    let ended = tokio::time::timeout(PATIENCE, run.wait())
        .await
        .expect("the script ends in time");
    assert!(
        ended.expect("an exit status").success(),
        "see the script's output above"
    );
}
