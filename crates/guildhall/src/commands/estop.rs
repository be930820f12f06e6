//! `guildhall estop`: the brake of the whole data root.

use super::{Output, print};
use crate::{
    cli::EstopArgs,
    exit::{ExitReason, Failure},
    home::{Home, private_failure},
};
use guildhall_journal::{BrakeSet, ensure_private_folder, release_brake, set_brake};
use serde_json::json;
use std::io::{BufRead as _, IsTerminal as _};

pub(super) fn run(home: &Home, args: &EstopArgs, output: Output) -> Result<(), Failure> {
    let path = home.root().join("ESTOP");
    let fail = |error| private_failure(ExitReason::Failed, "cannot change ESTOP", &error);
    ensure_private_folder(home.root()).map_err(fail)?;
    let (state, words) = match &args.why {
        Some(why) => match set_brake(&path, why).map_err(fail)? {
            BrakeSet::Written => (
                "set",
                "ESTOP is set: nothing new starts, what runs is aborted",
            ),
            BrakeSet::AlreadySet => ("set", "ESTOP was set already; its reason was left as it is"),
        },
        None => {
            confirm(args)?;
            match release_brake(&path).map_err(fail)? {
                true => ("released", "ESTOP is released"),
                false => ("absent", "there was no ESTOP"),
            }
        }
    };
    match output {
        Output::Text => print(words),
        Output::Json => print(json!({"estop": state, "path": path})),
    }
    Ok(())
}

fn confirm(args: &EstopArgs) -> Result<(), Failure> {
    if args.yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return Err(Failure::new(
            ExitReason::Usage,
            "releasing ESTOP needs a person, or --yes",
        ));
    }
    eprint!("Release ESTOP, so that every binding serves again? Type yes: ");
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    match (read, line.trim()) {
        (Ok(_), "yes") => Ok(()),
        (Ok(_) | Err(_), _) => Err(Failure::failed("ESTOP stays set")),
    }
}
