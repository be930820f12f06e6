//! A change that a person allows or denies, by a seat that dies at any step of it.
//!
//! In: every step from the question to the closed card. Out: a file that is as it was or exactly as it
//! was shown, and no fault. Never: a change without a decision that was on disk, two changes, a card
//! that can still be pressed after the process that asked is gone.

use crate::{
    hall::{ANA, CHANNELS, Hall},
    http::try_exchange,
    pool::{AT_ONCE, each},
    seat::{Ended, NAME, Seat},
    verdict::judge_asked,
    waiting::{PATIENCE, until, within},
};
use serde_json::{Value, json};
use std::{fs, path::Path};

/// Where a seat can die on the way, with how many passes there are to die at.
const POINTS: [(&str, u64); 22] = [
    ("driver.before-group", 12),
    ("journal.before-line", 12),
    ("journal.line", 12),
    ("journal.line-written", 12),
    ("journal.sync", 12),
    ("journal.line-synced", 12),
    ("journal.copy", 24),
    ("journal.copy-written", 24),
    ("journal.copies-written", 12),
    ("driver.group-durable", 12),
    ("discord.before-eyes", 1),
    ("engine.before-run", 1),
    ("discord.before-post", 2),
    ("discord.after-post", 2),
    ("tools.begun", 1),
    ("tools.ended", 1),
    ("engine.after-run", 1),
    ("discord.before-edit", 1),
    ("discord.after-edit", 1),
    ("spool.entry", 1),
    ("spool.synced", 1),
    ("driver.parts-durable", 1),
];
/// How often each point is tried; the chore `kills` sets it.
const TIMES_VARIABLE: &str = "GUILDHALL_KILLS_TIMES";
/// In every run of the tests.
const TIMES_DEFAULT: u64 = 3;
/// The file before and after, and what is asked.
const BEFORE: &str = "# List\n\n- wax\n- door\n";
const AFTER: &str = "# List\n\n- oil\n- door\n";
const ASK: &str = "edit list.md: wax => oil";

/// What a run came to.
struct Run {
    died: bool,
    changed: bool,
    faults: Vec<String>,
}

