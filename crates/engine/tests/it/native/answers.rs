//! Answers that come, in every shape that servers give them.

use super::{native, parts};
use crate::{
    hands::Hands,
    provider::{Provider, Step, answers, chunk, raw, status, stopped, stream_head, text, the_end},
    support::{answer, observe, outcome, request, texts, with_tools},
};
use guildhall_authority::offer::ToolName;
use guildhall_binding::Price;
use guildhall_connector::run::{RunFailure, RunOutcome, Usage};
use guildhall_engine::{Api, Engine as _, Native};
use serde_json::json;
use std::time::Duration;

async fn told(steps: Vec<Step>) -> Vec<String> {
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play(vec![steps]).await;
    answer(
        &native(root.path(), &provider),
        request("seat", "1", "hello"),
    )
    .await
}

fn streamed(middle: Vec<Step>) -> Vec<Step> {
    let mut steps = vec![stream_head()];
    steps.extend(middle);
    steps.extend(the_end());
    steps
}

#[tokio::test]
async fn the_request_carries_the_conversation_and_the_key() {
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play(vec![answers("yes")]).await;
    let engine = native(root.path(), &provider);
    assert_eq!(engine.check().await, Ok(()));
    let described = engine.describe();
    assert_eq!(described.model.as_deref(), Some("tiny"));
    assert_eq!(
        answer(&engine, request("seat", "9", "what now?")).await,
        ["yes"]
    );

    let seen = provider.seen();
    assert_eq!(seen.len(), 1, "the check asked nothing");
    let head = &seen[0].head;
    assert!(
        head.starts_with("POST /v1/chat/completions HTTP/1.1"),
        "{head}"
    );
    assert!(
        head.contains("authorization: Bearer sk-do-not-tell"),
        "{head}"
    );
    let messages = seen[0].body["messages"].as_array().expect("messages");
    assert_eq!(messages.len(), 2);
    let system = messages[0]["content"].as_str().expect("text");
    assert!(
        system.starts_with("Be brief.\n\n") && system.contains("[guildhall"),
        "{system}"
    );
    let asked = messages[1]["content"].as_str().expect("text");
    assert!(
        asked.starts_with("[guildhall ") && asked.ends_with("\nwhat now?"),
        "{asked}"
    );
    assert_eq!(seen[0].body["model"], "tiny");
}

#[tokio::test]
async fn usage_and_cost_are_counted() {
    let root = tempfile::tempdir().expect("a folder");
    let provider = Provider::play(vec![answers("yes")]).await;
    let engine = Native::new(guildhall_engine::NativeParts {
        price: Some(Price {
            input_micro_usd: 1_000_000,
            output_micro_usd: 2_000_000,
            cached_input_micro_usd: None,
        }),
        ..parts(root.path(), &provider)
    })
    .expect("good settings");
    let (signs, ended) = observe(&engine, request("seat", "1", "hello"))
        .ended()
        .await;
    assert!(signs >= 1);
    let want = Usage {
        input_tokens: 40,
        output_tokens: 7,
        micro_usd: 54,
    };
    assert_eq!((ended.usage, ended.engine_turns), (want, 1));
}

#[tokio::test]
async fn text_comes_whole_however_it_is_cut() {
    let pieces = streamed(vec![text("Grüße"), text(", "), text("🙂")]);
    assert_eq!(told(pieces.clone()).await, ["Grüße, 🙂"]);

    let bytes: Vec<u8> = pieces
        .iter()
        .flat_map(|step| match step {
            Step::Send(bytes) => bytes.clone(),
            Step::Wait(_) | Step::Reset | Step::Hold | Step::Next => Vec::new(),
        })
        .collect();
    let single = bytes.iter().flat_map(|byte| {
        let pause = Step::Wait(Duration::from_micros(1));
        [raw([*byte]), pause]
    });
    assert_eq!(told(single.collect()).await, ["Grüße, 🙂"], "byte by byte");

    let text = String::from_utf8(bytes).expect("text");
    let (head, events) = text.split_once("\r\n\r\n").expect("a head");
    let crlf = format!("{head}\r\n\r\n{}", events.replace('\n', "\r\n"));
    assert_eq!(told(vec![raw(crlf)]).await, ["Grüße, 🙂"], "CRLF");
}

