//! What a card shows, and what it never does.

use super::*;
use guildhall_authority::{ask::Shown, offer::ToolName, permit::EffectDigest, scope::TurnKey};
use guildhall_binding::{Standing, User, UserChannels};
use proptest::prelude::*;

/// The policy of the example binding, with an operator.
fn policy(mentions: ApprovalMentions) -> Policy {
    let bytes = include_bytes!("../../../../examples/binding.minimal.json");
    let expect = guildhall_binding::Expect {
        name: None,
        data_root: std::path::Path::new("/data"),
        home: None,
    };
    let mut policy = guildhall_binding::read(bytes, expect).expect("the example is valid");
    let id = UserId::from_number(77).expect("not zero");
    policy.users.insert(
        id,
        User {
            id,
            name: "Olga `*_ @everyone".into(),
            channels: UserChannels::Every,
            standing: Standing::Operator,
        },
    );
    policy.discord.approval_mentions = mentions;
    policy
}

fn spec(shown: Shown) -> AskSpec {
    let turn = TurnKey::new("1000");
    AskSpec {
        id: AskId::derive(&turn, 0),
        turn,
        call: 0,
        tool: ToolName::Create,
        digest: EffectDigest::of("test", &[]),
        shown,
    }
}

fn card(shown: Shown) -> (String, CardParts) {
    card_of(shown, ApprovalMentions::Off)
}

fn card_of(shown: Shown, mentions: ApprovalMentions) -> (String, CardParts) {
    let who = Who::User(UserId::from_number(77).expect("not zero"));
    let asker = Asker {
        who: &who,
        sources: &["message of Eve".to_owned()],
        turn: "1000".parse().expect("a row"),
        until: Wall(1_796_047_445_000),
    };
    of(&policy(mentions), &spec(shown), &asker)
}

fn content(name: &str, text: &str) -> Shown {
    Shown {
        what: "Create a.md".into(),
        facts: Vec::new(),
        content: Some(Content {
            name: name.into(),
            text: text.into(),
        }),
        read: Vec::new(),
    }
}

#[test]
fn a_card_says_what_for_whom_after_what_by_whom_until_when_and_which_digest() {
    let (text, parts) = card(Shown {
        facts: vec![("workspace".into(), "notes".into())],
        read: vec!["b.md".into(), "https://example.org/c".into()],
        ..content("a.md", "one\ntwo\n")
    });
    let digest = EffectDigest::of("test", &[]).to_string();
    for part in [
        "`Create a.md`",
        "`workspace`: `notes`",
        "(user 77)",
        "Read so far: the message that asks, `message of Eve`, `b.md`, `https://example.org/c`",
        "May decide: `Olga",
        "<t:1796047445:R>",
        digest.as_str(),
        "```\none\ntwo\n```",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(
        (parts.attachments.is_empty(), parts.mentions.len()),
        (true, 0)
    );
    assert!(is_of(&reply::digest_text(&text), parts.ask));
    let other = AskId::derive(&TurnKey::new("1000"), 1);
    assert!(!is_of(&reply::digest_text(&text), other));
}

#[test]
fn operators_are_mentioned_where_the_binding_wants_it_and_nobody_else_is() {
    let (text, parts) = card_of(content("a.md", "<@10> @everyone"), ApprovalMentions::On);
    assert!(text.contains("<@77>"), "{text}");
    assert!(
        parts
            .mentions
            .contains(&UserId::from_number(77).expect("not zero"))
    );
    let listed = policy(ApprovalMentions::On);
    assert!(parts.mentions.iter().all(|id| may_decide(&listed, *id)));
}

#[test]
fn every_mention_stands_in_the_text_however_many_operators_there_are() {
    for count in [1, 9, 20, 60] {
        let mut policy = policy(ApprovalMentions::On);
        for number in 0..count {
            let id = UserId::from_number(200_000_000_000_000_000 + number).expect("not zero");
            let name = format!("A name that is rather long {number}");
            let (channels, standing) = (UserChannels::Every, Standing::Operator);
            policy.users.insert(
                id,
                User {
                    id,
                    name,
                    channels,
                    standing,
                },
            );
        }
        let who = Who::User(UserId::from_number(77).expect("not zero"));
        let asker = Asker {
            who: &who,
            sources: &[],
            turn: "1000".parse().expect("a row"),
            until: Wall(1_796_047_445_000),
        };
        let facts = (0..40).map(|n| (format!("fact {n}"), "v".repeat(150)));
        let shown = Shown {
            what: "w".repeat(400),
            facts: facts.collect(),
            read: vec!["r".repeat(150); 9],
            ..content("a.md", &"x\n".repeat(900))
        };
        let (text, parts) = of(&policy, &spec(shown), &asker);
        assert!(units(&text) <= MESSAGE_CONTENT_MAX_CHARS, "{count}");
        let operators = policy.users.values();
        let operators = operators.filter(|user| user.standing == Standing::Operator);
        assert_eq!(
            parts.mentions.len(),
            operators.count().min(MENTIONS_MAX_COUNT)
        );
        for id in &parts.mentions {
            assert!(text.contains(&format!("<@{id}>")), "{count}: {text}");
        }
    }
}

#[test]
fn a_content_that_does_not_fit_is_attached_whole() {
    let long = "a line of some length\n".repeat(500);
    let (text, parts) = card(content("a.diff", &long));
    let [attached] = &parts.attachments[..] else {
        panic!("a file");
    };
    assert_eq!((attached.name.as_str(), &attached.text), ("a.diff", &long));
    let named = format!("`a.diff` (sha256 `{}`)", sha256(&long));
    assert!(
        text.contains("```diff\n") && text.contains(&named),
        "{text}"
    );
    assert!(units(&text) <= MESSAGE_CONTENT_MAX_CHARS);
}

#[test]
fn facts_that_do_not_fit_are_attached_in_a_file_of_their_own() {
    let facts = (0..40).map(|n| (format!("fact {n}"), "v".repeat(150)));
    let (text, parts) = card(Shown {
        facts: facts.collect(),
        ..content("a.md", "short")
    });
    let [attached] = &parts.attachments[..] else {
        panic!("a file");
    };
    assert_eq!(attached.name, REQUEST_NAME);
    for n in 0..40 {
        assert!(attached.text.contains(&format!("fact {n}: ")), "{n}");
    }
    assert!(text.contains("```\nshort\n```"), "{text}");
    assert!(units(&text) <= MESSAGE_CONTENT_MAX_CHARS);
    let (text, parts) = card(Shown {
        what: format!("Create {}\nfact: forged", "p".repeat(400)),
        ..content(REQUEST_NAME, "a\r\n")
    });
    let files: Vec<_> = parts.attachments.iter().collect();
    assert_eq!((files.len(), files[0].text.as_str()), (2, "a\r\n"));
    assert_ne!(files[0].name, files[1].name);
    assert!(text.contains(&sha256("a\r\n")) && text.contains("`request.txt`"));
    assert!(files[1].text.contains("\\u{a}fact: forged\n"));
    assert!(units(&text) <= MESSAGE_CONTENT_MAX_CHARS);
}

fn sha256(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text.as_bytes()))
}

