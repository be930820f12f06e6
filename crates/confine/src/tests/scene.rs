//! Folders and files of a test, and the steps that prepare them. Everything here works by ambient
//! paths, as another process on the host would.

use super::line::Step;
use crate::{Access, Root, Way};
use data_encoding::BASE64;
use std::{
    collections::BTreeMap,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{MetadataExt, PermissionsExt, symlink},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

/// A folder with a root `work` in it, and places next to it that must never be reached.
pub(super) struct Scene {
    base: tempfile::TempDir,
    mounted: Vec<PathBuf>,
}

/// What a step needs and this machine does not give.
#[derive(Debug)]
pub(super) struct Unavailable;

impl Scene {
    pub(super) fn new() -> Self {
        let base = tempfile::Builder::new()
            .prefix("confine-")
            .tempdir()
            .expect("a folder");
        for name in ["work", "ro", "out", "tmp", "home", "data", "data/sub"] {
            fs::create_dir(base.path().join(name)).expect("a folder of the scene");
        }
        Self {
            base,
            mounted: Vec::new(),
        }
    }

    pub(super) fn base(&self) -> &Path {
        self.base.path()
    }

    /// Where a path of the corpus lies.
    pub(super) fn place(&self, root: &str, path: &str) -> PathBuf {
        let base = self.base.path();
        match path.strip_prefix('@') {
            Some("parent-of-data") => base.to_owned(),
            Some(place) => match place.split_once(':') {
                Some(("sibling" | "abs", rest)) => base.join(rest),
                Some((other, _)) => panic!("unknown place {other}"),
                None => base.join(place),
            },
            None if path.is_empty() => base.join(root),
            None => base.join(root).join(path),
        }
    }

    /// A link's target: a place of the scene, or what the link says.
    fn target(&self, target: &str) -> PathBuf {
        if target.starts_with('@') {
            self.place("work", target)
        } else {
            target.into()
        }
    }

    pub(super) fn root(&self, name: &str, access: Access, way: Way) -> Root {
        Root::open_ambient_by(&self.base.path().join(name), access, way).expect("a root")
    }

    pub(super) fn prepare(&mut self, steps: &[Step]) -> Result<(), Unavailable> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    /// Does one step that happens before or during a call.
    pub(super) fn step(&mut self, step: &Step) -> Result<(), Unavailable> {
        let place = |path: &str| self.place("work", path);
        match step {
            Step::BindMount { path, source } => {
                let arguments = ["--bind".into(), place(source), place(path)];
                return self.mount(&arguments);
            }
            Step::TmpfsMount { path } => {
                let arguments = ["-t".into(), "tmpfs".into(), "tmpfs".into(), place(path)];
                return self.mount(&arguments);
            }
            Step::RootOn { fs } => {
                assert_eq!(fs, "overlay");
                return self.root_on_overlay();
            }
            Step::Device { path, major, minor } => {
                let device = rustix::fs::makedev(*major, *minor);
                let kind = rustix::fs::FileType::CharacterDevice;
                let mode = rustix::fs::Mode::from_raw_mode(0o600);
                return rustix::fs::mknodat(rustix::fs::CWD, place(path), kind, mode, device)
                    .map_err(|_| Unavailable);
            }
            other => plain_step(other, &place, &|target| self.target(target)),
        }
        Ok(())
    }

    fn mount(&mut self, arguments: &[PathBuf]) -> Result<(), Unavailable> {
        let done = Command::new("mount").args(arguments).output();
        if !done.is_ok_and(|done| done.status.success()) {
            return Err(Unavailable);
        }
        self.mounted
            .push(arguments.last().expect("a place to mount at").clone());
        Ok(())
    }

    /// Puts what lies in the root below an overlay that is mounted in its place.
    fn root_on_overlay(&mut self) -> Result<(), Unavailable> {
        let (work, lower) = (self.place("work", ""), self.place("work", "@lower"));
        fs::rename(&work, &lower).expect("moves");
        // The upper layer must not lie on an overlay itself.
        let layers = self.place("work", "@layers");
        fs::create_dir_all(&work).expect("a folder");
        fs::create_dir_all(&layers).expect("a folder");
        self.mount(&["-t".into(), "tmpfs".into(), "tmpfs".into(), layers.clone()])?;
        for name in ["upper", "scratch"] {
            fs::create_dir(layers.join(name)).expect("a folder");
        }
        let options = format!(
            "lowerdir={},upperdir={},workdir={}",
            lower.display(),
            layers.join("upper").display(),
            layers.join("scratch").display()
        );
        self.mount(&[
            "-t".into(),
            "overlay".into(),
            "overlay".into(),
            "-o".into(),
            options.into(),
            work,
        ])
    }

    /// Every file below the scene: what it is, its mode, and what it holds.
    pub(super) fn snapshot(&self) -> BTreeMap<PathBuf, String> {
        let mut files = BTreeMap::new();
        collect(self.base.path(), &mut files);
        files
    }
}

/// A step that needs no privilege.
fn plain_step(step: &Step, place: &dyn Fn(&str) -> PathBuf, target: &dyn Fn(&str) -> PathBuf) {
    match step {
        Step::Dir { path, mode } => {
            fs::create_dir_all(place(path)).expect("a folder");
            set_mode(&place(path), mode.as_deref());
        }
        Step::File { .. } => file_step(step, place),
        Step::Symlink { path, target: to } => symlink(target(to), place(path)).expect("a link"),
        Step::Hardlink { path, to } => fs::hard_link(place(to), place(path)).expect("a link"),
        Step::Fifo { path } => {
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            let kind = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, place(path), kind, mode, 0).expect("a FIFO");
        }
        Step::Socket { path } => drop(UnixListener::bind(place(path)).expect("a socket")),
        Step::Append { path, size } => {
            use std::io::Write;
            let mut file = fs::OpenOptions::new()
                .append(true)
                .open(place(path))
                .expect("opens");
            file.write_all(&vec![b'y'; *size]).expect("writes");
        }
        Step::Chmod { path, mode } => set_mode(&place(path), Some(mode)),
        Step::Replace { path, text } => {
            let fresh = place("@tmp/fresh");
            fs::write(&fresh, text).expect("writes");
            fs::rename(fresh, place(path)).expect("moves");
        }
        Step::Remove { path } => fs::remove_file(place(path)).expect("removes"),
        Step::SwapSymlink { path, target: to } => {
            fs::rename(place(path), place("@tmp/was")).expect("moves");
            symlink(target(to), place(path)).expect("a link");
        }
        Step::Rename { path, to } => fs::rename(place(path), place(to)).expect("moves"),
        Step::ReplaceRoot {} => {
            fs::rename(place(""), place("@was")).expect("moves");
            fs::create_dir(place("")).expect("a folder");
        }
        Step::RemoveRoot {} => fs::remove_dir_all(place("")).expect("removes"),
        Step::ManyFiles { dir, count, text } => {
            fs::create_dir_all(place(dir)).expect("a folder");
            for number in 0..*count {
                let text = text.as_deref().unwrap_or_default();
                fs::write(place(dir).join(format!("f{number:05}")), text).expect("writes");
            }
        }
        Step::Deep { path, depth } => {
            let path = place(path).join(vec!["d"; depth - 1].join("/"));
            // Longer than a path may be: a folder at a time, by a relative name.
            let made = Command::new("mkdir").arg("-p").arg("--").arg(path).status();
            assert!(made.expect("mkdir runs").success());
        }
        Step::FileRawName { dir, name_b64 } => {
            let name = BASE64.decode(name_b64.as_bytes()).expect("base64");
            let name = std::ffi::OsStr::from_bytes(&name);
            fs::write(place(dir).join(name), "x").expect("writes");
        }
        Step::GitInit {} => fs::create_dir(place(".git")).expect("a folder"),
        other => panic!("not a step on files: {other:?}"),
    }
}

