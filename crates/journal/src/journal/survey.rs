//! What a journal's folder holds, read and checked before anything is written.
//!
//! In: the commit log and the named files. Out: the records, and what has to be done to each file.
//! Never: writes, or takes a log that it does not know for one that it does.

use std::collections::BTreeMap;

use super::complete::{self, Mixture, NamedPlan};
use super::error::OpenErrorKind;
use super::recovered::{Record, Recovered, Source, Standing, Torn, TornFate};
use super::whole;
use super::write_once::{self, OnceFile};
use super::{COMMITS_FOLDER, JournalSpec};
use crate::line::{self, Folded};
use crate::private::{PrivateDir, PrivateError};
use crate::segment::{self, Contents, ReadFault};

/// Longest segment that is read, in bytes.
const SEGMENT_READ_MAX_BYTES: u64 = 512 * 1024 * 1024;

/// How often a peek tries again when the writer changes the segment under it.
const PEEK_ATTEMPTS_COUNT: usize = 5;

/// Everything that opening needs to know.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) recovered: Recovered,
    /// The segment to go on with.
    pub(super) segment: Option<(String, Contents)>,
    /// Segments that a newer one has taken the place of, or that never were in use.
    pub(super) outdated: Vec<String>,
    /// Segments that were not published.
    pub(super) temporary: Vec<String>,
    /// One for each log, in the order of the specification.
    pub(super) plans: Vec<LogPlan>,
    /// Write-once files of the live segment.
    pub(super) once: Vec<OnceFile>,
    pub(super) aside: BTreeMap<String, u64>,
}

/// What has to be done to one named file.
#[derive(Debug)]
pub(super) struct LogPlan {
    /// Number under which the present file has to be put aside first.
    pub(super) put_aside: Option<u64>,
    pub(super) plan: NamedPlan,
}

/// Reads the folder.
pub(super) fn survey(
    dir: &PrivateDir,
    commits: Option<&PrivateDir>,
    spec: &JournalSpec,
) -> Result<Survey, OpenErrorKind> {
    let found = match commits {
        Some(commits) => find_segment(commits, spec)?,
        None => FoundSegments::default(),
    };
    let FoundSegments {
        live,
        outdated,
        temporary,
        mut torn,
    } = found;
    let mut survey = match live {
        Some((name, contents)) => of_segment(dir, spec, name, contents, &mut torn)?,
        None => whole::of_named_files(dir, spec)?,
    };
    torn.append(&mut survey.recovered.torn);
    survey.recovered.torn = torn;
    survey.outdated = outdated;
    survey.temporary = temporary;
    Ok(survey)
}

/// Reads what stands in a folder that somebody may be writing to.
pub(super) fn peek(
    dir: &PrivateDir,
    commits: Option<&PrivateDir>,
    spec: &JournalSpec,
) -> Result<Recovered, OpenErrorKind> {
    let mut attempt = 1;
    loop {
        let found = match commits {
            Some(commits) => find_segment(commits, spec),
            None => Ok(FoundSegments::default()),
        };
        // A checkpoint removes the segment under us, or a group is written while we read past it.
        let may_pass = match &found {
            Err(OpenErrorKind::Private(error)) => error.is_missing(),
            Err(OpenErrorKind::Damaged { .. }) => true,
            _ => false,
        };
        if may_pass && attempt < PEEK_ATTEMPTS_COUNT {
            attempt += 1;
            continue;
        }
        let FoundSegments { live, mut torn, .. } = found?;
        let Some((name, mut contents)) = live else {
            return Ok(whole::of_named_files(dir, spec)?.recovered);
        };
        note_torn(dir, &name, &contents, &mut torn);
        let mut recovered = recovered_of(spec, &mut contents)?;
        if contents.header.folded == Folded::No {
            whole::prepend(dir, spec, &contents.header.lengths, &mut recovered)?;
        }
        recovered.torn = torn;
        return Ok(recovered);
    }
}

#[derive(Debug, Default)]
struct FoundSegments {
    live: Option<(String, Contents)>,
    outdated: Vec<String>,
    temporary: Vec<String>,
    torn: Vec<Torn>,
}

/// Finds the newest segment that was ever in use.
fn find_segment(commits: &PrivateDir, spec: &JournalSpec) -> Result<FoundSegments, OpenErrorKind> {
    let mut found = FoundSegments::default();
    let mut firsts = Vec::new();
    for name in commits.names()? {
        if let Some(first) = segment::first_of(&name) {
            firsts.push(first);
        } else if name
            .strip_suffix(".tmp")
            .is_some_and(|name| segment::first_of(name).is_some())
        {
            found.temporary.push(name);
        }
    }
    firsts.sort_unstable_by(|a, b| b.cmp(a));
    for first in firsts {
        let name = segment::name_of(first);
        if found.live.is_some() {
            found.outdated.push(name);
            continue;
        }
        let bytes = commits.read(&name, SEGMENT_READ_MAX_BYTES)?;
        let file = commits.join(&name);
        match segment::read(&bytes, spec.reader_version) {
            Ok(contents) if contents.header.next == first => found.live = Some((name, contents)),
            Ok(_) => return Err(OpenErrorKind::Damaged { file, offset: 0 }),
            Err(ReadFault::NoHeader) => {
                let bytes = segment::used_length(&bytes);
                let (bytes, fate) = (bytes as u64, TornFate::Dropped);
                found.torn.push(Torn {
                    file,
                    offset: 0,
                    bytes,
                    fate,
                });
                found.outdated.push(name);
            }
            Err(ReadFault::TooNew { v, .. }) => {
                let known = spec.reader_version;
                return Err(OpenErrorKind::TooNew {
                    file,
                    found: v,
                    known,
                });
            }
            Err(ReadFault::Damaged { offset }) => {
                return Err(OpenErrorKind::Damaged { file, offset });
            }
        }
    }
    Ok(found)
}

