//! Single faults: what is put where, and the one fault that comes of it.

use crate::documents::{example, faults, minimal, read_value, with, without};
use guildhall_binding::{Expect, FaultCode, read};
use serde_json::{Value, json};
use std::path::Path;

/// Checks lines of `pointer = value -> code` or `pointer = value -> code @ path`, where the path
/// is the pointer's own when it is left out.
fn check(base: &Value, table: &str) {
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (pointer, rest) = line.split_once(" = ").expect("a pointer");
        let (value, outcome) = rest.rsplit_once(" -> ").expect("a code");
        let (code, path) = match outcome.split_once(" @ ") {
            Some((code, path)) => (code, path.to_owned()),
            None => (outcome, path_of(pointer)),
        };
        let value = serde_json::from_str(value).expect("a JSON value");
        let found = faults(&with(base.clone(), pointer, value));
        let found: Vec<_> = found
            .iter()
            .map(|(path, code)| (path.as_str(), *code))
            .collect();
        assert_eq!(found, [(path.as_str(), code)], "{line}");
    }
}

/// `/channels/0/id` as `channels[0].id`.
fn path_of(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1) {
        if part.bytes().all(|b| b.is_ascii_digit()) {
            path += &format!("[{part}]");
        } else {
            path += if path.is_empty() { "" } else { "." };
            path += part;
        }
    }
    path
}

#[test]
fn each_required_key_is_missed_by_name() {
    let required = "/bindingVersion /name /seat /guildId /guildName /botUserId /tokenFile /users /engine \
        /channels/0/name /channels/0/mode /users/0/id /users/0/name /engine/kind \
        /tools/roots/0/name /tools/roots/0/path /tools/roots/1/git/branch \
        /tools/roots/1/git/identity /tools/roots/1/git/tokenFile /tools/roots/1/git/author";
    for pointer in required.split_whitespace() {
        let found = faults(&without(example(), pointer));
        assert_eq!(found, [(path_of(pointer), "missing")], "{pointer}");
    }
    // Without its list of channels the references to them cannot be judged, and are not.
    let found = faults(&without(example(), "/channels"));
    assert_eq!(found, [("channels".to_owned(), "missing")]);
}

#[test]
fn unknown_keys_are_refused_at_every_level_with_a_guess() {
    let cases = [
        ("/chanels", "did you mean \"channels\"?"),
        ("/token_file", "did you mean \"tokenFile\"?"),
        ("/channels/0/Mode", "did you mean \"mode\"?"),
        ("/users/0/operators", "did you mean \"operator\"?"),
        ("/engine/modle", "did you mean \"model\"?"),
        ("/limits/turnPerDay", "did you mean \"turnsPerDay\"?"),
        ("/context/dir", "one of files"),
        ("/sessions/scopes", "did you mean \"scope\"?"),
        ("/tools/shell", "one of roots"),
        ("/tools/roots/0/writable", "one of name"),
        ("/tools/roots/1/git/remote", "one of branch"),
        ("/tools/web/search", "one of searxng"),
        ("/platformToolsets/slack", "one of discord"),
        ("/discord/apiURL", "did you mean \"apiUrl\"?"),
        ("/approvals/timeout", "one of mode"),
    ];
    for (pointer, hint) in cases {
        let refused = read_value(&with(example(), pointer, json!("x"))).expect_err("refused");
        let found: Vec<_> = refused
            .as_slice()
            .iter()
            .map(|f| (f.path.clone(), f.code))
            .collect();
        assert_eq!(found, [(path_of(pointer), FaultCode::UnknownKey)]);
        let allowed = &refused.as_slice()[0].allowed;
        assert!(allowed.contains(hint), "{pointer}: {allowed}");
    }
}

#[test]
fn ids_are_snowflakes_in_quotes() {
    let wrong = r#"
        100000000000000020 -> wrong-type
        null -> wrong-type
        "" -> bad-value
        " 100000000000000020" -> bad-value
        "0" -> bad-value
        "0100000000000000020" -> bad-value
        "18446744073709551616" -> bad-value
        "<@100000000000000020>" -> bad-value
        "everyone" -> bad-value"#;
    let places = "/guildId /botUserId /channels/0/id /users/1/id /users/1/channels/0 \
        /discord/postChannels/0";
    for pointer in places.split_whitespace() {
        for line in wrong.lines().skip(1) {
            check(&example(), &format!("{pointer} = {}", line.trim()));
        }
    }
}

