//! Writes and edits.
//!
//! In: a place and a text, or a text and its replacement. Out: the file changed, and a word about it.
//! Never: a change that was not prepared whole before it was judged; a folder that is made; a program
//! that a vault's verbs run.

use super::{Place, limit, words};
use crate::{
    arguments::Arguments,
    call::Call,
    difference,
    effect::{WriteEffect, carry_out, hex, permitted, publish},
    ground::Ground,
    refusal::CallRefusal,
    shown,
    turn::{Given, GivenKind, Turn},
};
use guildhall_authority::{
    ask::{Content, Shown},
    offer::{ToolName, Toolset},
};
use guildhall_confine::{Change, FileLimit, Prepared, Refusal, RelPath};
use guildhall_git::GitRefusal;
use std::sync::Arc;

/// Makes, replaces or edits a file.
pub(crate) async fn write(
    turn: &Arc<Turn>,
    call: &Call,
    arguments: &Arguments,
) -> Result<Given, CallRefusal> {
    let place = Place::of(turn, call, arguments)?;
    let effect = prepare(turn, call, &place, arguments).await?;
    let path = place.path.clone();
    let permit = permitted(turn, call, effect, card).await?;
    let target = permit.effect().target();
    let published = carry_out(turn, call, permit, target, |permit, call| {
        publish(permit, &call.cancel)
    })
    .await?;
    turn.record().had_bytes(call.number, published.bytes);
    Ok(Given {
        text: words::of_published(&path, published),
        kind: GivenKind::Changed,
    })
}

/// Looks at what is there, and makes what will be there.
async fn prepare(
    turn: &Turn,
    call: &Call,
    place: &Place,
    arguments: &Arguments,
) -> Result<WriteEffect, CallRefusal> {
    let (tool, limit) = (call.tool, limit(turn, call));
    let (ground, path) = (Arc::clone(&place.ground), place.path.clone());
    if ground.vault().is_some_and(|vault| vault.runs(&path)) {
        return Err(CallRefusal::Git(GitRefusal::VaultToolsProtected));
    }
    let wish = Wish::of(tool, arguments);
    let work = turn.host.pool.run(move || {
        let prepared = wish.prepare(&ground, &path, limit)?;
        refuse_masks(&prepared)?;
        Ok(WriteEffect {
            tool,
            ground,
            prepared,
        })
    });
    let prepared = call.within(work).await?;
    prepared.unwrap_or(Err(CallRefusal::Cancelled))
}

/// Refuses a change that brings a mask into a file. Results show masks in place of credentials, and a
/// model that writes one back would destroy what it stands for.
fn refuse_masks(prepared: &Prepared) -> Result<(), CallRefusal> {
    let masks = |text: &str| text.matches(shown::MASKED).count();
    let before = prepared.text_before().map_or(0, masks);
    if masks(prepared.text_after()) > before {
        return Err(CallRefusal::Mask);
    }
    Ok(())
}

/// What a call asks for.
enum Wish {
    Create(String),
    Write(String),
    Edit { old: String, new: String },
}

impl Wish {
    fn of(tool: ToolName, arguments: &Arguments) -> Self {
        let text = |name: &str| arguments.text(name).to_owned();
        match arguments.may_text("old") {
            Some(old) => Self::Edit {
                old: old.to_owned(),
                new: text("new"),
            },
            None if tool == ToolName::Create => Self::Create(text("text")),
            None => Self::Write(text("text")),
        }
    }

    fn prepare(
        &self,
        ground: &Ground,
        path: &RelPath,
        limit: FileLimit,
    ) -> Result<Prepared, Refusal> {
        let root = &ground.root;
        match self {
            Self::Create(text) => root.prepare_create(path, text, limit),
            Self::Write(text) => root.prepare_write(path, text, limit),
            Self::Edit { old, new } => root.prepare_edit(path, old, new, limit),
        }
    }
}

/// What a person is shown of a change.
fn card(effect: &WriteEffect) -> Shown {
    let prepared = &effect.prepared;
    let path = shown::fact(prepared.path().as_str());
    let verb = match prepared.change() {
        Change::Create => "Create",
        Change::Replace => "Replace",
        Change::Edit => "Edit",
    };
    let place = if effect.tool.toolset() == Toolset::Workspace {
        "workspace"
    } else {
        "root"
    };
    let mut facts = vec![
        (place.to_owned(), effect.ground.name.clone()),
        ("path".to_owned(), path.clone()),
        (
            "bytes after".to_owned(),
            prepared.text_after().len().to_string(),
        ),
        ("sha256 after".to_owned(), hex(&prepared.digest_after())),
    ];
    let after = prepared.text_after();
    if prepared.change() != Change::Edit && !after.is_empty() && !after.ends_with('\n') {
        // A block of code shows no difference.
        facts.push(("last line".to_owned(), "has no line end".to_owned()));
    }
    if let Some(before) = prepared.digest_before() {
        facts.push(("sha256 before".to_owned(), hex(&before)));
    }
    Shown {
        what: format!("{verb} {path}"),
        facts,
        content: Some(content(prepared, &path)),
        read: Vec::new(),
    }
}

fn content(prepared: &Prepared, path: &str) -> Content {
    match (prepared.change(), prepared.text_before()) {
        (Change::Replace | Change::Edit, Some(before)) => Content {
            name: "change.diff".to_owned(),
            text: difference::unified(path, before, prepared.text_after()),
        },
        (Change::Create, _) | (_, None) => Content {
            name: "content.txt".to_owned(),
            text: prepared.text_after().to_owned(),
        },
    }
}
