//! Coming in: from a wait to a live session, and back to a wait.
//!
//! In: addresses, frames, closes. Out: connects, IDENTIFY or RESUME. Never: an IDENTIFY where a
//! session may be resumed, a resume for ever, an IDENTIFY beyond the budgets.

use super::{
    Address, Aim, Beat, CLOSE_FOR_GOOD, CLOSE_RESUMABLE, CONNECT_DEADLINE_MS, CloseMeaning,
    ConnectTo, DialFault, Down, DownWhy, Duration, Event, FIND_DEADLINE_MS, Fatal, Frame,
    GatewayAddress, GatewayBot, HELD_MS, HELLO_DEADLINE_MS, IDENTIFIES_RESERVE,
    IDENTIFY_SPACING_MS, IdentifyBudget, Machine, News, Now, Output, READY_DEADLINE_MS,
    RESUMES_COUNT, Stage,
};

impl Machine {
    /// Begins an attempt: a resume where there is a session, else an IDENTIFY.
    pub(super) fn attempt(&mut self, now: Now, out: &mut Vec<Output>) {
        if self.session.is_some() {
            match self.resume_address() {
                Some(address) => self.connect(now, Aim::Resume, address, out),
                None => self.find(now, Aim::Resume, out),
            }
            return;
        }
        if let Some(last) = self.last_identify {
            let soonest = last + IDENTIFY_SPACING_MS;
            if now.mono_ms < soonest {
                self.stage = Stage::Waiting { until: soonest };
                return;
            }
        }
        if self.identifies.allows(now.wall_ms) {
            self.find(now, Aim::Identify, out);
        } else {
            let tomorrow = IdentifyBudget::until_tomorrow_ms(now.wall_ms);
            self.out_of_identifies(now, Fatal::OwnIdentifiesSpent, tomorrow, out);
        }
    }

    fn resume_address(&mut self) -> Option<GatewayAddress> {
        let own = self
            .session
            .as_ref()
            .and_then(|session| session.resume_url.as_deref());
        let own = own.filter(|_| !self.resume_url_failed);
        let address = own.and_then(|url| GatewayAddress::parse(url, self.settings.reach).ok());
        self.connecting_to_resume_url = address.is_some();
        address.or_else(|| self.base.clone())
    }

    fn find(&mut self, now: Now, aim: Aim, out: &mut Vec<Output>) {
        self.stage = Stage::Finding {
            until: now.mono_ms + FIND_DEADLINE_MS,
            aim,
        };
        out.push(Output::FindAddress);
    }

    fn connect(&mut self, now: Now, aim: Aim, address: GatewayAddress, out: &mut Vec<Output>) {
        self.stage = Stage::Connecting {
            until: now.mono_ms + CONNECT_DEADLINE_MS,
            aim,
        };
        out.push(Output::Connect(ConnectTo(address)));
    }

    pub(super) fn found(&mut self, now: Now, address: Address, out: &mut Vec<Output>) {
        let Stage::Finding { aim, .. } = self.stage else {
            return;
        };
        match address {
            Address::Here(bot) => self.found_here(now, aim, &bot, out),
            Address::Unauthorized => self.end(Fatal::Unauthorized, out),
            Address::Later(wait) => {
                let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                self.lose(now, DownWhy::NoAddress, wait.min(3_600_000), out);
            }
        }
    }

    fn found_here(&mut self, now: Now, aim: Aim, bot: &GatewayBot, out: &mut Vec<Output>) {
        let Ok(address) = GatewayAddress::parse(&bot.url, self.settings.reach) else {
            self.end(Fatal::AddressRefused, out);
            return;
        };
        self.base = Some(address.clone());
        self.connecting_to_resume_url = false;
        let left = bot.identifies_left.unwrap_or(u64::MAX);
        if aim == Aim::Identify && left < IDENTIFIES_RESERVE {
            let reset = u64::try_from(bot.reset_after.as_millis()).unwrap_or(u64::MAX);
            let wait = reset.clamp(60_000, 86_400_000);
            self.out_of_identifies(now, Fatal::IdentifiesLow { left }, wait, out);
            return;
        }
        self.connect(now, aim, address, out);
    }

    /// A start is refused; a seat that has been serving waits for new ones.
    fn out_of_identifies(&mut self, now: Now, fatal: Fatal, wait: u64, out: &mut Vec<Output>) {
        if self.was_live {
            self.lose(now, DownWhy::IdentifiesSpent, wait, out);
        } else {
            self.end(fatal, out);
        }
    }

    pub(super) fn opened(&mut self, now: Now) {
        if let Stage::Connecting { aim, .. } = self.stage {
            self.stage = Stage::Greeting {
                until: now.mono_ms + HELLO_DEADLINE_MS,
                aim,
            };
        }
    }

