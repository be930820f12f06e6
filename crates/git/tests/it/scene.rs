//! A root, its server, and everything around them, in one folder of a test.

use crate::{
    server::{Authority, Server},
    spying::AllStarts,
};
use guildhall_confine::{Access, RelPath, Root};
use guildhall_git::{
    Cancel, CommitDone, CommitRequest, CommitSummary, GitRefusal, GitRoot, GitSettings, Programs,
    Protocol, Requester, Trial,
};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Arc,
};

/// The seat's token: of no known shape, so that no mask hides a leak of it.
pub(crate) const TOKEN: &str = "hall-test-token-0123456789";
pub(crate) const SEAT: &str = "seat-one";

/// Which keys of a repository's configuration are let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    Listed,
    Unchecked,
}

/// Something that is done to a scene.
pub(crate) type Change = fn(&Scene);

pub(crate) struct Scene {
    pub(crate) place: tempfile::TempDir,
    pub(crate) server: Server,
    /// Another server that the same authority vouches for.
    pub(crate) other: Server,
    pub(crate) starts: Arc<AllStarts>,
}

impl Scene {
    /// A root on `main` whose server has the same three files.
    pub(crate) fn new() -> Self {
        Self::with_format("sha1")
    }

    pub(crate) fn with_format(format: &str) -> Self {
        let scene = Self::bare(format);
        let seed = scene.place.path().join("seed");
        fs::create_dir_all(seed.join("dir")).expect("folders");
        fs::write(seed.join("a.txt"), "one\ntwo\n").expect("a file");
        fs::write(seed.join("b.bin"), b"\0\x01\x02").expect("a file");
        fs::write(seed.join("dir/c.txt"), "three\n").expect("a file");
        let format = format!("--object-format={format}");
        scene.git_in(&seed, &["init", "-q", "-b", "main", &format, "."]);
        scene.git_in(&seed, &["add", "."]);
        scene.git_in(&seed, &["commit", "-q", "-m", "begin"]);
        scene.git_in(&seed, &["push", "-q", "../upstream.git", "main"]);
        scene.git_in(scene.place.path(), &["clone", "-q", "upstream.git", "root"]);
        scene.bind();
        scene
    }

    /// A root and a server without a commit.
    pub(crate) fn empty() -> Self {
        let scene = Self::bare("sha1");
        scene.git_in(scene.place.path(), &["init", "-q", "-b", "main", "root"]);
        let root = scene.root();
        scene.git_in(&root, &["remote", "add", "origin", "../upstream.git"]);
        scene.bind();
        scene
    }

    fn bare(format: &str) -> Self {
        let place = tempfile::Builder::new()
            .prefix("git-")
            .tempdir()
            .expect("a folder");
        let at = |name: &str| place.path().join(name);
        fs::create_dir(at("out")).expect("a folder");
        // A dozen sample hooks in every repository cost more than the test.
        fs::create_dir_all(at("template/info")).expect("folders");
        fs::write(at("template/info/exclude"), "# nothing\n").expect("a file");
        fs::write(at("out/victim"), "victim\n").expect("a file");
        fs::write(at("token"), format!("{TOKEN}\n")).expect("a file");
        fs::set_permissions(at("token"), fs::Permissions::from_mode(0o600)).expect("a mode");
        let authority = Authority::new();
        authority.write(&at("ca.pem"));
        let server = Server::start(&authority, place.path(), SEAT, TOKEN);
        let other = Server::start(&authority, &at("out"), SEAT, TOKEN);
        let scene = Self {
            place,
            server,
            other,
            starts: Arc::default(),
        };
        let format = format!("--object-format={format}");
        let init = [
            "init",
            "-q",
            "--bare",
            "-b",
            "main",
            &format,
            "upstream.git",
        ];
        scene.git_in(scene.place.path(), &init);
        scene
    }

    /// The root's address of origin becomes the server's.
    fn bind(&self) {
        let url = self.server.url("upstream.git");
        self.git(&["remote", "set-url", "origin", &url]);
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.at("root")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let file = self.root().join(path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        fs::write(file, text).expect("a file");
    }

    /// A person's git in the root.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.root(), args)
    }

