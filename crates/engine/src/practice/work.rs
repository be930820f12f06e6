//! From a message to a tool call, and from its result to words.
//!
//! In: a person's own words, the tools of the turn, where they work. Out: at most one call, and what
//! is said of how it ended. Never: a call for what was quoted or attached, a call of a tool that the
//! turn was not offered, a result that is passed over in silence.

use crate::{contract::RunRequest, ground::Ground, start::Signs};
use guildhall_authority::offer::ToolName;
use guildhall_connector::run::Progress;
use guildhall_tools::{Outcome, ToolCall, ToolResult, ToolSpec};
use serde_json::{Value, json};

/// Longest result that is shown, in characters; the rest is counted.
const SHOWN_MAX_CHARS: usize = 6_000;

/// What a person asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// What lies in a folder.
    List(String),
    /// The text of a file.
    Read(String),
    /// Where words stand: in a folder, if one is named, or anywhere.
    Search(Option<String>, String),
    /// A new file: path and text.
    Create(String, String),
    /// A change: path, old text, new text.
    Edit(String, String, String),
    /// A page.
    Fetch(String),
    /// The web.
    SearchWeb(String),
    /// A commit: path and message.
    Commit(String, String),
    /// How a work tree stands.
    GitStatus,
    /// Takes what the git server has.
    GitPull,
    /// Sends what was committed.
    GitPush,
}

/// One call that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Planned {
    /// Which tool.
    pub(super) tool: ToolName,
    /// Its arguments.
    pub(super) arguments: Value,
    /// What it does, as the end of a sentence.
    pub(super) what: String,
}

/// Understands the words of a message; `None` where they ask for nothing that tools do. The name of a
/// root and a colon before them say where, and are the turn's own choice already.
pub(super) fn understood(text: &str, ground: &Ground) -> Option<Work> {
    let text = without_root(text.trim(), ground);
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    let path = || plain_path(rest);
    match word.to_lowercase().as_str() {
        "list" | "ls" if one_word(rest) => Some(Work::List(path())),
        "read" | "cat" if one_word(rest) && !rest.is_empty() => Some(Work::Read(path())),
        "fetch" if one_word(rest) && !rest.is_empty() => {
            let url = rest.trim_start_matches('<').trim_end_matches('>');
            Some(Work::Fetch(url.to_owned()))
        }
        "create" => {
            let (path, text) = path_and_rest(rest)?;
            Some(Work::Create(path, unfenced(text)))
        }
        "edit" => {
            let (path, change) = path_and_rest(rest)?;
            let (old, new) = change.split_once(" => ")?;
            Some(Work::Edit(path, old.to_owned(), new.to_owned()))
        }
        "commit" => {
            let (path, message) = path_and_rest(rest)?;
            Some(Work::Commit(path, message.trim().to_owned()))
        }
        "search" => {
            let web = after_any(rest, &["the web for ", "web for ", "the internet for "]);
            let files = after_any(rest, &["the files for ", "files for ", "for "]).unwrap_or(rest);
            match web {
                Some(words) => Some(Work::SearchWeb(words.to_owned())),
                None if rest.is_empty() => None,
                None => Some(search(files, ground)),
            }
        }
        _ => phrase(text),
    }
}

/// A search, in a folder of a root where the words begin with one: `handbook for glue`.
fn search(words: &str, ground: &Ground) -> Work {
    let named = words
        .split_once(" for ")
        .filter(|(folder, words)| place(folder, ground).0.is_some() && !words.trim().is_empty());
    match named {
        Some((folder, words)) => Work::Search(Some(plain_path(folder)), words.trim().to_owned()),
        None => Work::Search(None, words.to_owned()),
    }
}

/// Ways in which people say the same.
fn phrase(text: &str) -> Option<Work> {
    let plain = text.trim_end_matches(['?', '.', '!']).trim();
    let lower = plain.to_lowercase();
    let lists = [
        "what files are there",
        "which files are there",
        "show me the files",
        "list the files",
        "what is in the workspace",
    ];
    if lists.contains(&lower.as_str()) {
        return Some(Work::List(".".to_owned()));
    }
    if [
        "git status",
        "what is the git status",
        "show the git status",
    ]
    .contains(&lower.as_str())
    {
        return Some(Work::GitStatus);
    }
    match lower.as_str() {
        "git pull" => return Some(Work::GitPull),
        "git push" => return Some(Work::GitPush),
        _ => {}
    }
    let reads = [
        "show me the file ",
        "show the file ",
        "open the file ",
        "please read ",
    ];
    let lists = ["what is in the folder ", "please list "];
    let finds = [
        "find the words ",
        "look for the words ",
        "please search for ",
    ];
    if let Some(path) = after_any(plain, &reads).filter(|path| one_word(path)) {
        return Some(Work::Read(plain_path(path)));
    }
    if let Some(path) = after_any(plain, &lists).filter(|path| one_word(path)) {
        return Some(Work::List(plain_path(path)));
    }
    after_any(plain, &finds).map(|words| Work::Search(None, words.to_owned()))
}

