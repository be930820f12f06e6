//! A proxy that breaks an exchange after Discord has done its part, or before it hears of it.
//!
//! In: HTTP/1.1 requests of the seat. Out: the simulator's answers with the date by its clock, or a
//! trick. Never: more than one exchange on a connection.

use crate::{hall::Hall, http::try_exchange};
use serde_json::{Value, json};
use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

/// How long a stalled socket is kept, which is longer than anybody waits for it.
const STALL: Duration = Duration::from_secs(60);

/// What becomes of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trick {
    /// Discord does it, and the answer is this status.
    DoneAnswered(u16),
    /// Discord does it, and half of the answer comes.
    Dropped,
    /// The request is read, and nothing more happens.
    Stalled,
}

#[derive(Debug, Default)]
struct Plan {
    trick: Option<Trick>,
    left: usize,
}

/// The proxy. Its threads end with the connections, and the listener's with the test process.
pub(crate) struct Middleman {
    origin: String,
    plan: Arc<Mutex<Plan>>,
}

impl Middleman {
    pub(crate) fn before(hall: &Hall) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let plan = Arc::new(Mutex::new(Plan::default()));
        let (shared, discord) = (Arc::clone(&plan), hall.origin.clone());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (plan, discord) = (Arc::clone(&shared), discord.clone());
                thread::spawn(move || serve(&client, &discord, &plan).ok());
            }
        });
        Self { origin, plan }
    }

    /// What a binding says to speak through it.
    pub(crate) fn binding(&self) -> Value {
        json!({"discord": {"apiUrl": self.origin}})
    }

    /// Plays a trick on the next posts.
    pub(crate) fn play(&self, trick: Trick, times: usize) {
        let mut plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        (plan.trick, plan.left) = (Some(trick), times);
    }

    /// How often the trick is still to be played.
    pub(crate) fn left(&self) -> usize {
        self.plan
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .left
    }
}

fn serve(client: &TcpStream, discord: &str, plan: &Mutex<Plan>) -> io::Result<()> {
    let request = read_request(client)?;
    let is_post = request.starts_with(b"POST ") && {
        let line = request
            .split(|byte| *byte == b'\r')
            .next()
            .unwrap_or_default();
        String::from_utf8_lossy(line).contains("/messages ")
    };
    let trick = if is_post { take(plan) } else { None };
    if trick == Some(Trick::Stalled) {
        thread::sleep(STALL);
        return Ok(());
    }
    let mut server = TcpStream::connect(discord.trim_start_matches("http://"))?;
    server.write_all(&request)?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    let answer = dated(answer, discord)?;
    let mut client = client;
    match trick {
        None => client.write_all(&answer),
        Some(Trick::Dropped) => client.write_all(&answer[..answer.len() / 2]),
        Some(Trick::DoneAnswered(status)) => {
            write!(
                client,
                "HTTP/1.1 {status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
        }
        Some(Trick::Stalled) => Ok(()),
    }
}

fn take(plan: &Mutex<Plan>) -> Option<Trick> {
    let mut plan = plan.lock().unwrap_or_else(PoisonError::into_inner);
    plan.left = plan.left.checked_sub(1)?;
    plan.trick
}

/// The answer with the date by Discord's clock, which a test may have moved.
fn dated(answer: Vec<u8>, discord: &str) -> io::Result<Vec<u8>> {
    let address = discord.trim_start_matches("http://");
    let (_, clock) = try_exchange("GET", address, "/control/clock", None)?;
    let clock: Value = serde_json::from_str(&clock)?;
    let now = clock["now_ms"].as_i64().unwrap_or(0);
    let now = jiff::Timestamp::from_millisecond(now).map_err(io::Error::other)?;
    let now = jiff::fmt::rfc2822::DateTimePrinter::new()
        .timestamp_to_rfc9110_string(&now)
        .map_err(io::Error::other)?;
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let Some(end) = end else { return Ok(answer) };
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let is_date = |line: &&str| line.to_ascii_lowercase().starts_with("date:");
    let mut lines: Vec<_> = head.split("\r\n").filter(|line| !is_date(line)).collect();
    let date = format!("Date: {now}");
    lines.push(&date);
    let mut whole = lines.join("\r\n").into_bytes();
    whole.extend_from_slice(&answer[end..]);
    Ok(whole)
}

/// One whole request, which asks for the connection's end after its answer.
fn read_request(client: &TcpStream) -> io::Result<Vec<u8>> {
    let mut reader = BufReader::new(client);
    let mut request = Vec::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        if line == "\r\n" {
            break;
        }
        if !lower.starts_with("connection:") {
            request.extend_from_slice(line.as_bytes());
        }
    }
    request.extend_from_slice(b"Connection: close\r\n\r\n");
    let start = request.len();
    request.resize(start + length, 0);
    reader.read_exact(&mut request[start..])?;
    Ok(request)
}
