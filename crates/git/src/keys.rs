//! Which keys a repository's configuration may have.
//!
//! In: the configuration as git lists it. Out: the few values that a verb needs, or the first key
//! that is not on the list.
//! Never: a value in a refusal; a key that is known to be bad is no rule here, only what is known
//! to be harmless is. The git that acts never reads this configuration.

use crate::{
    index::ObjectFormat,
    masked::shown_name,
    refusal::{Feature, GitRefusal, KeyClass, KeyName, RemoteFault},
    remote::RemoteUrl,
};

/// Longest key that is shown, in characters.
const KEY_SHOWN_CHARS: usize = 100;

/// Keys without a name between the dots.
const PLAIN: [&str; 17] = [
    "core.repositoryformatversion",
    "core.filemode",
    "core.bare",
    "core.logallrefupdates",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.autocrlf",
    "core.eol",
    "core.safecrlf",
    "extensions.objectformat",
    "user.name",
    "user.email",
    "pull.ff",
    "pull.rebase",
    "push.default",
    "init.defaultbranch",
];
/// Keys of a named section.
const NAMED: [(&str, &[&str]); 2] = [
    ("remote", &["url", "fetch"]),
    ("branch", &["remote", "merge", "rebase", "description"]),
];
/// Values of `core` that say how files are read; they are handed on.
const CARRIED: [(&str, &[&str]); 6] = [
    ("core.filemode", &["true", "false"]),
    ("core.ignorecase", &["true", "false"]),
    ("core.precomposeunicode", &["true", "false"]),
    ("core.autocrlf", &["true", "false", "input"]),
    ("core.eol", &["lf", "crlf", "native"]),
    ("core.safecrlf", &["true", "false", "warn"]),
];

/// Whether a configuration is held to the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum KeyCheck {
    #[default]
    Listed,
    /// Shows in tests that the private directory alone keeps a repository's keys away.
    Unchecked,
}

/// What a configuration says that a verb needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepositoryKeys {
    pub(crate) format: ObjectFormat,
    /// `core` keys with values of their own, for the private configuration.
    pub(crate) carried: Vec<(&'static str, &'static str)>,
    /// What `remote.origin.url` says.
    pub(crate) origin: Result<RemoteUrl, RemoteFault>,
    /// Whether `refs/remotes/origin/BRANCH` follows the branch.
    pub(crate) tracks: bool,
}

impl RepositoryKeys {
    /// Whether a file's own mode says that it is a program.
    pub(crate) fn has_modes(&self) -> bool {
        !self.carried.contains(&("filemode", "false"))
    }
}

/// Reads `git config --list -z`: each key, a line feed and its value, ended by a NUL.
///
/// # Errors
/// [`GitRefusal::Key`] for the first key off the list; [`Feature::Format`].
pub(crate) fn read(
    list: &[u8],
    branch: &str,
    check: KeyCheck,
) -> Result<RepositoryKeys, GitRefusal> {
    let list = String::from_utf8_lossy(list);
    let pairs: Vec<(&str, &str)> = list
        .split('\0')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('\n').unwrap_or((pair, "true")))
        .collect();
    if check == KeyCheck::Listed {
        for (key, value) in &pairs {
            if let Some(class) = class_of(key, value) {
                let name = KeyName(shown_name(key, KEY_SHOWN_CHARS));
                return Err(GitRefusal::Key(class, name));
            }
        }
    }
    let last = |key: &str| pairs.iter().rev().find(|(of, _)| *of == key).map(|p| p.1);
    let format = match last("extensions.objectformat") {
        None | Some("sha1") => ObjectFormat::Sha1,
        Some("sha256") => ObjectFormat::Sha256,
        Some(_) => return Err(GitRefusal::Layout(Feature::Format)),
    };
    if !matches!(last("core.repositoryformatversion"), None | Some("0" | "1")) {
        return Err(GitRefusal::Layout(Feature::Format));
    }
    let carried = CARRIED.iter().filter_map(|(key, values)| {
        let value = last(key)?.to_ascii_lowercase();
        let value = values.iter().find(|known| **known == value)?;
        Some((key.strip_prefix("core.").unwrap_or(key), *value))
    });
    let tracked = format!("+refs/heads/{branch}:refs/remotes/origin/{branch}");
    let all = "+refs/heads/*:refs/remotes/origin/*";
    let tracks = pairs
        .iter()
        .any(|(key, value)| *key == "remote.origin.fetch" && (*value == all || *value == tracked));
    Ok(RepositoryKeys {
        format,
        carried: carried.collect(),
        origin: origin(&pairs),
        tracks,
    })
}

fn origin(pairs: &[(&str, &str)]) -> Result<RemoteUrl, RemoteFault> {
    let mut urls = pairs.iter().filter(|(key, _)| *key == "remote.origin.url");
    match (urls.next(), urls.next()) {
        (Some((_, url)), None) => RemoteUrl::parse(url),
        (_, _) => Err(RemoteFault::Missing),
    }
}

