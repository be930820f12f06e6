use std::path::PathBuf;

use super::*;
use crate::lock::RecordError;
use crate::private::{PrivateError, PrivateErrorKind};

const BOOT: &str = "6f0a5c1e-5d1f-4a3f-9d4e-0123456789ab";
const OTHER_BOOT: &str = "00000000-5d1f-4a3f-9d4e-0123456789ab";

fn record(start: Option<u64>, boot: Option<&str>) -> Record {
    Record {
        pid: 42,
        start,
        boot: boot.map(str::to_owned),
    }
}

fn facts(process: Seen, boot: Option<&str>) -> ProcessFacts {
    ProcessFacts {
        process,
        boot: boot.map(str::to_owned),
    }
}

#[test]
fn an_owner_is_live_or_dead_where_that_is_certain() {
    let whole = record(Some(7), Some(BOOT));
    let alive = |start| Seen::Alive { start };
    let cases = [
        (
            "runs",
            &whole,
            facts(alive(Some(7)), Some(BOOT)),
            Holder::Live,
        ),
        (
            "gone",
            &whole,
            facts(Seen::Gone, Some(BOOT)),
            Holder::Dead(Gone::NoProcess),
        ),
        (
            "gone, boot unreadable",
            &whole,
            facts(Seen::Gone, None),
            Holder::Dead(Gone::NoProcess),
        ),
        (
            "gone, nothing recorded",
            &record(None, None),
            facts(Seen::Gone, Some(BOOT)),
            Holder::Dead(Gone::NoProcess),
        ),
        (
            "reused pid",
            &whole,
            facts(alive(Some(9)), Some(BOOT)),
            Holder::Dead(Gone::ReusedPid),
        ),
        (
            "start recorded in the future",
            &record(Some(u64::MAX), Some(BOOT)),
            facts(alive(Some(9)), Some(BOOT)),
            Holder::Dead(Gone::ReusedPid),
        ),
        (
            "earlier boot, same pid and tick",
            &whole,
            facts(alive(Some(7)), Some(OTHER_BOOT)),
            Holder::Dead(Gone::EarlierBoot),
        ),
        (
            "earlier boot, start unreadable",
            &whole,
            facts(alive(None), Some(OTHER_BOOT)),
            Holder::Dead(Gone::EarlierBoot),
        ),
    ];
    for (name, record, facts, want) in cases {
        assert_eq!(holder(record, &facts), want, "{name}");
    }
}

#[test]
fn an_owner_is_in_doubt_while_anything_that_proves_it_is_missing() {
    let whole = record(Some(7), Some(BOOT));
    let alive = |start| Seen::Alive { start };
    let cases = [
        (
            "process table unreadable",
            &whole,
            facts(alive(None), Some(BOOT)),
            Holder::Unverifiable(Doubt::StartUnreadable),
        ),
        (
            "boot unreadable",
            &whole,
            facts(alive(Some(7)), None),
            Holder::Unverifiable(Doubt::BootUnreadable),
        ),
        (
            "no boot recorded",
            &record(Some(7), None),
            facts(alive(Some(9)), Some(BOOT)),
            Holder::Unverifiable(Doubt::NoRecordedBoot),
        ),
        (
            "no start recorded",
            &record(None, Some(OTHER_BOOT)),
            facts(alive(Some(9)), Some(BOOT)),
            Holder::Unverifiable(Doubt::NoRecordedStart),
        ),
        (
            "the system does not say",
            &whole,
            facts(Seen::Unknown, Some(BOOT)),
            Holder::Unverifiable(Doubt::ProcessUnknown),
        ),
    ];
    for (name, record, facts, want) in cases {
        assert_eq!(holder(record, &facts), want, "{name}");
    }
}

#[test]
fn each_action_on_each_lock_has_one_verdict() {
    let held = |holder| LockState::Held {
        record: record(Some(7), Some(BOOT)),
        holder,
    };
    let unreadable = PrivateError {
        path: PathBuf::new(),
        kind: PrivateErrorKind::Denied,
    };
    // Claim, signal, clear.
    let cases = [
        (
            LockState::Free,
            [Verdict::Go, Verdict::NothingThere, Verdict::NothingThere],
        ),
        (
            LockState::NoRecord,
            [Verdict::UnlockFirst, Verdict::NothingThere, Verdict::Go],
        ),
        (
            held(Holder::Live),
            [Verdict::OwnerRuns, Verdict::Go, Verdict::OwnerRuns],
        ),
        (
            held(Holder::Dead(Gone::NoProcess)),
            [Verdict::UnlockFirst, Verdict::NothingThere, Verdict::Go],
        ),
        (
            held(Holder::Dead(Gone::ReusedPid)),
            [Verdict::UnlockFirst, Verdict::NothingThere, Verdict::Go],
        ),
        (
            held(Holder::Dead(Gone::EarlierBoot)),
            [Verdict::UnlockFirst, Verdict::NothingThere, Verdict::Go],
        ),
        (
            held(Holder::Unverifiable(Doubt::StartUnreadable)),
            [Verdict::InDoubt; 3],
        ),
        (
            LockState::Unparsable(RecordError::NotAnObject),
            [Verdict::PersonMustLook; 3],
        ),
        (LockState::NotAFolder, [Verdict::PersonMustLook; 3]),
        (
            LockState::Unreadable(unreadable),
            [Verdict::PersonMustLook; 3],
        ),
    ];
    for (state, want) in cases {
        let found = [Action::Claim, Action::Signal, Action::Clear].map(|a| verdict(a, &state));
        assert_eq!(found, want, "{state:?}");
    }
}
