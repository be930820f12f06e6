//! The reader, its schema and its reload rules, tested through the public surface.

mod changes;
mod documents; // what the tests begin from // and how they change it

mod accepted;
mod agreement;
mod documentation;
mod extremes;
mod refused;
mod reload;
mod whole_file;
