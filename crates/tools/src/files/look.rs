//! Lists, reads and searches.
//!
//! In: a place. Out: what is there, as text. Never: a change.

use super::{LIST_MAX_COUNT, Place, limit, words};
use crate::{
    arguments::Arguments,
    call::Call,
    effect::{ReadEffect, look, permitted},
    refusal::CallRefusal,
    turn::{Given, GivenKind, Turn},
};
use guildhall_authority::{ask::Shown, permit::Permit};
use guildhall_confine::{FileLimit, Found, Pattern, Query, SearchBounds};
use std::sync::Arc;

/// Lists a folder.
pub(crate) async fn list(
    turn: &Arc<Turn>,
    call: &Call,
    arguments: &Arguments,
) -> Result<Given, CallRefusal> {
    let place = Place::of(turn, call, arguments)?;
    let permit = may_read(turn, call, &place).await?;
    let listing = look(turn, call, permit, |permit, _| {
        let effect = permit.spend()?;
        Ok(effect.ground.root.list(&effect.path, LIST_MAX_COUNT)?)
    })
    .await?;
    turn.record().was_shown(&place.shown_folder());
    let text = words::of_listing(&place.path, &listing);
    Ok(seen(turn, call, text))
}

/// Reads a file whole.
pub(crate) async fn read(
    turn: &Arc<Turn>,
    call: &Call,
    arguments: &Arguments,
) -> Result<Given, CallRefusal> {
    let place = Place::of(turn, call, arguments)?;
    let permit = may_read(turn, call, &place).await?;
    let limit = limit(turn, call);
    let text = look(turn, call, permit, move |permit, _| {
        let effect = permit.spend()?;
        let read = effect.ground.root.read_text(&effect.path, limit)?;
        Ok(read.into_string())
    })
    .await?;
    turn.record().was_shown(&place.shown());
    Ok(seen(turn, call, text))
}

/// Searches a root.
pub(crate) async fn search(
    turn: &Arc<Turn>,
    call: &Call,
    arguments: &Arguments,
) -> Result<Given, CallRefusal> {
    let place = Place::of(turn, call, arguments)?;
    let permit = may_read(turn, call, &place).await?;
    let wanted = Wanted {
        pattern: arguments.text("pattern").to_owned(),
        regex: arguments.is_set("regex"),
        glob: arguments.may_text("glob").map(str::to_owned),
        file: limit(turn, call),
    };
    let found = look(turn, call, permit, move |permit, call| {
        wanted.search(&permit.spend()?, call)
    })
    .await?;
    {
        let mut record = turn.record();
        // That nothing was found is something that was read, too.
        record.was_shown(&format!("{}: search", place.shown_searched()));
        for hit in &found.hits {
            record.was_shown(&format!("{}:{}", place.ground.name, hit.path));
        }
    }
    Ok(seen(turn, call, words::of_search(&found)))
}

struct Wanted {
    pattern: String,
    regex: bool,
    glob: Option<String>,
    file: FileLimit,
}

impl Wanted {
    fn search(&self, effect: &ReadEffect, call: &Call) -> Result<Found, CallRefusal> {
        let query = Query {
            pattern: if self.regex {
                Pattern::Regex(&self.pattern)
            } else {
                Pattern::Literal(&self.pattern)
            },
            glob: self.glob.as_deref(),
            path: &effect.path,
        };
        let bounds = SearchBounds {
            file: self.file,
            ..SearchBounds::default()
        };
        let root = &effect.ground.root;
        Ok(root.search(&query, &bounds, call.cancel.flag())?)
    }
}

async fn may_read(
    turn: &Arc<Turn>,
    call: &Call,
    place: &Place,
) -> Result<Permit<ReadEffect>, CallRefusal> {
    let effect = ReadEffect {
        tool: call.tool,
        ground: Arc::clone(&place.ground),
        path: place.path.clone(),
    };
    permitted(turn, call, effect, |effect| Shown {
        what: format!("Look at {}", crate::shown::line(effect.path.as_str())),
        facts: vec![("root".to_owned(), effect.ground.name.clone())],
        ..Shown::default()
    })
    .await
}

fn seen(turn: &Turn, call: &Call, text: String) -> Given {
    turn.record().had_bytes(call.number, text.len());
    Given {
        text,
        kind: GivenKind::Seen,
    }
}
