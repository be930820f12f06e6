//! The whole environment of a child.
//!
//! In: the private directory, the root, what the child is for. Out: variables, all of them.
//! Never: a variable of our own process; the token; the path of the token for a child that talks to
//! no server.

use std::{ffi::OsString, path::Path};

use crate::{
    private::Private,
    programs::{FAILING, FIXED_PATH},
    remote::RemoteUrl,
};

/// The variable with the path of the token's file. Set for push, pull and reserve alone.
pub const TOKEN_FILE_VARIABLE: &str = "GUILDHALL_GIT_TOKEN_FILE";
/// The variable with the one address that the credential is for.
pub const REMOTE_VARIABLE: &str = "GUILDHALL_GIT_REMOTE";
/// The variable with the seat's name at that server.
pub const USER_VARIABLE: &str = "GUILDHALL_GIT_USER";
/// The subcommand that answers for credentials.
pub const CREDENTIAL_COMMAND: &str = "git-credential";

pub(crate) type Environment = Vec<(OsString, OsString)>;

/// What the credential program needs.
pub(crate) struct Credential<'a> {
    pub(crate) program: &'a Path,
    pub(crate) token_file: &'a Path,
    pub(crate) remote: &'a RemoteUrl,
    pub(crate) user: &'a str,
}

/// Variables of every child.
pub(crate) fn of_any(private: &Private) -> Environment {
    let fixed = [
        ("PATH", FIXED_PATH),
        ("LC_ALL", "C.UTF-8"),
        ("TZ", "UTC"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_SYSTEM", "/dev/null"),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_ASKPASS", FAILING),
        ("SSH_ASKPASS", FAILING),
        ("GIT_EDITOR", FAILING),
        ("GIT_SEQUENCE_EDITOR", FAILING),
        ("GIT_SSH_COMMAND", FAILING),
        ("GIT_PAGER", "cat"),
        ("GIT_ALLOW_PROTOCOL", "https"),
        ("GIT_PROTOCOL_FROM_USER", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_NO_REPLACE_OBJECTS", "1"),
        ("GIT_LITERAL_PATHSPECS", "1"),
        ("GIT_OPTIONAL_LOCKS", "0"),
    ];
    let mut all: Environment = fixed
        .iter()
        .map(|(name, value)| ((*name).into(), (*value).into()))
        .collect();
    all.push(("HOME".into(), private.home().into()));
    all
}

/// Variables of a git that works on the root through the private directory.
pub(crate) fn of_git(private: &Private, root: &Path, objects: &Path, index: &Path) -> Environment {
    let mut all = of_any(private);
    all.extend([
        ("GIT_DIR".into(), private.git().into()),
        ("GIT_WORK_TREE".into(), root.into()),
        ("GIT_OBJECT_DIRECTORY".into(), objects.into()),
        ("GIT_INDEX_FILE".into(), index.into()),
        ("GIT_CEILING_DIRECTORIES".into(), "/".into()),
    ]);
    all
}

/// Variables that name who commits.
pub(crate) fn of_author(name: &str, address: &str) -> Environment {
    ["AUTHOR", "COMMITTER"]
        .iter()
        .flat_map(|role| {
            [
                (format!("GIT_{role}_NAME").into(), name.into()),
                (format!("GIT_{role}_EMAIL").into(), address.into()),
            ]
        })
        .collect()
}

/// Variables of a child that talks to the bound server: the list of helpers is emptied, then ours is
/// the only one.
pub(crate) fn of_credential(credential: &Credential<'_>) -> Environment {
    let mut command = OsString::from("!");
    command.push(quoted(credential.program));
    command.push(" ");
    command.push(CREDENTIAL_COMMAND);
    let keys = [
        ("credential.helper", OsString::new()),
        ("credential.helper", command),
        ("credential.useHttpPath", "true".into()),
    ];
    let mut all = of_keys(&keys);
    all.extend([
        (TOKEN_FILE_VARIABLE.into(), credential.token_file.into()),
        (REMOTE_VARIABLE.into(), credential.remote.to_string().into()),
        (USER_VARIABLE.into(), credential.user.into()),
    ]);
    all
}

/// Variables of the vault's tools: whatever git they run has the repository's own configuration, so
/// what that could name is switched off by name. `credential` is for a
/// reservation alone; `ca_file` is of tests.
pub(crate) fn of_vault(
    private: &Private,
    credential: Option<&Credential<'_>>,
    ca_file: Option<&Path>,
) -> Environment {
    let mut all = of_any(private);
    all.retain(|(name, _)| name != "GIT_LITERAL_PATHSPECS" && name != "GIT_OPTIONAL_LOCKS");
    all.extend([
        ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
        ("PYTHONNOUSERSITE".into(), "1".into()),
        ("PYTHONPYCACHEPREFIX".into(), private.home().into()),
        ("PYTHONUTF8".into(), "1".into()),
    ]);
    let mut keys: Vec<(&str, OsString)> = vec![
        ("core.hooksPath", "/dev/null".into()),
        ("core.fsmonitor", "false".into()),
        ("core.attributesFile", "/dev/null".into()),
        ("protocol.allow", "never".into()),
        ("protocol.https.allow", "always".into()),
        ("http.followRedirects", "false".into()),
        ("gc.auto", "0".into()),
        ("credential.helper", OsString::new()),
    ];
    if let Some(credential) = credential {
        let ours = of_credential(credential);
        let value = |name: &str| {
            let found = ours.iter().find(|(of, _)| of == name);
            found.map_or_else(OsString::new, |(_, value)| value.clone())
        };
        keys.push(("credential.helper", value("GIT_CONFIG_VALUE_1")));
        keys.push(("credential.useHttpPath", "true".into()));
        let others = ours
            .iter()
            .filter(|(name, _)| !name.as_encoded_bytes().starts_with(b"GIT_CONFIG_"));
        all.extend(others.cloned());
    }
    if let Some(ca_file) = ca_file {
        keys.push(("http.sslCAInfo", ca_file.into()));
    }
    all.extend(of_keys(&keys));
    all
}

/// Keys in command scope, above every file.
fn of_keys(keys: &[(&str, OsString)]) -> Environment {
    let mut all: Environment = vec![("GIT_CONFIG_COUNT".into(), keys.len().to_string().into())];
    for (index, (key, value)) in keys.iter().enumerate() {
        all.push((format!("GIT_CONFIG_KEY_{index}").into(), (*key).into()));
        all.push((format!("GIT_CONFIG_VALUE_{index}").into(), value.clone()));
    }
    all
}

/// A path as one word of a shell: git gives the helper's line to one.
fn quoted(path: &Path) -> OsString {
    let mut word = OsString::from("'");
    let text = path.as_os_str().to_string_lossy();
    word.push(text.replace('\'', "'\\''"));
    word.push("'");
    word
}

#[cfg(test)]
mod tests {
    use super::quoted;
    use std::path::Path;

    #[test]
    fn a_path_with_quotes_stays_one_word() {
        assert_eq!(quoted(Path::new("/opt/it's here")), "'/opt/it'\\''s here'");
    }
}