fn file_step(step: &Step, place: &dyn Fn(&str) -> PathBuf) {
    let Step::File {
        path,
        text,
        text_parts,
        b64,
        size,
        fill,
        sparse,
        mode,
    } = step
    else {
        panic!("not a file: {step:?}");
    };
    let path = place(path);
    if sparse == &Some(true) {
        let file = fs::File::create(&path).expect("makes");
        file.set_len(size.expect("a size")).expect("a sparse file");
    } else {
        let bytes = match (text, text_parts, b64, size) {
            (Some(text), ..) => text.clone().into_bytes(),
            (_, Some(parts), ..) => parts.concat().into_bytes(),
            (_, _, Some(b64), _) => BASE64.decode(b64.as_bytes()).expect("base64"),
            (.., Some(size)) => {
                let fill = fill.as_deref().unwrap_or("a");
                fill.repeat(usize::try_from(*size).expect("fits"))
                    .into_bytes()
            }
            _ => Vec::new(),
        };
        fs::write(&path, bytes).expect("writes");
    }
    set_mode(&path, mode.as_deref());
}

fn set_mode(path: &Path, mode: Option<&str>) {
    if let Some(mode) = mode {
        let bits = u32::from_str_radix(mode, 8).expect("an octal mode");
        fs::set_permissions(path, fs::Permissions::from_mode(bits)).expect("sets the mode");
    }
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, String>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(facts) = fs::symlink_metadata(&path) else {
            continue;
        };
        let content = if facts.is_file() && facts.len() < 4_000_000 {
            format!(
                "{:?}",
                fs::read(&path)
                    .map(|bytes| crate::prepare::digest(&bytes))
                    .ok()
            )
        } else if facts.is_symlink() {
            format!("{:?}", fs::read_link(&path).ok())
        } else {
            String::new()
        };
        if facts.is_dir() && path.as_os_str().len() < 1000 {
            collect(&path, files);
        }
        files.insert(
            path,
            format!("{:o} {} {content}", facts.mode(), facts.nlink()),
        );
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        for place in self.mounted.iter().rev() {
            let _gone = Command::new("umount").arg("-l").arg(place).output();
        }
        // Deeper than the standard library's walk may hold folders open.
        let _gone = Command::new("rm")
            .arg("-rf")
            .arg("--")
            .arg(self.base.path().join("work"))
            .output();
    }
}

/// A thread that does something again and again until it is dropped.
pub(super) struct Adversary {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Adversary {
    pub(super) fn doing(mut act: impl FnMut() + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !told.load(Ordering::Relaxed) {
                act();
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }

    /// Swaps two names for ever.
    pub(super) fn exchanging(a: PathBuf, b: PathBuf) -> Self {
        let flags = rustix::fs::RenameFlags::EXCHANGE;
        Self::doing(move || {
            let here = rustix::fs::CWD;
            rustix::fs::renameat_with(here, &a, here, &b, flags).expect("swaps");
        })
    }
}

impl Drop for Adversary {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let joined = thread.join();
            assert!(
                joined.is_ok() || std::thread::panicking(),
                "the adversary failed"
            );
        }
    }
}
