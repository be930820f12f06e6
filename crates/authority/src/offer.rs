//! Which tools a turn is told of: the one place that decides it.
//!
//! In: a turn's scope. Out: names of tools. Never: a tool that the binding does not enable, a tool
//! for a turn whose origin has none.

use crate::scope::{Origin, TurnScope};
use guildhall_binding::{Platform, Policy, RootWrite, Tools};
use std::fmt;

macro_rules! tools {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $wire:literal, $set:ident;)*) => {
        /// A tool of the product.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ToolName { $($(#[$doc])* $name,)* }

        impl ToolName {
            /// Every tool, in the order that engines are told of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The name in records, on cards and towards models.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The name towards an engine that has tools of its own by the plain names.
            #[must_use]
            pub const fn wire(self) -> &'static str {
                match self { $(Self::$name => $wire,)* }
            }

            /// The set it is switched with.
            #[must_use]
            pub const fn toolset(self) -> Toolset {
                match self { $(Self::$name => Toolset::$set,)* }
            }

            /// The tool of a name, plain or as on the wire.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|tool| tool.as_str() == text || tool.wire() == text)
            }
        }
    };
}

tools! {
    /// What lies in a folder of a root.
    ListDir = "list_dir", "list_dir", Files;
    /// The text of a file of a root.
    ReadFile = "read_file", "read_file", Files;
    /// What files of a root hold.
    Search = "search", "search", Files;
    /// Makes or replaces a file of a root.
    WriteFile = "write_file", "write_file", Files;
    /// Replaces one string in a file of a root.
    EditFile = "edit_file", "edit_file", Files;
    /// What lies in a folder of the workspace.
    List = "list", "workspace_list", Workspace;
    /// The text of a file of the workspace.
    Read = "read", "workspace_read", Workspace;
    /// Makes a file in the workspace.
    Create = "create", "workspace_create", Workspace;
    /// Replaces one string in a file of the workspace.
    Edit = "edit", "workspace_edit", Workspace;
    /// Reads a web page.
    WebFetch = "web_fetch", "web_fetch", Web;
    /// Searches the web.
    WebSearch = "web_search", "web_search", Web;
    /// How a work tree stands.
    GitStatus = "git_status", "git_status", Git;
    /// Commits named files and pushes.
    GitCommit = "git_commit", "git_commit", Git;
    /// Takes what the remote has, fast-forward only.
    GitPull = "git_pull", "git_pull", Git;
    /// Pushes the bound branch.
    GitPush = "git_push", "git_push", Git;
    /// Reserves an id in a vault.
    ReserveId = "reserve_id", "reserve_id", Git;
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Tools that are switched together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Toolset {
    /// Files of roots.
    Files,
    /// Files of the workspace.
    Workspace,
    /// Web pages.
    Web,
    /// Git.
    Git,
}

impl Toolset {
    /// The name in `platformToolsets`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Workspace => "workspace",
            Self::Web => "web",
            Self::Git => "git",
        }
    }
}

/// The tools of a turn, in [`ToolName::ALL`]'s order; empty without `tools`.
#[must_use]
pub fn offered(scope: &TurnScope) -> Vec<ToolName> {
    offered_to(scope.policy(), scope.origin())
}

/// The tools that turns of an origin get.
#[must_use]
pub fn offered_to(policy: &Policy, origin: Origin) -> Vec<ToolName> {
    let Some(tools) = &policy.tools else {
        return Vec::new();
    };
    let all = ToolName::ALL.iter().copied();
    all.filter(|tool| is_switched_on(policy, origin, tool.toolset()))
        .filter(|tool| has_what_it_needs(tools, *tool))
        .collect()
}

fn is_switched_on(policy: &Policy, origin: Origin, set: Toolset) -> bool {
    let platform = match origin {
        Origin::User => Platform::Discord,
        // Peers write the text of a plugin's notes, so that both are read narrowly.
        Origin::Plugin | Origin::Peer => Platform::Cotal,
        Origin::Schedule => Platform::Schedule,
    };
    match policy.platform_toolsets.get(&platform) {
        Some(sets) => sets.contains(set.as_str()),
        None => platform == Platform::Discord,
    }
}

fn has_what_it_needs(tools: &Tools, tool: ToolName) -> bool {
    let roots = &tools.roots;
    let any = |write: RootWrite| roots.iter().any(|root| root.write == write);
    match tool {
        ToolName::ListDir | ToolName::ReadFile | ToolName::Search => !roots.is_empty(),
        ToolName::WriteFile | ToolName::EditFile => any(RootWrite::Yes),
        ToolName::List | ToolName::Read | ToolName::Create | ToolName::Edit => any(RootWrite::Ask),
        ToolName::WebFetch => tools.web.is_some(),
        ToolName::WebSearch => tools.web.as_ref().is_some_and(|web| web.searxng.is_some()),
        ToolName::GitStatus | ToolName::GitCommit | ToolName::GitPull | ToolName::GitPush => {
            roots.iter().any(|root| root.git.is_some())
        }
        ToolName::ReserveId => roots
            .iter()
            .filter_map(|root| root.git.as_ref())
            .any(|git| git.protocol.is_some()),
    }
}
