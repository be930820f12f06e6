//! The answer to git's question for a credential.
//!
//! In: git's question on standard input, three variables. Out: the seat's name and token, on the pipe
//! to git, for one address only.
//! Never: an answer to another question than `get`, for another host, port, path or scheme, from a
//! file that others can read; the token anywhere but in that pipe.
//!
//! Source of the question's form: git-credential(1), input/output format.

use std::{
    ffi::OsString,
    fmt,
    io::{Read, Write},
    path::Path,
};

use rustix::{
    fs::{FileType, Mode, OFlags},
    io::Errno,
};

use crate::{
    environment::{REMOTE_VARIABLE, TOKEN_FILE_VARIABLE, USER_VARIABLE},
    remote::RemoteUrl,
    words::is_identity,
};

/// Longest question that is read.
const QUESTION_MAX_BYTES: u64 = 64 * 1024;
/// Longest token.
pub const TOKEN_MAX_BYTES: usize = 1024;

/// Why there is no answer. The text goes to git's error output: it names no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HelperRefusal {
    /// Something other than `get` was asked; nothing is wrong.
    NotAsked,
    /// A variable is missing or does not fit.
    Unset,
    /// The question has a form that is not git's, a user, a percent sign or a character of control.
    BadQuestion,
    /// The question is for another scheme, host, port or path.
    OtherAddress,
    /// The token's file is a link or no plain file.
    NotPlain,
    /// The token's file is not this account's alone (mode 0600).
    NotPrivate,
    /// There is no token's file, or it cannot be read.
    Unreadable,
    /// What the file holds is no plain token.
    BadToken,
    /// The answer could not be written.
    Unwritten,
}

impl HelperRefusal {
    /// The stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotAsked => "not-asked",
            Self::Unset => "unset",
            Self::BadQuestion => "bad-question",
            Self::OtherAddress => "other-address",
            Self::NotPlain => "not-plain",
            Self::NotPrivate => "not-private",
            Self::Unreadable => "unreadable",
            Self::BadToken => "bad-token",
            Self::Unwritten => "unwritten",
        }
    }
}

impl fmt::Display for HelperRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAsked => "only `get` is answered",
            Self::Unset => "this program is started by a git verb",
            Self::BadQuestion => "the question has a form that is not answered",
            Self::OtherAddress => "the credential is for another address",
            Self::NotPlain => "the token's file is no plain file",
            Self::NotPrivate => "the token's file must have mode 0600 and belong to this account",
            Self::Unreadable => "the token's file cannot be read",
            Self::BadToken => "the token's file holds no plain token",
            Self::Unwritten => "the answer could not be written",
        })
    }
}

impl std::error::Error for HelperRefusal {}

/// Answers git's question: `operation` is the last argument, `env` looks a variable up.
///
/// # Errors
/// Every reason for which nothing was written. For [`HelperRefusal::NotAsked`] (`store` and `erase`)
/// the program ends well and says nothing.
pub fn answer(
    operation: &str,
    input: &mut impl Read,
    env: &dyn Fn(&str) -> Option<OsString>,
    out: &mut impl Write,
) -> Result<(), HelperRefusal> {
    if operation != "get" {
        return Err(HelperRefusal::NotAsked);
    }
    let text = |name: &str| env(name).and_then(|value| value.into_string().ok());
    let remote = text(REMOTE_VARIABLE).and_then(|url| RemoteUrl::parse(&url).ok());
    let user = text(USER_VARIABLE).filter(|user| is_identity(user));
    let (Some(remote), Some(user)) = (remote, user) else {
        return Err(HelperRefusal::Unset);
    };
    let file = env(TOKEN_FILE_VARIABLE).ok_or(HelperRefusal::Unset)?;
    let mut question = String::new();
    let read = input.take(QUESTION_MAX_BYTES).read_to_string(&mut question);
    read.map_err(|_| HelperRefusal::BadQuestion)?;
    refuse_question(&question, &remote)?;
    let token = token(Path::new(&file))?;
    let answer = format!("username={user}\npassword={token}\n");
    out.write_all(answer.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|_| HelperRefusal::Unwritten)
}

/// Refuses a question that is not exactly for `remote`.
fn refuse_question(question: &str, remote: &RemoteUrl) -> Result<(), HelperRefusal> {
    let (mut scheme, mut host, mut path) = (None, None, None);
    for line in question.split_terminator('\n') {
        if line.is_empty() {
            break;
        }
        let (key, value) = line.split_once('=').ok_or(HelperRefusal::BadQuestion)?;
        let place = match key {
            "protocol" => &mut scheme,
            "host" => &mut host,
            "path" => &mut path,
            // An address with a user in it, or an answer that git already has.
            "username" | "password" | "url" => return Err(HelperRefusal::BadQuestion),
            // What newer versions tell besides: capabilities and what the server said.
            _ => continue,
        };
        let plain = value.bytes().all(|b| b.is_ascii_graphic() && b != b'%');
        if !plain || place.replace(value).is_some() {
            return Err(HelperRefusal::BadQuestion);
        }
    }
    let asked = (scheme, host, path);
    if asked == (Some("https"), Some(remote.host()), Some(remote.path())) {
        Ok(())
    } else {
        Err(HelperRefusal::OtherAddress)
    }
}

/// The token in a private plain file.
fn token(file: &Path) -> Result<String, HelperRefusal> {
    if !file.is_absolute() {
        return Err(HelperRefusal::Unset);
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::open(file, flags | OFlags::NOCTTY, Mode::empty());
    let opened = opened.map_err(|errno| match errno {
        Errno::LOOP | Errno::NXIO => HelperRefusal::NotPlain,
        _ => HelperRefusal::Unreadable,
    })?;
    let facts = rustix::fs::fstat(&opened).map_err(|_| HelperRefusal::Unreadable)?;
    if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
        return Err(HelperRefusal::NotPlain);
    }
    let ours = facts.st_uid == rustix::process::geteuid().as_raw();
    if !ours || facts.st_mode & 0o7777 != 0o600 {
        return Err(HelperRefusal::NotPrivate);
    }
    let mut bytes = vec![0; TOKEN_MAX_BYTES + 2];
    let mut length = 0;
    loop {
        let count = rustix::io::read(&opened, &mut bytes[length..]);
        match count.map_err(|_| HelperRefusal::Unreadable)? {
            0 => break,
            count => length += count,
        }
    }
    bytes.truncate(length);
    let text = String::from_utf8(bytes).map_err(|_| HelperRefusal::BadToken)?;
    let token = text.strip_suffix('\n').unwrap_or(&text);
    let token = token.strip_suffix('\r').unwrap_or(token);
    let plain =
        (1..=TOKEN_MAX_BYTES).contains(&token.len()) && token.bytes().all(|b| b.is_ascii_graphic());
    if plain {
        Ok(token.to_owned())
    } else {
        Err(HelperRefusal::BadToken)
    }
}

#[cfg(test)]
mod tests;
