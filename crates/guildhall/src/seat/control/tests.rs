//! The socket as other processes find it: rubbish, slow and many clients, a long path.

use super::*;
use std::{
    io::{BufRead as _, Read as _, Write as _},
    os::unix::{fs::PermissionsExt as _, net::UnixStream as Plain},
};

/// A seat that answers every request with its debug form.
fn with_socket(test: impl FnOnce(&Path) + Send + 'static) {
    let place = tempfile::tempdir().expect("a folder");
    // Longer than a socket's path may be.
    let folder = place.path().join("f".repeat(120));
    std::fs::create_dir(&folder).expect("a folder");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let mut control = Some(Control::open(&folder).expect("a socket"));
        let path = folder.clone();
        let mut tested = tokio::task::spawn_blocking(move || test(&path));
        loop {
            tokio::select! {
                asked = Control::next(&mut control) => {
                    let said = json!({"ok": true, "asked": format!("{:?}", asked.request)});
                    asked.answer.send(said).expect("the client waits");
                }
                ended = &mut tested => break ended.expect("the test's own checks"),
            }
        }
        drop(control);
        assert!(!folder.join(SOCKET_FILE).exists(), "its file goes with it");
    });
}

fn connect(folder: &Path) -> Plain {
    let folder = open_folder(folder).expect("the folder");
    let client = Plain::connect(through(&folder)).expect("a connection");
    client
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a deadline");
    client
}

fn ask(client: &mut Plain, line: &[u8]) -> Value {
    client.write_all(line).expect("the line goes out");
    let mut answer = String::new();
    let mut lines = std::io::BufReader::new(client);
    lines.read_line(&mut answer).expect("an answer");
    serde_json::from_str(&answer).expect("one JSON object")
}

#[test]
fn requests_are_answered_one_line_each_over_one_connection() {
    with_socket(|folder| {
        let mode = std::fs::metadata(folder.join(SOCKET_FILE)).expect("the socket");
        assert_eq!(mode.permissions().mode() & 0o777, 0o600);
        let mut client = connect(folder);
        let cases = [
            (r#"{"do":"status"}"#, "Status"),
            (r#"{"do":"cancel","row":"1203491293471234567"}"#, "Cancel"),
            (r#"{"do":"reload"}"#, "Reload"),
        ];
        for (line, want) in cases {
            let answer = ask(&mut client, format!("{line}\n").as_bytes());
            let asked = answer["asked"].as_str().expect("a request");
            assert!(asked.starts_with(want), "{asked}");
        }
    });
}

#[test]
fn rubbish_is_answered_with_a_refusal_and_harms_nobody() {
    with_socket(|folder| {
        let long = [
            b"{\"do\":\"status\",\"x\":\"",
            "y".repeat(5_000).as_bytes(),
            b"\"}\n",
        ]
        .concat();
        let cases: [&[u8]; 8] = [
            b"\n",
            b"null\n",
            b"{}\n",
            b"{\"do\":\"launch\"}\n",
            b"{\"do\":\"status\",\"also\":1}\n",
            b"{\"do\":\"settle\",\"nonce\":\"../x\"}\n",
            b"\xff\xfe\x00\n",
            &long,
        ];
        for case in cases {
            let answer = ask(&mut connect(folder), case);
            assert_eq!(answer["code"], "bad-request", "{answer}");
        }
        let deep = [&b"[".repeat(3_000)[..], b"\n"].concat();
        assert_eq!(ask(&mut connect(folder), &deep)["code"], "bad-request");
        assert_eq!(
            ask(&mut connect(folder), b"{\"do\":\"rows\"}\n")["ok"],
            true
        );
    });
}

#[test]
fn clients_that_say_nothing_keep_nobody_out_for_long() {
    with_socket(|folder| {
        let idle: Vec<_> = (0..CLIENTS_MAX_COUNT).map(|_| connect(folder)).collect();
        // One too many is let go, without an answer.
        let mut rest = Vec::new();
        let mut client = connect(folder);
        let read = client.read_to_end(&mut rest);
        assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
        drop(idle);
        let until = std::time::Instant::now() + Duration::from_secs(20);
        loop {
            let mut client = connect(folder);
            let mut answer = String::new();
            // A client that is let go sees the end of the stream, or an error when it writes.
            if client.write_all(b"{\"do\":\"rows\"}\n").is_ok()
                && std::io::BufReader::new(client)
                    .read_line(&mut answer)
                    .is_ok()
                && answer.contains("true")
            {
                return;
            }
            assert!(
                std::time::Instant::now() < until,
                "nobody is let in any more"
            );
        }
    });
}

#[test]
fn a_socket_that_a_dead_process_left_is_replaced_and_anything_else_is_not() {
    let place = tempfile::tempdir().expect("a folder");
    let path = place.path().join(SOCKET_FILE);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let _within = runtime.enter();
    drop(std::os::unix::net::UnixListener::bind(&path).expect("a socket"));
    assert!(path.exists());
    drop(Control::open(place.path()).expect("the dead one is replaced"));
    for make in [
        (|path: &Path| std::fs::write(path, "text")) as fn(&Path) -> io::Result<()>,
        |path| std::fs::create_dir(path),
        |path| std::os::unix::fs::symlink("/nowhere", path),
    ] {
        make(&path).expect("something in the way");
        assert!(Control::open(place.path()).is_err());
        assert!(path.symlink_metadata().is_ok(), "it is left alone");
        std::fs::remove_file(&path)
            .or_else(|_| std::fs::remove_dir(&path))
            .expect("removed");
    }
}
