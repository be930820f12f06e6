//! What the practice seat makes of words about files, pages and git.

use super::*;
use guildhall_binding::RootWrite;

fn ground() -> Ground {
    Ground {
        roots: vec![
            ("library".to_owned(), RootWrite::No),
            ("notes".to_owned(), RootWrite::Yes),
            ("drafts".to_owned(), RootWrite::Ask),
        ],
        workspace: Some("drafts".to_owned()),
        calls_max: 8,
    }
}

fn specs(names: &[ToolName]) -> Vec<ToolSpec> {
    let spec = |name: &ToolName| ToolSpec {
        name: *name,
        description: "",
        schema: Value::Null,
    };
    names.iter().map(spec).collect()
}

fn are_understood(cases: &[(&str, Option<Work>)]) {
    for (text, want) in cases {
        assert_eq!(understood(text, &ground()), *want, "{text:?}");
    }
}

#[test]
fn words_that_ask_to_look_are_understood_and_others_are_not() {
    let own = str::to_owned;
    are_understood(&[
        ("list", Some(Work::List(own(".")))),
        ("LIST `a/b`", Some(Work::List(own("a/b")))),
        ("list of things to do", None),
        ("what files are there?", Some(Work::List(own(".")))),
        ("read a.md", Some(Work::Read(own("a.md")))),
        ("read me a story", None),
        ("read", None),
        ("Show me the file a.md", Some(Work::Read(own("a.md")))),
        (
            "search for two words",
            Some(Work::Search(None, own("two words"))),
        ),
        (
            "search library/shelf for two words",
            Some(Work::Search(Some(own("library/shelf")), own("two words"))),
        ),
        (
            "search looking for trouble",
            Some(Work::Search(None, own("looking for trouble"))),
        ),
        (
            "search the web for rust",
            Some(Work::SearchWeb(own("rust"))),
        ),
        ("search", None),
        (
            "fetch https://example.com/",
            Some(Work::Fetch(own("https://example.com/"))),
        ),
        (
            "fetch <https://example.com/>",
            Some(Work::Fetch(own("https://example.com/"))),
        ),
    ]);
}

#[test]
fn words_that_ask_for_a_change_are_understood_and_others_are_not() {
    let own = str::to_owned;
    are_understood(&[
        (
            "create a.md: one\ntwo",
            Some(Work::Create(own("a.md"), own("one\ntwo"))),
        ),
        (
            "create a.md:\n```md\n# x\n```",
            Some(Work::Create(own("a.md"), own("# x\n"))),
        ),
        ("create a song about: rain", None),
        (
            "edit a.md: old => new",
            Some(Work::Edit(own("a.md"), own("old"), own("new"))),
        ),
        ("edit a.md: no arrow", None),
        (
            "drafts: edit a.md: x => y",
            Some(Work::Edit(own("a.md"), own("x"), own("y"))),
        ),
        (
            "commit a.md: why",
            Some(Work::Commit(own("a.md"), own("why"))),
        ),
        ("git status", Some(Work::GitStatus)),
        ("git pull", Some(Work::GitPull)),
        ("Git push!", Some(Work::GitPush)),
        ("> list", None),
        ("hello", None),
        ("", None),
    ]);
}

#[test]
fn a_path_leads_to_the_tool_of_its_place() {
    let all = specs(ToolName::ALL);
    let cases = [
        ("read a.md", ToolName::Read, json!({"path": "a.md"})),
        ("read drafts/a.md", ToolName::Read, json!({"path": "a.md"})),
        (
            "read library/a.md",
            ToolName::ReadFile,
            json!({"root": "library", "path": "a.md"}),
        ),
        (
            "list notes",
            ToolName::ListDir,
            json!({"root": "notes", "path": "."}),
        ),
        (
            "list notes/",
            ToolName::ListDir,
            json!({"root": "notes", "path": "."}),
        ),
        (
            "read notebook/a.md",
            ToolName::Read,
            json!({"path": "notebook/a.md"}),
        ),
        (
            "edit a.md: x => y",
            ToolName::Edit,
            json!({"path": "a.md", "old": "x", "new": "y"}),
        ),
        (
            "create notes/a.md: x",
            ToolName::WriteFile,
            json!({"root": "notes", "path": "a.md", "text": "x"}),
        ),
        (
            "search x",
            ToolName::Search,
            json!({"root": "drafts", "pattern": "x"}),
        ),
        (
            "search library for x",
            ToolName::Search,
            json!({"root": "library", "path": ".", "pattern": "x"}),
        ),
        (
            "commit notes/a.md: why",
            ToolName::GitCommit,
            json!({"root": "notes", "message": "why", "paths": ["a.md"]}),
        ),
    ];
    for (text, tool, arguments) in cases {
        let work = understood(text, &ground()).expect("work");
        let planned = planned(work, &all, &ground()).expect("a call");
        assert_eq!(
            (planned.tool, planned.arguments),
            (tool, arguments),
            "{text}"
        );
    }
}

#[test]
fn without_the_workspace_tools_a_change_goes_to_the_others() {
    let offered = specs(&[ToolName::ReadFile, ToolName::WriteFile]);
    let ground = Ground {
        workspace: None,
        ..ground()
    };
    let planned_of = |text| planned(understood(text, &ground).expect("work"), &offered, &ground);
    let planned = planned_of("create a.md: x").expect("a call");
    assert_eq!(planned.tool, ToolName::WriteFile);
    assert_eq!(planned.arguments["root"], "library");
    assert!(planned_of("fetch https://example.com/").is_err_and(|why| why.contains("no tool")));
}

#[test]
fn a_result_cannot_close_its_fence_and_is_bounded() {
    let shown = fenced("a\n````\n@everyone");
    assert!(
        shown.starts_with("`````\n") && shown.ends_with("\n`````"),
        "{shown}"
    );
    let shown = fenced(&"x".repeat(SHOWN_MAX_CHARS + 7));
    assert!(
        shown.ends_with("(7 characters more are not shown.)"),
        "{shown}"
    );
}

#[test]
fn help_names_what_is_offered_and_nothing_else() {
    assert_eq!(help(&[]), "");
    let said = help(&specs(&[ToolName::List, ToolName::ListDir, ToolName::Edit]));
    assert_eq!(said.lines().count(), 2);
    assert!(
        said.contains("`edit <path>") && !said.contains("fetch"),
        "{said}"
    );
}
