//! Pages and searches through the host, over a real server on loopback.

use crate::scene::{PATIENCE, Scene, held};
use guildhall_tools::CallTools;
use guildhall_web::{Boxed, Dial, Fence, FenceParts, NameKind, Resolve};
use rustls::{RootCertStore, ServerConfig, pki_types::PrivateKeyDer};
use serde_json::json;
use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;

/// What the servers were asked.
type Heard = Arc<Mutex<Vec<String>>>;

/// One public name, whose address leads to a server of the test.
struct Known(SocketAddr);

impl Resolve for Known {
    fn resolve<'a>(&'a self, host: &'a str, _: NameKind) -> Boxed<'a, io::Result<Vec<IpAddr>>> {
        let address = if host == "pages.example.org" {
            vec!["93.184.215.14".parse().expect("an address")]
        } else {
            Vec::new()
        };
        Box::pin(std::future::ready(Ok(address)))
    }
}

impl Dial for Known {
    fn dial(&self, address: SocketAddr) -> Boxed<'_, io::Result<TcpStream>> {
        let to = if address.ip().is_loopback() {
            address
        } else {
            self.0
        };
        Box::pin(TcpStream::connect(to))
    }
}

/// What a server says to the path of a request: a whole answer.
type Says = Arc<dyn Fn(&str) -> String + Send + Sync>;

async fn answer(stream: impl AsyncRead + AsyncWrite, heard: &Heard, says: &Says) {
    let mut stream = std::pin::pin!(stream);
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else {
            return;
        };
        request.push(byte);
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let line = request.lines().next().unwrap_or_default().to_owned();
    let reply = says(line.split(' ').nth(1).unwrap_or_default());
    held(heard).push(line);
    let sent = stream.write_all(reply.as_bytes()).await;
    if sent.is_ok() {
        stream.shutdown().await.ok();
    }
}

fn reply(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} Said\r\n{headers}content-length: {length}\r\n\r\n{body}")
}

/// One page for every path.
fn page(body: &'static str) -> Says {
    Arc::new(move |_| reply(200, "content-type: text/html\r\n", body))
}

const PAGE: &str = "<title>Bees</title><p>About <a href='/honey'>honey</a>.<script>x()</script>";
const HITS: &str = r#"{"results":[
    {"title":"Bees","url":"https://pages.example.org/bees","content":"All about bees"}]}"#;

