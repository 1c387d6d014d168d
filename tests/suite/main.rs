//! All integration tests, one binary.

mod archive;
mod bad_input;
mod cli;
mod golden;
mod invariants;
mod layers;
mod oracle;
mod random;
mod reference;
mod reproduce;
mod schedules;
#[cfg(unix)]
mod slurm;
mod support;
mod sweep;
