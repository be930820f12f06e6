//! Every line of `paths.jsonl`, by both ways of looking a path up.

use super::{
    call::{Call, is_staged},
    line::{Line, Needs, Step, corpus},
    scene::{Scene, Unavailable},
};
use crate::Way;
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// Lines about what stands above this crate, with the crate that it is. Each says something about
/// arguments as JSON, names of roots, calls of a turn or a person's decision.
const ELSEWHERE: [(&str, &str); 12] = [
    ("P046", "tools"),
    ("P047", "tools"),
    ("P048", "tools"),
    ("P049", "tools"),
    ("P050", "tools"),
    ("P051", "tools"),
    ("P179", "authority"),
    ("P180", "authority"),
    ("P183", "authority"),
    ("P184", "authority"),
    ("P206", "binding"),
    ("P213", "tools"),
];

/// Lines marked for one kind of file system whose outcome is the path's alone.
const ON_ANY_PLATFORM: [&str; 2] = ["P209", "P210"];

/// How much shorter a race is here than the corpus says; the long one is the same test, ignored.
const SHORTER: usize = 50;

/// A hang is told from a slow machine by this factor.
const PATIENCE: u32 = 20;

#[derive(Debug, PartialEq, Eq)]
enum Ran {
    AsExpected,
    NotRun(&'static str),
    Elsewhere(&'static str),
    Wrong(String),
}

#[test]
fn every_line_has_its_expected_outcome_by_openat2() {
    run_all(Way::Openat2, SHORTER);
}

#[test]
fn every_line_has_its_expected_outcome_by_single_steps() {
    run_all(Way::Steps, SHORTER);
}

#[test]
#[ignore = "takes minutes: the races of the corpus at their full length, both ways"]
fn every_race_of_the_corpus_at_its_full_length() {
    run_all(Way::Openat2, 1);
    run_all(Way::Steps, 1);
}

fn run_all(way: Way, shorter: usize) {
    let lines = corpus();
    assert_eq!(lines.len(), 220);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for line in &lines {
        let kind = match run(line, way, shorter) {
            Ran::AsExpected => "as expected".to_owned(),
            Ran::NotRun(why) => {
                println!("{} was not run: {why}", line.id);
                assert!(
                    line.needs.is_some() || line.platform.is_some(),
                    "{}",
                    line.id
                );
                format!("not run: {why}")
            }
            Ran::Elsewhere(owner) => format!("tested in {owner}"),
            Ran::Wrong(how) => {
                wrong.push(format!("{}: {how}", line.id));
                "wrong".to_owned()
            }
        };
        *counts.entry(kind).or_default() += 1;
    }
    println!("{way:?}: {counts:?}");
    assert_eq!(wrong, Vec::<String>::new());
    let elsewhere: usize = counts
        .iter()
        .filter(|(kind, _)| kind.starts_with("tested in"))
        .map(|(_, n)| n)
        .sum();
    assert_eq!(
        elsewhere,
        ELSEWHERE.len(),
        "a line of the table is no longer in the corpus"
    );
}

fn run(line: &Line, way: Way, shorter: usize) -> Ran {
    if let Some((_, owner)) = ELSEWHERE.iter().find(|(id, _)| *id == line.id) {
        return Ran::Elsewhere(owner);
    }
    let privileged = rustix::process::geteuid().is_root();
    match line.needs {
        Some(Needs::Root) if !privileged => return Ran::NotRun("needs root"),
        Some(Needs::NonRoot) if privileged => return Ran::NotRun("needs a plain user"),
        _ => {}
    }
    if line.platform.is_some() && !ON_ANY_PLATFORM.contains(&line.id.as_str()) {
        return Ran::NotRun("needs a file system that ignores case");
    }
    let mut scene = Scene::new();
    // A root is opened at the start of a process; these steps come later.
    let opened = |step: &Step| !matches!(step, Step::ReplaceRoot {} | Step::RemoveRoot {});
    let plain: Vec<Step> = line
        .setup
        .iter()
        .filter(|step| !is_staged(step))
        .cloned()
        .collect();
    let split = plain
        .iter()
        .position(|step| !opened(step))
        .unwrap_or(plain.len());
    if let Err(Unavailable) = scene.prepare(&plain[..split]) {
        return Ran::NotRun("this machine refuses the step");
    }
    let call = Call::new(line, scene, way, shorter);
    call.prepare(&plain[split..]);
    let started = Instant::now();
    let outcome = call.run();
    let taken = started.elapsed();
    if let Some(deadline) = line.deadline_ms
        && taken > Duration::from_millis(deadline) * PATIENCE
    {
        return Ran::Wrong(format!("took {taken:?}"));
    }
    match call.judge(&outcome) {
        Ok(()) => Ran::AsExpected,
        Err(how) => Ran::Wrong(how),
    }
}
