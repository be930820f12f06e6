//! The reader, its schema and its reload rules, tested through the public surface.

mod accepted;
mod documents;
mod refused;
mod whole_file;