    pub(super) fn hello(&mut self, now: Now, interval: u64, out: &mut Vec<Output>) {
        let Stage::Greeting { aim, .. } = self.stage else {
            return;
        };
        // The first beat comes at a random moment, so that many clients do not beat as one.
        let first = self.random.u64(0..=interval);
        let beat = Beat {
            interval,
            next: now.mono_ms + first,
            acked: true,
        };
        let until = now.mono_ms + READY_DEADLINE_MS;
        self.stage = Stage::Entering { until, aim, beat };
        self.sends = (now.mono_ms, 1);
        match (aim, &self.session) {
            (Aim::Resume, Some(session)) => out.push(Output::Send(Frame::Resume {
                session: session.id.clone(),
                seq: self.ledger.seen(),
            })),
            (Aim::Resume | Aim::Identify, _) => {
                self.identifies.spend(now.wall_ms);
                self.last_identify = Some(now.mono_ms);
                // The count is told first, so that it can be on disk before it is true.
                out.push(Output::SessionChanged);
                out.push(Output::Send(Frame::Identify));
            }
        }
    }

    /// The session is live: READY or RESUMED came.
    pub(super) fn enter(&mut self, now: Now) {
        if let Stage::Entering { beat, .. } = self.stage {
            self.stage = Stage::Live {
                since: now.mono_ms,
                beat,
            };
        }
        self.resumes_failed = 0;
        self.resume_url_failed = false;
        self.was_live = true;
    }

    pub(super) fn closed(&mut self, now: Now, code: Option<u16>, out: &mut Vec<Output>) {
        let why = code.map_or(DownWhy::Lost, DownWhy::Closed);
        match CloseMeaning::of(code) {
            CloseMeaning::Resume => {}
            CloseMeaning::ResumeAfterOurFault => {
                tracing::error!(code, "discord closed the gateway over something we sent");
            }
            CloseMeaning::NewSession => self.forget_session(),
            CloseMeaning::Fatal(fatal) => {
                self.end(Fatal::Closed(fatal), out);
                return;
            }
        }
        // The task still holds its half of the socket.
        out.push(Output::Close(CLOSE_RESUMABLE));
        self.lose(now, why, 0, out);
    }

    pub(super) fn close_and_lose(
        &mut self,
        now: Now,
        why: DownWhy,
        at_least_ms: u64,
        out: &mut Vec<Output>,
    ) {
        out.push(Output::Close(CLOSE_RESUMABLE));
        self.lose(now, why, at_least_ms, out);
    }

    /// Back to waiting. Every loss counts for the back-off, whatever its cause.
    pub(super) fn lose(&mut self, now: Now, why: DownWhy, at_least_ms: u64, out: &mut Vec<Output>) {
        match self.stage {
            Stage::Live { since, .. } if now.mono_ms >= since + HELD_MS => self.backoff.reset(),
            Stage::Entering {
                aim: Aim::Resume, ..
            } => {
                self.resumes_failed += 1;
                if self.resumes_failed >= RESUMES_COUNT {
                    self.forget_session();
                }
            }
            Stage::Connecting {
                aim: Aim::Resume, ..
            }
            | Stage::Greeting {
                aim: Aim::Resume, ..
            } if self.connecting_to_resume_url => {
                self.resume_url_failed = true;
            }
            Stage::Waiting { .. }
            | Stage::Finding { .. }
            | Stage::Connecting { .. }
            | Stage::Greeting { .. }
            | Stage::Entering { .. }
            | Stage::Live { .. }
            | Stage::Ended => {}
        }
        let wait = self.backoff.next_ms(&mut self.random).max(at_least_ms);
        self.stage = Stage::Waiting {
            until: now.mono_ms + wait,
        };
        let retry_in = Duration::from_millis(wait);
        out.push(Output::SessionChanged);
        out.push(Output::Deliver(Event {
            seq: None,
            news: News::Down(Down { why, retry_in }),
        }));
    }

    pub(super) fn forget_session(&mut self) {
        self.session = None;
        self.ledger.forget();
        self.resumes_failed = 0;
        self.resume_url_failed = false;
    }

    pub(super) fn end(&mut self, fatal: Fatal, out: &mut Vec<Output>) {
        self.stage = Stage::Ended;
        out.push(Output::Close(CLOSE_FOR_GOOD));
        out.push(Output::SessionChanged);
        out.push(Output::Deliver(Event {
            seq: None,
            news: News::Fatal(fatal),
        }));
        out.push(Output::Ended);
    }

    pub(super) fn leave(&mut self, code: u16, out: &mut Vec<Output>) {
        if matches!(code, 1000 | 1001) {
            self.forget_session();
        }
        self.stage = Stage::Ended;
        out.push(Output::Close(code));
        out.push(Output::SessionChanged);
        out.push(Output::Ended);
    }
}

impl From<DialFault> for DownWhy {
    fn from(fault: DialFault) -> Self {
        Self::NoConnection(fault)
    }
}
