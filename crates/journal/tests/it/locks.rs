//! `run.lock`: one owner, and clean-ups that never guess.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use guildhall_journal::lock::{
    ClaimError, Cleared, LockError, LockState, Owner, OwnerSignal, RunLock, Verdict, inspect,
    recover, signal_owner, stop, unlock,
};
use guildhall_journal::{Brakes, ensure_private_folder};

use crate::child::{self, Role};
use crate::support::{Place, tree};

pub(crate) fn brakes(place: &Place) -> Brakes {
    ensure_private_folder(&place.folder()).expect("a folder");
    Brakes::of(&place.folder(), &place.folder())
}

/// A process id that nobody has: its process has ended and was collected.
fn gone_pid() -> i32 {
    let mut child = Command::new("true").spawn().expect("a process");
    child.wait().expect("its end");
    i32::try_from(child.id()).expect("a pid")
}

pub(crate) fn gone() -> Owner {
    Owner {
        pid: gone_pid(),
        ..Owner::current()
    }
}

/// Leaves the lock as a crash does.
pub(crate) fn crash(place: &Place, owner: &Owner) {
    let brakes = brakes(place);
    let held = RunLock::claim(&place.folder(), &brakes, &Owner::current()).expect("a claim");
    let text = fs::read_to_string(place.file("run.lock/owner.json")).expect("a record");
    held.release().expect("a release");
    let text = text.replace(&Owner::current().pid.to_string(), &owner.pid.to_string());
    put_record(place, &text);
}

fn put_record(place: &Place, text: &str) {
    ensure_private_folder(&place.file("run.lock")).expect("a lock");
    fs::write(place.file("run.lock/owner.json"), text).expect("a record");
}

#[test]
fn a_claim_holds_until_it_is_released() {
    let place = Place::new();
    let brakes = brakes(&place);
    let owner = Owner::current();
    let held = RunLock::claim(&place.folder(), &brakes, &owner).expect("a claim");
    assert!(held.is_in_place());
    let refused = RunLock::claim(&place.folder(), &brakes, &owner).expect_err("held");
    assert!(
        matches!(refused, ClaimError::Held(LockState::Held { .. })),
        "{refused:?}"
    );
    let refused = unlock(&place.folder()).expect_err("its owner runs");
    assert!(matches!(
        refused,
        LockError::Refused {
            verdict: Verdict::OwnerRuns,
            ..
        }
    ));
    assert!(
        !place.file("STOP").exists(),
        "a refused unlock sets no brake"
    );
    held.release().expect("a release");
    assert!(matches!(inspect(&place.folder()), Ok(LockState::Free)));
    drop(RunLock::claim(&place.folder(), &brakes, &owner).expect("a second claim"));
    assert!(
        matches!(inspect(&place.folder()), Ok(LockState::Free)),
        "dropping releases"
    );
}

#[test]
fn a_brake_refuses_a_claim_and_a_recovery_and_leaves_everything_alone() {
    for name in ["STOP", "ESTOP"] {
        let place = Place::new();
        let brakes = brakes(&place);
        crash(&place, &gone());
        fs::write(place.file(name), "lunch\n").expect("a brake");
        let before = tree(&place.folder());
        let refused = RunLock::claim(&place.folder(), &brakes, &Owner::current());
        let Err(ClaimError::Braked(found)) = refused else {
            panic!("{refused:?}")
        };
        assert_eq!(
            (found.path, found.why),
            (place.file(name), Some("lunch".into()))
        );
        let refused = recover(&place.folder(), &brakes);
        assert!(matches!(refused, Err(LockError::Braked(_))), "{refused:?}");
        assert!(tree(&place.folder()) == before, "{name}");
    }
}

