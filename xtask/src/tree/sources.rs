//! What may stand in a file, and what may not.
//!
//! In: the tracked files. Out: what breaks a rule, with file and line. Never: a search in tests for
//! words that only production code must not hold.

use super::{
    Finding,
    files::{File, Files},
    floors::DECIDING,
};
use crate::checkout::Checkout;
use std::{collections::BTreeSet, env};

/// A name with so many underscores is a sentence.
const SENTENCE_MIN: usize = 5;

/// Longest source file, in lines.
const LINES_MAX: usize = 500;

/// Names that say nothing about a file's subject.
const EMPTY_NAMES: [&str; 7] = [
    "util", "utils", "helper", "helpers", "common", "misc", "stuff",
];

/// What a decision must not touch: its inputs come as arguments.
const IMPURE: [&str; 9] = [
    "HashMap",
    "HashSet",
    "Instant::now",
    "SystemTime::now",
    "std::env",
    "std::fs",
    "std::process",
    "std::thread",
    "Timestamp::now",
];

/// Marks of work put off. Written in pieces, so that this file does not find itself.
const UNFINISHED: [&str; 6] = [
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("db", "g!("),
    concat!("#[igno", "re]"),
];

/// Addresses of package registries: packages are named, and whoever builds decides where from.
const REGISTRIES: [&str; 8] = [
    concat!("registry.npm", "js"),
    concat!("registry.yarn", "pkg"),
    concat!("py", "pi.org"),
    concat!("python", "hosted.org"),
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("deb.deb", "ian.org"),
    concat!("\"resol", "ved\": \"http"),
];

/// Files that a tool writes and that name the registry's index by design.
const LOCK_FILE: &str = "Cargo.lock";

/// Source files over the limit.
pub(super) fn too_long(files: &Files) -> Vec<Finding> {
    files
        .all()
        .filter(|file| {
            [".rs", ".py", ".mjs", ".js"]
                .iter()
                .any(|end| file.path.ends_with(end))
        })
        .map(|file| (file, file.text.lines().count()))
        .filter(|(_, lines)| *lines > LINES_MAX)
        .map(|(file, lines)| format!("{}: {lines} lines", file.path))
        .collect()
}

/// Source files that do not begin with a module doc.
pub(super) fn undocumented(files: &Files) -> Vec<Finding> {
    files
        .rust_sources()
        .filter(|file| !file.is_test() && !file.text.starts_with("//!"))
        .map(|file| format!("{}: no module doc in its first line", file.path))
        .collect()
}

/// Source files named for no subject.
pub(super) fn unnamed(files: &Files) -> Vec<Finding> {
    files
        .rust_sources()
        .filter(|file| {
            file.path
                .split(['/', '.'])
                .any(|name| EMPTY_NAMES.contains(&name))
        })
        .map(|file| file.path.clone())
        .collect()
}

/// Names of tests in pages, of which no source file has one.
pub(super) fn untested(files: &Files) -> Vec<Finding> {
    let is_source = |file: &&File| {
        [".rs", ".py", ".mjs"]
            .iter()
            .any(|end| file.path.ends_with(end))
    };
    let words: BTreeSet<&str> = files
        .all()
        .filter(is_source)
        .flat_map(|file| {
            file.text
                .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        })
        .filter(|word| is_sentence(word))
        .collect();
    let pages = files.all().filter(|file| file.path.ends_with(".md"));
    pages
        .flat_map(|page| {
            page.text
                .lines()
                .zip(1..)
                .map(move |(line, at)| (page, line, at))
        })
        .flat_map(|(page, line, at)| {
            let named = line.split('`').skip(1).step_by(2);
            let missing = named.filter(|word| is_sentence(word) && !words.contains(word));
            missing.map(move |word| format!("{}:{at}: {word}", page.path))
        })
        .collect()
}

/// Whether a word is a sentence, as names of tests are.
fn is_sentence(word: &str) -> bool {
    let is_name = word
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    is_name && word.matches('_').count() >= SENTENCE_MIN
}

/// Clocks, disks, chance and random order in deciding crates. The fault machine is held to the same:
/// a seed must replay.
pub(super) fn impure(files: &Files) -> Vec<Finding> {
    let folders: Vec<String> = DECIDING
        .iter()
        .chain(&["guildhall-faults"])
        .map(|name| format!("crates/{}/src/", name.trim_start_matches("guildhall-")))
        .collect();
    files
        .rust_sources()
        // The program of the fault machine reads its arguments and a clock for its report.
        .filter(|file| !file.path.ends_with("/main.rs") && !file.path.contains("/src/bin/"))
        .filter(|file| folders.iter().any(|folder| file.path.starts_with(folder)))
        .flat_map(|file| found(file, file.code(), &IMPURE))
        .collect()
}

