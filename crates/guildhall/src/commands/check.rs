//! `guildhall check`: everything that can be known before a start, one line for each fact.
//!
//! In: a binding's name. Out: facts, each ok or not, with what to do. Never: a message in a channel.

use super::{Output, print, run::repo};
use crate::{
    cli::RunArgs,
    clock::Clocks,
    exit::{ExitReason, Failure, chain},
    home::{self, Home},
    seat,
};
use guildhall_binding::Policy;
use guildhall_discord::{
    ApiBase, Rest,
    gateway::{Clock, GatewayConfig, Intents, Leave, News, Now, SessionState},
    rest::Outcome,
};
use guildhall_engine::{EngineParts, Secret, build};
use serde_json::json;
use std::{sync::Arc, time::Duration};

/// How long READY may take.
const READY_WAIT: Duration = Duration::from_secs(60);

/// What was found so far.
struct Findings {
    output: Output,
    worst: ExitReason,
}

impl Findings {
    fn ok(&self, what: &str, found: impl std::fmt::Display) {
        match self.output {
            Output::Text => print(format!("ok      {what}: {found}")),
            Output::Json => print(json!({"ok": true, "what": what, "found": found.to_string()})),
        }
    }

    fn bad(&mut self, what: &str, failure: &Failure) {
        if self.worst != ExitReason::Invalid {
            self.worst = failure.reason;
        }
        match self.output {
            Output::Text => {
                print(format!("not ok  {what}: {}", failure.what));
                for hint in &failure.hints {
                    print(format!("        {hint}"));
                }
            }
            Output::Json => print(
                json!({"ok": false, "what": what, "found": failure.what, "hints": failure.hints}),
            ),
        }
    }

    fn take<T>(&mut self, what: &str, found: Result<T, Failure>) -> Option<T> {
        match found {
            Ok(value) => Some(value),
            Err(failure) => {
                self.bad(what, &failure);
                None
            }
        }
    }
}

pub(super) fn run(home: &Home, args: &RunArgs, output: Output) -> Result<(), Failure> {
    let mut findings = Findings {
        output,
        worst: ExitReason::Ok,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("cannot start the runtime: {error}")))?;
    runtime.block_on(look(home, args, &mut findings))?;
    if findings.worst == ExitReason::Ok {
        return Ok(());
    }
    Err(Failure::new(findings.worst, "not everything is in order"))
}

async fn look(home: &Home, args: &RunArgs, findings: &mut Findings) -> Result<(), Failure> {
    let name = args.binding.as_str();
    let Some(policy) = findings.take("binding", home.policy(name)) else {
        return Ok(());
    };
    findings.ok("binding", home.binding_file(name).display());
    let token = findings.take("token file", home::token(&policy));
    if token.is_some() {
        findings.ok("token file", policy.token_file.display());
    }
    let context = seat::context(&policy, &repo(args)?);
    if let Some(context) = findings.take("context files", context) {
        findings.ok(
            "context files",
            format!(
                "{} files, {} bytes",
                policy.context_files.len(),
                context.len()
            ),
        );
        engine(home, &policy, context, findings).await;
    }
    let base = ApiBase::of(policy.discord.api_url.as_deref())
        .map_err(|error| Failure::invalid(format!("discord.apiUrl: {error}")));
    if let (Some(token), Some(base)) = (token, findings.take("discord.apiUrl", base)) {
        discord(&policy, Rest::new(&base, token, policy.bot), findings).await;
    }
    Ok(())
}

async fn engine(home: &Home, policy: &Policy, context: String, findings: &mut Findings) {
    let mut parts = EngineParts::new(home.sessions(policy.name.as_str()));
    parts.system_prompt = context;
    let variable = policy.engine.key_env.as_deref();
    parts.key_env_value = variable
        .and_then(|name| std::env::var(name).ok())
        .and_then(|value| Secret::new(&value).ok());
    let made = home.make_folders(policy.name.as_str());
    let built = made.and_then(|()| {
        build(&policy.engine, parts).map_err(|error| Failure::invalid(chain(&error)))
    });
    let Some(engine) = findings.take("engine", built) else {
        return;
    };
    let checked = engine.check().await.map_err(Failure::failed);
    if findings.take("engine", checked).is_some() {
        findings.ok("engine", engine.describe().kind);
    }
}

