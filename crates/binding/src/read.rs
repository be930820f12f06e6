//! The strict reader: bytes to a checked policy, or all faults at once.
//!
//! In: the file's bytes and what the caller knows about the machine. Out: a [`Policy`], or
//! [`Faults`] in document order. Never: a file that is opened, a key that is passed over, a policy
//! that was built in spite of a fault.

mod engine;
mod people;
mod settings;
mod tools;

pub(crate) use settings::TOOLSETS;

use crate::{
    bounds::{
        BINDING_VERSION, CONTEXT_FILES_MAX, DISPLAY_NAME_MAX_CHARS, FILE_MAX_BYTES, URL_MAX_CHARS,
        Whole,
    },
    fault::{FaultCode, Faults},
    ids::UserId,
    json::{self, Node},
    paths,
    policy::{
        Approvals, BadName, BindingName, DiscordConfig, Guild, Limits, Policy, PolicyDigest,
        SeatName, SessionScope,
    },
    walk::{Fields, Place, Walk, all, distinct},
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// What the caller knows and the file must agree with.
#[derive(Clone, Copy, Debug)]
pub struct Expect<'a> {
    /// The name that the file must carry: its own name without `.json`. `None` takes any.
    pub name: Option<&'a str>,
    /// The data root, absolute; best with links resolved, since paths are compared as text. One
    /// that is not absolute refuses every root.
    pub data_root: &'a Path,
    /// The home directory, if there is one.
    pub home: Option<&'a Path>,
}

/// Reads a binding file.
///
/// Nothing is looked at but the arguments: that files exist, have their mode and are no links is
/// for `check` and `run` to see.
///
/// # Errors
/// [`Faults`]: everything that is wrong with the file, in document order.
pub fn read(bytes: &[u8], expect: Expect<'_>) -> Result<Policy, Faults> {
    let document = document(bytes)?;
    let walk = Walk::default();
    let policy = file(&walk.root(&document), expect, bytes);
    walk.refuse_keys_inside_roots();
    walk.end()?;
    Ok(policy.expect("a reader that gives nothing has recorded a fault"))
}

const JSON_ALLOWED: &str = "one JSON object in UTF-8, without comments and trailing commas";

fn document(bytes: &[u8]) -> Result<Node, Faults> {
    if bytes.len() > FILE_MAX_BYTES {
        let found = format!("{} bytes", bytes.len());
        let allowed = format!("at most {FILE_MAX_BYTES} bytes");
        return Err(Faults::one(FaultCode::TooLarge, found, &allowed));
    }
    let unreadable = |found: String| Faults::one(FaultCode::NotJson, found, JSON_ALLOWED);
    if bytes.trim_ascii().is_empty() {
        return Err(unreadable("an empty file".to_owned()));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err(unreadable(
            "a byte order mark at line 1, column 1".to_owned(),
        ));
    }
    json::parse(bytes).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        if error.is_eof() {
            return unreadable(format!("the end of the file in the middle, at {place}"));
        }
        // The parser's sentence names what it wanted and quotes nothing from the file.
        let full = error.to_string();
        let reason = full.split(" at line ").next().unwrap_or("no JSON");
        unreadable(format!("{reason} at {place}"))
    })
}

fn file(place: &Place<'_>, expect: Expect<'_>, bytes: &[u8]) -> Option<Policy> {
    let mut fields = place.object()?;
    // A later version may have changed any meaning, so that every other fault would be a guess.
    version(&mut fields)?;
    let identity = identity(&mut fields, expect.name);
    let bot = identity.bot;
    let channels = people::channels(&mut fields);
    let users = people::users(&mut fields, channels.listed.as_ref(), bot);
    let engine = fields.must("engine", engine::engine);
    let limits = fields.or("limits", Limits::default(), settings::limits);
    let context_files = fields.or("context", Vec::new(), context);
    let scope = fields.or("sessions", SessionScope::Seat, settings::sessions);
    let tools = fields.may("tools", |place| tools::tools(place, expect));
    let platform_toolsets = fields.or(
        "platformToolsets",
        BTreeMap::new(),
        settings::platform_toolsets,
    );
    let discord = fields.or("discord", DiscordConfig::default(), settings::discord);
    let approvals = fields.or("approvals", Approvals::default(), settings::approvals);
    for key in ["plugins", "mesh", "schedules"] {
        fields.reserved(key);
    }
    fields.end();
    Some(Policy {
        name: identity.name?,
        seat: identity.seat?,
        guild: identity.guild?,
        bot: bot?,
        token_file: identity.token_file?,
        channels: channels.channels?,
        users: users?,
        engine: engine?,
        limits: limits?,
        context_files: context_files?,
        scope: scope?,
        tools: tools?,
        platform_toolsets: platform_toolsets?,
        discord: discord?,
        approvals: approvals?,
        digest: PolicyDigest::of(bytes),
    })
}

