//! Random operations over a tiny alphabet, ours and those of another process, against a model.
//!
//! Few names and few texts, so that operations meet each other: the same file written twice, a
//! folder where a link was, a second name for a file that is edited.

use crate::ground::{Ground, WAYS};
use guildhall_confine::{FileLimit, Refusal, RelPath, Root};
use proptest::prelude::*;
use std::{collections::BTreeMap, fs, os::unix::fs::symlink};

const LIMIT: FileLimit = FileLimit::bytes(5);
const PATHS: [&str; 7] = ["a", "b", "d", "d/a", "d/b", "d/d", "d/d/a"];
const TEXTS: [&str; 6] = ["", "x", "xx", "xy", "yxy", "xyxyxy"];

#[derive(Clone, Debug)]
enum Op {
    // Another process.
    Folder(&'static str),
    Put(&'static str, &'static str),
    Link(&'static str),
    SecondName(&'static str, &'static str),
    Remove(&'static str),
    // Ours.
    Read(&'static str),
    List(&'static str),
    Write(&'static str, &'static str),
    Create(&'static str, &'static str),
    Edit(&'static str, &'static str, &'static str),
}

fn op() -> impl Strategy<Value = Op> {
    let path = || prop::sample::select(&PATHS[..]);
    let text = || prop::sample::select(&TEXTS[..]);
    prop_oneof![
        2 => path().prop_map(Op::Folder),
        2 => (path(), text()).prop_map(|(path, text)| Op::Put(path, text)),
        1 => path().prop_map(Op::Link),
        1 => (path(), path()).prop_map(|(from, to)| Op::SecondName(from, to)),
        1 => path().prop_map(Op::Remove),
        2 => path().prop_map(Op::Read),
        1 => path().prop_map(Op::List),
        3 => (path(), text()).prop_map(|(path, text)| Op::Write(path, text)),
        2 => (path(), text()).prop_map(|(path, text)| Op::Create(path, text)),
        4 => (path(), text(), text()).prop_map(|(path, old, new)| Op::Edit(path, old, new)),
    ]
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Folder,
    Link,
    /// Which of the model's files.
    File(usize),
}

/// What a plan should have made of an empty root.
#[derive(Default)]
struct Model {
    nodes: BTreeMap<&'static str, Node>,
    files: Vec<String>,
}

type Code = &'static str;

impl Model {
    /// Whether the folders above a path are there, or the code of what is in their place.
    fn parent(&self, path: &str, missing: Code) -> Result<(), Code> {
        for (at, _) in path.match_indices('/') {
            match self.nodes.get(&path[..at]) {
                Some(Node::Folder) => {}
                Some(Node::Link) => return Err("symlink"),
                Some(Node::File(_)) => return Err("not-directory"),
                None => return Err(missing),
            }
        }
        Ok(())
    }

    /// The text at a path whose folders are there; `None` where nothing is.
    fn file(&self, path: &str) -> Result<Option<&str>, Code> {
        match self.nodes.get(path) {
            None => Ok(None),
            Some(Node::Folder) => Err("not-regular"),
            Some(Node::Link) => Err("symlink"),
            Some(Node::File(number)) => {
                let names = self
                    .nodes
                    .values()
                    .filter(|node| **node == Node::File(*number))
                    .count();
                let text = self.files[*number].as_str();
                match names {
                    1 if text.len() > 5 => Err("too-large"),
                    1 => Ok(Some(text)),
                    _ => Err("hard-link"),
                }
            }
        }
    }

    fn set(&mut self, path: &'static str, text: String) {
        self.files.push(text);
        self.nodes.insert(path, Node::File(self.files.len() - 1));
    }

    /// What an operation of ours answers, by the rules alone.
    fn ours(&mut self, op: &Op) -> Result<String, Code> {
        match *op {
            Op::Read(path) => {
                self.parent(path, "not-found")?;
                self.file(path)?.map(str::to_owned).ok_or("not-found")
            }
            Op::List(path) => {
                self.parent(path, "not-found")?;
                match self.nodes.get(path) {
                    None => Err("not-found"),
                    Some(Node::Link) => Err("symlink"),
                    Some(Node::File(_)) => Err("not-directory"),
                    Some(Node::Folder) => Ok(self.names_in(path)),
                }
            }
            Op::Write(path, text) => {
                self.parent(path, "parent-missing")?;
                self.file(path)?;
                if text.len() > 5 {
                    return Err("too-large");
                }
                self.set(path, text.to_owned());
                Ok(String::new())
            }
            Op::Create(path, text) => {
                self.parent(path, "parent-missing")?;
                if self.file(path)?.is_some() {
                    return Err("exists");
                }
                if text.len() > 5 {
                    return Err("too-large");
                }
                self.set(path, text.to_owned());
                Ok(String::new())
            }
            Op::Edit(path, old, new) => {
                self.parent(path, "parent-missing")?;
                let text = self.file(path)?.ok_or("not-found")?;
                let after = edited(text, old, new)?;
                if after.len() > 5 {
                    return Err("too-large");
                }
                self.set(path, after);
                Ok(String::new())
            }
            Op::Folder(_) | Op::Put(..) | Op::Link(_) | Op::SecondName(..) | Op::Remove(_) => {
                Err("theirs")
            }
        }
    }

    fn names_in(&self, folder: &str) -> String {
        let below = self.nodes.iter().filter_map(|(path, node)| {
            let name = path.strip_prefix(folder)?.strip_prefix('/')?;
            let end = match node {
                Node::Folder => "/",
                Node::Link => " (link)",
                Node::File(_) => "",
            };
            (!name.contains('/')).then(|| format!("{name}{end}"))
        });
        below.collect::<Vec<_>>().join(",")
    }

    /// What another process does; nothing where it cannot.
    fn theirs(&mut self, op: &Op) {
        let free = |model: &Self, path: &str| {
            model.parent(path, "").is_ok() && !model.nodes.contains_key(path)
        };
        match *op {
            Op::Folder(path) if free(self, path) => drop(self.nodes.insert(path, Node::Folder)),
            Op::Put(path, text) if free(self, path) => self.set(path, text.to_owned()),
            Op::Link(path) if free(self, path) => drop(self.nodes.insert(path, Node::Link)),
            Op::SecondName(from, to) if free(self, to) && self.parent(from, "").is_ok() => {
                if let Some(Node::File(number)) = self.nodes.get(from) {
                    let node = Node::File(*number);
                    self.nodes.insert(to, node);
                }
            }
            Op::Remove(path) if self.parent(path, "").is_ok() => {
                self.nodes.retain(|at, _| {
                    *at != path
                        && !at
                            .strip_prefix(path)
                            .is_some_and(|rest| rest.starts_with('/'))
                });
            }
            _ => {}
        }
    }
}

fn edited(text: &str, old: &str, new: &str) -> Result<String, Code> {
    let starts = || (0..text.len()).filter(|at| text[*at..].starts_with(old));
    match (old.is_empty(), old == new, starts().count()) {
        (true, ..) => Err("bad-arguments"),
        (_, true, _) => Err("no-change"),
        (.., 0) => Err("no-match"),
        (.., 1) => Ok(text.replacen(old, new, 1)),
        _ => Err("ambiguous"),
    }
}

/// Does an operation for real: `None` for another process's.
#[expect(clippy::too_many_lines, reason = "one arm an operation")]
fn carry_out(ground: &Ground, root: &Root, op: &Op) -> Option<Result<String, Refusal>> {
    let at = |text: &str| RelPath::parse(text).expect("a path");
    let made = |prepared: Result<_, Refusal>| {
        Some(
            prepared
                .and_then(|p| root.publish(p))
                .map(|_| String::new()),
        )
    };
    let there = |path: &str| ground.work(path).symlink_metadata().is_ok();
    // Whether all folders above are folders and no links: the adversary of this test is honest.
    let reachable = |path: &str| {
        path.match_indices('/').all(|(end, _)| {
            ground
                .work(&path[..end])
                .symlink_metadata()
                .is_ok_and(|facts| facts.is_dir())
        })
    };
    match *op {
        Op::Read(path) => Some(
            root.read_text(&at(path), LIMIT)
                .map(|text| text.into_string()),
        ),
        Op::List(path) => Some(root.list(&at(path), 99).map(|listing| {
            listing
                .entries
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(",")
        })),
        Op::Write(path, text) => made(root.prepare_write(&at(path), text, LIMIT)),
        Op::Create(path, text) => made(root.prepare_create(&at(path), text, LIMIT)),
        Op::Edit(path, old, new) => made(root.prepare_edit(&at(path), old, new, LIMIT)),
        Op::Folder(path) if reachable(path) && !there(path) => {
            fs::create_dir(ground.work(path)).expect("a folder");
            None
        }
        Op::Put(path, text) if reachable(path) && !there(path) => {
            fs::write(ground.work(path), text).expect("writes");
            None
        }
        Op::Link(path) if reachable(path) && !there(path) => {
            symlink(ground.out(""), ground.work(path)).expect("links");
            None
        }
        Op::SecondName(from, to) if reachable(from) && reachable(to) && !there(to) => {
            if ground
                .work(from)
                .symlink_metadata()
                .is_ok_and(|facts| facts.is_file())
            {
                fs::hard_link(ground.work(from), ground.work(to)).expect("links");
            }
            None
        }
        Op::Remove(path) if reachable(path) && there(path) => {
            let place = ground.work(path);
            let folder = place.symlink_metadata().expect("there").is_dir();
            let removed = if folder {
                fs::remove_dir_all(place)
            } else {
                fs::remove_file(place)
            };
            removed.expect("removes");
            None
        }
        _ => None,
    }
}

/// Every name on the disk with what it is, as the model says it.
fn on_disk(ground: &Ground) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(ground.work(&folder)).expect("lists").flatten() {
            let path = format!("{folder}{}", entry.file_name().to_string_lossy());
            let facts = entry.path().symlink_metadata().expect("there");
            if facts.is_dir() {
                folders.push(format!("{path}/"));
                found.insert(path, "folder".to_owned());
            } else if facts.is_symlink() {
                found.insert(path, "link".to_owned());
            } else {
                found.insert(path, fs::read_to_string(entry.path()).expect("text"));
            }
        }
    }
    found
}

fn in_model(model: &Model) -> BTreeMap<String, String> {
    let shown = |node: &Node| match node {
        Node::Folder => "folder".to_owned(),
        Node::Link => "link".to_owned(),
        Node::File(number) => model.files[*number].clone(),
    };
    model
        .nodes
        .iter()
        .map(|(path, node)| ((*path).to_owned(), shown(node)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_plan_has_the_outcomes_of_the_model_and_leaves_its_files(
        plan in prop::collection::vec(op(), 1..40), way in prop::sample::select(&WAYS[..])
    ) {
        let ground = Ground::new();
        let root = ground.root(way);
        let mut model = Model::default();
        for (step, op) in plan.iter().enumerate() {
            match carry_out(&ground, &root, op) {
                Some(done) => {
                    let done = done.map_err(Refusal::code);
                    prop_assert_eq!(done, model.ours(op), "step {}: {:?}", step, op);
                }
                None => model.theirs(op),
            }
            prop_assert_eq!(on_disk(&ground), in_model(&model), "after step {}: {:?}", step, op);
        }
        prop_assert_eq!(fs::read_dir(ground.out("")).expect("lists").count(), 0);
    }
}
