//! How records look on the wire.
//!
//! In: the world and a record. Out: the JSON that Discord's OpenAPI description asks for.
//! Never: changes anything, decides who may see what.

pub(crate) mod application;
pub(crate) mod channel;
mod guild;
pub(crate) mod message;
mod user;

pub(crate) use message::{Content, Viewer};
