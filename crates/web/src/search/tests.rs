//! Bases, queries and answers, without a connection.

use super::*;

#[test]
fn an_instance_is_https_or_stays_on_this_machine() {
    let good = [
        "https://searx.example.org",
        "https://searx.example.org:8443/search-here/",
        "https://10.0.0.5/",
        "http://localhost:8080",
        "http://127.0.0.1:8888/",
        "http://[::1]:8888/",
        "HTTP://LOCALHOST/",
    ];
    for base in good {
        assert_eq!(judge_search_base(base), Ok(()), "{base}");
    }
    let bad = [
        "",
        "searx.example.org",
        "http://searx.example.org/",
        "http://10.0.0.5/",
        "http://0.0.0.0/",
        "http://localhost.evil.example/",
        "http://[::ffff:127.0.0.1]/",
        "https://user:pw@searx.example.org/",
        "https://searx.example.org/?a=b",
        "https://searx.example.org/#a",
        "https:\\\\searx.example.org/",
        "https://sea rx.example.org/",
        "https://",
        "ftp://localhost/",
        "file:///etc/passwd",
    ];
    for base in bad {
        assert_eq!(
            judge_search_base(base),
            Err(WebRefusal::SearchBase),
            "{base}"
        );
    }
}

#[test]
fn a_query_is_encoded_behind_the_bases_own_path() {
    let cases = [
        (
            "https://s.example.org",
            "/search?q=a+b%26c%3Dd%23%C3%A9&format=json",
        ),
        (
            "https://s.example.org/x/",
            "/x/search?q=a+b%26c%3Dd%23%C3%A9&format=json",
        ),
    ];
    for (base, want) in cases {
        let instance = Instance::parse(base).expect("a base");
        assert_eq!(instance.path_for("a b&c=d#é"), want);
    }
}

#[test]
fn a_query_has_between_one_and_four_hundred_characters() {
    assert_eq!(judged(" a "), Ok("a"));
    assert_eq!(judged(" \n"), Err(WebRefusal::QueryEmpty));
    let long = "é".repeat(QUERY_MAX_CHARS);
    assert_eq!(judged(&long), Ok(long.as_str()));
    assert_eq!(judged(&format!("{long}é")), Err(WebRefusal::QueryTooLong));
}

#[test]
fn an_answer_gives_ten_hits_that_can_be_shown_on_a_line_each() {
    let odd = r#"{"title": null, "url": "https://a.org/\u00e9", "content": 7}"#;
    let loud =
        r#"{"title": "a\n\u202eb  c", "url": "http://b.org", "content": " x\ty ", "score": 1}"#;
    let bad = r#"{"title": "t", "url": "javascript:x"}, {"title": "t"}, 5, null, [],
                 {"url": "https://u@c.org/"}, {"url": "https://c.org/\u0007"}"#;
    let more = r#"{"url": "https://d.org/", "title": "d", "content": ""}"#;
    let all = [&[odd, loud, bad][..], &[more; 12]].concat().join(",");
    let body = format!(r#"{{"query": "q", "results": [{all}], "suggestions": []}}"#);
    let answer = hits_of(body.as_bytes()).expect("hits");
    assert_eq!(answer.hits.len(), HITS_MAX);
    let flat: Vec<[&str; 3]> = answer.hits[..3]
        .iter()
        .map(|hit| [hit.title.as_str(), hit.url.as_str(), hit.snippet.as_str()])
        .collect();
    let want = [
        ["", "https://a.org/%C3%A9", ""],
        ["a b c", "http://b.org/", "x y"],
        ["d", "https://d.org/", ""],
    ];
    assert_eq!(flat, want);
    assert_eq!(format!("{answer:?}"), "SearchAnswer(10 hits)");
    assert!(!format!("{:?}", answer.hits[1]).contains("b.org"));
}

#[test]
fn an_answer_without_hits_is_an_answer_and_names_the_engines_that_gave_none() {
    let many = format!("[{}]", vec![r#"["e", "x"]"#; 30].join(","));
    let long = format!(r#"["{}"]"#, "x".repeat(500));
    let cases = [
        ("null", Vec::new()),
        ("[]", Vec::new()),
        ("{}", Vec::new()),
        (
            r#"[["a", "timeout"], ["b\n\u202ec", "x"], ["d"], "f", 7, [], [7], ["", ""]]"#,
            vec!["a", "b c", "d", "f"],
        ),
        (&many, vec!["e"; UNRESPONSIVE_MAX]),
    ];
    for (engines, want) in cases {
        let body = format!(r#"{{"results": [], "unresponsive_engines": {engines}}}"#);
        let answer = hits_of(body.as_bytes()).expect("an answer");
        assert_eq!(
            (answer.hits.len(), answer.unresponsive),
            (0, want.iter().map(|&name| name.to_owned()).collect()),
            "{engines}"
        );
    }
    let body = format!(r#"{{"results": [], "unresponsive_engines": {long}}}"#);
    let answer = hits_of(body.as_bytes()).expect("an answer");
    assert_eq!(answer.unresponsive, ["x".repeat(ENGINE_MAX_CHARS)]);
    let answer = hits_of(br#"{"results": []}"#).expect("an answer");
    assert_eq!((answer.hits.len(), answer.unresponsive.len()), (0, 0));
}

#[test]
fn what_is_no_answer_of_a_search_is_refused() {
    let deep = "[".repeat(100_000);
    let cases = [
        r#"{"results": {}}"#,
        r#"{"answer": 1}"#,
        "[]",
        "<html>",
        "",
        &deep,
    ];
    for body in cases {
        let refused = hits_of(body.as_bytes());
        assert_eq!(
            refused,
            Err(WebRefusal::NotJson),
            "{}",
            &body[..body.len().min(60)]
        );
    }
}
