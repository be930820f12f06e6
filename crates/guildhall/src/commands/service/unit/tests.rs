//! The unit as systemd reads it.

use super::*;
use std::collections::BTreeMap;

fn unit() -> Unit {
    Unit {
        program: "/opt/guildhall".into(),
        data_root: "/home/someone/.local/share/guildhall".into(),
        repo: "/home/someone/src/notes".into(),
        node: Some("/opt/node/bin".into()),
    }
}

/// Keys with their values, section by section.
fn parsed(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut section = "";
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        } else if let Some((key, value)) = line.split_once('=') {
            let key = format!("{section}.{key}");
            found.entry(key).or_default().push(value.to_owned());
        }
    }
    found
}

#[test]
fn a_stop_may_take_longer_than_the_longest_turn() {
    let found = parsed(&render(&unit()).expect("plain paths"));
    let seconds: u64 = found["Service.TimeoutStopSec"][0]
        .parse()
        .expect("a number");
    let schema = guildhall_binding::schema();
    let longest = &schema["$defs"]["Limits"]["properties"]["turnTimeoutSeconds"]["maximum"];
    let longest = longest.as_u64().expect("the schema names the longest turn");
    assert_eq!(u64::from(TURN_TIMEOUT_MAX_SECONDS), longest);
    assert!(
        seconds >= longest + 60,
        "{seconds} s for a turn of {longest} s"
    );
}

#[test]
fn a_crash_is_tried_again_within_bounds_and_a_brake_is_not() {
    let found = parsed(&render(&unit()).expect("plain paths"));
    let cases = [
        ("Service.Type", "notify"),
        ("Service.NotifyAccess", "main"),
        ("Service.Restart", "on-failure"),
        ("Service.RestartSec", "15"),
        ("Service.RestartPreventExitStatus", "3"),
        ("Unit.StartLimitIntervalSec", "600"),
        ("Unit.StartLimitBurst", "5"),
        ("Service.KillMode", "mixed"),
        ("Service.ExecReload", "/bin/kill -HUP $MAINPID"),
        (
            "Service.ExecStart",
            "/opt/guildhall run %i --supervised --data-root \
             /home/someone/.local/share/guildhall --repo /home/someone/src/notes",
        ),
        (
            "Service.Environment",
            "PATH=/opt/node/bin:/usr/local/bin:/usr/bin:/bin",
        ),
    ];
    for (key, value) in cases {
        assert_eq!(found[key], [value], "{key}");
    }
    // Five starts and the pauses between them fit into the span that is counted.
    let number = |key: &str| found[key][0].parse::<u64>().expect("a number");
    let pauses = number("Unit.StartLimitBurst") * number("Service.RestartSec");
    assert!(pauses < number("Unit.StartLimitIntervalSec"));
}

#[test]
fn no_directive_needs_what_a_users_manager_may_not_do() {
    let found = parsed(&render(&unit()).expect("plain paths"));
    // These drop capabilities or make namespaces, which an unprivileged manager may not be able to:
    // the unit would not start.
    let fatal = [
        "ProtectSystem",
        "ProtectHome",
        "ProtectKernelTunables",
        "ProtectControlGroups",
        "ProtectHostname",
        "PrivateTmp",
        "PrivateMounts",
        "PrivateNetwork",
        "ReadWritePaths",
        "CapabilityBoundingSet",
        "AmbientCapabilities",
        "PrivateDevices",
        "ProtectClock",
        "ProtectKernelModules",
        "ProtectKernelLogs",
        "PrivateUsers",
        "User",
        "DynamicUser",
    ];
    // These hide what the lock needs to tell a live owner from a dead one.
    let blinding = ["ProtectProc", "ProcSubset", "PrivatePIDs"];
    for key in fatal.iter().chain(&blinding) {
        assert!(!found.contains_key(&format!("Service.{key}")), "{key}");
    }
}

#[test]
fn odd_paths_stay_one_argument_or_are_refused() {
    let cases = [
        ("/plain/path", Some("/plain/path")),
        ("/with space/x", Some("\"/with space/x\"")),
        ("/100%/x", Some("/100%%/x")),
        ("/a$HOME", Some("/a$$HOME")),
        ("/q\"uote", Some("\"/q\\\"uote\"")),
        ("/back\\slash", Some("\"/back\\\\slash\"")),
        ("/semi;colon", Some("\"/semi;colon\"")),
        ("/line\nbreak", None),
    ];
    for (path, want) in cases {
        let found = argument(Path::new(path));
        assert_eq!(found.ok().as_deref(), want, "{path:?}");
    }
}
