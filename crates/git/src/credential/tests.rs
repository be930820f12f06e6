//! Questions that are answered and questions that are not, files of all kinds.

use super::{HelperRefusal, TOKEN_MAX_BYTES, answer};
use crate::environment::{REMOTE_VARIABLE, TOKEN_FILE_VARIABLE, USER_VARIABLE};
use std::{
    ffi::OsString,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

const TOKEN: &str = "tok-123_ABC.x";
const GOOD: &str = "protocol=https\nhost=git.example.com:8443\npath=a/b.git\n";

fn with_token(text: &[u8], mode: u32) -> (tempfile::TempDir, std::path::PathBuf) {
    let place = tempfile::tempdir().expect("a folder");
    let file = place.path().join("token");
    fs::write(&file, text).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("a mode");
    (place, file)
}

fn ask(operation: &str, question: &str, file: &Path) -> Result<String, HelperRefusal> {
    let env = |name: &str| -> Option<OsString> {
        match name {
            REMOTE_VARIABLE => Some("https://git.example.com:8443/a/b.git".into()),
            USER_VARIABLE => Some("seat-one".into()),
            TOKEN_FILE_VARIABLE => Some(file.into()),
            _ => None,
        }
    };
    let mut out = Vec::new();
    answer(operation, &mut question.as_bytes(), &env, &mut out)?;
    Ok(String::from_utf8(out).expect("text"))
}

#[test]
fn only_the_exact_address_is_answered() {
    let (_place, file) = with_token(format!("{TOKEN}\n").as_bytes(), 0o600);
    let yes = Ok(format!("username=seat-one\npassword={TOKEN}\n"));
    let newer =
        format!("capability[]=authtype\n{GOOD}wwwauth[]=Basic realm=\"x y\"\n\nhost=other\n");
    use HelperRefusal::{BadQuestion, NotAsked, OtherAddress};
    let cases = [
        ("get", GOOD.to_owned(), yes.clone()),
        ("get", newer, yes),
        ("store", GOOD.to_owned(), Err(NotAsked)),
        ("erase", GOOD.to_owned(), Err(NotAsked)),
        ("", GOOD.to_owned(), Err(NotAsked)),
        ("get", GOOD.replace("https", "http"), Err(OtherAddress)),
        ("get", GOOD.replace(":8443", ""), Err(OtherAddress)),
        ("get", GOOD.replace(":8443", ":8444"), Err(OtherAddress)),
        (
            "get",
            GOOD.replace("git.example", "evil.example"),
            Err(OtherAddress),
        ),
        ("get", GOOD.replace("a/b.git", "a/c.git"), Err(OtherAddress)),
        (
            "get",
            GOOD.replace("a/b.git", "a/b.git/"),
            Err(OtherAddress),
        ),
        ("get", GOOD.replace("path=a/b.git\n", ""), Err(OtherAddress)),
        (
            "get",
            GOOD.replace("a/b.git", "a/%62.git"),
            Err(BadQuestion),
        ),
        ("get", GOOD.replace("git.", "x@git."), Err(OtherAddress)),
        ("get", GOOD.replace("8443\n", "8443\r\n"), Err(BadQuestion)),
        (
            "get",
            format!("{GOOD}host=evil.example\n"),
            Err(BadQuestion),
        ),
        ("get", format!("{GOOD}username=x\n"), Err(BadQuestion)),
        ("get", format!("{GOOD}password=x\n"), Err(BadQuestion)),
        (
            "get",
            format!("{GOOD}url=https://evil.example/\n"),
            Err(BadQuestion),
        ),
        ("get", "protocol\n".to_owned(), Err(BadQuestion)),
        ("get", String::new(), Err(OtherAddress)),
    ];
    for (operation, question, want) in cases {
        assert_eq!(
            ask(operation, &question, &file),
            want,
            "{operation} {question:?}"
        );
    }
}

#[test]
fn only_a_private_plain_file_with_a_plain_token_is_read() {
    use HelperRefusal::{BadToken, NotPrivate};
    let long = vec![b'x'; TOKEN_MAX_BYTES + 1];
    let cases: [(&[u8], u32, Option<HelperRefusal>); 12] = [
        (b"tok", 0o600, None),
        (b"tok\r\n", 0o600, None),
        (b"tok", 0o640, Some(NotPrivate)),
        (b"tok", 0o604, Some(NotPrivate)),
        (b"tok", 0o400, Some(NotPrivate)),
        (b"tok", 0o700, Some(NotPrivate)),
        (b"", 0o600, Some(BadToken)),
        (b"\n", 0o600, Some(BadToken)),
        (b"two words", 0o600, Some(BadToken)),
        (b"tok\nhost=evil", 0o600, Some(BadToken)),
        (b"tok\xff", 0o600, Some(BadToken)),
        (&long, 0o600, Some(BadToken)),
    ];
    for (text, mode, want) in cases {
        let (_place, file) = with_token(text, mode);
        assert_eq!(ask("get", GOOD, &file).err(), want, "{mode:o} {text:?}");
    }
}

#[test]
fn links_folders_and_pipes_are_no_token() {
    let (place, file) = with_token(b"tok", 0o600);
    let link = place.path().join("link");
    symlink(&file, &link).expect("a link");
    assert_eq!(ask("get", GOOD, &link), Err(HelperRefusal::NotPlain));
    assert_eq!(ask("get", GOOD, place.path()), Err(HelperRefusal::NotPlain));
    let pipe = place.path().join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0)
        .expect("a pipe");
    assert_eq!(ask("get", GOOD, &pipe), Err(HelperRefusal::NotPlain));
    assert_eq!(
        ask("get", GOOD, &place.path().join("none")),
        Err(HelperRefusal::Unreadable)
    );
    assert_eq!(
        ask("get", GOOD, Path::new("token")),
        Err(HelperRefusal::Unset)
    );
}

#[test]
fn without_its_variables_nothing_is_answered() {
    let (_place, file) = with_token(b"tok", 0o600);
    for missing in [REMOTE_VARIABLE, USER_VARIABLE, TOKEN_FILE_VARIABLE] {
        let env = |name: &str| -> Option<OsString> {
            let value: OsString = match name {
                REMOTE_VARIABLE => "https://git.example.com:8443/a/b.git".into(),
                USER_VARIABLE => "seat-one".into(),
                _ => file.clone().into(),
            };
            (name != missing).then_some(value)
        };
        let mut out = Vec::new();
        let found = answer("get", &mut GOOD.as_bytes(), &env, &mut out);
        assert_eq!(found, Err(HelperRefusal::Unset), "{missing}");
        assert!(out.is_empty());
    }
}
