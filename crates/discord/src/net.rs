//! Opening one connection: name, TCP, TLS.
//!
//! In: a target. Out: a byte stream, or which stage failed. Never: a proxy from the environment, a
//! certificate that the built-in roots do not vouch for, plain text beyond loopback.

use crate::address::{Reach, Security, Target};
use rustls::{ClientConfig, RootCertStore, pki_types::ServerName};
use std::{io, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::TlsConnector;

/// How long one address of a name may take before the next one is tried.
const ADDRESS_DEADLINE: Duration = Duration::from_secs(5);

/// A connected stream, encrypted or not.
pub(crate) trait Io: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Io for T {}

/// What the layers above read and write.
pub(crate) type Stream = Box<dyn Io>;

/// Which stage of a connect failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DialFault {
    /// The name has no address.
    #[error("the name of Discord's server could not be resolved")]
    Dns,
    /// No address answered, or all refused.
    #[error("no connection to Discord's server")]
    Unreachable,
    /// The TLS handshake failed.
    #[error("the encrypted connection to Discord's server could not be set up")]
    Tls,
    /// A stage did not end in time.
    #[error("connecting to Discord's server took too long")]
    TimedOut,
    /// A loopback name resolved to another machine.
    #[error("a loopback address resolved to another machine")]
    NotLoopback,
}

/// Opens connections with one TLS configuration.
#[derive(Clone)]
pub(crate) struct Dialer {
    tls: TlsConnector,
}

impl Dialer {
    /// A dialer with the built-in roots and ring, independent of any process-wide provider.
    pub(crate) fn new() -> Self {
        Self::trusting(RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        })
    }

    fn trusting(roots: RootCertStore) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring serves the default protocol versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self {
            tls: TlsConnector::from(Arc::new(config)),
        }
    }

    /// Connects. The caller owns the deadline over all stages.
    ///
    /// # Cancel safety
    /// A dropped future closes what it had opened.
    pub(crate) async fn dial(&self, target: &Target) -> Result<Stream, DialFault> {
        let tcp = open(target).await?;
        // A heartbeat is one small write: waiting for more would only delay it.
        tcp.set_nodelay(true).map_err(|_| DialFault::Unreachable)?;
        match target.security {
            Security::Plain => Ok(Box::new(tcp)),
            Security::Tls => {
                let bare = target.host.trim_matches(['[', ']']).to_owned();
                let name = ServerName::try_from(bare).map_err(|_| DialFault::Tls)?;
                let stream = self.tls.connect(name, tcp).await.map_err(tls_fault)?;
                Ok(Box::new(stream))
            }
        }
    }
}

fn tls_fault(error: io::Error) -> DialFault {
    if error.kind() == io::ErrorKind::InvalidData {
        DialFault::Tls
    } else {
        DialFault::Unreachable
    }
}

async fn open(target: &Target) -> Result<TcpStream, DialFault> {
    let bare = target.host.trim_matches(['[', ']']);
    let found = tokio::net::lookup_host((bare, target.port))
        .await
        .map_err(|_| DialFault::Dns)?;
    let all: Vec<SocketAddr> = found.collect();
    if all.is_empty() {
        return Err(DialFault::Dns);
    }
    if target.reach == Reach::Loopback && !all.iter().all(|a| a.ip().is_loopback()) {
        return Err(DialFault::NotLoopback);
    }
    let mut fault = DialFault::Unreachable;
    for address in all {
        match timeout(ADDRESS_DEADLINE, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(_)) => fault = DialFault::Unreachable,
            Err(_) => fault = DialFault::TimedOut,
        }
    }
    Err(fault)
}

#[cfg(test)]
mod tests;
