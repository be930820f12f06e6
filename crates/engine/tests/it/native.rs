//! The native engine against a scripted provider.

mod answers;
mod cost;
mod faults;
mod kept;
mod llama;
mod session;
mod tools;

use crate::{
    contract,
    provider::{Provider, Step, answers, stream_head, text},
    support::request,
};
use guildhall_engine::{Api, Native, NativeParts, Secret, TRANSCRIPT_TOKENS, Timing};
use std::{path::Path, time::Duration};

/// Settings for a provider of this test, with a session folder in `root`.
pub(crate) fn parts(root: &Path, provider: &Provider) -> NativeParts {
    NativeParts {
        sessions_folder: root.join("sessions/discord-oak"),
        context: "Be brief.".to_owned(),
        api: Api::OpenAi,
        provider: Some("local".to_owned()),
        base_url: provider.base_url.clone(),
        model: Some("tiny".to_owned()),
        thinking: None,
        key: Secret::new("sk-do-not-tell").ok(),
        price: None,
        idle: Duration::from_secs(300),
        timing: Timing::default(),
        transcript_tokens: TRANSCRIPT_TOKENS,
    }
}

/// An engine for a provider of this test.
pub(crate) fn native(root: &Path, provider: &Provider) -> Native {
    Native::new(parts(root, provider)).expect("good settings")
}

#[tokio::test]
async fn it_keeps_the_contract_of_an_engine() {
    let root = tempfile::tempdir().expect("a folder");
    let lasting = || vec![stream_head(), text("so"), Step::Hold];
    let provider = Provider::play(vec![answers("yes"), lasting(), lasting(), answers("yes")]).await;
    let engine = native(root.path(), &provider);
    let ask = |turn| request("seat", turn, "hello");
    contract::one_end_and_nothing_after_it(&engine, ask("1")).await;
    contract::an_abort_ends_the_run(&engine, ask("2")).await;
    contract::a_dropped_handle_ends_the_run(&engine, ask("3")).await;
    contract::an_abort_at_once_ends_the_run(&engine, ask("4")).await;
    contract::an_abort_after_the_end_does_nothing(&engine, ask("5")).await;
    // Nothing that a run started is left: its connection is closed.
    provider.ended(provider.seen().len()).await;
}