/// What stands behind one of these beginnings, whatever their case.
fn after_any<'t>(text: &'t str, beginnings: &[&str]) -> Option<&'t str> {
    beginnings.iter().find_map(|beginning| {
        let head = text.get(..beginning.len())?;
        let rest = text[beginning.len()..].trim();
        (head.eq_ignore_ascii_case(beginning) && !rest.is_empty()).then_some(rest)
    })
}

fn without_root<'t>(text: &'t str, ground: &Ground) -> &'t str {
    let named = ground.roots.iter().find_map(|(name, _)| {
        let rest = text.strip_prefix(name.as_str())?.strip_prefix(':')?;
        Some(rest.trim_start())
    });
    named.unwrap_or(text)
}

fn one_word(text: &str) -> bool {
    !text.contains(char::is_whitespace)
}

fn plain_path(text: &str) -> String {
    match text.trim_matches('`') {
        "" => ".".to_owned(),
        path => path.to_owned(),
    }
}

/// `path: rest`; the rest may have lines.
fn path_and_rest(text: &str) -> Option<(String, &str)> {
    let (path, rest) = text.split_once(':')?;
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let rest = rest.strip_prefix('\n').unwrap_or(rest);
    let path = path.trim();
    (!path.is_empty() && one_word(path) && !rest.is_empty()).then(|| (plain_path(path), rest))
}

/// A text in one fence is the fence's inside.
fn unfenced(text: &str) -> String {
    let inside = text.trim().strip_prefix("```").and_then(|rest| {
        let (_, inside) = rest.split_once('\n')?;
        inside.strip_suffix("```")
    });
    inside.unwrap_or(text).to_owned()
}

/// Where a path leads: a root by name, and what is left of the path.
fn place(path: &str, ground: &Ground) -> (Option<String>, String) {
    let named = ground.roots.iter().find_map(|(name, _)| {
        let rest = path.strip_prefix(name.as_str())?;
        match rest.strip_prefix('/') {
            Some(inside) if !inside.is_empty() => Some((name.clone(), inside.to_owned())),
            Some(_) => Some((name.clone(), ".".to_owned())),
            None if rest.is_empty() => Some((name.clone(), ".".to_owned())),
            None => None,
        }
    });
    match named {
        Some((root, path)) => (Some(root), path),
        None => (None, path.to_owned()),
    }
}

/// Said where no tool of the turn does what is asked.
const NO_TOOL: &str = "I have no tool for that in this turn. Say `help` for those that I have.";

/// What a turn has to work with.
struct Bench<'t> {
    specs: &'t [ToolSpec],
    ground: &'t Ground,
}

impl Bench<'_> {
    fn has(&self, tool: ToolName) -> bool {
        self.specs.iter().any(|spec| spec.name == tool)
    }

    fn call(
        &self,
        tool: ToolName,
        arguments: Value,
        what: String,
    ) -> Result<Planned, &'static str> {
        let planned = Planned {
            tool,
            arguments,
            what,
        };
        self.has(tool).then_some(planned).ok_or(NO_TOOL)
    }

    fn first_root(&self) -> String {
        let first = self.ground.roots.first();
        first.map(|(name, _)| name.clone()).unwrap_or_default()
    }

    /// The root that is meant where none is named.
    fn home(&self) -> String {
        let workspace = self.ground.workspace.clone();
        workspace.unwrap_or_else(|| self.first_root())
    }

    /// Work on a file: in the workspace by its own tool, in a root by the other.
    fn file(
        &self,
        path: &str,
        (inside, other): (ToolName, ToolName),
        mut arguments: Value,
        verb: &str,
    ) -> Result<Planned, &'static str> {
        let what = format!("{verb} `{path}`");
        let (root, path) = place(path, self.ground);
        let workspace = self.ground.workspace.as_ref();
        let in_workspace = root.as_ref().is_none_or(|root| workspace == Some(root));
        arguments["path"] = json!(path);
        if in_workspace && self.has(inside) {
            return self.call(inside, arguments, what);
        }
        arguments["root"] = json!(root.unwrap_or_else(|| self.first_root()));
        self.call(other, arguments, what)
    }
}

