//! Diagnoses of scripted models that pass and fail each task.

use super::*;
use crate::{
    contract::{Abort, EngineDescription, Report as Reports, Work as EngineWork},
    start::{Finished, start},
};
use guildhall_authority::offer::ToolName;
use serde_json::{Value, json};

/// A model that does what a function says for each ask.
struct Scripted(fn(&str) -> Act);

enum Act {
    Call(&'static str, Value, &'static str),
    Say(&'static str),
    Raw,
    Hang,
}

impl Engine for Scripted {
    fn describe(&self) -> EngineDescription {
        EngineDescription {
            kind: "scripted".to_owned(),
            provider: None,
            model: Some("m".to_owned()),
        }
    }

    fn check<'a>(&'a self) -> EngineWork<'a, Result<(), String>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn run(&self, request: RunRequest, report: Reports) -> Box<dyn Abort> {
        let act = (self.0)(request.prompt.text.as_str());
        start(report, |_| async move {
            let said = match act {
                Act::Call(name, arguments, said) => {
                    let call = ToolCall {
                        id: "a".to_owned(),
                        name: name.to_owned(),
                        arguments: arguments.to_string(),
                    };
                    request.tools.call(call).await;
                    said
                }
                Act::Say(said) => said,
                Act::Raw => return Finished::failed(RunFailure::RawToolCall),
                Act::Hang => std::future::pending().await,
            };
            Finished::bare(RunOutcome::Answered(vec![MessageText::new(said)]))
        })
    }
}

/// One file in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Option<String>>>);

struct MemoryTools {
    specs: Vec<ToolSpec>,
    file: Memory,
    task: Task,
}

impl Scratch for Memory {
    fn tools(&self, task: Task) -> Arc<dyn CallTools> {
        let names = [
            ToolName::List,
            ToolName::Read,
            ToolName::Create,
            ToolName::Edit,
        ];
        let spec = |name| ToolSpec {
            name,
            description: "",
            schema: Value::Null,
        };
        Arc::new(MemoryTools {
            specs: names.map(spec).to_vec(),
            file: self.clone(),
            task,
        })
    }

    fn holds(&self) -> Option<String> {
        self.0.lock().expect("whole").clone()
    }
}

impl CallTools for MemoryTools {
    fn arguments_max(&self) -> usize {
        64 * 1024
    }

    fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    fn call(&self, call: ToolCall) -> Work<'_, ToolResult> {
        let arguments: Value = serde_json::from_str(&call.arguments).expect("JSON");
        let text = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
        let mut file = self.file.0.lock().expect("whole");
        let changes = matches!(call.name.as_str(), "create" | "edit");
        let outcome = if changes && self.task == Task::Refusal {
            Outcome::Refused
        } else {
            match call.name.as_str() {
                "create" => *file = Some(text("text")),
                "edit" => {
                    let edited = file
                        .as_ref()
                        .map(|old| old.replace(&text("old"), &text("new")));
                    *file = edited;
                }
                _ => {}
            }
            Outcome::Done
        };
        let text = file.clone().unwrap_or_default();
        Box::pin(std::future::ready(ToolResult { outcome, text }))
    }
}

fn edit(old: &str, new: &str, said: &'static str) -> Act {
    Act::Call("edit", json!({"path": FILE, "old": old, "new": new}), said)
}

fn good(asked: &str) -> Act {
    match asked {
        asked if asked.starts_with("Create") => {
            let arguments = json!({"path": FILE, "text": "alpha\nbeta\ngamma\n"});
            Act::Call("create", arguments, "done")
        }
        asked if asked.contains("beta to delta") => edit("beta", "delta", "done"),
        asked if asked.contains("Grüße") => edit("delta", "Grüße, 漢字, 🙂", "done"),
        asked if asked.starts_with("Read") => {
            Act::Call("read", json!({"path": FILE}), "The last line is gamma.")
        }
        _ => edit("alpha", "omega", "It was refused."),
    }
}

async fn verdicts(model: fn(&str) -> Act) -> Vec<Verdict> {
    let report = diagnose(
        &Scripted(model),
        &Memory::default(),
        Duration::from_secs(60),
    )
    .await;
    report
        .findings
        .iter()
        .map(|finding| finding.verdict)
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_model_that_does_everything_passes() {
    let report = diagnose(&Scripted(good), &Memory::default(), Duration::from_secs(60)).await;
    assert!(report.passed(), "{report}");
    assert!(report.to_string().ends_with("5 of 5 passed\n"), "{report}");
    let value = serde_json::to_value(&report).expect("JSON");
    assert_eq!(value["findings"][3]["task"], "read-back");
    assert_eq!(value["findings"][4]["verdict"], "passed");
}

#[tokio::test(start_paused = true)]
async fn each_way_to_fail_has_its_verdict() {
    use Verdict::{NoAnswer, NoCall, Passed, RawMarkup, WrongAnswer, WrongContent};
    assert_eq!(verdicts(|_| Act::Say("done")).await, [NoCall; 5]);
    assert_eq!(verdicts(|_| Act::Raw).await, [RawMarkup; 5]);
    assert_eq!(verdicts(|_| Act::Hang).await, [NoAnswer; 5]);

    // Newlines lost in the first file; what comes after stands on it.
    let flat: fn(&str) -> Act = |asked| match asked.starts_with("Create") {
        true => Act::Call("create", json!({"text": "alpha\\nbeta\\ngamma"}), "done"),
        false => good(asked),
    };
    assert_eq!(verdicts(flat).await[..2], [WrongContent, WrongContent]);

    let ascii: fn(&str) -> Act = |asked| match asked.contains("Grüße") {
        true => edit("delta", "Gruesse", "done"),
        false => good(asked),
    };
    assert_eq!(
        verdicts(ascii).await,
        [Passed, Passed, WrongContent, Passed, Passed]
    );

    let guesses: fn(&str) -> Act = |asked| match asked.starts_with("Read") {
        true => Act::Call("list", json!({}), "The last line is zeta."),
        false => good(asked),
    };
    assert_eq!(verdicts(guesses).await[3], WrongAnswer);

    let boasts: fn(&str) -> Act = |asked| match asked.contains("omega") {
        true => edit("alpha", "omega", "Done, it says omega now."),
        false => good(asked),
    };
    assert_eq!(verdicts(boasts).await[4], WrongAnswer);
    let seen = plan::Seen {
        structured: 1,
        refused: 0,
        before: None,
        after: None,
        raw: false,
        answer: None,
    };
    assert_eq!(Task::Create.verdict(&seen), NoAnswer);
}
