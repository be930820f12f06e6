//! Tools that do what a test says, and remember how they were called.

use guildhall_authority::offer::ToolName;
use guildhall_tools::{CallTools, Outcome, ToolCall, ToolResult, ToolSpec, Work};
use serde_json::json;
use std::sync::{Arc, Mutex};

/// Longest arguments that these tools take; more than a text of the model may have.
pub(crate) const ARGUMENTS_MAX_BYTES: usize = 600_000;

/// What a call comes to.
pub(crate) enum Comes {
    /// This.
    To(ToolResult),
    /// Nothing, ever.
    Never,
}

type Answers = Box<dyn Fn(&ToolCall) -> Comes + Send + Sync>;

/// Tools of one turn.
pub(crate) struct Hands {
    specs: Vec<ToolSpec>,
    calls: Mutex<Vec<ToolCall>>,
    answers: Answers,
}

/// A result that was done.
pub(crate) fn done(text: &str) -> Comes {
    Comes::To(ToolResult {
        outcome: Outcome::Done,
        text: text.to_owned(),
    })
}

/// A refusal.
pub(crate) fn refused(text: &str) -> Comes {
    Comes::To(ToolResult {
        outcome: Outcome::Refused,
        text: text.to_owned(),
    })
}

impl Hands {
    /// Tools that are offered and answer with their own name.
    pub(crate) fn with(names: &[ToolName]) -> Arc<Self> {
        Self::that(names, |call| done(&format!("result of {}", call.name)))
    }

    /// Tools that are offered and answer like this.
    pub(crate) fn that(
        names: &[ToolName],
        answers: impl Fn(&ToolCall) -> Comes + Send + Sync + 'static,
    ) -> Arc<Self> {
        let specs = names.iter().map(|name| ToolSpec {
            name: *name,
            description: "A tool of a test.",
            schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        });
        Arc::new(Self {
            specs: specs.collect(),
            calls: Mutex::default(),
            answers: Box::new(answers),
        })
    }

    /// Name and arguments of the calls so far.
    pub(crate) fn called(&self) -> Vec<(String, String)> {
        let calls = self.calls.lock().expect("whole");
        let said = calls
            .iter()
            .map(|call| (call.name.clone(), call.arguments.clone()));
        said.collect()
    }

    /// Ids of the calls so far.
    pub(crate) fn ids(&self) -> Vec<String> {
        let calls = self.calls.lock().expect("whole");
        calls.iter().map(|call| call.id.clone()).collect()
    }
}

impl CallTools for Hands {
    fn arguments_max(&self) -> usize {
        ARGUMENTS_MAX_BYTES
    }

    fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    fn call(&self, call: ToolCall) -> Work<'_, ToolResult> {
        let comes = (self.answers)(&call);
        self.calls.lock().expect("whole").push(call);
        match comes {
            Comes::To(result) => Box::pin(std::future::ready(result)),
            Comes::Never => Box::pin(std::future::pending()),
        }
    }
}
