//! `guildhall deliveries` and `rows`: what is open, and what a person settles by hand.
//!
//! In: the journal of a binding that does not run. Out: a list, or one receipt more. Never: a write
//! beside a running process.

use super::{Output, print};
use crate::{
    cli::DeliveriesArgs,
    clock::Clocks,
    exit::{ExitReason, Failure},
    home::Home,
    seat::{self, recovery},
};
use guildhall_connector::{
    ids::Nonce,
    record::{ConfirmedBy, OutboxRecord, Record, RefusedWhy},
};
use guildhall_journal::lock::{Owner, RunLock};
use serde_json::json;

pub(super) fn run(home: &Home, args: &DeliveriesArgs, output: Output) -> Result<(), Failure> {
    let folder = home.checked_folder(&args.binding)?;
    let Some(nonce) = &args.nonce else {
        return list(&folder, output);
    };
    let usage = |what: &str| Failure::new(ExitReason::Usage, what);
    let nonce: Nonce = nonce
        .parse()
        .map_err(|_| usage("that is no delivery's nonce"))?;
    let record = match (&args.there, args.not_there) {
        (Some(message), _) => {
            let message = message
                .parse()
                .map_err(|_| usage("that is no message id"))?;
            let by = ConfirmedBy::Operator;
            OutboxRecord::Confirmed {
                nonce,
                message: Some(message),
                by,
            }
        }
        (None, true) => OutboxRecord::Refused {
            nonce,
            why: RefusedWhy::Operator,
            code: None,
        },
        (None, false) => return Err(usage("say --there MESSAGE or --not-there")),
    };
    settle(home, &args.binding, nonce, record)?;
    match output {
        Output::Text => print(format!("settled {nonce}")),
        Output::Json => print(json!({"settled": nonce})),
    }
    Ok(())
}

fn list(folder: &std::path::Path, output: Output) -> Result<(), Failure> {
    let durable = recovery::peek(folder)?;
    let mut none = true;
    for (nonce, delivery) in durable.open_deliveries() {
        none = false;
        let owner = delivery.owner.to_string();
        let purpose = delivery.purpose.word();
        let (place, since) = (delivery.place, delivery.since);
        let known = if delivery.state == guildhall_connector::durable::DeliveryState::Unknown {
            "unknown"
        } else {
            "intended"
        };
        match output {
            Output::Json => print(
                json!({"nonce": nonce, "owner": owner, "purpose": purpose, "part": delivery.part, "place": place, "since": since, "state": known, "replyTo": delivery.reply_to}),
            ),
            Output::Text => print(format!(
                "{nonce}  {known}  {purpose} {} of {} for {owner} in {place} since {}",
                delivery.part,
                delivery.of,
                since.rfc3339()
            )),
        }
    }
    if none && output == Output::Text {
        print("every delivery is settled");
    }
    Ok(())
}

/// Takes the lock, so that nothing runs meanwhile, and writes the receipt.
fn settle(home: &Home, name: &str, nonce: Nonce, record: OutboxRecord) -> Result<(), Failure> {
    let folder = home.folder(name);
    let lock = RunLock::claim(&folder, &home.brakes(name), &Owner::current())
        .map_err(|error| seat::claim_failure(&error, name))?;
    let at = Clocks::default().wall().rfc3339();
    let (mut journal, mut durable) = recovery::open(&folder, &at)?;
    let record = Record::Outbox(record);
    durable
        .apply(&record)
        .map_err(|_| Failure::failed(format!("{nonce} is not an open delivery")))?;
    let appended = journal.append(&at, &[(record.log(), record.to_json())]);
    drop(journal);
    let released = lock.release();
    let _committed = appended.map_err(|error| Failure::failed(crate::exit::chain(&error)))?;
    released.map_err(|error| Failure::failed(crate::exit::chain(&error)))
}

pub(super) fn rows(home: &Home, name: &str, output: Output) -> Result<(), Failure> {
    let folder = home.checked_folder(name)?;
    let durable = recovery::peek(&folder)?;
    let mut none = true;
    for (id, row) in durable.open_rows() {
        none = false;
        let state = row.state.word();
        match output {
            Output::Json => print(
                json!({"row": id, "route": row.route, "descriptor": row.descriptor, "who": row.who, "place": row.place, "state": state}),
            ),
            Output::Text => print(format!(
                "{id}  {state}  {} on route {} in {}",
                row.descriptor, row.route, row.place
            )),
        }
    }
    if none && output == Output::Text {
        print("no row is open");
    }
    Ok(())
}