/// Why a key is not on the list; `None` when it is.
fn class_of(key: &str, value: &str) -> Option<KeyClass> {
    let lower = key.to_ascii_lowercase();
    let (section, rest) = lower.split_once('.').unwrap_or((&lower, ""));
    let (named, last) = match rest.rsplit_once('.') {
        Some((_, last)) => (true, last),
        None => (false, rest),
    };
    if !named && (PLAIN.contains(&lower.as_str()) || section == "color") {
        // A bare repository has no work tree.
        let bare = lower == "core.bare" && value != "false";
        return bare.then_some(KeyClass::NotListed);
    }
    if named && section == "color" {
        return None;
    }
    let listed = NAMED
        .iter()
        .any(|(of, keys)| *of == section && keys.contains(&last));
    if named && listed {
        return None;
    }
    Some(match (section, last) {
        ("include" | "includeif", _) => KeyClass::Include,
        ("credential", _) => KeyClass::Helper,
        ("url", _) if rest.starts_with("http") => KeyClass::Redirect,
        ("remote", "pushurl" | "pushdefault") | ("branch", "pushremote") => KeyClass::Redirect,
        (_, _) => KeyClass::NotListed,
    })
}

#[cfg(test)]
mod tests {
    use super::{KeyCheck, class_of, read};
    use crate::{
        index::ObjectFormat,
        refusal::{GitRefusal, KeyClass, RemoteFault},
    };

    #[test]
    fn a_key_is_on_the_list_or_refused_by_its_class() {
        use KeyClass::{Helper, Include, NotListed, Redirect};
        let cases = [
            ("core.bare", "false", None),
            ("core.bare", "true", Some(NotListed)),
            ("core.autocrlf", "input", None),
            ("remote.origin.url", "x", None),
            ("remote.a.b.fetch", "x", None),
            ("branch.main.merge", "x", None),
            ("branch.seat/x.y.rebase", "x", None),
            ("color.ui", "always", None),
            ("color.status.added", "red", None),
            ("user.email", "a@b", None),
            ("user.signingkey", "x", Some(NotListed)),
            ("core.fsmonitor", "x", Some(NotListed)),
            ("core.Worktree", "x", Some(NotListed)),
            ("filter.evil.clean", "x", Some(NotListed)),
            ("extensions.partialclone", "x", Some(NotListed)),
            ("include.path", "x", Some(Include)),
            ("includeif.onbranch:main.path", "x", Some(Include)),
            ("credential.helper", "x", Some(Helper)),
            ("credential.https://h.helper", "x", Some(Helper)),
            ("url.https://e/.insteadof", "x", Some(Redirect)),
            ("url.ext::x .insteadof", "x", Some(NotListed)),
            ("remote.origin.pushurl", "x", Some(Redirect)),
            ("remote.pushdefault", "x", Some(Redirect)),
            ("branch.main.pushremote", "x", Some(Redirect)),
            ("remote.origin.uploadpack", "x", Some(NotListed)),
            ("remote.url", "x", Some(NotListed)),
            ("lfs.repositoryformatversion", "0", Some(NotListed)),
            ("", "", Some(NotListed)),
        ];
        for (key, value, want) in cases {
            assert_eq!(class_of(key, value), want, "{key}");
        }
    }

    #[test]
    fn values_are_carried_only_where_they_are_known() {
        let list = b"core.autocrlf\nInput\0core.eol\nx\ny\0core.filemode\0remote.origin.url\nhttps://h/a\0\
            remote.origin.fetch\n+refs/heads/*:refs/remotes/origin/*\0extensions.objectformat\nsha256\0";
        let keys = read(list, "main", KeyCheck::Listed).expect("all are listed");
        assert_eq!(keys.carried, [("filemode", "true"), ("autocrlf", "input")]);
        assert_eq!(keys.format, ObjectFormat::Sha256);
        assert!(keys.tracks);
        assert_eq!(keys.origin.expect("an address").to_string(), "https://h/a");
        let two = b"remote.origin.url\nhttps://h/a\0remote.origin.url\nhttps://h/b\0";
        let keys = read(two, "main", KeyCheck::Listed).expect("all are listed");
        assert_eq!(keys.origin, Err(RemoteFault::Missing));
    }

    #[test]
    fn a_refusal_names_the_key_without_credentials_in_it() {
        let list = b"url.https://u:secret@host/.insteadof\nhttps://h/\0";
        let found = read(list, "main", KeyCheck::Listed).expect_err("it is off the list");
        let GitRefusal::Key(KeyClass::Redirect, name) = &found else {
            panic!("another refusal: {found}");
        };
        assert_eq!(name.as_str(), "url.https://<masked>@host/.insteadof");
    }
}