async fn discord(policy: &Arc<Policy>, rest: Rest, findings: &mut Findings) {
    let me = answer(rest.me().await, "the bot").and_then(|me| {
        if me.id == policy.bot {
            Ok(me)
        } else {
            let what = format!(
                "the token belongs to {}, not to botUserId {}",
                me.id, policy.bot
            );
            Err(Failure::invalid(what)
                .hint("put the right token into the token file, or correct botUserId"))
        }
    });
    let Some(me) = findings.take("bot", me) else {
        return;
    };
    findings.ok("bot", me.id);
    let guild = answer(rest.guild(policy.guild.id).await, "the server")
        .map_err(|failure| failure.hint(format!("invite the bot: {}", seat::invite(policy))));
    let Some(guild) = findings.take("server", guild) else {
        return;
    };
    findings.ok("server", guild.id);
    for channel in policy.channels.values() {
        let what = format!("channel {}", channel.id);
        let read = answer(rest.channel(channel.id).await, "the channel").and_then(|place| {
            if place.guild.is_none_or(|there| there == policy.guild.id) {
                Ok(place)
            } else {
                Err(Failure::invalid("it is of another server"))
            }
        });
        if findings.take(&what, read).is_some() {
            findings.ok(&what, &channel.name);
        }
    }
    gateway(policy, &rest, findings).await;
}

async fn gateway(policy: &Policy, rest: &Rest, findings: &mut Findings) {
    let clocks = Clocks::default();
    let now = move || Now {
        mono_ms: clocks.mono().0,
        wall_ms: u64::try_from(clocks.wall().0).unwrap_or(0),
    };
    let config = GatewayConfig {
        bot: policy.bot,
        intents: Intents::CHANNELS,
        state: SessionState::default(),
        clock: Clock::new(now),
        seed: fastrand::u64(..),
    };
    let (handle, mut events) = guildhall_discord::gateway::connect(rest, config);
    let ready = async {
        while let Some(event) = events.next().await {
            if let News::Ready(_) = event.news {
                return Ok(());
            }
            if let News::Fatal(fatal) = event.news {
                return Err(seat::fatal_failure(fatal));
            }
            if let News::Down(down) = event.news {
                tracing::debug!(why = ?down.why, "not connected yet");
            }
        }
        Err(Failure::failed("the gateway ended without a word"))
    };
    let ready = tokio::time::timeout(READY_WAIT, ready)
        .await
        .unwrap_or_else(|_| Err(Failure::failed("no READY within 60 seconds")));
    if findings.take("gateway", ready).is_some() {
        findings.ok("gateway", "connected, READY");
    }
    handle.leave(Leave::ForGood);
    let closed = async { while events.next().await.is_some() {} };
    if tokio::time::timeout(Duration::from_secs(2), closed)
        .await
        .is_err()
    {
        tracing::debug!("the gateway took too long to close");
    }
}

fn answer<T>(outcome: Outcome<T>, what: &str) -> Result<T, Failure> {
    match outcome {
        Outcome::Done(value) => Ok(value),
        Outcome::Refused(no) if no.status == 401 => {
            Err(Failure::invalid("Discord does not accept the token")
                .hint("copy the token again from the developer portal into the token file"))
        }
        Outcome::Refused(no) if no.status == 403 => Err(Failure::invalid(format!(
            "the bot may not see {what} (code {})",
            no.code
        ))),
        Outcome::Refused(no) if no.status == 404 => Err(Failure::invalid(format!(
            "Discord does not know {what}, or the bot is not in the server (code {})",
            no.code
        ))),
        Outcome::Refused(no) => Err(Failure::failed(format!(
            "Discord answered {} (code {})",
            no.status, no.code
        ))),
        Outcome::NotSent(not_sent) => Err(Failure::failed(format!(
            "Discord could not be reached: {:?}",
            not_sent.why
        ))),
        Outcome::Unknown(why) => Err(Failure::failed(format!("no answer from Discord: {why:?}"))),
    }
}
