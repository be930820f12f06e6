//! What the fault machine found, each in its shortest form.

use crate::world::*;
use guildhall_connector::line::Line;

#[test]
fn an_answer_in_which_nothing_can_be_seen_is_told_as_empty() {
    for unseen in ["", " \n", "\u{200b}", "\u{2060}\u{feff} "] {
        let mut world = World::serving(policy());
        let _ = world.say(1000, "hello");
        let commands = world.answer(1000, unseen);
        assert_eq!(
            world.deliver_all(commands, 5000),
            [Line::EmptyAnswer.text()],
            "{unseen:?}"
        );
    }
}

#[test]
fn a_run_that_is_being_aborted_asks_for_no_deadline_in_the_past() {
    let mut world = World::serving(policy());
    let _ = world.say(1000, "hello");
    let _ = world.pass(180_000);
    for _ in 0..30 {
        let deadline = world.connector.deadline().expect("a run is under way");
        assert!(deadline > world.at.mono, "{deadline:?}");
        let _ = world.pass(900);
    }
}
