//! Messages and attached files, each within its bound.
//!
//! In: new messages and files. Out: what is still kept.
//! Never: more messages in a channel, or more bytes of files, than the rules allow.

use std::collections::{BTreeMap, VecDeque};

use crate::id::Id;
use crate::model::Message;
use crate::world::World;

impl World {
    pub(crate) fn message(&self, channel: Id, message: Id) -> Option<&Message> {
        self.messages.get(&channel)?.get(&message)
    }

    pub(crate) fn message_mut(&mut self, channel: Id, message: Id) -> Option<&mut Message> {
        self.messages.get_mut(&channel)?.get_mut(&message)
    }

    /// Keeps a message; the channel's oldest is forgotten when there are too many.
    pub(crate) fn store(&mut self, message: Message) {
        let cap = self.rules.messages_per_channel.max(1);
        let kept = self.messages.entry(message.channel).or_default();
        if let Some(channel) = self.channels.get_mut(&message.channel) {
            channel.last_message = channel.last_message.max(Some(message.id));
        }
        kept.insert(message.id, message);
        while kept.len() > cap {
            kept.pop_first();
        }
    }
}

/// One kept file.
#[derive(Clone, Debug)]
pub(crate) struct StoredFile {
    pub(crate) content_type: String,
    pub(crate) bytes: Vec<u8>,
}

/// The attached files by id.
#[derive(Debug)]
pub(crate) struct Files {
    cap_bytes: usize,
    used_bytes: usize,
    by_id: BTreeMap<Id, StoredFile>,
    order: VecDeque<Id>,
}

impl Files {
    pub(crate) fn new(cap_bytes: usize) -> Self {
        Self {
            cap_bytes,
            used_bytes: 0,
            by_id: BTreeMap::new(),
            order: VecDeque::new(),
        }
    }

    /// Keeps a file; the oldest ones are forgotten to make room.
    pub(crate) fn add(&mut self, id: Id, file: StoredFile) {
        self.used_bytes += file.bytes.len();
        self.by_id.insert(id, file);
        self.order.push_back(id);
        while self.used_bytes > self.cap_bytes {
            let Some(oldest) = self.order.pop_front() else {
                break;
            };
            if let Some(file) = self.by_id.remove(&oldest) {
                self.used_bytes -= file.bytes.len();
            }
        }
    }

    pub(crate) fn get(&self, id: Id) -> Option<&StoredFile> {
        self.by_id.get(&id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_file_makes_room_for_a_new_one() {
        let mut files = Files::new(10);
        let ids: Vec<Id> = ["1", "2", "3"]
            .iter()
            .map(|t| t.parse().expect("an id"))
            .collect();
        for id in &ids {
            let file = StoredFile {
                content_type: "text/plain".to_owned(),
                bytes: vec![0; 4],
            };
            files.add(*id, file);
        }
        assert!(files.get(ids[0]).is_none());
        assert!(files.get(ids[1]).is_some() && files.get(ids[2]).is_some());
    }
}
