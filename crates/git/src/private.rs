//! The git directory that acts: our own, made for one verb and removed after it.
//!
//! In: a private folder under the data root. Out: a git directory with our configuration, one branch,
//! a copy of the index and no hook.
//! Never: anything of the repository's configuration besides values of a fixed list; a secret.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use crate::{
    index::ObjectFormat, keys::RepositoryKeys, programs::FAILING, refs::ObjectId,
    refusal::GitRefusal,
};

/// What a folder of a verb is called; the rest is a process and a count.
const PREFIX: &str = "verb-";

/// A private git directory. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Private {
    place: PathBuf,
}

impl Private {
    /// Makes the folders of one verb in `state`.
    pub(crate) fn make(state: &Path) -> Result<Self, GitRefusal> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let place = state.join(format!("{PREFIX}{}-{count}", std::process::id()));
        let private = Self { place };
        let made = private.folders();
        made.map_err(|error| GitRefusal::of_io(&error))?;
        Ok(private)
    }

    fn folders(&self) -> io::Result<()> {
        private_folder(&self.place)?;
        private_folder(&self.home())?;
        for inner in ["", "refs/heads", "objects/info", "objects/pack", "info"] {
            private_folder(&self.git().join(inner))?;
        }
        self.write("HEAD", b"ref: refs/heads/main\n")?;
        self.write("config", b"[core]\n\tbare = false\n")
    }

    /// Puts in what the verb works on: our configuration, the branch with its commits, the index.
    pub(crate) fn fill(&self, fill: &Fill<'_>) -> Result<(), GitRefusal> {
        let Fill { branch, keys, .. } = fill;
        let head = format!("ref: refs/heads/{branch}\n");
        let config = config(keys, branch, fill.ca_file);
        let done = self.write("HEAD", head.as_bytes()).and_then(|()| {
            self.write("config", config.as_bytes())?;
            self.reference(&format!("refs/heads/{branch}"), fill.head)?;
            self.reference(&format!("refs/remotes/origin/{branch}"), fill.upstream)?;
            if let Some(index) = fill.index {
                self.write("index", index)?;
            }
            if let Some(excludes) = fill.excludes {
                self.write("info/exclude", excludes)?;
            }
            let mut alternates = fill.objects.as_os_str().as_encoded_bytes().to_vec();
            alternates.push(b'\n');
            self.write("objects/info/alternates", &alternates)
        });
        done.map_err(|error| GitRefusal::of_io(&error))
    }

    /// The git directory.
    pub(crate) fn git(&self) -> PathBuf {
        self.place.join("git")
    }

    /// A folder that stays empty.
    pub(crate) fn home(&self) -> PathBuf {
        self.place.join("home")
    }

    /// The copy of the index.
    pub(crate) fn index(&self) -> PathBuf {
        self.git().join("index")
    }

    /// A store of our own, on top of the repository's.
    pub(crate) fn objects(&self) -> PathBuf {
        self.git().join("objects")
    }

    fn reference(&self, name: &str, id: Option<&ObjectId>) -> io::Result<()> {
        let Some(id) = id else { return Ok(()) };
        if let Some(folder) = self.git().join(name).parent() {
            private_folder(folder)?;
        }
        self.write(name, format!("{id}\n").as_bytes())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.open(self.git().join(name))?.write_all(bytes)
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        // What stays is swept by the next start.
        drop(fs::remove_dir_all(&self.place));
    }
}

/// What a private directory is filled with.
pub(crate) struct Fill<'a> {
    pub(crate) branch: &'a str,
    pub(crate) keys: &'a RepositoryKeys,
    pub(crate) head: Option<&'a ObjectId>,
    pub(crate) upstream: Option<&'a ObjectId>,
    pub(crate) index: Option<&'a [u8]>,
    pub(crate) excludes: Option<&'a [u8]>,
    /// The repository's own store.
    pub(crate) objects: &'a Path,
    /// A certificate authority besides the system's; of tests.
    pub(crate) ca_file: Option<&'a Path>,
}

