//! The way out to the public web, and back.
//!
//! In: the URL of a page, or a query for a search instance. Out: a page, hits, or a named refusal.
//! Never: a connection to an address that was not vetted for this very connection, and never a
//! second look-up between vetting and connecting.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use hyper::header;
use rustls::{ClientConfig, RootCertStore, pki_types::ServerName};
use tokio::{net::TcpStream, time::timeout};

use crate::{
    Page, Target, WebRefusal,
    address::{AddressClass, is_public},
    body,
    dial::{Dial, TcpDialer, is_this_machine},
    exchange::{Answer, Asked, Heard, NotOne, ask_over_tls, tls_config},
    media::Media,
    page::page_of,
    resolve::{NameKind, Resolve, SystemResolver},
    target::Place,
};

/// Most redirects that are followed.
pub const REDIRECTS_MAX: usize = 3;
/// Longest a call may take, from the first look-up to the last word of the text.
pub const DEADLINE: Duration = Duration::from_secs(15);
/// The port of https.
const HTTPS_PORT: u16 = 443;
/// Most addresses of a name that are tried; all of them are vetted.
const ADDRESSES_TRIED_MAX: usize = 8;
/// How long one address may take before the next one is tried.
const ADDRESS_DEADLINE: Duration = Duration::from_secs(4);
/// What can be read, best first.
const ACCEPT: &str = "text/html, application/xhtml+xml, text/plain;q=0.9, application/json;q=0.9, \
                      application/xml;q=0.8, text/*;q=0.7";

/// What a fence is made of.
pub struct FenceParts {
    /// Looks names up.
    pub resolver: Arc<dyn Resolve>,
    /// Connects to vetted addresses.
    pub dialer: Arc<dyn Dial>,
    /// Who may vouch for servers.
    pub roots: RootCertStore,
}

impl FenceParts {
    /// The system's resolver and TCP, and the roots that are built in. Nothing is read from the
    /// environment.
    #[must_use]
    pub fn system() -> Self {
        Self {
            resolver: Arc::new(SystemResolver::default()),
            dialer: Arc::new(TcpDialer),
            roots: RootCertStore {
                roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
            },
        }
    }
}

/// How much one fetch may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchLimits {
    /// Most bytes of a body, after unpacking.
    pub max_bytes: usize,
    /// Longest time for all of it.
    pub deadline: Duration,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            max_bytes: 1 << 20,
            deadline: DEADLINE,
        }
    }
}

/// Fetches pages and asks search instances. Cheap to clone; keeps nothing between calls.
#[derive(Clone)]
pub struct Fence {
    pub(crate) resolver: Arc<dyn Resolve>,
    pub(crate) dialer: Arc<dyn Dial>,
    pub(crate) tls: Arc<ClientConfig>,
}

/// How one answer goes on.
enum Next {
    Page(Box<Answer>),
    Redirect(Target),
}

impl Fence {
    /// A fence of these parts.
    #[must_use]
    pub fn new(parts: FenceParts) -> Self {
        Self {
            resolver: parts.resolver,
            dialer: parts.dialer,
            tls: tls_config(parts.roots),
        }
    }

    /// Fetches one page with GET, following at most [`REDIRECTS_MAX`] redirects, each of which is
    /// vetted like the first URL. Must be called in a tokio runtime.
    ///
    /// # Errors
    /// Any [`WebRefusal`] but those of searches.
    ///
    /// # Cancel safety
    /// A dropped future closes its connection. A look-up or a conversion that is under way ends by
    /// itself, in a thread: the look-up in one of a few that nothing else needs.
    pub async fn fetch(&self, url: &str, limits: FetchLimits) -> Result<Page, WebRefusal> {
        self.fetch_telling(url, limits, &Heard::default()).await
    }

    /// Like [`Fence::fetch`], and tells `heard` how far it came, whatever its end.
    ///
    /// # Errors
    /// Those of [`Fence::fetch`].
    ///
    /// # Cancel safety
    /// As for [`Fence::fetch`]; `heard` keeps what it was told.
    pub async fn fetch_telling(
        &self,
        url: &str,
        limits: FetchLimits,
        heard: &Heard,
    ) -> Result<Page, WebRefusal> {
        let target = Target::parse(url)?;
        let fetched = timeout(
            limits.deadline,
            self.follow(target, limits.max_bytes, heard),
        )
        .await;
        fetched.unwrap_or(Err(WebRefusal::Timeout))
    }

    async fn follow(
        &self,
        mut target: Target,
        max_bytes: usize,
        heard: &Heard,
    ) -> Result<Page, WebRefusal> {
        for _ in 0..=REDIRECTS_MAX {
            match next(&target, self.get(&target, heard).await?)? {
                Next::Redirect(there) => target = there,
                Next::Page(answer) => return page(target, *answer, max_bytes, heard).await,
            }
        }
        Err(WebRefusal::TooManyRedirects)
    }