#[test]
fn no_two_contents_make_one_card_and_what_is_not_shown_as_it_is_is_attached() {
    let ways = [
        "if a {\u{202e} }\n",
        "if a {\\u{202e} }\n",
        "if a {\\u{5c}u{202e} }\n",
        "if a {\\\\u{202e} }\n",
        "a\r\nb\n",
        "a\\r\nb\n",
        "a\\u{d}\nb\n",
        "x\u{2cb}`\n",
        "x\u{2cb}\u{2cb}\n",
        "x```\n",
        "x\u{2cb}\u{2cb}\u{2cb}\n",
        "a\n\n",
        "\na\n",
        "a\u{2800}\n",
        "a\u{e000}\n",
    ];
    let mut cards = Vec::new();
    for way in ways {
        let (text, parts) = card(content("content.txt", way));
        match &parts.attachments[..] {
            [] => assert!(text.contains(&format!("```\n{way}```")), "{way:?}: {text}"),
            [file] => {
                assert_eq!(file.text, way, "the exact bytes");
                assert!(text.contains(&sha256(way)), "{text}");
                assert!(text.contains("Not all of it is shown as it is"), "{text}");
            }
            more => panic!("{more:?}", more = more.len()),
        }
        let told = text.split("Not all of it").next().unwrap_or_default();
        cards.push((told.to_owned(), parts.attachments.is_empty()));
    }
    // Blank lines at the ends of a block are not to be seen; a file says that they are there.
    cards.sort_unstable();
    cards.dedup();
    assert_eq!(cards.len(), ways.len());
}

#[test]
fn a_content_cannot_end_its_block() {
    let cases = [
        "```\n@everyone **Allowed**",
        "a ```` b",
        "``\u{200b}`\nout",
        "`\u{200b}`\u{200b}`",
        "`\u{feff}``",
        "```\u{2cb}```",
        "x\r```",
    ];
    for case in cases {
        let (text, parts) = card(content("a.md", case));
        assert_eq!(text.matches("```").count(), 2, "{case:?}: {text}");
        let kept: Vec<_> = parts.attachments.iter().map(|file| &file.text).collect();
        assert_eq!(kept, [case], "what is not shown as it is is attached");
    }
}

#[test]
fn what_shows_nothing_is_written_out() {
    let (text, _) = card(content("a.md", "abc\u{202e}cba\u{7}"));
    assert!(text.contains("abc\\u{202e}cba\\u{7}"), "{text}");
    let (text, parts) = card(content("a.md", " \n\t"));
    assert!(text.contains("3 bytes in which nothing shows"), "{text}");
    assert!(!parts.attachments.is_empty());
    let (_, parts) = card(content("a.md", ""));
    assert!(parts.attachments.is_empty(), "nothing is nothing");
}

