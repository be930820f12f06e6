//! Connections that are encrypted, that claim to be, and that must not be made.

use super::*;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::{ServerConfig, pki_types::PrivateKeyDer};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;

/// A TLS server that repeats one byte, and the roots that trust it.
async fn server() -> (u16, RootCertStore) {
    let made = generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let CertifiedKey { cert, signing_key } = made;
    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone()).expect("a root");
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .expect("a certificate and its key");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if let Ok(mut stream) = acceptor.accept(stream).await {
                let byte = stream.read_u8().await.expect("a byte");
                stream.write_u8(byte).await.expect("a reader");
                stream.flush().await.expect("a reader");
            }
        }
    });
    (port, roots)
}

fn target(host: &str, port: u16, security: Security) -> Target {
    Target {
        host: host.into(),
        port,
        security,
        reach: Reach::Loopback,
    }
}

#[tokio::test]
async fn an_encrypted_connection_carries_bytes_where_its_certificate_is_trusted() {
    let (port, roots) = server().await;
    let target = target("localhost", port, Security::Tls);
    let mut stream = Dialer::trusting(roots)
        .dial(&target)
        .await
        .expect("a connection");
    stream.write_u8(7).await.expect("a reader");
    stream.flush().await.expect("a reader");
    assert_eq!(stream.read_u8().await.expect("a byte"), 7);
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_or_for_another_name_is_refused() {
    let (port, roots) = server().await;
    let unknown = Dialer::new()
        .dial(&target("localhost", port, Security::Tls))
        .await;
    assert_eq!(unknown.err(), Some(DialFault::Tls));
    let other_name = target("127.0.0.1", port, Security::Tls);
    let other = Dialer::trusting(roots).dial(&other_name).await;
    assert_eq!(other.err(), Some(DialFault::Tls));
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_told_from_one_that_is_not_there() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a client");
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .expect("a reader");
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).await.ok();
    });
    let target = target("127.0.0.1", port, Security::Tls);
    let spoke = Dialer::new().dial(&target).await;
    assert_eq!(spoke.err(), Some(DialFault::Tls));
    serving.await.expect("no panic");
    let gone = Dialer::new().dial(&target).await;
    assert_eq!(gone.err(), Some(DialFault::Unreachable));
}
