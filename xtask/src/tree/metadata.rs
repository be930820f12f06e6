//! What cargo resolved: packages, their licences, who depends on whom.
//!
//! In: `cargo metadata`. Out: a graph by package name. Never: a version chosen here, an address
//! asked for: the lock file as it stands.

use super::output_of;
use crate::{
    checkout::{Checkout, cargo},
    trouble::{Outcome, Trouble},
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

/// Every package of the lock file.
pub(super) struct Metadata {
    packages: Vec<Package>,
}

/// One package.
pub(super) struct Package {
    /// Its name.
    pub(super) name: String,
    /// Its licence, as its author wrote it.
    pub(super) licence: Option<String>,
    /// Whether it is one of ours.
    pub(super) ours: bool,
    /// Packages that go into what it builds.
    pub(super) normal: BTreeSet<String>,
    /// Packages that only its tests or its build script see.
    pub(super) build: BTreeSet<String>,
}

impl Metadata {
    /// Asks cargo.
    ///
    /// # Errors
    /// When the lock file does not fit the manifests, or cargo says something unexpected.
    pub(super) fn read(checkout: &Checkout) -> Outcome<Self> {
        let mut command = Command::new(cargo());
        command
            .args(["metadata", "--format-version", "1", "--locked"])
            .current_dir(&checkout.root);
        let text = output_of(&mut command, "cargo metadata")?;
        let value: Value = serde_json::from_str(&text)
            .map_err(|error| Trouble::because("cargo metadata printed no JSON", error))?;
        Self::parse(&value).ok_or_else(|| Trouble::new("cargo metadata has another shape"))
    }

    fn parse(value: &Value) -> Option<Self> {
        let ours: BTreeSet<&str> = value["workspace_members"]
            .as_array()?
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let mut names = BTreeMap::new();
        let mut packages = BTreeMap::new();
        for package in value["packages"].as_array()? {
            let id = package["id"].as_str()?;
            let name = package["name"].as_str()?.to_owned();
            names.insert(id, name.clone());
            packages.insert(
                id,
                Package {
                    name,
                    licence: package["license"].as_str().map(str::to_owned),
                    ours: ours.contains(id),
                    normal: BTreeSet::new(),
                    build: BTreeSet::new(),
                },
            );
        }
        for node in value["resolve"]["nodes"].as_array()? {
            let package = packages.get_mut(node["id"].as_str()?)?;
            for dependency in node["deps"].as_array()? {
                let name = names.get(dependency["pkg"].as_str()?)?.clone();
                for kind in dependency["dep_kinds"].as_array()? {
                    match kind["kind"].as_str() {
                        None => package.normal.insert(name.clone()),
                        Some("build") => package.build.insert(name.clone()),
                        Some(_) => false,
                    };
                }
            }
        }
        Some(Self {
            packages: packages.into_values().collect(),
        })
    }

    /// Our own crates.
    pub(super) fn ours(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.ours)
    }

    /// Everybody else's.
    pub(super) fn theirs(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| !package.ours)
    }

    /// Everything that goes into what `name` builds, itself left out.
    pub(super) fn reaches(&self, name: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&Package> = self.named(name).collect();
        while let Some(package) = open.pop() {
            for next in package.normal.iter().chain(&package.build) {
                if reached.insert(next.as_str()) {
                    open.extend(self.named(next));
                }
            }
        }
        reached
    }

    fn named(&self, name: &str) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(move |package| package.name == name)
    }

    #[cfg(test)]
    pub(super) fn of(packages: Vec<Package>) -> Self {
        Self { packages }
    }
}

#[cfg(test)]
mod tests {
    use super::Metadata;
    use serde_json::json;

    #[test]
    fn test_dependencies_do_not_go_into_what_is_built() {
        let package = |id: &str| json!({"id": id, "name": id, "license": "MIT"});
        let dependency = |id: &str, kind| json!({"pkg": id, "dep_kinds": [{"kind": kind}]});
        let value = json!({
            "workspace_members": ["a"],
            "packages": [package("a"), package("b"), package("c"), package("d")],
            "resolve": {"nodes": [
                {"id": "a", "deps": [dependency("b", None), dependency("c", Some("dev"))]},
                {"id": "b", "deps": [dependency("d", Some("build"))]},
                {"id": "c", "deps": []},
                {"id": "d", "deps": []},
            ]},
        });
        let metadata = Metadata::parse(&value).expect("the shape is cargo's");
        assert_eq!(
            metadata.reaches("a").into_iter().collect::<Vec<_>>(),
            ["b", "d"]
        );
        assert_eq!(
            metadata.ours().map(|p| p.name.as_str()).collect::<Vec<_>>(),
            ["a"]
        );
    }
}