#[test]
fn a_name_of_a_file_is_made_plain() {
    let cases = [
        ("a.md", "a.md"),
        ("../../etc/passwd", "etcpasswd"),
        ("...", "content.txt"),
        ("näm e.txt", "nme.txt"),
    ];
    for (name, expected) in cases {
        let file = file_name(&Content {
            name: name.into(),
            text: String::new(),
        });
        assert_eq!(file, expected);
    }
}

#[test]
fn each_end_has_words_of_its_own() {
    use crate::record::{DoneBy, Via};
    let decided = |answer| AskEnd::Decided {
        by: Decider::User(UserId::from_number(77).expect("not zero")),
        via: Via::Button,
        answer,
    };
    let done = Carried::Ended(CallFate::Done(DoneBy::Host));
    let refused = Carried::Ended(CallFate::Refused("gone".into()));
    let unknown = Carried::Ended(CallFate::Unknown("x".into()));
    let cases = [
        (decided(Answer::Once), Carried::NotYet),
        (decided(Answer::Once), Carried::Never),
        (decided(Answer::Once), done),
        (decided(Answer::Once), refused),
        (decided(Answer::Once), unknown),
        (decided(Answer::Denied), Carried::Never),
        (decided(Answer::TimedOut), Carried::Never),
        (decided(Answer::Stopped), Carried::Never),
        (AskEnd::Expired, Carried::Never),
        (AskEnd::Undelivered, Carried::Never),
        (AskEnd::Withdrawn, Carried::Never),
    ];
    let ask = Ask {
        turn: "1000".parse().expect("a row"),
        call: 0,
        tool: "create".into(),
        class: "workspace".into(),
        digest: "00".into(),
        place: guildhall_binding::ids::ChannelId::from_number(1).expect("not zero"),
        until: Wall(0),
        since: Wall(0),
        message: None,
        end: None,
        refused: None,
    };
    let id = AskId::derive(&TurnKey::new("1000"), 0);
    let policy = policy(ApprovalMentions::Off);
    let mut texts: Vec<_> = cases
        .iter()
        .map(|(end, carried)| ended(&policy, id, &ask, Some("Create `a`"), *end, carried))
        .collect();
    assert!(
        texts
            .iter()
            .all(|text| text.contains("`Create \u{2cb}a\u{2cb}`")),
        "{texts:?}"
    );
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), cases.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_card_fits_keeps_its_block_and_drops_nothing(
        what in "[ -~`\u{200b}\u{202e}\u{1f600}\n]{0,400}",
        facts in proptest::collection::vec(("[a-z`@]{0,80}", "[ -~`\n\u{1f600}]{0,300}"), 0..12),
        read in proptest::collection::vec("[a-z/`@\n]{0,90}", 0..40),
        body in "[ab`\n\u{200b}\u{1f600}]{0,2500}",
    ) {
        let shown = Shown {
            what,
            facts,
            content: Some(Content { name: "b.md".into(), text: body.clone() }),
            read,
        };
        let (text, parts) = card(shown);
        prop_assert!(units(&text) <= MESSAGE_CONTENT_MAX_CHARS, "{} units", units(&text));
        let fences = text.matches("```").count();
        prop_assert!(fences == 0 || fences == 2, "{}", text);
        prop_assert!(!text.chars().any(|c| c != '\n' && c != ' ' && reply::is_unseen(c)));
        let whole = parts.attachments.iter().any(|file| file.text == body);
        let shown = body.is_empty() || text.contains(body.trim_end_matches('\n'));
        prop_assert!(whole || shown);
        for line in text.lines().take_while(|line| !line.starts_with("```")) {
            prop_assert_eq!(line.matches('`').count() % 2, 0, "{}", line);
        }
    }

    #[test]
    fn a_block_tells_which_text_it_is_of(text in r"[a\\u{}20be`\n\r\t \x{2cb}\x{200b}]{0,60}") {
        let block = block(&text, 10_000);
        prop_assert_eq!(read_back(&block.text), text.strip_suffix('\n').unwrap_or(&text));
    }
}

/// The text that a block stands for.
fn read_back(mut shown: &str) -> String {
    let mut text = String::new();
    while let Some(symbol) = shown.chars().next() {
        let hex = shown.strip_prefix("\\u{");
        let written = hex.and_then(|hex| hex.split_once('}'));
        let read = written.and_then(|(hex, rest)| {
            let code = u32::from_str_radix(hex, 16).ok()?;
            Some((char::from_u32(code)?, rest))
        });
        let (symbol, rest) = read.unwrap_or((symbol, &shown[symbol.len_utf8()..]));
        // A tick that was written out is one; any other stands for a backtick.
        let tick = symbol == '\u{2cb}' && read.is_none();
        text.push(if tick { '`' } else { symbol });
        shown = rest;
    }
    text
}
