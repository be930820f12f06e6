//! Every line of `paths.jsonl` that is about a tool's call, through the host, from JSON to text.

use crate::{
    line::{Fields, Stepped, step},
    scene::{Says, Scene, TestTurn, code, policy},
};
use data_encoding::BASE64;
use guildhall_authority::ask::Answer;
use guildhall_tools::{Outcome, ToolResult};
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Lines about what stands elsewhere: bindings of roots, git, one decision for two effects (which no
/// type allows), moments inside a publication.
fn elsewhere(line: &Line) -> Option<&'static str> {
    match (line.tool.as_str(), line.approval.as_deref()) {
        ("bind_root", _) => Some("binding, confine and `host`"),
        ("git_commit", _) => Some("git"),
        (_, Some("replayed" | "for-other-text")) => Some("authority and `workspace`"),
        _ => None,
    }
}

/// A code of ours that stands for a reason of the corpus.
const MEANS: [(&str, &str); 1] = [
    // Told apart from a person's own no.
    ("ask-timed-out", "denied"),
];

struct Line {
    id: String,
    setup: Vec<Value>,
    tool: String,
    args: Fields,
    allow: bool,
    reasons: Vec<String>,
    approval: Option<String>,
    hits: Option<Vec<String>>,
    max_entries: Option<usize>,
    entries: Option<Vec<String>>,
    absent: Vec<String>,
    unchanged: Vec<String>,
    after: Vec<(String, String)>,
    modes: Vec<(String, String)>,
    never: Option<String>,
    needs: Option<String>,
    case_insensitive: bool,
}

impl Line {
    fn read(text: &str) -> Self {
        let mut fields = Fields::of(serde_json::from_str(text).expect("a line"));
        for people in [
            "class",
            "note",
            "policy",
            "race",
            "runs",
            "deadline_ms",
            "expect_no_temp",
        ] {
            fields.take(people);
        }
        let mut reasons = vec![fields.must("reason")];
        reasons.extend(fields.texts("reason_any"));
        for one in fields.texts("expect_any") {
            reasons.extend(one.strip_prefix("refuse:").map(str::to_owned));
        }
        fields.take("expect_skipped");
        fields.take("expect_invariant");
        let list = |value: Option<Value>| {
            value.map(|value| {
                let list = value.as_array().expect("a list").iter();
                list.map(|text| text.as_str().expect("a text").to_owned())
                    .collect()
            })
        };
        let setup = fields.take("setup").expect("steps");
        let line = Self {
            id: fields.must("id"),
            setup: setup.as_array().expect("a list").clone(),
            tool: fields.must("tool"),
            args: Fields::of(fields.take("args").expect("arguments")),
            allow: fields.must("expect") == "allow",
            reasons,
            approval: fields.text("approval"),
            hits: list(fields.take("expect_hits")),
            max_entries: fields.number("expect_max_entries"),
            entries: list(fields.take("expect_entries")),
            absent: fields.texts("expect_absent"),
            unchanged: fields.texts("expect_unchanged"),
            after: fields.map("expect_after"),
            modes: fields.map("expect_mode"),
            never: fields.text("expect_never"),
            needs: fields.text("needs"),
            case_insensitive: fields.text("platform").is_some(),
        };
        fields.end(&line.id);
        line
    }

    /// The tool and the arguments as a model gives them. A line with an approval is about a
    /// workspace, whose tools have names of their own and no root.
    fn call(&mut self, place: &dyn Fn(&str) -> PathBuf) -> (&'static str, Value) {
        let in_workspace = self.approval.is_some() || self.tool == "create_file";
        let tool = match (self.tool.as_str(), in_workspace) {
            ("create_file", _) => "create",
            ("edit_file", true) => "edit",
            ("read_file", false) => "read_file",
            ("list_dir", false) => "list_dir",
            ("search", false) => "search",
            ("write_file", false) => "write_file",
            ("edit_file", false) => "edit_file",
            (other, _) => panic!("no tool for {other}"),
        };
        let args = &mut self.args;
        let mut call = Map::new();
        let root = args.take("root");
        if !in_workspace {
            call.extend(root.map(|root| ("root".to_owned(), root)));
        }
        let path = args.take("path").map(|path| match path.as_str() {
            Some(text) if text.starts_with("@abs:") => json!(place(text)),
            Some(_) | None => path,
        });
        call.extend(path.map(|path| ("path".to_owned(), path)));
        let sized = args.number("size").map(|size| "a".repeat(size));
        for name in ["text", "old", "new"] {
            let text = args.joined(name);
            call.extend(text.map(|text| (name.to_owned(), json!(text))));
        }
        if let Some(text) = sized {
            call.insert("text".to_owned(), json!(text));
        }
        if let Some(query) = args.joined("query") {
            call.insert("pattern".to_owned(), json!(query));
            call.insert("regex".to_owned(), json!(true));
        }
        if let Some(follow) = args.take("follow") {
            call.insert("follow".to_owned(), follow);
        }
        (tool, Value::Object(call))
    }
}

