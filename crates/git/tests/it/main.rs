//! The crate as its users see it: real git, a real server behind TLS, hostile repositories.

mod commits; // commits and pushes
mod cuts; // verbs that are cancelled anywhere
mod hostile; // every line of the corpus
mod paths; // which paths may be committed
mod pulls; // pulls
mod scene; // a root and everything around it
mod secrecy; // where the token is not
mod server; // a git server behind TLS
mod spying; // what is seen of starts
mod states; // repositories as people leave them
mod vaults; // locks, checks and ids
