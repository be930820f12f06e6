//! What the work tree looks like.
//!
//! In: a root with git. Out: branch, how far it is from the server's, changed paths, hidden paths.
//! Never: a write, a look at the server, a look into another repository inside.

use crate::{
    masked::shown_name,
    refs::ObjectId,
    refusal::GitRefusal,
    root::GitRoot,
    spawn::Cancel,
    verb::{Stand, Verb},
};

/// Longest list that git gives before it is cut.
const LIST_MAX_BYTES: usize = 1024 * 1024;
/// Longest path that is shown, in characters.
const PATH_SHOWN_CHARS: usize = 1024;

/// The state of a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The branch.
    pub branch: String,
    /// Its commit; none in an empty repository.
    pub head: Option<ObjectId>,
    /// Commits that the server does not have, and commits that only the server has, by what was last
    /// heard of it; none when it was never heard of.
    pub ahead_behind: Option<(u32, u32)>,
    /// Paths that differ, in git's order.
    pub changed: Vec<ChangedPath>,
    /// Paths whose changes a flag in the index hides.
    pub hidden: Vec<String>,
    /// Whether there are more changed paths than those.
    pub is_cut: bool,
}

/// One path that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedPath {
    /// Two letters as git has them: the index against the commit, the work tree against the index;
    /// `??` for a path that git does not know.
    pub letters: [char; 2],
    /// The path, for people: what cannot be seen is a question mark.
    pub path: String,
}

impl GitRoot {
    /// The state of the root.
    ///
    /// # Errors
    /// What the repository is refused for, [`GitRefusal::GitFailed`], [`GitRefusal::TimedOut`],
    /// [`GitRefusal::Cancelled`].
    pub fn status(&self, cancel: &Cancel) -> Result<Status, GitRefusal> {
        let _turn = self.0.turn.lock();
        let verb = Verb::ground(&self.0, cancel)?;
        let stand = verb.stand()?;
        let asked = verb.git().args(STATUS).keep(LIST_MAX_BYTES);
        let ended = verb.run(&asked)?;
        if !ended.is_ok() {
            return Err(GitRefusal::GitFailed(verb.masked(&ended)));
        }
        Ok(read(
            &self.0.settings.branch,
            stand,
            &ended.out,
            ended.out_cut,
        ))
    }
}

/// The question to git; what it says does not depend on any configuration.
pub(crate) const STATUS: [&str; 7] = [
    "status",
    "--porcelain=v2",
    "--branch",
    "-z",
    "--untracked-files=all",
    "--ignore-submodules=all",
    "--no-renames",
];

fn read(branch: &str, stand: Stand, out: &[u8], out_cut: bool) -> Status {
    // A last piece without its end is no whole one.
    let whole = match out.iter().rposition(|byte| *byte == 0) {
        Some(end) => &out[..end],
        None => &[],
    };
    let text = String::from_utf8_lossy(whole);
    let mut status = Status {
        branch: branch.to_owned(),
        head: stand.head,
        ahead_behind: None,
        changed: Vec::new(),
        hidden: stand
            .view
            .hidden
            .iter()
            .map(|path| path_shown(path))
            .collect(),
        is_cut: out_cut,
    };
    for line in text.split('\0') {
        if let Some(counts) = line.strip_prefix("# branch.ab ") {
            status.ahead_behind = ahead_behind(counts);
        } else if let Some(changed) = changed(line) {
            status.changed.push(changed);
        }
    }
    status
}

fn ahead_behind(counts: &str) -> Option<(u32, u32)> {
    let (ahead, behind) = counts.split_once(' ')?;
    Some((
        ahead.strip_prefix('+')?.parse().ok()?,
        behind.strip_prefix('-')?.parse().ok()?,
    ))
}

/// Source: git-status(1), porcelain format version 2.
fn changed(line: &str) -> Option<ChangedPath> {
    let (kind, rest) = line.split_once(' ')?;
    let shown = |path: &str| shown_name(path, PATH_SHOWN_CHARS);
    match kind {
        "?" => Some(ChangedPath {
            letters: ['?', '?'],
            path: shown(rest),
        }),
        "1" => {
            let mut fields = rest.splitn(8, ' ');
            let mut letters = fields.next()?.chars();
            Some(ChangedPath {
                letters: [letters.next()?, letters.next()?],
                path: shown(fields.nth(6)?),
            })
        }
        _ => None,
    }
}

fn path_shown(path: &[u8]) -> String {
    shown_name(&String::from_utf8_lossy(path), PATH_SHOWN_CHARS)
}

#[cfg(test)]
mod tests {
    use super::{ChangedPath, ahead_behind, changed};

    #[test]
    fn lines_of_git_are_read_by_their_kind() {
        let path = |letters: [char; 2], path: &str| {
            Some(ChangedPath {
                letters,
                path: path.to_owned(),
            })
        };
        let zeros = "0000000000000000000000000000000000000000";
        let cases = [
            (
                format!("1 .M N... 100644 100644 100644 {zeros} {zeros} a b.txt"),
                path(['.', 'M'], "a b.txt"),
            ),
            (
                format!("1 A. N... 000000 100644 100644 {zeros} {zeros} ü"),
                path(['A', '.'], "ü"),
            ),
            (
                "? new\u{1b}[31m\nfile".to_owned(),
                path(['?', '?'], "new?[31m?file"),
            ),
            ("# branch.oid x".to_owned(), None),
            ("! ignored".to_owned(), None),
            ("1 .M".to_owned(), None),
            (String::new(), None),
        ];
        for (line, want) in cases {
            assert_eq!(changed(&line), want, "{line}");
        }
        assert_eq!(ahead_behind("+2 -13"), Some((2, 13)));
        assert_eq!(ahead_behind("+x -1"), None);
    }
}
