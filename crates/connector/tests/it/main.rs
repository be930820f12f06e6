//! The connector from outside: inputs in, steps out.

mod flow;
mod world;
