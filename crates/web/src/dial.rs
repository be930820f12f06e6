//! One TCP connection to one address.
//!
//! In: an address that was vetted. Out: a stream to exactly that address. Never: a name, a proxy, or
//! another address than the one that was asked for.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
};

use tokio::net::TcpStream;

use crate::resolve::Boxed;

/// Opens connections to addresses.
pub trait Dial: Send + Sync {
    /// Connects to `address`, and to nothing else.
    ///
    /// # Errors
    /// When the address did not take the connection.
    fn dial(&self, address: SocketAddr) -> Boxed<'_, io::Result<TcpStream>>;
}

/// Connects by the system's TCP.
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpDialer;

impl Dial for TcpDialer {
    fn dial(&self, address: SocketAddr) -> Boxed<'_, io::Result<TcpStream>> {
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            // One small request: waiting for more would only delay it.
            stream.set_nodelay(true)?;
            if stream.peer_addr()? != address {
                return Err(io::ErrorKind::AddrNotAvailable.into());
            }
            Ok(stream)
        })
    }
}

/// Whether an interface of this machine has the address.
///
/// The system is asked which address it would send from; to reach one of its own it takes that one
/// itself. Nothing is sent.
pub(crate) fn is_this_machine(address: IpAddr) -> bool {
    let from: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let source = || {
        let socket = UdpSocket::bind((from, 0))?;
        // Any port: a datagram socket only remembers it.
        socket.connect((address, 443))?;
        socket.local_addr()
    };
    // Without a way there it is not this machine, and the connection will fail by itself.
    source().is_ok_and(|source: SocketAddr| source.ip() == address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[test]
    fn an_address_of_this_machine_is_known_and_another_is_not() {
        let cases = [
            ("127.0.0.1", true),
            ("::1", true),
            ("1.1.1.1", false),
            ("2606:4700:4700::1111", false),
        ];
        for (text, want) in cases {
            let address = text.parse().expect("an address");
            assert_eq!(is_this_machine(address), want, "{text}");
        }
        // The address of the way out, where there is one. Nothing is sent.
        let socket = UdpSocket::bind("0.0.0.0:0").expect("a socket");
        if socket.connect("1.1.1.1:443").is_ok() {
            let own = socket.local_addr().expect("an address").ip();
            assert!(is_this_machine(own), "{own}");
        }
    }

    #[tokio::test]
    async fn a_connection_goes_to_the_address_that_was_asked_for() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let stream = TcpDialer.dial(address).await.expect("a connection");
        assert_eq!(stream.peer_addr().expect("a peer"), address);
        drop(listener);
        assert!(TcpDialer.dial(address).await.is_err());
    }
}
