//! The body of an answer, unpacked and bounded.
//!
//! In: an answer and a limit. Out: at most so many bytes, and whether there were more. Never: more
//! than the limit in memory, whatever the packing says.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;
use hyper::header;

use crate::{
    WebRefusal,
    exchange::{Answer, Heard, NotOne},
};

/// Bytes of a body.
pub(crate) struct Body {
    /// After unpacking.
    pub(crate) bytes: Vec<u8>,
    /// Whether there was more.
    pub(crate) end: End,
}

/// How reading a body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With its last byte.
    Whole,
    /// At the limit.
    Cut,
}

/// Reads a body to its end or to `limit` bytes, packed or not, whichever comes first, and tells
/// `heard` of each piece.
///
/// # Errors
/// [`WebRefusal::ContentEncoding`] or [`WebRefusal::BadResponse`].
pub(crate) async fn read(
    answer: &mut Answer,
    limit: usize,
    heard: &Heard,
) -> Result<Body, WebRefusal> {
    let coding = match answer.header(header::CONTENT_ENCODING) {
        Ok(coding) => coding.unwrap_or("identity").trim(),
        Err(NotOne) => return Err(WebRefusal::ContentEncoding),
    };
    if ["gzip", "x-gzip"].map(|known| coding.eq_ignore_ascii_case(known)) != [false; 2] {
        read_into(answer, Gunzip::new(limit), limit, heard).await
    } else if coding.is_empty() || coding.eq_ignore_ascii_case("identity") {
        read_into(answer, Kept::new(limit), limit, heard).await
    } else {
        Err(WebRefusal::ContentEncoding)
    }
}

/// What takes the pieces of a body.
trait Take {
    /// Takes a piece. An error when it cannot be unpacked.
    fn take(&mut self, piece: &[u8]) -> io::Result<End>;
    /// How many bytes it has by now, unpacked.
    fn taken(&self) -> usize;
    /// Gives what it took, after the last piece.
    fn whole(self) -> io::Result<Body>;
    /// Gives what it took, where no more is wanted.
    fn cut(self) -> Body;
}

async fn read_into<T: Take>(
    answer: &mut Answer,
    mut into: T,
    limit: usize,
    heard: &Heard,
) -> Result<Body, WebRefusal> {
    let mut packed = 0_usize;
    while let Some(piece) = answer.piece().await? {
        packed = packed.saturating_add(piece.len());
        let taken = into.take(&piece);
        heard.body(into.taken());
        let taken = taken.map_err(|_| WebRefusal::BadResponse)?;
        // Packing may also make something out of nothing: what is on the wire counts as well.
        if taken == End::Cut || packed > limit {
            return Ok(into.cut());
        }
    }
    if packed == 0 {
        return Ok(Body {
            bytes: Vec::new(),
            end: End::Whole,
        });
    }
    let body = into.whole().map_err(|_| WebRefusal::BadResponse)?;
    heard.body(body.bytes.len());
    Ok(body)
}

/// Bytes as they come.
struct Kept {
    bytes: Vec<u8>,
    limit: usize,
    end: End,
}

impl Kept {
    const fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
            end: End::Whole,
        }
    }

    fn keep(&mut self, piece: &[u8]) -> End {
        let room = self.limit - self.bytes.len();
        self.bytes
            .extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            self.end = End::Cut;
        }
        self.end
    }
}

impl Take for Kept {
    fn take(&mut self, piece: &[u8]) -> io::Result<End> {
        Ok(self.keep(piece))
    }

    fn taken(&self) -> usize {
        self.bytes.len()
    }

    fn whole(self) -> io::Result<Body> {
        Ok(Body {
            bytes: self.bytes,
            end: self.end,
        })
    }

    fn cut(self) -> Body {
        Body {
            bytes: self.bytes,
            end: End::Cut,
        }
    }
}

/// Stops the unpacking at the limit: the decoder hands over a few KiB at a time.
impl Write for Kept {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        match self.keep(piece) {
            End::Whole => Ok(piece.len()),
            End::Cut => Err(io::ErrorKind::FileTooLarge.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One layer of gzip, of one member or several.
struct Gunzip(MultiGzDecoder<Kept>);

impl Gunzip {
    fn new(limit: usize) -> Self {
        Self(MultiGzDecoder::new(Kept::new(limit)))
    }
}

impl Take for Gunzip {
    fn take(&mut self, piece: &[u8]) -> io::Result<End> {
        match self.0.write_all(piece) {
            Ok(()) => Ok(End::Whole),
            Err(_) if self.0.get_ref().end == End::Cut => Ok(End::Cut),
            Err(error) => Err(error),
        }
    }

    fn taken(&self) -> usize {
        self.0.get_ref().bytes.len()
    }

    fn whole(mut self) -> io::Result<Body> {
        match self.0.try_finish() {
            Ok(()) => Ok(self.kept()),
            Err(_) if self.0.get_ref().end == End::Cut => Ok(self.kept()),
            Err(error) => Err(error),
        }
    }

    fn cut(mut self) -> Body {
        self.0.get_mut().end = End::Cut;
        self.kept()
    }
}

impl Gunzip {
    fn kept(&mut self) -> Body {
        let kept = self.0.get_mut();
        Body {
            bytes: std::mem::take(&mut kept.bytes),
            end: kept.end,
        }
    }
}

#[cfg(test)]
mod tests;
