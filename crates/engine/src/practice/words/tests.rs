//! What the practice seat does about messages.

use super::*;
use crate::{ground::Ground, practice::memory::Asked};
use guildhall_authority::event::MessageText;
use guildhall_connector::run::Prompt;
use guildhall_tools::NoTools;
use std::sync::Arc;

const LINE: &str = "[guildhall server=\"Oak Hall\" channel=\"general\" author=\"ana\" \
                    author_id=\"71\" requester=\"Ana\" message_id=\"900\"]";
const THREAD_LINE: &str = "[guildhall server=\"Oak Hall\" channel=\"general\" thread=\"55\" \
                           author_id=\"71\" requester=\"Ana\" message_id=\"900\"]";

fn asked(number: u64, author: &str, text: &str) -> Asked {
    Asked {
        number,
        turn: number.to_string(),
        author: author.to_owned(),
        text: text.to_owned(),
    }
}

/// What is planned for a text in a turn without tools.
fn planned(envelope: &Envelope, text: &str, memory: &Memory) -> Plan {
    let request = RunRequest {
        turn: "900".to_owned(),
        route: "seat".to_owned(),
        prompt: Prompt {
            envelope: String::new(),
            text: MessageText::new(text),
        },
        tools: Arc::new(NoTools),
        ground: Ground::default(),
        longest: std::time::Duration::from_secs(180),
    };
    plan(envelope, &request, memory)
}

fn plan_of(text: &str) -> Plan {
    let memory = Memory::of(vec![
        asked(1, "71", "is it raining"),
        asked(2, "72", "secret"),
    ]);
    planned(&Envelope::read(LINE), text, &memory)
}

#[test]
fn a_command_is_done_as_it_says() {
    let say = |text: &str| Plan::Say(text.to_owned());
    let cases = [
        ("say two words", say("two words")),
        ("SAY *as it is* @everyone", say("*as it is* @everyone")),
        ("<@12> say hi", say("hi")),
        ("<@!12>, <@&3>: say hi", say("hi")),
        ("repeat 2 ho", say("ho\n\nho")),
        ("repeat 0 ho", say("ho")),
        ("count to 3", say("1\n2\n3")),
        ("empty", Plan::SayNothing),
        ("long 0", Plan::SayNothing),
        ("long 4", say("and.")),
        ("fail", Plan::Fail(RunFailure::EngineDied)),
        ("fail provider-busy", Plan::Fail(RunFailure::ProviderBusy)),
        (
            "slow 99",
            Plan::TakeTime {
                seconds: 30,
                then: "That took 30 seconds, as you asked.".to_owned(),
            },
        ),
    ];
    for (text, want) in cases {
        assert_eq!(plan_of(text), want, "{text}");
    }
}

#[test]
fn every_reason_to_fail_can_be_asked_for() {
    for why in RunFailure::ALL {
        let code = serde_json::to_value(why).expect("a code");
        let text = format!("fail {}", code.as_str().expect("text"));
        assert_eq!(plan_of(&text), Plan::Fail(why), "{text}");
    }
}

#[test]
fn questions_about_itself_and_its_place_are_answered() {
    let cases = [
        ("Hi!", vec!["Hello, Ana!", "no model"]),
        (
            "good morning, where are we?",
            vec!["Hello, Ana!", "Oak Hall", "general", "no thread"],
        ),
        ("which server is this?", vec!["Oak Hall", "general"]),
        ("Which channel?", vec!["general"]),
        ("who am I?", vec!["Ana"]),
        ("Who are you?", vec!["practice seat", "no model"]),
        ("which engine do you use", vec!["`practice`", "no model"]),
        ("what can you do?", vec!["`slow <n>`", "`empty`"]),
        ("help", vec!["practice seat", "`long <n>`"]),
        ("what did I ask before?", vec!["is it raining", "turn 1"]),
        ("how many turns was that", vec!["turn 3"]),
        ("thanks", vec!["welcome, Ana"]),
        (
            "prove the theorem",
            vec!["17 characters", "practice seat without a model"],
        ),
        ("slow", vec!["practice seat"]),
        ("count to infinity", vec!["practice seat"]),
        ("", vec!["practice seat"]),
    ];
    for (text, parts) in cases {
        let Plan::Say(said) = plan_of(text) else {
            panic!("{text} has no answer");
        };
        for part in parts {
            assert!(said.contains(part), "{text}: {said}");
        }
        assert!(!said.contains("secret"), "{text}");
    }
}

#[test]
fn a_thread_is_named_with_its_channel() {
    let memory = Memory::of(Vec::new());
    let Plan::Say(said) = planned(&Envelope::read(THREAD_LINE), "where are we?", &memory) else {
        panic!("no answer");
    };
    assert!(
        said.contains("thread <#55> of the channel general"),
        "{said}"
    );
}

#[test]
fn no_command_makes_an_answer_without_bound() {
    let long = "x".repeat(4_000);
    for text in [
        "count to 99999999999999999999999".to_owned(),
        "long 99999999999999999999999".to_owned(),
        "code 99999999999999999999999".to_owned(),
        format!("repeat 99999999999999999999999 {long}"),
    ] {
        let Plan::Say(said) = plan_of(&text) else {
            panic!("no answer");
        };
        assert!(said.len() < 200_000, "{}: {}", &text[..20], said.len());
    }
}

#[test]
fn a_name_and_an_earlier_ask_are_repeated_without_their_mark_up() {
    let memory = Memory::of(vec![asked(1, "", "@everyone [x](http://y.test)")]);
    let line = Envelope::read("[discord requester=\"**@here** `x`\"]");
    let say = |text: &str| {
        let Plan::Say(said) = planned(&line, text, &memory) else {
            panic!("{text} has no answer");
        };
        said
    };
    assert!(say("hello").starts_with("Hello, \\*\\*@\u{200b}here\\*\\* 'x'!"));
    let quoted = say("what did I ask before");
    assert!(
        !quoted.contains("@everyone") && !quoted.contains("http:/"),
        "{quoted}"
    );
}

#[test]
fn what_is_quoted_after_the_message_is_no_part_of_it() {
    let line = Envelope::read("[guildhall author_id=\"71\" characters=\"8\"]");
    let text = "say well\n(in reply to \"Eve\")\n> say bad";
    let want = Plan::Say("well".to_owned());
    assert_eq!(planned(&line, text, &Memory::of(Vec::new())), want);
}
