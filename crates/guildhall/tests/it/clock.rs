//! Clocks that jump: Discord's against ours, while a post is in doubt and while nothing is.
//!
//! In: a Discord whose clock moves by an hour. Out: each message answered once; a post that is too old
//! to be sent again is looked for instead. Never: a post that stands there twice.

use crate::{
    ask::{Ask, Mix, say},
    middleman::Trick,
    pool::{all_hold, case},
    seat::Ended,
    stage::{HERE, Stage},
    waiting::{PATIENCE, until},
};
use serde_json::json;

/// Cases at once: nearly all of their time is waiting.
const AT_ONCE: usize = 6;
const HOUR_MS: i64 = 3_600_000;
const JUMPS: [(&str, i64); 2] = [("an hour forward", HOUR_MS), ("an hour back", -HOUR_MS)];

#[test]
fn a_clock_that_jumps_loses_and_doubles_nothing() {
    let mut cases = Vec::new();
    for (name, jump) in JUMPS {
        cases.push(case(name, move || while_it_serves(jump)));
        cases.push(case(name, move || before_a_repeat(jump)));
        cases.push(case(name, move || after_a_post(jump, "discord.after-post")));
        cases.push(case(name, move || {
            after_a_post(jump, "discord.before-post")
        }));
        cases.push(case(name, move || {
            after_a_post(jump, "driver.before-group:4")
        }));
    }
    all_hold(&cases, AT_ONCE);
}

/// It jumps between messages, and between a lost answer and the repeat.
fn while_it_serves(jump: i64) {
    let (mut stage, _middleman) = Stage::by_discords_clock();
    stage.hall.advance(jump);
    let said = stage.say(Mix::TwoRoutes);
    stage.answered(&said);
    stage.hall.advance(-jump);
    let again = say(&stage.hall, HERE[0], Ask::Short(8));
    // Ids follow the clock: what is said earlier in the day stands before.
    let rows = [again.row];
    assert!(
        stage.seat.settles(&rows, PATIENCE),
        "{}",
        stage.seat.last_words()
    );
    assert_eq!(stage.seat.terminate(), Ended::Exit(0));
}

/// It jumps between a post whose answer was lost and its repeat, as for a machine that was paused.
fn before_a_repeat(jump: i64) {
    let (mut stage, middleman) = Stage::by_discords_clock();
    let row = stage.hall.say(HERE[0], "slow 1");
    let journal = stage.seat.journal();
    until("the row", || {
        !journal.about("rows", "claimed", row).is_empty()
    });
    // Neither the answer nor the gateway tells of the post.
    let lost = json!({"on": "dispatch", "kind": "lose", "event": "MESSAGE_CREATE"});
    stage.hall.arm(&lost);
    middleman.play(Trick::Dropped, 1);
    until("the post", || {
        middleman.left() == 0 && stage.hall.armed() == 0
    });
    stage.hall.advance(jump);
    assert!(
        stage.seat.settles(&[row], PATIENCE),
        "{}",
        stage.seat.last_words()
    );
    let posts = stage.hall.bot_posts(HERE[0], 0);
    assert_eq!(posts.len(), 1, "{posts:?}");
    assert_eq!(journal.turn(row).expect("a record")["how"], "done");
}

/// It jumps while the process is dead, so that nobody saw it.
fn after_a_post(jump: i64, point: &str) {
    let (mut stage, _middleman) = Stage::by_discords_clock();
    assert_eq!(stage.seat.terminate(), Ended::Exit(0));
    let said = [
        say(&stage.hall, HERE[0], Ask::Short(1)),
        say(&stage.hall, HERE[1], Ask::Long),
    ];
    stage.seat.start(Some(point));
    assert_eq!(stage.seat.end(), Ended::Killed);
    stage.hall.advance(jump);
    stage.seat.start(None);
    let rows: Vec<_> = said.iter().map(|said| said.row).collect();
    assert!(
        stage.seat.settles(&rows, PATIENCE),
        "{}",
        stage.seat.last_words()
    );
    for said in said {
        let posts = stage.hall.bot_posts(said.channel, 0);
        let texts: Vec<_> = posts.iter().map(|post| post.content.as_str()).collect();
        let mut once = texts.clone();
        once.sort_unstable();
        once.dedup();
        let seen = json!(texts);
        assert_eq!(
            once.len(),
            texts.len(),
            "{point}: twice in {}: {seen}",
            said.channel
        );
        assert!(!texts.is_empty(), "{point}: nothing in {}", said.channel);
    }
}