#[tokio::test]
async fn chunked_bodies_and_single_documents_are_read() {
    let event =
        "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n";
    let chunked = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n\
         {:x}\r\n{event}\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n",
        event.len()
    );
    assert_eq!(told(vec![raw(chunked)]).await, ["hi"]);
    let document =
        json!({"choices": [{"message": {"content": "all at once"}, "finish_reason": "stop"}]});
    assert_eq!(
        told(status("200 OK", "", &document.to_string())).await,
        ["all at once"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_its_last_word_is_whole_once_the_model_stopped() {
    let whole = vec![stream_head(), text("yes"), stopped()];
    let ends: [&[Step]; 3] = [&[], &[Step::Reset], &[Step::Hold]];
    for end in ends {
        let mut steps = whole.clone();
        steps.extend_from_slice(end);
        assert_eq!(told(steps).await, ["yes"], "{end:?}");
    }
    let only_done = vec![
        stream_head(),
        text("yes"),
        raw("data: [DONE]\n\n"),
        Step::Hold,
    ];
    assert_eq!(told(only_done).await, ["yes"]);
}

#[tokio::test]
async fn thoughts_and_a_copied_envelope_are_not_shown() {
    let thought = chunk(&json!({"choices": [{"delta": {"reasoning_content": "hm"}}]}));
    let steps = streamed(vec![
        thought,
        text("<think>first"),
        text("</think>"),
        text("[guildhall server=\"Oak Hall\" message_id=\"1\"]\nHello."),
    ]);
    assert_eq!(told(steps).await, ["Hello."]);
}

#[tokio::test]
async fn an_empty_answer_is_an_answer() {
    assert_eq!(told(streamed(Vec::new())).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_tool_call_as_text_is_no_answer_and_is_named() {
    let root = tempfile::tempdir().expect("a folder");
    let call = "<tool_call>\n<function=read>\n</function>\n</tool_call>";
    let pieces = call.split_inclusive('\n').map(text).collect();
    let provider = Provider::play(vec![streamed(pieces), answers(call), answers("fine")]).await;
    let engine = native(root.path(), &provider);
    let asked = |turn, tool| with_tools(request("seat", turn, "read it"), Hands::with(&[tool]));
    let (_, ended) = observe(&engine, asked("1", ToolName::Read)).ended().await;
    assert_eq!(ended.outcome, RunOutcome::Failed(RunFailure::RawToolCall));
    assert_eq!(ended.tools.len(), 1);
    assert_eq!(
        ended.tools[0].reason.as_deref(),
        Some("raw-tool-call-function-tag")
    );

    let shown = texts(outcome(&engine, asked("2", ToolName::List)).await);
    assert_eq!(
        shown[0].as_str(),
        call,
        "a tool that was not offered is talk"
    );

    // The model is told that nothing was done; the call itself is not repeated to it.
    answer(&engine, request("seat", "3", "again")).await;
    let seen = provider.seen();
    let first = &seen[2].body["messages"][2];
    assert_eq!(first["role"], "assistant");
    assert!(
        first["content"]
            .as_str()
            .expect("text")
            .contains("it was not carried out")
    );
}

#[tokio::test]
async fn anthropic_is_spoken_too() {
    let root = tempfile::tempdir().expect("a folder");
    let events = [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 11, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Good "}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "day."}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ];
    let mut steps = vec![stream_head()];
    for event in &events {
        let name = event["type"].as_str().expect("a type");
        steps.push(raw(format!("event: {name}\ndata: {event}\n\n")));
    }
    let provider = Provider::play(vec![steps]).await;
    let engine = Native::new(guildhall_engine::NativeParts {
        api: Api::Anthropic,
        ..parts(root.path(), &provider)
    })
    .expect("good settings");
    let (_, ended) = observe(&engine, request("seat", "1", "hello"))
        .ended()
        .await;
    assert_eq!(
        (ended.usage.input_tokens, ended.usage.output_tokens),
        (11, 5)
    );
    assert_eq!(texts(ended.outcome)[0].as_str(), "Good day.");
    let seen = provider.seen();
    let head = &seen[0].head;
    assert!(head.starts_with("POST /v1/messages "), "{head}");
    assert!(head.contains("x-api-key: sk-do-not-tell") && head.contains("anthropic-version: "));
    assert!(
        seen[0].body["system"]
            .as_str()
            .expect("text")
            .starts_with("Be brief.")
    );
}

#[tokio::test]
async fn what_an_answer_is_called_does_not_matter() {
    let head = |media: &str| {
        raw(format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nConnection: close\r\n\r\n"
        ))
    };
    let document = json!({"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]});
    for media in [
        "application/json",
        "text/event-stream",
        "text/plain",
        "text/html",
    ] {
        let mut stream = vec![head(media), text("yes")];
        stream.extend(the_end());
        assert_eq!(told(stream).await, ["yes"], "{media}");
        let document = raw(format!(" \n{document}"));
        assert_eq!(told(vec![head(media), document]).await, ["yes"], "{media}");
    }
}

#[tokio::test]
async fn contents_and_counts_come_in_the_shapes_of_their_servers() {
    let delta = |delta: serde_json::Value| chunk(&json!({"choices": [{"delta": delta}]}));
    let parts = json!([
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "y"},
        "es",
    ]);
    let floats =
        chunk(&json!({"choices": [], "usage": {"prompt_tokens": 12.0, "completion_tokens": 3.0}}));
    let cases = [
        streamed(vec![delta(json!({"content": parts}))]),
        streamed(vec![delta(json!({"content": "yes"})), floats]),
        streamed(vec![delta(json!({"content": null})), text("yes")]),
    ];
    for (number, steps) in (0..).zip(cases) {
        assert_eq!(told(steps).await, ["yes"], "{number}");
    }
}

#[tokio::test]
async fn a_choice_that_ends_in_an_error_is_no_answer() {
    let choice = |choice: serde_json::Value| chunk(&json!({"choices": [choice]}));
    for (end, want) in [
        (json!({"finish_reason": "error"}), RunFailure::ProviderBusy),
        (
            json!({"error": {"code": 502, "message": "x"}, "finish_reason": "stop"}),
            RunFailure::ProviderBusy,
        ),
    ] {
        let root = tempfile::tempdir().expect("a folder");
        let provider = Provider::play(vec![streamed(vec![text("half"), choice(end)])]).await;
        let engine = native(root.path(), &provider);
        let came = outcome(&engine, request("seat", "1", "hello")).await;
        assert_eq!(came, RunOutcome::Failed(want));
    }
}
