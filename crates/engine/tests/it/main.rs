//! The engines from outside: one contract for all, then each by itself.

mod contract;
mod hands;
mod native;
mod pi;
mod practice;
mod provider;
mod support;
