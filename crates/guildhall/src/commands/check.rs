//! `guildhall check`: everything that can be known before a start, one line for each fact.
//!
//! In: a binding's name. Out: facts, each in order or not, with what to do. Never: a message in a
//! channel, a change to the binding or the token.

mod discord; // what Discord says
mod local; // what this machine says

use super::{Output, print, run::repo};
use crate::{
    cli::RunArgs,
    exit::{ExitReason, Failure},
    home::{self, Home},
};
use guildhall_discord::{ApiBase, Rest, check::CheckOutcome};
use serde_json::json;

/// Facts as they are found, and the worst of them.
pub(super) struct Findings {
    output: Output,
    worst: ExitReason,
    not_ok_count: u32,
    warnings_count: u32,
}

impl Findings {
    fn new(output: Output) -> Self {
        Self {
            output,
            worst: ExitReason::Ok,
            not_ok_count: 0,
            warnings_count: 0,
        }
    }

    /// Something is as it should be.
    fn ok(&mut self, about: &str, found: impl std::fmt::Display) {
        self.tell(about, CheckOutcome::Ok, &found.to_string(), &[]);
    }

    /// It works, and may surprise.
    fn warn(&mut self, about: &str, found: &str, hint: &str) {
        self.tell(about, CheckOutcome::Warning, found, &[hint.to_owned()]);
    }

    /// It does not work.
    fn bad(&mut self, about: &str, failure: &Failure) {
        // What a person must mend outweighs what may mend itself.
        if self.worst != ExitReason::Invalid {
            self.worst = failure.reason;
        }
        self.tell(about, CheckOutcome::NotOk, &failure.what, &failure.hints);
    }

    fn take<T>(&mut self, about: &str, found: Result<T, Failure>) -> Option<T> {
        match found {
            Ok(value) => Some(value),
            Err(failure) => {
                self.bad(about, &failure);
                None
            }
        }
    }

    fn tell(&mut self, about: &str, state: CheckOutcome, fact: &str, hints: &[String]) {
        let (word, code) = match state {
            CheckOutcome::Ok => ("ok     ", "ok"),
            CheckOutcome::Warning => ("warning", "warning"),
            CheckOutcome::NotOk => ("not ok ", "not-ok"),
        };
        match state {
            CheckOutcome::Ok => {}
            CheckOutcome::Warning => self.warnings_count += 1,
            CheckOutcome::NotOk => self.not_ok_count += 1,
        }
        match self.output {
            Output::Text => {
                print(format!("{word} {about}: {fact}"));
                for hint in hints {
                    print(format!("        {hint}"));
                }
            }
            Output::Json => {
                print(json!({"about": about, "state": code, "fact": fact, "hints": hints}));
            }
        }
    }
}

pub(super) fn run(home: &Home, args: &RunArgs, output: Output) -> Result<(), Failure> {
    let mut findings = Findings::new(output);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("cannot start the runtime: {error}")))?;
    runtime.block_on(look(home, args, &mut findings))?;
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    let (bad, warnings) = (findings.not_ok_count, findings.warnings_count);
    if findings.worst == ExitReason::Ok {
        if output == Output::Text {
            let words = match warnings {
                0 => "everything is in order".to_owned(),
                1 => "everything needed is in order, with 1 warning".to_owned(),
                more => format!("everything needed is in order, with {more} warnings"),
            };
            print(words);
        }
        return Ok(());
    }
    let words = match bad {
        1 => "1 thing is not in order".to_owned(),
        more => format!("{more} things are not in order"),
    };
    Err(Failure::new(findings.worst, words))
}

/// Looks at everything, the machine first: what is wrong there keeps Discord from being asked.
async fn look(home: &Home, args: &RunArgs, findings: &mut Findings) -> Result<(), Failure> {
    let name = args.binding.as_str();
    findings.ok("data root", home.root().display());
    let Some(policy) = findings.take("binding", home.policy(name)) else {
        return Ok(());
    };
    findings.ok("binding", home.binding_file(name).display());
    let token = findings.take("token file", home::token(&policy));
    if token.is_some() {
        findings.ok("token file", policy.token_file.display());
    }
    local::look(home, &policy, &repo(args.repo.as_deref())?, findings).await;
    let base = ApiBase::of(policy.discord.api_url.as_deref())
        .map_err(|error| Failure::invalid(format!("discord.apiUrl: {error}")));
    if let (Some(token), Some(base)) = (token, findings.take("discord.apiUrl", base)) {
        if let Some(url) = &policy.discord.api_url {
            findings.warn(
                "discord.apiUrl",
                &format!("{url} is asked instead of Discord itself"),
                "remove discord.apiUrl from the binding unless that is a stand-in you run",
            );
        }
        let rest = Rest::new(&base, token, policy.bot);
        discord::look(&policy, &rest, findings).await;
    }
    Ok(())
}
