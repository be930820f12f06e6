//! How long a call may take.

use crate::scene::{Begins, Says, Scene, Seen};
use guildhall_authority::ask::Answer;
use guildhall_tools::Outcome;
use serde_json::json;
use std::time::Duration;

/// Longer than any call may take.
const AN_HOUR: Duration = Duration::from_secs(3600);

#[tokio::test(start_paused = true)]
async fn the_time_in_which_a_person_is_asked_does_not_count() {
    let scene = Scene::new();
    scene.desk.says(Says::Waits);
    let turn = scene.turn();
    let call = turn.call_of("create", r#"{"path":"a.txt","text":"new\n"}"#);
    let decide = async {
        let asked = scene.desk.until(|seen| match seen.first() {
            Some(Seen::Asked(spec)) => Some(spec.id),
            Some(Seen::Gone(_) | Seen::Begun(_) | Seen::Ended(_)) | None => None,
        });
        let ask = asked.await;
        tokio::time::sleep(AN_HOUR).await;
        scene.desk.decide(ask, Answer::Once);
    };
    let (result, ()) = tokio::join!(guildhall_tools::CallTools::call(&turn.tools, call), decide);
    assert_eq!(result.outcome, Outcome::Done, "{}", result.text);
    assert_eq!(scene.text("site/a.txt"), "new\n");
    assert!(turn.tools.uses()[0].duration_ms < 60_000);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_is_given_up_and_changes_nothing_later() {
    let scene = Scene::new();
    scene.desk.begins(Begins::Never);
    let turn = scene.turn();
    let write = json!({"root": "notes", "path": "a.txt", "text": "new\n"});
    let call = turn.call_of("write_file", &write.to_string());
    let began = tokio::time::Instant::now();
    let result = guildhall_tools::CallTools::call(&turn.tools, call).await;
    assert!(began.elapsed() >= Duration::from_secs(60));
    assert_eq!(result.outcome, Outcome::Unknown);
    assert_eq!(crate::scene::code(&result), "outcome-unknown");
    assert_eq!(turn.tools.uses()[0].outcome, "unknown");
    assert!(!scene.at("notes/a.txt").exists());
}
