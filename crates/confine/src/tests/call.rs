//! One line of the corpus: the call that it is about, and what is judged of it.

use super::{
    crash,
    line::{At, Expect, Line, RootArgs, Step, Tool},
    scene::{Adversary, Scene},
};
use crate::{
    Access, FileLimit, Pattern, Prepared, Query, Refusal, RelPath, Root, SearchBounds, Way,
    credential_in,
    moment::{self, Moment},
};
use data_encoding::BASE64;
use rustix::io::Errno;
use std::{
    cell::RefCell,
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    rc::Rc,
    sync::atomic::AtomicBool,
};

const LIMIT: FileLimit = FileLimit::bytes(262_144);
const LIST_MAX: usize = 200;

/// What a call answered, in the forms that lines speak of.
#[derive(Debug, Default)]
pub(super) struct Answer {
    shown: String,
    hits: Vec<String>,
    entries: Vec<String>,
    skipped: BTreeMap<&'static str, usize>,
}

/// Steps that happen during the call.
pub(super) fn is_staged(step: &Step) -> bool {
    matches!(
        step,
        Step::During { .. }
            | Step::RaceExchange { .. }
            | Step::WatchTempHardlink { .. }
            | Step::Fault { .. }
            | Step::Crash { .. }
    )
}

/// One call of a line.
pub(super) struct Call<'l> {
    line: &'l Line,
    scene: Rc<RefCell<Scene>>,
    root: Option<Root>,
    way: Way,
    shorter: usize,
    /// The files as they were when the last step had been done.
    before: Rc<RefCell<BTreeMap<PathBuf, String>>>,
}

impl<'l> Call<'l> {
    pub(super) fn new(line: &'l Line, scene: Scene, way: Way, shorter: usize) -> Self {
        let name = line.args.root.as_deref();
        let access = if name == Some("ro") {
            Access::Read
        } else {
            Access::Write
        };
        let root = name.map(|name| scene.root(name, access, way));
        let before = Rc::new(RefCell::new(BTreeMap::new()));
        Self {
            line,
            scene: Rc::new(RefCell::new(scene)),
            root,
            way,
            shorter,
            before,
        }
    }

    /// Does the steps that come once the root is open.
    pub(super) fn prepare(&self, steps: &[Step]) {
        self.scene.borrow_mut().prepare(steps).expect("plain steps");
    }

    fn writes(&self) -> bool {
        matches!(
            self.line.tool,
            Tool::WriteFile | Tool::CreateFile | Tool::EditFile
        )
    }

    fn root(&self) -> &Root {
        self.root.as_ref().expect("the line names a root")
    }

    fn note_files(&self) {
        if self.writes() {
            *self.before.borrow_mut() = self.scene.borrow().snapshot();
        }
    }

