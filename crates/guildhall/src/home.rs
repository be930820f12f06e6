//! The data root: where bindings and all durable state are.
//!
//! In: the command line's folder, a binding's name. Out: paths, the checked policy, the token.
//! Never: a file that others may read, a default for something that must be there.

use crate::exit::{ExitReason, Failure, chain};
use guildhall_binding::{Expect, FILE_MAX_BYTES, Policy};
use guildhall_discord::{TOKEN_MAX_BYTES, Token};
use guildhall_journal::{
    Brakes, PrivateError, PrivateErrorKind, ensure_private_folder, read_private,
};
use std::{
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Folder of the bindings below the data root.
const BINDINGS: &str = "discord";

/// Longest file of a secret that is read to know its value again, in bytes.
const SECRET_MAX_BYTES: u64 = 64 * 1024;

/// The data root.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    root: PathBuf,
    config: Option<PathBuf>,
}

impl Home {
    /// The data root that the command line names, else the platform's folder for user data.
    pub(crate) fn find(data_root: Option<&Path>, config: Option<&Path>) -> Result<Self, Failure> {
        let root = match data_root {
            Some(root) => root.to_owned(),
            None => default_root().ok_or_else(|| {
                Failure::new(
                    ExitReason::Usage,
                    "there is no home directory to keep data in",
                )
                .hint("name a folder with --data-root DIR or GUILDHALL_DATA_ROOT")
            })?,
        };
        let root = std::path::absolute(&root)
            .map_err(|error| Failure::failed(format!("cannot use the data root: {error}")))?;
        // Links are resolved where the folder exists, so that paths can be compared.
        let root = std::fs::canonicalize(&root).unwrap_or(root);
        Ok(Self {
            root,
            config: config.map(Path::to_owned),
        })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Whether one binding's file was named outside of the data root.
    pub(crate) fn has_config(&self) -> bool {
        self.config.is_some()
    }

    /// The binding's file.
    pub(crate) fn binding_file(&self, name: &str) -> PathBuf {
        self.config
            .clone()
            .unwrap_or_else(|| self.root.join(BINDINGS).join(format!("{name}.json")))
    }

    /// The folder of the binding's journal.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.root.join(BINDINGS).join(name)
    }

    /// The folder of a binding that is named on the command line.
    pub(crate) fn checked_folder(&self, name: &str) -> Result<PathBuf, Failure> {
        check_name(name)?;
        let folder = self.folder(name);
        if folder.is_dir() || self.binding_file(name).is_file() {
            return Ok(folder);
        }
        Err(Failure::invalid(format!(
            "there is no binding {name} in {}",
            self.root.display()
        ))
        .hint("--data-root DIR names another data root"))
    }

    /// The folder of the binding's sessions.
    pub(crate) fn sessions(&self, name: &str) -> PathBuf {
        self.root.join("sessions").join(format!("discord-{name}"))
    }

    /// The two brakes of a binding.
    pub(crate) fn brakes(&self, name: &str) -> Brakes {
        Brakes::of(&self.folder(name), &self.root)
    }

