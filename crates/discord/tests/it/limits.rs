//! Limits on real sockets: waits that are made, waits that are handed back, requests in order.

use crate::fake::{Answer, Api, client, hall, hasty_client, message};
use guildhall_binding::ids::ChannelId;
use guildhall_discord::rest::{Content, Hold, Nonce, NotSentWhy, Outcome, Reply};
use serde_json::json;
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::time::Instant;

/// Answers a 429 once, then lets everything through.
fn limited_once(
    first: impl Fn() -> Answer + Send + 'static,
) -> impl FnMut(&crate::fake::Asked) -> Answer {
    let mut asked = 0;
    move |_| {
        asked += 1;
        if asked == 1 {
            first()
        } else {
            Answer::Empty(204)
        }
    }
}

fn json_429(retry_after: f64) -> Answer {
    let body = json!({ "message": "words", "retry_after": retry_after, "global": false });
    Answer::Json(429, body, vec![("x-ratelimit-scope", "user".into())])
}

#[tokio::test]
async fn a_short_wait_is_made_by_the_client_and_a_long_one_is_handed_back() {
    let api = Api::start(limited_once(|| json_429(0.3))).await;
    let begun = Instant::now();
    assert_eq!(client(&api).typing(hall()).await, Outcome::Done(()));
    assert!(begun.elapsed() >= Duration::from_millis(300));
    assert_eq!(api.asked().len(), 2);

    let api = Api::start(limited_once(|| json_429(60.0))).await;
    let Outcome::NotSent(not_sent) = client(&api).typing(hall()).await else {
        panic!("a minute is too long");
    };
    assert_eq!(not_sent.why, NotSentWhy::Held(Hold::Bucket));
    assert!(not_sent.retry_after >= Duration::from_secs(59));
    assert_eq!(api.asked().len(), 1);
}

#[tokio::test]
async fn a_page_from_the_edge_network_holds_everything_back_and_is_never_hammered() {
    let page = || Answer::Page(429, "text/html", "<html>1015</html>".into(), Vec::new());
    let api = Api::start(move |_| page()).await;
    let rest = client(&api);
    for channel in 1..=20 {
        let channel = ChannelId::from_number(channel).expect("not zero");
        let Outcome::NotSent(not_sent) = rest.typing(channel).await else {
            panic!("the edge network said no");
        };
        assert_eq!(not_sent.why, NotSentWhy::Held(Hold::Edge));
    }
    assert_eq!(api.asked().len(), 1);
}

#[tokio::test]
async fn an_endless_429_ends_after_three_exchanges() {
    let api = Api::start(|_| json_429(0.0)).await;
    assert!(matches!(
        client(&api).typing(hall()).await,
        Outcome::NotSent(_)
    ));
    assert_eq!(api.asked().len(), 3);
}

#[tokio::test]
async fn after_a_401_nothing_is_sent_any_more() {
    let api = Api::start(|_| Answer::failure(401, 0)).await;
    let rest = client(&api);
    for _ in 0..50 {
        assert!(matches!(rest.typing(hall()).await, Outcome::Refused(no) if no.status == 401));
    }
    assert!(rest.is_halted());
    assert_eq!(api.asked().len(), 1);
}

#[tokio::test]
async fn posts_of_a_channel_go_one_at_a_time_in_order_and_typing_passes_them() {
    let under_way = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let (now, peak) = (Arc::clone(&under_way), Arc::clone(&most));
    let api = Api::start(move |asked| {
        if asked.path.ends_with("/typing") {
            return Answer::Empty(204);
        }
        peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let now = Arc::clone(&now);
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(90)).await;
            now.fetch_sub(1, Ordering::SeqCst);
        });
        let answer = Answer::ok(message(9, "x"));
        Answer::Late(Duration::from_millis(100), Box::new(answer))
    })
    .await;
    let rest = client(&api);
    let posts: Vec<_> = (0..5)
        .map(|number| {
            let rest = rest.clone();
            tokio::spawn(async move {
                let text = number.to_string();
                let nonce = Nonce::parse(&text).expect("a nonce");
                let content = Content::text(&text);
                rest.create_message(hall(), content, &nonce, Reply::No)
                    .await
            })
        })
        .collect();
    tokio::task::yield_now().await;
    assert_eq!(rest.typing(hall()).await, Outcome::Done(()));
    let typed_before = api
        .asked()
        .iter()
        .filter(|asked| asked.path.ends_with("/messages"))
        .count();
    assert!(typed_before < 5, "typing did not wait for the posts");
    for post in posts {
        assert!(matches!(post.await.expect("no panic"), Outcome::Done(_)));
    }
    assert_eq!(most.load(Ordering::SeqCst), 1);
    let order: Vec<_> = api
        .asked()
        .iter()
        .filter(|a| a.path.ends_with("/messages"))
        .map(|asked| asked.json()["content"].as_str().expect("text").to_owned())
        .collect();
    assert_eq!(order, ["0", "1", "2", "3", "4"]);
}

#[tokio::test]
async fn a_call_that_is_dropped_frees_its_place() {
    let mut first = true;
    let api = Api::start(move |_| {
        let silent = std::mem::take(&mut first);
        if silent {
            Answer::Silence
        } else {
            Answer::Empty(204)
        }
    })
    .await;
    let rest = client(&api);
    let dropped = tokio::time::timeout(Duration::from_millis(200), rest.typing(hall())).await;
    assert!(dropped.is_err());
    assert_eq!(rest.typing(hall()).await, Outcome::Done(()));
}

#[tokio::test]
async fn a_call_behind_a_silent_one_is_told_that_the_bucket_is_busy() {
    let api =
        Api::start(|_| Answer::Late(Duration::from_secs(60), Box::new(Answer::Silence))).await;
    let slow = client(&api);
    let other = slow.clone();
    let first = tokio::spawn(async move { slow.typing(hall()).await });
    while api.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    let hasty = hasty_client(&api);
    assert!(
        matches!(hasty.typing(hall()).await, Outcome::Unknown(_)),
        "limits are per client"
    );
    let behind = tokio::time::timeout(Duration::from_millis(300), other.typing(hall())).await;
    assert!(behind.is_err(), "it waits in line, and sends nothing");
    assert_eq!(api.asked().len(), 2);
    first.abort();
}
