//! `guildhall service`: a systemd user unit that serves bindings.
//!
//! In: where the program and its folders are, systemd's answers. Out: the unit's file, and what to
//! type next. Never: a look into a binding or a token, a unit removed under an instance that runs.

mod systemctl; // what systemd answers
mod unit; // the unit's text

use super::{Output, print, status};
use crate::{
    cli::{InstallArgs, PlaceArgs, ServiceAction, UnitArgs},
    exit::{ExitReason, Failure},
    home::Home,
};
use serde_json::json;
use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};
use unit::{UNIT_FILE, Unit, render};

pub(super) fn run(home: &Home, action: &ServiceAction, output: Output) -> Result<(), Failure> {
    match action {
        ServiceAction::Render(args) => {
            let text = text(home, args)?;
            match output {
                Output::Text => print(text.trim_end()),
                Output::Json => print(json!({"file": UNIT_FILE, "text": text})),
            }
            Ok(())
        }
        ServiceAction::Install(args) => install(home, args, output),
        ServiceAction::Uninstall(args) => uninstall(args, output),
        ServiceAction::Status { binding } => show(home, binding, output),
    }
}

fn text(home: &Home, args: &UnitArgs) -> Result<String, Failure> {
    if home.has_config() {
        return Err(Failure::new(
            ExitReason::Usage,
            "one unit serves every binding of the data root: --config cannot be part of it",
        ));
    }
    let program = std::env::current_exe()
        .and_then(fs::canonicalize)
        .map_err(|error| Failure::failed(format!("cannot find this program's file: {error}")))?;
    let repo = match &args.repo {
        Some(repo) => repo.clone(),
        None => std::env::current_dir()
            .map_err(|error| Failure::failed(format!("cannot find the current folder: {error}")))?,
    };
    let repo = fs::canonicalize(&repo).map_err(|error| {
        Failure::invalid(format!(
            "cannot use the repository {}: {error}",
            repo.display()
        ))
    })?;
    let unit = Unit {
        program,
        data_root: home.root().to_owned(),
        repo,
        node: folder_on_path("node"),
    };
    render(&unit).map_err(Failure::invalid)
}

/// The first folder of the search path with this program.
fn folder_on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .find(|folder| folder.join(program).is_file())
}

fn install(home: &Home, args: &InstallArgs, output: Output) -> Result<(), Failure> {
    let text = text(home, &args.unit)?;
    let folder = folder(&args.place)?;
    let file = folder.join(UNIT_FILE);
    fs::create_dir_all(&folder)
        .map_err(|error| Failure::failed(format!("cannot make {}: {error}", folder.display())))?;
    write(&file, &text)?;
    let name = args.unit.binding.as_deref().unwrap_or("BINDING");
    match output {
        Output::Text => tell_installed(&file, name),
        Output::Json => print(json!({"file": file, "unit": format!("guildhall@{name}.service")})),
    }
    read_again(&args.place)
}

fn tell_installed(file: &Path, name: &str) {
    print(format!("wrote {}", file.display()));
    let unit = format!("guildhall@{name}");
    let next = [
        (format!("guildhall check {name}"), "before the first start"),
        (
            format!("systemctl --user enable --now {unit}"),
            "start it, now and at every login",
        ),
        (
            format!("systemctl --user status {unit}"),
            "what systemd knows of it",
        ),
        (format!("journalctl --user -u {unit} -f"), "its log"),
        (
            format!("systemctl --user reload {unit}"),
            "take the edited binding",
        ),
        (
            format!("systemctl --user stop {unit}"),
            "end it after the turn in flight",
        ),
        (
            format!("guildhall stop {name}"),
            "the brake: it ends, and stays down until STOP is removed",
        ),
        (
            "loginctl enable-linger".to_owned(),
            "without it, it ends when you log out, and does not start at boot",
        ),
    ];
    let width = next
        .iter()
        .map(|(command, _)| command.len())
        .max()
        .unwrap_or(0);
    for (command, what) in next {
        print(format!("  {command:width$}   {what}"));
    }
}

