//! The operator's policy file.
//!
//! In: the bytes of a binding file. Out: a checked [`Policy`], or all of its faults at once.
//! Never: opens a path, reads the environment, or lets an unknown key pass.

pub mod ids;
mod policy;

pub use policy::*;
