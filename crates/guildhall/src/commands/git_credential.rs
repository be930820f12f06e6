//! What git runs to learn the credential of a root's remote.
//!
//! In: git's question on stdin, three variables that the verb set. Out: user and token on stdout, for
//! the bound remote alone. Never: a token for another host, port, path or scheme; a word of it on
//! stderr or in an argument.

use crate::exit::Failure;
use guildhall_git::HelperRefusal;
use std::io;

pub(super) fn run(operation: &str) -> Result<(), Failure> {
    let env = |name: &str| std::env::var_os(name);
    let answered = guildhall_git::answer(operation, &mut io::stdin(), &env, &mut io::stdout());
    match answered {
        Ok(()) | Err(HelperRefusal::NotAsked) => Ok(()),
        Err(refusal) => Err(Failure::failed(refusal)),
    }
}
