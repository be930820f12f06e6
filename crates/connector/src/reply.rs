//! Splitting a reply into parts that Discord takes.
