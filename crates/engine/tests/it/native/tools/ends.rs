//! Bounds, aborts and failures around tool calls.

use super::{READ, messages, ran, said};
use crate::{
    hands::{ARGUMENTS_MAX_BYTES, Comes, Hands, done, refused},
    native::native,
    provider::{Provider, Step, answers, calls, chunk, pieces, status, stream_head, text},
    support::{answer, observe, request, with_tools},
};
use guildhall_connector::run::{Progress, RunEvent, RunFailure, RunOutcome};
use guildhall_engine::{Ground, RunRequest};
use serde_json::json;
use std::time::Duration;

fn read() -> Vec<Step> {
    calls("", &[("", "read", "{}")])
}

#[tokio::test]
async fn after_the_last_call_the_model_is_asked_for_its_answer_with_tools_off() {
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play(vec![read(), read(), answers("That is all.")]).await;
    let engine = native(root.path(), &provider);
    let asked = RunRequest {
        ground: Ground {
            calls_max: 2,
            ..Ground::default()
        },
        ..with_tools(request("seat", "1", "look"), Hands::with(READ))
    };
    assert_eq!(answer(&engine, asked).await, ["That is all."]);
    let seen = provider.seen();
    let choices: Vec<_> = seen
        .iter()
        .map(|seen| seen.body.get("tool_choice"))
        .collect();
    assert_eq!(choices, [None, None, Some(&json!("none"))]);
    assert!(
        seen[2].body.get("tools").is_some(),
        "the calls before are still explained"
    );
}

#[tokio::test]
async fn a_model_that_calls_for_ever_is_ended_and_people_are_told() {
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play((0..50).map(|_| read()).collect()).await;
    let engine = native(root.path(), &provider);
    let made = std::sync::atomic::AtomicU32::new(0);
    let hands = Hands::that(READ, move |_| {
        match made.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 | 1 => done("x"),
            _ => refused("call-limit: the calls of this message are used up"),
        }
    });
    let asked = RunRequest {
        ground: Ground {
            calls_max: 2,
            ..Ground::default()
        },
        ..with_tools(request("seat", "1", "look"), hands.clone())
    };
    let said = answer(&engine, asked).await;
    assert_eq!(said.len(), 1);
    assert!(said[0].contains("kept calling tools"), "{said:?}");
    assert_eq!((provider.seen().len(), hands.called().len()), (5, 5));
    let distinct: std::collections::BTreeSet<_> = hands.ids().into_iter().collect();
    assert_eq!(distinct.len(), 5, "each call has an id of its own");
}

#[tokio::test]
async fn too_many_calls_in_one_message_end_the_turn_before_any_is_made() {
    let many: Vec<(&str, &str, &str)> = (0..33).map(|_| ("", "read", "{}")).collect();
    let hands = Hands::with(READ);
    let (ended, _) = ran(vec![calls("", &many), answers("no")], &hands).await;
    assert_eq!(ended.outcome, RunOutcome::Failed(RunFailure::EngineRubbish));
    assert!(hands.called().is_empty());
}

#[tokio::test]
async fn a_call_that_the_models_limit_cut_is_not_carried_out() {
    let whole = json!([{"index": 0, "id": "a", "function": {"name": "read", "arguments": "{}"}}]);
    let cut = json!([{"index": 1, "id": "b", "function": {"name": "list", "arguments": ""}}]);
    let mut script = pieces("", &[whole, cut]);
    let last = script.len() - 3;
    script[last] = chunk(&json!({"choices": [{"delta": {}, "finish_reason": "length"}]}));
    let hands = Hands::with(READ);
    let (ended, seen) = ran(vec![script, answers("ok")], &hands).await;
    assert_eq!(said(ended), ["ok"]);
    assert_eq!(hands.called(), [("read".to_owned(), "{}".to_owned())]);
    let back = messages(&seen[1]);
    assert!(
        back[3]["content"]
            .as_str()
            .expect("text")
            .starts_with("not-carried-out")
    );
}