/// Makes the private folder `state` if it is not there, and removes what dead processes left in it.
///
/// # Errors
/// [`GitRefusal::Owner`] when others may read it.
pub(crate) fn open_state(state: &Path) -> Result<(), GitRefusal> {
    let refused = |error: io::Error| GitRefusal::of_io(&error);
    private_folder(state).map_err(refused)?;
    let facts = fs::symlink_metadata(state).map_err(refused)?;
    let ours = facts.uid() == rustix::process::geteuid().as_raw();
    if !facts.is_dir() || !ours || facts.mode() & 0o077 != 0 {
        return Err(GitRefusal::Owner);
    }
    for entry in fs::read_dir(state).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        if entry.file_name().to_str().is_some_and(is_leftover) {
            fs::remove_dir_all(entry.path()).map_err(refused)?;
        }
    }
    Ok(())
}

/// Replaces a small file of the private folder: whole or not at all, and lasting.
pub(crate) fn replace(state: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let next = state.join(format!("{name}.{}", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(&next)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&next, state.join(name))?;
    fs::File::open(state)?.sync_all()
}

/// Whether the process that made a folder is gone.
fn is_leftover(name: &str) -> bool {
    let number = name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.split_once('-'))
        .and_then(|(number, _)| number.parse().ok())
        .and_then(rustix::process::Pid::from_raw);
    number.is_some_and(|process| {
        rustix::process::test_kill_process(process) == Err(rustix::io::Errno::SRCH)
    })
}

fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Our configuration. Every key that could run a program or lead elsewhere is set, although nothing
/// else is read that could set it.
fn config(keys: &RepositoryKeys, branch: &str, ca_file: Option<&Path>) -> String {
    let version = match keys.format {
        ObjectFormat::Sha1 => "0",
        ObjectFormat::Sha256 => "1",
    };
    let mut text = format!("[core]\n\trepositoryFormatVersion = {version}\n{CORE}");
    for program in ["askPass", "editor", "sshCommand"] {
        text.push_str(&format!("\t{program} = {FAILING}\n"));
    }
    for (key, value) in &keys.carried {
        text.push_str(&format!("\t{key} = {value}\n"));
    }
    if keys.format == ObjectFormat::Sha256 {
        text.push_str("[extensions]\n\tobjectFormat = sha256\n");
    }
    text.push_str(REST);
    if let Some(ca_file) = ca_file {
        text.push_str(&format!(
            "[http]\n\tsslCAInfo = \"{}\"\n",
            ca_file.display()
        ));
    }
    // For ahead and behind alone; no verb goes by this name.
    text.push_str("[remote \"origin\"]\n\turl = https://invalid./none\n");
    text.push_str("\tfetch = +refs/heads/*:refs/remotes/origin/*\n");
    // A branch's name has neither a quote nor a backslash: held when the root is opened.
    text.push_str(&format!("[branch \"{branch}\"]\n\tremote = origin\n"));
    text.push_str(&format!("\tmerge = refs/heads/{branch}\n"));
    text
}

const CORE: &str = "\tbare = false
\thooksPath = /dev/null
\tfsmonitor = false
\tattributesFile = /dev/null
\texcludesFile = /dev/null
\tsymlinks = false
\tlogAllRefUpdates = false
\tcommitGraph = false
\tmultiPackIndex = false
\tuntrackedCache = false
\tsplitIndex = false
\tprotectHFS = true
\tprotectNTFS = true
\tpager = cat
\tfsync = committed
";

const REST: &str = "[protocol]
\tallow = never
[protocol \"https\"]
\tallow = always
[http]
\tfollowRedirects = false
\tsslVerify = true
\tproxy =
[transfer]
\tbundleURI = false
\tcredentialsInUrl = die
[fetch]
\trecurseSubmodules = false
\twriteCommitGraph = false
[push]
\tdefault = nothing
\tfollowTags = false
\tgpgSign = false
\trecurseSubmodules = no
[submodule]
\trecurse = false
[commit]
\tgpgSign = false
[tag]
\tgpgSign = false
[log]
\tshowSignature = false
[merge]
\tverifySignatures = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[color]
\tui = false
[status]
\tshowUntrackedFiles = all
\trelativePaths = false
[index]
\tthreads = false
";
