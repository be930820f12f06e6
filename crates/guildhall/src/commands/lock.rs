//! `guildhall stop`, `unlock` and `recover`: the lock of a binding, on a person's word.

use super::{Output, print};
use crate::{
    exit::{ExitReason, Failure, chain},
    home::{Home, private_failure},
    seat,
};
use guildhall_journal::{
    BrakeSet,
    lock::{self, Cleared, LockError, Verdict},
};
use serde_json::json;

pub(super) fn stop(home: &Home, name: &str, output: Output) -> Result<(), Failure> {
    let folder = folder(home, name)?;
    // A binding that was never served has no folder yet, and is stopped all the same.
    home.make_folders(name)?;
    let stopped = lock::stop(&folder, "guildhall stop; remove this file to run")
        .map_err(|error| private_failure(ExitReason::Failed, "cannot set the brake", &error))?;
    let brake = match stopped.brake {
        BrakeSet::Written => "set",
        BrakeSet::AlreadySet => "was set already",
    };
    let told = match &stopped.owner {
        Ok(signalled) => format!("process {} was told to end", signalled.pid),
        Err(LockError::Refused {
            verdict: Verdict::NothingThere,
            ..
        }) => "nothing runs".to_owned(),
        Err(error) => format!("no process was told: {}", chain(error)),
    };
    let stop = home.brakes(name).stop;
    match output {
        Output::Text => {
            print(format!("STOP {brake}: {}", stop.display()));
            print(format!("{told}; the turn in flight finishes or times out"));
            print("remove that file to run again");
        }
        Output::Json => print(json!({"brake": brake, "owner": told, "path": stop})),
    }
    Ok(())
}

pub(super) fn unlock(home: &Home, name: &str, output: Output) -> Result<(), Failure> {
    let folder = folder(home, name)?;
    let cleared = lock::unlock(&folder).map_err(|error| seat::lock_failure(&error, name))?;
    let stop = home.brakes(name).stop;
    match (output, cleared) {
        (Output::Json, cleared) => print(json!({"cleared": cleared == Cleared::Lock})),
        (Output::Text, Cleared::NothingThere) => print("there is no lock"),
        (Output::Text, Cleared::Lock) => {
            print(format!(
                "the lock is cleared; STOP is set: remove {} to run",
                stop.display()
            ));
        }
    }
    Ok(())
}

pub(super) fn recover(home: &Home, name: &str, output: Output) -> Result<(), Failure> {
    let folder = folder(home, name)?;
    let cleared = lock::recover(&folder, &home.brakes(name))
        .map_err(|error| seat::lock_failure(&error, name))?;
    match (output, cleared) {
        (Output::Json, cleared) => print(json!({"cleared": cleared == Cleared::Lock})),
        (Output::Text, Cleared::NothingThere) => print("there is no lock: the way is clear"),
        (Output::Text, Cleared::Lock) => print("a dead lock was cleared: the way is clear"),
    }
    Ok(())
}

fn folder(home: &Home, name: &str) -> Result<std::path::PathBuf, Failure> {
    home.checked_folder(name)
}
