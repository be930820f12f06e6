//! The gateway's faults on real sockets. What takes minutes is played to the machine in virtual
//! time, beside it.

use crate::{
    fake::{Gateway, Step, dispatch, message, ready},
    link::{connected, next},
};
use guildhall_discord::gateway::{
    DownWhy, EventStream, Fatal, FatalClose, LinkStage, News, SessionState,
};
use serde_json::json;
use std::sync::Arc;

fn entered(url: &str) -> Vec<Step> {
    vec![
        Step::Hello(40_000),
        Step::Await(2),
        Step::Say(ready(1, url)),
    ]
}

fn resumed(seq: u64) -> Vec<Step> {
    let resumed = dispatch(seq, "RESUMED", json!({}));
    vec![Step::Hello(40_000), Step::Await(6), Step::Say(resumed)]
}

async fn loss(events: &mut EventStream) -> DownWhy {
    loop {
        if let News::Down(down) = next(events).await.news {
            return down.why;
        }
    }
}

#[tokio::test]
async fn a_link_that_ends_in_any_resumable_way_is_resumed() {
    let op_7 = Step::Say(json!({ "op": 7 }));
    let op_9 = Step::Say(json!({ "op": 9, "d": true }));
    let cases = [
        (Step::Drop, DownWhy::Lost),
        (Step::Close(4000), DownWhy::Closed(4000)),
        (Step::Close(1001), DownWhy::Closed(1001)),
        (op_7, DownWhy::AskedToReconnect),
        (op_9, DownWhy::InvalidSession),
    ];
    for (end, why) in cases {
        let gateway = Gateway::start(|url| {
            let mut first = entered(url);
            first.push(end.clone());
            vec![first, resumed(2)]
        })
        .await;
        let (_api, _handle, mut events) = connected(&gateway, SessionState::default()).await;
        assert!(matches!(next(&mut events).await.news, News::Ready(_)));
        assert_eq!(loss(&mut events).await, why);
        assert_eq!(next(&mut events).await.news, News::Resumed, "{why:?}");
        let seen = gateway.seen();
        let codes: Vec<_> = seen.closes.iter().filter_map(|(_, code)| *code).collect();
        assert!(
            !codes.contains(&1000) || why == DownWhy::Closed(1000),
            "{why:?}: {codes:?}"
        );
    }
}

#[tokio::test]
async fn op_7_in_place_of_hello_is_survived() {
    let gateway =
        Gateway::start(|url| vec![vec![Step::Say(json!({ "op": 7 }))], entered(url)]).await;
    let (_api, _handle, mut events) = connected(&gateway, SessionState::default()).await;
    assert_eq!(loss(&mut events).await, DownWhy::AskedToReconnect);
    assert!(matches!(next(&mut events).await.news, News::Ready(_)));
}

#[tokio::test]
async fn a_frozen_peer_is_noticed_by_the_missing_acknowledgement() {
    let gateway = Gateway::start(|url| {
        let frozen = vec![
            Step::Hello(1_000),
            Step::Await(2),
            Step::Say(ready(1, url)),
            Step::Freeze,
        ];
        vec![frozen, resumed(2)]
    })
    .await;
    let (_api, handle, mut events) = connected(&gateway, SessionState::default()).await;
    assert!(matches!(next(&mut events).await.news, News::Ready(_)));
    assert_eq!(loss(&mut events).await, DownWhy::NoAck);
    assert_eq!(next(&mut events).await.news, News::Resumed);
    let link = handle.link();
    assert_eq!(
        (link.stage, link.last_loss),
        (LinkStage::Live, Some(DownWhy::NoAck))
    );
    assert_eq!(link.connects_count, 2);
}

#[tokio::test]
async fn a_close_that_only_a_person_can_mend_ends_the_stream() {
    let gateway =
        Gateway::start(|_| vec![vec![Step::Hello(40_000), Step::Await(2), Step::Close(4014)]])
            .await;
    let (_api, handle, mut events) = connected(&gateway, SessionState::default()).await;
    let fatal = Fatal::Closed(FatalClose::DisallowedIntents);
    assert_eq!(next(&mut events).await.news, News::Fatal(fatal));
    assert_eq!(events.next().await, None);
    assert_eq!(handle.link().stage, LinkStage::Ended);
    assert_eq!(gateway.seen().connects, 1);
}

