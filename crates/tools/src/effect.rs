//! Effects of tools, prepared and not done, and how each is permitted and carried out.
//!
//! In: an effect of a call. Out: what it came to. Never: an effect without a permit; a change whose
//! beginning is not on disk; a permit that leaves this module unspent.

use crate::{
    call::{Call, Cancel},
    contract::GateClosed,
    ground::Ground,
    refusal::CallRefusal,
    turn::Turn,
};
use guildhall_authority::{
    ask::{Answer, AskSpec, Shown},
    call::{CallBegun, CallEnd, CallEnded},
    offer::ToolName,
    permit::{Effect, EffectDigest, Permit, PermittedBy, Subject, Verdict},
};
use guildhall_confine::{Change, Prepared, Published, RelPath};
use std::{fmt::Write as _, sync::Arc};

/// Tag of every digest of an effect.
pub(crate) const TAG: &str = "guildhall effect 1";

/// Looks at files of a root.
pub(crate) struct ReadEffect {
    pub(crate) tool: ToolName,
    pub(crate) ground: Arc<Ground>,
    pub(crate) path: RelPath,
}

impl Effect for ReadEffect {
    fn tool(&self) -> ToolName {
        self.tool
    }

    fn subject(&self) -> Subject<'_> {
        Subject::Reads {
            root: &self.ground.name,
        }
    }

    fn digest(&self) -> EffectDigest {
        Place::of(&self.ground).digest("read", &[self.path.as_str().as_bytes()])
    }
}

/// Makes, replaces or edits a file.
pub(crate) struct WriteEffect {
    pub(crate) tool: ToolName,
    pub(crate) ground: Arc<Ground>,
    pub(crate) prepared: Prepared,
}

impl Effect for WriteEffect {
    fn tool(&self) -> ToolName {
        self.tool
    }

    fn subject(&self) -> Subject<'_> {
        Subject::Changes {
            root: &self.ground.name,
        }
    }

    fn digest(&self) -> EffectDigest {
        let mode = match self.prepared.change() {
            Change::Create => "create",
            Change::Replace => "replace",
            Change::Edit => "edit",
        };
        let before = self.prepared.digest_before();
        let before = before
            .as_ref()
            .map_or(b"absent".as_slice(), |digest| digest.as_slice());
        let fields = [
            self.prepared.path().as_str().as_bytes(),
            mode.as_bytes(),
            before,
            &self.prepared.digest_after(),
        ];
        Place::of(&self.ground).digest("write", &fields)
    }
}

impl WriteEffect {
    /// What is recorded of it before it begins.
    pub(crate) fn target(&self) -> Target {
        Target {
            root: Some(self.ground.name.clone()),
            target: self.prepared.path().to_string(),
            after: Some(hex(&self.prepared.digest_after())),
        }
    }
}

/// Makes a change of a file; where the root has the vault protocol, under the lock of the path.
#[expect(
    clippy::disallowed_methods,
    reason = "the permit for this very change is spent here"
)]
pub(crate) fn publish(
    permit: Permit<WriteEffect>,
    cancel: &Cancel,
) -> Result<Published, CallRefusal> {
    let WriteEffect {
        ground, prepared, ..
    } = permit.spend()?;
    let Some(vault) = ground.vault() else {
        return Ok(ground.root.publish(prepared)?);
    };
    let path = prepared.path().clone();
    let locked = vault.lock(&path, cancel.git());
    locked.map_err(CallRefusal::of_git)?;
    let published = ground.root.publish(prepared);
    // Given back in any case. Where that fails it lapses by itself, and the file is as it is.
    let _lapses = vault.unlock(&path, &guildhall_git::Cancel::new());
    Ok(published?)
}

/// Hex digits of a digest.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes every write");
        text
    })
}

/// Which directory an effect is bound to.
pub(crate) struct Place<'g> {
    root: &'g str,
    device: [u8; 8],
    inode: [u8; 8],
}

impl<'g> Place<'g> {
    pub(crate) fn of(ground: &'g Ground) -> Self {
        let identity = ground.root.identity();
        Self {
            root: &ground.name,
            device: identity.device.to_be_bytes(),
            inode: identity.inode.to_be_bytes(),
        }
    }

    /// Digest of the class, the root, the directory, and then the rest.
    pub(crate) fn digest(&self, class: &str, rest: &[&[u8]]) -> EffectDigest {
        let mut fields = vec![
            class.as_bytes(),
            self.root.as_bytes(),
            &self.device,
            &self.inode,
        ];
        fields.extend_from_slice(rest);
        EffectDigest::of(TAG, &fields)
    }
}

/// What is recorded of a change before it begins.
pub(crate) struct Target {
    pub(crate) root: Option<String>,
    pub(crate) target: String,
    /// Hex SHA-256 of a file's content as it will be.
    pub(crate) after: Option<String>,
}

