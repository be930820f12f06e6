//! Every kind of record survives the way through its line.

use super::*;
use crate::{ids::Nonce, line::Line, moment::Wall};
use guildhall_authority::{
    ask::{Answer, AskId},
    place::Place,
    scope::TurnKey,
};
use guildhall_binding::ids::MessageId;

fn message(id: u64) -> MessageId {
    MessageId::from_number(id).expect("not zero")
}

fn channel(id: u64) -> ChannelId {
    ChannelId::from_number(id).expect("not zero")
}

/// One of each kind of asks.
fn asks() -> Vec<Record> {
    let turn = RowId::Message(message(7));
    let ask = AskId::derive(&TurnKey::new("7"), 3);
    let call = 3;
    let opened = ApprovalRecord::Opened {
        ask,
        turn,
        call,
        tool: "create".into(),
        class: "workspace".into(),
        digest: "00".into(),
        place: channel(2),
        until: Wall(1_796_047_445_123),
        since: Wall(1_796_047_145_123),
    };
    let olga = Decider::User(UserId::from_number(10).expect("not zero"));
    let deciders = [
        (olga, Via::Button, Answer::Once),
        (olga, Via::Reply, Answer::Denied),
        (Decider::Terminal, Via::Terminal, Answer::Once),
        (Decider::Deadline, Via::Deadline, Answer::TimedOut),
        (Decider::Stop, Via::Stop, Answer::Stopped),
    ];
    let decided = deciders.map(|(by, via, answer)| ApprovalRecord::Decided {
        ask,
        by,
        via,
        answer,
    });
    let rest = [
        opened,
        ApprovalRecord::Posted {
            ask,
            message: message(9),
        },
        ApprovalRecord::Expired { ask },
        ApprovalRecord::Undelivered { ask },
        ApprovalRecord::Withdrawn { ask },
        ApprovalRecord::Refused {
            ask,
            why: "root-readonly".into(),
        },
        ApprovalRecord::Closed { ask },
    ];
    let asks = decided.into_iter().chain(rest).map(Record::Approvals);
    asks.collect()
}

/// One of each kind of calls.
fn calls() -> Vec<Record> {
    let (turn, call) = (RowId::Message(message(7)), 3);
    let ask = AskId::derive(&TurnKey::new("7"), call);
    let begun = |ask| CallRecord::Begun {
        turn,
        call,
        tool: "create".into(),
        root: Some("notes".into()),
        target: "a.md".into(),
        digest: "00".into(),
        after: Some("11".into()),
        ask,
    };
    let why = "busy".to_owned();
    let calls = [
        begun(None),
        begun(Some(ask)),
        CallRecord::Done {
            turn,
            call,
            by: DoneBy::Look,
        },
        CallRecord::Refused {
            turn,
            call,
            why: why.clone(),
        },
        CallRecord::Unknown { turn, call, why },
    ];
    calls.into_iter().map(Record::Calls).collect()
}

/// One of each kind.
#[expect(clippy::too_many_lines, reason = "one list, read as a whole")]
fn records() -> Vec<Record> {
    let row = RowId::Message(message(7));
    let nonce = Nonce::derive("hall", "7", "answer", 1, 0);
    let since = Wall(1_796_047_445_123);
    let who = Who::User(UserId::from_number(10).expect("not zero"));
    let place = Place {
        channel: channel(1),
        thread: Some(channel(2)),
    };
    let day = since.day();
    let intent = OutboxRecord::Intent {
        nonce,
        owner: Owner::Notice(NoticeKey::Estop(channel(1), day)),
        purpose: Purpose::Notice,
        part: 1,
        of: 1,
        class: 0,
        place: channel(2),
        reply_to: Some(message(7)),
        line: Some(Line::Estop),
        since,
    };
    let queued = RowRecord::Queued {
        row,
        route: Route::Seat,
        descriptor: Descriptor::Native,
        who: who.clone(),
        place,
        content: Content::Message(message(7)),
    };
    let admitted = AdmissionRecord::Admitted {
        row,
        route: Route::Seat,
        origin: Origin::User,
        who,
        channel: channel(2),
        day,
        policy: "0123456789abcdef".into(),
    };
    let summary = RunSummary::default();
    let answered = RowRecord::Answered {
        row,
        parts: 2,
        chars: 2001,
        left_out: Some(3),
        summary,
    };
    let dropped = DropLine {
        message: row,
        channel: None,
        author: None,
        why: DropReason::Gone,
    };
    let settled = RowRecord::Settled {
        row,
        how: Settlement::Done,
        why: Some("x".into()),
    };
    vec![
        Record::Inbox(InboxRecord::Seen {
            row,
            channel: Some(channel(2)),
        }),
        Record::Admissions(admitted),
        Record::Rows(RowRecord::Started { epoch: 3 }),
        Record::Rows(RowRecord::Served {
            channel: channel(1),
            since,
        }),
        Record::Rows(queued),
        Record::Rows(RowRecord::Claimed { row, epoch: 3 }),
        Record::Rows(answered),
        Record::Rows(settled),
        Record::Rows(RowRecord::RoutePaused {
            route: Route::Seat,
            why: "permission_denied".into(),
        }),
        Record::Outbox(intent),
        Record::Outbox(OutboxRecord::Confirmed {
            nonce,
            message: Some(message(9)),
            by: ConfirmedBy::ReadBack,
        }),
        Record::Outbox(OutboxRecord::Refused {
            nonce,
            why: RefusedWhy::Absent,
            code: Some(50013),
        }),
        Record::Outbox(OutboxRecord::Unknown {
            nonce,
            why: UnknownWhy::NoAnswer,
        }),
        Record::Drops(dropped),
        Record::Outbox(OutboxRecord::Unknown {
            nonce,
            why: UnknownWhy::ServerFault,
        }),
        Record::Notices(NoticeRecord::Attempted {
            notice: NoticeKey::Ceiling(day),
        }),
        Record::Reloads(ReloadRecord::Applied {
            file: "00".into(),
            changes: vec!["a".into()],
        }),
        Record::Reloads(ReloadRecord::Refused {
            file: None,
            why: vec!["b".into()],
        }),
    ]
}

