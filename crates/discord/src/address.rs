//! Where Discord is, and where a token may go.
//!
//! In: the binding's `discord.apiUrl`, the gateway addresses that Discord answers. Out: a host, a
//! port, whether it is TLS, and how far a name may reach. Never: plain text beyond loopback, a
//! loopback service that sends us out to the network, user information in an address.

use hyper::Uri;
use std::net::IpAddr;

/// Discord's own origin.
const DISCORD_ORIGIN: &str = "https://discord.com";

/// How far a connection may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Any address that the name resolves to; always TLS.
    Network,
    /// Loopback addresses only, whatever the name resolves to.
    Loopback,
}

/// Whether a connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Security {
    /// TLS with the built-in roots.
    Tls,
    /// Plain text, on loopback only.
    Plain,
}

/// One end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) security: Security,
    pub(crate) reach: Reach,
}

impl Target {
    /// Host and port as the `Host` header has them.
    pub(crate) fn authority(&self) -> String {
        let default = match self.security {
            Security::Tls => 443,
            Security::Plain => 80,
        };
        if self.port == default {
            self.host.clone()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

/// The origin that REST calls go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiBase {
    pub(crate) target: Target,
}

/// Why an origin is refused as a place for the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadOrigin {
    /// Not `scheme://host[:port]`.
    #[error("not an origin: a scheme, a host and perhaps a port, without path or user name")]
    Shape,
    /// Plain text to another machine.
    #[error("only https, or http on loopback")]
    Plain,
}

impl ApiBase {
    /// Discord's own.
    #[must_use]
    pub fn discord() -> Self {
        Self::parse(DISCORD_ORIGIN).expect("the constant is an https origin")
    }

    /// The binding's `apiUrl`, or Discord's own where it is absent.
    ///
    /// # Errors
    /// [`BadOrigin`] where a token must not go.
    pub fn of(api_url: Option<&str>) -> Result<Self, BadOrigin> {
        api_url.map_or_else(|| Ok(Self::discord()), Self::parse)
    }

    /// Checks an origin: https to anywhere, http on loopback.
    ///
    /// # Errors
    /// [`BadOrigin`] where a token must not go.
    pub fn parse(origin: &str) -> Result<Self, BadOrigin> {
        let (target, rest) = parse(origin, "https", "http")?;
        if rest != "/" {
            return Err(BadOrigin::Shape);
        }
        Ok(Self { target })
    }

    /// Whether this is a stand-in on this machine.
    pub(crate) fn reach(&self) -> Reach {
        self.target.reach
    }
}

/// A gateway's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GatewayAddress {
    pub(crate) target: Target,
    path: String,
}

impl GatewayAddress {
    /// Checks an address that Discord answered: the token goes there too. A stand-in on loopback
    /// may only name loopback.
    pub(crate) fn parse(url: &str, reach: Reach) -> Result<Self, BadOrigin> {
        let (target, rest) = parse(url, "wss", "ws")?;
        if reach == Reach::Loopback && target.reach != Reach::Loopback {
            return Err(BadOrigin::Plain);
        }
        let path = rest.split('?').next().unwrap_or_default();
        Ok(Self {
            target,
            path: path.trim_end_matches('/').to_owned(),
        })
    }

    /// The request target of the WebSocket upgrade: version and encoding are ours.
    pub(crate) fn upgrade_url(&self) -> String {
        let scheme = match self.target.security {
            Security::Tls => "wss",
            Security::Plain => "ws",
        };
        let authority = self.target.authority();
        format!("{scheme}://{authority}{}/?v=10&encoding=json", self.path)
    }
}

