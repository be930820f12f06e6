//! The format of `paths.jsonl` as the host's tests read it: every field is taken, or the test fails.

use data_encoding::BASE64;
use serde_json::{Map, Value};
use std::{
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
        net::UnixListener,
    },
    path::PathBuf,
};

/// An object whose fields are taken one by one; one that is left over fails.
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    pub(crate) fn of(value: Value) -> Self {
        let map = value.as_object().expect("an object");
        Self(map.clone())
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        self.take(name).map(|value| match value.as_array() {
            Some(parts) => {
                let parts = parts.iter().map(|part| part.as_str().expect("a text"));
                parts.collect()
            }
            None => value.as_str().expect("a text").to_owned(),
        })
    }

    pub(crate) fn must(&mut self, name: &str) -> String {
        self.text(name).expect(name)
    }

    /// A text that may be given in parts or by its size.
    pub(crate) fn joined(&mut self, name: &str) -> Option<String> {
        let whole = self.text(name);
        whole.or_else(|| self.text(&format!("{name}_parts")))
    }

    pub(crate) fn number(&mut self, name: &str) -> Option<usize> {
        let value = self.take(name)?;
        Some(usize::try_from(value.as_u64().expect("a number")).expect("small"))
    }

    pub(crate) fn texts(&mut self, name: &str) -> Vec<String> {
        let list = self.take(name).unwrap_or(Value::Array(Vec::new()));
        let list = list.as_array().expect("a list").iter();
        list.map(|text| text.as_str().expect("a text").to_owned())
            .collect()
    }

    pub(crate) fn map(&mut self, name: &str) -> Vec<(String, String)> {
        let map = self.take(name).unwrap_or(Value::Object(Map::new()));
        let map = map.as_object().expect("an object").iter();
        map.map(|(key, value)| {
            (
                key.clone(),
                value.as_str().map_or(value.to_string(), str::to_owned),
            )
        })
        .collect()
    }

    pub(crate) fn end(self, what: &str) {
        let left: Vec<&String> = self.0.keys().collect();
        assert!(
            left.is_empty(),
            "{what} has fields that nobody knows: {left:?}"
        );
    }
}

/// Whether a step was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stepped {
    Done,
    /// It is about the kernel's or the layer's inside, which `confine` tests.
    Inside,
}

/// Does one step that prepares files; `place` says where a path of the corpus lies.
#[expect(clippy::too_many_lines, reason = "one arm a step")]
pub(crate) fn step(step: &Value, place: &dyn Fn(&str) -> PathBuf) -> Stepped {
    let mut fields = Fields::of(step.clone());
    let op = fields.must("op");
    let path = fields.text("path").map(|path| place(&path));
    let at = || path.clone().expect("a path");
    let stepped = match op.as_str() {
        "dir" => {
            fs::create_dir_all(at()).expect("a folder");
            set_mode(&at(), fields.text("mode"));
            Stepped::Done
        }
        "file" => {
            file(&mut fields, &at());
            Stepped::Done
        }
        "symlink" | "swap_symlink" => {
            let target = fields.must("target");
            let target = if target.starts_with('@') {
                place(&target)
            } else {
                target.into()
            };
            if op == "swap_symlink" {
                fs::rename(at(), place("@tmp/was")).expect("moves");
            }
            symlink(target, at()).expect("links");
            Stepped::Done
        }
        "hardlink" => {
            fs::hard_link(place(&fields.must("to")), at()).expect("links");
            Stepped::Done
        }
        "fifo" => {
            let made = std::process::Command::new("mkfifo").arg(at()).status();
            assert!(made.expect("it runs").success());
            Stepped::Done
        }
        "socket" => {
            drop(UnixListener::bind(at()).expect("a socket"));
            Stepped::Done
        }
        "chmod" => {
            set_mode(&at(), fields.text("mode"));
            Stepped::Done
        }
        "replace" => {
            fs::write(place("@tmp/fresh"), fields.must("text")).expect("writes");
            fs::rename(place("@tmp/fresh"), at()).expect("moves");
            Stepped::Done
        }
        "remove" => {
            fs::remove_file(at()).expect("removes");
            Stepped::Done
        }
        "rename" => {
            fs::rename(at(), place(&fields.must("to"))).expect("moves");
            Stepped::Done
        }
        "git_init" => {
            fs::create_dir(place(".git")).expect("a folder");
            Stepped::Done
        }
        "replace_root" | "remove_root" => {
            fs::rename(place(""), place("@was")).expect("moves");
            if op == "replace_root" {
                fs::create_dir(place("")).expect("a folder");
            }
            Stepped::Done
        }
        "many_files" => {
            let dir = place(&fields.must("dir"));
            let text = fields.text("text").unwrap_or_default();
            fs::create_dir_all(&dir).expect("a folder");
            for number in 0..fields.number("count").expect("a count") {
                fs::write(dir.join(format!("f{number:05}")), &text).expect("writes");
            }
            Stepped::Done
        }
        "file_raw_name" => {
            let name = BASE64
                .decode(fields.must("name_b64").as_bytes())
                .expect("base64");
            let name = std::ffi::OsStr::from_bytes(&name);
            fs::write(place(&fields.must("dir")).join(name), "x").expect("writes");
            Stepped::Done
        }
        // Mounts, devices, faults, adversaries, and moments inside a publication.
        "deep"
        | "device"
        | "bind_mount"
        | "tmpfs_mount"
        | "root_on"
        | "fault"
        | "crash"
        | "watch_temp_hardlink"
        | "race_exchange"
        | "append" => return Stepped::Inside,
        other => panic!("a step that nobody knows: {other}"),
    };
    fields.end(&op);
    stepped
}

fn file(fields: &mut Fields, path: &PathBuf) {
    let (text, b64) = (fields.joined("text"), fields.text("b64"));
    let (size, fill) = (fields.number("size"), fields.text("fill"));
    if fields.take("sparse") == Some(Value::Bool(true)) {
        let file = fs::File::create(path).expect("makes");
        let size = size.expect("a size");
        file.set_len(u64::try_from(size).expect("fits"))
            .expect("a sparse file");
    } else {
        let bytes = match (text, b64, size) {
            (Some(text), ..) => text.into_bytes(),
            (_, Some(b64), _) => BASE64.decode(b64.as_bytes()).expect("base64"),
            (.., Some(size)) => fill.as_deref().unwrap_or("a").repeat(size).into_bytes(),
            (None, None, None) => Vec::new(),
        };
        fs::write(path, bytes).expect("writes");
    }
    set_mode(path, fields.text("mode"));
}

fn set_mode(path: &PathBuf, mode: Option<String>) {
    if let Some(mode) = mode {
        let bits = u32::from_str_radix(&mode, 8).expect("an octal mode");
        fs::set_permissions(path, fs::Permissions::from_mode(bits)).expect("sets the mode");
    }
}
