//! From a seed to a schedule.
//!
//! In: a seed. Out: a plan of one of a few themes, so that rare faults meet each other often
//! enough. Never: a plan that the model's stated bounds do not allow (see `docs/faults.md`).

use super::{
    Access, Action, Announced, Behaviour, CallPlan, DiskFault, Down, EchoFault, Encore, Fate,
    GoneReference, Hints, HistoryNonce, Knobs, LookUpFault, Plan, PlanStep, PostFault, Requests,
    Session, Shape, Word,
};
use crate::{
    prng::Prng,
    settings::{Bounds, Speaker, Spot, Variant},
};
use guildhall_binding::SessionScope;
use guildhall_connector::{moment::Brake, run::RunFailure};
use std::time::Duration;

/// What a schedule is mostly about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Theme {
    Mixed,
    Crashes,
    Network,
    Gateway,
    Operator,
    Limits,
}

/// A span long enough to leave every nonce window behind.
const LONG_MS: u64 = 8 * 60 * 1000;

impl Plan {
    /// The schedule of a seed.
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        let mut chance = Prng::new(seed, 1);
        let theme = chance.weighted(&[
            (4, Theme::Mixed),
            (3, Theme::Crashes),
            (3, Theme::Network),
            (3, Theme::Gateway),
            (2, Theme::Operator),
            (2, Theme::Limits),
        ]);
        let knobs = knobs(&mut chance, theme);
        let count = chance.between(6, 40);
        // The first session is up before anybody speaks in most runs.
        let mut at_ms = if chance.happens(80) { 5_000 } else { 0 };
        let mut steps = Vec::new();
        for _ in 0..count {
            at_ms += gap(&mut chance);
            let action = action(&mut chance, theme, &knobs);
            steps.push(PlanStep { at_ms, action });
            if let Some(after) = sequel(&mut chance, action) {
                at_ms += chance.between(0, 3_000);
                steps.push(PlanStep {
                    at_ms,
                    action: after,
                });
            }
        }
        add_asks(&mut Prng::new(seed, 9), &mut steps);
        Self { seed, knobs, steps }
    }
}

/// Turns that ask and people who answer, in three schedules of five. They are drawn apart, so that
/// the rest of a schedule is the same without them.
fn add_asks(chance: &mut Prng, steps: &mut Vec<PlanStep>) {
    if chance.happens(40) {
        return;
    }
    let last = steps.last().map_or(0, |step| step.at_ms);
    for _ in 0..chance.between(1, 5) {
        let mut at_ms = chance.between(5_000, last.max(6_000));
        let calls = Action::Calls(CallPlan {
            count: 1 + chance.below(2) as u8,
            asks: chance.happens(75),
            gone_ms: chance.happens(15).then(|| chance.between(10, 60_000)),
            lines: chance.one(&[1, 1, 250]),
        });
        steps.push(PlanStep {
            at_ms,
            action: calls,
        });
        steps.push(PlanStep {
            at_ms,
            action: listed_talk(chance),
        });
        for _ in 0..chance.between(0, 4) {
            at_ms += chance.one(&[50, 700, 1_500, 4_000, 20_000, 299_000]);
            let action = say_to_ask(chance);
            steps.push(PlanStep { at_ms, action });
        }
        if chance.happens(40) {
            at_ms += chance.between(0, 3_000);
            let action = Action::KillIn(chance.below(16) as u8, down(chance));
            steps.push(PlanStep { at_ms, action });
        }
    }
    steps.sort_by_key(|step| step.at_ms);
}

fn say_to_ask(chance: &mut Prng) -> Action {
    let who = chance.one(&[
        Speaker::Ana,
        Speaker::Ana,
        Speaker::Ana,
        Speaker::Bea,
        Speaker::Lim,
        Speaker::Eve,
    ]);
    let back = chance.weighted(&[(4, 0), (1, 1), (1, 2)]);
    let word = chance.one(&[Word::Once, Word::Once, Word::Once, Word::Deny, Word::Other]);
    match chance.below(10) {
        0..6 => Action::Press(who, back, word, chance.one(&[1, 1, 2, 5])),
        6..9 => Action::ReplyCard(who, back, word),
        _ => Action::Terminal(word),
    }
}

