//! Reading a named file from its beginning, however long it is.
//!
//! In: the name of a log. Out: the ids that it holds, or its lines one after another.
//! Never: holds more of the file than a piece in memory, waits for a writer, or takes an
//! unfinished last line for a line.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use memchr::memmem::Finder;

use crate::journal::{aside_name, aside_numbers};
use crate::named::file_name;
use crate::private::{Access, IfMissing, PrivateDir, PrivateError, PrivateErrorKind};

/// How much is read at a time, in bytes.
const PIECE_BYTES: usize = 1024 * 1024;

/// Longest line that is read, in bytes.
const LINE_MAX_BYTES: usize = 2 * crate::line::GROUP_MAX_BYTES;

/// Which files of a log are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The one that is written now.
    Present,
    /// Those that were put aside too, oldest first.
    WithPutAside,
}

/// The numbers under `key` in the lines of `log`, sorted, each once.
///
/// A number is a string of digits that fits 64 bits, `"<key>":"<digits>"`, the first in its line.
/// The file may be missing: then there are none. A last line without its line break is left out.
///
/// # Errors
/// What the system answers, and files that are not private.
pub fn ids(folder: &Path, log: &str, key: &str) -> Result<Vec<u64>, PrivateError> {
    let dir = PrivateDir::open(folder, IfMissing::Fail)?;
    ids_in(&dir, log, key)
}

pub(crate) fn ids_in(dir: &PrivateDir, log: &str, key: &str) -> Result<Vec<u64>, PrivateError> {
    let finder = Finder::new(format!("\"{key}\":\"").as_bytes()).into_owned();
    let mut ids = Vec::new();
    let name = file_name(log);
    let Some(file) = dir.file_if_any(&name, Access::Read)? else {
        return Ok(ids);
    };
    let mut pieces = Pieces::new(file);
    loop {
        let more = pieces
            .read()
            .map_err(|kind| PrivateError::new(dir.join(&name), kind))?;
        collect_ids(pieces.whole_lines(), &finder, &mut ids);
        pieces.forget_whole_lines();
        if more == More::No {
            break;
        }
    }
    if !ids.is_sorted() {
        ids.sort_unstable();
    }
    ids.dedup();
    Ok(ids)
}

/// Searches the bytes rather than the lines: most of a line is never looked at twice.
fn collect_ids(mut bytes: &[u8], finder: &Finder<'_>, ids: &mut Vec<u64>) {
    while let Some(found) = finder.find(bytes) {
        let rest = &bytes[found + finder.needle().len()..];
        let id = rest
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .try_fold((0_u64, 0_usize), |(id, digits), byte| {
                let id = id.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
                Some((id, digits + 1))
            });
        if let Some((id, digits)) = id
            && digits > 0
            && rest.get(digits) == Some(&b'"')
        {
            ids.push(id);
        }
        // Only the first of a line counts.
        let next = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        bytes = &rest[next..];
    }
}

/// The lines of a log, one after another.
#[derive(Debug)]
pub struct Lines {
    dir: PrivateDir,
    /// Files still to be read, the next one last.
    names: Vec<String>,
    present: Option<(String, Pieces)>,
    /// Start and end of the line handed out last, in the buffer of the present piece.
    at: usize,
}

/// A line of a named file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Where it begins in its file, in bytes.
    pub offset: u64,
    /// Its text without the line break.
    pub text: &'a [u8],
}

/// Begins to read the lines of `log`.
///
/// # Errors
/// A folder that is missing or not private.
pub fn lines(folder: &Path, log: &str, reach: Reach) -> Result<Lines, PrivateError> {
    let dir = PrivateDir::open(folder, IfMissing::Fail)?;
    let mut names = vec![file_name(log)];
    if reach == Reach::WithPutAside {
        let numbers = aside_numbers(&dir, log)?;
        names.extend(
            numbers
                .into_iter()
                .rev()
                .map(|number| aside_name(log, number)),
        );
    }
    Ok(Lines {
        dir,
        names,
        present: None,
        at: 0,
    })
}

