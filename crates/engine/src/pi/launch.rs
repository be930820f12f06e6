//! What pi is started with.
//!
//! In: the settings, a route, an offer. Out: a private folder and a command line. Never: a variable
//! of our own environment, a tool name that is not ours, a key in an argument or a prompt.

use super::{PiParts, child::KeyFile, install::Install};
use crate::native::Api;
use guildhall_tools::ToolSpec;
use serde_json::{Value, json};
use std::{
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};
use tokio::process::Command;

/// The extension that gives pi our tools.
const EXTENSION: &str = include_str!("tools.mjs");
/// How the name of a file with the key begins.
const KEY_FILE: &str = "key-";
/// pi's name for a provider that the binding names no further.
const PROVIDER: &str = "guildhall";

/// A route's folder for pi, filled.
pub(super) struct Ground {
    folder: PathBuf,
    pub(super) extension: PathBuf,
    /// A file with the key that was made for this start.
    pub(super) key: Option<KeyFile>,
}

/// Writes everything that pi reads at its start; its setters may have changed the settings before.
pub(super) fn prepare(
    parts: &PiParts,
    route: &Path,
    system: &str,
    words: &str,
) -> io::Result<Ground> {
    let folder = route.join("pi");
    for folder in [&folder, &folder.join("config"), &folder.join("tmp")] {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    let extension = folder.join("tools.mjs");
    write(&extension, EXTENSION)?;
    write(&folder.join("system.md"), system)?;
    write(&folder.join("tools.md"), words)?;
    write(
        &folder.join("config/settings.json"),
        &settings().to_string(),
    )?;
    remove_old_keys(&folder)?;
    let made = match (&parts.key, &parts.key_file) {
        (Some(key), None) => {
            let path = folder.join(format!("{KEY_FILE}{:08x}", fastrand::u32(..)));
            write(&path, key.reveal())?;
            Some(KeyFile(path))
        }
        (Some(_), Some(_)) | (None, _) => None,
    };
    let file = made.as_ref().map(|file| file.0.as_path());
    let key = key(file.or(parts.key_file.as_deref()));
    write(
        &folder.join("config/models.json"),
        &models(parts, &key).to_string(),
    )?;
    write(
        &folder.join("config/auth.json"),
        &auth(parts, &key).to_string(),
    )?;
    mend(&folder.join("session.jsonl"))?;
    Ok(Ground {
        folder,
        extension,
        key: made,
    })
}

/// What a process left that was killed with its seat.
fn remove_old_keys(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(KEY_FILE) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// A torn last line would make 0.73.1 forget everything before it.
fn mend(session: &Path) -> io::Result<()> {
    use std::io::{Read as _, Seek as _};
    let opened = std::fs::File::options()
        .read(true)
        .append(true)
        .open(session);
    let mut file = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(io::SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last == *b"\n" {
        Ok(())
    } else {
        file.write_all(b"\n")
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let fresh = path.with_extension("new");
    let mut file = std::fs::File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&fresh)?;
    file.write_all(text.as_bytes())?;
    std::fs::rename(fresh, path)
}

fn settings() -> Value {
    json!({
        "retry": {"enabled": true, "maxRetries": 2, "baseDelayMs": 2000,
            "provider": {"maxRetries": 0, "timeoutMs": 120_000}},
        "compaction": {"enabled": true, "reserveTokens": 16_384, "keepRecentTokens": 20_000},
        "httpIdleTimeoutMs": 120_000,
        // It would ask, and pay, between turns.
        "cacheWarming": "off",
        "defaultProjectTrust": "never",
        "enableInstallTelemetry": false,
        "images": {"blockImages": true},
    })
}

/// How pi finds the key: it asks a program for it when it needs it, which every version does. So the
/// key stands in no argument, in no environment and in no setting.
fn key(file: Option<&Path>) -> String {
    match file {
        None => "none-needed".to_owned(),
        Some(file) => {
            let path = file.display().to_string().replace('\'', r"'\''");
            format!("!cat '{path}'")
        }
    }
}

pub(super) fn provider(parts: &PiParts) -> &str {
    parts.provider.as_deref().unwrap_or(PROVIDER)
}

/// What pi appends a path to: the binding has what a provider's documents call the base URL, of which
/// the interfaces have different parts in their own paths.
fn base_url(api: Api, told: &str) -> String {
    let told = told.trim_end_matches('/');
    let (_, rest) = told.split_once("://").unwrap_or(("", told));
    match api {
        Api::OpenAi if !rest.contains('/') => format!("{told}/v1"),
        Api::OpenAi => told.to_owned(),
        Api::Anthropic => told.strip_suffix("/v1").unwrap_or(told).to_owned(),
    }
}

fn models(parts: &PiParts, key: &str) -> Value {
    let Some(told) = &parts.base_url else {
        return json!({"providers": {}});
    };
    let api = match parts.api {
        Api::OpenAi => "openai-completions",
        Api::Anthropic => "anthropic-messages",
    };
    json!({"providers": {provider(parts): {
        "baseUrl": base_url(parts.api, told), "api": api, "apiKey": key,
        // A model that does not think takes no level.
        "models": [{"id": parts.model, "reasoning": parts.thinking.is_some()}],
    }}})
}

fn auth(parts: &PiParts, key: &str) -> Value {
    match (&parts.base_url, &parts.key) {
        (None, Some(_)) => {
            json!({provider(parts): {"type": "api_key", "key": key}})
        }
        _ => json!({}),
    }
}

/// The command line. `socket` is where the tools are, for an offer that has some.
pub(super) fn command(
    parts: &PiParts,
    install: &Install,
    ground: &Ground,
    offer: &[ToolSpec],
    socket: Option<&Path>,
) -> Command {
    let at = |name: &str| ground.folder.join(name);
    let mut command = Command::new(&install.node);
    command.arg(&install.entry).args(["--mode", "rpc"]).args([
        "--no-extensions",
        "--no-skills",
        "--no-prompt-templates",
        "--no-themes",
        "--no-context-files",
    ]);
    command.args(["--provider", provider(parts), "--model", &parts.model]);
    if let Some(thinking) = &parts.thinking {
        command.args(["--thinking", thinking]);
    }
    if install.has_trust {
        command.arg("--no-approve");
    }
    command.arg("--system-prompt").arg(at("system.md"));
    command.arg("--append-system-prompt").arg(at("tools.md"));
    command.arg("--session").arg(at("session.jsonl"));
    if offer.is_empty() {
        command.arg("--no-tools");
    } else {
        let names: Vec<&str> = offer.iter().map(|spec| spec.name.wire()).collect();
        command.args(["--no-builtin-tools", "--extension"]);
        command
            .arg(&ground.extension)
            .args(["--tools", &names.join(",")]);
    }
    command
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", &ground.folder)
        .env("LANG", "C.UTF-8")
        .env("TMPDIR", at("tmp"))
        .env("PI_CODING_AGENT_DIR", at("config"))
        .envs([
            ("PI_OFFLINE", "1"),
            ("PI_TELEMETRY", "0"),
            ("PI_SKIP_VERSION_CHECK", "1"),
        ])
        // The model is told of it, and sessions are bound to it.
        .current_dir("/")
        .process_group(0);
    if let Some(socket) = socket {
        command.env("GUILDHALL_TOOLS", socket);
    }
    command
}
