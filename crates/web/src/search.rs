//! Asking a SearXNG instance.
//!
//! In: the instance's URL from the binding, and a query. Out: at most ten hits, or none, which is an
//! answer like any other, or a named refusal.
//! Never: a redirect, a hit whose URL is not http or https, a word of the answer in a log.
//!
//! The operator named the instance, so its address may be private; plain http stays on loopback.
//! The format is that of SearXNG's search API: `/search?q=…&format=json`.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use rustls::pki_types::ServerName;
use serde::Deserialize;
use tokio::time::timeout;
use url::{Host, Url};

use crate::{
    Fence, WebRefusal,
    body::{self, End},
    exchange::{Answer, Asked, Heard, ask, ask_over_tls},
    fence::DEADLINE,
    page::TITLE_MAX_CHARS,
    resolve::NameKind,
    target::URL_MAX_BYTES,
    unseen::{is_unseen, one_line},
};

/// Longest query, in characters.
pub const QUERY_MAX_CHARS: usize = 400;
/// Most hits of an answer that are given.
pub const HITS_MAX: usize = 10;
/// Longest snippet of a hit, in characters.
pub const SNIPPET_MAX_CHARS: usize = 500;
/// Most engines that are named as having given no answer.
pub const UNRESPONSIVE_MAX: usize = 10;
/// Longest name of an engine that is given, in characters.
const ENGINE_MAX_CHARS: usize = 40;
/// Largest answer of an instance, in bytes; a page of thirty hits has some forty thousand.
const ANSWER_MAX_BYTES: usize = 1 << 20;

/// One hit of a search.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hit {
    /// At most [`TITLE_MAX_CHARS`], on one line; may be empty.
    pub title: String,
    /// http or https, at most [`URL_MAX_BYTES`]. Not vetted: that is done when it is fetched.
    pub url: String,
    /// At most [`SNIPPET_MAX_CHARS`], on one line; may be empty.
    pub snippet: String,
}

/// What a search gives.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchAnswer {
    /// In the instance's order, at most [`HITS_MAX`]; none where nothing was found.
    pub hits: Vec<Hit>,
    /// Names of engines that gave the instance no answer, at most [`UNRESPONSIVE_MAX`].
    pub unresponsive: Vec<String>,
}

impl fmt::Debug for Hit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lengths = [&self.title, &self.url, &self.snippet].map(String::len);
        write!(f, "Hit({lengths:?} bytes)")
    }
}

impl fmt::Debug for SearchAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SearchAnswer({} hits)", self.hits.len())
    }
}

/// Where an instance is.
struct Instance {
    url: Url,
    at: At,
}

enum At {
    /// http on this machine.
    Loopback(Vec<IpAddr>),
    /// https, wherever the operator wants it.
    Secured(ServerName<'static>),
}

impl Fence {
    /// Asks the search instance at `base` for `query`, within [`DEADLINE`].
    /// Must be called in a tokio runtime.
    ///
    /// # Errors
    /// A [`WebRefusal`] about searches, connections or answers.
    ///
    /// # Cancel safety
    /// A dropped future closes its connection.
    pub async fn search(&self, base: &str, query: &str) -> Result<SearchAnswer, WebRefusal> {
        let query = judged(query)?;
        let instance = Instance::parse(base)?;
        let asked = timeout(DEADLINE, self.asked(&instance, query)).await;
        asked.unwrap_or(Err(WebRefusal::Timeout))
    }

    async fn asked(&self, instance: &Instance, query: &str) -> Result<SearchAnswer, WebRefusal> {
        let heard = Heard::default();
        let mut answer = self.exchange(instance, query, &heard).await?;
        match answer.status {
            200 => {}
            403 => return Err(WebRefusal::JsonDisabled),
            429 => return Err(WebRefusal::RateLimited),
            status => return Err(WebRefusal::Status(status)),
        }
        let body = body::read(&mut answer, ANSWER_MAX_BYTES, &heard).await?;
        match body.end {
            End::Whole => hits_of(&body.bytes),
            End::Cut => Err(WebRefusal::TooLarge),
        }
    }

