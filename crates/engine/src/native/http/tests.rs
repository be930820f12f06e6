//! Base URLs, and exchanges over TLS.

use super::*;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::{ServerConfig, pki_types::PrivateKeyDer};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;

const CONNECT: Duration = Duration::from_secs(30);

/// A TLS server on loopback that answers one request, and roots that trust it.
async fn secured() -> (u16, RootCertStore) {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::Pkcs8(signing_key.serialize_der().into());
    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone()).expect("a root");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .expect("a certificate with its key");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("a connection");
        // A client that does not trust us leaves here.
        let Ok(mut stream) = acceptor.accept(stream).await else {
            return;
        };
        let mut request = [0; 4_096];
        let read = stream.read(&mut request).await.expect("a request");
        assert!(request[..read].starts_with(b"POST /v1/x HTTP/1.1\r\n"));
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        stream.write_all(answer).await.expect("room");
        stream.flush().await.expect("room");
    });
    (port, roots)
}

async fn posted(target: &Target) -> Result<Vec<u8>, Problem> {
    let mut answer = target
        .post("/v1/x", &[], Bytes::from("{}"), CONNECT)
        .await?;
    Ok(answer.error_body().await)
}

#[tokio::test]
async fn an_exchange_over_tls_is_private_and_whole() {
    let (port, roots) = secured().await;
    let mut target =
        Target::parse(&format!("https://localhost:{port}/v1"), CONNECT).expect("a base URL");
    target.tls = tls(roots).ok();
    assert_eq!(posted(&target).await, Ok(b"ok".to_vec()));
}

#[tokio::test]
async fn a_server_that_nobody_vouches_for_gets_no_request() {
    let (port, _) = secured().await;
    let target =
        Target::parse(&format!("https://localhost:{port}/v1"), CONNECT).expect("a base URL");
    assert_eq!(posted(&target).await, Err(Problem::Unreachable));
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let (port, roots) = secured().await;
    let mut target =
        Target::parse(&format!("https://127.0.0.1:{port}/v1"), CONNECT).expect("a base URL");
    target.tls = tls(roots).ok();
    assert_eq!(posted(&target).await, Err(Problem::Unreachable));
}

#[test]
fn a_base_url_is_https_or_stays_on_this_machine() {
    let cases = [
        (
            "https://api.example.test/v1/",
            Some(("api.example.test", 443, "/v1")),
        ),
        (
            "https://api.example.test:8443",
            Some(("api.example.test", 8443, "")),
        ),
        ("http://127.0.0.1:8080/v1", Some(("127.0.0.1", 8080, "/v1"))),
        ("http://localhost/", Some(("localhost", 80, ""))),
        ("http://[::1]:11434/v1", Some(("::1", 11434, "/v1"))),
        ("http://api.example.test/v1", None),
        ("http://127.0.0.1.example.test", None),
        ("http://127.0.0.1@example.test/", None),
        ("https://user@example.test/", None),
        ("https://example.test/?a=b", None),
        ("https://example.test/#x", None),
        ("ftp://127.0.0.1/", None),
        ("/v1", None),
        ("", None),
    ];
    for (base, want) in cases {
        let found = Target::parse(base, CONNECT).ok();
        let found = found
            .as_ref()
            .map(|t| (t.host.as_str(), t.port, t.path.as_str()));
        assert_eq!(found, want, "{base}");
    }
}