#[test]
fn people_and_places_are_listed_once_and_the_bot_is_no_person() {
    check(
        &example(),
        r#"
        /channels = [] -> empty
        /users = [] -> empty
        /users/1/channels = [] -> empty
        /discord/postChannels = [] -> empty
        /platformToolsets/discord = [] -> empty
        /users/1 = {"id": "100000000000000020", "name": "Ana"} -> duplicate @ users[1].id
        /users/1 = {"id": "100000000000000002", "name": "Bot"} -> bot-listed @ users[1].id
        /users/1/channels/0 = "100000000000000012" -> not-listed
        /users/1/channels = ["100000000000000011", "100000000000000011"] -> duplicate @ users[1].channels[1]
        /discord/postChannels = ["7", "7"] -> duplicate @ discord.postChannels[1]
        /users/0/operator = "true" -> wrong-type
        /users/0/operator = 1 -> wrong-type
        /channels/0/mode = "all" -> bad-value
        /channels/0/name = "" -> bad-value
        /channels/0/name = "a\nb" -> bad-value
        /users/0 = "100000000000000020" -> wrong-type"#,
    );
    check(
        &minimal(),
        r#"
        /channels = [{"id": "7", "name": "a", "mode": "open"}, {"id": "7", "name": "b", "mode": "open"}] -> duplicate @ channels[1].id"#,
    );
}

#[test]
fn numbers_keep_their_bounds() {
    check(
        &example(),
        r#"
        /limits/turnsPerDay = 0 -> out-of-range
        /limits/turnsPerDay = "200" -> wrong-type
        /limits/turnsPerDay = 1.5 -> wrong-type
        /limits/turnTimeoutSeconds = 0 -> out-of-range
        /limits/turnTimeoutSeconds = 3601 -> out-of-range
        /limits/replyChunkChars = 2001 -> out-of-range
        /limits/replyChunkChars = 1 -> out-of-range
        /limits/inboundMaxChars = 0 -> out-of-range
        /limits/catchUpSeconds = -1 -> out-of-range
        /limits/parallelTurns = 0 -> out-of-range
        /limits/queuedTurns = 0 -> out-of-range
        /limits/usdPerDay = 0 -> out-of-range
        /limits/usdPerDay = -0.5 -> out-of-range
        /limits/usdPerDay = 1e300 -> out-of-range
        /limits/usdPerDay = "5" -> wrong-type
        /tools/maxFileBytes = 0 -> out-of-range
        /tools/maxCallsPerTurn = 18446744073709551615 -> out-of-range
        /tools/web/maxFetchBytes = 0 -> out-of-range
        /approvals/askTimeoutSeconds = 0 -> out-of-range
        /engine/idleSeconds = 90000 -> out-of-range"#,
    );
}

