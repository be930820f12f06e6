//! The engines from outside: one contract for all, then each by itself.

mod contract;
mod native;
mod practice;
mod provider;
mod support;
