//! `guildhall schema`: what may stand in a binding.

use crate::{commands::print, exit::Failure};

pub(super) fn run() -> Result<(), Failure> {
    let schema = guildhall_binding::schema();
    print(serde_json::to_string_pretty(&schema).map_err(Failure::failed)?);
    Ok(())
}
