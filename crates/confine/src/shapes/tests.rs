use super::{RULES, credential_in, families, is_taken, one, possible};
use serde::Deserialize;
use std::collections::BTreeSet;

/// The corpus, read at compile time.
const LINES: &str = include_str!("../../../../testdata/corpora/secrets.jsonl");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: String,
    label: Label,
    family: String,
    /// Joined without a separator, and only here: no stored text has the shape.
    parts: Vec<String>,
    expect: Expect,
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "a remark for people; listed so that an unknown field fails"
    )]
    note: Option<String>,
}

#[derive(Deserialize, PartialEq, Clone, Copy, Debug)]
#[serde(rename_all = "lowercase")]
enum Label {
    Positive,
    Negative,
}

#[derive(Deserialize, PartialEq, Clone, Copy, Debug)]
#[serde(rename_all = "lowercase")]
enum Expect {
    Refuse,
    Allow,
}

fn corpus() -> Vec<Line> {
    LINES
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of the corpus"))
        .collect()
}

#[test]
fn every_line_of_the_corpus_has_its_expected_outcome() {
    let mut wrong = Vec::new();
    for line in corpus() {
        let found = credential_in(line.parts.concat().as_bytes());
        let outcome = if found.is_some() {
            Expect::Refuse
        } else {
            Expect::Allow
        };
        if outcome != line.expect {
            let by = found.map_or("none", |family| family.name());
            wrong.push(format!(
                "{} of {}: {outcome:?} by {by}",
                line.id, line.family
            ));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_positive_is_found_by_a_rule_of_its_own_family() {
    let mut wrong = Vec::new();
    for line in corpus().iter().filter(|line| line.label == Label::Positive) {
        let text = line.parts.concat();
        let mut own = RULES
            .iter()
            .enumerate()
            .filter(|(_, rule)| rule.family == line.family);
        if !own.any(|(index, _)| is_taken(index, text.as_bytes())) {
            wrong.push(format!("{} of {}", line.id, line.family));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_words_of_a_rule_leave_out_no_match_of_it() {
    for line in corpus() {
        let text = line.parts.concat();
        let possible = possible(text.as_bytes());
        for (index, rule) in RULES.iter().enumerate() {
            let matches = one(index).is_match(text.as_bytes());
            assert!(
                !matches || possible[index],
                "{} and {}",
                line.id,
                rule.family
            );
        }
    }
}

#[test]
fn every_rule_compiles_and_every_family_has_a_positive_in_the_corpus() {
    for (index, rule) in RULES.iter().enumerate() {
        assert!(one(index).captures_len() <= 2, "{}", rule.family);
        assert!(
            rule.needs.iter().all(|word| word.len() > 1),
            "{}",
            rule.family
        );
    }
    let covered: BTreeSet<String> = corpus()
        .into_iter()
        .filter(|line| line.label == Label::Positive)
        .map(|line| line.family)
        .collect();
    let missing: Vec<_> = families()
        .map(|family| family.name())
        .filter(|name| !covered.contains(*name))
        .collect();
    assert_eq!(missing, Vec::<&str>::new(), "no positive");
}

#[test]
fn a_credential_is_found_wherever_it_stands() {
    let token = ["gh", "p_", "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5"].concat();
    let places = [
        ("alone", token.clone()),
        ("after text", format!("let x = 1; {token}\nmore")),
        ("in quotes", format!("\"{token}\"")),
        (
            "after a released one",
            format!("token = {}\n{token}", "x".repeat(40)),
        ),
        (
            "far away",
            format!("{}{token}", "line of text\n".repeat(10_000)),
        ),
        (
            "among other bytes",
            format!("{}\u{0}\u{feff}{token}", "é".repeat(9)),
        ),
    ];
    for (name, text) in places {
        assert_eq!(
            credential_in(text.as_bytes()).map(|f| f.name()),
            Some("github-user-token"),
            "{name}"
        );
    }
}

#[test]
fn a_released_assignment_does_not_hide_the_one_inside_it() {
    let real = ["9fK2", "xQ7vB4nM8rT1wZ5cL3pD6"].concat();
    let text = format!("token=replace-me.password={real}");
    assert!(credential_in(text.as_bytes()).is_some());
}

#[test]
fn hostile_text_takes_linear_time() {
    let limit = 64 * 1024;
    for unit in [
        "token=",
        "a://b:",
        "password=password",
        "-----BEGIN PRIVATE KEY-----",
        "eyJ",
        "=",
        " ",
    ] {
        let text = unit.repeat(limit / unit.len());
        let started = std::time::Instant::now();
        let found = credential_in(text.as_bytes());
        // Quadratic work over this much text takes minutes; linear work, part of a second.
        assert!(
            started.elapsed().as_secs() < 30,
            "{unit:?} took too long: {found:?}"
        );
    }
}
