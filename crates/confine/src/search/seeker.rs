//! One file after the other.
//!
//! In: the names of a walk. Out: the hits, with what was left out.
//! Never: looks at a file's credential shapes before it has a hit, which would cost more than the
//! search; shows a hit before it has looked, and looked again at whose file it is.

use std::{borrow::Cow, str};

use grep_matcher::LineTerminator;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    io::Errno,
};

use super::{
    Found, Hit, Query, SearchBounds,
    ignores::{self, Ignores, Seen},
    pattern::{self, Files},
};
use crate::{
    Refusal, path, read,
    resolve::{self, Start},
    shapes,
    system::{self, Facts, Kind},
    tree::{Cut, Met, Name, Next, Visitor},
};

/// What a name that is itself a credential is called.
const NAMELESS: &str = "(a name that is withheld)";

/// A search under way.
pub(super) struct Seeker<'s> {
    matcher: RegexMatcher,
    searcher: Searcher,
    files: Option<Files>,
    bounds: &'s SearchBounds,
    start: Start<'s>,
    ignores: Ignores,
    /// One file and one byte, used again for each.
    buffer: Vec<u8>,
    output: usize,
    found: Found,
}

impl<'s> Seeker<'s> {
    pub(super) fn new(
        query: &Query<'_>,
        bounds: &'s SearchBounds,
        start: Start<'s>,
    ) -> Result<Self, Refusal> {
        let searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::none())
            .bom_sniffing(false)
            .line_number(true)
            .line_terminator(LineTerminator::crlf())
            .build();
        Ok(Self {
            matcher: pattern::matcher(query.pattern)?,
            searcher,
            files: query.glob.map(Files::parse).transpose()?,
            bounds,
            start,
            ignores: Ignores::default(),
            buffer: vec![0; bounds.file.get() + 1],
            output: 0,
            found: Found::default(),
        })
    }

    /// Takes the rules of the next folder above the walk, the root first.
    pub(super) fn take_rules_above(&mut self, folder: &OwnedFd, base: usize) {
        self.ignores.push(&self.start, folder, base, Seen::Perhaps);
    }

    /// The result, with what cut the walk short.
    pub(super) fn found(&mut self, cut: Option<Cut>) -> Found {
        let mut found = std::mem::take(&mut self.found);
        found.cut = cut;
        found
    }

    /// A file that may be searched, its content in the buffer.
    fn read(&mut self, met: &Met<'_>) -> Option<InBuffer> {
        let skipped = &mut self.found.skipped;
        let file = match system::step(met.folder, met.name, system::READ) {
            Ok(file) => file,
            Err(errno) => {
                // It was a file in the listing, and is a link or gone now.
                if errno == Errno::LOOP {
                    skipped.links += 1;
                } else if errno != Errno::NOENT {
                    skipped.unreadable += 1;
                }
                return None;
            }
        };
        let Ok(facts) = system::facts(file.as_fd()) else {
            skipped.unreadable += 1;
            return None;
        };
        let limit = self.bounds.file.get();
        let count = if facts.kind != Kind::File {
            &mut skipped.special
        } else if resolve::refuse_other_mount(self.start.facts, &facts).is_err() {
            &mut skipped.mounts
        } else if facts.links != 1 {
            &mut skipped.hard_links
        } else if usize::try_from(facts.size).map_or(true, |size| size > limit) {
            &mut skipped.large
        } else {
            // One more than it says it holds: a file that grew is read on, up to the limit.
            let said = usize::try_from(facts.size).map_or(limit, |size| size.min(limit)) + 1;
            let length = self.fill(&file, said)?;
            return Some(InBuffer {
                file,
                facts,
                length,
            });
        };
        *count += 1;
        None
    }

    fn fill(&mut self, file: &OwnedFd, said: usize) -> Option<usize> {
        let skipped = &mut self.found.skipped;
        let limit = self.bounds.file.get();
        let mut length = match system::read_once(file.as_fd(), &mut self.buffer[..said]) {
            Ok(length) => length,
            Err(_) => {
                skipped.unreadable += 1;
                return None;
            }
        };
        // Fewer bytes than asked for are the end of a regular file.
        if length == said {
            match system::read_up_to(file.as_fd(), &mut self.buffer[length..]) {
                Ok(more) => length += more,
                Err(_) => {
                    skipped.unreadable += 1;
                    return None;
                }
            }
        }
        if length > limit {
            skipped.large += 1;
            return None;
        }
        if read::is_binary(&self.buffer[..length]) {
            skipped.binary += 1;
            return None;
        }
        Some(length)
    }

    /// Searches what is in the buffer.
    fn seek(&mut self, read: &InBuffer, folder: BorrowedFd<'_>, path: &str) -> Next {
        let bytes = &self.buffer[..read.length];
        let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let mut lines = Lines {
            matcher: &self.matcher,
            left: self.bounds.hits.saturating_sub(self.found.hits.len()),
            chars: self.bounds.line_chars,
            found: Vec::new(),
        };
        if self
            .searcher
            .search_slice(&self.matcher, text, &mut lines)
            .is_err()
        {
            self.found.skipped.unreadable += 1;
            return Next::On;
        }
        let (lines, left) = (lines.found, lines.left);
        if lines.is_empty() {
            return Next::On;
        }
        if str::from_utf8(bytes).is_err() {
            self.found.skipped.not_utf8 += 1;
            return Next::On;
        }
        let again = || self.start.inode(path.as_bytes());
        if read::still_one(&read.file, &read.facts, folder, again).is_err() {
            self.found.skipped.changed += 1;
            return Next::On;
        }
        let named = shapes::credential_in(path.as_bytes()).is_none();
        if !named || shapes::credential_in(bytes).is_some() {
            let name = if named { path } else { NAMELESS };
            return self.withhold(name);
        }
        for (line, text) in lines {
            self.output += path.len() + text.len();
            if self.output > self.bounds.output_bytes {
                return Next::Stop(Cut::Hits);
            }
            let path = path.to_owned();
            self.found.hits.push(Hit { path, line, text });
        }
        if left == 0 {
            Next::Stop(Cut::Hits)
        } else {
            Next::On
        }
    }

    fn withhold(&mut self, name: &str) -> Next {
        self.output += name.len();
        if self.output > self.bounds.output_bytes {
            return Next::Stop(Cut::Hits);
        }
        self.found.withheld.push(name.to_owned());
        Next::On
    }
}