/// Splits an address into its target and the path with query, `/` where there is none.
pub(crate) fn parse(
    url: &str,
    encrypted: &str,
    plain: &str,
) -> Result<(Target, String), BadOrigin> {
    let uri: Uri = url.parse().map_err(|_| BadOrigin::Shape)?;
    let authority = uri.authority().ok_or(BadOrigin::Shape)?;
    let scheme = uri.scheme_str().ok_or(BadOrigin::Shape)?;
    let host = authority.host();
    if host.is_empty() || authority.as_str().contains('@') || url.contains('#') {
        return Err(BadOrigin::Shape);
    }
    let local = is_loopback(host);
    let (security, default_port) = if scheme.eq_ignore_ascii_case(encrypted) {
        (Security::Tls, 443)
    } else if scheme.eq_ignore_ascii_case(plain) && local {
        (Security::Plain, 80)
    } else if scheme.eq_ignore_ascii_case(plain) {
        return Err(BadOrigin::Plain);
    } else {
        return Err(BadOrigin::Shape);
    };
    // A port that is there and is no number is a fault, not a default.
    let port = match authority.port() {
        Some(port) => port.as_u16(),
        None if authority.as_str().ends_with(':') => return Err(BadOrigin::Shape),
        None => default_port,
    };
    let target = Target {
        host: host.to_ascii_lowercase(),
        port,
        security,
        reach: if local {
            Reach::Loopback
        } else {
            Reach::Network
        },
    };
    let rest = uri.path_and_query().map_or("/", |p| p.as_str());
    Ok((target, rest.to_owned()))
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_to_https_or_to_loopback_and_nowhere_else() {
        let cases = [
            ("https://discord.com", Ok("discord.com")),
            ("https://discord.example:8443", Ok("discord.example:8443")),
            ("http://127.0.0.1:4100", Ok("127.0.0.1:4100")),
            ("http://[::1]:4100", Ok("[::1]:4100")),
            ("http://localhost:4100/", Ok("localhost:4100")),
            ("http://discord.example", Err(BadOrigin::Plain)),
            ("http://127.0.0.1.example", Err(BadOrigin::Plain)),
            ("http://10.0.0.1", Err(BadOrigin::Plain)),
            ("https://user@discord.com", Err(BadOrigin::Shape)),
            ("http://127.0.0.1@evil.example", Err(BadOrigin::Plain)),
            ("https://discord.com/api", Err(BadOrigin::Shape)),
            ("https://discord.com/?x=1", Err(BadOrigin::Shape)),
            ("ftp://127.0.0.1", Err(BadOrigin::Shape)),
            ("discord.com", Err(BadOrigin::Shape)),
            ("", Err(BadOrigin::Shape)),
        ];
        for (text, want) in cases {
            let got = ApiBase::parse(text).map(|base| base.target.authority());
            let shape_or_plain = got.is_err() && want == Err(BadOrigin::Plain);
            if !shape_or_plain {
                assert_eq!(got, want.map(str::to_owned), "{text:?}");
            }
        }
    }

    #[test]
    fn a_gateway_address_keeps_its_path_and_loses_its_query_and_slashes() {
        let cases = [
            (
                "wss://gateway.discord.gg",
                "wss://gateway.discord.gg/?v=10&encoding=json",
            ),
            (
                "wss://gateway.discord.gg/",
                "wss://gateway.discord.gg/?v=10&encoding=json",
            ),
            (
                "wss://g.example/?x=1",
                "wss://g.example/?v=10&encoding=json",
            ),
            (
                "ws://127.0.0.1:9/ws/",
                "ws://127.0.0.1:9/ws/?v=10&encoding=json",
            ),
        ];
        for (url, want) in cases {
            let address = GatewayAddress::parse(url, Reach::Network).expect("an address");
            assert_eq!(address.upgrade_url(), want);
        }
        for url in ["ws://gateway.discord.gg", "https://g.example", "gateway"] {
            assert!(GatewayAddress::parse(url, Reach::Network).is_err(), "{url}");
        }
    }

    #[test]
    fn a_stand_in_on_loopback_cannot_send_us_out_to_the_network() {
        assert!(GatewayAddress::parse("wss://gateway.discord.gg", Reach::Loopback).is_err());
        assert!(GatewayAddress::parse("ws://127.0.0.1:9", Reach::Loopback).is_ok());
    }
}
