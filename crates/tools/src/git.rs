//! Tools over git.
//!
//! In: a root with git, a message and paths, who caused the turn. Out: what a verb did, as text.
//! Never: a requester from an argument; a commit or a push that a person was not shown where the
//! policy asks.

mod acts; // each verb with its permit
mod effects; // prepared verbs
mod words; // results as text

use crate::{
    arguments::Arguments,
    call::Call,
    effect::{carry_out, look, permitted},
    ground::Ground,
    refusal::CallRefusal,
    turn::{Given, GivenKind, Turn, about},
};
use effects::{CommitEffect, GitRead, PullEffect, PushEffect, ReserveEffect};
use guildhall_authority::{ask::Shown, permit::Denied};
use guildhall_git::{CommitRequest, GitRoot, Requester};
use std::sync::Arc;

/// A root and its git, as a call names it.
#[derive(Clone)]
pub(crate) struct Bound {
    ground: Arc<Ground>,
    git: GitRoot,
}

impl Bound {
    fn of(
        turn: &Turn,
        call: &Call,
        arguments: &Arguments,
        target: &str,
    ) -> Result<Self, CallRefusal> {
        let name = arguments.text("root");
        let ground = turn.host.ground(&turn.scope, name);
        about(
            turn,
            call,
            ground.map(|ground| ground.name.as_str()),
            target,
        );
        let ground = ground.ok_or(CallRefusal::Denied(Denied::UnknownRoot))?;
        let tools = turn.scope.policy().tools.as_ref();
        let declared = tools.and_then(|tools| tools.roots.iter().find(|root| root.name == name));
        let has_git = declared.is_some_and(|root| root.git.is_some());
        let git = ground.git.as_ref().filter(|_| has_git);
        Ok(Self {
            git: git.ok_or(CallRefusal::NoGit)?.clone(),
            ground: Arc::clone(ground),
        })
    }
}

/// How a root stands.
pub(crate) async fn status(
    turn: &Arc<Turn>,
    call: &Call,
    arguments: &Arguments,
) -> Result<Given, CallRefusal> {
    let bound = Bound::of(turn, call, arguments, "")?;
    let effect = GitRead(bound.clone());
    let permit = permitted(turn, call, effect, |_| Shown::default()).await?;
    let status = look(turn, call, permit, acts::status).await?;
    turn.record()
        .was_shown(&format!("{}: git status", bound.ground.name));
    given(turn, call, words::of_status(&status), GivenKind::Seen)
}

/// Commits and pushes.
pub(crate) async fn commit(
    turn: &Arc<Turn>,
    call: &Call,
    arguments: &Arguments,
) -> Result<Given, CallRefusal> {
    let (message, paths) = (
        arguments.text("message").to_owned(),
        arguments.texts("paths"),
    );
    let bound = Bound::of(turn, call, arguments, &paths.join(", "))?;
    let requester = turn.scope.requester();
    // A name of nothing that can be seen says nobody: the id then does.
    let requester = requester.map(|requester| {
        Requester::parse(&requester.name).or_else(|_| Requester::parse(&requester.id.to_string()))
    });
    let requester = requester.transpose().map_err(CallRefusal::of_git)?;
    let held = bound.clone();
    let prepared = prepare(turn, call, move |call| {
        let request = CommitRequest {
            message: &message,
            paths: &paths,
            requester: requester.as_ref(),
        };
        held.git.prepare_commit(&request, call.cancel.git())
    })
    .await?;
    let effect = CommitEffect { bound, prepared };
    let permit = permitted(turn, call, effect, CommitEffect::card).await?;
    let target = permit.effect().target();
    let summary = permit.effect().prepared.summary().clone();
    let done = carry_out(turn, call, permit, target, acts::commit).await?;
    given(
        turn,
        call,
        words::of_commit(&summary, &done),
        GivenKind::Changed,
    )
}

/// Pushes.
pub(crate) async fn push(
    turn: &Arc<Turn>,
    call: &Call,
    arguments: &Arguments,
) -> Result<Given, CallRefusal> {
    let bound = Bound::of(turn, call, arguments, "")?;
    let held = bound.clone();
    let prepared = prepare(turn, call, move |call| {
        held.git.prepare_push(call.cancel.git())
    })
    .await?;
    let effect = PushEffect { bound, prepared };
    if effect.is_idle() {
        let text = words::of_no_push(effect.prepared.summary());
        return given(turn, call, text, GivenKind::Seen);
    }
    let permit = permitted(turn, call, effect, PushEffect::card).await?;
    let target = permit.effect().target();
    let summary = permit.effect().prepared.summary().clone();
    carry_out(turn, call, permit, target, acts::push).await?;
    given(turn, call, words::of_push(&summary), GivenKind::Changed)
}

/// Pulls.
pub(crate) async fn pull(
    turn: &Arc<Turn>,
    call: &Call,
    arguments: &Arguments,
) -> Result<Given, CallRefusal> {
    let bound = Bound::of(turn, call, arguments, "")?;
    let permit = permitted(turn, call, PullEffect(bound), PullEffect::card).await?;
    let target = permit.effect().target();
    let done = carry_out(turn, call, permit, target, acts::pull).await?;
    given(turn, call, words::of_pull(&done), GivenKind::Changed)
}

/// Reserves an id in a vault.
pub(crate) async fn reserve_id(
    turn: &Arc<Turn>,
    call: &Call,
    arguments: &Arguments,
) -> Result<Given, CallRefusal> {
    let (prefix, title) = (arguments.text("prefix"), arguments.text("title"));
    let bound = Bound::of(turn, call, arguments, prefix)?;
    if let Some(family) = guildhall_confine::credential_in(title.as_bytes()) {
        return Err(CallRefusal::SecretShape(family));
    }
    let effect = ReserveEffect {
        bound,
        prefix: prefix.to_owned(),
        title: title.to_owned(),
    };
    let permit = permitted(turn, call, effect, ReserveEffect::card).await?;
    let target = permit.effect().target();
    let id = carry_out(turn, call, permit, target, acts::reserve).await?;
    let text =
        format!("Reserved {id}. What the registry got goes into the next commit with the record.");
    given(turn, call, text, GivenKind::Changed)
}

/// Prepares a verb where git's work is done.
async fn prepare<T: Send + 'static>(
    turn: &Turn,
    call: &Call,
    act: impl FnOnce(&Call) -> Result<T, guildhall_git::GitRefusal> + Send + 'static,
) -> Result<T, CallRefusal> {
    let held = call.clone();
    let work = turn.host.pool_of(call.tool).run(move || act(&held));
    match call.within(work).await? {
        Some(prepared) => prepared.map_err(CallRefusal::of_git),
        None => Err(CallRefusal::Cancelled),
    }
}

fn given(turn: &Turn, call: &Call, text: String, kind: GivenKind) -> Result<Given, CallRefusal> {
    turn.record().had_bytes(call.number, text.len());
    Ok(Given { text, kind })
}