#[tokio::test]
async fn an_abort_during_a_call_ends_the_run_and_lets_go_of_the_call() {
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play(vec![read(), answers("no")]).await;
    let engine = native(root.path(), &provider);
    let hands = Hands::that(READ, |_| Comes::Never);
    let mut run = observe(
        &engine,
        with_tools(request("seat", "1", "look"), hands.clone()),
    );
    loop {
        match run.next().await.expect("not over") {
            RunEvent::Progress(Progress::ToolBegan) => break,
            RunEvent::Progress(_) => {}
            RunEvent::Ended(ended) => panic!("over: {ended:?}"),
        }
    }
    run.handle.as_mut().expect("held").abort();
    assert_eq!(run.ended().await.1.outcome, RunOutcome::Aborted);
    assert_eq!(provider.seen().len(), 1);
    // The task has let go of the tools as well.
    let gone = async {
        while std::sync::Arc::strong_count(&hands) > 1 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone)
        .await
        .expect("let go");
}

#[tokio::test(start_paused = true)]
async fn a_message_that_broke_off_after_a_call_began_is_not_asked_for_again() {
    let begun = json!([{"index": 0, "id": "a", "function": {"name": "read", "arguments": "{"}}]);
    let chunk = chunk(&json!({"choices": [{"delta": {"tool_calls": begun}}]}));
    let hands = Hands::with(READ);
    let script = vec![stream_head(), chunk, Step::Reset];
    let (ended, seen) = ran(vec![script, answers("no")], &hands).await;
    let broken = RunOutcome::Failed(RunFailure::ProviderUnreachable);
    assert_eq!((ended.outcome, seen.len()), (broken, 1));
    assert!(hands.called().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_busy_provider_after_a_call_is_asked_again_and_the_call_is_not_made_twice() {
    let hands = Hands::with(READ);
    let busy = || status("529 Overloaded", "", "{}");
    let (ended, seen) = ran(vec![read(), busy(), busy(), answers("ok")], &hands).await;
    assert_eq!(said(ended), ["ok"]);
    assert_eq!((seen.len(), hands.called().len()), (4, 1));
    assert_eq!(messages(&seen[1]), messages(&seen[3]));
}

#[tokio::test(start_paused = true)]
async fn silence_after_a_call_is_a_time_out_and_the_call_is_remembered() {
    let root = tempfile::tempdir().expect("a folder");
    let silent = vec![stream_head(), Step::Hold];
    let provider = Provider::play(vec![read(), silent, answers("yes")]).await;
    let engine = native(root.path(), &provider);
    let ask = |turn| with_tools(request("seat", turn, "look"), Hands::with(READ));
    let (_, ended) = observe(&engine, ask("1")).ended().await;
    assert_eq!(ended.outcome, RunOutcome::Failed(RunFailure::TimedOut));
    answer(&engine, ask("2")).await;
    let back = messages(&provider.seen()[2]);
    assert_eq!(back[2]["content"], "result of read");
    let note = back[3]["content"].as_str().expect("text");
    assert!(note.contains("without an answer"), "{note}");
}

#[tokio::test]
async fn a_call_as_text_beside_a_real_one_is_neither_carried_out_nor_shown() {
    let hands = Hands::with(READ);
    let raw = "<tool_call>{\"name\": \"list\", \"arguments\": {}}</tool_call>";
    let (ended, _) = ran(
        vec![calls(raw, &[("a", "read", "{}")]), answers("ok")],
        &hands,
    )
    .await;
    assert_eq!(said(ended), ["ok"]);
    assert_eq!(hands.called().len(), 1);
}

#[tokio::test]
async fn a_call_as_text_after_a_real_one_fails_the_turn() {
    let hands = Hands::with(READ);
    let raw = "<tool_call>{\"name\": \"list\", \"arguments\": {}}</tool_call>";
    let (ended, _) = ran(vec![read(), answers(raw)], &hands).await;
    assert_eq!(ended.outcome, RunOutcome::Failed(RunFailure::RawToolCall));
    assert_eq!(hands.called().len(), 1);
}

#[tokio::test]
async fn a_call_that_no_tool_was_offered_for_is_rubbish_or_talk() {
    let none = || Hands::with(&[]);
    let (ended, seen) = ran(vec![read()], &none()).await;
    assert_eq!(ended.outcome, RunOutcome::Failed(RunFailure::EngineRubbish));
    assert_eq!(seen.len(), 1);
    let (ended, _) = ran(vec![calls("Well.", &[("a", "read", "{}")])], &none()).await;
    assert_eq!(said(ended), ["Well."]);
}

#[tokio::test]
async fn a_result_too_long_for_the_model_is_cut_and_the_call_is_not_made_again() {
    let long = "word ".repeat(40_000);
    let hands = Hands::that(READ, move |_| done(&long));
    let full = || {
        let body = "{\"error\":{\"code\":\"context_length_exceeded\"}}";
        status("400 Bad Request", "", body)
    };
    let scripts = vec![read(), full(), full(), answers("ok")];
    let (ended, seen) = ran(scripts, &hands).await;
    assert_eq!(said(ended), ["ok"]);
    assert_eq!(hands.called().len(), 1);
    let lengths: Vec<usize> = seen[1..]
        .iter()
        .map(|seen| messages(seen)[2]["content"].as_str().expect("text").len())
        .collect();
    assert!(
        lengths[0] > lengths[1] && lengths[1] > lengths[2],
        "{lengths:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn keep_alives_between_the_pieces_of_a_call_are_no_progress() {
    let begun = json!([{"index": 0, "id": "a", "function": {"name": "read", "arguments": "{"}}]);
    let mut script = vec![
        stream_head(),
        text("I look."),
        chunk(&json!({"choices": [{"delta": {"tool_calls": begun}}]})),
    ];
    for _ in 0..40 {
        script.push(Step::Wait(Duration::from_secs(10)));
        script.push(Step::Send(b": keep-alive\n\n".to_vec()));
        script.push(chunk(&json!({"choices": [{"delta": {"tool_calls": []}}]})));
    }
    let hands = Hands::with(READ);
    let (ended, _) = ran(vec![script], &hands).await;
    assert_eq!(ended.outcome, RunOutcome::Failed(RunFailure::TimedOut));
    assert!(hands.called().is_empty());
}

#[tokio::test]
async fn arguments_are_bounded_by_the_host_and_not_by_the_text() {
    let written = |bytes: usize| {
        format!(
            "{{\"path\":\"a.md\",\"text\":\"{}\"}}",
            "\u{1d11e}".repeat(bytes / 4)
        )
    };
    for (bytes, kept) in [
        (400_000, written(400_000).len()),
        // One character past what the host takes: it refuses the call for its length.
        (2_000_000, ARGUMENTS_MAX_BYTES + 3),
    ] {
        let hands = Hands::that(READ, |_| done("written"));
        let arguments = written(bytes);
        let half = arguments.ceil_char_boundary(arguments.len() / 2);
        let scripts = vec![
            pieces(
                "",
                &[
                    json!([{"index": 0, "id": "c1", "function": {"name": "read", "arguments": &arguments[..half]}}]),
                    json!([{"index": 0, "function": {"arguments": &arguments[half..]}}]),
                ],
            ),
            answers("Done."),
        ];
        let (ended, _) = ran(scripts, &hands).await;
        assert_eq!(said(ended), ["Done."]);
        let [(_, came)] = hands.called().try_into().expect("one call");
        assert!(came.len().abs_diff(kept) <= 3, "{} for {bytes}", came.len());
        assert!(arguments.starts_with(&came));
    }
}
