//! The journal from outside: what survives, what is refused, and under which name.

mod support;

mod cuts;
mod groups;
