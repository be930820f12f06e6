//! What the server of a test sends.

use std::{io, time::Duration};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

/// An answer, well-made or not.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Bytes(Vec<u8>),
    /// One byte after each of these times, without end.
    Drip(u8, Duration),
    /// The same bytes without end.
    Forever(Vec<u8>),
    /// Nothing, without an end.
    Silence,
}

impl Reply {
    /// Exactly these bytes.
    pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            parts: vec![Part::Bytes(bytes.into())],
        }
    }

    /// A status and headers, and a body that ends with the connection.
    pub(crate) fn new(status: u16, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Self {
        let mut bytes = format!("HTTP/1.1 {status} Said\r\n").into_bytes();
        for (name, value) in headers {
            bytes.extend(format!("{name}: {value}\r\n").into_bytes());
        }
        bytes.extend(b"\r\n");
        bytes.extend(body.into());
        Self::raw(bytes)
    }

    /// A page of HTML.
    pub(crate) fn html(body: &str) -> Self {
        Self::new(200, &[("Content-Type", "text/html; charset=utf-8")], body)
    }

    /// A redirect.
    pub(crate) fn to(location: &str) -> Self {
        Self::new(302, &[("Location", location)], "")
    }

    fn then(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Then a byte after each `pause`, for ever.
    pub(crate) fn then_drip(self, byte: u8, pause: Duration) -> Self {
        self.then(Part::Drip(byte, pause))
    }

    /// Then the same bytes, for ever.
    pub(crate) fn then_forever(self, bytes: &[u8]) -> Self {
        // A record of its own for each byte would take for ever in another sense.
        let times = 16_384 / bytes.len() + 1;
        self.then(Part::Forever(bytes.repeat(times)))
    }

    /// Then nothing, and the connection stays.
    pub(crate) fn then_silence(self) -> Self {
        self.then(Part::Silence)
    }

    /// Sends all of it.
    pub(crate) async fn send<S: AsyncWrite + Unpin>(&self, stream: &mut S) -> io::Result<()> {
        for part in &self.parts {
            match part {
                Part::Bytes(bytes) => stream.write_all(bytes).await?,
                Part::Drip(byte, pause) => loop {
                    tokio::time::sleep(*pause).await;
                    stream.write_u8(*byte).await?;
                    stream.flush().await?;
                },
                Part::Forever(bytes) => loop {
                    stream.write_all(bytes).await?;
                },
                Part::Silence => {
                    stream.flush().await?;
                    std::future::pending::<()>().await;
                }
            }
        }
        stream.flush().await
    }
}
