//! Reading a segment back after a crash.
//!
//! In: the bytes of a segment. Out: its header, its groups in order, and what the last, torn
//! line left. Never: skips a damaged line that has a line after it, or writes.

use crate::line::{self, GroupLine, Header, LineFault, Standing};

/// One record as it stands in the segment.
#[derive(Debug)]
pub(crate) struct SegmentRecord {
    pub(crate) g: u64,
    pub(crate) at: String,
    pub(crate) standing: Standing,
    pub(crate) log: String,
    pub(crate) json: String,
}

/// A segment that was read.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) header: Header,
    pub(crate) records: Vec<SegmentRecord>,
    /// Number of the group after the last one found.
    pub(crate) next: u64,
    /// End of the last whole line, in bytes.
    pub(crate) end: u64,
    /// End of the header and the restated lines, in bytes.
    pub(crate) base: u64,
    pub(crate) torn: Option<TornTail>,
}

/// What is left of a line whose sync never returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TornTail {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// Why a segment cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadFault {
    /// Nothing but a part of a header: it was never in use.
    NoHeader,
    /// A line was written by a newer version.
    TooNew { v: u64, offset: u64 },
    /// A line that cannot be read, or is out of order, though it is not the last one.
    Damaged { offset: u64 },
}

/// Decodes a segment.
pub(crate) fn read(bytes: &[u8], reader_version: u64) -> Result<Contents, ReadFault> {
    // The padding: a line never ends in a NUL.
    let used = used_length(bytes);
    let bytes = &bytes[..used];
    let mut lines = Lines { bytes, offset: 0 };
    let Some(first) = lines.next() else {
        return Err(ReadFault::NoHeader);
    };
    let header: Header = match line::decode(first.text, reader_version) {
        Ok(header) => header,
        Err(LineFault::TooNew(v)) => return Err(ReadFault::TooNew { v, offset: 0 }),
        Err(LineFault::Bad) if lines.is_at_end() => return Err(ReadFault::NoHeader),
        Err(LineFault::Bad) => return Err(ReadFault::Damaged { offset: 0 }),
    };
    if !first.is_whole {
        return Err(ReadFault::NoHeader);
    }
    let end = lines.offset;
    let next = header.next;
    let mut contents = Contents {
        header,
        records: Vec::new(),
        next,
        end,
        base: end,
        torn: None,
    };
    while let Some(found) = lines.next() {
        let offset = found.offset;
        let fault = match found.is_whole {
            true => take(found.text, reader_version, &mut contents),
            false => Err(LineFault::Bad),
        };
        match fault {
            Ok(standing) => {
                contents.end = lines.offset;
                if standing == Standing::Restated {
                    contents.base = lines.offset;
                }
            }
            Err(LineFault::TooNew(v)) => return Err(ReadFault::TooNew { v, offset }),
            Err(LineFault::Bad) if lines.is_at_end() => {
                contents.torn = Some(TornTail {
                    offset,
                    bytes: used as u64 - offset,
                });
            }
            Err(LineFault::Bad) => return Err(ReadFault::Damaged { offset }),
        }
    }
    Ok(contents)
}

/// Length without the padding, in bytes: a line never ends in a NUL.
pub(crate) fn used_length(bytes: &[u8]) -> usize {
    const BLANK: [u8; 4096] = [0; 4096];
    // Whole blank pieces first: a megabyte of padding is compared, not counted.
    let mut used = bytes;
    while let Some((rest, piece)) = used.split_last_chunk::<4096>()
        && *piece == BLANK
    {
        used = rest;
    }
    used.iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |last| last + 1)
}

/// Adds the records of one line to `contents` if it is the line that must come now.
fn take(text: &[u8], reader_version: u64, contents: &mut Contents) -> Result<Standing, LineFault> {
    let group: GroupLine = line::decode(text, reader_version)?;
    let (standing, records) = match (group.recs, group.restated) {
        (Some(records), None) if group.g == contents.next => (Standing::New, records),
        // Told again before the first group of the segment, and nowhere else.
        (None, Some(records)) if contents.next == contents.header.next => {
            (Standing::Restated, records)
        }
        _ => return Err(LineFault::Bad),
    };
    if standing == Standing::New {
        contents.next += 1;
    }
    for (log, json) in records {
        contents.records.push(SegmentRecord {
            g: group.g,
            at: group.at.clone().into_owned(),
            standing,
            log: log.to_owned(),
            json: json.get().to_owned(),
        });
    }
    Ok(standing)
}

struct Lines<'a> {
    bytes: &'a [u8],
    offset: u64,
}

struct FoundLine<'a> {
    text: &'a [u8],
    offset: u64,
    /// Whether its line break is there.
    is_whole: bool,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<FoundLine<'a>> {
        let start = usize::try_from(self.offset).ok()?;
        let rest = self.bytes.get(start..).filter(|rest| !rest.is_empty())?;
        let (text, taken) = match memchr::memchr(b'\n', rest) {
            Some(length) => (&rest[..length], length + 1),
            None => (rest, rest.len()),
        };
        let found = FoundLine {
            text,
            offset: self.offset,
            is_whole: taken > text.len(),
        };
        self.offset += taken as u64;
        Some(found)
    }

    fn is_at_end(&self) -> bool {
        self.offset == self.bytes.len() as u64
    }
}