/// A name, the record's text if there is one, and whether the lock may be cleared.
type LockCase = (&'static str, Option<String>, Result<(), Verdict>);

fn lock_cases(me: &Owner) -> Vec<LockCase> {
    let boot = me.boot.clone().expect("a boot id");
    let start = me.start.expect("a start tick");
    let pid = me.pid;
    let gone = gone_pid();
    let other_boot = "00000000-0000-0000-0000-000000000000";
    let record = |pid: i32, start: &str, boot: &str| {
        Some(format!(
            "{{\"pid\":{pid},\"start\":{start},\"boot\":\"{boot}\"}}\n"
        ))
    };
    let ticks = start.to_string();
    let later = (start + 1).to_string();
    vec![
        ("an interrupted start", None, Ok(())),
        ("no such process", record(gone, &ticks, &boot), Ok(())),
        (
            "no such process, no boot",
            Some(format!("{{\"pid\":{gone}}}")),
            Ok(()),
        ),
        ("reused pid", record(pid, &later, &boot), Ok(())),
        ("earlier boot", record(pid, &ticks, other_boot), Ok(())),
        ("live", record(pid, &ticks, &boot), Err(Verdict::OwnerRuns)),
        (
            "alive, no boot",
            Some(format!("{{\"pid\":{pid},\"start\":1}}")),
            Err(Verdict::InDoubt),
        ),
        (
            "alive, odd boot",
            record(pid, &ticks, "yesterday"),
            Err(Verdict::InDoubt),
        ),
        (
            "alive, odd start",
            record(pid, "\"noon\"", &boot),
            Err(Verdict::InDoubt),
        ),
        (
            "empty record",
            Some(String::new()),
            Err(Verdict::PersonMustLook),
        ),
        (
            "cut record",
            Some("{\"pid\":4".into()),
            Err(Verdict::PersonMustLook),
        ),
        (
            "newer record",
            Some("{\"v\":9,\"pid\":4}".into()),
            Err(Verdict::PersonMustLook),
        ),
    ]
}

#[test]
fn a_lock_is_cleared_only_when_its_owner_is_certainly_gone() {
    let me = Owner::current();
    for (name, record, want) in lock_cases(&me) {
        for supervised in [false, true] {
            let place = Place::new();
            let brakes = brakes(&place);
            ensure_private_folder(&place.file("run.lock")).expect("a lock");
            if let Some(text) = &record {
                put_record(&place, text);
            }
            let before = tree(&place.folder());
            let claim = RunLock::claim(&place.folder(), &brakes, &me);
            assert!(
                matches!(claim, Err(ClaimError::Held(_))),
                "{name}: {claim:?}"
            );
            let cleared = match supervised {
                false => unlock(&place.folder()),
                true => recover(&place.folder(), &brakes),
            };
            match (cleared, want) {
                (Ok(cleared), Ok(())) => {
                    assert_eq!(cleared, Cleared::Lock, "{name}");
                    assert_eq!(place.file("STOP").exists(), !supervised, "{name}");
                    assert!(!place.file("run.lock").exists(), "{name}");
                }
                (Err(LockError::Refused { verdict, .. }), Err(want)) => {
                    assert_eq!(verdict, want, "{name}");
                    assert!(
                        tree(&place.folder()) == before,
                        "{name}: nothing is touched"
                    );
                }
                (other, _) => panic!("{name}: {other:?}"),
            }
        }
    }
}

#[test]
fn what_is_not_a_lock_is_left_for_a_person() {
    type Make = fn(PathBuf);
    let cases: [(&str, Make); 4] = [
        ("a file", |path| fs::write(path, "x").expect("a file")),
        ("a link to a folder", |path| {
            symlink("/tmp", path).expect("a link")
        }),
        ("a dangling link", |path| {
            symlink("/nowhere/at/all", path).expect("a link")
        }),
        ("a record that is a folder", |path| {
            fs::create_dir_all(path.join("owner.json")).expect("folders");
        }),
    ];
    for (name, make) in cases {
        let place = Place::new();
        let brakes = brakes(&place);
        make(place.file("run.lock"));
        let claim = RunLock::claim(&place.folder(), &brakes, &Owner::current());
        assert!(
            matches!(claim, Err(ClaimError::Held(_))),
            "{name}: {claim:?}"
        );
        for cleared in [unlock(&place.folder()), recover(&place.folder(), &brakes)] {
            let Err(LockError::Refused { verdict, .. }) = cleared else {
                panic!("{name}: {cleared:?}")
            };
            assert_eq!(verdict, Verdict::PersonMustLook, "{name}");
        }
        assert!(!place.file("STOP").exists(), "{name}");
        assert!(place.file("run.lock").symlink_metadata().is_ok(), "{name}");
    }
}

#[test]
fn what_an_interrupted_start_left_in_the_lock_is_cleared_and_anything_else_is_not() {
    let cases = [
        (".owner.json.77-0.tmp", true),
        ("owner.json.tmp", true),
        ("notes.txt", false),
    ];
    for (entry, is_cleared) in cases {
        let place = Place::new();
        let brakes = brakes(&place);
        ensure_private_folder(&place.file("run.lock")).expect("a lock");
        fs::write(place.file("run.lock").join(entry), "{").expect("an entry");
        match recover(&place.folder(), &brakes) {
            Ok(cleared) => assert_eq!((cleared, is_cleared), (Cleared::Lock, true), "{entry}"),
            Err(LockError::ForeignEntry(name)) => assert_eq!((&*name, is_cleared), (entry, false)),
            Err(other) => panic!("{entry}: {other:?}"),
        }
    }
}

#[test]
fn fifty_claims_at_once_have_one_winner() {
    let place = Place::new();
    let brakes = brakes(&place);
    let start = std::sync::Barrier::new(50);
    let held: Vec<_> = std::thread::scope(|scope| {
        let claims: Vec<_> = (0..50)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    RunLock::claim(&place.folder(), &brakes, &Owner::current())
                })
            })
            .collect();
        claims
            .into_iter()
            .map(|claim| claim.join().expect("a thread"))
            .collect()
    });
    assert_eq!(held.iter().filter(|claim| claim.is_ok()).count(), 1);
    let losers = held
        .iter()
        .filter(|c| matches!(c, Err(ClaimError::Held(_))))
        .count();
    assert_eq!(losers, 49);
}

