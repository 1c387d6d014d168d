//! All integration tests, one binary.

mod bad_input;
mod cli;
mod golden;
mod layers;
mod schedules;
mod support;