    /// One exchange with the server of a target.
    async fn get(&self, target: &Target, heard: &Heard) -> Result<Answer, WebRefusal> {
        let (addresses, server, host) = match target.place() {
            Place::Address(address) => (
                vec![*address],
                ServerName::IpAddress((*address).into()),
                // With brackets around an IPv6 address.
                target.url().host_str().unwrap_or_default().to_owned(),
            ),
            Place::Name(name) => (
                self.resolve(name, NameKind::Absolute).await?,
                ServerName::try_from(name.clone()).map_err(|_| WebRefusal::BadHost)?,
                name.clone(),
            ),
        };
        vet(&addresses, is_this_machine)?;
        let stream = self.connect(&addresses, HTTPS_PORT).await?;
        let url = target.url();
        let path = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        let asked = Asked {
            heard,
            host: &host,
            path: &path,
            accept: ACCEPT,
        };
        ask_over_tls(&self.tls, server, stream, &asked).await
    }

    /// All addresses of a name, at least one.
    pub(crate) async fn resolve(
        &self,
        name: &str,
        kind: NameKind,
    ) -> Result<Vec<IpAddr>, WebRefusal> {
        match self.resolver.resolve(name, kind).await {
            Ok(addresses) if !addresses.is_empty() => Ok(addresses),
            Ok(_) | Err(_) => Err(WebRefusal::Unresolved),
        }
    }

    /// A connection to the first of these addresses that takes one.
    pub(crate) async fn connect(
        &self,
        addresses: &[IpAddr],
        port: u16,
    ) -> Result<TcpStream, WebRefusal> {
        for address in addresses.iter().take(ADDRESSES_TRIED_MAX) {
            let dialled = self.dialer.dial(SocketAddr::new(*address, port));
            if let Ok(Ok(stream)) = timeout(ADDRESS_DEADLINE, dialled).await {
                return Ok(stream);
            }
        }
        Err(WebRefusal::Unreachable)
    }
}

/// One address that is not public refuses all: a name that has both means no good.
fn vet(addresses: &[IpAddr], is_own: impl Fn(IpAddr) -> bool) -> Result<(), WebRefusal> {
    for address in addresses {
        is_public(*address).map_err(WebRefusal::Address)?;
        if is_own(*address) {
            return Err(WebRefusal::Address(AddressClass::ThisMachine));
        }
    }
    Ok(())
}

/// What an answer to a target asks for next.
fn next(target: &Target, answer: Answer) -> Result<Next, WebRefusal> {
    match answer.status {
        // Without a body there is nothing to read.
        204 | 205 => Err(WebRefusal::Status(answer.status)),
        200..=299 => Ok(Next::Page(Box::new(answer))),
        301 | 302 | 303 | 307 | 308 => {
            let location = answer.header(header::LOCATION);
            let Ok(Some(location)) = location else {
                return Err(WebRefusal::BadRedirect);
            };
            target.redirected(location).map(Next::Redirect)
        }
        status => Err(WebRefusal::Status(status)),
    }
}

async fn page(
    target: Target,
    mut answer: Answer,
    max_bytes: usize,
    heard: &Heard,
) -> Result<Page, WebRefusal> {
    let said = match answer.header(header::CONTENT_TYPE) {
        Ok(Some(said)) => said,
        Ok(None) | Err(NotOne) => return Err(WebRefusal::ContentType),
    };
    let media = Media::parse(said)?;
    let body = body::read(&mut answer, max_bytes, heard).await?;
    let status = answer.status;
    drop(answer);
    let converted = move || page_of(&target, status, media, &body);
    let page = tokio::task::spawn_blocking(converted).await;
    // The runtime is going down, or the conversion met a case that it was not made for.
    page.unwrap_or(Err(WebRefusal::BadResponse))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_that_is_not_public_refuses_all_of_them() {
        let own: IpAddr = "93.184.215.99".parse().expect("an address");
        let cases = [
            (&["93.184.215.14", "2606:4700::1"][..], None),
            (
                &["93.184.215.14", "127.0.0.1"],
                Some(AddressClass::Loopback),
            ),
            (&["10.0.0.1", "fd00::1"], Some(AddressClass::Private)),
            // Public, and an interface of this machine has it.
            (
                &["93.184.215.14", "93.184.215.99"],
                Some(AddressClass::ThisMachine),
            ),
        ];
        for (texts, want) in cases {
            let parse = |text: &&str| text.parse().expect("an address");
            let addresses: Vec<IpAddr> = texts.iter().map(parse).collect();
            let want = want.map_or(Ok(()), |class| Err(WebRefusal::Address(class)));
            let vetted = vet(&addresses, |address| address == own);
            assert_eq!(vetted, want, "{texts:?}");
        }
    }
}
