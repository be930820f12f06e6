//! The verbs themselves: each takes the permit for exactly what it does.
//!
//! In: a permit, by value. Out: what git did, or its refusal. Never: a verb without a permit.

#![expect(
    clippy::disallowed_methods,
    reason = "each function spends the permit for the one verb that it carries out"
)]

use super::effects::{CommitEffect, GitRead, PullEffect, PushEffect, ReserveEffect};
use crate::{call::Call, refusal::CallRefusal};
use guildhall_authority::permit::Permit;
use guildhall_git::{CommitDone, PullDone, Status};

pub(super) fn status(permit: Permit<GitRead>, call: &Call) -> Result<Status, CallRefusal> {
    let GitRead(bound) = permit.spend()?;
    let status = bound.git.status(call.cancel.git());
    status.map_err(CallRefusal::of_git)
}

pub(super) fn commit(permit: Permit<CommitEffect>, call: &Call) -> Result<CommitDone, CallRefusal> {
    let effect = permit.spend()?;
    let done = effect.prepared.commit(call.cancel.git());
    done.map_err(CallRefusal::Git)
}

pub(super) fn push(permit: Permit<PushEffect>, call: &Call) -> Result<(), CallRefusal> {
    let effect = permit.spend()?;
    let pushed = effect.prepared.push(call.cancel.git());
    pushed.map(|_| ()).map_err(CallRefusal::Git)
}

pub(super) fn pull(permit: Permit<PullEffect>, call: &Call) -> Result<PullDone, CallRefusal> {
    let PullEffect(bound) = permit.spend()?;
    let pulled = bound.git.pull(call.cancel.git());
    pulled.map_err(CallRefusal::Git)
}

pub(super) fn reserve(permit: Permit<ReserveEffect>, call: &Call) -> Result<String, CallRefusal> {
    let ReserveEffect {
        bound,
        prefix,
        title,
    } = permit.spend()?;
    let reserved = bound.git.reserve_id(&prefix, &title, call.cancel.git());
    reserved.map_err(CallRefusal::Git)
}
