//! Independent clients and a browser against the simulator: discord.js, discord.py, Chromium.
//!
//! They come from outside the checkout. `cargo xtask test` installs them and sets the variables
//! that say where they are; without the variables these tests fail.

#[path = "../it/harness.rs"]
#[expect(
    dead_code,
    reason = "shared with the integration tests, which use all of it"
)]
mod harness;
#[path = "../it/schema.rs"]
mod schema;

mod bots;
mod browser;
mod tools;
