//! Integration tests of the simulator, over real sockets.

mod harness;
mod schema;

mod cards;
mod commands;
mod control;
mod faults;
mod gateway;
mod interactions;
mod limits;
mod login;
mod messages;
mod odd;
mod page;
mod permissions;
mod reactions;
mod resume;
mod threads;
