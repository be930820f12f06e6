//! Declared directories, git, the web and the record client.
//!
//! In: the `tools` object. Out: checked settings. Never: a root that could reach the machine's or
//! this program's own files, two roots of which one lies in the other, git without write access.

use super::{Expect, key_path};
use crate::{
    bounds::{
        LABEL_MAX_CHARS, MAX_CALLS_PER_TURN, MAX_FETCH_BYTES, MAX_FILE_BYTES, ROOTS_MAX,
        SETSPARK_TIMEOUT_MS,
    },
    fault::FaultCode,
    git, json, paths,
    policy::{NAME_MAX_CHARS, Root, RootGit, RootWrite, SetSpark, Tools, Web},
    url::{self, UrlShape},
    walk::{Place, all, distinct},
};
use std::{path::PathBuf, time::Duration};

pub(super) fn tools(place: &Place<'_>, expect: Expect<'_>) -> Option<Tools> {
    let mut fields = place.object()?;
    let roots = fields.or("roots", Vec::new(), |place| roots(place, expect));
    let max_file = fields.whole("maxFileBytes", MAX_FILE_BYTES);
    let max_calls = fields.whole("maxCallsPerTurn", MAX_CALLS_PER_TURN);
    let web = fields.may("web", web);
    let setspark = fields.may("setspark", setspark);
    for key in ["mcp", "terminal"] {
        fields.reserved(key);
    }
    fields.end();
    Some(Tools {
        roots: roots?,
        max_file_bytes: max_file?,
        max_calls_per_turn: u32::try_from(max_calls?).ok()?,
        web: web?,
        setspark: setspark?,
    })
}

fn roots(place: &Place<'_>, expect: Expect<'_>) -> Option<Vec<Root>> {
    let places = place.list(0..=ROOTS_MAX, "directories")?;
    let mut names = Vec::new();
    let mut paths = Vec::new();
    let read = all(&places, |place| root(place, expect, &mut names, &mut paths));
    let distinct_names = distinct(names, "root name");
    let apart = apart(&paths);
    let ((), ()) = (distinct_names?, apart?);
    read
}

type Noted<'w, T> = Vec<(T, Place<'w>)>;

fn root<'w>(
    place: &Place<'w>,
    expect: Expect<'_>,
    names: &mut Noted<'w, String>,
    paths: &mut Noted<'w, PathBuf>,
) -> Option<Root> {
    let mut fields = place.object()?;
    let name = fields.must("name", |place| {
        let allowed = "1 to 64 of A-Z, a-z, 0-9, - and _, beginning with a letter or a digit";
        let name = place.parsed(allowed, |text| is_root_name(text).then(|| text.to_owned()))?;
        names.push((name.clone(), place.clone()));
        Some(name)
    });
    let path = fields.must("path", |place| {
        let path = root_path(place, expect)?;
        paths.push((path.clone(), place.clone()));
        Some(path)
    });
    let write = fields.or("write", RootWrite::No, root_write);
    let git = fields.may("git", git);
    let fits = match (write, &git) {
        (Some(RootWrite::No), Some(Some(_))) => {
            let allowed = "nothing: git needs a root with `write` true or \"ask\"";
            fields.present("git", FaultCode::Conflict, allowed)
        }
        _ => Some(()),
    };
    fields.end();
    let () = fits?;
    Some(Root {
        name: name?,
        path: path?,
        write: write?,
        git: git?,
    })
}

fn is_root_name(text: &str) -> bool {
    let first = text.bytes().next();
    first.is_some_and(|b| b.is_ascii_alphanumeric())
        && text.len() <= NAME_MAX_CHARS
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

fn root_path(place: &Place<'_>, expect: Expect<'_>) -> Option<PathBuf> {
    let path = place.parsed(paths::ABSOLUTE_ALLOWED, paths::absolute)?;
    if let Some(allowed) = paths::forbidden_root(&path, expect.data_root, expect.home) {
        return place.fault(FaultCode::ForbiddenRoot, allowed);
    }
    place.note_root(&path);
    Some(path)
}

/// Roots that lie in one another would give one file two sets of rights.
fn apart(paths: &[(PathBuf, Place<'_>)]) -> Option<()> {
    let mut clean = Some(());
    for (index, (path, place)) in paths.iter().enumerate() {
        let meets =
            |(other, _): &&(PathBuf, Place<'_>)| path.starts_with(other) || other.starts_with(path);
        if let Some((_, earlier)) = paths[..index].iter().find(meets) {
            let allowed = format!("a directory neither inside nor above {}", earlier.path());
            clean = place.fault(FaultCode::Duplicate, &allowed);
        }
    }
    clean
}

fn root_write(place: &Place<'_>) -> Option<RootWrite> {
    match &place.node().value {
        json::Value::Flag(true) => Some(RootWrite::Yes),
        json::Value::Flag(false) => Some(RootWrite::No),
        json::Value::Text(word) if word == "ask" => Some(RootWrite::Ask),
        json::Value::Text(_) => place.fault(FaultCode::BadValue, "true, false or \"ask\""),
        json::Value::Null
        | json::Value::Whole(_)
        | json::Value::Real(_)
        | json::Value::List(_)
        | json::Value::Object(_) => place.fault(FaultCode::WrongType, "true, false or \"ask\""),
    }
}

fn git(place: &Place<'_>) -> Option<RootGit> {
    let mut fields = place.object()?;
    let branch = fields.must("branch", |place| {
        place.parsed(git::BRANCH_ALLOWED, git::branch)
    });
    let identity = fields.must("identity", |place| {
        place.parsed(git::IDENTITY_ALLOWED, git::identity)
    });
    let token_file = fields.must("tokenFile", key_path);
    let author = fields.must("author", |place| {
        place.parsed(git::AUTHOR_ALLOWED, git::author)
    });
    let protocol = fields.may("protocol", |place| place.choice(&[("vault", "vault")]));
    fields.end();
    Some(RootGit {
        branch: branch?,
        identity: identity?,
        token_file: token_file?,
        author: author?,
        protocol: protocol?.map(str::to_owned),
    })
}

fn web(place: &Place<'_>) -> Option<Web> {
    let mut fields = place.object()?;
    let searxng = fields.may("searxng", |place| {
        place.parsed(url::BASE_ALLOWED, |text| url::check(text, UrlShape::Base))
    });
    let max_fetch = fields.whole("maxFetchBytes", MAX_FETCH_BYTES);
    fields.end();
    Some(Web {
        searxng: searxng?.map(|url| url.text),
        max_fetch_bytes: max_fetch?,
    })
}

fn setspark(place: &Place<'_>) -> Option<SetSpark> {
    let mut fields = place.object()?;
    let base_url = fields.must("baseUrl", |place| {
        place.parsed(url::ORIGIN_ALLOWED, |text| {
            url::check(text, UrlShape::Origin)
        })
    });
    let key_file = fields.must("keyFile", key_path);
    let principal = fields.must("principal", |place| {
        let allowed = "1 to 200 visible ASCII characters without a colon";
        place.parsed(allowed, |text| is_principal(text).then(|| text.to_owned()))
    });
    let timeout = fields.whole("timeoutMs", SETSPARK_TIMEOUT_MS);
    fields.end();
    Some(SetSpark {
        base_url: base_url?.text,
        key_file: key_file?,
        principal: principal?,
        timeout: Duration::from_millis(timeout?),
    })
}

/// The principal begins the idempotency keys, in which a colon divides the parts.
fn is_principal(text: &str) -> bool {
    (1..=LABEL_MAX_CHARS).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_graphic() && b != b':')
}