    async fn exchange(
        &self,
        instance: &Instance,
        query: &str,
        heard: &Heard,
    ) -> Result<Answer, WebRefusal> {
        let path = instance.path_for(query);
        let host = instance.authority();
        let asked = Asked {
            heard,
            host: &host,
            path: &path,
            accept: "application/json",
        };
        let port = instance.url.port_or_known_default();
        let port = port.ok_or(WebRefusal::SearchBase)?;
        match &instance.at {
            At::Loopback(addresses) => ask(self.connect(addresses, port).await?, &asked).await,
            At::Secured(server) => {
                let addresses = match instance.url.host() {
                    Some(Host::Domain(name)) => self.resolve(name, NameKind::AsConfigured).await?,
                    Some(Host::Ipv4(address)) => vec![address.into()],
                    Some(Host::Ipv6(address)) => vec![address.into()],
                    None => return Err(WebRefusal::SearchBase),
                };
                let stream = self.connect(&addresses, port).await?;
                ask_over_tls(&self.tls, server.clone(), stream, &asked).await
            }
        }
    }
}

/// Says whether `base` can be the URL of a search instance: https, or http on loopback, without a
/// user, a query or a fragment.
///
/// # Errors
/// [`WebRefusal::SearchBase`].
pub fn judge_search_base(base: &str) -> Result<(), WebRefusal> {
    Instance::parse(base).map(|_| ())
}

impl Instance {
    fn parse(base: &str) -> Result<Self, WebRefusal> {
        let odd = |c: char| is_unseen(c) || matches!(c, ' ' | '\\' | '@' | '?' | '#');
        if base.len() > URL_MAX_BYTES || base.contains(odd) || !base.contains("://") {
            return Err(WebRefusal::SearchBase);
        }
        let url = Url::parse(base).map_err(|_| WebRefusal::SearchBase)?;
        let host = url.host().ok_or(WebRefusal::SearchBase)?;
        let at = match url.scheme() {
            "http" => At::Loopback(loopback(&host).ok_or(WebRefusal::SearchBase)?),
            "https" => {
                let bare = host.to_string();
                let bare = bare
                    .trim_matches(['[', ']'])
                    .trim_end_matches('.')
                    .to_owned();
                At::Secured(ServerName::try_from(bare).map_err(|_| WebRefusal::SearchBase)?)
            }
            _ => return Err(WebRefusal::SearchBase),
        };
        Ok(Self { url, at })
    }

    fn path_for(&self, query: &str) -> String {
        let mut pairs = url::form_urlencoded::Serializer::new(String::new());
        pairs.append_pair("q", query).append_pair("format", "json");
        let path = self.url.path().trim_end_matches('/');
        format!("{path}/search?{}", pairs.finish())
    }

    /// Host and, where it is not the scheme's own, port.
    fn authority(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        match self.url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }
}

/// The loopback addresses that a host stands for, without asking anybody.
fn loopback(host: &Host<&str>) -> Option<Vec<IpAddr>> {
    match host {
        Host::Domain("localhost") => {
            Some(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()])
        }
        Host::Ipv4(address) if address.is_loopback() => Some(vec![(*address).into()]),
        Host::Ipv6(address) if address.is_loopback() => Some(vec![(*address).into()]),
        Host::Domain(_) | Host::Ipv4(_) | Host::Ipv6(_) => None,
    }
}

fn judged(query: &str) -> Result<&str, WebRefusal> {
    let query = query.trim();
    if query.is_empty() {
        return Err(WebRefusal::QueryEmpty);
    }
    if query.chars().count() > QUERY_MAX_CHARS {
        return Err(WebRefusal::QueryTooLong);
    }
    Ok(query)
}

/// The parts of an answer that we use. What else stands in it is passed over.
#[derive(Deserialize)]
struct WireAnswer {
    results: Vec<serde_json::Value>,
    #[serde(default)]
    unresponsive_engines: serde_json::Value,
}

fn hits_of(body: &[u8]) -> Result<SearchAnswer, WebRefusal> {
    let answer: WireAnswer = serde_json::from_slice(body).map_err(|_| WebRefusal::NotJson)?;
    let hits: Vec<Hit> = answer
        .results
        .iter()
        .filter_map(hit)
        .take(HITS_MAX)
        .collect();
    let engines = answer.unresponsive_engines.as_array();
    let unresponsive = engines.into_iter().flatten().filter_map(engine);
    Ok(SearchAnswer {
        hits,
        unresponsive: unresponsive.take(UNRESPONSIVE_MAX).collect(),
    })
}

/// The name of an engine, which comes alone or with its reason behind it.
fn engine(entry: &serde_json::Value) -> Option<String> {
    let name = entry.get(0).unwrap_or(entry).as_str()?;
    let name = one_line(name, ENGINE_MAX_CHARS);
    (!name.is_empty()).then_some(name)
}

/// One result; `None` where its URL leads to no page.
fn hit(result: &serde_json::Value) -> Option<Hit> {
    let text = |name: &str| result.get(name).and_then(serde_json::Value::as_str);
    let url = text("url")?;
    if url.len() > URL_MAX_BYTES || url.chars().any(is_unseen) {
        return None;
    }
    let url = Url::parse(url).ok()?;
    let web = matches!(url.scheme(), "http" | "https") && url.username().is_empty();
    // Percent-encoding may have made it longer.
    (web && url.as_str().len() <= URL_MAX_BYTES).then(|| Hit {
        title: one_line(text("title").unwrap_or_default(), TITLE_MAX_CHARS),
        url: url.into(),
        snippet: one_line(text("content").unwrap_or_default(), SNIPPET_MAX_CHARS),
    })
}

#[cfg(test)]
mod tests;
