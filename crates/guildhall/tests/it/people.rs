//! What people do in between: replies and questions that are deleted, rights that are taken away,
//! and an operator who settles by hand.
//!
//! In: a moderator's and an operator's doings around a crash. Out: a seat that starts, or says what
//! it needs. Never: a loop, a guess.

use crate::{
    ask::{Ask, Said, say},
    hall::CHANNELS,
    pool::{all_hold, case},
    seat::{Ended, NAME, Seat},
    stage::{HERE, Stage},
    waiting::until,
};
use serde_json::json;

/// Cases at once: nearly all of their time is waiting.
const AT_ONCE: usize = 6;

#[test]
fn what_people_do_around_a_crash_is_settled() {
    let cases = [
        case(
            "a reply that was deleted",
            a_reply_deleted_before_its_receipt,
        ),
        case(
            "a question deleted in its turn",
            a_question_deleted_in_its_turn,
        ),
        case(
            "a question deleted while down",
            a_question_deleted_while_it_was_down,
        ),
        case("a person who says it is there", || {
            a_person_settles(Says::There)
        }),
        case("a person who says it is not", || {
            a_person_settles(Says::NotThere)
        }),
    ];
    all_hold(&cases, AT_ONCE);
}

/// A moderator deletes the reply before the receipt is on disk.
fn a_reply_deleted_before_its_receipt() {
    let (mut stage, said) = died_at("discord.after-post", Ask::Short(1));
    let posts = stage.hall.bot_posts(said.channel, said.row);
    assert_eq!(posts.len(), 1, "{posts:?}");
    stage.hall.delete(said.channel, posts[0].id);
    let before = stage.hall.post_count();
    stage.seat.serve();
    assert!(stage.seat.settles(&[said.row], crate::waiting::PATIENCE));
    let turn = stage.seat.journal().turn(said.row).expect("a record");
    assert_eq!(turn["how"], "done");
    assert_eq!(
        turn["delivery"][0]["outcome"],
        json!({"state": "confirmed", "by": "deleted"})
    );
    assert_eq!(
        stage.hall.post_count(),
        before + 1,
        "one repeat told the truth"
    );
    assert!(stage.hall.bot_posts(said.channel, said.row).is_empty());
    // The next start has nothing to do about it.
    stage.crash();
    stage.greet(5);
    assert!(stage.hall.bot_posts(said.channel, said.row).is_empty());
}

fn a_question_deleted_in_its_turn() {
    let (mut stage, said) = died_at("discord.before-post", Ask::Long);
    stage.hall.delete(said.channel, said.row);
    stage.seat.serve();
    assert!(stage.seat.settles(&[said.row], crate::waiting::PATIENCE));
    let posts = stage.hall.bot_posts(said.channel, said.row);
    let texts: Vec<_> = posts.iter().map(|post| post.content.as_str()).collect();
    assert!(said.ask.is_answered_by(&texts), "{posts:?}");
}

/// Its row had not begun: it is withdrawn, and leaves one line.
fn a_question_deleted_while_it_was_down() {
    let (mut stage, said) = died_at("journal.before-line:2", Ask::Short(1));
    stage.hall.delete(said.channel, said.row);
    stage.seat.serve();
    stage.greet(5);
    assert!(stage.hall.bot_posts(said.channel, said.row).is_empty());
    assert_eq!(
        stage.seat.ask(&["rows", NAME]),
        [] as [serde_json::Value; 0]
    );
}

/// What an operator found in the channel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    There,
    NotThere,
}

/// An old delivery in doubt, and a channel whose history may not be read: a person must look.
fn a_person_settles(says: Says) {
    let (mut stage, said) = died_at("discord.after-post", Ask::Short(1));
    let [post] = stage
        .hall
        .bot_posts(said.channel, said.row)
        .try_into()
        .expect("one post");
    let nonce = post.nonce.expect("a nonce");
    stage.hall.advance(3_600_000);
    stage.hall.control(
        "POST",
        "/overwrites",
        Some(&json!({"channel": said.channel, "target": "Seat", "deny": ["READ_MESSAGE_HISTORY"]})),
    );
    stage.seat.start(None);
    assert_eq!(
        stage.seat.end(),
        Ended::Exit(1),
        "{}",
        stage.seat.last_words()
    );
    let words = stage.seat.log();
    assert!(
        words.contains(&format!("these deliveries cannot be settled: {nonce}")),
        "{words}"
    );
    let listed = stage.seat.ask(&["deliveries", NAME]);
    assert!(
        listed.len() == 1 && listed[0]["nonce"] == *nonce,
        "{listed:?}"
    );
    let message = post.id.to_string();
    let answer: &[&str] = match says {
        Says::There => &["--there", &message],
        Says::NotThere => &["--not-there"],
    };
    let settled = stage
        .seat
        .tool(&[&["deliveries", NAME, &nonce], answer].concat());
    assert!(settled.status.success(), "{settled:?}");
    stage.seat.serve();
    assert!(stage.seat.settles(&[said.row], crate::waiting::PATIENCE));
    let turn = stage.seat.journal().turn(said.row).expect("a record");
    let (how, state) = match says {
        Says::There => ("done", "confirmed"),
        Says::NotThere => ("failed", "refused"),
    };
    assert_eq!(
        (&turn["how"], &turn["delivery"][0]["outcome"]["state"]),
        (&json!(how), &json!(state))
    );
    stage.greet(6);
}

/// A stage whose seat died at a point with one message under way.
fn died_at(point: &str, ask: Ask) -> (Stage, Said) {
    let (mut stage, _middleman) = Stage::by_discords_clock();
    assert_eq!(stage.seat.terminate(), Ended::Exit(0));
    let said = say(&stage.hall, HERE[0], ask);
    // The gateway tells nothing of the post, or the echo would be its receipt; what was said is read
    // from the history.
    let lost = json!({"on": "dispatch", "kind": "lose", "event": "MESSAGE_CREATE", "times": 2});
    stage.hall.arm(&lost);
    stage.seat.start(Some(point));
    assert_eq!(stage.seat.end(), Ended::Killed);
    stage.hall.control("DELETE", "/faults", None);
    (stage, said)
}

/// A supervisor, a reload and a keyboard may speak at any moment of a start.
#[test]
fn a_signal_in_the_first_moments_of_a_start_is_heard() {
    use rustix::process::Signal;
    let mut stage = Stage::open();
    assert_eq!(stage.seat.terminate(), Ended::Exit(0));
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        stage.seat.start(None);
        let lock = stage.seat.journal().0.join("run.lock");
        until("the lock", || lock.exists());
        stage.seat.signal(signal);
        if signal == Signal::HUP {
            stage.seat.connected();
            stage.seat.signal(Signal::TERM);
        }
        assert_eq!(
            stage.seat.end(),
            Ended::Exit(0),
            "{signal:?}: {}",
            stage.seat.last_words()
        );
        assert!(!lock.exists(), "{signal:?}: the lock was given back");
    }
    first_start_is_free(&stage.seat);
}

fn first_start_is_free(seat: &Seat) {
    let status = seat.ask(&["status", NAME]);
    assert_eq!(status[0]["running"], "no", "{}: {status:?}", CHANNELS[0]);
}
