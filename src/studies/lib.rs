//! What is done with many simulations. The package `shadowtime` hands on all of it; its documentation is the map.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod fidelity;
pub mod malleable;
pub mod meta;
pub mod production;
pub mod runs;
pub mod search;
pub mod wait;

// The floors below, under the names that they have in the whole program.
use shadowtime_core::{
    engine, experiment, files, job, machine, metrics, model, output, parallel, predict, request, rng, schedule,
    settings_file, similar, sort, spec, stats, text, time, trace,
};
use shadowtime_report as report;
