//! The WebSocket: opened, read, written, closed.
//!
//! In: an address, frames. Out: text frames, a close code. Never: the token in a log or an error, a
//! frame beyond the cap, a write without a deadline.

use super::{DownWhy, Frame, machine::ConnectTo};
use crate::{
    net::{Dialer, Stream},
    rest,
    secret::Token,
};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::json;
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{
        Message, Utf8Bytes,
        client::IntoClientRequest as _,
        protocol::{CloseFrame, WebSocketConfig, frame::coding::CloseCode},
    },
};

/// Largest frame and message that is read, in bytes. Servers with thousands of channels send some
/// hundred kilobytes; 17 MB have been reported.
const FRAME_MAX_BYTES: usize = 32 * 1024 * 1024;
/// How long one frame of ours may take to be written.
const WRITE_DEADLINE: Duration = Duration::from_secs(10);
/// How long saying goodbye may take.
const CLOSE_DEADLINE: Duration = Duration::from_secs(2);

/// An open WebSocket.
pub(crate) struct Socket {
    stream: WebSocketStream<Stream>,
}

/// What was read.
pub(crate) enum Read {
    Text(Utf8Bytes),
    /// Closed by the other side, with a code or without.
    Closed(Option<u16>),
    /// Something without meaning to us: a ping, bytes.
    Nothing,
}

/// Connects and upgrades. The machine owns the deadline.
///
/// # Cancel safety
/// A dropped future closes what it had opened.
pub(crate) async fn open(dialer: Dialer, to: ConnectTo) -> Result<Socket, DownWhy> {
    let stream = dialer.dial(&to.0.target).await?;
    let mut request = to
        .url()
        .into_client_request()
        .map_err(|_| DownWhy::NoUpgrade)?;
    request
        .headers_mut()
        .insert("user-agent", rest::user_agent());
    let config = WebSocketConfig::default()
        .max_message_size(Some(FRAME_MAX_BYTES))
        .max_frame_size(Some(FRAME_MAX_BYTES));
    let (stream, _) = client_async_with_config(request, stream, Some(config))
        .await
        .map_err(|_| DownWhy::NoUpgrade)?;
    Ok(Socket { stream })
}

impl Socket {
    /// Reads one message.
    ///
    /// # Cancel safety
    /// A dropped future loses nothing.
    pub(crate) async fn read(&mut self) -> Read {
        match self.stream.next().await {
            Some(Ok(Message::Text(text))) => Read::Text(text),
            Some(Ok(Message::Close(frame))) => {
                Read::Closed(frame.map(|frame| u16::from(frame.code)))
            }
            Some(Ok(
                Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_),
            )) => Read::Nothing,
            Some(Err(_)) | None => Read::Closed(None),
        }
    }

    /// Writes one frame.
    pub(crate) async fn send(
        &mut self,
        frame: &Frame,
        token: &Token,
        intents: u64,
    ) -> Result<(), DownWhy> {
        let text = match frame {
            Frame::Heartbeat(seq) => json!({ "op": 1, "d": seq }),
            Frame::Identify => json!({ "op": 2, "d": {
                "token": token.reveal(),
                "intents": intents,
                "properties": { "os": std::env::consts::OS, "browser": "guildhall", "device": "guildhall" },
            }}),
            Frame::Resume { session, seq } => json!({ "op": 6, "d": {
                "token": token.reveal(),
                "session_id": session,
                "seq": seq,
            }}),
        };
        let message = Message::text(text.to_string());
        match timeout(WRITE_DEADLINE, self.stream.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(DownWhy::Lost),
            Err(_) => Err(DownWhy::WriteStalled),
        }
    }

    /// Says goodbye and lets go, whether the other side listens or not.
    pub(crate) async fn close(mut self, code: u16) {
        let frame = CloseFrame {
            code: CloseCode::from(code),
            reason: Utf8Bytes::default(),
        };
        let farewell = async {
            if self.stream.close(Some(frame)).await.is_ok() {
                // The other side's half of the handshake; what else comes is not ours any more.
                while let Some(Ok(_)) = self.stream.next().await {}
            }
        };
        // A link that is dead is let go of without a goodbye.
        drop(timeout(CLOSE_DEADLINE, farewell).await);
    }
}
