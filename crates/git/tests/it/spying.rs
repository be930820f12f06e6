//! What is seen of starts: from inside by a spy, from outside in the list of processes.

use guildhall_git::{Spawned, Spy};
use std::{collections::BTreeSet, fs, sync::Mutex};

/// Every start, in order.
#[derive(Default)]
pub(crate) struct AllStarts(Mutex<Vec<Start>>);

#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
}

impl Spy for AllStarts {
    fn spawned(&self, spawned: &Spawned<'_>) {
        let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
        self.0.lock().expect("starts").push(Start {
            program: text(spawned.program.as_os_str()),
            args: spawned.args.iter().map(|arg| text(arg)).collect(),
            env: spawned
                .env
                .iter()
                .map(|(name, value)| (text(name), text(value)))
                .collect(),
        });
    }
}

impl AllStarts {
    pub(crate) fn take(&self) -> Vec<Start> {
        std::mem::take(&mut *self.0.lock().expect("starts"))
    }
}

impl Start {
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let found = self.env.iter().find(|(of, _)| of == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The verb of git that it is.
    pub(crate) fn verb(&self) -> &str {
        let plain = self.args.iter().find(|arg| !arg.starts_with('-'));
        plain.map_or("", String::as_str)
    }
}

/// Command lines and environments of every process below this one, as anybody could read them.
pub(crate) fn processes() -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    let mut parents = vec![std::process::id().to_string()];
    while let Some(parent) = parents.pop() {
        let Ok(threads) = fs::read_dir(format!("/proc/{parent}/task")) else {
            continue;
        };
        for thread in threads.flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            for child in children.split_ascii_whitespace() {
                let read = |name: &str| {
                    let bytes = fs::read(format!("/proc/{child}/{name}")).unwrap_or_default();
                    String::from_utf8_lossy(&bytes).into_owned()
                };
                found.insert((read("cmdline"), read("environ")));
                parents.push(child.to_owned());
            }
        }
    }
    found
}