    fn staged(&self) -> Option<&'l Step> {
        self.line.setup.iter().find(|step| is_staged(step))
    }

    pub(super) fn run(&self) -> Result<Answer, Refusal> {
        self.note_files();
        let place = |path: &str| self.scene.borrow().place("work", path);
        match self.staged() {
            Some(Step::RaceExchange { a, b }) => {
                let _adversary = Adversary::exchanging(place(a), place(b));
                let runs = self.line.runs.expect("a number of runs") / self.shorter;
                self.run_many(runs)
            }
            Some(Step::WatchTempHardlink { dir }) => {
                let _adversary = link_temporaries(place(dir), place("@tmp/stolen"));
                self.once()
            }
            Some(Step::Fault { call, errno }) => {
                assert_eq!((call.as_str(), errno.as_str()), ("rename", "ENOSPC"));
                moment::during(fail_renames, || self.once())
            }
            Some(Step::Crash { at }) => {
                assert_eq!(at, "after_rename_before_dirsync");
                let work = place("");
                crash::write_in_a_child(
                    &work,
                    self.line.args.path(),
                    &self.line.args.text(),
                    "Published",
                );
                let swept = self.root().sweep(i64::MAX, crate::WalkBounds::default());
                swept.map(|_| Answer::default())
            }
            Some(Step::During {
                at: at @ (At::AfterStat | At::BeforePublish),
                step,
            }) => {
                let wanted = if *at == At::AfterStat {
                    Moment::Looked
                } else {
                    Moment::LastCheck
                };
                let (scene, before) = (Rc::clone(&self.scene), Rc::clone(&self.before));
                let (step, mut left) = (step.clone(), 1);
                let act = move |moment| {
                    if moment == wanted && left > 0 {
                        left -= 1;
                        scene.borrow_mut().step(&step).expect("a plain step");
                        *before.borrow_mut() = scene.borrow().snapshot();
                    }
                    Ok(())
                };
                moment::during(act, || self.once())
            }
            _ => self.once(),
        }
    }

    /// A race is many calls. Each may be refused or answered; what none may do is judged at the end.
    fn run_many(&self, runs: usize) -> Result<Answer, Refusal> {
        let mut answered = Answer::default();
        for _ in 0..runs {
            if let Ok(answer) = self.once() {
                answered.shown = answer.shown;
                let secret = self.line.expect_never.as_deref().unwrap_or("OUTSIDE");
                assert!(!answered.shown.contains(secret), "{} escaped", self.line.id);
            }
        }
        Ok(answered)
    }

    /// The path of the call, as the tool gets it.
    fn path(&self) -> Result<RelPath, Refusal> {
        let path = self.line.args.path();
        let absolute = path
            .starts_with("@abs:")
            .then(|| self.scene.borrow().place("", path));
        let absolute = absolute.map(|path| path.to_string_lossy().into_owned());
        RelPath::parse(absolute.as_deref().unwrap_or(path))
    }

    fn once(&self) -> Result<Answer, Refusal> {
        let args = &self.line.args;
        match self.line.tool {
            Tool::ReadFile => {
                let text = self.root().read_text(&self.path()?, LIMIT)?;
                Ok(Answer {
                    shown: text.into_string(),
                    ..Answer::default()
                })
            }
            Tool::ListDir => {
                let listing = self.root().list(&self.path()?, LIST_MAX)?;
                let entries: Vec<String> =
                    listing.entries.iter().map(ToString::to_string).collect();
                Ok(Answer {
                    shown: entries.join("\n"),
                    entries,
                    ..Answer::default()
                })
            }
            Tool::Search => self.search(),
            Tool::WriteFile => {
                let path = self.path()?;
                self.write(|root| root.prepare_write(&path, &args.text(), LIMIT))
            }
            Tool::CreateFile => {
                let path = self.path()?;
                self.write(|root| root.prepare_create(&path, &args.text(), LIMIT))
            }
            Tool::EditFile => {
                let path = self.path()?;
                let old = args.old.as_deref().expect("a text to replace");
                self.write(|root| root.prepare_edit(&path, old, &args.new_text(), LIMIT))
            }
            Tool::GitCommit => {
                if let Some(family) = credential_in(args.message().as_bytes()) {
                    return Err(Refusal::SecretShape(family));
                }
                let looks = args
                    .paths
                    .iter()
                    .map(|path| self.root().refuse_unusual(&RelPath::parse(path)?));
                looks
                    .collect::<Result<(), Refusal>>()
                    .map(|()| Answer::default())
            }
            Tool::BindRoot => self.bind(),
        }
    }

    fn search(&self) -> Result<Answer, Refusal> {
        let (text, path) = (self.line.args.query(), self.path()?);
        let query = Query {
            pattern: Pattern::Regex(&text),
            glob: None,
            path: &path,
        };
        let never = AtomicBool::new(false);
        let found = self
            .root()
            .search(&query, &SearchBounds::default(), &never)?;
        let hits: Vec<String> = found
            .hits
            .iter()
            .map(|hit| format!("{}:{}", hit.path, hit.line))
            .collect();
        let texts: Vec<&str> = found.hits.iter().map(|hit| hit.text.as_str()).collect();
        let shown = [texts.join("\n"), hits.join("\n"), found.withheld.join("\n")].join("\n");
        let skipped = BTreeMap::from([("hard-link", found.skipped.hard_links)]);
        Ok(Answer {
            shown,
            hits,
            skipped,
            ..Answer::default()
        })
    }

    fn write(
        &self,
        prepare: impl Fn(&Root) -> Result<Prepared, Refusal>,
    ) -> Result<Answer, Refusal> {
        let prepared = prepare(self.root())?;
        let mut reloaded = None;
        if let Some(Step::During {
            at: At::AfterPrepare,
            step,
        }) = self.staged()
        {
            if let Step::ConfigReload { change } = step.as_ref() {
                assert_eq!(change, "root write=false");
                reloaded = Some(self.scene.borrow().root("work", Access::Read, self.way));
            } else {
                self.scene.borrow_mut().step(step).expect("a plain step");
            }
            self.note_files();
        }
        let published = reloaded.as_ref().unwrap_or(self.root()).publish(prepared)?;
        Ok(Answer {
            shown: format!("{published:?}"),
            ..Answer::default()
        })
    }

    fn bind(&self) -> Result<Answer, Refusal> {
        let scene = self.scene.borrow();
        let open = |path: &str, write: bool| {
            let place = if path.starts_with('@') {
                scene.place("", path)
            } else {
                path.into()
            };
            let access = if write { Access::Write } else { Access::Read };
            let root = Root::open_ambient_by(&place, access, self.way)?;
            root.refuse_home(&scene.place("", "@home"))?;
            root.refuse_data_root(&scene.place("", "@data"))?;
            Ok(root)
        };
        let args = &self.line.args;
        if args.roots.is_empty() {
            open(args.path(), args.write == Some(true))?;
        }
        let opened = args
            .roots
            .iter()
            .map(|root: &RootArgs| open(&root.path, root.write));
        let opened = opened.collect::<Result<Vec<Root>, Refusal>>()?;
        if let [one, other] = opened.as_slice() {
            one.refuse_overlap(other)?;
        }
        Ok(Answer::default())
    }

    pub(super) fn judge(&self, outcome: &Result<Answer, Refusal>) -> Result<(), String> {
        let line = self.line;
        let code = outcome
            .as_ref()
            .map_or_else(|refusal| refusal.code(), |_| "ok");
        let wanted = line.expect == Expect::Allow && code == "ok"
            || code == line.reason
            || line.reason_any.iter().any(|reason| reason == code)
            || line.expect_any.contains(&format!("refuse:{code}"));
        if !wanted {
            return Err(format!("{code}, not {}", line.reason));
        }
        let answer = outcome.as_ref().ok();
        let shown = match outcome {
            Ok(answer) => answer.shown.clone(),
            Err(refusal) => refusal.to_string(),
        };
        let host = self.scene.borrow().base().to_string_lossy().into_owned();
        for never in [
            host.as_str(),
            "OUTSIDE",
            line.expect_never.as_deref().unwrap_or("OUTSIDE"),
        ] {
            if shown.contains(never) {
                return Err(format!("shows {never}"));
            }
        }
        if let Some(answer) = answer {
            self.judge_answer(answer)?;
        }
        self.judge_files(outcome.is_err())
    }

    fn judge_answer(&self, answer: &Answer) -> Result<(), String> {
        let line = self.line;
        let same = |name: &str, want: &Option<Vec<String>>, is: &Vec<String>| match want {
            Some(want) if want != is => Err(format!("{name} {is:?}")),
            _ => Ok(()),
        };
        same("hits", &line.expect_hits, &answer.hits)?;
        same("entries", &line.expect_entries, &answer.entries)?;
        if line
            .expect_max_entries
            .is_some_and(|max| answer.entries.len() > max)
        {
            return Err(format!("{} entries", answer.entries.len()));
        }
        for (name, count) in &line.expect_skipped {
            if answer.skipped.get(name.as_str()) != Some(count) {
                return Err(format!("skipped {:?}", answer.skipped));
            }
        }
        Ok(())
    }

    fn judge_files(&self, refused: bool) -> Result<(), String> {
        let (line, scene) = (self.line, self.scene.borrow());
        let place = |path: &String| scene.place("work", path);
        let (before, after) = (self.before.borrow(), scene.snapshot());
        for (path, bytes) in &line.expect_after {
            let want = BASE64.decode(bytes.as_bytes()).expect("base64");
            if fs::read(place(path)).ok() != Some(want) {
                return Err(format!("{path} holds other bytes"));
            }
        }
        for (path, mode) in &line.expect_mode {
            let want = u32::from_str_radix(&mode[..4], 8).expect("an octal mode");
            let want = if mode.contains("umask") {
                want & !umask()
            } else {
                want
            };
            let is = fs::metadata(place(path))
                .expect("it is there")
                .permissions()
                .mode()
                & 0o7777;
            if is != want {
                return Err(format!("{path} has mode {is:o}"));
            }
        }
        if let Some(path) = line
            .expect_absent
            .iter()
            .find(|path| place(path).symlink_metadata().is_ok())
        {
            return Err(format!("{path} is there"));
        }
        let changed = |path: &&String| before.get(&place(path)) != after.get(&place(path));
        if let Some(path) = line.expect_unchanged.iter().find(changed) {
            return Err(format!("{path} changed"));
        }
        let temporary = |path: &&PathBuf| path.to_string_lossy().contains(".guildhall-");
        if (self.writes() || line.expect_no_temp)
            && let Some(path) = after.keys().find(temporary)
        {
            return Err(format!("{} is left", path.display()));
        }
        // A refusal changes nothing at all, wherever it is.
        if refused && self.writes() && !line.race && *before != after {
            return Err("something changed".to_owned());
        }
        Ok(())
    }
}

/// Every call that gives a file its name fails.
fn fail_renames(moment: Moment) -> Result<(), Errno> {
    match moment {
        Moment::PublishNew | Moment::PublishByLink | Moment::Exchange | Moment::Rename => {
            Err(Errno::NOSPC)
        }
        Moment::Opened
        | Moment::Looked
        | Moment::Staged
        | Moment::LastCheck
        | Moment::Published => Ok(()),
    }
}

/// Gives every temporary file that shows up a second name.
fn link_temporaries(folder: PathBuf, stolen: PathBuf) -> Adversary {
    let mut number = 0;
    Adversary::doing(move || {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry
                .file_name()
                .to_string_lossy()
                .starts_with(".guildhall-")
            {
                number += 1;
                let _missed = fs::hard_link(entry.path(), format!("{}{number}", stolen.display()));
            }
        }
    })
}

/// The process's umask, without changing it.
fn umask() -> u32 {
    let status = fs::read_to_string(Path::new("/proc/self/status")).expect("proc is there");
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    u32::from_str_radix(line.expect("Linux 4.7").trim(), 8).expect("an octal mask")
}
