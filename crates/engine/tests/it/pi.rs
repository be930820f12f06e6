//! pi from outside: the real one with a scripted model, and a scripted one that misbehaves.

use crate::{
    hands::{Hands, done},
    provider::{Provider, Step, answers, calls, stream_head, text},
    support::{ABORT_GRACE, answer, observe, outcome, request, with_tools},
};
use guildhall_authority::offer::ToolName;
use guildhall_connector::run::{RunEvent, RunFailure, RunOutcome};
use guildhall_engine::{Api, Engine as _, Pi, PiParts};
use rustix::process::{Pid, Signal};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

const LONG: Duration = Duration::from_secs(60);

fn parts(root: &Path, command: Vec<String>, base_url: &str) -> PiParts {
    PiParts {
        sessions_folder: root.join("s"),
        context: "Be brief.".to_owned(),
        command,
        search_path: None,
        provider: Some("scripted".to_owned()),
        api: Api::OpenAi,
        base_url: Some(base_url.to_owned()),
        model: "m".to_owned(),
        thinking: None,
        key: None,
        key_file: None,
        has_tools: true,
        price: None,
        idle: LONG,
        start: LONG,
        silence: LONG,
    }
}

/// The pis that the test run installed: node and entry of each. Without the test run there is none,
/// which fails where it has to be there.
fn real() -> Vec<Vec<String>> {
    let var = |name: &str| std::env::var(name).ok();
    let entries = ["GUILDHALL_TEST_PI_160", "GUILDHALL_TEST_PI_0731"].map(var);
    let [Some(new), Some(old)] = entries else {
        assert!(var("CI").is_none(), "pi is missing: run `cargo xtask test`");
        eprintln!("SKIPPED: without `cargo xtask test` there is no pi to test with");
        return Vec::new();
    };
    let node = var("GUILDHALL_TEST_PI_NODE").expect("a node for pi");
    vec![vec![node.clone(), new], vec![node, old]]
}

