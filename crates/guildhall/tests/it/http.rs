//! A blocking HTTP exchange, as small as the control API needs it.
//!
//! In: method, address, JSON. Out: the JSON of a 200. Never: a connection that outlives its
//! exchange, a wait without a bound.

use serde_json::Value;
use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

/// How long one exchange may take.
const EXCHANGE_MAX: Duration = Duration::from_secs(30);

/// Sends `body` to `path` of `address` (`host:port`) and reads the answer.
///
/// # Panics
/// When there is no whole answer, or it is no 200.
pub(crate) fn exchange(method: &str, address: &str, path: &str, body: Option<&Value>) -> Value {
    let (status, text) = try_exchange(method, address, path, body)
        .unwrap_or_else(|error| panic!("{method} {path}: {error}"));
    assert_eq!(status, 200, "{method} {path}: {text}");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{method} {path}: {error}: {text}"))
}

/// The same, for where there may be nobody any more; gives the status too.
///
/// # Errors
/// When there is no whole answer.
pub(crate) fn try_exchange(
    method: &str,
    address: &str,
    path: &str,
    body: Option<&Value>,
) -> std::io::Result<(u16, String)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(EXCHANGE_MAX))?;
    stream.set_write_timeout(Some(EXCHANGE_MAX))?;
    let body = body.map(Value::to_string).unwrap_or_default();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let broken = || std::io::Error::other("this is no HTTP answer");
    let end = answer
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .ok_or_else(broken)?;
    let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
    let status = head
        .split_whitespace()
        .nth(1)
        .and_then(|status| status.parse().ok())
        .ok_or_else(broken)?;
    let rest = &answer[end + 4..];
    let bytes = if head.contains("transfer-encoding: chunked") {
        unchunked(rest).ok_or_else(broken)?
    } else {
        rest.to_vec()
    };
    let text = String::from_utf8(bytes).map_err(std::io::Error::other)?;
    Ok((status, text))
}

fn unchunked(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let line = rest.windows(2).position(|two| two == b"\r\n")?;
        let size = std::str::from_utf8(&rest[..line]).ok()?;
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        rest = &rest[line + 2..];
        if size == 0 {
            return Some(whole);
        }
        whole.extend_from_slice(rest.get(..size)?);
        rest = rest.get(size + 2..)?;
    }
}
