//! Tests that compute: the simulator against slow twins of it, and on random workloads. They use the library only, never the
//! program. They are a package of their own because they are compiled with optimisation, and the other tests are not.
//!
//! The suite uses its helpers too.

#![forbid(unsafe_code)]

#[cfg(any(test, feature = "helpers"))]
pub mod random;
#[cfg(any(test, feature = "helpers"))]
pub mod random_nodes;
#[cfg(any(test, feature = "helpers"))]
pub mod support;

#[cfg(test)]
mod feedback;
#[cfg(test)]
mod invariants;
#[cfg(test)]
mod meta;
#[cfg(test)]
mod model_downey;
#[cfg(test)]
mod model_lublin;
#[cfg(test)]
mod model_users;
#[cfg(test)]
mod nodes_by_hand;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod plain;
#[cfg(test)]
mod plain_fair;
#[cfg(test)]
mod plain_feedback;
#[cfg(test)]
mod plain_nodes;
#[cfg(test)]
mod plain_outages;
#[cfg(test)]
mod plain_slurm;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod slow_kin;
#[cfg(test)]
mod slow_learned;
#[cfg(test)]
mod slow_predictors;
#[cfg(test)]
mod slow_waits;
#[cfg(test)]
mod slurm_by_hand;
#[cfg(test)]
mod slurm_outages;
#[cfg(test)]
mod slurm_parts;