/// Has an effect judged, and a person asked where the policy says so.
///
/// The wait for a person takes nothing of the call's time.
pub(crate) async fn permitted<E: Effect>(
    turn: &Turn,
    call: &Call,
    effect: E,
    shown: impl FnOnce(&E) -> Shown + Send,
) -> Result<Permit<E>, CallRefusal> {
    let judge = &turn.host.judge;
    let pending = match judge.judge(effect, &turn.scope, &turn.life, call.number) {
        Verdict::Allowed(permit) => return Ok(permit),
        Verdict::Refused(denied) => return Err(denied.into()),
        Verdict::Asks(pending) => pending,
    };
    let mut shown = shown(pending.effect());
    shown.read = turn.record().what_was_read();
    let spec = AskSpec {
        id: pending.ask(),
        turn: turn.scope.turn().clone(),
        call: call.number,
        tool: pending.effect().tool(),
        digest: pending.digest(),
        shown,
    };
    let decision = turn.gate.ask(spec).await;
    let decision = decision.map_err(|GateClosed| CallRefusal::Revoked)?;
    let allowed = decision.answer() == Answer::Once;
    let narrowed = turn.host.refuse_narrowed(pending.effect().subject());
    let permit = narrowed.and_then(|()| pending.redeem(decision));
    let permit = permit.map_err(CallRefusal::from);
    if let Err(refusal) = &permit
        && allowed
    {
        // Nothing has begun that could end: without this word the card would not know of it.
        turn.gate.end(CallEnded {
            turn: turn.scope.turn().clone(),
            call: call.number,
            end: end_of(Some(refusal)),
        });
    }
    permit
}

/// Has `act` spend the permit of an effect that changes nothing, and look.
pub(crate) async fn look<E, T>(
    turn: &Turn,
    call: &Call,
    permit: Permit<E>,
    act: impl FnOnce(Permit<E>, &Call) -> Result<T, CallRefusal> + Send + 'static,
) -> Result<T, CallRefusal>
where
    E: Effect + 'static,
    T: Send + 'static,
{
    let held = call.clone();
    let work = turn.host.pool_of(call.tool).run(move || act(permit, &held));
    call.within(work)
        .await?
        .unwrap_or(Err(CallRefusal::Cancelled))
}

/// Has `act` spend the permit of an effect that asks a server, and waits for its answer.
pub(crate) async fn ask_server<E, T, F>(
    call: &Call,
    permit: Permit<E>,
    act: impl FnOnce(Permit<E>) -> F,
) -> Result<T, CallRefusal>
where
    E: Effect,
    F: Future<Output = Result<T, CallRefusal>>,
{
    call.within(act(permit)).await?
}

/// Carries out a change: its beginning on disk, then `act`, which spends the permit, then its end.
///
/// From the beginning on it runs by itself: a caller that goes away cancels it only until the permit
/// is spent, and the end is told in any case.
pub(crate) async fn carry_out<E, T>(
    turn: &Arc<Turn>,
    call: &Call,
    permit: Permit<E>,
    target: Target,
    act: impl FnOnce(Permit<E>, &Call) -> Result<T, CallRefusal> + Send + 'static,
) -> Result<T, CallRefusal>
where
    E: Effect + 'static,
    T: Send + 'static,
{
    let begun = CallBegun {
        turn: turn.scope.turn().clone(),
        call: call.number,
        tool: permit.effect().tool(),
        root: target.root,
        target: target.target,
        digest: permit.effect().digest(),
        after: target.after,
        ask: match permit.by() {
            PermittedBy::Policy => None,
            PermittedBy::Ask(ask) => Some(ask),
        },
    };
    turn.record().begins(call.number);
    let (held, on) = (Arc::clone(turn), call.clone());
    let task = tokio::spawn(async move {
        let done = change(&held, &on, begun, permit, act).await;
        held.record().ends(on.number, done.as_ref().err());
        held.gate.end(CallEnded {
            turn: held.scope.turn().clone(),
            call: on.number,
            end: end_of(done.as_ref().err()),
        });
        done
    });
    match call.within(task).await {
        Ok(Ok(done)) => done,
        // The runtime is ending, or the change met a case that it was not made for.
        Ok(Err(_)) | Err(CallRefusal::Deadline) => Err(CallRefusal::EndUnseen),
        Err(other) => Err(other),
    }
}

async fn change<E, T>(
    turn: &Turn,
    call: &Call,
    begun: CallBegun,
    permit: Permit<E>,
    act: impl FnOnce(Permit<E>, &Call) -> Result<T, CallRefusal> + Send + 'static,
) -> Result<T, CallRefusal>
where
    E: Effect + 'static,
    T: Send + 'static,
{
    let closed = |GateClosed| CallRefusal::Revoked;
    turn.gate.begin(begun).await.map_err(closed)?;
    let (held, host) = (call.clone(), Arc::clone(&turn.host));
    let work = turn.host.pool_of(call.tool).run(move || {
        // The last moment at which nothing has happened.
        if held.cancel.is_set() {
            return Err(CallRefusal::Cancelled);
        }
        host.refuse_narrowed(permit.effect().subject())?;
        act(permit, &held)
    });
    work.await.unwrap_or(Err(CallRefusal::EndUnseen))
}

fn end_of(refused: Option<&CallRefusal>) -> CallEnd {
    match refused {
        None => CallEnd::Done,
        Some(refusal) => {
            let why = refusal.code().to_owned();
            if refusal.is_unknown() {
                CallEnd::Unknown { why }
            } else {
                CallEnd::Refused { why }
            }
        }
    }
}
