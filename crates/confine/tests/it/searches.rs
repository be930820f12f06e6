use crate::ground::{Ground, WAYS};
use guildhall_confine::{
    Cut, FileLimit, Found, Pattern, Query, Refusal, RelPath, SearchBounds, WalkBounds,
};
use std::{
    fs,
    os::unix::fs::symlink,
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

fn found(ground: &Ground, pattern: Pattern<'_>, bounds: &SearchBounds) -> Found {
    let (all, never) = (RelPath::root(), AtomicBool::new(false));
    let query = Query {
        pattern,
        glob: None,
        path: &all,
    };
    ground
        .root(WAYS[0])
        .search(&query, bounds, &never)
        .expect("searches")
}

#[test]
fn lines_are_found_in_the_order_of_their_paths() {
    let ground = Ground::with(&[
        ("b/z.txt", "needle\n"),
        ("b.txt", "x\nneedle here\n"),
        ("a/deep/er.txt", "no\r\nneedle\r\n"),
        ("b-a/f", "needle"),
        ("none.txt", "nothing"),
    ]);
    let want = [
        "a/deep/er.txt:2:needle",
        "b-a/f:1:needle",
        "b.txt:2:needle here",
        "b/z.txt:1:needle",
    ];
    for _ in 0..3 {
        assert_eq!(ground.search(Pattern::Literal("needle"), None, ""), want);
    }
}

#[test]
fn a_pattern_is_taken_as_it_is_meant() {
    let text = "\u{feff}first\nsecond (a+)+$ line\r\nthird\n";
    let ground = Ground::with(&[("f.txt", text)]);
    let cases: &[(Pattern<'_>, &[&str])] = &[
        (Pattern::Literal("(a+)+$"), &["f.txt:2:second (a+)+$ line"]),
        (Pattern::Regex("(a+)+$"), &[]),
        // Neither the byte order mark nor the carriage return is a part of a line.
        (Pattern::Regex("^first$"), &["f.txt:1:first"]),
        (Pattern::Regex("line$"), &["f.txt:2:second (a+)+$ line"]),
        (Pattern::Regex("(?i)THIRD"), &["f.txt:3:third"]),
        (Pattern::Literal("THIRD"), &[]),
    ];
    for (pattern, want) in cases {
        assert_eq!(ground.search(*pattern, None, "."), *want, "{pattern:?}");
    }
}

#[test]
fn a_glob_speaks_of_names_or_of_paths_from_the_root() {
    let ground = Ground::with(&[
        ("a.rs", "n"),
        ("s/b.rs", "n"),
        ("s/t/c.rs", "n"),
        ("s/d.md", "n"),
    ]);
    let cases: &[(&str, &str, &[&str])] = &[
        ("*.rs", "", &["a.rs:1:n", "s/b.rs:1:n", "s/t/c.rs:1:n"]),
        ("*.rs", "s", &["s/b.rs:1:n", "s/t/c.rs:1:n"]),
        ("s/*.rs", "", &["s/b.rs:1:n"]),
        ("s/**/*.rs", "", &["s/b.rs:1:n", "s/t/c.rs:1:n"]),
        ("{*.md,a.*}", "", &["a.rs:1:n", "s/d.md:1:n"]),
        ("/a.rs", "", &["a.rs:1:n"]),
        ("*.py", "", &[]),
        ("!*.rs", "", &["s/d.md:1:n"]),
        ("!s/*.rs", "", &["a.rs:1:n", "s/d.md:1:n", "s/t/c.rs:1:n"]),
        ("!t", "", &["a.rs:1:n", "s/b.rs:1:n", "s/d.md:1:n"]),
        ("!/s/", "", &["a.rs:1:n"]),
        ("!*.{rs,py}", "s", &["s/d.md:1:n"]),
        ("\\!*.rs", "", &[]),
    ];
    for (glob, path, want) in cases {
        assert_eq!(
            ground.search(Pattern::Literal("n"), Some(glob), path),
            *want,
            "{glob} in {path}"
        );
    }
    // A file as the place to search.
    assert_eq!(
        ground.search(Pattern::Literal("n"), None, "s/d.md"),
        ["s/d.md:1:n"]
    );
}

#[test]
fn ignore_files_are_honoured_from_the_root_down() {
    let ground = Ground::with(&[
        (".gitignore", "*.log\nbuilt/\n/top.txt\n"),
        ("a.log", "n"),
        ("top.txt", "n"),
        ("built/x", "n"),
        ("s/.gitignore", "!kept.log\n[bad\n"),
        ("s/kept.log", "n"),
        ("s/other.log", "n"),
        ("s/top.txt", "n"),
        ("t/.gitignore", "!mine\n"),
        ("t/.ignore", "mine\n"),
        ("t/mine", "n"),
    ]);
    assert_eq!(
        ground.search(Pattern::Literal("n"), None, ""),
        ["s/kept.log:1:n", "s/top.txt:1:n"]
    );
    // The rules above the place to search hold there too.
    assert_eq!(
        ground.search(Pattern::Literal("n"), None, "s"),
        ["s/kept.log:1:n", "s/top.txt:1:n"]
    );
    assert_eq!(
        found(&ground, Pattern::Literal("n"), &SearchBounds::default())
            .skipped
            .ignored,
        5
    );
}

#[test]
fn what_a_repository_excludes_for_one_person_is_left_out_below_its_root() {
    let ground = Ground::with(&[
        (".git/info/exclude", "*.tmp\n/top\nkept.tmp\n"),
        (".gitignore", "!kept.tmp\n"),
        ("a.tmp", "n"),
        ("a.txt", "n"),
        ("kept.tmp", "n"),
        ("top/x", "n"),
        ("s/b.tmp", "n"),
        ("s/top/x", "n"),
        ("inner/.git/info/exclude", "c.txt\n"),
        ("inner/c.tmp", "n"),
        ("inner/c.txt", "n"),
    ]);
    let all = [
        "a.txt:1:n",
        "inner/c.tmp:1:n",
        "kept.tmp:1:n",
        "s/top/x:1:n",
    ];
    assert_eq!(ground.search(Pattern::Literal("n"), None, ""), all);
    assert_eq!(
        ground.search(Pattern::Literal("n"), None, "s"),
        ["s/top/x:1:n"],
        "above the place to search"
    );
}

#[test]
fn a_repository_behind_a_link_excludes_nothing() {
    let files = [("r/.git/info/x", ""), ("s/.git/x", ""), ("t/x", "")];
    let ground = Ground::with(&files);
    for folder in ["r", "s", "t"] {
        fs::write(ground.work(folder).join("a.txt"), "n").expect("writes");
    }
    let outside = ground.out("rules");
    fs::write(&outside, "a.txt\n").expect("writes");
    symlink(&outside, ground.work("r/.git/info/exclude")).expect("links");
    fs::create_dir_all(ground.out("git/info")).expect("folders");
    fs::write(ground.out("git/info/exclude"), "a.txt\n").expect("writes");
    symlink(ground.out("git/info"), ground.work("s/.git/info")).expect("links");
    symlink(ground.out("git"), ground.work("t/.git")).expect("links");
    let want = ["r/a.txt:1:n", "s/a.txt:1:n", "t/a.txt:1:n"];
    assert_eq!(ground.search(Pattern::Literal("n"), None, ""), want);
}

#[test]
fn rules_that_come_from_elsewhere_have_no_say() {
    let ground = Ground::with(&[("a.txt", "n"), ("s/b.txt", "n"), ("t/c.txt", "n")]);
    fs::write(ground.out("rules"), "*.txt\n").expect("writes");
    symlink(ground.out("rules"), ground.work(".gitignore")).expect("links");
    fs::hard_link(ground.out("rules"), ground.work("s/.gitignore")).expect("links");
    fs::write(ground.base().join(".gitignore"), "*.txt\n").expect("writes");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, ground.work("t/.ignore"), kind, mode, 0).expect("a FIFO");
    let want = ["a.txt:1:n", "s/b.txt:1:n", "t/c.txt:1:n"];
    assert_eq!(ground.search(Pattern::Literal("n"), None, ""), want);
}

#[test]
fn what_is_left_out_is_counted_by_its_reason() {
    let ground = Ground::with(&[
        ("good.txt", "needle"),
        ("big.txt", &"needle".repeat(100_000)),
        (".hidden", "needle"),
        (".git/x", "needle"),
        ("two.txt", "needle"),
        ("a\u{202e}b", "needle"),
    ]);
    fs::write(ground.work("nul.bin"), b"needle\0").expect("writes");
    fs::write(ground.work("latin1.txt"), b"needle\xe9").expect("writes");
    fs::hard_link(ground.work("two.txt"), ground.work("too.txt")).expect("links");
    symlink(ground.out(""), ground.work("link")).expect("links");
    let found = found(
        &ground,
        Pattern::Literal("needle"),
        &SearchBounds::default(),
    );
    let paths: Vec<&str> = found.hits.iter().map(|hit| hit.path.as_str()).collect();
    assert_eq!(paths, ["good.txt"]);
    let skipped = found.skipped;
    assert_eq!(
        (
            skipped.large,
            skipped.binary,
            skipped.not_utf8,
            skipped.hard_links,
            skipped.links,
            skipped.names
        ),
        (1, 1, 1, 2, 1, 1)
    );
    assert_eq!(found.cut, None);
}

#[test]
fn lines_of_a_file_with_a_credential_are_withheld_and_the_file_is_named() {
    let token = ["gh", "p_", "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5"].concat();
    // The line that matches is harmless; the credential stands elsewhere in the file.
    let ground = Ground::with(&[
        ("k.txt", &format!("needle\n\n{token}\n")),
        ("ok.txt", "needle\n"),
    ]);
    let found = found(
        &ground,
        Pattern::Literal("needle"),
        &SearchBounds::default(),
    );
    assert_eq!(found.withheld, ["k.txt"]);
    assert_eq!(found.hits.len(), 1);
    assert!(!format!("{found:?}").contains(&token));
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn each_bound_cuts_the_search_and_says_so() {
    let files: Vec<(String, String)> = (0..50)
        .map(|number| (format!("d/{number:02}"), "needle\n".repeat(4)))
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(p, t)| (p.as_str(), t.as_str()))
        .collect();
    let ground = Ground::with(&files);
    let all = SearchBounds {
        hits: 1000,
        ..SearchBounds::default()
    };
    let walk = all.walk;
    let cases: &[(&str, SearchBounds, Option<Cut>, usize)] = &[
        ("none", all, None, 200),
        (
            "hits",
            SearchBounds { hits: 10, ..all },
            Some(Cut::Hits),
            10,
        ),
        (
            "output",
            SearchBounds {
                output_bytes: 100,
                ..all
            },
            Some(Cut::Hits),
            10,
        ),
        (
            "bytes",
            SearchBounds {
                read_bytes: 100,
                ..all
            },
            Some(Cut::Bytes),
            16,
        ),
        (
            "entries",
            SearchBounds {
                walk: WalkBounds {
                    entries: 11,
                    ..walk
                },
                ..all
            },
            Some(Cut::Entries),
            40,
        ),
        (
            "depth",
            SearchBounds {
                walk: WalkBounds { depth: 0, ..walk },
                ..all
            },
            Some(Cut::Depth),
            0,
        ),
        (
            "time",
            SearchBounds {
                walk: WalkBounds {
                    time: Duration::ZERO,
                    ..walk
                },
                ..all
            },
            Some(Cut::Time),
            0,
        ),
        (
            "size",
            SearchBounds {
                file: FileLimit::bytes(27),
                ..all
            },
            None,
            0,
        ),
    ];
    for (name, bounds, cut, hits) in cases {
        let found = found(&ground, Pattern::Literal("needle"), bounds);
        assert_eq!((found.cut, found.hits.len()), (*cut, *hits), "{name}");
    }
}

#[test]
fn a_cancelled_search_ends_at_once() {
    let ground = Ground::with(&[("a", "n")]);
    let (all, cancelled) = (RelPath::root(), AtomicBool::new(true));
    let query = Query {
        pattern: Pattern::Literal("n"),
        glob: None,
        path: &all,
    };
    let found = ground
        .root(WAYS[0])
        .search(&query, &SearchBounds::default(), &cancelled);
    let found = found.expect("searches");
    assert_eq!((found.cut, found.hits.len()), (Some(Cut::Cancelled), 0));
}

#[test]
fn a_long_line_is_shown_around_its_first_match() {
    let line = format!("{}needle{}", "é".repeat(3000), "x".repeat(3000));
    let ground = Ground::with(&[("f", &line)]);
    let bounds = SearchBounds {
        line_chars: 40,
        ..SearchBounds::default()
    };
    let found = found(&ground, Pattern::Literal("needle"), &bounds);
    let want = format!("{}needle{}…", "é".repeat(10), "x".repeat(24));
    assert_eq!(found.hits[0].text, want);
}

#[test]
fn a_bad_pattern_is_refused_without_its_text() {
    let ground = Ground::with(&[("f", "x")]);
    let long = "x".repeat(5000);
    let cases = [
        (Pattern::Regex("["), None),
        (Pattern::Regex("\\p{L}{1000}{1000}"), None),
        (Pattern::Regex(""), None),
        (Pattern::Literal(""), None),
        (Pattern::Literal("a\nb"), None),
        (Pattern::Literal(&long), None),
        (Pattern::Literal("x"), Some("[")),
        (Pattern::Literal("x"), Some("")),
        (Pattern::Literal("x"), Some("!")),
        (Pattern::Literal("x"), Some("!!x")),
        (Pattern::Literal("x"), Some("![")),
        (Pattern::Literal("x"), Some("!#x")),
    ];
    let nest = "(".repeat(2000) + &")".repeat(2000);
    let nested = [(Pattern::Regex(nest.as_str()), None)];
    for (pattern, glob) in cases.into_iter().chain(nested) {
        let (all, never) = (RelPath::root(), AtomicBool::new(false));
        let query = Query {
            pattern,
            glob,
            path: &all,
        };
        let done = ground
            .root(WAYS[0])
            .search(&query, &SearchBounds::default(), &never);
        assert_eq!(
            done.expect_err("refused"),
            Refusal::BadPattern,
            "{pattern:?} {glob:?}"
        );
    }
}

#[test]
fn hostile_patterns_and_texts_stay_linear() {
    let ground = Ground::with(&[("f", &("a".repeat(200_000) + "b\n"))]);
    for pattern in ["(a+)+$", "(a|aa)+c", "(.*)(.*)(.*)(.*)c", "a{0,500}c"] {
        let started = Instant::now();
        assert_eq!(
            ground.search(Pattern::Regex(pattern), None, ""),
            Vec::<String>::new()
        );
        // Exponential work ends in no lifetime; the bound only tells that from a slow machine.
        assert!(started.elapsed() < Duration::from_secs(60), "{pattern}");
    }
}
