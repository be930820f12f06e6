//! A model of the disk: groups that are durable as a whole or not at all, and the spool beside.
//!
//! In: one group at a time, checkpoints, a crash in the middle. Out: the state that a start finds.
//! Never: half a group, or a group before the one that came first.

use crate::{mutation::Mutation, plan::Fate};
use guildhall_connector::{
    carry::{Carry, Checkpoint},
    durable::Durable,
    ids::{Nonce, RowId},
    outbound::Group,
    record::{InboxRecord, Record},
    seen::Seen,
};
use std::collections::BTreeMap;

/// One line of a log.
type Line = (&'static str, String);

/// The disk, whole.
#[derive(Debug)]
pub(crate) struct Disk {
    groups: Vec<Vec<Line>>,
    checkpoint: Option<Kept>,
    spool: BTreeMap<Nonce, (RowId, String)>,
    writing: Option<Group>,
    /// What every durable group adds up to, in whole records.
    shadow: Durable,
    mutation: Option<Mutation>,
}

/// A checkpoint as it stands on disk.
#[derive(Debug)]
struct Kept {
    header: String,
    restated: Vec<Line>,
    /// Groups that it stands for.
    groups: usize,
}

/// Why the disk's content is not what it must be.
pub(crate) type Fault = String;

impl Disk {
    pub(crate) fn new(mutation: Option<Mutation>) -> Self {
        Self {
            groups: Vec::new(),
            checkpoint: None,
            spool: BTreeMap::new(),
            writing: None,
            shadow: Durable::default(),
            mutation,
        }
    }

    pub(crate) const fn shadow(&self) -> &Durable {
        &self.shadow
    }

    pub(crate) fn begin(&mut self, group: Group) {
        self.writing = Some(group);
    }

    /// The group that was being written is durable; gives its records.
    pub(crate) fn synced(&mut self) -> Result<Vec<Record>, Fault> {
        let Some(group) = self.writing.take() else {
            return Ok(Vec::new());
        };
        self.keep_spool(&group);
        self.keep(group)
    }

    /// The process dies in the middle of a write; gives the records that are durable after all.
    pub(crate) fn crash(&mut self, fate: Fate) -> Result<Vec<Record>, Fault> {
        let Some(group) = self.writing.take() else {
            return Ok(Vec::new());
        };
        match fate {
            Fate::Lost => return Ok(Vec::new()),
            Fate::SpoolAlone => {
                self.keep_spool(&group);
                return Ok(Vec::new());
            }
            Fate::Durable => self.keep_spool(&group),
            Fate::GroupAlone => {}
        }
        self.keep(group)
    }

    fn keep_spool(&mut self, group: &Group) {
        let kept = group
            .spool
            .iter()
            .map(|entry| (entry.nonce, (entry.row, entry.text.clone())));
        self.spool.extend(kept);
    }

    fn keep(&mut self, group: Group) -> Result<Vec<Record>, Fault> {
        let mut lines = Vec::new();
        for record in &group.records {
            let fits = self.shadow.apply(record);
            match (self.mutation, fits) {
                (None, Err(why)) => return Err(format!("a durable record does not fit: {why}")),
                (None, Ok(())) => lines.push((record.log(), record.to_json())),
                (Some(mutation), _) if mutation.drops(record) => {}
                (Some(_), _) => lines.push((record.log(), record.to_json())),
            }
        }
        self.groups.push(lines);
        Ok(group.records)
    }

    pub(crate) fn forget(&mut self, row: RowId) {
        self.spool.retain(|_, (owner, _)| *owner != row);
    }

    /// Whether a row's parts stand in the spool.
    pub(crate) fn has_spooled(&self, row: RowId) -> bool {
        self.spool.values().any(|(owner, _)| *owner == row)
    }

    /// Parts of replies as a start reads them.
    pub(crate) fn spool(&self) -> BTreeMap<Nonce, String> {
        if self.mutation == Some(Mutation::SpoolLost) {
            return BTreeMap::new();
        }
        let texts = self.spool.iter();
        texts
            .map(|(nonce, (_, text))| (*nonce, text.clone()))
            .collect()
    }

    /// Makes a checkpoint of a state that every group is durable of.
    pub(crate) fn checkpoint(&mut self, durable: &Durable) {
        let Checkpoint { carry, restated } = durable.checkpoint();
        let lines = restated
            .iter()
            .map(|record| (record.log(), record.to_json()));
        self.checkpoint = Some(Kept {
            header: serde_json::to_string(&carry).expect("a header has text keys"),
            restated: lines.collect(),
            groups: self.groups.len(),
        });
    }

    /// The state that a start finds, by reading everything; and by the checkpoint, which must be
    /// the same.
    pub(crate) fn recover(&self) -> Result<Durable, Fault> {
        if self.mutation.is_some() {
            return Ok(self.recover_leniently());
        }
        let mut plain = Durable::default();
        for line in self.groups.iter().flatten() {
            apply(&mut plain, line)?;
        }
        if plain != self.shadow {
            return Err("the fold of the records on disk is not the durable state".to_owned());
        }
        if let Some(kept) = &self.checkpoint
            && self.by_checkpoint(kept)? != plain
        {
            return Err("the state by a checkpoint is not the fold of all records".to_owned());
        }
        Ok(plain)
    }

    fn by_checkpoint(&self, kept: &Kept) -> Result<Durable, Fault> {
        let carry: Carry = serde_json::from_str(&kept.header).map_err(|why| why.to_string())?;
        let restated: Result<Vec<_>, Fault> = kept.restated.iter().map(parse).collect();
        let restated = restated?;
        let mut durable = Durable::of_checkpoint(Checkpoint { carry, restated })
            .map_err(|why| format!("a checkpoint does not fit itself: {why}"))?;
        durable.set_seen(self.seen(kept.groups)?);
        for line in self.groups.iter().skip(kept.groups).flatten() {
            apply(&mut durable, line)?;
        }
        Ok(durable)
    }

    /// Every accepted message of the first groups, as the inbox file holds them.
    fn seen(&self, groups: usize) -> Result<Seen, Fault> {
        let mut ids = Vec::new();
        for line in self.groups.iter().take(groups).flatten() {
            if line.0 == "inbox"
                && let Record::Inbox(InboxRecord::Seen { row, .. }) = parse(line)?
                && let Some(id) = row.message()
            {
                ids.push(id.get());
            }
        }
        Ok(Seen::of_messages(ids))
    }

    /// Under a mutation, records that fit no longer are left out, so that what is wrong has to show
    /// from outside.
    fn recover_leniently(&self) -> Durable {
        let mut durable = Durable::default();
        for line in self.groups.iter().flatten() {
            if let Ok(record) = parse(line) {
                let _left_out = durable.apply(&record);
            }
        }
        if self.mutation == Some(Mutation::NothingSeen) {
            durable.set_seen(Seen::default());
        }
        durable
    }

    /// Every line on disk, for a search for what may not be there.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &Line> {
        self.groups.iter().flatten()
    }
}

fn parse((log, json): &Line) -> Result<Record, Fault> {
    Record::parse(log, json).map_err(|why| why.to_string())
}

fn apply(durable: &mut Durable, line: &Line) -> Result<(), Fault> {
    let record = parse(line)?;
    durable
        .apply(&record)
        .map_err(|why| format!("a record on disk does not fit: {why}"))
}
