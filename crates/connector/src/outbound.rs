//! The queue between decisions and the disk.
//!
//! In: steps, and the news that a group is durable. Out: one group at a time, and the commands that
//! may start. Never: a command of `after` before its group and every earlier one is on disk.
//! The driver and the fault machine run this same queue.

use crate::{
    record::Record,
    step::{Command, SpoolEntry, Step},
};
use std::collections::VecDeque;

/// Records of waiting steps that are written as one group, at most. A group is one line and one
/// sync, so under load many steps share the cost of one.
pub const GROUP_MAX_RECORDS: usize = 256;

/// One group to be made durable as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Group {
    /// Its records, in order.
    pub records: Vec<Record>,
    /// Parts of replies that must be durable with it.
    pub spool: Vec<SpoolEntry>,
}

/// Steps that wait for the disk.
#[derive(Debug, Default)]
pub struct Outbound {
    waiting: VecDeque<Waiting>,
    writing: Option<Vec<Command>>,
}

#[derive(Debug)]
struct Waiting {
    group: Group,
    after: Vec<Command>,
}

impl Outbound {
    /// Takes a step; gives what may start now.
    #[must_use]
    pub fn push(&mut self, step: Step) -> Vec<Command> {
        let Step {
            mut at_once,
            commit,
            spool,
            after,
        } = step;
        let durable = commit.is_empty() && spool.is_empty();
        match self.waiting.back_mut() {
            _ if durable && after.is_empty() => {}
            None if durable => match &mut self.writing {
                None => at_once.extend(after),
                Some(commands) => commands.extend(after),
            },
            Some(last) if durable => last.after.extend(after),
            Some(_) | None => {
                let group = Group {
                    records: commit,
                    spool,
                };
                self.waiting.push_back(Waiting { group, after });
            }
        }
        at_once
    }

    /// The next group to be written, when none is being written: as many waiting steps as fit.
    #[must_use]
    pub fn next_group(&mut self) -> Option<Group> {
        if self.writing.is_some() {
            return None;
        }
        let Waiting {
            mut group,
            mut after,
        } = self.waiting.pop_front()?;
        while let Some(next) = self.waiting.front() {
            if group.records.len() + next.group.records.len() > GROUP_MAX_RECORDS {
                break;
            }
            if let Some(next) = self.waiting.pop_front() {
                group.records.extend(next.group.records);
                group.spool.extend(next.group.spool);
                after.extend(next.after);
            }
        }
        self.writing = Some(after);
        Some(group)
    }

    /// The group that was being written is durable: what may start.
    #[must_use]
    pub fn durable(&mut self) -> Vec<Command> {
        self.writing.take().unwrap_or_default()
    }

    /// Whether nothing waits for the disk.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.writing.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{record::RowRecord, step::Exit};

    fn step(epoch: u64, after: Vec<Command>) -> Step {
        let commit = vec![Record::Rows(RowRecord::Started { epoch })];
        Step {
            commit,
            after,
            ..Step::default()
        }
    }

    fn exit() -> Vec<Command> {
        vec![Command::Exit(Exit::Drained)]
    }

    #[test]
    fn nothing_of_after_starts_before_every_earlier_group_is_durable() {
        let mut outbound = Outbound::default();
        assert_eq!(outbound.push(step(1, vec![Command::Connect])), []);
        assert!(outbound.next_group().is_some());
        assert_eq!(
            outbound.push(Step {
                after: exit(),
                ..Step::default()
            }),
            []
        );
        assert_eq!(outbound.push(step(2, Vec::new())), []);
        assert_eq!(outbound.next_group(), None, "one group at a time");
        assert_eq!(
            outbound.durable(),
            [Command::Connect, Command::Exit(Exit::Drained)]
        );
        assert!(outbound.next_group().is_some());
        assert_eq!(outbound.durable(), []);
        assert!(outbound.is_idle());
        assert_eq!(
            outbound.push(Step {
                after: exit(),
                ..Step::default()
            }),
            exit()
        );
    }

    #[test]
    fn waiting_steps_share_a_group_and_keep_their_order() {
        let mut outbound = Outbound::default();
        for epoch in 1..=300 {
            assert_eq!(outbound.push(step(epoch, Vec::new())), []);
        }
        let sizes: Vec<_> = std::iter::from_fn(|| {
            let group = outbound.next_group()?;
            assert_eq!(outbound.durable(), []);
            Some(group.records)
        })
        .collect();
        assert_eq!(sizes.iter().map(Vec::len).collect::<Vec<_>>(), [256, 44]);
        let want = (1..=300).map(|epoch| Record::Rows(RowRecord::Started { epoch }));
        assert_eq!(
            sizes.into_iter().flatten().collect::<Vec<_>>(),
            want.collect::<Vec<_>>()
        );
    }
}
