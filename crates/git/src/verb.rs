//! The ground of every verb: the repository as it is now, looked at before git runs in it.
//!
//! In: a root with git. Out: everything that a verb works with, or why it may not.
//! Never: a look that is older than the verb.

use std::path::PathBuf;

use crate::{
    environment::{self, Credential, Environment},
    folder::Folder,
    index::{INDEX_MAX_BYTES, IndexContent, IndexView, view},
    keys::{self, RepositoryKeys},
    layout::GitFolder,
    masked::Masked,
    private::{Fill, Private},
    refs::{self, ObjectId},
    refusal::{Feature, GitRefusal, RemoteFault},
    remote::RemoteUrl,
    root::Held,
    spawn::{CHILD_MAX, Cancel, Ended, Run, run},
};

use guildhall_confine::Refusal;

/// Longest configuration that is read.
const CONFIG_MAX_BYTES: usize = 1024 * 1024;
/// Longest output that is taken apart.
pub(crate) const PARSED_MAX_BYTES: usize = 8 * 1024 * 1024;

/// What every verb begins with.
pub(crate) struct Verb<'a> {
    pub(crate) held: &'a Held,
    pub(crate) cancel: &'a Cancel,
    pub(crate) git: GitFolder,
    pub(crate) private: Private,
    pub(crate) keys: RepositoryKeys,
    pub(crate) root: Folder,
}

/// What a verb on the branch works with.
pub(crate) struct Stand {
    /// The commit of the branch; none in an empty repository.
    pub(crate) head: Option<ObjectId>,
    /// What the server's branch was when it was last heard of.
    pub(crate) upstream: Option<ObjectId>,
    pub(crate) view: IndexView,
}

impl<'a> Verb<'a> {
    /// The repository itself: its owner, its layout, its configuration.
    pub(crate) fn ground(held: &'a Held, cancel: &'a Cancel) -> Result<Self, GitRefusal> {
        let root = open_root(held)?;
        let git = GitFolder::open(&root)?;
        let config = git.folder.read("config", CONFIG_MAX_BYTES)?;
        let config = config.ok_or(GitRefusal::Layout(Feature::Incomplete))?;
        let private = Private::make(&held.settings.state)?;
        let list = list_keys(held, &private, config, cancel)?;
        let keys = keys::read(&list, &held.settings.branch, held.trial.keys)?;
        git.refuse_features()?;
        Ok(Self {
            held,
            cancel,
            git,
            private,
            keys,
            root,
        })
    }

    /// The branch and the index: no operation half done, the head on the branch, nothing in conflict.
    pub(crate) fn stand(&self) -> Result<Stand, GitRefusal> {
        let git = &self.git.folder;
        let branch = &self.held.settings.branch;
        self.git.refuse_unfinished()?;
        refs::refuse_head(git, branch)?;
        self.refuse_submodules()?;
        let format = self.keys.format;
        let read = |name: &str| match refs::read(git, name)? {
            Some(id) if !format.fits(&id) => Err(GitRefusal::Layout(Feature::Format)),
            found => Ok(found),
        };
        let head = read(&format!("refs/heads/{branch}"))?;
        let upstream = read(&format!("refs/remotes/origin/{branch}"))?;
        let index = git.read("index", INDEX_MAX_BYTES)?;
        let view = match &index {
            Some(bytes) => view(bytes, format)?,
            None => IndexView::default(),
        };
        if view.has_conflict {
            return Err(GitRefusal::Conflicted);
        }
        let excludes = self.git.excludes()?;
        self.private.fill(&Fill {
            branch,
            keys: &self.keys,
            head: head.as_ref(),
            upstream: upstream.as_ref(),
            index: index.as_deref(),
            excludes: excludes.as_deref(),
            objects: &self.objects(),
            ca_file: self.held.trial.ca_file.as_deref(),
        })?;
        Ok(Stand {
            head,
            upstream,
            view,
        })
    }

    /// What the index says now.
    pub(crate) fn index_now(&self) -> Result<IndexContent, GitRefusal> {
        let index = self.git.folder.read("index", INDEX_MAX_BYTES)?;
        let view = index.map(|bytes| view(&bytes, self.keys.format));
        view.map_or_else(|| Ok(IndexContent::default()), |view| Ok(view?.content))
    }

    /// The repository's own store of objects.
    pub(crate) fn objects(&self) -> PathBuf {
        self.held.settings.path.join(".git/objects")
    }

