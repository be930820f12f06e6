//! Discord's wire: the fields that we use, read so that no odd value loses an event.
//!
//! In: JSON text from Discord. Out: fields that are looked at one by one. Never: a strict model, a
//! whole object lost over one value, a type of this module outside the crate.

pub(crate) mod field;
pub(crate) mod objects;

pub(crate) use field::Field;