fn knobs(chance: &mut Prng, theme: Theme) -> Knobs {
    let scope = chance.one(&[SessionScope::Seat, SessionScope::Thread]);
    let limited = theme == Theme::Limits;
    let mut bounds = Bounds {
        scope,
        turns_per_day: if limited { 4 } else { 200 },
        micro_usd_per_day: None,
        catch_up: Duration::from_secs(chance.weighted(&[(8, 86_400), (1, 900), (1, 0)])),
        parallel_turns: chance.one(&[1, 2, 4]),
        queued_turns: if limited { 3 } else { 64 },
        turn_timeout: Duration::from_secs(chance.one(&[60, 180])),
    };
    // Of what was drawn already, so that what a seed means stays.
    if limited && bounds.parallel_turns != 1 {
        bounds.micro_usd_per_day = Some(if bounds.parallel_turns == 2 { 5 } else { 10 });
    }
    let encore = match chance.below(4) {
        0 => Encore::None,
        1 => Encore::Restart(1_000, hints(chance)),
        _ => Encore::Restart(LONG_MS, hints(chance)),
    };
    Knobs {
        bounds,
        nonce_window_ms: chance.one(&[270_000, 300_000, 300_000, 300_000, 420_000]),
        gone_reference: chance.one(&[GoneReference::Posts, GoneReference::Refuses]),
        history_nonce: chance.one(&[
            HistoryNonce::Hidden,
            HistoryNonce::Hidden,
            HistoryNonce::Shown,
        ]),
        resume_ms: chance.one(&[20_000, 60_000, 180_000]),
        page: chance.one(&[2, 5, 100]),
        midnight_ms: chance.weighted(&[(3, 12 * 3_600_000), (1, 120_000), (1, 600_000)]),
        encore,
    }
}

fn gap(chance: &mut Prng) -> u64 {
    match chance.below(100) {
        0..30 => chance.between(0, 50),
        30..60 => chance.between(50, 2_000),
        60..90 => chance.between(2_000, 20_000),
        90..97 => chance.between(20_000, 120_000),
        _ => chance.between(240_000, 420_000),
    }
}

fn action(chance: &mut Prng, theme: Theme, knobs: &Knobs) -> Action {
    type Make = fn(&mut Prng, &Knobs) -> Action;
    let weight = |of: Theme| if theme == of { 5 } else { 1 };
    let makers: [(u64, Make); 8] = [
        (8, people),
        (3 * weight(Theme::Network), network),
        (2 * weight(Theme::Gateway), gateway),
        (2 * weight(Theme::Crashes), crash),
        (weight(Theme::Operator), operator),
        (2, engine),
        (1, disk),
        (2 * (weight(Theme::Limits) - 1), |chance, _| {
            listed_talk(chance)
        }),
    ];
    let make = chance.weighted(&makers);
    make(chance, knobs)
}

/// What undoes an action, so that most schedules do not stand still for long, or what meets it.
fn sequel(chance: &mut Prng, action: Action) -> Option<Action> {
    let undo = [
        (Action::NoRoom, Action::Room),
        (Action::Stop(Brake::On), Action::Stop(Brake::Off)),
        (Action::Estop(Brake::On), Action::Estop(Brake::Off)),
    ];
    let undo = undo.iter().find(|(done, _)| *done == action);
    let waits = matches!(
        action,
        Action::Post(_) | Action::Engine(_) | Action::Echo(_)
    );
    match undo {
        Some((_, undo)) => chance.happens(50).then_some(*undo),
        None if waits => chance.happens(60).then(|| listed_talk(chance)),
        None => None,
    }
}