/// Work put off.
pub(super) fn unfinished(files: &Files) -> Vec<Finding> {
    files
        .all()
        .filter(|file| {
            [".rs", ".py", ".mjs", ".js", ".sh"]
                .iter()
                .any(|e| file.path.ends_with(e))
        })
        .flat_map(|file| found(file, numbered(file), &UNFINISHED))
        .collect()
}

/// Addresses of registries.
pub(super) fn registries(files: &Files) -> Vec<Finding> {
    files
        .all()
        .filter(|file| file.path != LOCK_FILE)
        .flat_map(|file| found(file, numbered(file), &REGISTRIES))
        .collect()
}

/// Paths of the machine that this runs on.
pub(super) fn machines(files: &Files, checkout: &Checkout) -> Vec<Finding> {
    let mut places = vec![format!("{}/", checkout.root.display())];
    // A home that is a system's own folder stands in attack strings and in manuals.
    let home = env::var("HOME").unwrap_or_default();
    if home.matches('/').count() > 1 {
        places.push(format!("{home}/"));
    }
    let places: Vec<&str> = places
        .iter()
        .map(String::as_str)
        .filter(|p| p.len() > 3)
        .collect();
    files
        .all()
        .flat_map(|file| found(file, numbered(file), &places))
        .collect()
}

fn numbered(file: &File) -> impl Iterator<Item = (usize, &str)> {
    file.text
        .lines()
        .zip(1..)
        .map(|(line, number)| (number, line))
}

/// Each line that holds one of these words.
fn found<'a>(
    file: &File,
    lines: impl Iterator<Item = (usize, &'a str)>,
    words: &[&str],
) -> Vec<Finding> {
    lines
        .filter_map(|(number, line)| {
            let word = words.iter().find(|word| line.contains(*word))?;
            Some(format!("{}:{number}: {word}", file.path))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Files, impure, too_long, undocumented, unfinished, unnamed, untested};

    #[test]
    fn each_rule_finds_its_own_kind_of_break() {
        let put_off = format!("//! Doc.\nfn f() {{ {}) }}\n", super::UNFINISHED[0]);
        let long = "//! Doc.\n".repeat(501);
        let files = Files::of(&[
            (
                "crates/connector/src/good.rs",
                "//! Doc.\nuse std::collections::BTreeMap;\n",
            ),
            (
                "crates/connector/src/clock.rs",
                "//! Doc.\nlet now = Instant::now();\n",
            ),
            (
                "crates/connector/src/words.rs",
                "//! Doc.\n// no HashMap here\n",
            ),
            (
                "crates/binding/src/tested.rs",
                "//! Doc.\nfn f() {}\n#[cfg(test)]\nmod tests { use std::fs; }\n",
            ),
            (
                "crates/discord/src/net.rs",
                "//! Doc.\nuse std::collections::HashMap;\n",
            ),
            ("crates/faults/src/main.rs", "//! Doc.\nstd::env::args();\n"),
            ("crates/sim/src/bare.rs", "fn f() {}\n"),
            ("crates/sim/src/utils.rs", "//! Doc.\n"),
            ("crates/sim/src/long.rs", &long),
            ("crates/sim/src/later.rs", &put_off),
        ]);
        assert_eq!(
            impure(&files),
            ["crates/connector/src/clock.rs:2: Instant::now"]
        );
        assert_eq!(
            undocumented(&files),
            ["crates/sim/src/bare.rs: no module doc in its first line"]
        );
        assert_eq!(unnamed(&files), ["crates/sim/src/utils.rs"]);
        assert_eq!(too_long(&files), ["crates/sim/src/long.rs: 501 lines"]);
        assert_eq!(unfinished(&files).len(), 1);
    }

    #[test]
    fn a_page_may_name_a_test_that_is_there_and_no_other() {
        let files = Files::of(&[
            (
                "crates/sim/src/a.rs",
                "//! Doc.\nfn this_test_is_really_there_now() {}\n",
            ),
            (
                "docs/a.md",
                "`this_test_is_really_there_now` and `this_test_is_not_there_at_all`,\n`max_calls`\n",
            ),
        ]);
        assert_eq!(
            untested(&files),
            ["docs/a.md:1: this_test_is_not_there_at_all"]
        );
    }
}