fn uninstall(place: &PlaceArgs, output: Output) -> Result<(), Failure> {
    let file = folder(place)?.join(UNIT_FILE);
    let active = systemctl::active_instances().map_err(|failure| {
        failure.hint(format!(
            "whether an instance is active is not known; if no systemd of yours runs: rm {}",
            file.display()
        ))
    })?;
    if let Some(first) = active.first() {
        return Err(
            Failure::braked(format!("active instances: {}", active.join(" ")))
                .hint(format!("systemctl --user disable --now {first}"))
                .hint("then uninstall again"),
        );
    }
    let was_there = match fs::remove_file(&file) {
        Ok(()) => true,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
        Err(error) => {
            return Err(Failure::failed(format!(
                "cannot remove {}: {error}",
                file.display()
            )));
        }
    };
    match (output, was_there) {
        (Output::Json, _) => print(json!({"file": file, "removed": was_there})),
        (Output::Text, true) => print(format!("removed {}", file.display())),
        (Output::Text, false) => print(format!("there is no {}", file.display())),
    }
    if was_there { read_again(place) } else { Ok(()) }
}

fn read_again(place: &PlaceArgs) -> Result<(), Failure> {
    if place.no_reload {
        return Ok(());
    }
    systemctl::daemon_reload().map_err(|failure| {
        failure.hint(
            "the file is as it should be; run `systemctl --user daemon-reload` in your own session",
        )
    })
}

fn folder(place: &PlaceArgs) -> Result<PathBuf, Failure> {
    if let Some(folder) = &place.dir {
        return Ok(folder.clone());
    }
    let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let base = named
        .filter(|path| path.is_absolute())
        .or_else(|| std::env::home_dir().map(|home| home.join(".config")));
    base.map(|base| base.join("systemd").join("user"))
        .ok_or_else(|| {
            Failure::new(ExitReason::Usage, "there is no home directory")
                .hint("name a folder with --dir")
        })
}

/// Writes beside the file and renames, so that systemd never reads half a unit.
fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let fail = |error: std::io::Error| {
        Failure::failed(format!("cannot write {}: {error}", file.display()))
    };
    if fs::symlink_metadata(file).is_ok_and(|found| !found.is_file()) {
        return Err(
            Failure::failed(format!("{} is no regular file", file.display())).hint(
                "a masked unit is a link: `systemctl --user unmask guildhall@.service` removes it",
            ),
        );
    }
    let beside = file.with_file_name(format!(".{UNIT_FILE}.{}.tmp", std::process::id()));
    let written = fs::File::options()
        .write(true)
        .create_new(true)
        .open(&beside)
        .and_then(|mut out| {
            out.write_all(text.as_bytes())?;
            out.sync_all()
        })
        .and_then(|()| fs::rename(&beside, file));
    written.map_err(|error| {
        if let Err(left) = fs::remove_file(&beside) {
            tracing::debug!(%left, "nothing was left beside the unit");
        }
        fail(error)
    })
}

fn show(home: &Home, name: &str, output: Output) -> Result<(), Failure> {
    home.checked_folder(name)?;
    let unit = systemctl::state(name);
    let seat = status::look(home, name);
    let known = unit.as_ref().map_or_else(
        |failure| json!({"unknown": failure.what}),
        |state| json!(state),
    );
    if output == Output::Json {
        print(json!({"unit": format!("guildhall@{name}.service"), "state": known, "seat": seat}));
        return Ok(());
    }
    match &unit {
        Err(failure) => print(format!("guildhall@{name}: {}", failure.what)),
        Ok(state) => {
            for line in systemctl::words(name, state) {
                print(line);
            }
        }
    }
    for (brake, word) in [("stop", "STOP"), ("estop", "ESTOP")] {
        let set = &seat[brake];
        let state = if set.is_null() {
            "not set".to_owned()
        } else {
            format!("set: {}", set["why"].as_str().unwrap_or("no reason given"))
        };
        print(format!("  {word} {state}"));
    }
    let pid = seat["pid"].as_i64().map(|pid| format!(", process {pid}"));
    print(format!(
        "  run.lock: running {}{}",
        seat["running"].as_str().unwrap_or("unknown"),
        pid.unwrap_or_default()
    ));
    Ok(())
}