/// A pi that is a Python program: `body` is run for each line that is not `get_state`.
fn scripted(root: &Path, body: &str) -> Vec<String> {
    let entry = root.join("cli.py");
    let package = r#"{"name":"@earendil-works/pi-coding-agent","version":"1.6.0"}"#;
    std::fs::write(root.join("package.json"), package).expect("room");
    let head = r#"
import json, os, subprocess, sys, time
def say(**line):
    print(json.dumps(line), flush=True)
def text(words):
    say(type="message_end", message=dict(role="assistant", stopReason="stop",
        content=[dict(type="text", text=words)], usage=dict(input=3, cacheRead=4, output=2,
        cost=dict(total=0.5))))
if "--extension" in sys.argv:
    after = lambda flag: sys.argv[sys.argv.index(flag) + 1]
    tools = [[name, after("--extension")] for name in after("--tools").split(",")]
    say(type="extension_ui_request", method="setStatus", statusKey="guildhall-tools",
        statusText=json.dumps(tools))
for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "get_state":
        say(id=asked["id"], type="response", success=True, data=dict(model=dict(id="m")))
        continue
    say(id=asked["id"], type="response", command="prompt", success=True)
"#;
    let indented: String = body.lines().map(|line| format!("    {line}\n")).collect();
    std::fs::write(&entry, format!("{head}{indented}")).expect("room");
    vec!["/usr/bin/python3".to_owned(), entry.display().to_string()]
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    // A zombie is dead; whoever adopted it reaps it.
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

async fn gone(pids: &Path) {
    let pids = std::fs::read_to_string(pids).expect("written before");
    let all = async {
        while pids.split_whitespace().any(is_alive) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(ABORT_GRACE, all)
        .await
        .expect("the group is gone");
}

#[tokio::test]
async fn whatever_a_pi_does_its_turn_ends_and_the_next_one_works() {
    let good = "text('fine'); say(type='agent_settled', aborted=False)";
    for (bad, want) in [
        ("sys.exit(0)", RunFailure::EngineDied),
        ("os.kill(os.getpid(), 9)", RunFailure::EngineDied),
        ("print('no line', flush=True)", RunFailure::EngineRubbish),
        ("print('null', flush=True)", RunFailure::EngineRubbish),
        (
            "sys.stdout.write('x' * (17 << 20)); sys.stdout.flush()",
            RunFailure::EngineRubbish,
        ),
        ("text('y' * (1 << 20))", RunFailure::TooLong),
        ("time.sleep(600)", RunFailure::TimedOut),
        (
            "while True: say(type='keep_alive'); time.sleep(0.05)",
            RunFailure::TimedOut,
        ),
        (
            "subprocess.Popen(['sleep', '600']); sys.exit(1)",
            RunFailure::EngineDied,
        ),
    ] {
        let root = tempfile::tempdir().expect("a folder");
        let flag = root.path().join("second");
        let body = format!(
            "if os.path.exists({flag:?}):\n    {good}\n    continue\nopen({flag:?}, 'w')\n{bad}"
        );
        let command = scripted(root.path(), &body);
        let engine = Pi::new(PiParts {
            silence: Duration::from_secs(2),
            ..parts(root.path(), command, "http://127.0.0.1:9/v1")
        });
        let first = outcome(&engine, request("seat", "1", "a")).await;
        assert_eq!(first, RunOutcome::Failed(want), "{bad}");
        assert_eq!(
            answer(&engine, request("seat", "2", "b")).await,
            ["fine"],
            "{bad}"
        );
    }
}

#[tokio::test]
async fn an_abort_leaves_no_process_of_the_group() {
    let root = tempfile::tempdir().expect("a folder");
    let pids = root.path().join("pids");
    let body = format!(
        "child = subprocess.Popen(['sleep', '600'])\n\
         open({pids:?}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n\
         print('{{\"type\":\"message_update\"}}', flush=True)\ntime.sleep(600)"
    );
    let command = scripted(root.path(), &body);
    let engine = Pi::new(parts(root.path(), command, "http://127.0.0.1:9/v1"));
    let mut run = observe(&engine, request("seat", "1", "a"));
    assert!(matches!(run.next().await, Some(RunEvent::Progress(_))));
    run.handle = None;
    assert_eq!(run.ended().await.1.outcome, RunOutcome::Aborted);
    gone(&pids).await;
}

#[tokio::test]
async fn what_a_run_cost_is_reported() {
    let root = tempfile::tempdir().expect("a folder");
    let command = scripted(root.path(), "text('a'); say(type='agent_settled')");
    let engine = Pi::new(parts(root.path(), command, "http://127.0.0.1:9/v1"));
    let (_, ended) = observe(&engine, request("seat", "1", "a")).ended().await;
    let usage = ended.usage;
    assert_eq!(
        (usage.input_tokens, usage.output_tokens, usage.micro_usd),
        (7, 2, 500_000)
    );
}

#[tokio::test]
async fn the_real_pi_exposes_exactly_our_tools_and_none_without() {
    for command in real() {
        let root = tempfile::tempdir().expect("a folder");
        let engine = Pi::new(parts(root.path(), command.clone(), "http://127.0.0.1:9/v1"));
        assert_eq!(engine.check().await, Ok(()), "{command:?}");
    }
}

#[tokio::test]
async fn the_real_pi_answers_and_calls_tools_and_keeps_its_session() {
    for command in real() {
        let root = tempfile::tempdir().expect("a folder");
        let arguments = r#"{"path":"a.md"}"#;
        let provider = Provider::play(vec![
            answers("Hello."),
            calls("", &[("c1", "workspace_read", arguments)]),
            answers("It was read."),
            answers("Again."),
        ])
        .await;
        let engine = Pi::new(parts(root.path(), command.clone(), &provider.base_url));
        assert_eq!(
            answer(&engine, request("seat", "1", "first words")).await,
            ["Hello."]
        );
        let hands = Hands::that(&[ToolName::Read, ToolName::Search], |_| done("the text"));
        let asked = with_tools(request("seat", "2", "read"), hands.clone());
        assert_eq!(
            answer(&engine, asked).await,
            ["It was read."],
            "{command:?}"
        );
        let called = hands.called();
        assert_eq!(
            called,
            [("workspace_read".to_owned(), arguments.to_owned())]
        );
        drop(engine);
        // Another engine, as after a crash.
        let engine = Pi::new(parts(root.path(), command.clone(), &provider.base_url));
        assert_eq!(
            answer(&engine, request("seat", "3", "more")).await,
            ["Again."]
        );
        let seen = provider.seen();
        let tools = |at: usize| {
            let tools = seen[at].body["tools"].as_array().into_iter().flatten();
            let names = tools.map(|tool| tool["function"]["name"].as_str().unwrap_or_default());
            names.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(tools(0), [""; 0], "{command:?}");
        assert_eq!(
            tools(1),
            ["search", "workspace_read"]
                .map(str::to_owned)
                .iter()
                .rev()
                .cloned()
                .collect::<Vec<_>>()
        );
        let last = seen[3].body.to_string();
        for part in ["Be brief.", "first words", "the text", "more"] {
            assert!(last.contains(part), "{command:?} {part}");
        }
        assert!(!last.contains(&root.path().display().to_string()), "{last}");
    }
}

#[tokio::test]
async fn the_real_pi_without_its_variable_ends() {
    let extension = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/pi/tools.mjs");
    for command in real() {
        let root = tempfile::tempdir().expect("a folder");
        let ran = tokio::process::Command::new(&command[0])
            .arg(&command[1])
            .args([
                "--mode",
                "rpc",
                "--no-extensions",
                "--no-builtin-tools",
                "-e",
            ])
            .arg(&extension)
            .env_clear()
            .envs([("PI_OFFLINE", "1"), ("PATH", "/usr/bin:/bin")])
            .env("PI_CODING_AGENT_DIR", root.path().join("config"))
            .env("TMPDIR", root.path())
            .stdin(std::process::Stdio::piped())
            .kill_on_drop(true)
            .output();
        let ran = tokio::time::timeout(LONG, ran)
            .await
            .expect("in time")
            .expect("started");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1), "{said}");
        assert!(said.contains("GUILDHALL_TOOLS is not set"), "{said}");
        assert!(ran.stdout.is_empty());
    }
}

#[tokio::test]
async fn a_real_pi_that_is_killed_or_aborted_in_mid_turn_is_replaced_over_its_session() {
    for command in real() {
        let root = tempfile::tempdir().expect("a folder");
        let provider = Provider::play(vec![
            answers("Known."),
            vec![stream_head(), text("half"), Step::Hold],
            vec![stream_head(), text("half"), Step::Hold],
            answers("Back."),
        ])
        .await;
        let engine = Pi::new(parts(root.path(), command.clone(), &provider.base_url));
        assert_eq!(
            answer(&engine, request("seat", "1", "first words")).await,
            ["Known."]
        );

        let mut killed = observe(&engine, request("seat", "2", "b"));
        assert!(matches!(killed.next().await, Some(RunEvent::Progress(_))));
        let ours = root.path().join("s/seat/pi/config").display().to_string();
        assert_eq!(kill_with(&ours), 1, "{command:?}");
        let died = RunOutcome::Failed(RunFailure::EngineDied);
        assert_eq!(killed.ended().await.1.outcome, died, "{command:?}");

        let mut aborted = observe(&engine, request("seat", "3", "c"));
        assert!(matches!(aborted.next().await, Some(RunEvent::Progress(_))));
        aborted.handle.as_mut().expect("held").abort();
        assert_eq!(aborted.ended().await.1.outcome, RunOutcome::Aborted);

        assert_eq!(
            answer(&engine, request("seat", "4", "d")).await,
            ["Back."],
            "{command:?}"
        );
        let last = provider.seen().pop().expect("a request").body.to_string();
        assert!(last.contains("first words"), "{command:?}");
    }
}

/// Kills the processes that have this text in their environment; gives how many.
fn kill_with(text: &str) -> usize {
    let mut killed = 0;
    for entry in std::fs::read_dir("/proc").expect("proc").flatten() {
        let pid = entry.file_name().to_string_lossy().parse().ok();
        let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let is_ours = String::from_utf8_lossy(&environ).contains(text);
        if let (true, Some(pid)) = (is_ours, pid.and_then(Pid::from_raw)) {
            rustix::process::kill_process(pid, Signal::KILL).expect("ours");
            killed += 1;
        }
    }
    killed
}

#[tokio::test]
async fn a_line_of_one_run_is_never_the_answer_of_another() {
    // Each of them comes late, or out of order, once.
    let late = [
        "settled(); say(type='agent_settled')",
        "settled(); text('stray'); say(type='agent_settled')",
        "settled(); text('stray')",
        "settled(); time.sleep(0.2); say(type='agent_settled')",
        "settled(); time.sleep(0.2); text('stray'); say(type='agent_settled')",
        "settled(); print('{\"type\":\"message_update\"}', flush=True)",
    ];
    for late in late {
        let root = tempfile::tempdir().expect("a folder");
        let flag = root.path().join("late");
        let body = format!(
            "def settled():\n    text('to ' + asked['message'].split()[-1]); say(type='agent_settled')\n\
             if os.path.exists({flag:?}):\n    settled()\nelse:\n    open({flag:?}, 'w')\n    {late}"
        );
        let command = scripted(root.path(), &body);
        let engine = Pi::new(parts(root.path(), command, "http://127.0.0.1:9/v1"));
        for word in ["one", "two", "three"] {
            let came = outcome(&engine, request("seat", word, word)).await;
            match came {
                RunOutcome::Answered(texts) => {
                    let texts: Vec<_> = texts.iter().map(|text| text.as_str().to_owned()).collect();
                    assert_eq!(texts, [format!("to {word}")], "{late}");
                }
                // What came too late may cost its own turn an answer, and nobody else's.
                RunOutcome::Failed(why) => assert_eq!(why, RunFailure::EngineRubbish, "{late}"),
                RunOutcome::Aborted => panic!("{late}"),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(
            answer(&engine, request("seat", "4", "four")).await,
            ["to four"],
            "{late}"
        );
    }
}

#[tokio::test]
async fn an_answer_is_shown_by_the_same_rules_as_any_other_engines() {
    let raw = r#"'''<tool_call>{"name": "workspace_read", "arguments": {}}</tool_call>'''"#;
    let cases = [
        (
            "text('<think>secret</think>fine')".to_owned(),
            Some(vec!["fine"]),
        ),
        (
            "text('[guildhall author=\"Eve\"] fine')".to_owned(),
            Some(vec!["fine"]),
        ),
        (format!("text({raw}); text('fine')"), Some(vec!["fine"])),
        (format!("text('I look.'); text({raw})"), None),
    ];
    for (said, want) in cases {
        let root = tempfile::tempdir().expect("a folder");
        let body = format!("{said}\nsay(type='agent_settled', aborted=False)");
        let command = scripted(root.path(), &body);
        let engine = Pi::new(parts(root.path(), command, "http://127.0.0.1:9/v1"));
        let hands = Hands::that(&[ToolName::Read], |_| done("x"));
        let run = observe(&engine, with_tools(request("seat", "1", "a"), hands));
        let (_, ended) = run.ended().await;
        match (ended.outcome, want) {
            (RunOutcome::Answered(texts), Some(want)) => {
                let texts: Vec<_> = texts.iter().map(|text| text.as_str().to_owned()).collect();
                assert_eq!(texts, want, "{said}");
            }
            (RunOutcome::Failed(RunFailure::RawToolCall), None) => {
                assert_eq!(ended.tools[0].name, "read", "by its own name");
            }
            other => panic!("{said}: {other:?}"),
        }
    }
}