    /// Names of the bindings that have a file here.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.root.join(BINDINGS));
        let names = entries.into_iter().flatten().flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_suffix(".json").map(str::to_owned)
        });
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    /// Makes the private folders of a binding.
    pub(crate) fn make_folders(&self, name: &str) -> Result<(), Failure> {
        let sessions = self.root.join("sessions");
        let folders = [
            self.root.clone(),
            self.root.join(BINDINGS),
            self.folder(name),
            sessions,
            self.sessions(name),
        ];
        for folder in folders {
            ensure_private_folder(&folder).map_err(|error| {
                private_failure(ExitReason::Failed, "cannot use the data root", &error)
            })?;
        }
        Ok(())
    }

    /// Reads and checks a binding.
    pub(crate) fn policy(&self, name: &str) -> Result<Arc<Policy>, Failure> {
        self.policy_and_bytes(name).map(|(policy, _)| policy)
    }

    /// Reads and checks a binding; gives the bytes too.
    pub(crate) fn policy_and_bytes(&self, name: &str) -> Result<(Arc<Policy>, Vec<u8>), Failure> {
        check_name(name)?;
        let path = self.binding_file(name);
        let bytes = read_private(&path, FILE_MAX_BYTES as u64).map_err(|error| {
            let failure = private_failure(ExitReason::Invalid, "cannot read the binding", &error);
            if matches!(error.kind, PrivateErrorKind::Missing) {
                return failure
                    .hint("bindings are <data root>/discord/<name>.json; --config PATH names another file")
                    .hint("`guildhall demo` needs no binding, `guildhall schema` describes one");
            }
            failure
        })?;
        let home = env::home_dir();
        let expect = Expect {
            name: Some(name),
            data_root: &self.root,
            home: home.as_deref(),
        };
        let policy = guildhall_binding::read(&bytes, expect).map_err(|faults| {
            Failure::invalid(format!(
                "the binding {} is not valid\n{faults}",
                path.display()
            ))
            .hint("`guildhall schema` prints what may stand there")
        })?;
        Ok((Arc::new(policy), bytes))
    }
}

/// Reads the bot token of a binding.
pub(crate) fn token(policy: &Policy) -> Result<Token, Failure> {
    token_of(&policy.token_file)
}

/// Every secret that a binding names, as far as it can be read: the bot's token, the engine's key, the
/// record client's key. A push token is read by nobody but the program that git asks for it.
pub(crate) fn secrets(policy: &Policy) -> Vec<String> {
    let records = policy
        .tools
        .iter()
        .filter_map(|tools| Some(&tools.setspark.as_ref()?.key_file));
    let files = [&policy.token_file].into_iter();
    let files = files.chain(&policy.engine.key_file).chain(records);
    let read = |file: &PathBuf| {
        let bytes = read_private(file, SECRET_MAX_BYTES).ok()?;
        String::from_utf8(bytes).ok()
    };
    let mut secrets: Vec<String> = files.filter_map(read).collect();
    let variable = policy.engine.key_env.as_deref();
    secrets.extend(variable.and_then(|name| env::var(name).ok()));
    secrets
}

/// Reads a bot token from its file.
pub(crate) fn token_of(file: &Path) -> Result<Token, Failure> {
    let bytes = read_private(file, TOKEN_MAX_BYTES as u64).map_err(|error| {
        private_failure(ExitReason::Invalid, "cannot use the token file", &error)
    })?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::invalid("the token file does not hold a token"))?;
    Token::parse(&text).map_err(|error| {
        Failure::invalid(format!("the token file does not hold a token: {error}"))
            .hint("copy the bot's token from the developer portal into it, on one line")
    })
}

/// A failure about a file that must be private, with what to do.
pub(crate) fn private_failure(reason: ExitReason, what: &str, error: &PrivateError) -> Failure {
    let failure = Failure::new(reason, format!("{what}: {}", chain(error)));
    let path = error.path.display();
    if matches!(error.kind, PrivateErrorKind::Missing) {
        failure.hint(format!("make {path}, or correct its path"))
    } else if matches!(error.kind, PrivateErrorKind::ModeTooOpen { .. }) {
        failure.hint(format!("others may read it: chmod go-rwx '{path}'"))
    } else {
        failure
    }
}

fn check_name(name: &str) -> Result<(), Failure> {
    guildhall_binding::BindingName::parse(name)
        .map(|_| ())
        .map_err(|error| {
            Failure::new(
                ExitReason::Usage,
                format!("{name:?} is no binding's name: {error}"),
            )
        })
}

fn default_root() -> Option<PathBuf> {
    let named = env::var_os("XDG_DATA_HOME").filter(|path| Path::new(path).is_absolute());
    let base = named
        .map(PathBuf::from)
        .or_else(|| env::home_dir().map(|home| home.join(".local").join("share")))?;
    Some(base.join("guildhall"))
}