#[test]
fn fifty_processes_that_claim_at_once_have_one_winner() {
    let place = Place::new();
    drop(brakes(&place));
    let mut children: Vec<_> = (0..50)
        .map(|_| child::start(Role::Claim, &place.folder(), &[]))
        .collect();
    // The winner holds the lock until its input ends, so that nobody can win after it.
    let mut won = 0;
    for child in &mut children {
        match &*child::line(child) {
            "won" => won += 1,
            "held" => {}
            other => panic!("{other}"),
        }
    }
    for child in children {
        child::finish(child);
    }
    assert_eq!(won, 1);
    assert!(matches!(inspect(&place.folder()), Ok(LockState::Free)));
}

#[test]
fn a_clean_up_that_races_with_claims_never_makes_two_owners() {
    let place = Place::new();
    let brakes = brakes(&place);
    let owners = AtomicUsize::new(0);
    let wins = AtomicUsize::new(0);
    for round in 0..1000 {
        // A start that was interrupted, as often as not, and a person who removes the brake.
        if round % 2 == 0 && matches!(inspect(&place.folder()), Ok(LockState::Free)) {
            ensure_private_folder(&place.file("run.lock")).expect("a lock");
        }
        let claim = || {
            for _ in 0..3 {
                if place.file("STOP").exists() {
                    fs::remove_file(place.file("STOP")).unwrap_or(());
                }
                if let Ok(held) = RunLock::claim(&place.folder(), &brakes, &Owner::current()) {
                    assert_eq!(owners.fetch_add(1, Ordering::SeqCst), 0, "one owner");
                    wins.fetch_add(1, Ordering::SeqCst);
                    std::thread::yield_now();
                    assert!(held.is_in_place());
                    owners.fetch_sub(1, Ordering::SeqCst);
                    held.release().expect("a release");
                }
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(claim);
            scope.spawn(claim);
            scope.spawn(|| unlock(&place.folder()).map(drop).unwrap_or(()));
        });
    }
    assert!(
        wins.load(Ordering::SeqCst) > 100,
        "the race has to be run, not avoided"
    );
}

#[test]
fn a_recovery_that_died_half_way_is_no_brake_for_the_next_one() {
    for point in [
        "recover.braked",
        "clear.record-removed",
        "recover.cleared",
        "brake.moved",
    ] {
        let place = Place::new();
        crash(&place, &gone());
        child::dies_at(Role::Recover, &place.folder(), point);
        let cleared = recover(&place.folder(), &brakes(&place));
        assert!(cleared.is_ok(), "{point}: {cleared:?}");
        assert!(
            !place.file("STOP").exists() && !place.file("run.lock").exists(),
            "{point}"
        );
        RunLock::claim(&place.folder(), &brakes(&place), &Owner::current()).expect("a claim");
    }
}

