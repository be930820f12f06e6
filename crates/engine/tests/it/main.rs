//! The engines from outside: one contract for all, then each by itself.

mod contract;
mod practice;
mod support;
