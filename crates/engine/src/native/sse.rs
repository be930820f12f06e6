//! Server-sent events, out of bytes.
//!
//! In: bytes as they come, cut anywhere. Out: whole events. Never: a comment as an event, a line or
//! an event past its bound, a character torn by a cut.
//!
//! Source of the format: the HTML standard, "Server-sent events", parsing an event stream.

/// Longest line, and longest data of one event, in bytes. A chunk of text is a few hundred.
pub(super) const LINE_MAX_BYTES: usize = 1024 * 1024;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Event {
    /// Its type; empty where the server gave none.
    pub(super) name: String,
    /// Its data; lines are joined by line feeds.
    pub(super) data: String,
}

/// Why a stream cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadStream {
    /// A line, or the data of one event, is past [`LINE_MAX_BYTES`].
    TooLong,
    /// A line is not UTF-8.
    NotText,
}

/// Reads events from bytes.
#[derive(Debug, Default)]
pub(super) struct Reader {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    /// The last byte was a CR, so that a LF now ends the same line.
    after_cr: bool,
    past_first_line: bool,
}

impl Reader {
    /// Takes more bytes and gives the events that they complete.
    ///
    /// # Errors
    /// [`BadStream`]; the reader is of no use afterwards.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, BadStream> {
        let mut events = Vec::new();
        for &byte in bytes {
            let second_half = byte == b'\n' && self.after_cr;
            self.after_cr = byte == b'\r';
            match byte {
                _ if second_half => {}
                b'\r' | b'\n' => events.extend(self.end_line()?),
                _ if self.line.len() == LINE_MAX_BYTES => return Err(BadStream::TooLong),
                byte => self.line.push(byte),
            }
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Result<Option<Event>, BadStream> {
        let bytes = std::mem::take(&mut self.line);
        let text = std::str::from_utf8(&bytes).map_err(|_| BadStream::NotText)?;
        let text = match std::mem::replace(&mut self.past_first_line, true) {
            true => text,
            false => text.strip_prefix('\u{feff}').unwrap_or(text),
        };
        if text.is_empty() {
            let event = std::mem::take(&mut self.event);
            return Ok(std::mem::take(&mut self.has_data).then_some(event));
        }
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                if self.event.data.len() + value.len() > LINE_MAX_BYTES {
                    return Err(BadStream::TooLong);
                }
                self.event.data.push_str(value);
            }
            // A comment has an empty field name; `id` and `retry` are for reconnecting browsers.
            _ => {}
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &str, data: &str) -> Event {
        Event {
            name: name.to_owned(),
            data: data.to_owned(),
        }
    }

    #[test]
    fn every_line_end_and_every_cut_gives_the_same_events() {
        let text = "\u{feff}: keep-alive\nevent: ping\ndata: {}\n\ndata: größe 🙂\ndata:second\n\
                    id: 4\nretry: 10\n\n\n:\n\nevent: empty\n\ndata\n\ndata: unfinished\n";
        let want = vec![
            event("ping", "{}"),
            event("", "größe 🙂\nsecond"),
            event("", ""),
        ];
        for end in ["\n", "\r\n", "\r"] {
            let bytes = text.replace('\n', end).into_bytes();
            for cut in 0..=bytes.len() {
                let mut reader = Reader::default();
                let mut events = reader.push(&bytes[..cut]).expect("a stream");
                events.extend(reader.push(&bytes[cut..]).expect("a stream"));
                assert_eq!(events, want, "{end:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn lines_and_events_have_a_bound() {
        let mut reader = Reader::default();
        let long = vec![b'x'; LINE_MAX_BYTES + 1];
        assert_eq!(reader.push(&long), Err(BadStream::TooLong));
        let mut reader = Reader::default();
        let line = format!("data: {}\n", "y".repeat(LINE_MAX_BYTES / 2));
        assert_eq!(reader.push(line.as_bytes()), Ok(Vec::new()));
        assert_eq!(reader.push(line.as_bytes()), Err(BadStream::TooLong));
    }

    #[test]
    fn a_line_that_is_no_text_is_refused() {
        assert_eq!(
            Reader::default().push(b"data: \xff\n"),
            Err(BadStream::NotText)
        );
    }
}