    /// The bound address, if the repository still has it.
    pub(crate) fn remote(&self) -> Result<&'a RemoteUrl, GitRefusal> {
        let bound = self.held.bind(self)?;
        match &self.keys.origin {
            Ok(origin) if origin == bound => Ok(bound),
            Ok(_) => Err(GitRefusal::Remote(RemoteFault::NotTheBound)),
            Err(fault) => Err(GitRefusal::Remote(*fault)),
        }
    }

    /// A git that writes into the repository's store.
    pub(crate) fn git(&self) -> Run {
        self.git_with(environment::of_git(
            &self.private,
            &self.held.settings.path,
            &self.objects(),
            &self.private.index(),
        ))
    }

    /// A git that writes into a store of our own and reads the repository's.
    pub(crate) fn git_apart(&self) -> Run {
        self.git_with(environment::of_git(
            &self.private,
            &self.held.settings.path,
            &self.private.objects(),
            &self.private.index(),
        ))
    }

    /// A git that finds no attributes: neither in the root's files nor in an index.
    pub(crate) fn git_unattributed(&self) -> Run {
        let empty = self.private.home();
        let mut run = self.git_with(environment::of_git(
            &self.private,
            &empty,
            &self.private.objects(),
            &self.private.git().join("no-index"),
        ));
        run.folder = empty;
        run
    }

    /// Lets the copy of the index learn which files are as it says: entries that somebody touched, or
    /// that were made without a file, would pass for changed.
    pub(crate) fn refresh(&self) -> Result<(), GitRefusal> {
        // Its exit tells that some are not, which is no failure.
        let refresh = ["update-index", "-q", "--refresh"];
        self.run(&self.git_apart().args(refresh)).map(drop)
    }

    /// A git that talks to the bound server.
    pub(crate) fn git_online(&self, remote: &RemoteUrl) -> Run {
        let mut run = self.git();
        run.env
            .extend(environment::of_credential(&self.credential(remote)));
        run
    }

    pub(crate) fn credential<'b>(&'b self, remote: &'b RemoteUrl) -> Credential<'b> {
        let settings = &self.held.settings;
        Credential {
            program: &settings.credential_program,
            token_file: &settings.token_file,
            remote,
            user: &settings.identity,
        }
    }

    fn git_with(&self, env: Environment) -> Run {
        let settings = &self.held.settings;
        Run {
            program: settings.programs.git.clone(),
            args: vec!["--no-pager".into(), "--literal-pathspecs".into()],
            env,
            folder: settings.path.clone(),
            input: Vec::new(),
            keep: PARSED_MAX_BYTES,
            deadline: CHILD_MAX,
        }
    }

    /// Runs a child, however it ends.
    pub(crate) fn run(&self, child: &Run) -> Result<Ended, GitRefusal> {
        same_root(self.held, &self.root)?;
        run(child, self.cancel, self.held.spy())
    }

    /// Runs a child that has to end well and to say all it says.
    pub(crate) fn done(&self, child: &Run) -> Result<Vec<u8>, GitRefusal> {
        let ended = self.run(child)?;
        if !ended.is_ok() {
            return Err(GitRefusal::GitFailed(self.masked(&ended)));
        }
        if ended.out_cut {
            return Err(GitRefusal::OutputTooLong);
        }
        Ok(ended.out)
    }

    /// One line that a child says: the name of an object.
    pub(crate) fn object(&self, child: &Run) -> Result<ObjectId, GitRefusal> {
        let said = self.done(child)?;
        let said = String::from_utf8_lossy(&said);
        let id = ObjectId::parse(said.trim_end());
        id.ok_or_else(|| GitRefusal::GitFailed(Masked::default()))
    }

    /// A child's words as they may be shown: its errors first.
    pub(crate) fn masked(&self, ended: &Ended) -> Masked {
        let said = [&ended.err[..], b"\n", &ended.out[..]].concat();
        Masked::of(&said, &self.held.places())
    }

    /// `.gitmodules` names paths: none of them has a character that two readers read differently.
    fn refuse_submodules(&self) -> Result<(), GitRefusal> {
        let read = self.root.read(".gitmodules", CONFIG_MAX_BYTES);
        let Some(bytes) = read.map_err(|_| GitRefusal::Submodules)? else {
            return Ok(());
        };
        let text = String::from_utf8(bytes).map_err(|_| GitRefusal::Submodules)?;
        let text = text.replace("\r\n", "\n");
        let bad = |c: char| c == '\\' || (c.is_control() && c != '\n' && c != '\t');
        if text.chars().any(bad) {
            return Err(GitRefusal::Submodules);
        }
        Ok(())
    }
}

/// The configuration as git itself reads it, from bytes that we read; nothing is included.
fn list_keys(
    held: &Held,
    private: &Private,
    config: Vec<u8>,
    cancel: &Cancel,
) -> Result<Vec<u8>, GitRefusal> {
    if config.is_empty() {
        return Ok(Vec::new());
    }
    let mut env = environment::of_any(private);
    env.push(("GIT_DIR".into(), private.git().into()));
    let reader = Run {
        program: held.settings.programs.git.clone(),
        args: Vec::new(),
        env,
        folder: private.home(),
        input: config,
        keep: 2 * CONFIG_MAX_BYTES,
        deadline: CHILD_MAX,
    };
    let reader = reader.args(["config", "--file", "-", "--no-includes", "--list", "-z"]);
    let ended = run(&reader, cancel, held.spy())?;
    if !ended.is_ok() || ended.out_cut {
        return Err(GitRefusal::GitFailed(Masked::of(
            &ended.err,
            &held.places(),
        )));
    }
    Ok(ended.out)
}

/// The folder of the root, which is the one that the file tools hold.
fn open_root(held: &Held) -> Result<Folder, GitRefusal> {
    held.settings
        .root
        .refuse_replaced()
        .map_err(GitRefusal::Root)?;
    let root = Folder::open_ambient(&held.settings.path).map_err(GitRefusal::of_errno)?;
    same_root(held, &root)?;
    Ok(root)
}

fn same_root(held: &Held, root: &Folder) -> Result<(), GitRefusal> {
    let replaced = GitRefusal::Root(Refusal::RootReplaced);
    held.settings
        .root
        .refuse_replaced()
        .map_err(|_| replaced.clone())?;
    let facts = root.facts().map_err(GitRefusal::of_errno)?;
    let identity = held.settings.root.identity();
    if (facts.st_dev, facts.st_ino) == (identity.device, identity.inode) {
        Ok(())
    } else {
        Err(replaced)
    }
}
