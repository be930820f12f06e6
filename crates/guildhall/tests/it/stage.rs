//! A hall and a seat that serves in it.
//!
//! In: what is said. Out: a verdict once it is settled. Never: a channel that was not served before
//! the trouble begins, so that catching up is allowed everywhere.

use crate::{
    ask::{Ask, Mix, Said, say},
    hall::{CHANNELS, Hall},
    middleman::Middleman,
    seat::{NAME, Seat},
    verdict::{Outcome, Verdict, judge},
    waiting::{PATIENCE, until},
};
use serde_json::json;

/// The channels that trouble is made in; the first one of the hall is for the greeting.
pub(crate) const HERE: [&str; 2] = [CHANNELS[2], CHANNELS[3]];

/// A hall with a seat.
pub(crate) struct Stage {
    pub(crate) hall: Hall,
    pub(crate) seat: Seat,
}

impl Stage {
    /// Both, after a first answer.
    pub(crate) fn open() -> Self {
        Self::of(Hall::open(), &json!({}))
    }

    /// Both, with a middleman who tells Discord's time by the simulator's clock.
    pub(crate) fn by_discords_clock() -> (Self, Middleman) {
        let hall = Hall::open();
        let middleman = Middleman::before(&hall);
        (Self::of(hall, &middleman.binding()), middleman)
    }

    pub(crate) fn of(hall: Hall, changes: &serde_json::Value) -> Self {
        let seat = Seat::with(&hall, changes);
        let mut stage = Self { hall, seat };
        stage.seat.serve();
        stage.greet(0);
        stage
    }

    /// One short ask and its answer.
    pub(crate) fn greet(&mut self, number: u64) {
        let said = say(&self.hall, CHANNELS[0], Ask::Short(number));
        self.answered(&[said]);
    }

    /// Says a mix where the trouble is.
    pub(crate) fn say(&self, mix: Mix) -> Vec<Said> {
        mix.say(&self.hall, HERE, 1)
    }

    /// Waits until all is settled and judges it.
    pub(crate) fn judged(&mut self, said: &[Said]) -> Verdict {
        let rows: Vec<_> = said.iter().map(|said| said.row).collect();
        let settled = self.seat.settles(&rows, PATIENCE);
        assert!(settled, "not settled: {said:?}: {}", self.seat.last_words());
        judge(&self.hall, &self.seat.journal(), said)
    }

    /// Everything gets its whole answer, once and in order.
    pub(crate) fn answered(&mut self, said: &[Said]) {
        let verdict = self.judged(said);
        let all = verdict.outcomes.iter().all(|it| *it == Outcome::Answered);
        assert!(
            all && verdict.faults.is_empty(),
            "{verdict:#?}: {}",
            self.seat.last_words()
        );
    }

    /// Everything gets its answer or one fixed line, and nothing is left open.
    pub(crate) fn accounted(&mut self, said: &[Said]) {
        let verdict = self.judged(said);
        assert!(
            verdict.faults.is_empty(),
            "{verdict:#?}: {}",
            self.seat.last_words()
        );
        assert_eq!(
            self.seat.ask(&["deliveries", NAME]),
            [] as [serde_json::Value; 0]
        );
    }

    /// Waits until every armed fault has struck.
    pub(crate) fn struck(&self) {
        until("the faults to strike", || self.hall.armed() == 0);
    }

    /// A crash, and the next start.
    pub(crate) fn crash(&mut self) {
        self.seat.kill();
        self.seat.start(None);
    }
}
