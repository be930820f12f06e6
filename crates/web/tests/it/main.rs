//! Fetches and searches over real TLS and TCP on loopback, behind the fence that the product uses.
//!
//! Only two things are put in: a resolver that answers from a script, and a dialer that notes which
//! vetted address it was given and connects to the server of the test instead.

mod corpus; // every line of it
mod elsewhere; // redirects and names that lead inside
mod environment;
mod heard;
mod hostile; // answers without end, and answers that lie
mod line; // the format of the corpus
mod reply; // what the server sends
mod requests; // what goes out, and what must not show
mod searches; // a stand-in for a search instance
mod stage; // a server, a resolver, a dialer // a process with proxies set