#[test]
fn a_change_that_is_asked_for_is_made_as_shown_or_not_at_all_wherever_the_seat_dies() {
    let times = std::env::var(TIMES_VARIABLE).ok();
    let times = times.map_or(TIMES_DEFAULT, |times| times.parse().expect("a number"));
    let lines = each(&POINTS, AT_ONCE, |(point, passes)| {
        let run = |nth| try_once(&format!("{point}:{}", 1 + (nth * 5) % passes), nth);
        (*point, (0..times).map(run).collect::<Vec<_>>())
    });
    println!(
        "{:<28}{:>8}{:>8}{:>10}{:>8}",
        "killed at", "runs", "died", "changed", "faults"
    );
    let mut faults = Vec::new();
    for (point, runs) in &lines {
        let count = |is: fn(&Run) -> bool| runs.iter().filter(|run| is(run)).count();
        let (died, changed) = (count(|run| run.died), count(|run| run.changed));
        let found: Vec<_> = runs.iter().flat_map(|run| run.faults.clone()).collect();
        println!(
            "{point:<28}{:>8}{died:>8}{changed:>10}{:>8}",
            runs.len(),
            found.len()
        );
        faults.extend(found);
        if died == 0 {
            faults.push(format!("{point}: nobody died there"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A seat with a workspace whose writes Ana may allow.
fn seat_with_a_desk(hall: &Hall) -> (Seat, tempfile::TempDir) {
    let desk = tempfile::Builder::new().prefix("desk-").tempdir();
    let desk = desk.expect("a folder");
    let path = desk.path().canonicalize().expect("it is there");
    fs::write(path.join("list.md"), BEFORE).expect("room");
    let changes = json!({
        "users": [{"id": hall.user(ANA), "name": ANA, "operator": true}],
        "tools": {"roots": [{"name": "desk", "path": path, "write": "ask"}]},
    });
    (Seat::with(hall, &changes), desk)
}

/// Every third run the person says no.
fn word(nth: u64) -> &'static str {
    if nth % 3 == 2 { "deny" } else { "once" }
}

fn try_once(armed: &str, nth: u64) -> Run {
    let hall = Hall::open();
    let (mut seat, desk) = seat_with_a_desk(&hall);
    seat.serve();
    assert_eq!(seat.terminate(), Ended::Exit(0));
    let channel = CHANNELS[1];
    let (row, ended) = ask_and_decide(&hall, &mut seat, channel, (armed, word(nth)));
    seat.start(None);
    let mut faults = Vec::new();
    // A message that the dead process had not taken asks only now; a card that it left is void, and a
    // press of it must change nothing.
    let journal = seat.journal();
    let over = within(PATIENCE, || {
        let open = cards(&hall, channel, row);
        if let Some(card) = open.first().filter(|_| seat.is_connected()) {
            press(&hall, card, word(nth));
        }
        (open.is_empty() && journal.has_settled(&[row])).then_some(())
    });
    if over.is_none() {
        let open = cards(&hall, channel, row);
        faults.push(format!("not over, {open:?}: {}", seat.last_words()));
    }
    seat.connected();
    until("the end of every card", || {
        let status = seat.ask(&["status", NAME]);
        status[0]["last"]["connector"]["cardsToClose"] == json!(0)
    });
    let list = fs::read_to_string(desk.path().join("list.md")).unwrap_or_default();
    faults.extend(judge_asked(&seat.journal(), row, &list, BEFORE, AFTER));
    faults.extend(judge_replies(&hall, channel, row));
    faults.extend(left_on(desk.path()));
    if seat.terminate() != Ended::Exit(0) {
        faults.push(format!("no clean end: {}", seat.last_words()));
    }
    let named = |fault: String| format!("{armed} run {nth}: {fault}");
    Run {
        died: ended == Ended::Killed,
        changed: list == AFTER,
        faults: faults.into_iter().map(named).collect(),
    }
}

/// Asks for the change, decides it once the card is there, and waits until all is said or the seat is
/// dead.
fn ask_and_decide(
    hall: &Hall,
    seat: &mut Seat,
    channel: &str,
    (armed, word): (&str, &str),
) -> (u64, Ended) {
    seat.start(Some(armed));
    let mut ended = None;
    let connected = within(PATIENCE, || {
        ended = ended.or(seat.ended());
        (ended.is_some() || seat.is_connected()).then_some(())
    });
    assert!(connected.is_some(), "{}", seat.last_words());
    let row = hall.say(channel, ASK);
    let journal = seat.journal();
    let mut pressed = false;
    within(PATIENCE, || {
        ended = ended.or_else(|| seat.ended());
        let open = cards(hall, channel, row);
        if !pressed && let Some(card) = open.first() {
            press(hall, card, word);
            pressed = true;
        }
        let over = pressed && open.is_empty() && journal.has_settled(&[row]);
        (ended.is_some() || over).then_some(())
    });
    (row, ended.unwrap_or_else(|| seat.terminate()))
}

/// Whatever lies beside the one file.
fn left_on(desk: &Path) -> Option<String> {
    let names = fs::read_dir(desk).expect("the desk");
    let names = names.map(|entry| entry.expect("an entry").file_name());
    let left: Vec<_> = names.filter(|name| name != "list.md").collect();
    (!left.is_empty()).then(|| format!("left on the desk: {left:?}"))
}

/// Cards of a message that can be pressed.
fn cards(hall: &Hall, channel: &str, row: u64) -> Vec<Value> {
    let path = format!("/messages?channel={channel}&after={row}");
    let found = hall.control("GET", &path, None);
    let messages = found.as_array().cloned().unwrap_or_default();
    let has_buttons = |message: &Value| !buttons(message).is_empty();
    messages.into_iter().filter(has_buttons).collect()
}

fn buttons(message: &Value) -> Vec<String> {
    let rows = message["components"].as_array().into_iter().flatten();
    let all = rows.flat_map(|row| row["components"].as_array().into_iter().flatten());
    all.filter_map(|button| Some(button["custom_id"].as_str()?.to_owned()))
        .collect()
}

fn press(hall: &Hall, card: &Value, word: &str) {
    let chosen = buttons(card).into_iter().find(|id| id.ends_with(word));
    let body = json!({
        "channel": card["channel_id"],
        "message": card["id"],
        "user": hall.user(ANA),
        "custom_id": chosen,
    });
    let address = hall.origin.trim_start_matches("http://");
    let pressed = try_exchange("POST", address, "/control/presses", Some(&body));
    let (status, text) = pressed.expect("the simulator answers");
    // 400: the button went a moment ago.
    assert!([200, 400].contains(&status), "{status}: {text}");
}

/// One answer or one fixed line, and one card at most.
fn judge_replies(hall: &Hall, channel: &str, row: u64) -> Vec<String> {
    let mut posts = hall.bot_posts(channel, row);
    // What only the presser sees is no post: it has no nonce.
    posts.retain(|post| post.nonce.is_some());
    let (cards, answers): (Vec<_>, Vec<_>) = posts
        .iter()
        .partition(|post| post.content.starts_with("**Permission"));
    let mut faults = Vec::new();
    if answers.len() != 1 {
        faults.push(format!("{} answers: {answers:?}", answers.len()));
    }
    if cards.len() > 1 {
        faults.push(format!("{} cards: {cards:?}", cards.len()));
    }
    faults
}
