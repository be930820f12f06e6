//! `guildhall diagnose`: what a binding's engine and model can do.
//!
//! In: a binding. Out: one finding for each of a few small tasks with real tools. Never: a root, a
//! session or a channel of the binding; the tasks have a folder of their own, gone afterwards.

mod bench; // the folder and its tools

use super::{Output, print, run::repo};
use crate::{
    cli::DiagnoseArgs,
    exit::{ExitReason, Failure, chain},
    home::Home,
    seat,
};
use bench::Bench;
use guildhall_binding::EngineKind;
use guildhall_engine::{
    EngineParts, Secret, build,
    diagnose::{Report, diagnose},
};

pub(super) fn run(home: &Home, args: &DiagnoseArgs, output: Output) -> Result<(), Failure> {
    // A brake holds back everything that would begin, a trial of the model too.
    if let Some(brake) = home.brakes(&args.binding).set() {
        return Err(seat::braked(&brake));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("cannot start the runtime: {error}")))?;
    let found = runtime.block_on(async {
        tokio::select! {
            found = diagnosed(home, args) => found,
            stopped = tokio::signal::ctrl_c() => Err(match stopped {
                Ok(()) => Failure::failed("stopped"),
                Err(error) => Failure::failed(error),
            }),
        }
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    let report = found?;
    match output {
        Output::Text => print(report.to_string().trim_end()),
        Output::Json => print(serde_json::to_string(&report).map_err(Failure::failed)?),
    }
    judged(&report)
}

/// Whether the model can be let into a channel with tools.
fn judged(report: &Report) -> Result<(), Failure> {
    if report.passed() {
        return Ok(());
    }
    Err(
        Failure::failed("this engine and model do not do every task").hint(
            "docs/engines.md says what each finding means; another model, or the server's own \
             template for tool calls, may do better",
        ),
    )
}

async fn diagnosed(home: &Home, args: &DiagnoseArgs) -> Result<Report, Failure> {
    let policy = home.policy(&args.binding)?;
    if policy.engine.kind == EngineKind::Practice {
        return Err(Failure::invalid(
            "this binding's engine is practice, which has no model to try",
        )
        .hint("set engine.kind to native or pi; docs/engines.md shows how"));
    }
    let context = seat::context(&policy, &repo(args.repo.as_deref())?)?;
    let bench = Bench::new(&policy)?;
    let mut parts = EngineParts::new(bench.sessions());
    parts.system_prompt = context;
    parts.search_path = std::env::var_os("PATH");
    if let Some(variable) = &policy.engine.key_env
        && let Ok(value) = std::env::var(variable)
    {
        let secret = Secret::new(&value)
            .map_err(|error| Failure::invalid(format!("the key in {variable}: {error}")))?;
        parts.key_env_value = Some(secret);
    }
    let engine = build(&policy.engine, parts).map_err(|error| Failure::invalid(chain(&error)))?;
    engine.check().await.map_err(|error| {
        Failure::new(
            ExitReason::Failed,
            format!("the engine cannot start: {error}"),
        )
        .hint(format!("`guildhall check {}` says more", args.binding))
    })?;
    Ok(diagnose(engine.as_ref(), &bench, policy.limits.turn_timeout).await)
}
