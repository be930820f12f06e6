//! `guildhall deliveries`: what is not settled, and what a person settles by hand.
//!
//! In: a running seat, or the journal of one that does not run. Out: a list, or one receipt more.
//! Never: a write beside a running process.

use super::{
    Output, print,
    socket::{Answer, accepted, ask, silent},
};
use crate::{
    cli::DeliveriesArgs,
    clock::Clocks,
    exit::{ExitReason, Failure, chain},
    home::Home,
    seat::{self, delivery_shown, recovery},
};
use guildhall_binding::ids::MessageId;
use guildhall_connector::{
    ids::Nonce,
    record::{ConfirmedBy, OutboxRecord, Record, RefusedWhy},
};
use guildhall_journal::lock::{Owner, RunLock};
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn run(home: &Home, args: &DeliveriesArgs, output: Output) -> Result<(), Failure> {
    let folder = home.checked_folder(&args.binding)?;
    let Some(nonce) = &args.nonce else {
        return list(&folder, &args.binding, output);
    };
    let usage = |what: &str| Failure::new(ExitReason::Usage, what);
    let nonce: Nonce = nonce
        .parse()
        .map_err(|_| usage("that is no delivery's nonce"))?;
    let there = match (&args.there, args.not_there) {
        (Some(message), _) => Some(
            message
                .parse::<MessageId>()
                .map_err(|_| usage("that is no message id"))?,
        ),
        (None, true) => None,
        (None, false) => return Err(usage("say --there MESSAGE or --not-there")),
    };
    let request = json!({"do": "settle", "nonce": nonce, "there": there});
    match ask(&folder, &request) {
        Answer::Said(said) => drop(accepted(said)?),
        Answer::Nobody => settle(home, &args.binding, nonce, there)?,
        Answer::Silent(why) => return Err(silent(&why, &args.binding)),
    }
    match output {
        Output::Text => print(format!("settled {nonce}")),
        Output::Json => print(json!({"settled": nonce})),
    }
    Ok(())
}

fn list(folder: &Path, name: &str, output: Output) -> Result<(), Failure> {
    let open = match ask(folder, &json!({"do": "deliveries"})) {
        Answer::Said(said) => accepted(said)?["deliveries"].take(),
        Answer::Nobody => recovery::peek(folder)?
            .open_deliveries()
            .map(|(nonce, delivery)| delivery_shown(nonce, delivery))
            .collect(),
        Answer::Silent(why) => return Err(silent(&why, name)),
    };
    let open = open.as_array().map_or(&[][..], Vec::as_slice);
    for delivery in open {
        match output {
            Output::Json => print(delivery),
            Output::Text => print(words(delivery)),
        }
    }
    if open.is_empty() && output == Output::Text {
        print("every delivery is settled");
    }
    Ok(())
}

fn words(delivery: &Value) -> String {
    let text = |key: &str| delivery[key].as_str().unwrap_or("-").to_owned();
    format!(
        "{}  {}  {} {} of {} for {} in {} since {}",
        text("nonce"),
        text("state"),
        text("purpose"),
        delivery["part"],
        delivery["of"],
        text("owner"),
        text("place"),
        text("since")
    )
}

/// Takes the lock, so that nothing runs meanwhile, and writes the receipt.
fn settle(home: &Home, name: &str, nonce: Nonce, there: Option<MessageId>) -> Result<(), Failure> {
    let receipt = match there {
        Some(message) => OutboxRecord::Confirmed {
            nonce,
            message: Some(message),
            by: ConfirmedBy::Operator,
        },
        None => OutboxRecord::Refused {
            nonce,
            why: RefusedWhy::Operator,
            code: None,
        },
    };
    let not_open = format!("{nonce} is not an open delivery");
    write(home, name, &[Record::Outbox(receipt)], &not_open)
}

/// Appends records as one group to the journal of a binding that does not run.
pub(super) fn write(
    home: &Home,
    name: &str,
    records: &[Record],
    unfit: &str,
) -> Result<(), Failure> {
    let folder = home.folder(name);
    let lock = RunLock::claim(&folder, &home.brakes(name), &Owner::current())
        .map_err(|error| seat::claim_failure(&error, name))?;
    let at = Clocks::default().wall().rfc3339();
    let (mut journal, mut durable) = recovery::open(&folder, &at)?;
    for record in records {
        durable
            .apply(record)
            .map_err(|_| Failure::failed(unfit.to_owned()))?;
    }
    let lines: Vec<_> = records
        .iter()
        .map(|record| (record.log(), record.to_json()))
        .collect();
    let appended = journal.append(&at, &lines);
    drop(journal);
    let released = lock.release();
    let _committed = appended.map_err(|error| Failure::failed(chain(&error)))?;
    released.map_err(|error| Failure::failed(chain(&error)))
}
