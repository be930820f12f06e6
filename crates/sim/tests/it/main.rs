//! Integration tests of the simulator, over real sockets.

mod harness;
mod schema;

mod login;