fn listed_talk(chance: &mut Prng) -> Action {
    let who = chance.one(&[Speaker::Ana, Speaker::Ana, Speaker::Bea]);
    let place = chance.one(&[Spot::General, Spot::General, Spot::Help, Spot::Thread(0)]);
    let shape = chance.weighted(&[(9, Shape::Plain), (1, Shape::Paste)]);
    Action::Say(who, place, shape)
}

fn people(chance: &mut Prng, _: &Knobs) -> Action {
    match chance.below(20) {
        0..9 => listed_talk(chance),
        9..12 => Action::Say(anybody(chance), anywhere(chance), shape(chance)),
        12 => Action::Burst(
            chance.one(&[Speaker::Ana, Speaker::Bea, Speaker::Eve]),
            anywhere(chance),
            3 + chance.below(5) as u8,
        ),
        13 => Action::Edit(chance.below(4) as u8),
        14 => Action::Delete(chance.below(4) as u8),
        15..17 => Action::DeleteOwn(chance.below(3) as u8),
        17 => Action::OpenThread(
            chance.one(&[Spot::General, Spot::Help, Spot::Off, Spot::Quiet]),
            chance.one(&[Announced::Yes, Announced::No]),
        ),
        _ => Action::Say(
            chance.one(&[Speaker::Ana, Speaker::Bea]),
            Spot::Thread(chance.below(3) as u8),
            Shape::Plain,
        ),
    }
}

fn anybody(chance: &mut Prng) -> Speaker {
    chance.one(&[
        Speaker::Ana,
        Speaker::Bea,
        Speaker::Cyd,
        Speaker::Lim,
        Speaker::Eve,
        Speaker::Robot,
        Speaker::Hook,
    ])
}

fn anywhere(chance: &mut Prng) -> Spot {
    chance.one(&[
        Spot::General,
        Spot::Help,
        Spot::Quiet,
        Spot::Attic,
        Spot::Off,
        Spot::Thread(0),
        Spot::Thread(1),
    ])
}

fn shape(chance: &mut Prng) -> Shape {
    chance.one(&[
        Shape::Plain,
        Shape::Plain,
        Shape::Mention,
        Shape::Paste,
        Shape::Oversize,
        Shape::Pin,
        Shape::Elsewhere,
    ])
}

fn network(chance: &mut Prng, _: &Knobs) -> Action {
    match chance.below(20) {
        0..11 => Action::Post(post_fault(chance)),
        11..14 => Action::LookUp(look_up_fault(chance)),
        14..17 => Action::Echo(match chance.below(3) {
            0 => EchoFault::Lost,
            1 => EchoFault::Late(chance.between(1_000, 60_000)),
            _ => EchoFault::Twice,
        }),
        17 => Action::Outage(
            chance.one(&[Requests::Posts, Requests::LookUps]),
            chance.one(&[5_000, 20_000, 60_000, 230_000]),
        ),
        18 => Action::Rights(
            chance.one(&[Spot::General, Spot::Help]),
            chance.one(&[
                Access::Whole,
                Access::Whole,
                Access::NoPost,
                Access::NoHistory,
            ]),
        ),
        _ => Action::DeleteOwn(chance.below(3) as u8),
    }
}

fn post_fault(chance: &mut Prng) -> PostFault {
    match chance.below(40) {
        0..4 => PostFault::NotSent(chance.one(&[0, 500, 3_000, 20_000])),
        4..12 => PostFault::AnswerLost,
        12..16 => PostFault::NeverArrives,
        16..21 => PostFault::ArrivesLate(chance.between(0, 13_000)),
        21..25 => PostFault::FaultBefore,
        25..30 => PostFault::FaultAfter,
        30..35 => PostFault::AnswerSlow(chance.between(500, 14_000)),
        35..39 => PostFault::ContentRefused,
        _ => PostFault::Unauthorized,
    }
}

