//! The operator's policy file.
//!
//! In: the bytes of a binding file. Out: a checked [`Policy`], or all of its faults at once.
//! Never: opens a path, reads the environment, or lets an unknown key pass.

mod bounds;
mod fault;
pub mod file; // the shape, for writers and for the schema
mod git;
pub mod ids;
mod json;
mod paths;
mod policy; // start here: what a binding comes to
mod read; // the reader, section by section
mod reload; // what a running process may take
mod schema;
mod show;
mod url;
mod walk; // typed readers that go on after a fault

pub use bounds::FILE_MAX_BYTES;
pub use fault::{FAULTS_MAX, Fault, FaultCode, Faults};
pub use policy::*;
pub use read::{Expect, read};
pub use reload::{Change, Differences, FixedChanged, FixedField, FixedWhy, LimitChange, change};
pub use schema::schema;
