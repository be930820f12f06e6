//! Questions to a person, each of which a flag answers too.
//!
//! In: a question, the flag's value, what is taken when nothing is said. Out: an answer. Never: a
//! question to a script, a secret that shows while it is typed.

use crate::exit::{ExitReason, Failure};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use std::io::{BufRead as _, IsTerminal as _};

/// How often a person may give an answer that cannot be used.
const TRIES_COUNT: u32 = 5;

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asker {
    /// A person at a terminal.
    Person,
    /// Nobody: flags and defaults are all there is.
    Nobody,
}

impl Asker {
    /// A person, if there is one and they want to be asked.
    pub(super) fn new(yes: bool) -> Self {
        if !yes && std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
            Self::Person
        } else {
            Self::Nobody
        }
    }

    /// Tells a person something; a script need not read it.
    pub(super) fn tell(self, words: &str) {
        if self == Self::Person {
            eprintln!("{words}");
        }
    }

    /// Asks until `check` takes the answer. `flag` is what answers it in a script.
    pub(super) fn ask<T>(
        self,
        question: &str,
        default: Option<&str>,
        flag: &str,
        check: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Failure> {
        let usage = |what: String| Failure::new(ExitReason::Usage, what);
        if self == Self::Nobody {
            let answer =
                default.ok_or_else(|| usage(format!("say {flag}: there is nobody to ask")))?;
            return check(answer).map_err(|why| usage(format!("{flag}: {why}")));
        }
        for _ in 0..TRIES_COUNT {
            match default {
                Some(default) => eprint!("{question} [{default}]: "),
                None => eprint!("{question}: "),
            }
            let line = line()?;
            let answer = if line.is_empty() {
                default.unwrap_or("")
            } else {
                &line
            };
            match check(answer) {
                Ok(value) => return Ok(value),
                Err(why) => eprintln!("  {why}"),
            }
        }
        Err(usage(format!(
            "no answer that can be used; {flag} answers it too"
        )))
    }

    /// Asks for a secret: what is typed does not show.
    pub(super) fn secret(self, question: &str, flag: &str) -> Result<String, Failure> {
        if self == Self::Nobody {
            let what = format!("say {flag}: there is nobody to ask");
            return Err(Failure::new(ExitReason::Usage, what));
        }
        let stdin = std::io::stdin();
        let before = tcgetattr(&stdin).ok();
        if let Some(mut quiet) = before.clone() {
            quiet.local_modes.remove(LocalModes::ECHO);
            quiet.local_modes.insert(LocalModes::ECHONL);
            if let Err(error) = tcsetattr(&stdin, OptionalActions::Drain, &quiet) {
                tracing::debug!(%error, "the terminal goes on showing what is typed");
            }
        }
        // Asked only now: who answers at once must not see it shown, or lose it.
        eprint!("{question} (it does not show): ");
        let line = line();
        if let Some(before) = before
            && let Err(error) = tcsetattr(&stdin, OptionalActions::Now, &before)
        {
            tracing::warn!(%error, "the terminal could not be set back; `stty echo` does it");
        }
        line
    }
}

/// One line of standard input, without white space around it.
fn line() -> Result<String, Failure> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    match read {
        Ok(0) => Err(Failure::failed("the answers ended; nothing was written")),
        Ok(_) => Ok(line.trim().to_owned()),
        Err(error) => Err(Failure::failed(format!("cannot read the answer: {error}"))),
    }
}
