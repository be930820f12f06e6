//! A real llama.cpp server. It is not part of an ordinary run: `docs/engines.md` says how to get one.

use super::parts;
use crate::{
    hands::Hands,
    provider::Provider,
    support::{observe, request, with_tools},
};
use guildhall_authority::offer::ToolName;
use guildhall_connector::run::{Progress, RunEvent, RunOutcome};
use guildhall_engine::{Native, NativeParts};

/// Asks, waits for the first text, and aborts: a small model may talk on for minutes.
async fn speaks(turn: &str, text: &str, tools: &[ToolName]) {
    let base_url = std::env::var("GUILDHALL_TEST_LLAMA_URL").expect("the server's base URL");
    let root = tempfile::tempdir().expect("a folder");
    let nobody = Provider::play(Vec::new()).await;
    let engine = Native::new(NativeParts {
        base_url,
        model: None,
        key: None,
        ..parts(root.path(), &nobody)
    })
    .expect("good settings");
    let asked = with_tools(request("seat", turn, text), Hands::with(tools));
    let mut run = observe(&engine, asked);
    let first = run.next().await;
    assert_eq!(first, Some(RunEvent::Progress(Progress::Text)));
    run.handle.as_mut().expect("held").abort();
    let (_, ended) = run.ended().await;
    assert_eq!(
        (ended.outcome, ended.engine_turns),
        (RunOutcome::Aborted, 1)
    );
}

#[tokio::test]
#[ignore = "needs a llama.cpp server at GUILDHALL_TEST_LLAMA_URL"]
async fn a_llama_server_takes_a_conversation_and_streams() {
    speaks("1", "Say hello in one word.", &[]).await;
}

#[tokio::test]
#[ignore = "needs a llama.cpp server at GUILDHALL_TEST_LLAMA_URL"]
async fn a_llama_server_takes_the_definitions_of_tools() {
    speaks(
        "1",
        "Which files are there?",
        &[ToolName::List, ToolName::Read],
    )
    .await;
}