#[test]
fn every_kind_survives_the_way_through_its_line() {
    for record in records().into_iter().chain(asks()).chain(calls()) {
        let text = record.to_json();
        assert!(text.starts_with("{\"k\":\""), "{text}");
        assert!(!text.contains('\n'), "{text}");
        let read = Record::parse(record.log(), &text).expect("a record");
        assert_eq!(read, record, "{text}");
    }
}

#[test]
fn an_owner_of_each_kind_survives_the_way_through_text() {
    let ask = AskId::derive(&TurnKey::new("7"), 3);
    let notices = [
        NoticeKey::NotDecider(message(7)),
        NoticeKey::AskOver(message(7)),
    ];
    let owners = [Owner::Ask(ask), Owner::Row(RowId::Message(message(7)))];
    for owner in owners.into_iter().chain(notices.map(Owner::Notice)) {
        let text = serde_json::to_string(&owner).expect("json");
        assert_eq!(
            serde_json::from_str::<Owner>(&text).expect("an owner"),
            owner
        );
    }
    assert!(serde_json::from_str::<Owner>("\"ask:zz\"").is_err());
}

#[test]
fn lines_of_asks_and_calls_read_as_they_were_first_written() {
    let kept = [
        (
            "approvals",
            r#"{"k":"opened","ask":"0123456789abcdef","turn":"7","call":0,"tool":"create","class":"workspace","digest":"00","place":"2","until":"2026-11-30T14:09:05.123Z","since":"2026-11-30T14:04:05.123Z"}"#,
        ),
        (
            "approvals",
            r#"{"k":"posted","ask":"0123456789abcdef","message":"9"}"#,
        ),
        (
            "approvals",
            r#"{"k":"decided","ask":"0123456789abcdef","by":"10","via":"button","answer":"once"}"#,
        ),
        (
            "approvals",
            r#"{"k":"decided","ask":"0123456789abcdef","by":"deadline","via":"deadline","answer":"timed-out"}"#,
        ),
        ("approvals", r#"{"k":"expired","ask":"0123456789abcdef"}"#),
        ("approvals", r#"{"k":"closed","ask":"0123456789abcdef"}"#),
        (
            "calls",
            r#"{"k":"begun","turn":"7","call":0,"tool":"create","root":"notes","target":"a.md","digest":"00","after":"11","ask":"0123456789abcdef"}"#,
        ),
        ("calls", r#"{"k":"done","turn":"7","call":0,"by":"host"}"#),
        (
            "calls",
            r#"{"k":"unknown","turn":"7","call":0,"why":"no-file"}"#,
        ),
    ];
    for (log, line) in kept {
        let record = Record::parse(log, line).expect("a record");
        assert_eq!(record.to_json(), line);
    }
}

#[test]
fn unknown_fields_are_ignored_and_unknown_kinds_are_refused() {
    let text = r#"{"k":"claimed","row":"7","epoch":1,"later":true}"#;
    assert!(Record::parse("rows", text).is_ok());
    assert!(Record::parse("rows", r#"{"k":"teleported","row":"7"}"#).is_err());
    assert!(Record::parse("diary", text).is_err());
}

#[test]
fn a_row_of_an_unknown_kind_is_read_and_kept_apart() {
    let text = r#"{"k":"queued","row":"7","route":"seat","descriptor":"oracle_v9","who":"10","place":"1","content":{"message":"7"}}"#;
    let Ok(Record::Rows(RowRecord::Queued { descriptor, .. })) = Record::parse("rows", text) else {
        unreachable!("the line is a queued row")
    };
    assert_eq!(descriptor, Descriptor::Unknown("oracle_v9".into()));
}
