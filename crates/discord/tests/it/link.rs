//! The gateway's task against real sockets: entered, resumed, kept alive, left.

use crate::fake::{
    Answer, Api, Gateway, PATIENCE, Step, bot, client, clock, dispatch, gateway_bot, hall, message,
    ready,
};
use guildhall_discord::gateway::{
    DownWhy, Event, EventStream, GatewayConfig, Handle, Intents, Leave, News, SessionState, connect,
};
use serde_json::json;

pub(crate) async fn connected(
    gateway: &Gateway,
    state: SessionState,
) -> (Api, Handle, EventStream) {
    let url = gateway.url().to_owned();
    let api = Api::start(move |_| Answer::ok(gateway_bot(&url))).await;
    let config = GatewayConfig {
        bot: bot(),
        intents: Intents::CHANNELS,
        state,
        clock: clock(),
        seed: 1,
    };
    let (handle, events) = connect(&client(&api), config);
    (api, handle, events)
}

pub(crate) async fn next(events: &mut EventStream) -> Event {
    let event = tokio::time::timeout(PATIENCE, events.next()).await;
    event.expect("an event in time").expect("the gateway runs")
}

#[tokio::test]
async fn a_message_arrives_and_its_session_is_reported_once_it_is_committed() {
    let gateway = Gateway::start(|url| {
        vec![vec![
            Step::Hello(40_000),
            Step::Await(2),
            Step::Say(ready(1, url)),
            Step::Say(dispatch(2, "MESSAGE_CREATE", message(7, "hello"))),
        ]]
    })
    .await;
    let (_api, handle, mut events) = connected(&gateway, SessionState::default()).await;

    let entered = next(&mut events).await;
    let News::Ready(greeting) = &entered.news else {
        panic!("{entered:?}");
    };
    assert_eq!(greeting.bot, bot());
    let heard = next(&mut events).await;
    let News::Said { said, nonce } = &heard.news else {
        panic!("{heard:?}");
    };
    assert_eq!((said.channel, said.text.as_str()), (hall(), "hello"));
    assert_eq!((said.author.name.as_str(), nonce), ("Ana", &None));

    let mut session = handle.session();
    assert_eq!(session.borrow().session, None, "nothing is committed yet");
    assert_eq!(session.borrow().identifies.used, 1);
    handle.committed(heard.seq.expect("an event of Discord has a number"));
    let kept = tokio::time::timeout(PATIENCE, session.wait_for(|s| s.session.is_some())).await;
    let kept = kept
        .expect("reported")
        .expect("the gateway runs")
        .session
        .clone();
    let kept = kept.expect("waited for");
    assert_eq!((kept.id.as_str(), kept.seq), ("session-1", 2));

    let identify = &gateway.seen().frames[0].1;
    assert_eq!(identify["d"]["token"], json!("a-fake-token"));
    assert_eq!(identify["d"]["intents"], json!(33_281));

    handle.leave(Leave::ForGood);
    assert_eq!(events.next().await, None);
    let seen = gateway.until(|seen| !seen.closes.is_empty()).await;
    assert_eq!(seen.closes, [(0, Some(1000))]);
}

#[tokio::test]
async fn a_dropped_connection_is_resumed_and_a_restart_resumes_too() {
    let gateway = Gateway::start(|url| {
        let resumed = dispatch(3, "RESUMED", json!({}));
        vec![
            vec![
                Step::Hello(40_000),
                Step::Await(2),
                Step::Say(ready(1, url)),
                Step::Drop,
            ],
            vec![
                Step::Hello(40_000),
                Step::Await(6),
                Step::Say(dispatch(2, "MESSAGE_CREATE", message(7, "missed"))),
                Step::Say(resumed.clone()),
            ],
            vec![Step::Hello(40_000), Step::Await(6), Step::Say(resumed)],
        ]
    })
    .await;
    let (_api, handle, mut events) = connected(&gateway, SessionState::default()).await;
    assert!(matches!(next(&mut events).await.news, News::Ready(_)));
    let down = next(&mut events).await.news;
    assert!(matches!(down, News::Down(down) if down.why == DownWhy::Lost));
    let missed = next(&mut events).await;
    assert!(matches!(missed.news, News::Said { .. }));
    let resumed = next(&mut events).await;
    assert_eq!(resumed.news, News::Resumed);
    handle.committed(resumed.seq.expect("a number"));
    let mut session = handle.session();
    let kept = session
        .wait_for(|s| s.session.as_ref().is_some_and(|s| s.seq == 3))
        .await;
    let kept = kept.expect("the gateway runs").clone();
    handle.leave(Leave::ToResume);
    assert_eq!(events.next().await, None);

    let (_api, _handle, mut events) = connected(&gateway, kept).await;
    assert_eq!(next(&mut events).await.news, News::Resumed);
    let seen = gateway.seen();
    let resumes: Vec<_> = seen
        .frames
        .iter()
        .map(|(n, f)| (*n, f["d"]["seq"].clone()))
        .collect();
    assert_eq!(resumes, [(0, json!(null)), (1, json!(1)), (2, json!(3))]);
    assert_eq!(seen.closes, [(1, Some(4900))]);
}
