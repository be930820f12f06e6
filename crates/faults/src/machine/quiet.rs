//! The end of a run: faults stop, time goes on until nothing is left to do, and then it is judged.
//!
//! In: a machine whose plan is over. Out: violations. Never: a repair that would hide a fault: no
//! fresh session and no restart is forced before the first judgement.

use super::{Faults, Fire, Machine, Stage};
use crate::{
    check,
    plan::{Down, Encore, Fate},
    violation::Invariant,
};
use guildhall_connector::{
    input::Room,
    moment::{Brake, Brakes},
};

/// How often the operator looks, in milliseconds.
const OPERATOR_MS: u64 = 60_000;
/// How often the operator may have to look before all is quiet: two hours and more.
const OPERATOR_CALLS_MAX_COUNT: u32 = 150;

impl Machine<'_> {
    /// Faults stop.
    pub(super) fn calm_down(&mut self) {
        self.note(|| "==  faults stop".to_owned());
        self.stage = Stage::Quiet;
        self.faults = Faults::default();
        self.discord.grant_all();
        self.brakes = Brakes {
            stop: Brake::Off,
            estop: Brake::Off,
        };
        if let Some(process) = &mut self.process {
            process.kill_in = None;
        }
        if self.room == Room::None {
            self.set_room(Room::Enough);
        }
        self.fire_in(OPERATOR_MS, Fire::Operator);
    }

    /// The operator settles what the seat could not, and comes back while work is open.
    pub(super) fn look_after(&mut self) {
        self.operator_calls += 1;
        let at = self.moment();
        let Some(process) = &self.process else {
            return self.fire_in(OPERATOR_MS, Fire::Operator);
        };
        let status = process.connector.status(&at);
        let stuck = status.deliveries.iter().filter(|open| open.step == "stuck");
        let stuck: Vec<_> = stuck.map(|open| open.nonce).collect();
        let busy = !status.at_work.is_empty()
            || !status.waiting.is_empty()
            || !status.deliveries.is_empty()
            || status.phase != "serving";
        for nonce in stuck {
            self.settle_by_hand(nonce);
        }
        if self.operator_calls > OPERATOR_CALLS_MAX_COUNT {
            let about = format!("{} deliveries, {status:?}", status.deliveries.len());
            self.blame(Invariant::Restless, about);
        } else if busy {
            self.fire_in(OPERATOR_MS, Fire::Operator);
        }
    }

    /// Nothing is left to do: judges, and goes on with what the plan still wants.
    pub(super) fn is_next_stage_begun(&mut self) -> bool {
        check::judge(self);
        let clean = !check::is_seen_outside(&self.ledger.violations);
        match (self.stage, self.plan.knobs.encore) {
            (Stage::Quiet, Encore::Restart(for_ms, hints)) if clean => {
                self.note(|| "==  encore".to_owned());
                self.stage = Stage::Encore;
                let fate = Fate::Lost;
                self.die(Down {
                    for_ms,
                    fate,
                    hints,
                });
                self.fire_in(for_ms + OPERATOR_MS, Fire::Operator);
                true
            }
            (Stage::Plan | Stage::Quiet | Stage::Encore, Encore::None | Encore::Restart(..)) => {
                false
            }
        }
    }
}
