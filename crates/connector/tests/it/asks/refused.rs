//! What was allowed and came to nothing before it began: the card says why.

use super::*;

fn refused(why: &str) -> Input {
    Input::CallEnds(CallEnded {
        turn: TurnKey::new("1000"),
        call: 0,
        end: CallEnd::Refused { why: why.into() },
    })
}

fn kept(world: &World, id: AskId, why: &str) -> usize {
    let why = why.to_owned();
    let line = Record::Approvals(ApprovalRecord::Refused { ask: id, why });
    world.records.iter().filter(|it| **it == line).count()
}

#[test]
fn a_call_that_is_refused_after_it_was_allowed_says_why_on_its_card_and_never_begins() {
    let cases = [
        (refused("root-readonly"), "root-readonly"),
        (Input::AskGone(spec(1000, 0).id), "cancelled"),
    ];
    for (input, why) in cases {
        let (mut world, id) = carded();
        let _ = world.on(once(id));
        let _ = edited(&mut world, id);
        let commands = world.on(input.clone());
        let ends = format!("Allowed once by `Olga`, and not done: `{why}`.");
        assert!(edits(&commands)[0].ends_with(&ends), "{commands:?}");
        assert_eq!(kept(&world, id, why), 1);
        // A second word, and a beginning that comes all the same, change nothing.
        let _ = world.on(input);
        assert_eq!(kept(&world, id, why), 1);
        let begun = world.on(Input::CallBegins(begun(Some(id), 0)));
        assert_eq!(begins(&begun), 0);
        let _ = edited(&mut world, id);
        assert!(is_closed(&world));
    }
}

#[test]
fn a_refusal_of_what_nobody_allowed_or_of_what_has_begun_is_no_line_about_the_ask() {
    let (mut world, id) = carded();
    let _ = world.on(refused("root-readonly"));
    assert_eq!(kept(&world, id, "root-readonly"), 0, "open");
    let _ = world.on(once(id));
    let _ = world.on(Input::CallBegins(begun(Some(id), 0)));
    let _ = world.on(Input::AskGone(id));
    let _ = world.on(refused("changed-since-read"));
    assert_eq!(kept(&world, id, "changed-since-read"), 0);
    assert_eq!(kept(&world, id, "cancelled"), 0);
    let (turn, why) = (row(1000), "changed-since-read".to_owned());
    let line = Record::Calls(CallRecord::Refused { turn, call: 0, why });
    assert!(world.records.contains(&line), "the call has it");
}

#[test]
fn what_was_refused_is_said_by_the_next_process_where_the_card_was_not_edited() {
    let (mut world, id) = carded();
    let _ = world.on(once(id));
    let _ = world.on(refused("root-readonly"));
    let commands = world.restart_with(with_operator());
    assert!(
        edits(&commands)[0].ends_with("and not done: `root-readonly`."),
        "{commands:?}"
    );
}
