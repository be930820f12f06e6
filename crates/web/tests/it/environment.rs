//! A process whose environment names proxies, key logs and search domains.
//!
//! The tests run themselves again with such an environment: a variable that is set in a running
//! process would be set for all tests at once.

use crate::{
    line::{Expect, Kind, Line, all},
    reply::Reply,
    stage::{Script, Stage},
};
use std::{env, net::SocketAddr, process::Command};

/// Names the line that the child is to fetch.
const LINE: &str = "GUILDHALL_WEB_TEST_LINE";

fn lines() -> Vec<Line> {
    let lines: Vec<Line> = all()
        .into_iter()
        .filter(|line| line.kind == Kind::Env)
        .collect();
    assert_eq!(lines.len(), 2);
    lines
}

#[test]
fn a_process_with_proxies_in_its_environment_goes_where_it_would_go_anyway() {
    let tests = env::current_exe().expect("the tests");
    for line in lines() {
        let folder = tempfile::tempdir().expect("a folder");
        let child = Command::new(&tests)
            .args([
                "--exact",
                "environment::the_page_of_each_line_is_fetched_directly",
            ])
            .args(["--test-threads", "1"])
            .current_dir(folder.path())
            .envs(&line.env)
            .env(LINE, &line.id)
            .output()
            .expect("a process");
        let said = String::from_utf8_lossy(&child.stdout);
        assert!(
            child.status.success() && said.contains("1 passed"),
            "{}: {said}",
            line.id
        );
        for name in &line.expect_absent {
            assert!(!folder.path().join(name).exists(), "{}: {name}", line.id);
        }
    }
}

/// Also run as the child of the test above, with the line's environment.
#[tokio::test]
async fn the_page_of_each_line_is_fetched_directly() {
    let asked = env::var(LINE).ok();
    for line in lines() {
        if asked.as_ref().is_some_and(|id| *id != line.id) {
            continue;
        }
        assert_eq!(line.expect, Expect::Allow);
        if asked.is_some() {
            let set = |(name, value): (&String, &String)| env::var(name).as_ref() == Ok(value);
            assert!(line.env.iter().all(set), "{}", line.id);
        }
        let stage = Stage::that_says(Script::of(&line.resolve), Reply::html("<p>x")).await;
        let page = stage.fetch(&line.url).await.expect("a page");
        assert_eq!(page.text, "x");
        let address = line
            .expect_connect
            .unwrap_or(line.resolve["example.com"][0]);
        assert_eq!(stage.dialled(), [SocketAddr::new(address, 443)]);
    }
}