#[test]
fn a_person_who_touches_the_brake_of_a_dead_recovery_makes_it_theirs() {
    let place = Place::new();
    crash(&place, &gone());
    child::dies_at(Role::Recover, &place.folder(), "recover.braked");
    let text = fs::read(place.file("STOP")).expect("the brake");
    fs::write(place.file("STOP"), text).expect("the same text again");
    let refused = recover(&place.folder(), &brakes(&place));
    assert!(matches!(refused, Err(LockError::Braked(_))), "{refused:?}");
    assert!(place.file("STOP").exists() && place.file("run.lock").exists());
}

#[test]
fn a_persons_brake_that_a_dying_recovery_had_moved_comes_back() {
    let place = Place::new();
    crash(&place, &gone());
    fs::write(place.file(".STOP.moved"), "lunch\n").expect("a brake");
    let claim = RunLock::claim(&place.folder(), &brakes(&place), &Owner::current());
    assert!(matches!(claim, Err(ClaimError::Braked(_))), "{claim:?}");
    let refused = recover(&place.folder(), &brakes(&place));
    let Err(LockError::Braked(found)) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(
        (found.path, found.why),
        (place.file("STOP"), Some("lunch".into()))
    );
    assert!(place.file("STOP").exists() && !place.file(".STOP.moved").exists());
}

#[test]
fn an_interrupted_claim_leaves_a_lock_that_is_cleared() {
    for point in ["lock.made", "lock.published"] {
        let place = Place::new();
        let brakes = brakes(&place);
        child::dies_at(Role::Claim, &place.folder(), point);
        let refused = RunLock::claim(&place.folder(), &brakes, &Owner::current());
        assert!(
            matches!(refused, Err(ClaimError::Held(_))),
            "{point}: {refused:?}"
        );
        assert_eq!(
            recover(&place.folder(), &brakes).expect("a recovery"),
            Cleared::Lock
        );
        RunLock::claim(&place.folder(), &brakes, &Owner::current()).expect("a claim");
    }
}

#[test]
fn a_killed_owner_is_dead_at_once_and_one_supervised_start_recovers() {
    let place = Place::new();
    let brakes = brakes(&place);
    let mut owner = child::start(Role::Claim, &place.folder(), &[]);
    assert_eq!(child::line(&mut owner), "won");
    let refused = recover(&place.folder(), &brakes);
    assert!(
        matches!(
            refused,
            Err(LockError::Refused {
                verdict: Verdict::OwnerRuns,
                ..
            })
        ),
        "{refused:?}"
    );
    owner.kill().expect("a kill");
    // Its parent, which is us, has not collected it: it ends some time after the signal.
    let deadline = Instant::now() + Duration::from_secs(20);
    while !matches!(recover(&place.folder(), &brakes), Ok(Cleared::Lock)) {
        assert!(Instant::now() < deadline, "{:?}", inspect(&place.folder()));
        std::thread::sleep(Duration::from_millis(1));
    }
    RunLock::claim(&place.folder(), &brakes, &Owner::current()).expect("a claim");
    owner.wait().expect("its end");
}

#[test]
fn stop_signals_the_owner_that_runs_and_nobody_else() {
    let place = Place::new();
    drop(brakes(&place));
    let mut owner = child::start(Role::Claim, &place.folder(), &[]);
    assert_eq!(child::line(&mut owner), "won");
    let stopped = stop(&place.folder(), "lunch").expect("a brake");
    let pid = stopped.owner.expect("a signal").pid;
    assert_eq!(u32::try_from(pid), Ok(owner.id()));
    assert_eq!(child::signal_that_ended(owner), Some(15));
    assert_eq!(
        fs::read_to_string(place.file("STOP")).expect("the brake"),
        "lunch\n"
    );
    // It is dead now, and nobody is signalled in its place.
    let refused = signal_owner(&place.folder(), OwnerSignal::Reload);
    let verdict = Verdict::NothingThere;
    assert!(
        matches!(&refused, Err(LockError::Refused { verdict: v, .. }) if *v == verdict),
        "{refused:?}"
    );
}
