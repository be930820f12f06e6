//! Git verbs on one root: status, commit, pull, push, and the vault's locks and ids.
//!
//! In: a root of the policy, a message and paths from a call, who asked. Out: a commit, a branch at
//! the server, words of git that are bounded and masked, or one of the fixed refusals.
//! Never: a program that the repository names (hook, filter, driver, helper, monitor), a credential for
//! another address than the bound one, a force, a merge, somebody's staged work, a shell. It knows no
//! permit: whoever calls [`PreparedCommit::commit`], [`PreparedPush::push`], [`GitRoot::pull`] or
//! [`GitRoot::reserve_id`] has one.
//!
//! The repository's configuration is read by nobody who acts. Each verb makes a git directory of its
//! own, outside every root, with our configuration, the bound branch, a copy of the index and no hook;
//! git works on the root's files and objects through it. What a verb changes is then published by one
//! compare-and-set of the branch and one replacement of the index. On top of it, a configuration with a
//! key that is not known to be harmless is refused with the key's name.
//!
//! | what | where |
//! | --- | --- |
//! | what the policy says | [`GitSettings`], [`GitRoot::open`] |
//! | the verbs | [`GitRoot::status`], [`GitRoot::prepare_commit`], [`GitRoot::prepare_push`], [`GitRoot::pull`] |
//! | the vault | [`GitRoot::lock`], [`GitRoot::unlock`], [`GitRoot::reserve_id`] |
//! | why something was not done | [`GitRefusal`] |
//! | the answer to git's question | [`answer`] |
//!
//! Everything is blocking and belongs on a thread for such work; a [`Cancel`] ends it from another one.

mod bound; // the address that the credential is for
mod commit; // prepared whole, then made
mod credential; // the answer to git's question
mod descriptors; // what a child must not have
mod environment; // the whole environment of a child
mod folder; // its folders, by descriptors
mod index; // what its index shows
mod keys; // which keys its configuration may have
mod layout; // what the repository's git directory looks like
mod lock; // its index's lock
mod masked; // what a program said, as it may be shown
mod objects; // new objects on their way into it
mod private; // the git directory that acts
mod programs; // which programs are run
mod pull; // fast-forward alone
mod push; // to the bound server
mod refs; // its head and branches
mod refusal; // start here: every way in which nothing happens
mod remote; // the address
mod root; // what the policy says, held
mod spawn; // the one place where a program is started
mod status; // what the work tree looks like
mod vault; // locks, checks and ids by the vault's tools
mod verb; // the ground of every verb
mod words; // what people say that goes into a commit

pub use commit::{
    CommitDone, CommitFile, CommitRequest, CommitSummary, PATHS_MAX_COUNT, PreparedCommit,
};
pub use credential::{HelperRefusal, TOKEN_MAX_BYTES, answer};
pub use environment::{CREDENTIAL_COMMAND, REMOTE_VARIABLE, TOKEN_FILE_VARIABLE, USER_VARIABLE};
pub use masked::{Masked, SHOWN_MAX_BYTES};
pub use programs::{OLDEST_GIT, Programs};
pub use pull::PullDone;
pub use push::{PreparedPush, PushSummary, Pushed};
pub use refs::ObjectId;
pub use refusal::{
    Feature, GitRefusal, GitVersion, KeyClass, KeyName, MessageFault, Operation, RemoteFault,
};
pub use remote::RemoteUrl;
pub use root::{GitRoot, GitSettings, Protocol, Trial};
pub use spawn::{CHILD_MAX, Cancel, Spawned, Spy};
pub use status::{ChangedPath, Status};
pub use vault::{LOCK_TTL_SECONDS, PREFIXES, TITLE_MAX_CHARS};
pub use words::{MESSAGE_MAX_CHARS, REQUESTER_MAX_CHARS, Requester};