/// A TLS server with a page, and a search instance, for as long as the runtime lives.
async fn servers(pages_say: Says, found: String) -> (Fence, SocketAddr, Heard) {
    let heard = Heard::default();
    let names = vec!["pages.example.org".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .expect("a server's settings");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let pages = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let search = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let (at, search_at) = (
        pages.local_addr().expect("bound"),
        search.local_addr().expect("bound"),
    );
    let noted = Arc::clone(&heard);
    tokio::spawn(async move {
        while let Ok((stream, _)) = pages.accept().await {
            if let Ok(stream) = acceptor.accept(stream).await {
                answer(stream, &noted, &pages_say).await;
            }
        }
    });
    let noted = Arc::clone(&heard);
    let json = "content-type: application/json\r\n";
    let search_says: Says = Arc::new(move |_| reply(200, json, &found));
    tokio::spawn(async move {
        while let Ok((stream, _)) = search.accept().await {
            answer(stream, &noted, &search_says).await;
        }
    });
    let mut roots = RootCertStore::empty();
    roots.add(certificate).expect("a certificate");
    let known = Arc::new(Known(at));
    let fence = Fence::new(FenceParts {
        resolver: Arc::clone(&known) as Arc<dyn Resolve>,
        dialer: known,
        roots,
    });
    (fence, search_at, heard)
}

async fn scene(body: &'static str) -> (Scene, Heard) {
    scene_of(page(body), HITS.to_owned()).await
}

async fn scene_of(pages_say: Says, found: String) -> (Scene, Heard) {
    let (fence, search, heard) = servers(pages_say, found).await;
    let scene = Scene::made(
        &[],
        Some(fence),
        |_| json!({"web": {"searxng": format!("http://{search}")}}),
    );
    (scene, heard)
}

#[tokio::test]
async fn a_page_and_a_search_come_as_text_and_are_recorded_by_their_target() {
    let (scene, heard) = scene(PAGE).await;
    let turn = scene.turn();
    let names: Vec<&str> = turn
        .tools
        .specs()
        .iter()
        .map(|spec| spec.name.as_str())
        .collect();
    assert_eq!(names, ["web_fetch", "web_search"]);
    let text = turn
        .done(
            "web_fetch",
            json!({"url": "https://pages.example.org/bees"}),
        )
        .await;
    assert!(
        text.starts_with("https://pages.example.org/bees (status 200, text/html, "),
        "{text}"
    );
    assert!(
        text.contains("Title: Bees") && text.contains("honey"),
        "{text}"
    );
    assert!(!text.contains("x()"), "{text}");
    let text = turn
        .done("web_search", json!({"query": "bees & honey"}))
        .await;
    assert_eq!(
        text,
        "1. Bees\n   https://pages.example.org/bees\n   All about bees"
    );
    assert!(
        held(&heard)[0].starts_with("GET /bees "),
        "{:?}",
        held(&heard)
    );
    let uses = turn.tools.uses();
    let targets: Vec<&str> = uses
        .iter()
        .filter_map(|used| used.url.as_deref().or(used.query.as_deref()))
        .collect();
    assert_eq!(targets, ["https://pages.example.org/bees", "bees & honey"]);
    assert_eq!((uses[0].status, uses[0].hits), (Some(200), None));
    assert_eq!((uses[1].status, uses[1].hits), (None, Some(1)));
    assert_eq!(uses[0].bytes, u64::try_from(PAGE.len()).expect("small"));
    assert_eq!(scene.desk.seen(), []);
}

#[tokio::test]
async fn nothing_with_the_shape_of_a_credential_goes_out_in_a_url_or_comes_in_with_a_page() {
    let token = concat!("gh", "p_0123456789abcdefABCDEF0123456789abcd");
    let (scene, heard) = scene(concat!("<p>gh", "p_0123456789abcdefABCDEF0123456789abcd")).await;
    let turn = scene.turn();
    let url = json!({"url": format!("https://pages.example.org/?t={token}")});
    assert_eq!(turn.refused("web_fetch", url).await, "secret-shape");
    assert_eq!(
        turn.refused("web_search", json!({"query": token})).await,
        "secret-shape"
    );
    assert_eq!(held(&heard).len(), 0);
    let page = json!({"url": "https://pages.example.org/"});
    assert_eq!(turn.refused("web_fetch", page).await, "secret-shape");
    assert!(!format!("{:?}", turn.tools.uses()).contains(token));
}

#[tokio::test]
async fn the_fences_refusals_are_the_tools() {
    let (scene, heard) = scene(PAGE).await;
    let turn = scene.turn();
    let cases = [
        ("http://pages.example.org/", "scheme"),
        ("https://127.0.0.1/", "loopback"),
        ("https://me:pw@pages.example.org/", "userinfo"),
        ("https://nowhere.example.org/", "unresolved"),
        ("/etc/passwd", "bad-url"),
    ];
    for (url, want) in cases {
        assert_eq!(
            turn.refused("web_fetch", json!({"url": url})).await,
            want,
            "{url}"
        );
    }
    let long = json!({"query": "a".repeat(401)});
    assert_eq!(turn.refused("web_search", long).await, "query-too-long");
    assert_eq!(held(&heard).len(), 0);
}

#[tokio::test]
async fn a_page_that_comes_after_the_turn_is_not_given() {
    let (scene, heard) = scene(PAGE).await;
    let turn = scene.turn();
    let tools = turn.tools.clone();
    let call = turn.call_of("web_fetch", r#"{"url":"https://pages.example.org/"}"#);
    let ends = async {
        let asked = async {
            while held(&heard).is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, asked)
            .await
            .expect("it is asked");
        tools.end();
    };
    let (result, ()) = tokio::join!(turn.tools.call(call), ends);
    assert_eq!(crate::scene::code(&result), "revoked");
}

#[tokio::test]
async fn a_record_has_the_target_whole_and_what_came_even_where_nothing_is_given() {
    let says: Says = Arc::new(|path| match path {
        "/picture" => reply(200, "content-type: image/png\r\n", "x"),
        "/binary" => reply(200, "content-type: text/plain\r\n", "a\0b"),
        "/gone" => reply(404, "content-type: text/plain\r\n", "gone"),
        _ => reply(302, "location: /on\r\n", ""),
    });
    let (scene, _) = scene_of(says, HITS.to_owned()).await;
    let turn = scene.turn();
    let long = format!("/on?{}", "u".repeat(2_000));
    let cases = [
        ("/picture", "content-type", 200, 0),
        ("/binary", "binary", 200, 3),
        ("/gone", "status", 404, 0),
        (long.as_str(), "too-many-redirects", 302, 0),
    ];
    for (path, code, ..) in cases {
        let url = json!({"url": format!("https://pages.example.org{path}")});
        assert_eq!(turn.refused("web_fetch", url).await, code, "{path}");
    }
    let query = "蜂".repeat(400);
    turn.done("web_search", json!({"query": query})).await;
    let uses = turn.tools.uses();
    for ((path, _, status, bytes), used) in cases.into_iter().zip(&uses) {
        let url = format!("https://pages.example.org{path}");
        assert_eq!(used.url.as_ref(), Some(&url));
        assert_eq!((used.status, used.bytes), (Some(status), bytes), "{path}");
    }
    assert_eq!(uses[4].query.as_ref(), Some(&query));
}

/// What a search gives a model, and how many hits its record has.
async fn searched(found: &serde_json::Value) -> (String, Option<u32>) {
    let (scene, _) = scene_of(page(PAGE), found.to_string()).await;
    let turn = scene.turn();
    let text = turn.done("web_search", json!({"query": "bees"})).await;
    (text, turn.tools.uses()[0].hits)
}

#[tokio::test]
async fn a_search_that_finds_nothing_is_done_and_says_so() {
    let cases = [
        (json!([]), "Nothing was found."),
        (
            json!([["brave", "too many requests"], ["qwant", "CAPTCHA"]]),
            "Nothing was found. Search engines that gave the instance no answer: brave, qwant.",
        ),
    ];
    for (engines, want) in cases {
        let found = json!({"results": [], "unresponsive_engines": engines});
        let (text, hits) = searched(&found).await;
        assert_eq!((text.as_str(), hits), (want, Some(0)));
    }
}

#[tokio::test]
async fn a_hit_with_the_shape_of_a_credential_takes_no_other_with_it() {
    let token = concat!("gh", "p_0123456789abcdefABCDEF0123456789abcd");
    let hit = |title: &str, text: &str| json!({"title": title, "url": "https://pages.example.org/", "content": text});
    let found =
        json!({"results": [hit("a", "b"), hit("c", token), hit(token, "d"), hit("e", "f")]});
    let (text, hits) = searched(&found).await;
    let want = "1. a\n   https://pages.example.org/\n   b\n\n\
                2. e\n   https://pages.example.org/\n   f\n\n\
                [hits left out with the shape of a credential in them: 2]";
    assert_eq!((text.as_str(), hits), (want, Some(2)));
}

#[tokio::test]
async fn hits_that_are_too_long_together_are_left_out_whole() {
    let url = format!("https://pages.example.org/?{}", "u".repeat(1_900));
    let hit = json!({"title": "t".repeat(300), "url": url, "content": "c ".repeat(400)});
    let short = json!({"title": "short", "url": "https://pages.example.org/", "content": ""});
    let mut results = vec![hit; 9];
    results.push(short);
    let (text, hits) = searched(&json!({"results": results})).await;
    assert!(text.chars().count() <= 12_000, "{}", text.len());
    assert_eq!(hits, Some(5));
    assert!(text.contains("\n\n5. short\n"), "{text}");
    let notice = "[hits left out for want of room: 5]";
    assert!(text.ends_with(notice), "{text}");
}
