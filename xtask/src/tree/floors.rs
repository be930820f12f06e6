//! Who may know whom among our crates, and how many others we lean on.
//!
//! In: the graph of packages. Out: what points up, what a deciding crate reaches, what is over
//! budget. Never: a crate without a floor.

use super::{
    Finding,
    metadata::{Metadata, Package},
};
use std::collections::BTreeSet;

/// Each crate with the crates of ours that it may name.
const FLOORS: [(&str, &[&str]); 15] = [
    ("guildhall-binding", &[]),
    ("guildhall-journal", &[]),
    ("guildhall-confine", &[]),
    ("guildhall-sim", &[]),
    ("guildhall-authority", &["guildhall-binding"]),
    (
        "guildhall-connector",
        &["guildhall-binding", "guildhall-authority"],
    ),
    ("guildhall-web", &[]),
    ("guildhall-git", &["guildhall-confine"]),
    (
        "guildhall-tools",
        &[
            "guildhall-binding",
            "guildhall-confine",
            "guildhall-authority",
            "guildhall-web",
            "guildhall-git",
        ],
    ),
    (
        "guildhall-faults",
        &[
            "guildhall-binding",
            "guildhall-authority",
            "guildhall-connector",
        ],
    ),
    (
        "guildhall-discord",
        &["guildhall-binding", "guildhall-authority"],
    ),
    (
        "guildhall-engine",
        &[
            "guildhall-binding",
            "guildhall-authority",
            "guildhall-connector",
            "guildhall-tools",
        ],
    ),
    (
        "guildhall",
        &[
            "guildhall-binding",
            "guildhall-journal",
            "guildhall-confine",
            "guildhall-authority",
            "guildhall-connector",
            "guildhall-tools",
            "guildhall-web",
            "guildhall-git",
            "guildhall-engine",
            "guildhall-discord",
            "guildhall-sim",
        ],
    ),
    ("guildhall-bench", &[]),
    ("xtask", &[]),
];

/// Crates whose decisions are pure.
pub(super) const DECIDING: [&str; 3] = [
    "guildhall-binding",
    "guildhall-authority",
    "guildhall-connector",
];

/// What a deciding crate must not reach, however far down.
const IMPURE: [&str; 12] = [
    "axum",
    "fastrand",
    "hyper",
    "mio",
    "rand",
    "reqwest",
    "rustix",
    "rustls",
    "socket2",
    "tokio",
    "tracing",
    "tungstenite",
];

/// Packages of others that our crates name, tests left out.
const DIRECT_MAX: usize = 40;
/// Packages of others in the whole program.
const PROGRAM_MAX: usize = 350;

/// Dependencies between our crates that the table does not list.
pub(super) fn upward(metadata: &Metadata) -> Vec<Finding> {
    let names: BTreeSet<&str> = metadata
        .ours()
        .map(|package| package.name.as_str())
        .collect();
    metadata
        .ours()
        .flat_map(|package| upward_of(package, &names))
        .collect()
}

fn upward_of(package: &Package, ours: &BTreeSet<&str>) -> Vec<Finding> {
    let Some((_, lower)) = FLOORS.iter().find(|(name, _)| *name == package.name) else {
        return vec![format!(
            "{} has no floor: give it one in xtask",
            package.name
        )];
    };
    let named = package
        .normal
        .iter()
        .map(String::as_str)
        .filter(|name| ours.contains(name));
    named
        .filter(|name| !lower.contains(name))
        .map(|name| format!("{} names {name}", package.name))
        .collect()
}

/// What deciding crates reach and must not.
pub(super) fn reached(metadata: &Metadata) -> Vec<Finding> {
    let adapters: BTreeSet<&str> = metadata
        .ours()
        .map(|package| package.name.as_str())
        .filter(|name| !DECIDING.contains(name))
        .collect();
    let mut findings = Vec::new();
    for name in DECIDING {
        let reached = metadata.reaches(name);
        let bad = reached
            .iter()
            .filter(|name| adapters.contains(*name) || IMPURE.contains(name));
        findings.extend(bad.map(|bad| format!("{name} reaches {bad}")));
    }
    findings
}

/// Counts that are over their budget.
pub(super) fn over_budget(metadata: &Metadata) -> Vec<Finding> {
    let theirs: BTreeSet<&str> = metadata
        .theirs()
        .map(|package| package.name.as_str())
        .collect();
    let direct: BTreeSet<&str> = metadata
        .ours()
        .flat_map(|package| package.normal.iter().map(String::as_str))
        .filter(|name| theirs.contains(name))
        .collect();
    let program = metadata
        .reaches("guildhall")
        .into_iter()
        .filter(|name| theirs.contains(name))
        .count();
    let counts = [
        (
            "packages of others that our crates name",
            direct.len(),
            DIRECT_MAX,
        ),
        ("packages of others in the program", program, PROGRAM_MAX),
    ];
    for (what, count, most) in counts {
        println!("        {count} of {most} {what}");
    }
    let over = counts.into_iter().filter(|(_, count, most)| count > most);
    over.map(|(what, count, most)| format!("{count} {what}; the budget is {most}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Metadata, Package, reached, upward};

    fn package(name: &str, ours: bool, normal: &[&str]) -> Package {
        Package {
            name: name.to_owned(),
            licence: None,
            ours,
            normal: normal.iter().map(|name| (*name).to_owned()).collect(),
            build: std::collections::BTreeSet::new(),
        }
    }

    #[test]
    fn a_crate_that_names_a_higher_one_is_found() {
        let tree = Metadata::of(vec![
            package("guildhall-binding", true, &["guildhall-sim", "serde"]),
            package("guildhall-sim", true, &[]),
            package("guildhall-attic", true, &[]),
            package("serde", false, &[]),
        ]);
        let found = upward(&tree);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0], "guildhall-binding names guildhall-sim");
        assert!(found[1].starts_with("guildhall-attic has no floor"));
    }

    #[test]
    fn a_runtime_behind_another_package_is_found() {
        let tree = Metadata::of(vec![
            package("guildhall-binding", true, &["innocent"]),
            package("guildhall-authority", true, &[]),
            package("guildhall-connector", true, &["guildhall-binding"]),
            package("innocent", false, &["tokio"]),
            package("tokio", false, &[]),
        ]);
        assert_eq!(
            reached(&tree),
            [
                "guildhall-binding reaches tokio",
                "guildhall-connector reaches tokio"
            ]
        );
    }
}