#[test]
fn an_engine_names_what_it_needs_and_nothing_that_it_passes_over() {
    check(
        &minimal(),
        r#"
        /engine = {"kind": "native", "provider": "p", "keyEnv": "K"} -> needed @ engine.model
        /engine = {"kind": "native", "model": "m", "keyEnv": "K"} -> needed @ engine.baseUrl
        /engine = {"kind": "native", "model": "m", "provider": "p"} -> needed @ engine.keyFile
        /engine = {"kind": "native", "model": "m", "baseUrl": "https://example.com/v1"} -> needed @ engine.keyFile
        /engine = {"kind": "native", "model": "m", "baseUrl": "http://example.com/v1"} -> bad-value @ engine.baseUrl
        /engine = {"kind": "native", "model": "m", "provider": "p", "keyFile": "/k/f", "keyEnv": "K"} -> conflict @ engine.keyEnv
        /engine = {"kind": "pi", "keyFile": "/k/f", "keyEnv": "K"} -> conflict @ engine.keyEnv
        /engine = {"kind": "native", "model": "m", "provider": "p", "keyEnv": "9KEY"} -> bad-value @ engine.keyEnv
        /engine = {"kind": "native", "model": "m", "provider": "p", "keyFile": "key"} -> bad-value @ engine.keyFile
        /engine = {"kind": "native", "model": "m", "provider": "p", "keyEnv": "K", "command": ["x"]} -> conflict @ engine.command
        /engine = {"kind": "practice", "model": "m"} -> conflict @ engine.model
        /engine = {"kind": "practice", "command": ["m"]} -> conflict @ engine.command
        /engine = {"kind": "practice", "price": {"inputPerMTok": 1, "outputPerMTok": 1}} -> conflict @ engine.price
        /engine = {"kind": "acp", "command": ["a"], "price": {"inputPerMTok": 1, "outputPerMTok": 1}} -> conflict @ engine.price
        /engine = {"kind": "native", "model": "m", "provider": "p", "keyEnv": "K", "price": {"inputPerMTok": 1}} -> missing @ engine.price.outputPerMTok
        /engine = {"kind": "native", "model": "m", "provider": "p", "keyEnv": "K", "price": {"inputPerMTok": -1, "outputPerMTok": 1}} -> out-of-range @ engine.price.inputPerMTok
        /engine = {"kind": "acp"} -> needed @ engine.command
        /engine = {"kind": "acp", "command": []} -> empty @ engine.command
        /engine = {"kind": "acp", "command": ["./agent"]} -> bad-value @ engine.command[0]
        /engine = {"kind": "acp", "command": [""]} -> bad-value @ engine.command[0]
        /engine = {"kind": "acp", "command": ["agent", "a\u0000b"]} -> bad-value @ engine.command[1]
        /engine = {"kind": "gpt"} -> bad-value @ engine.kind
        /engine = "native" -> wrong-type"#,
    );
    let bare = with(minimal(), "/engine", json!({"kind": "native"}));
    let needed = |key: &str| (format!("engine.{key}"), "needed");
    assert_eq!(
        faults(&bare),
        [needed("model"), needed("baseUrl"), needed("keyFile")]
    );
}

#[test]
fn a_root_is_a_plain_directory_away_from_everything_private() {
    check(
        &example(),
        r#"
        /tools/roots/0/path = "/" -> forbidden-root
        /tools/roots/0/path = "/home/someone" -> forbidden-root
        /tools/roots/0/path = "/home/someone/.ssh" -> forbidden-root
        /tools/roots/0/path = "/srv/.hidden/library" -> forbidden-root
        /tools/roots/0/path = "/proc/self/root" -> forbidden-root
        /tools/roots/0/path = "/data/a/../a" -> bad-value
        /tools/roots/0/path = "/data//a" -> bad-value
        /tools/roots/0/path = "data/a" -> bad-value
        /tools/roots/0/path = "~/a" -> bad-value
        /tools/roots/0/path = "" -> bad-value
        /tools/roots/1/path = "/srv/example/library/sub" -> duplicate
        /tools/roots/2/path = "/srv/example/notes" -> duplicate
        /tools/roots/1/name = "library" -> duplicate
        /tools/roots/1/name = "a/b" -> bad-value
        /tools/roots/0/write = "yes" -> bad-value
        /tools/roots/0/write = 1 -> wrong-type
        /tools/roots/1/write = false -> conflict @ tools.roots[1].git
        /tools/roots/1/git/branch = "--force" -> bad-value
        /tools/roots/1/git/author = "Seat" -> bad-value
        /tools/roots/1/git/identity = "a:b" -> bad-value
        /tools/roots/1/git/protocol = "lock" -> bad-value
        /tools/roots/1/git/tokenFile = "/srv/example/drafts/t" -> conflict
        /tokenFile = "/srv/example/notes/token" -> conflict"#,
    );
}

#[test]
fn a_root_keeps_away_from_the_data_root_that_the_caller_names() {
    for data_root in [
        "/srv/example",
        "/srv",
        "/srv/example/library/deep",
        "relative",
    ] {
        let expect = Expect {
            data_root: Path::new(data_root),
            ..crate::documents::machine()
        };
        let refused = read(example().to_string().as_bytes(), expect).expect_err("refused");
        let first = &refused.as_slice()[0];
        assert_eq!(
            (first.path.as_str(), first.code),
            ("tools.roots[0].path", FaultCode::ForbiddenRoot),
            "{data_root}"
        );
    }
}

