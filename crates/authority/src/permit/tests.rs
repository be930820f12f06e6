//! What a permit proves, and what it does not.

use super::*;
use crate::{
    ask::{AskSpec, Shown},
    scope::{TurnKey, workspace_of},
};
use guildhall_binding::{Expect, Policy};
use std::path::Path;

const BINDING: &str = r#"{
  "bindingVersion": 1, "name": "hall", "seat": "Seat",
  "guildId": "100000000000000001", "guildName": "Hall", "botUserId": "100000000000000002",
  "tokenFile": "/etc/guildhall/token",
  "channels": [{"id": "100000000000000010", "name": "general", "mode": "open"}],
  "users": [{"id": "100000000000000020", "name": "Ana", "operator": true},
            {"id": "100000000000000021", "name": "Ben"}],
  "engine": {"kind": "practice"},
  "tools": {"roots": [
    {"name": "docs", "path": "/srv/docs"},
    {"name": "notes", "path": "/srv/notes", "write": true},
    {"name": "site", "path": "/srv/site", "write": "ask"},
    {"name": "wiki", "path": "/srv/wiki", "write": "ask"}]},
  "platformToolsets": {"cotal": ["workspace"]}
}"#;

fn policy() -> Arc<Policy> {
    let expect = Expect {
        name: None,
        data_root: Path::new("/data"),
        home: None,
    };
    Arc::new(guildhall_binding::read(BINDING.as_bytes(), expect).expect("a good binding"))
}

fn scope(origin: Origin, message: &str) -> TurnScope {
    let policy = policy();
    let workspace = workspace_of(&policy, message);
    TurnScope::of(TurnKey::new("7"), origin, None, workspace, policy)
}

#[derive(Debug)]
struct Deed {
    tool: ToolName,
    root: &'static str,
    content: &'static str,
}

impl Effect for Deed {
    fn tool(&self) -> ToolName {
        self.tool
    }
    fn subject(&self) -> Subject<'_> {
        if matches!(self.tool, ToolName::ReadFile | ToolName::Read) {
            Subject::Reads { root: self.root }
        } else {
            Subject::Changes { root: self.root }
        }
    }
    fn digest(&self) -> EffectDigest {
        let fields = [self.root.as_bytes(), self.content.as_bytes()];
        EffectDigest::of("test", &fields)
    }
}

fn deed(tool: ToolName, root: &'static str) -> Deed {
    Deed {
        tool,
        root,
        content: "new",
    }
}

fn word<E>(verdict: &Verdict<E>) -> &'static str {
    match verdict {
        Verdict::Allowed(_) => "allowed",
        Verdict::Asks(_) => "asks",
        Verdict::Refused(no) => no.code(),
    }
}

fn asked(judge: &Judge, life: &TurnLife, call: u32) -> Pending<Deed> {
    let scope = scope(Origin::User, "hi");
    match judge.judge(deed(ToolName::Create, "site"), &scope, life, call) {
        Verdict::Asks(pending) => pending,
        other @ (Verdict::Allowed(_) | Verdict::Refused(_)) => panic!("it asks: {}", word(&other)),
    }
}

fn spec_of(pending: &Pending<Deed>) -> AskSpec {
    AskSpec {
        id: pending.ask(),
        turn: TurnKey::new("7"),
        call: 0,
        tool: ToolName::Create,
        digest: pending.digest(),
        shown: Shown::default(),
    }
}

#[test]
fn the_policy_decides_by_root_tool_and_origin() {
    let cases = [
        (ToolName::ReadFile, "docs", Origin::User, "allowed"),
        (ToolName::ReadFile, "nowhere", Origin::User, "unknown-root"),
        (ToolName::WriteFile, "docs", Origin::User, "root-readonly"),
        (ToolName::WriteFile, "notes", Origin::User, "allowed"),
        (ToolName::WriteFile, "site", Origin::User, "workspace-only"),
        (ToolName::Create, "site", Origin::User, "asks"),
        (ToolName::Create, "site", Origin::Plugin, "asks"),
        (ToolName::Read, "site", Origin::User, "allowed"),
        (ToolName::Create, "wiki", Origin::User, "unknown-root"),
        (ToolName::Read, "wiki", Origin::User, "unknown-root"),
        (ToolName::ReadFile, "docs", Origin::Plugin, "not-offered"),
        (ToolName::Read, "site", Origin::Peer, "allowed"),
        (ToolName::Create, "site", Origin::Peer, "peer-never-asks"),
        (ToolName::WriteFile, "notes", Origin::Peer, "not-offered"),
        (ToolName::ReadFile, "docs", Origin::Schedule, "not-offered"),
        (ToolName::GitCommit, "site", Origin::User, "not-offered"),
    ];
    let (judge, _) = found();
    let life = judge.begin_turn();
    for (tool, root, origin, expected) in cases {
        let verdict = judge.judge(deed(tool, root), &scope(origin, "hi"), &life, 0);
        assert_eq!(word(&verdict), expected, "{tool} in {root} by {origin:?}");
    }
}