impl Lines {
    /// The next whole line; `None` at the end. A missing file has no lines.
    ///
    /// # Errors
    /// What the system answers, files that are not private, and a line over the bound.
    #[expect(
        clippy::should_implement_trait,
        reason = "a line borrows from the reader"
    )]
    pub fn next(&mut self) -> Result<Option<Line<'_>>, PrivateError> {
        loop {
            if self.present.is_none() {
                let Some(name) = self.names.pop() else {
                    return Ok(None);
                };
                let Some(file) = self.dir.file_if_any(&name, Access::Read)? else {
                    continue;
                };
                self.present = Some((name, Pieces::new(file)));
                self.at = 0;
            }
            let Some((name, pieces)) = &mut self.present else {
                continue;
            };
            if let Some(length) = memchr::memchr(b'\n', &pieces.buffer[self.at..]) {
                let start = self.at;
                self.at = start + length + 1;
                // Looked up again because the borrow checker cannot follow a return in a loop.
                return Ok(self.present.as_ref().map(|(_, pieces)| Line {
                    offset: pieces.offset + start as u64,
                    text: &pieces.buffer[start..start + length],
                }));
            }
            pieces.forget(self.at);
            self.at = 0;
            let more = pieces
                .read()
                .map_err(|kind| PrivateError::new(self.dir.join(name), kind));
            if more? == More::No && memchr::memchr(b'\n', &pieces.buffer).is_none() {
                self.present = None;
            }
        }
    }
}

/// Whether a file may have more to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum More {
    Yes,
    No,
}

/// A file, piece by piece; a line that is cut by a piece stays for the next.
#[derive(Debug)]
struct Pieces {
    file: File,
    buffer: Vec<u8>,
    /// Where the buffer begins in the file, in bytes.
    offset: u64,
}

impl Pieces {
    fn new(file: File) -> Self {
        Self {
            file,
            buffer: Vec::with_capacity(PIECE_BYTES),
            offset: 0,
        }
    }

    fn read(&mut self) -> Result<More, PrivateErrorKind> {
        if self.buffer.len() > LINE_MAX_BYTES {
            let (bytes, max) = (self.buffer.len() as u64, LINE_MAX_BYTES as u64);
            return Err(PrivateErrorKind::TooLarge { bytes, max });
        }
        let read = (&mut self.file)
            .take(PIECE_BYTES as u64)
            .read_to_end(&mut self.buffer)?;
        Ok(if read == 0 { More::No } else { More::Yes })
    }

    fn whole_lines(&self) -> &[u8] {
        let end = memchr::memrchr(b'\n', &self.buffer).map_or(0, |last| last + 1);
        &self.buffer[..end]
    }

    fn forget_whole_lines(&mut self) {
        let whole = self.whole_lines().len();
        self.forget(whole);
    }

    fn forget(&mut self, bytes: usize) {
        self.buffer.drain(..bytes);
        self.offset += bytes as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_of_each_line_is_taken() {
        let cases: [(&str, &[u64]); 8] = [
            ("{\"row\":\"12\"}\n{\"row\":\"7\"}\n", &[12, 7]),
            ("{\"row\":\"12\",\"in\":{\"row\":\"9\"}}\n", &[12]),
            ("{\"row\":12}\n", &[]),
            ("{\"row\":\"\"}\n", &[]),
            ("{\"row\":\"1x\"}\n{\"row\":\"2\"}\n", &[2]),
            ("{\"text\":\"\\\"row\\\":\\\"5\\\"\"}\n", &[]),
            ("{\"row\":\"18446744073709551615\"}\n", &[u64::MAX]),
            ("{\"row\":\"18446744073709551616\"}\n", &[]),
        ];
        let finder = Finder::new(b"\"row\":\"");
        for (text, want) in cases {
            let mut ids = Vec::new();
            collect_ids(text.as_bytes(), &finder, &mut ids);
            assert_eq!(ids, want, "{text}");
        }
    }
}