#[test]
fn context_urls_toolsets_and_approvals_keep_their_rules() {
    check(
        &example(),
        r#"
        /context/files/0 = "/etc/passwd" -> bad-value
        /context/files/0 = "a/../../b" -> bad-value
        /context/files/1 = "seat/rules.md" -> duplicate
        /discord/apiUrl = "http://127.0.0.1:4100/api/v10" -> bad-value
        /discord/apiUrl = "http://192.0.2.1" -> bad-value
        /tools/web/searxng = "http://example.com" -> bad-value
        /platformToolsets/discord/0 = "file" -> bad-value
        /platformToolsets/discord/1 = "files" -> duplicate
        /platformToolsets/cotal = ["discord_admin"] -> conflict @ platformToolsets.cotal[0]
        /platformToolsets/schedule = ["discord_admin"] -> conflict @ platformToolsets.schedule[0]
        /approvals/mode = "smart" -> needed @ approvals.reviewer
        /approvals/mode = "auto" -> bad-value
        /approvals/reviewer = {"model": "m", "baseUrl": "http://127.0.0.1:1"} -> conflict
        /approvals = {"mode": "smart", "reviewer": {"provider": "p", "keyEnv": "K"}} -> needed @ approvals.reviewer.model
        /sessions/scope = "user" -> bad-value
        /sessions = null -> wrong-type
        /name = "Upper" -> bad-value
        /seat = "  " -> bad-value
        /tokenFile = "token" -> bad-value
        /tokenFile = "/" -> bad-value"#,
    );
}

#[test]
fn the_record_client_is_checked_at_load() {
    let right = json!({"baseUrl": "https://example.com", "keyFile": "/k/f", "principal": "seat"});
    let base = with(example(), "/tools/setspark", right);
    assert!(read_value(&base).is_ok());
    check(
        &base,
        r#"
        /tools/setspark/baseUrl = "https://example.com/x" -> bad-value
        /tools/setspark/baseUrl = "http://example.com" -> bad-value
        /tools/setspark/keyFile = "k" -> bad-value
        /tools/setspark/keyFile = "/srv/example/notes/k" -> conflict
        /tools/setspark/principal = "a:b" -> bad-value
        /tools/setspark/timeoutMs = 1 -> out-of-range
        /tools/setspark/key = "k" -> unknown-key"#,
    );
}

#[test]
fn reserved_names_are_a_kind_of_fault_of_their_own() {
    check(
        &example(),
        r#"
        /mesh = {"space": "x"} -> reserved
        /plugins = [] -> reserved
        /schedules = [{"every": "day"}] -> reserved
        /tools/mcp = [{"name": "x"}] -> reserved
        /tools/terminal = {} -> reserved
        /platformToolsets/discord/0 = "terminal" -> reserved
        /platformToolsets/discord/0 = "schedule" -> reserved
        /platformToolsets/discord/0 = "mcp:files" -> reserved"#,
    );
    let refused = read_value(&with(example(), "/mesh", json!(1))).expect_err("refused");
    assert!(refused.only_reserved());
    assert!(
        refused
            .to_string()
            .contains("does not serve it yet; remove it")
    );
    let refused = read_value(&with(minimal(), "/limits", json!(1))).expect_err("refused");
    assert!(!refused.only_reserved());
}

#[test]
fn no_fault_shows_what_stands_where_a_credential_may() {
    let secret = "hunter2 correct horse";
    let places = "/tokenFile /token /mesh /tools/roots/1/git/tokenFile /engine/keyFile \
        /engine/keyEnv /engine/command /engine/apiKey /limits/password";
    let mut documents: Vec<_> = places
        .split_whitespace()
        .map(|pointer| with(example(), pointer, json!(secret)))
        .collect();
    documents.extend([
        with(example(), "/engine/command", json!([format!("./{secret}")])),
        with(
            example(),
            "/engine/baseUrl",
            json!(format!("https://u:{secret}@example.com")),
        ),
        with(example(), "/mesh", json!({"credentials": secret})),
    ]);
    for document in documents {
        let refused = read_value(&document).expect_err("refused");
        let machine = serde_json::to_string(&refused).expect("json");
        let shown = format!("{refused}\n{refused:?}\n{machine}");
        assert!(
            !shown.contains("hunter2") && !shown.contains("correct"),
            "{shown}"
        );
    }
}
