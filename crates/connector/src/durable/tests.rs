//! Illegal orders are found, and a checkpoint says the same as the records before it.

use super::*;
use crate::record::{Settlement, UnknownWhy};
use guildhall_binding::ids::UserId;

fn row(id: u64) -> RowId {
    RowId::Message(MessageId::from_number(id).expect("not zero"))
}

fn channel(id: u64) -> ChannelId {
    ChannelId::from_number(id).expect("not zero")
}

fn nonce(part: u32) -> Nonce {
    Nonce::derive("hall", "7", "answer", part, 0)
}

fn queued(id: u64) -> Record {
    Record::Rows(RowRecord::Queued {
        row: row(id),
        route: Route::Seat,
        descriptor: Descriptor::Native,
        who: Who::User(UserId::from_number(10).expect("not zero")),
        place: Place {
            channel: channel(1),
            thread: None,
        },
        content: Content::Message(MessageId::from_number(id).expect("not zero")),
    })
}

fn claimed(id: u64) -> Record {
    Record::Rows(RowRecord::Claimed {
        row: row(id),
        epoch: 1,
    })
}

fn answered(id: u64) -> Record {
    let summary = RunSummary::default();
    Record::Rows(RowRecord::Answered {
        row: row(id),
        parts: 2,
        chars: 0,
        left_out: None,
        summary,
    })
}

fn settled(id: u64) -> Record {
    Record::Rows(RowRecord::Settled {
        row: row(id),
        how: Settlement::Done,
        why: None,
    })
}

fn intent(id: u64, part: u32) -> Record {
    Record::Outbox(OutboxRecord::Intent {
        nonce: nonce(part),
        owner: Owner::Row(row(id)),
        purpose: Purpose::Answer,
        part,
        of: 2,
        class: 0,
        place: channel(1),
        reply_to: None,
        line: None,
        since: Wall(5),
    })
}

fn unknown(part: u32) -> Record {
    Record::Outbox(OutboxRecord::Unknown {
        nonce: nonce(part),
        why: UnknownWhy::NoAnswer,
    })
}

fn refused(part: u32) -> Record {
    let why = RefusedWhy::Absent;
    Record::Outbox(OutboxRecord::Refused {
        nonce: nonce(part),
        why,
        code: None,
    })
}

fn fold(records: &[Record]) -> Result<Durable, IllegalRecord> {
    let mut durable = Durable::default();
    for record in records {
        durable.apply(record)?;
    }
    Ok(durable)
}

#[test]
fn an_order_that_no_process_writes_is_named() {
    let epoch = |epoch| Record::Rows(RowRecord::Started { epoch });
    let cases = [
        (
            vec![queued(7), queued(7)],
            IllegalRecord::QueuedTwice(row(7)),
        ),
        (vec![claimed(7)], IllegalRecord::Row(row(7), "claimed")),
        (
            vec![queued(7), claimed(7), claimed(7)],
            IllegalRecord::Row(row(7), "claimed"),
        ),
        (
            vec![queued(7), answered(7)],
            IllegalRecord::Row(row(7), "answered"),
        ),
        (
            vec![queued(7), settled(7), settled(7)],
            IllegalRecord::Row(row(7), "settled"),
        ),
        (
            vec![intent(7, 1), intent(7, 1)],
            IllegalRecord::IntendedTwice(nonce(1)),
        ),
        (vec![unknown(1)], IllegalRecord::NoIntent(nonce(1))),
        (
            vec![intent(7, 1), refused(1), unknown(1)],
            IllegalRecord::NoIntent(nonce(1)),
        ),
        (vec![epoch(2), epoch(2)], IllegalRecord::Epoch(2)),
    ];
    for (records, want) in cases {
        assert_eq!(fold(&records), Err(want));
    }
}

#[test]
fn a_checkpoint_says_the_same_as_the_records_before_it() {
    let records = [
        Record::Rows(RowRecord::Started { epoch: 1 }),
        Record::Rows(RowRecord::Served {
            channel: channel(1),
            since: Wall(3),
        }),
        queued(7),
        queued(8),
        queued(9),
        claimed(7),
        answered(7),
        intent(7, 1),
        unknown(1),
        intent(7, 2),
        settled(8),
    ];
    for end in 0..=records.len() {
        let durable = fold(&records[..end]).expect("a legal order");
        let again = Durable::of_checkpoint(durable.checkpoint()).expect("a legal checkpoint");
        assert_eq!(again, durable, "after {end} records");
        let text = serde_json::to_string(&durable.checkpoint().carry).expect("json");
        let carry = serde_json::from_str(&text).expect("a carry");
        assert_eq!(durable.checkpoint().carry, carry);
    }
}

#[test]
fn a_settled_row_takes_its_deliveries_with_it() {
    let records = [queued(7), claimed(7), answered(7), intent(7, 1), settled(7)];
    let durable = fold(&records).expect("a legal order");
    assert_eq!(durable, Durable::default());
}

#[test]
fn cursors_are_bounded_and_the_oldest_place_goes_first() {
    let mut durable = Durable::default();
    for id in 1..=(CURSORS_MAX_COUNT as u64 + 5) {
        let seen = InboxRecord::Seen {
            row: row(id),
            channel: Some(channel(id)),
        };
        durable.apply(&Record::Inbox(seen)).expect("legal");
    }
    assert_eq!(durable.cursors.len(), CURSORS_MAX_COUNT);
    assert!(!durable.cursors.contains_key(&channel(5)));
    assert!(durable.cursors.contains_key(&channel(6)));
}