fn look_up_fault(chance: &mut Prng) -> LookUpFault {
    if chance.happens(50) {
        LookUpFault::NoAnswer
    } else {
        LookUpFault::Slow(chance.between(500, 14_000))
    }
}

fn gateway(chance: &mut Prng, _: &Knobs) -> Action {
    match chance.below(12) {
        0..6 => Action::LinkDrop(
            chance.one(&[100, 2_000, 10_000, 60_000]),
            chance.one(&[Session::Lives, Session::Lives, Session::Forgotten]),
        ),
        6..8 => Action::Repeat(1 + chance.below(6) as u8),
        8..10 => Action::LookUp(look_up_fault(chance)),
        10 => Action::GuildLate(chance.one(&[2_000, 9_000, 15_000])),
        _ => Action::Checkpoint,
    }
}

fn hints(chance: &mut Prng) -> Hints {
    chance.one(&[Hints::Kept, Hints::Lost])
}

fn down(chance: &mut Prng) -> Down {
    Down {
        for_ms: chance.one(&[200, 2_000, 20_000, 100_000, 230_000, LONG_MS]),
        fate: chance.one(&[
            Fate::Lost,
            Fate::Lost,
            Fate::Durable,
            Fate::Durable,
            Fate::GroupAlone,
            Fate::SpoolAlone,
        ]),
        hints: hints(chance),
    }
}

fn crash(chance: &mut Prng, _: &Knobs) -> Action {
    match chance.below(10) {
        0..4 => Action::Kill(down(chance)),
        4..9 => Action::KillIn(chance.below(24) as u8, down(chance)),
        _ => Action::Disk(DiskFault::Fails(down(chance))),
    }
}

fn operator(chance: &mut Prng, knobs: &Knobs) -> Action {
    match chance.below(16) {
        0..2 => Action::Stop(Brake::On),
        2 => Action::Stop(Brake::Off),
        3..5 => Action::Estop(Brake::On),
        5 => Action::Estop(Brake::Off),
        6..9 => Action::Reload(chance.one(&[
            Variant::Base,
            Variant::NoBea,
            Variant::NoHelp,
            Variant::More,
        ])),
        9..11 => Action::Drain(chance.one(&[200, 5_000, LONG_MS])),
        11 => Action::Cancel,
        12 => Action::AbortTurn,
        13 => Action::NoRoom,
        14 => Action::Room,
        _ => Action::WallJump(jump(chance, knobs)),
    }
}

/// Ahead by anything; back only as far as a window of that length forgives.
fn jump(chance: &mut Prng, knobs: &Knobs) -> i64 {
    if chance.happens(50) || knobs.nonce_window_ms < 300_000 {
        chance.one(&[1_000, 30_000, 300_000])
    } else {
        chance.one(&[-1_000, -10_000])
    }
}

fn engine(chance: &mut Prng, _: &Knobs) -> Action {
    Action::Engine(match chance.below(24) {
        0..8 => Behaviour::Parts(2 + chance.below(4) as u8),
        8 => Behaviour::Parts(60),
        9 => Behaviour::Empty,
        10 => Behaviour::Unseen,
        11 => Behaviour::TwoTexts,
        12..15 => Behaviour::Slow(chance.one(&[10_000, 50_000, 100_000])),
        15..18 => Behaviour::Fails(chance.one(&RunFailure::ALL)),
        18 => Behaviour::AbortsItself,
        19 => Behaviour::Never,
        20..22 => Behaviour::AnswersAfterAbort(chance.one(&[100, 20_000, 40_000])),
        _ => Behaviour::EndsTwice,
    })
}

fn disk(chance: &mut Prng, _: &Knobs) -> Action {
    match chance.below(3) {
        0 => Action::Checkpoint,
        _ => Action::Disk(DiskFault::Slow(chance.between(100, 1_500))),
    }
}
