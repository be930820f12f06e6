//! Reading the named files whole, when there is no commit log to go by.
//!
//! In: every named file. Out: their records, merged by group. Never: needed while a commit log
//! stands; never writes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use super::JournalSpec;
use super::complete::NamedPlan;
use super::error::OpenErrorKind;
use super::recovered::{Record, Recovered, Source, Standing, Torn, TornFate};
use super::survey::{LogPlan, Survey, aside_name, aside_numbers};
use crate::line::{self, LineFault, NO_GROUP, NamedLine};
use crate::named::file_name;
use crate::private::{Access, PrivateDir, PrivateError};

/// Surveys a journal without a commit log.
pub(super) fn of_named_files(
    dir: &PrivateDir,
    spec: &JournalSpec,
) -> Result<Survey, OpenErrorKind> {
    let mut merged = Merged::default();
    let mut plans = Vec::with_capacity(spec.logs.len());
    let mut torn = Vec::new();
    let mut aside = BTreeMap::new();
    for log in spec.logs {
        if let Some(number) = aside_numbers(dir, log)?.pop() {
            aside.insert((*log).to_owned(), number);
            // For its group numbers only: what was put aside is never open.
            let mut numbers = Merged::default();
            read_file(dir, &aside_name(log, number), None, spec, &mut |g, _, _| {
                numbers.note(g)
            })?;
            merged.last = merged.last.max(numbers.last);
        }
        let (keep, found) = merged.read(dir, log, None, spec)?;
        if keep < found {
            let file = dir.join(&file_name(log));
            torn.push(Torn {
                file,
                offset: keep,
                bytes: found - keep,
                fate: TornFate::Dropped,
            });
        }
        let plan = NamedPlan {
            keep,
            found,
            append: Vec::new(),
            torn: None,
        };
        plans.push(LogPlan {
            put_aside: None,
            plan,
        });
    }
    let recovered = Recovered {
        next_group: merged.last + 1,
        carry: None,
        records: merged.into_records(),
        torn,
        source: Source::NamedFiles,
    };
    let (segment, outdated, temporary, once) = (None, Vec::new(), Vec::new(), Vec::new());
    Ok(Survey {
        recovered,
        segment,
        outdated,
        temporary,
        plans,
        once,
        aside,
    })
}

/// Puts the records of the first `lengths` bytes of the named files before those of `recovered`.
pub(super) fn prepend(
    dir: &PrivateDir,
    spec: &JournalSpec,
    lengths: &BTreeMap<String, u64>,
    recovered: &mut Recovered,
) -> Result<(), OpenErrorKind> {
    let mut merged = Merged::default();
    for log in spec.logs {
        merged.read(
            dir,
            log,
            Some(lengths.get(*log).copied().unwrap_or(0)),
            spec,
        )?;
    }
    let mut records = merged.into_records();
    let is_bulk = |record: &Record| spec.bulk.contains(&record.log);
    records.extend(
        recovered
            .records
            .drain(..)
            .filter(|record| !is_bulk(record)),
    );
    recovered.records = records;
    recovered.source = Source::NamedFiles;
    Ok(())
}

/// Records of several files, and the highest group number among them.
#[derive(Debug, Default)]
struct Merged {
    records: Vec<Record>,
    last: u64,
}

impl Merged {
    fn note(&mut self, g: u64) {
        self.last = self.last.max(g);
    }

    /// Reads one file up to `limit`; returns the end of its last whole line, and its length.
    fn read(
        &mut self,
        dir: &PrivateDir,
        log: &'static str,
        limit: Option<u64>,
        spec: &JournalSpec,
    ) -> Result<(u64, u64), OpenErrorKind> {
        let is_bulk = spec.bulk.contains(&log);
        read_file(dir, &file_name(log), limit, spec, &mut |g, at, line| {
            self.note(g);
            if !is_bulk && g != NO_GROUP {
                let json = format!("{{{}", String::from_utf8_lossy(line::body_of(line)));
                let (at, standing) = (at.to_owned(), Standing::New);
                self.records.push(Record {
                    g,
                    at,
                    log,
                    standing,
                    json,
                });
            }
        })
    }

    /// By group; within a group in the order of the logs.
    fn into_records(mut self) -> Vec<Record> {
        self.records.sort_by_key(|record| record.g);
        self.records
    }
}

/// Hands every whole line of a file to `take`, with its group and its time.
fn read_file(
    dir: &PrivateDir,
    name: &str,
    limit: Option<u64>,
    spec: &JournalSpec,
    take: &mut dyn FnMut(u64, &str, &[u8]),
) -> Result<(u64, u64), OpenErrorKind> {
    let failed = |error: std::io::Error| PrivateError::new(dir.join(name), error);
    let Some(file) = dir.file_if_any(name, Access::Read)? else {
        return Ok((0, 0));
    };
    let length = file.metadata().map_err(failed)?.len();
    let length = limit.map_or(length, |limit| length.min(limit));
    let mut reader: BufReader<std::io::Take<File>> = BufReader::new(file.take(length));
    let (mut end, mut line) = (0, Vec::new());
    loop {
        line.clear();
        let taken = reader.read_until(b'\n', &mut line).map_err(failed)? as u64;
        let is_last = end + taken >= length;
        let Some(text) = line.strip_suffix(b"\n") else {
            // The end, or a line that was never finished.
            return Ok((end, length));
        };
        match line::decode::<NamedLine>(text, spec.reader_version) {
            Ok(NamedLine { g, at }) => take(g, &at, text),
            Err(LineFault::TooNew(found)) => {
                let (file, known) = (dir.join(name), spec.reader_version);
                return Err(OpenErrorKind::TooNew { file, found, known });
            }
            Err(LineFault::Bad) if is_last => return Ok((end, length)),
            Err(LineFault::Bad) => {
                return Err(OpenErrorKind::Damaged {
                    file: dir.join(name),
                    offset: end,
                });
            }
        }
        end += taken;
    }
}