#[tokio::test]
async fn heartbeats_do_not_wait_for_a_core_that_does_not_listen() {
    let gateway = Gateway::start(|url| {
        let mut script = vec![Step::Hello(1_000), Step::Await(2), Step::Say(ready(1, url))];
        script.push(Step::Say(dispatch(
            2,
            "MESSAGE_CREATE",
            message(7, "unheard"),
        )));
        vec![script]
    })
    .await;
    let (_api, _handle, _events) = connected(&gateway, SessionState::default()).await;
    let seen = gateway.until(|seen| seen.beats.len() >= 3).await;
    assert_eq!(seen.connects, 1);
}

#[tokio::test]
async fn a_core_that_is_too_slow_loses_the_link_and_no_message() {
    const MESSAGES: u64 = 1_500;
    let frames: Vec<_> = (0..MESSAGES)
        .map(|n| dispatch(2 + n, "MESSAGE_CREATE", message(1_000 + n, "many")))
        .collect();
    let all = Arc::new(frames);
    let gateway = Gateway::start(|url| {
        let mut first = entered(url);
        first.extend(all.iter().cloned().map(Step::Say));
        let replay = vec![
            Step::Hello(40_000),
            Step::Await(6),
            Step::Replay(Arc::clone(&all)),
        ];
        vec![first, replay]
    })
    .await;
    let (_api, handle, mut events) = connected(&gateway, SessionState::default()).await;
    gateway
        .until(|seen| seen.closes.iter().any(|(_, code)| *code == Some(4900)))
        .await;
    assert_eq!(handle.link().last_loss, Some(DownWhy::CoreBehind));
    assert_eq!(gateway.seen().connects, 1, "not before there is room");
    let mut heard = Vec::new();
    while heard.len() < 1_500 {
        if let News::Said { said, .. } = next(&mut events).await.news {
            heard.push(said.id.get());
        }
    }
    assert_eq!(
        heard,
        (1_000..1_000 + MESSAGES).collect::<Vec<_>>(),
        "each once, in order"
    );
}

#[tokio::test]
async fn frames_that_are_odd_or_huge_lose_nothing_else() {
    let gateway = Gateway::start(|url| {
        let mut script = entered(url);
        let huge = json!({ "id": "300", "name": "x".repeat(17 * 1024 * 1024) });
        script.extend([
            Step::SayText("not json".into()),
            Step::Say(json!([1, 2, 3])),
            Step::Say(dispatch(
                2,
                "MESSAGE_CREATE",
                json!({ "id": "7", "author": null }),
            )),
            Step::Say(dispatch(3, "GUILD_CREATE", huge)),
            Step::Say(dispatch(4, "MESSAGE_CREATE", message(8, "heard"))),
        ]);
        vec![script]
    })
    .await;
    let (_api, _handle, mut events) = connected(&gateway, SessionState::default()).await;
    assert!(matches!(next(&mut events).await.news, News::Ready(_)));
    let odd = next(&mut events).await.news;
    assert!(matches!(
        odd,
        News::Unreadable {
            event: "MESSAGE_CREATE",
            message: Some(_)
        }
    ));
    assert!(matches!(next(&mut events).await.news, News::Guild(_)));
    assert!(matches!(next(&mut events).await.news, News::Said { .. }));
}

#[tokio::test]
async fn an_upgrade_that_never_comes_does_not_hold_a_leaving_seat_up() {
    let gateway = Gateway::start(|_| vec![vec![Step::NoUpgrade]]).await;
    let (_api, handle, mut events) = connected(&gateway, SessionState::default()).await;
    gateway.until(|seen| seen.connects == 1).await;
    handle.leave(guildhall_discord::gateway::Leave::ToResume);
    assert_eq!(events.next().await, None);
}
