//! What a run costs, however it ends and whatever its server tells.

use super::parts;
use crate::{
    provider::{Provider, Step, answers, chunk, raw, status, stream_head, text},
    support::{observe, request},
};
use guildhall_binding::Price;
use guildhall_connector::run::{Ended, RunEvent, RunFailure, RunOutcome};
use guildhall_engine::{Api, Native, NativeParts};
use serde_json::json;

/// A millionth of a dollar for a token read, and a thousandth for one written.
const PRICE: Price = Price {
    input_micro_usd: 1_000_000,
    output_micro_usd: 1_000_000_000,
    cached_input_micro_usd: None,
};

async fn ended(connections: Vec<Vec<Step>>, api: Option<Api>, price: Option<Price>) -> Ended {
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play(connections).await;
    let plain = parts(root.path(), &provider);
    let engine = Native::new(NativeParts {
        price,
        api: api.unwrap_or(plain.api),
        ..plain
    })
    .expect("good settings");
    let mut run = observe(&engine, request("seat", "1", "hello"));
    let mut signs = 0;
    loop {
        match run.next().await.expect("an end") {
            RunEvent::Ended(ended) => return *ended,
            RunEvent::Progress(_) => {
                signs += 1;
                if signs == 2
                    && let Some(handle) = run.handle.as_mut()
                {
                    handle.abort();
                }
            }
        }
    }
}

/// A stream that says something twice and then nothing more, so that its run is aborted.
fn cut(begin: Vec<Step>, words: &str) -> Vec<Step> {
    let pause = Step::Wait(std::time::Duration::from_millis(400));
    let mut steps = begin;
    steps.extend([text(words), pause, text(words), Step::Hold]);
    steps
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cut_short_has_cost_what_it_had_read_and_written() {
    let words = "x".repeat(3_000);
    let told = chunk(&json!({"usage": {"prompt_tokens": 7, "completion_tokens": 1}}));
    let cases = [
        (cut(vec![stream_head()], &words), None),
        (cut(vec![stream_head(), told], &words), Some(7)),
    ];
    for (script, read) in cases {
        let ended = ended(vec![script], None, Some(PRICE)).await;
        assert_eq!(ended.outcome, RunOutcome::Aborted);
        let usage = ended.usage;
        assert_eq!(usage.output_tokens, 2_000, "a token for three bytes");
        match read {
            Some(read) => assert_eq!(usage.input_tokens, read),
            None => assert!(usage.input_tokens > 100, "{usage:?}"),
        }
        assert_eq!(usage.micro_usd, usage.input_tokens + 2_000_000);
    }
}

#[tokio::test]
async fn a_server_that_counts_no_tokens_costs_too_where_there_is_a_price() {
    let end = || vec![stream_head(), text("yes!"), raw("data: [DONE]\n\n")];
    let priced = ended(vec![end()], None, Some(PRICE)).await.usage;
    assert_eq!(priced.output_tokens, 2);
    assert!(priced.micro_usd > 2_000, "{priced:?}");
    let unpriced = ended(vec![end()], None, None).await.usage;
    assert_eq!((unpriced.input_tokens, unpriced.micro_usd), (0, 0));
}

#[tokio::test]
async fn what_a_server_counts_is_what_is_paid_once_its_answer_is_whole() {
    let usage = ended(vec![answers("yes")], None, Some(PRICE)).await.usage;
    assert_eq!((usage.input_tokens, usage.output_tokens), (40, 7));
    assert_eq!(usage.micro_usd, 7_040);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_no_model_saw_costs_nothing() {
    let refused = status("401 Unauthorized", "", "{}");
    let ended = ended(vec![refused], None, Some(PRICE)).await;
    assert_eq!(ended.outcome, RunOutcome::Failed(RunFailure::ProviderKey));
    assert_eq!(ended.usage.micro_usd, 0);
}