    /// A person's git anywhere, which has to end well.
    pub(crate) fn git_in(&self, folder: &Path, args: &[&str]) -> String {
        let output = self.try_git(folder, args);
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {err}");
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    pub(crate) fn try_git(&self, folder: &Path, args: &[&str]) -> Output {
        Command::new(git_program())
            .args(args)
            .current_dir(folder)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.at("out"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_TEMPLATE_DIR", self.at("template"))
            .env("GIT_AUTHOR_NAME", "Person")
            .env("GIT_AUTHOR_EMAIL", "person@example.com")
            .env("GIT_COMMITTER_NAME", "Person")
            .env("GIT_COMMITTER_EMAIL", "person@example.com")
            .output()
            .expect("git runs")
    }

    /// A commit that somebody else gives to the server.
    pub(crate) fn upstream(&self, path: &str, text: &str) -> String {
        self.upstream_by(|seed| {
            let file = seed.join(path);
            fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
            fs::write(file, text).expect("a file");
        })
    }

    pub(crate) fn upstream_by(&self, change: impl FnOnce(&Path)) -> String {
        let other = tempfile::Builder::new()
            .prefix("person-")
            .tempdir_in(self.place.path());
        let other = other.expect("a folder").path().join("clone");
        let (from, to) = (
            self.at("upstream.git"),
            other.to_string_lossy().into_owned(),
        );
        let from = from.to_string_lossy().into_owned();
        self.git_in(self.place.path(), &["clone", "-q", &from, &to]);
        self.git_in(&other, &["checkout", "-q", "-B", "main"]);
        change(&other);
        self.git_in(&other, &["add", "-A"]);
        self.git_in(&other, &["commit", "-q", "-m", "elsewhere"]);
        self.git_in(&other, &["push", "-q", "origin", "HEAD:refs/heads/main"]);
        self.git_in(&other, &["rev-parse", "HEAD"])
    }

    /// What the server's branch is.
    pub(crate) fn served(&self) -> String {
        self.git_in(&self.at("upstream.git"), &["rev-parse", "main"])
    }

    pub(crate) fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// What verbs have left in the private folder, besides the note of the address.
    pub(crate) fn left(&self) -> Vec<String> {
        let found = fs::read_dir(self.at("data")).expect("a folder").flatten();
        let names = found.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name != "remote").collect()
    }

    pub(crate) fn settings(&self, protocol: Protocol) -> GitSettings {
        let path = self.root();
        GitSettings {
            root: Arc::new(Root::open_ambient(&path, Access::Write).expect("a root")),
            path,
            state: self.at("data"),
            branch: "main".to_owned(),
            identity: SEAT.to_owned(),
            token_file: self.at("token"),
            author: "Seat One <seat@example.com>".to_owned(),
            protocol,
            credential_program: env!("CARGO_BIN_EXE_guildhall-git-test-credential").into(),
            remote: None,
            programs: Programs {
                git: git_program(),
                ..Programs::find().expect("git and python")
            },
        }
    }

    pub(crate) fn trial(&self, keys: Keys) -> Trial {
        let mut trial = Trial::default();
        trial.ca_file = Some(self.at("ca.pem"));
        trial.spy = Some(self.starts.clone());
        match keys {
            Keys::Listed => trial,
            Keys::Unchecked => trial.with_keys_unchecked(),
        }
    }

    pub(crate) fn open(&self) -> GitRoot {
        self.try_open(Protocol::Plain, Keys::Listed)
            .expect("it opens")
    }

    pub(crate) fn try_open(&self, protocol: Protocol, keys: Keys) -> Result<GitRoot, GitRefusal> {
        GitRoot::open_for_trial(self.settings(protocol), self.trial(keys), &Cancel::new())
    }
}

/// The git of a test: the system's, or the one that `GUILDHALL_TEST_GIT` names, so that the same tests
/// hold for another version.
pub(crate) fn git_program() -> PathBuf {
    let named = std::env::var_os("GUILDHALL_TEST_GIT");
    named.map_or_else(|| "/usr/bin/git".into(), PathBuf::from)
}

/// A whole commit, asked for by Ana.
pub(crate) fn commit(
    root: &GitRoot,
    message: &str,
    paths: &[&str],
) -> Result<CommitDone, GitRefusal> {
    prepare(root, message, paths).and_then(|(prepared, _)| prepared.commit(&Cancel::new()))
}

pub(crate) fn prepare(
    root: &GitRoot,
    message: &str,
    paths: &[&str],
) -> Result<(guildhall_git::PreparedCommit, CommitSummary), GitRefusal> {
    let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    let requester = Requester::parse("Ana").expect("a name");
    let request = CommitRequest {
        message,
        paths: &paths,
        requester: Some(&requester),
    };
    let prepared = root.prepare_commit(&request, &Cancel::new())?;
    let summary = prepared.summary().clone();
    Ok((prepared, summary))
}

/// A whole push.
pub(crate) fn push(root: &GitRoot) -> Result<String, GitRefusal> {
    let prepared = root.prepare_push(&Cancel::new())?;
    prepared
        .push(&Cancel::new())
        .map(|commit| commit.to_string())
}

pub(crate) fn rel(path: &str) -> RelPath {
    RelPath::parse(path).expect("a path")
}
