//! The journal from outside: what survives, what is refused, and under which name.

mod brakes;
mod child;
mod support;

mod crashes;
mod cuts;
mod device;
mod files;
mod groups;
mod locks;
mod room;
mod trouble;