/// Where a path of the corpus lies in a scene.
fn placed(base: &Path, path: &str) -> PathBuf {
    match path.strip_prefix('@') {
        Some(place) => match place.split_once(':') {
            Some(("sibling" | "abs", rest)) => base.join(rest),
            Some((other, _)) => panic!("unknown place {other}"),
            None => base.join(place),
        },
        None if path.is_empty() => base.join("work"),
        None => base.join("work").join(path),
    }
}

fn roots(place: &Path, work: Value) -> Value {
    json!({"maxCallsPerTurn": 8, "roots": [
        {"name": "work", "path": place.join("work"), "write": work},
        {"name": "ro", "path": place.join("ro")},
    ]})
}

enum Ran {
    AsExpected,
    NotRun(&'static str),
    Wrong(String),
}

async fn run(mut line: Line) -> Ran {
    if let Some(owner) = elsewhere(&line) {
        return Ran::NotRun(owner);
    }
    let privileged = is_privileged();
    match line.needs.as_deref() {
        Some("root") if !privileged => return Ran::NotRun("needs root"),
        Some("non-root") if privileged => return Ran::NotRun("needs a plain user"),
        Some("root" | "non-root") | None => {}
        Some(other) => panic!("needs {other}"),
    }
    if line.case_insensitive {
        return Ran::NotRun("needs a file system that ignores case");
    }
    let asks = line.approval.is_some() || line.tool == "create_file";
    let write = if asks { json!("ask") } else { json!(true) };
    let scene = Scene::over(&["work", "ro", "tmp"], |place| roots(place, write));
    let base = scene.at("");
    let (turn, place) = (scene.turn(), |path: &str| placed(&base, path));
    for one in &line.setup {
        match one["op"].as_str().expect("an op") {
            "calls_before" => {
                for _ in 0..one["count"].as_u64().expect("a count") {
                    turn.call("list_dir", json!({"root": "work", "path": "."}))
                        .await;
                }
            }
            "during" if one["at"] == "after_prepare" => during(&scene, &one["step"]),
            "during" => return Ran::NotRun("confine"),
            _ if step(one, &place) == Stepped::Inside => return Ran::NotRun("confine"),
            _ => {}
        }
    }
    let before = contents(&base);
    let (tool, arguments) = line.call(&place);
    std::mem::replace(&mut line.args, Fields::of(json!({}))).end(&line.id);
    let result = turn.call(tool, arguments).await;
    match judge(&line, &scene, &result, &before, &turn) {
        Ok(()) => Ran::AsExpected,
        Err(how) => Ran::Wrong(how),
    }
}

/// What happens while the card is open.
fn during(scene: &Scene, one: &Value) {
    match one["op"].as_str().expect("an op") {
        "deny" => scene.desk.says(Says::Answer(Answer::Denied)),
        "timeout" => scene.desk.says(Says::Answer(Answer::TimedOut)),
        "config_reload" => {
            let tools = roots(&scene.at(""), json!(false));
            let narrowed = policy(&scene.at(""), &json!({"tools": tools}));
            let host = scene.host.clone();
            scene
                .desk
                .on_ask(move || host.reloaded(&Arc::clone(&narrowed)));
        }
        _ => {
            let (one, base) = (one.clone(), scene.at(""));
            scene.desk.on_ask(move || {
                let stepped = step(&one, &|path| placed(&base, path));
                assert_eq!(stepped, Stepped::Done);
            });
        }
    }
}

fn judge(
    line: &Line,
    scene: &Scene,
    result: &ToolResult,
    before: &BTreeMap<PathBuf, Vec<u8>>,
    turn: &TestTurn,
) -> Result<(), String> {
    let is = if result.outcome == Outcome::Done {
        "ok".to_owned()
    } else {
        code(result)
    };
    let meant = MEANS.iter().find(|(ours, _)| *ours == is);
    let named = line.reasons.contains(&is)
        || meant.is_some_and(|(_, theirs)| line.reasons.iter().any(|reason| reason == theirs));
    if !(line.allow && is == "ok" || named) {
        return Err(format!("{is}, not {:?}: {}", line.reasons, result.text));
    }
    let host = scene.at("").to_string_lossy().into_owned();
    let never = line.never.clone().unwrap_or_else(|| "OUTSIDE".to_owned());
    let recorded = format!("{:?}", turn.tools.uses());
    for never in [host.trim_end_matches('/'), "OUTSIDE", &never] {
        if result.text.contains(never) {
            return Err(format!("shows {never}"));
        }
    }
    // A search's pattern is its target.
    if line.tool != "search" && recorded.contains("OUTSIDE") {
        return Err("the record holds a text".to_owned());
    }
    judge_lists(line, &result.text)?;
    judge_files(line, scene, before, is != "ok")
}

fn judge_lists(line: &Line, text: &str) -> Result<(), String> {
    if let Some(want) = &line.hits {
        let hits: Vec<String> = text.lines().filter_map(hit).collect();
        if hits != *want {
            return Err(format!("hits {hits:?}"));
        }
    }
    let entries = text.lines().skip(1).filter(|line| line.ends_with(')'));
    if line
        .max_entries
        .is_some_and(|max| entries.clone().count() > max)
    {
        return Err("more entries".to_owned());
    }
    if let Some(want) = &line.entries {
        let is: Vec<&str> = entries.collect();
        // `a.txt` stands as `a.txt (file, 3 bytes)`, `l (link)` as `l (link, not followed)`.
        let fits = |(is, want): (&&str, &String)| is.starts_with(want.trim_end_matches(')'));
        if is.len() != want.len() || !is.iter().zip(want).all(fits) {
            return Err(format!("entries {is:?}, not {want:?}"));
        }
    }
    Ok(())
}

/// `path:line` of a hit; the lines after the hits are about what was left out.
fn hit(line: &str) -> Option<String> {
    let (place, _) = line.split_once(": ")?;
    let (path, number) = place.rsplit_once(':')?;
    number
        .parse::<u64>()
        .ok()
        .map(|number| format!("{path}:{number}"))
}

fn judge_files(
    line: &Line,
    scene: &Scene,
    before: &BTreeMap<PathBuf, Vec<u8>>,
    refused: bool,
) -> Result<(), String> {
    let base = scene.at("");
    let place = |path: &String| placed(&base, path);
    for (path, bytes) in &line.after {
        let want = BASE64.decode(bytes.as_bytes()).expect("base64");
        if fs::read(place(path)).ok() != Some(want) {
            return Err(format!("{path} holds other bytes"));
        }
    }
    for (path, mode) in line
        .modes
        .iter()
        .filter(|(_, mode)| !mode.contains("umask"))
    {
        let want = u32::from_str_radix(&mode[..4], 8).expect("an octal mode");
        let is = fs::metadata(place(path))
            .expect("there")
            .permissions()
            .mode()
            & 0o7777;
        if is != want {
            return Err(format!("{path} has mode {is:o}"));
        }
    }
    if let Some(path) = line
        .absent
        .iter()
        .find(|path| place(path).symlink_metadata().is_ok())
    {
        return Err(format!("{path} is there"));
    }
    let after = contents(&base);
    let quiet = line.setup.iter().all(|step| step["op"] != "during");
    if quiet
        && let Some(path) = line
            .unchanged
            .iter()
            .find(|path| before.get(&place(path)) != after.get(&place(path)))
    {
        return Err(format!("{path} changed"));
    }
    if refused && quiet && *before != after {
        return Err("something changed".to_owned());
    }
    let left = after
        .keys()
        .any(|path| path.to_string_lossy().contains("/.guildhall-"));
    if left {
        Err("a temporary file is left".to_owned())
    } else {
        Ok(())
    }
}

/// Every regular file below a folder that can be read at once.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let kind = entry.file_type().expect("a kind");
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() && entry.metadata().is_ok_and(|facts| facts.len() < 4_000_000)
            {
                files.insert(entry.path(), fs::read(entry.path()).unwrap_or_default());
            }
        }
    }
    files
}

fn is_privileged() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").expect("proc").uid() == 0
}

#[tokio::test]
async fn every_line_about_a_tool_has_its_outcome_through_the_host() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for text in include_str!("../../../../testdata/corpora/paths.jsonl").lines() {
        let line = Line::read(text);
        let id = line.id.clone();
        let kind = match run(line).await {
            Ran::AsExpected => "as expected",
            Ran::NotRun(why) => why,
            Ran::Wrong(how) => {
                wrong.push(format!("{id}: {how}"));
                "wrong"
            }
        };
        *counts.entry(kind).or_default() += 1;
    }
    println!("{counts:?}");
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(counts.values().sum::<usize>(), 220);
    assert!(counts["as expected"] >= 170, "{counts:?}");
}