impl Visitor for Seeker<'_> {
    fn enter(&mut self, folder: &OwnedFd, path: &[u8], names: &[Name]) {
        let listed = names.iter().any(|name| ignores::is_rules(&name.name));
        let seen = if listed { Seen::Perhaps } else { Seen::None };
        self.ignores.push(&self.start, folder, path.len(), seen);
    }

    fn leave(&mut self) {
        self.ignores.pop();
    }

    fn takes(&mut self, name: &[u8], path: &[u8], kind: Kind) -> bool {
        if name.starts_with(b".") {
            return false;
        }
        match kind {
            Kind::Link => self.found.skipped.links += 1,
            Kind::Special => self.found.skipped.special += 1,
            Kind::File | Kind::Folder => {}
        }
        if matches!(kind, Kind::Link | Kind::Special) {
            return false;
        }
        let texts = (str::from_utf8(name), str::from_utf8(path));
        let (Ok(text), Ok(path)) = texts else {
            self.found.skipped.names += 1;
            return false;
        };
        let files = self.files.as_ref();
        if files.is_some_and(|files| !files.takes(text, path, kind)) {
            return false;
        }
        if !path::is_openable(name) {
            self.found.skipped.names += 1;
            return false;
        }
        if self.ignores.leaves_out(path, kind) {
            self.found.skipped.ignored += 1;
            return false;
        }
        true
    }

    fn file(&mut self, met: &Met<'_>) -> Next {
        let Some(read) = self.read(met) else {
            return Next::On;
        };
        self.found.files += 1;
        self.found.bytes += u64::try_from(read.length).unwrap_or(u64::MAX);
        // Names were held against the rules of paths, which are text.
        let path: Cow<'_, str> = String::from_utf8_lossy(met.path);
        match self.seek(&read, met.folder, &path) {
            Next::On if self.found.bytes > self.bounds.read_bytes => Next::Stop(Cut::Bytes),
            next @ (Next::On | Next::Stop(_)) => next,
        }
    }

    fn closed(&mut self, refusal: Refusal) {
        let skipped = &mut self.found.skipped;
        if refusal == Refusal::MountBoundary {
            skipped.mounts += 1;
        } else if matches!(refusal, Refusal::NotDirectory | Refusal::Symlink) {
            // It was a folder in the listing, and is none now.
            skipped.links += 1;
        } else {
            skipped.unreadable += 1;
        }
    }
}

/// A file whose content is in the buffer.
struct InBuffer {
    file: OwnedFd,
    facts: Facts,
    length: usize,
}

/// The matching lines of one file, as far as there is room for them.
struct Lines<'m> {
    matcher: &'m RegexMatcher,
    left: usize,
    chars: usize,
    found: Vec<(u64, String)>,
}

impl Sink for Lines<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        let line = strip_end(found.bytes());
        let text = shown(line, self.matcher, self.chars);
        self.found.push((found.line_number().unwrap_or(0), text));
        Ok(self.left > 0)
    }
}

fn strip_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A line, or a part of it that begins a little before the first match.
fn shown(line: &[u8], matcher: &RegexMatcher, chars: usize) -> String {
    use grep_matcher::Matcher;
    let text = String::from_utf8_lossy(line);
    if text.chars().nth(chars).is_none() {
        return text.into_owned();
    }
    let at = matcher
        .find(line)
        .ok()
        .flatten()
        .map_or(0, |found| found.start());
    let before = text
        .char_indices()
        .take_while(|(start, _)| *start < at)
        .count();
    let part: String = text
        .chars()
        .skip(before.saturating_sub(chars / 4))
        .take(chars)
        .collect();
    format!("{part}…")
}
