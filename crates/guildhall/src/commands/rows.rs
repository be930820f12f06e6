//! `guildhall rows`: open rows, and what a person withdraws or ends.
//!
//! In: a running seat, or the journal of one that does not run. Out: a list; a row that is
//! cancelled, a run that is aborted. Never: a write beside a running process.

use super::{
    Output, deliveries, print,
    socket::{Answer, accepted, ask, silent},
};
use crate::{
    cli::RowsArgs,
    exit::{ExitReason, Failure},
    home::Home,
    seat::{recovery, row_shown},
};
use guildhall_authority::admission::DropReason;
use guildhall_connector::{
    durable::RowState,
    ids::RowId,
    record::{DropLine, Record, RowRecord, Settlement},
};
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn run(home: &Home, args: &RowsArgs, output: Output) -> Result<(), Failure> {
    let folder = home.checked_folder(&args.binding)?;
    let Some(row) = &args.row else {
        return list(&folder, &args.binding, output);
    };
    let usage = |what: &str| Failure::new(ExitReason::Usage, what);
    let row: RowId = row.parse().map_err(|_| usage("that is no row's id"))?;
    let what = match (args.cancel, args.abort) {
        (true, _) => "cancel",
        (_, true) => "abort",
        (false, false) => return Err(usage("say --cancel or --abort")),
    };
    let how = match ask(&folder, &json!({"do": what, "row": row})) {
        Answer::Said(said) => accepted(said)?["how"].as_str().unwrap_or("done").to_owned(),
        Answer::Nobody if args.cancel => cancel(home, &args.binding, row)?,
        Answer::Nobody => return Err(Failure::failed("nothing runs: there is no run to abort")),
        Answer::Silent(why) => return Err(silent(&why, &args.binding)),
    };
    match output {
        Output::Text => print(format!("{row}: {how}")),
        Output::Json => print(json!({"row": row, "how": how})),
    }
    Ok(())
}

fn list(folder: &Path, name: &str, output: Output) -> Result<(), Failure> {
    let open = match ask(folder, &json!({"do": "rows"})) {
        Answer::Said(said) => accepted(said)?["rows"].take(),
        Answer::Nobody => recovery::peek(folder)?
            .open_rows()
            .map(|(id, row)| row_shown(id, row))
            .collect(),
        Answer::Silent(why) => return Err(silent(&why, name)),
    };
    let open = open.as_array().map_or(&[][..], Vec::as_slice);
    for row in open {
        match output {
            Output::Json => print(row),
            Output::Text => print(words(row)),
        }
    }
    if open.is_empty() && output == Output::Text {
        print("no row is open");
    }
    Ok(())
}

fn words(row: &Value) -> String {
    let text = |key: &str| match row[key].as_str() {
        Some(text) => text.to_owned(),
        None => row[key].to_string(),
    };
    format!(
        "{}  {}  {} on route {} in {}",
        text("row"),
        text("state"),
        text("descriptor"),
        text("route"),
        text("place")
    )
}

/// Withdraws a row that waits for the next start.
fn cancel(home: &Home, name: &str, row: RowId) -> Result<String, Failure> {
    let durable = recovery::peek(&home.folder(name))?;
    let not_open = "that is not an open row";
    let open = durable.open_rows().find(|(known, _)| *known == row);
    let (_, found) = open.ok_or_else(|| Failure::failed(not_open))?;
    if found.state != RowState::Queued {
        return Err(Failure::failed(
            "its turn has begun: the next start says what became of it",
        ));
    }
    let why = DropReason::Cancelled;
    let line = DropLine {
        message: row,
        channel: Some(found.place.target()),
        author: found.who.user(),
        why,
    };
    let settled = RowRecord::Settled {
        row,
        how: Settlement::Cancelled,
        why: Some(why.code().to_owned()),
    };
    let records = [Record::Rows(settled), Record::Drops(line)];
    deliveries::write(home, name, &records, not_open)?;
    Ok("cancelled".to_owned())
}
