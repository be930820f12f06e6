//! Recovery: from the journal's files to the connector's durable state.
//!
//! In: what the journal and the spool held. Out: the state, and what the connector is told first.
//! Never: a guess over a record that does not fit.

use crate::exit::{ExitReason, Failure, chain};
use guildhall_binding::ids::MessageId;
use guildhall_connector::{carry::Carry, durable::Durable, ids::Nonce, record::Record, seen::Seen};
use guildhall_journal::{Journal, JournalSpec, Recovered, Source, Spooled, WriteOnce, scan};
use std::{
    collections::BTreeMap,
    io::{Read as _, Seek as _, SeekFrom},
    path::Path,
};

/// What the journal of a binding is made of.
pub(crate) const SPEC: JournalSpec = {
    // Without a commit log the files are merged by group, and within a group in this order. A row
    // takes its deliveries with it when it is settled, so the outbox comes before the rows.
    let mut spec = JournalSpec::new(&[
        "inbox",
        "admissions",
        "outbox",
        "rows",
        "drops",
        "notices",
        "reloads",
        "approvals",
        "calls",
    ]);
    spec.unsynced = &["drops"];
    spec.bulk = &["inbox"];
    spec.write_once = &[WriteOnce {
        log: "turns",
        id: "id",
    }];
    spec
};

/// Opens the journal of a binding and folds what it held.
pub(crate) fn open(folder: &Path, at: &str) -> Result<(Journal, Durable), Failure> {
    let opened = Journal::open(folder, at, SPEC);
    let (journal, recovered) = opened.map_err(|error| {
        Failure::failed(format!("cannot open the journal: {}", chain(&error)))
            .hint("nothing was changed; look at the file that is named before starting again")
    })?;
    for torn in &recovered.torn {
        let (file, bytes) = (torn.file.display(), torn.bytes);
        tracing::info!(%file, bytes, fate = ?torn.fate, "a crash had left a line unfinished");
    }
    let ids = journal
        .scan_ids("inbox", "row")
        .map_err(|error| Failure::failed(format!("cannot read the inbox: {}", chain(&error))))?;
    let durable = fold(recovered, ids)?;
    Ok((journal, durable))
}

/// Folds a journal without opening it, for views of a binding that may be running.
pub(crate) fn peek(folder: &Path) -> Result<Durable, Failure> {
    let recovered = Journal::peek(folder, SPEC)
        .map_err(|error| Failure::failed(format!("cannot read the journal: {}", chain(&error))))?;
    let ids = scan::ids(folder, "inbox", "row").unwrap_or_default();
    fold(recovered, ids)
}

fn fold(recovered: Recovered, ids: Vec<u64>) -> Result<Durable, Failure> {
    let carry = match (recovered.source, recovered.carry) {
        (Source::CommitLog, Some(carry)) => serde_json::from_value::<Carry>(carry)
            .map_err(|error| corrupt(format!("the checkpoint cannot be read: {error}")))?,
        (Source::CommitLog | Source::NamedFiles, _) => Carry::default(),
    };
    let mut durable = Durable::of_carry(carry);
    durable.set_seen(Seen::of_messages(ids));
    for line in recovered.records {
        if line.log == "turns" {
            continue;
        }
        let record = Record::parse(line.log, &line.json)
            .map_err(|error| corrupt(format!("group {}: {}", line.g, chain(&error))))?;
        durable
            .apply(&record)
            .map_err(|error| corrupt(format!("group {}: {error}", line.g)))?;
    }
    Ok(durable)
}

fn corrupt(what: String) -> Failure {
    Failure::new(
        ExitReason::Failed,
        format!("the journal does not fit together: {what}"),
    )
    .hint("nothing was changed; keep a copy of the folder before you touch it")
}

/// Parts of answers that stood in the spool.
#[derive(Default)]
pub(crate) struct OpenParts {
    /// Their texts, by nonce.
    pub(crate) texts: BTreeMap<Nonce, String>,
    /// Their lines, by row.
    pub(crate) lines: BTreeMap<String, Vec<String>>,
}

/// Picks the parts whose rows are still open.
pub(crate) fn open_parts(spooled: Spooled, durable: &Durable) -> OpenParts {
    #[derive(serde::Deserialize)]
    struct Line {
        row: String,
        nonce: Nonce,
        text: String,
    }
    let mut open = OpenParts::default();
    for entry in spooled.entries {
        let Ok(line) = serde_json::from_str::<Line>(&entry) else {
            continue;
        };
        let row = line.row.parse();
        if row.is_ok_and(|row| durable.is_open(row)) {
            open.texts.insert(line.nonce, line.text);
            open.lines.entry(line.row).or_default().push(entry);
        }
    }
    open
}

/// How much of the end of the drop log is looked at.
const DROPS_TAIL_BYTES: u64 = 64 * 1024;

/// Messages that lately left a drop line, so that a replay does not leave a second one.
pub(crate) fn lately_dropped(folder: &Path) -> Vec<MessageId> {
    #[derive(serde::Deserialize)]
    struct Line {
        message: MessageId,
    }
    let tail = || -> std::io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(folder.join("drops.jsonl"))?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(DROPS_TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(DROPS_TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = tail().unwrap_or_default();
    let lines = bytes.split(|byte| *byte == b'\n');
    lines
        .filter_map(|line| serde_json::from_slice::<Line>(line).ok())
        .map(|l| l.message)
        .collect()
}
