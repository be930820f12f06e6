//! Where the outside programs are, and how they run.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::{Child, Command};

/// The value of a variable that `cargo xtask test` sets.
pub(crate) fn variable(name: &str) -> String {
    let value = std::env::var(name);
    assert!(
        value.is_ok(),
        "{name} is not set: run `cargo xtask test`, which installs the clients"
    );
    value.expect("was asserted")
}

/// Node, whose path has a usual value.
pub(crate) fn node() -> String {
    std::env::var("GUILDHALL_NODE").unwrap_or_else(|_| "node".to_owned())
}

/// A file beside this one.
pub(crate) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/clients")
        .join(name)
}

/// A program that ends with the test.
pub(crate) fn spawn(program: &str, script: &Path, variables: &[(&str, String)]) -> Child {
    let mut command = Command::new(program);
    command.arg(script).stdin(Stdio::null()).kill_on_drop(true);
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    for (name, value) in variables {
        command.env(name, value);
    }
    command.spawn().expect("the program starts")
}
