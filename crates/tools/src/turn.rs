//! The tools of one turn.
//!
//! In: calls of the engine that runs it. Out: a result or a named refusal, for each. Never: a tool
//! that the turn was not offered, a call after the turn, two calls of one id.

use crate::{
    arguments::Arguments,
    call::{Call, Cancel},
    contract::{CallTools, Gate, Outcome, ToolCall, ToolResult, ToolSpec, Work},
    files, git,
    host::Shared,
    record::{About, Record},
    refusal::CallRefusal,
    table::{Row, Size},
    web,
};
use guildhall_authority::{
    call::ToolUse,
    offer::{ToolName, offered},
    permit::TurnLife,
    scope::TurnScope,
};
use guildhall_binding::{Root, RootWrite};
use guildhall_confine::credential_in;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most bytes of encoded arguments, for tools whose texts are not bound by the policy's file size.
pub(crate) const ARGUMENTS_MAX_BYTES: usize = 64 * 1024;
/// Most bytes of such a tool's result.
pub(crate) const RESULT_MAX_BYTES: usize = 256 * 1024;
/// Bytes that JSON may take for one byte of a text: `\u001f`.
const ENCODED_BYTES: usize = 6;
/// How a record names a tool that does not exist.
const NO_TOOL: &str = "unknown";

/// The tools of one turn. When the last clone goes, or at [`TurnTools::end`], the turn's handles are
/// revoked.
#[derive(Clone)]
pub struct TurnTools(Arc<Handle>);

struct Handle(Arc<Turn>);

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl TurnTools {
    pub(crate) fn of(turn: Arc<Turn>) -> Self {
        Self(Arc::new(Handle(turn)))
    }

    /// Ends the turn: what has not begun does not happen any more, and every further call is refused.
    /// A change whose permit is spent already goes on to its end.
    pub fn end(&self) {
        self.0.0.end();
    }

    /// One entry a call, in the order that they came, refused ones too. A change that has begun and
    /// not ended is `unknown`.
    #[must_use]
    pub fn uses(&self) -> Vec<ToolUse> {
        self.0.0.record().uses()
    }
}

impl CallTools for TurnTools {
    fn arguments_max(&self) -> usize {
        let turn = &self.0.0;
        let sizes = turn.specs.iter().map(|spec| Row::of(spec.name).size);
        let longest = sizes.map(|size| turn.arguments_max(size)).max();
        longest.unwrap_or(0)
    }

    fn specs(&self) -> &[ToolSpec] {
        &self.0.0.specs
    }

    fn call(&self, call: ToolCall) -> Work<'_, ToolResult> {
        Box::pin(answer(&self.0.0, call))
    }
}

/// What the host holds for one turn.
pub(crate) struct Turn {
    pub(crate) host: Arc<Shared>,
    pub(crate) scope: TurnScope,
    pub(crate) life: TurnLife,
    pub(crate) gate: Arc<dyn Gate>,
    specs: Vec<ToolSpec>,
    record: Mutex<Record>,
}

impl Turn {
    pub(crate) fn begin(host: Arc<Shared>, scope: TurnScope, gate: Arc<dyn Gate>) -> Arc<Self> {
        let specs = offered(&scope).into_iter().map(|name| ToolSpec {
            name,
            description: Row::of(name).description,
            schema: told(name, &scope),
        });
        Arc::new(Self {
            life: host.judge.begin_turn(),
            specs: specs.collect(),
            host,
            scope,
            gate,
            record: Mutex::default(),
        })
    }

    pub(crate) fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Most bytes of one file, by the turn's policy.
    pub(crate) fn file_max_bytes(&self) -> usize {
        let tools = self.scope.policy().tools.as_ref();
        let bytes = tools.map_or(0, |tools| tools.max_file_bytes);
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    fn calls_max(&self) -> usize {
        let tools = self.scope.policy().tools.as_ref();
        let calls = tools.map_or(0, |tools| tools.max_calls_per_turn);
        usize::try_from(calls).unwrap_or(usize::MAX)
    }

    fn end(&self) {
        self.life.end();
        self.record().cancel_all();
    }

    /// Judges a call by what is known before its tool looks at it.
    fn take(
        &self,
        call: &ToolCall,
    ) -> (Option<u32>, Result<(ToolName, &'static Row), CallRefusal>) {
        let known = ToolName::parse(&call.name);
        let shown = known.map_or(NO_TOOL, ToolName::as_str);
        if !self.life.lives() {
            return (None, Err(CallRefusal::Revoked));
        }
        let (number, fits) = self.record().comes(&call.id, shown, self.calls_max());
        let judged = fits.and_then(|()| {
            let tool = known.filter(|tool| self.specs.iter().any(|spec| spec.name == *tool));
            let tool = tool.ok_or(CallRefusal::NotOffered)?;
            let row = Row::of(tool);
            if call.arguments.len() > self.arguments_max(row.size) {
                return Err(CallRefusal::ArgumentsTooLarge);
            }
            Ok((tool, row))
        });
        (number, judged)
    }

    fn arguments_max(&self, size: Size) -> usize {
        match size {
            Size::Fixed => ARGUMENTS_MAX_BYTES,
            // An edit has two texts of a file's size.
            Size::File => {
                let texts = self.file_max_bytes().saturating_mul(2 * ENCODED_BYTES);
                texts.saturating_add(ARGUMENTS_MAX_BYTES)
            }
        }
    }
}

/// The schema of a tool with the names of the roots that it works in, so that a model need not guess.
fn told(tool: ToolName, scope: &TurnScope) -> serde_json::Value {
    let mut schema = Row::of(tool).schema();
    let roots = scope.policy().tools.iter().flat_map(|tools| &tools.roots);
    let fitting = roots.filter(|root| works_in(tool, root));
    let names: Vec<&str> = fitting.map(|root| root.name.as_str()).collect();
    if let Some(about) = schema.pointer_mut("/properties/root/description") {
        *about = format!("Name of a root: {}.", names.join(", ")).into();
    }
    schema
}

fn works_in(tool: ToolName, root: &Root) -> bool {
    match tool {
        ToolName::WriteFile | ToolName::EditFile => root.write == RootWrite::Yes,
        ToolName::GitStatus | ToolName::GitCommit | ToolName::GitPull | ToolName::GitPush => {
            root.git.is_some()
        }
        ToolName::ReserveId => {
            let git = root.git.as_ref();
            git.is_some_and(|git| git.protocol.is_some())
        }
        ToolName::ListDir
        | ToolName::ReadFile
        | ToolName::Search
        | ToolName::List
        | ToolName::Read
        | ToolName::Create
        | ToolName::Edit
        | ToolName::WebFetch
        | ToolName::WebSearch => true,
    }
}

/// What a tool gives when it was done.
pub(crate) struct Given {
    /// For the model.
    pub(crate) text: String,
    /// Whether the text is what was changed, which a check of the text cannot take back.
    pub(crate) kind: GivenKind,
}

/// Whether a tool looked or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GivenKind {
    Seen,
    Changed,
}

/// A call that is worked on. Dropping it cancels what has not begun.
struct Running<'t> {
    turn: &'t Turn,
    number: u32,
    cancel: Arc<Cancel>,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.cancel.set();
        self.turn.record().rests(self.number);
    }
}