#[test]
fn a_message_selects_its_workspace_by_name_and_colon() {
    let cases = [
        ("wiki: fix the page", Some("wiki")),
        ("<@100000000000000002> wiki: fix it", Some("wiki")),
        ("<@!100000000000000002>  <@&5> wiki: fix it", Some("wiki")),
        ("Wiki: fix it", Some("wiki")),
        ("wiki : fix it", Some("wiki")),
        ("  WIKI\t:fix it", Some("wiki")),
        ("**wiki**: fix it", Some("wiki")),
        ("**wiki:** fix it", Some("wiki")),
        ("***Wiki*** : fix it", Some("wiki")),
        ("_wiki_: fix it", Some("wiki")),
        ("`wiki`: fix it", Some("wiki")),
        ("<@5> **`wiki`**: fix it", Some("wiki")),
        ("wiki:\nfix it", Some("wiki")),
        ("wiki\n: fix it", Some("site")),
        ("**wiki: fix it", Some("site")),
        ("**wiki* : fix it", Some("site")),
        ("wiki please: fix it", Some("site")),
        ("*not* wiki: fix it", Some("site")),
        ("> wiki: fix it", Some("site")),
        ("w\u{e4}ki: fix it", Some("site")),
        ("wik\u{e4}: fix it", Some("site")),
        ("wiki", Some("site")),
        ("wikis: fix it", Some("site")),
        ("please, wiki: no", Some("site")),
        ("notes: not a workspace", Some("site")),
        ("", Some("site")),
    ];
    for (message, expected) in cases {
        let chosen = workspace_of(&policy(), message);
        assert_eq!(chosen.as_deref(), expected, "{message:?}");
    }
}

#[test]
fn a_decision_for_the_ask_makes_one_permit() {
    let (judge, mut book) = found();
    let life = judge.begin_turn();
    let pending = asked(&judge, &life, 0);
    let spec = spec_of(&pending);
    assert_eq!(book.open(&spec), Ok(()));
    assert!(book.open(&spec).is_err());
    let decision = book.decide(spec.id, Answer::Once).expect("it is open");
    assert!(book.decide(spec.id, Answer::Once).is_none());
    let permit = pending.redeem(decision).expect("it fits");
    assert_eq!(permit.by(), PermittedBy::Ask(spec.id));
    assert_eq!(permit.spend().map(|deed| deed.root), Ok("site"));
}

#[test]
fn every_other_answer_is_a_no_of_its_own() {
    let cases = [
        (Answer::Denied, Denied::ByPerson),
        (Answer::TimedOut, Denied::TimedOut),
        (Answer::Undelivered, Denied::Undelivered),
        (Answer::Withdrawn, Denied::Revoked),
        (Answer::Stopped, Denied::Stopped),
    ];
    for (answer, expected) in cases {
        let (judge, mut book) = found();
        let life = judge.begin_turn();
        let pending = asked(&judge, &life, 0);
        book.open(&spec_of(&pending)).expect("none is open");
        let decision = book.decide(pending.ask(), answer).expect("it is open");
        assert_eq!(pending.redeem(decision).err(), Some(expected));
    }
}

#[test]
fn a_decision_for_anything_else_is_worth_nothing() {
    let (judge, mut book) = found();
    let (_, mut other_book) = found();
    let life = judge.begin_turn();
    let first = asked(&judge, &life, 0);
    let second = asked(&judge, &life, 1);
    let mut changed = spec_of(&second);
    changed.digest = EffectDigest::of("another", &[]);
    book.open(&spec_of(&first)).expect("none is open");
    book.open(&changed).expect("none is open");
    let of_the_first = book.decide(first.ask(), Answer::Once).expect("open");
    assert_eq!(second.redeem(of_the_first).err(), Some(Denied::OtherEffect));
    let of_another_digest = book.decide(changed.id, Answer::Once).expect("open");
    let second = asked(&judge, &life, 1);
    assert_eq!(
        second.redeem(of_another_digest).err(),
        Some(Denied::OtherEffect)
    );
    other_book.open(&spec_of(&first)).expect("none is open");
    let foreign = other_book.decide(first.ask(), Answer::Once).expect("open");
    assert_eq!(first.redeem(foreign).err(), Some(Denied::OtherEffect));
}

#[test]
fn nothing_happens_after_the_turn() {
    let (judge, mut book) = found();
    let life = judge.begin_turn();
    let scope = scope(Origin::User, "hi");
    let Verdict::Allowed(permit) =
        judge.judge(deed(ToolName::WriteFile, "notes"), &scope, &life, 0)
    else {
        panic!("the policy allows it");
    };
    let pending = asked(&judge, &life, 1);
    book.open(&spec_of(&pending)).expect("none is open");
    let decision = book.decide(pending.ask(), Answer::Once).expect("open");
    life.end();
    assert_eq!(permit.spend().err(), Some(Denied::Revoked));
    assert_eq!(pending.redeem(decision).err(), Some(Denied::Revoked));
    let late = judge.judge(deed(ToolName::ReadFile, "docs"), &scope, &life, 2);
    assert_eq!(word(&late), "revoked");
}

#[test]
fn an_effect_that_changed_since_it_was_judged_is_not_done() {
    let (judge, _) = found();
    let life = judge.begin_turn();
    let scope = scope(Origin::User, "hi");
    let Verdict::Allowed(mut permit) =
        judge.judge(deed(ToolName::WriteFile, "notes"), &scope, &life, 0)
    else {
        panic!("the policy allows it");
    };
    permit.effect.content = "something else";
    assert_eq!(permit.spend().err(), Some(Denied::OtherEffect));
}

#[test]
fn without_tools_nothing_is_offered() {
    let mut policy = Policy::clone(&policy());
    policy.tools = None;
    let scope = TurnScope::of(
        TurnKey::new("7"),
        Origin::User,
        None,
        None,
        Arc::new(policy),
    );
    assert_eq!(offered(&scope), []);
}
