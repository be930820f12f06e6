//! A person's brake beside a recovery's: whose word stays.

use std::fs;

use guildhall_journal::lock::{LockError, recover};
use guildhall_journal::{BrakeSet, set_brake};

use crate::child::{self, Role};
use crate::locks::{brakes, crash, gone};
use crate::support::Place;

#[test]
fn a_persons_brake_takes_the_place_of_a_recoverys_at_any_moment() {
    for point in ["recover.braked", "clear.record-removed", "recover.cleared"] {
        let place = Place::new();
        crash(&place, &gone());
        child::dies_at(Role::Recover, &place.folder(), point);
        let set = set_brake(&place.file("STOP"), "lunch").expect("a brake");
        assert_eq!(set, BrakeSet::Written, "{point}");
        let again = set_brake(&place.file("STOP"), "dinner").expect("a brake");
        assert_eq!(again, BrakeSet::AlreadySet, "{point}");
        let refused = recover(&place.folder(), &brakes(&place));
        assert!(matches!(refused, Err(LockError::Braked(_))), "{refused:?}");
        let text = fs::read_to_string(place.file("STOP")).expect("the brake");
        assert_eq!(text, "lunch\n", "{point}");
    }
}

#[test]
fn a_brake_that_is_set_while_recoveries_run_is_never_lost() {
    for _ in 0..200 {
        let place = Place::new();
        crash(&place, &gone());
        let (folder, both) = (place.folder(), brakes(&place));
        let recovery = std::thread::spawn(move || recover(&folder, &both).is_ok());
        set_brake(&place.file("STOP"), "lunch").expect("a brake");
        recovery.join().expect("a recovery");
        let text = fs::read_to_string(place.file("STOP")).expect("the brake stands");
        assert_eq!(text, "lunch\n");
    }
}