fn note_torn(dir: &PrivateDir, name: &str, contents: &Contents, torn: &mut Vec<Torn>) {
    if let Some(tail) = contents.torn {
        let file = dir.join(COMMITS_FOLDER).join(name);
        let (offset, bytes, fate) = (tail.offset, tail.bytes, TornFate::Dropped);
        torn.push(Torn {
            file,
            offset,
            bytes,
            fate,
        });
    }
}

fn of_segment(
    dir: &PrivateDir,
    spec: &JournalSpec,
    name: String,
    mut contents: Contents,
    torn: &mut Vec<Torn>,
) -> Result<Survey, OpenErrorKind> {
    note_torn(dir, &name, &contents, torn);
    let mut recovered = recovered_of(spec, &mut contents)?;
    let mut expected = vec![Vec::new(); spec.logs.len()];
    let mut once = Vec::new();
    for record in recovered
        .records
        .iter()
        .filter(|record| record.standing == Standing::New)
    {
        let line = line::named_line(record.g, &record.at, &record.json);
        match spec.logs.iter().position(|log| *log == record.log) {
            Some(index) => expected[index].extend_from_slice(line.as_bytes()),
            None => {
                let file = write_once::once_file(spec.write_once, record.log, &record.json, line);
                once.push(file.map_err(|_| OpenErrorKind::UnknownLog(record.log.to_owned()))?);
            }
        }
    }
    let header = &contents.header;
    let mut plans = Vec::with_capacity(spec.logs.len());
    for (log, expected) in spec.logs.iter().zip(expected) {
        let synced = header.lengths.get(*log).copied().unwrap_or(0);
        let put_aside = put_aside(dir, log, header.aside.get(*log).copied(), synced)?;
        let plan = match put_aside {
            // The name will be free once the present file is out of the way.
            Some(_) => NamedPlan {
                keep: 0,
                found: 0,
                append: expected,
                torn: None,
            },
            None => complete::plan(dir, log, synced, expected, mixture(spec, log))?,
        };
        torn.extend(plan.torn.clone());
        plans.push(LogPlan { put_aside, plan });
    }
    if contents.header.folded == Folded::No {
        whole::prepend(dir, spec, &contents.header.lengths, &mut recovered)?;
    }
    let aside = contents.header.aside.clone();
    let (outdated, temporary) = (Vec::new(), Vec::new());
    let segment = Some((name, contents));
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

pub(super) fn mixture(spec: &JournalSpec, log: &str) -> Mixture {
    if spec.unsynced.contains(&log) {
        Mixture::WithUnsynced
    } else {
        Mixture::GroupsOnly
    }
}

/// The number under which the file of `log` still has to be put aside: the checkpoint announced
/// it, and the crash came before the rename.
fn put_aside(
    dir: &PrivateDir,
    log: &str,
    announced: Option<u64>,
    synced: u64,
) -> Result<Option<u64>, OpenErrorKind> {
    let Some(number) = announced.filter(|_| synced == 0) else {
        return Ok(None);
    };
    let is_done = dir.stat(&aside_name(log, number))?.is_some();
    let is_there = dir.stat(&crate::named::file_name(log))?.is_some();
    Ok((!is_done && is_there).then_some(number))
}

/// Name of the `number`th file of `log` that was put aside.
pub(crate) fn aside_name(log: &str, number: u64) -> String {
    format!("{log}.{number}.jsonl")
}

/// The numbers of the files of `log` that were put aside, oldest first.
pub(crate) fn aside_numbers(dir: &PrivateDir, log: &str) -> Result<Vec<u64>, PrivateError> {
    let number = |name: String| {
        let number: u64 = name
            .strip_prefix(log)?
            .strip_prefix('.')?
            .strip_suffix(".jsonl")?
            .parse()
            .ok()?;
        (aside_name(log, number) == name).then_some(number)
    };
    let mut numbers: Vec<_> = dir.names()?.into_iter().filter_map(number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

fn recovered_of(spec: &JournalSpec, contents: &mut Contents) -> Result<Recovered, OpenErrorKind> {
    let mut records = Vec::with_capacity(contents.records.len());
    for record in std::mem::take(&mut contents.records) {
        let once = spec.write_once.iter().map(|once| once.log);
        let known = spec
            .logs
            .iter()
            .copied()
            .chain(once)
            .find(|log| *log == record.log);
        let Some(log) = known else {
            return Err(OpenErrorKind::UnknownLog(record.log));
        };
        let segment::SegmentRecord {
            g,
            at,
            standing,
            json,
            ..
        } = record;
        records.push(Record {
            g,
            at,
            log,
            standing,
            json,
        });
    }
    Ok(Recovered {
        next_group: contents.next,
        carry: contents.header.carry.take(),
        records,
        torn: Vec::new(),
        source: Source::CommitLog,
    })
}