/// Gives nothing only for a version of the future.
fn version(fields: &mut Fields<'_>) -> Option<()> {
    let one = |place: &Place<'_>| {
        let anything = Whole {
            min: 0,
            max: u64::MAX,
            default: 0,
        };
        match place.whole(anything)? {
            BINDING_VERSION => Some(Ok(())),
            0 => place.fault(FaultCode::BadValue, "1"),
            _ => Some(
                place
                    .fault(
                        FaultCode::TooNew,
                        "1: this program is too old for the file; a newer guildhall reads it",
                    )
                    .ok_or(()),
            ),
        }
    };
    match fields.must("bindingVersion", one) {
        Some(Err(())) => None,
        Some(Ok(())) | None => Some(()),
    }
}

/// Who is served, where, as whom.
struct Identity {
    name: Option<BindingName>,
    seat: Option<SeatName>,
    guild: Option<Guild>,
    bot: Option<UserId>,
    token_file: Option<PathBuf>,
}

fn identity(fields: &mut Fields<'_>, name: Option<&str>) -> Identity {
    fields.may("$schema", |place| place.line(URL_MAX_CHARS));
    let name = fields.must("name", |place| binding_name(place, name));
    let seat = fields.must("seat", |place| {
        let allowed = BadName::Seat.to_string();
        place.parsed(&allowed, |text| SeatName::parse(text).ok())
    });
    let id = fields.must("guildId", Place::snowflake);
    let guild_name = fields.must("guildName", |place| place.line(DISPLAY_NAME_MAX_CHARS));
    let bot = fields.must("botUserId", Place::snowflake);
    let token_file = fields.must("tokenFile", key_path);
    Identity {
        name,
        seat,
        guild: id.zip(guild_name).map(|(id, name)| Guild { id, name }),
        bot,
        token_file,
    }
}

fn binding_name(place: &Place<'_>, file_stem: Option<&str>) -> Option<BindingName> {
    let allowed = BadName::Binding.to_string();
    let name = place.parsed(&allowed, |text| BindingName::parse(text).ok())?;
    match file_stem {
        Some(stem) if stem != name.as_str() => {
            let allowed = format!("the file's own name without .json, {stem:?}");
            place.fault(FaultCode::NameMismatch, &allowed)
        }
        Some(_) | None => Some(name),
    }
}

/// The path of a file that holds a key: its faults show no value, since people paste keys here.
fn key_path(place: &Place<'_>) -> Option<PathBuf> {
    let place = place.clone().hidden();
    let path = place.parsed(paths::ABSOLUTE_ALLOWED, paths::absolute)?;
    if path == Path::new("/") {
        return place.fault(FaultCode::BadValue, "the absolute path of a file");
    }
    place.note_key_file(&path);
    Some(path)
}

fn context(place: &Place<'_>) -> Option<Vec<PathBuf>> {
    let mut fields = place.object()?;
    let files = fields.or("files", Vec::new(), |place| {
        let places = place.list(0..=CONTEXT_FILES_MAX, "paths")?;
        let read = all(&places, |place| {
            let path = place.parsed(paths::CONTEXT_ALLOWED, paths::relative)?;
            Some((path, place.clone()))
        })?;
        distinct(read.iter().cloned(), "file")?;
        Some(read.into_iter().map(|(path, _)| path).collect())
    });
    fields.end();
    files
}