/// The call that does it. The workspace is taken where a path names no other root and there is one.
///
/// # Errors
/// What is said where no tool of this turn does it.
pub(super) fn planned(
    work: Work,
    specs: &[ToolSpec],
    ground: &Ground,
) -> Result<Planned, &'static str> {
    let bench = Bench { specs, ground };
    match work {
        Work::List(path) => bench.file(
            &path,
            (ToolName::List, ToolName::ListDir),
            json!({}),
            "list",
        ),
        Work::Read(path) => bench.file(
            &path,
            (ToolName::Read, ToolName::ReadFile),
            json!({}),
            "read",
        ),
        Work::Create(path, text) => {
            let tools = (ToolName::Create, ToolName::WriteFile);
            bench.file(&path, tools, json!({"text": text}), "create")
        }
        Work::Edit(path, old, new) => {
            let tools = (ToolName::Edit, ToolName::EditFile);
            bench.file(&path, tools, json!({"old": old, "new": new}), "edit")
        }
        Work::Search(None, words) => {
            let arguments = json!({"root": bench.home(), "pattern": words});
            bench.call(ToolName::Search, arguments, "search the files".to_owned())
        }
        Work::Search(Some(folder), words) => {
            let what = format!("search `{folder}`");
            let (root, path) = place(&folder, ground);
            let root = root.unwrap_or_else(|| bench.home());
            let arguments = json!({"root": root, "path": path, "pattern": words});
            bench.call(ToolName::Search, arguments, what)
        }
        Work::Fetch(url) => {
            let what = "read that page".to_owned();
            bench.call(ToolName::WebFetch, json!({"url": url}), what)
        }
        Work::SearchWeb(words) => {
            let arguments = json!({"query": words});
            bench.call(ToolName::WebSearch, arguments, "search the web".to_owned())
        }
        Work::Commit(path, message) => {
            let (root, path) = place(&path, ground);
            let root = root.unwrap_or_else(|| bench.home());
            let arguments = json!({"root": root, "message": message, "paths": [path]});
            bench.call(ToolName::GitCommit, arguments, format!("commit `{path}`"))
        }
        Work::GitStatus => {
            let what = "look at the work tree".to_owned();
            bench.call(ToolName::GitStatus, json!({"root": bench.home()}), what)
        }
        Work::GitPull => {
            let what = "take what the git server has".to_owned();
            bench.call(ToolName::GitPull, json!({"root": bench.home()}), what)
        }
        Work::GitPush => {
            let what = "push what was committed".to_owned();
            bench.call(ToolName::GitPush, json!({"root": bench.home()}), what)
        }
    }
}

/// Makes the call and says what came of it.
pub(super) async fn carried_out(planned: Planned, request: &RunRequest, signs: &Signs) -> String {
    signs.progress(Progress::ToolBegan);
    let result = request
        .tools
        .call(ToolCall {
            id: "practice-1".to_owned(),
            name: planned.tool.as_str().to_owned(),
            arguments: planned.arguments.to_string(),
        })
        .await;
    signs.progress(Progress::ToolEnded);
    said(&planned, &result)
}

fn said(planned: &Planned, result: &ToolResult) -> String {
    let what = &planned.what;
    match result.outcome {
        Outcome::Done => format!("I was asked to {what}, and did:\n{}", fenced(&result.text)),
        Outcome::Refused => format!(
            "I was asked to {what}, and it was refused. Nothing was done. The reason:\n{}",
            fenced(&result.text)
        ),
        Outcome::Unknown => format!(
            "I was asked to {what}, and cannot say whether it was done:\n{}",
            fenced(&result.text)
        ),
    }
}

/// A text in a fence that nothing in it closes.
fn fenced(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN_MAX_CHARS).collect();
    let longest = shown
        .split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let rest = text.chars().count() - shown.chars().count();
    let rest = match rest {
        0 => String::new(),
        rest => format!("\n({rest} characters more are not shown.)"),
    };
    let end = if shown.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{shown}{end}{fence}{rest}")
}

/// What it can do with the tools of this turn, one line each; empty without tools.
pub(super) fn help(specs: &[ToolSpec]) -> String {
    let lines = specs.iter().filter_map(|spec| match spec.name {
        ToolName::List | ToolName::ListDir => Some("- `list [path]`: what lies in a folder"),
        ToolName::Read | ToolName::ReadFile => Some("- `read <path>`: the text of a file"),
        ToolName::Search => {
            Some("- `search <words>`, `search <folder> for <words>`: where they stand")
        }
        ToolName::Create | ToolName::WriteFile => Some("- `create <path>: <text>`: a new file"),
        ToolName::Edit | ToolName::EditFile => {
            Some("- `edit <path>: <old> => <new>`: a change in a file")
        }
        ToolName::WebFetch => Some("- `fetch <url>`: the text of a page"),
        ToolName::WebSearch => Some("- `search the web for <words>`"),
        ToolName::GitStatus => Some("- `git status`: how the work tree stands"),
        ToolName::GitCommit => Some("- `commit <path>: <message>`"),
        ToolName::GitPull => Some("- `git pull`: what the git server has"),
        ToolName::GitPush => Some("- `git push`: what was committed"),
        ToolName::ReserveId => None,
    });
    let mut all: Vec<&str> = Vec::new();
    for line in lines {
        if !all.contains(&line) {
            all.push(line);
        }
    }
    all.join("\n")
}

#[cfg(test)]
mod tests;
