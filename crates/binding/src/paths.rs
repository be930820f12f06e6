//! Paths as text: what can be refused without looking at a disk.
//!
//! In: text, the data root, the home directory. Out: a path in one spelling. Never: a path that
//! is opened, resolved or stat'ed here; `check` and `run` look at the disk.

use crate::bounds::PATH_MAX_CHARS;
use std::path::{Component, Path, PathBuf};

pub(crate) const ABSOLUTE_ALLOWED: &str =
    "an absolute path without \"//\", \".\" and \"..\" segments";
pub(crate) const CONTEXT_ALLOWED: &str =
    "a path relative to the repository, without \"..\", \".\" and empty segments";

/// An absolute path in its one spelling; a slash at the end is dropped.
pub(crate) fn absolute(text: &str) -> Option<PathBuf> {
    let rest = text.strip_prefix('/')?;
    if rest.is_empty() {
        return Some(PathBuf::from("/"));
    }
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    segments(rest).then(|| Path::new("/").join(rest))
}

/// A path below the repository.
pub(crate) fn relative(text: &str) -> Option<PathBuf> {
    segments(text).then(|| PathBuf::from(text))
}

fn segments(text: &str) -> bool {
    let plain =
        |part: &str| !matches!(part, "" | "." | "..") && !part.chars().any(char::is_control);
    text.chars().count() <= PATH_MAX_CHARS && text.split('/').all(plain)
}

/// Why no root may be at a path, in the words of a fault's "allowed"; `None` when one may.
pub(crate) fn forbidden_root(
    path: &Path,
    data_root: &Path,
    home: Option<&Path>,
) -> Option<&'static str> {
    let dotted = path
        .components()
        .any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."));
    // Kernel views of processes and devices are no directories of anybody's files.
    let kernel = ["/proc", "/sys", "/dev"]
        .iter()
        .any(|view| path.starts_with(view));
    if path == Path::new("/") {
        Some("a directory other than the whole file system")
    } else if home.is_some_and(|home| lexical(home).starts_with(path)) {
        Some("a directory other than the home directory and those above it")
    } else if dotted {
        Some("a path without a segment that begins with a dot")
    } else if kernel {
        Some("a directory outside /proc, /sys and /dev")
    } else if meets_data_root(path, data_root) {
        Some("a directory neither inside nor above the data root")
    } else {
        None
    }
}

/// Whether one lies inside the other. A data root that is not absolute meets everything: what
/// cannot be compared is refused.
fn meets_data_root(path: &Path, data_root: &Path) -> bool {
    let data_root = lexical(data_root);
    !data_root.is_absolute() || path.starts_with(&data_root) || data_root.starts_with(path)
}

/// The path without `.` and `..`, by its text alone.
fn lexical(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut so_far, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                so_far.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                so_far.push(part);
            }
        }
        so_far
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_have_one_spelling() {
        let cases = [
            ("/", Some("/")),
            ("/a/b", Some("/a/b")),
            ("/a/b/", Some("/a/b")),
            ("/a/.b", Some("/a/.b")),
            ("", None),
            ("a", None),
            ("~/a", None),
            ("//a", None),
            ("/a//b", None),
            ("/a//", None),
            ("//", None),
            ("/a/../a", None),
            ("/a/..", None),
            ("/a/./b", None),
            ("/a\0b", None),
            ("/a\nb", None),
        ];
        for (text, want) in cases {
            assert_eq!(absolute(text), want.map(PathBuf::from), "{text:?}");
        }
    }

    #[test]
    fn context_files_stay_below_the_repository() {
        let cases = [
            ("SOUL.md", true),
            ("docs/seat/rules.md", true),
            (".pi/rules.md", true),
            ("/etc/passwd", false),
            ("../x", false),
            ("a/../../x", false),
            ("a//b", false),
            ("./a", false),
            ("a/", false),
            ("", false),
        ];
        for (text, want) in cases {
            assert_eq!(relative(text).is_some(), want, "{text:?}");
        }
    }

    #[test]
    fn no_root_is_the_machine_the_home_or_the_data_root() {
        let home = Path::new("/home/someone");
        let data = Path::new("/home/someone/share/guildhall");
        let cases = [
            ("/", false),
            ("/home/someone", false),
            ("/home", false),
            ("/home/someone/share", false),
            ("/home/someone/share/guildhall", false),
            ("/home/someone/share/guildhall/discord", false),
            ("/home/someone/share/guildhall2", true),
            ("/home/someone/notes", true),
            ("/home/someone/.ssh", false),
            ("/home/someone/.cache/x", false),
            ("/home/someone2", true),
            ("/srv/notes", true),
            ("/proc", false),
            ("/proc/self/root/tmp", false),
            ("/sys", false),
            ("/dev", false),
            ("/developer", true),
        ];
        for (text, want) in cases {
            let refusal = forbidden_root(Path::new(text), data, Some(home));
            assert_eq!(refusal.is_none(), want, "{text}: {refusal:?}");
        }
    }

    #[test]
    fn the_data_root_is_compared_by_its_plain_spelling_and_a_relative_one_refuses_all() {
        let cases = [
            ("/srv/x/../data", "/srv/data/notes", false),
            ("/srv/./data", "/srv/data", false),
            ("data", "/srv/notes", false),
            ("", "/srv/notes", false),
            ("/srv/data", "/srv/notes", true),
        ];
        for (data, path, want) in cases {
            let refusal = forbidden_root(Path::new(path), Path::new(data), None);
            assert_eq!(refusal.is_none(), want, "{data} {path}");
        }
    }
}
