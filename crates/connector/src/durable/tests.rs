//! Illegal orders are found, and a checkpoint says the same as the records before it.

use super::*;
use crate::record::{Purpose, RefusedWhy};
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

/// Records of one ask and its call, in an order that is legal.
fn asked() -> Vec<Record> {
    use crate::record::{ApprovalRecord, CallRecord, Decider, DoneBy, Via};
    use guildhall_authority::{ask::Answer, scope::TurnKey};
    let ask = AskId::derive(&TurnKey::new("7"), 0);
    let (turn, call) = (row(7), 0);
    let opened = ApprovalRecord::Opened {
        ask,
        turn,
        call,
        tool: "create".into(),
        class: "workspace".into(),
        digest: "00".into(),
        place: channel(1),
        until: Wall(300_000),
        since: Wall(0),
    };
    let message = MessageId::from_number(9).expect("not zero");
    let (by, via, answer) = (Decider::Terminal, Via::Terminal, Answer::Once);
    let begun = CallRecord::Begun {
        turn,
        call,
        tool: "create".into(),
        root: None,
        target: "a.md".into(),
        digest: "00".into(),
        after: None,
        ask: Some(ask),
    };
    let by_host = DoneBy::Host;
    vec![
        Record::Approvals(opened),
        Record::Approvals(ApprovalRecord::Posted { ask, message }),
        Record::Approvals(ApprovalRecord::Decided {
            ask,
            by,
            via,
            answer,
        }),
        Record::Calls(begun),
        Record::Calls(CallRecord::Done {
            turn,
            call,
            by: by_host,
        }),
        Record::Approvals(ApprovalRecord::Closed { ask }),
    ]
}

#[test]
fn an_ask_and_its_call_are_kept_until_both_are_over_and_no_step_comes_twice() {
    let records = asked();
    for end in 0..=records.len() {
        let before = &records[..end];
        let mut durable = Durable::default();
        for record in before {
            durable.apply(record).expect("a legal order");
        }
        let restated = Durable::of_checkpoint(durable.checkpoint());
        assert_eq!(restated.as_ref(), Ok(&durable), "after {end}");
        // That a card is posted may be said twice, of the same message.
        if let Some(last) = before.last()
            && end != 2
        {
            let kept = durable.clone();
            assert!(durable.apply(last).is_err(), "{last:?} twice");
            assert_eq!(durable, kept);
        }
        let is_over = end == records.len();
        assert_eq!(
            durable.checkpoint().restated.is_empty(),
            is_over || end == 0
        );
    }
}

#[test]
fn an_effect_that_was_allowed_and_then_refused_keeps_why_until_its_ask_is_closed() {
    use crate::record::ApprovalRecord;
    let [opened, posted, decided, _, _, closed] = asked().try_into().expect("six records");
    let ask = AskId::derive(&guildhall_authority::scope::TurnKey::new("7"), 0);
    let why = "root-readonly".to_owned();
    let refused = Record::Approvals(ApprovalRecord::Refused { ask, why });
    let mut durable = Durable::default();
    for record in [&opened, &posted] {
        durable.apply(record).expect("a legal order");
    }
    assert!(durable.apply(&refused).is_err(), "nobody allowed it");
    durable.apply(&decided).expect("decided");
    durable.apply(&refused).expect("refused");
    assert!(durable.apply(&refused).is_err(), "twice");
    let restated = Durable::of_checkpoint(durable.checkpoint());
    assert_eq!(restated.as_ref(), Ok(&durable));
    durable.apply(&closed).expect("closed");
    assert!(durable.checkpoint().restated.is_empty());
}

#[test]
fn an_ask_that_was_not_opened_and_a_call_that_had_not_begun_go_nowhere() {
    let [_, posted, decided, _, done, closed] = asked().try_into().expect("six records");
    for record in [posted, decided, done, closed] {
        let mut durable = Durable::default();
        assert!(durable.apply(&record).is_err(), "{record:?}");
        assert_eq!(durable, Durable::default());
    }
    let mut open = Durable::default();
    let [opened, .., closed] = asked()
        .try_into()
        .map(|all: [Record; 6]| all)
        .expect("six records");
    open.apply(&opened).expect("opened");
    assert!(open.apply(&closed).is_err(), "an open ask is not closed");
}

#[test]
fn calls_and_asks_of_one_group_may_stand_in_the_order_of_their_files() {
    // Without a commit log the files are merged group by group: rows, then asks, then calls.
    let [opened, posted, decided, begun, done, closed] = asked().try_into().expect("six records");
    let mut by_time = Durable::default();
    let mut by_file = Durable::default();
    for record in [&opened, &posted, &decided, &begun, &done, &closed] {
        by_time.apply(record).expect("as it happened");
    }
    for record in [&opened, &posted, &decided, &closed, &begun, &done] {
        by_file.apply(record).expect("as the files stand");
    }
    assert_eq!(by_time, by_file);
}