async fn answer(turn: &Arc<Turn>, call: ToolCall) -> ToolResult {
    let (number, judged) = turn.take(&call);
    let Some(number) = number else {
        return refused(&judged.err().unwrap_or(CallRefusal::CallLimit));
    };
    let done = match judged {
        Err(refusal) => Err(refusal),
        Ok((tool, row)) => work(turn, number, (tool, row), &call.arguments).await,
    };
    turn.record().ends(number, done.as_ref().err());
    match done {
        Ok(given) => ToolResult {
            outcome: Outcome::Done,
            text: given.text,
        },
        Err(refusal) => refused(&refusal),
    }
}

fn refused(refusal: &CallRefusal) -> ToolResult {
    ToolResult {
        outcome: if refusal.is_unknown() {
            Outcome::Unknown
        } else {
            Outcome::Refused
        },
        text: format!("{}: {refusal}", refusal.code()),
    }
}

async fn work(
    turn: &Arc<Turn>,
    number: u32,
    (tool, row): (ToolName, &'static Row),
    arguments: &str,
) -> Result<Given, CallRefusal> {
    let arguments = Arguments::parse(row, arguments).map_err(CallRefusal::Arguments)?;
    let call = Call::new(number, tool, row.deadline);
    turn.record().runs(number, &call.cancel);
    let _running = Running {
        turn,
        number,
        cancel: Arc::clone(&call.cancel),
    };
    let given = provide(turn, &call, &arguments).await;
    turn.record().took(number, call.used(row.deadline));
    let given = given?;
    if given.kind == GivenKind::Seen && !turn.life.lives() {
        return Err(CallRefusal::Revoked);
    }
    released(given, row.size)
}

/// Has the tool's provider carry a call out.
async fn provide(
    turn: &Arc<Turn>,
    call: &Call,
    arguments: &Arguments,
) -> Result<Given, CallRefusal> {
    match call.tool {
        ToolName::ListDir | ToolName::List => files::list(turn, call, arguments).await,
        ToolName::ReadFile | ToolName::Read => files::read(turn, call, arguments).await,
        ToolName::Search => files::search(turn, call, arguments).await,
        ToolName::WriteFile | ToolName::EditFile | ToolName::Create | ToolName::Edit => {
            files::write(turn, call, arguments).await
        }
        ToolName::WebFetch => web::fetch(turn, call, arguments).await,
        ToolName::WebSearch => web::search(turn, call, arguments).await,
        ToolName::GitStatus => git::status(turn, call, arguments).await,
        ToolName::GitCommit => git::commit(turn, call, arguments).await,
        ToolName::GitPull => git::pull(turn, call, arguments).await,
        ToolName::GitPush => git::push(turn, call, arguments).await,
        ToolName::ReserveId => git::reserve_id(turn, call, arguments).await,
    }
}

/// The last look at a result before it leaves.
fn released(given: Given, size: Size) -> Result<Given, CallRefusal> {
    let refusal = if let Some(family) = credential_in(given.text.as_bytes()) {
        CallRefusal::SecretShape(family)
    } else if size == Size::Fixed && given.text.len() > RESULT_MAX_BYTES {
        CallRefusal::ResultTooLarge
    } else {
        return Ok(given);
    };
    match given.kind {
        GivenKind::Seen => Err(refusal),
        // What was done stays done.
        GivenKind::Changed => Ok(Given {
            text: format!("Done. The answer is left out: {refusal}"),
            kind: GivenKind::Changed,
        }),
    }
}

/// Notes what a call is about.
pub(crate) fn about(turn: &Turn, call: &Call, root: Option<&str>, target: &str) {
    turn.record().is_about(
        call.number,
        About {
            root: root.map(str::to_owned),
            target: Some(target.to_owned()).filter(|target| !target.is_empty()),
            bytes: 0,
            ..About::default()
        },
    );
}
