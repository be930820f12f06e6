//! The demo's web in place of the real one.
//!
//! In: the file that `demo` wrote. Out: a fence that knows one name and reaches one port of this
//! machine. Never: a way past the fence's own judgement: the name is given a public address, which is
//! vetted like any other, and only the connection goes to loopback.

use crate::exit::Failure;
use guildhall_web::{Boxed, Dial, Fence, FenceParts, NameKind, Resolve, TcpDialer};
use rustls::{RootCertStore, pki_types::CertificateDer};
use serde::{Deserialize, Serialize};
use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::Path,
    sync::Arc,
};
use tokio::net::TcpStream;

/// The address that the pages seem to have. Any public one would do: nothing is sent to it.
const SEEMING: IpAddr = IpAddr::V4(Ipv4Addr::new(8, 8, 4, 4));

/// How the demo's pages are reached.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StandIn {
    /// Their name.
    pub(crate) host: String,
    /// Their port on 127.0.0.1.
    pub(crate) port: u16,
    /// Their certificate, DER in base 64.
    pub(crate) certificate: String,
}

impl StandIn {
    /// Reads the file that `demo` wrote.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read(path)
            .map_err(|error| Failure::failed(format!("the stand-in of the web: {error}")))?;
        serde_json::from_slice(&text)
            .map_err(|error| Failure::invalid(format!("the stand-in of the web: {error}")))
    }

    /// A fence that knows these pages and nothing else.
    pub(super) fn fence(&self) -> Result<Fence, Failure> {
        let bad = || Failure::invalid("the stand-in of the web has no usable certificate");
        let der = data_encoding::BASE64
            .decode(self.certificate.as_bytes())
            .map_err(|_| bad())?;
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(der)).map_err(|_| bad())?;
        let known = Arc::new(Known(self.clone()));
        Ok(Fence::new(FenceParts {
            resolver: Arc::clone(&known) as Arc<dyn Resolve>,
            dialer: known,
            roots,
        }))
    }
}

struct Known(StandIn);

impl Resolve for Known {
    fn resolve<'a>(&'a self, host: &'a str, _: NameKind) -> Boxed<'a, io::Result<Vec<IpAddr>>> {
        let known = if host == self.0.host {
            vec![SEEMING]
        } else {
            Vec::new()
        };
        Box::pin(std::future::ready(Ok(known)))
    }
}

impl Dial for Known {
    fn dial(&self, address: SocketAddr) -> Boxed<'_, io::Result<TcpStream>> {
        let there = if address.ip() == SEEMING {
            SocketAddr::from((Ipv4Addr::LOCALHOST, self.0.port))
        } else if address.ip().is_loopback() {
            // The search service, which the binding names.
            address
        } else {
            let unknown = io::ErrorKind::AddrNotAvailable.into();
            return Box::pin(std::future::ready(Err(unknown)));
        };
        Box::pin(async move { TcpDialer.dial(there).await })
    }
}
