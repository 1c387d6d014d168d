//! The simulator: from a log to the figures of a run. The package `shadowtime` hands on all of it; its documentation is the map.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod counts;
pub mod engine;
pub mod experiment;
pub mod files;
pub mod job;
pub mod machine;
pub mod metrics;
pub mod model;
pub mod output;
pub mod parallel;
pub mod predict;
pub mod program;
pub mod request;
pub mod rng;
pub mod schedule;
pub mod settings_file;
pub mod similar;
pub mod sort;
pub mod sorted_blocks;
pub mod spec;
pub mod stats;
pub mod text;
pub mod time;
pub mod trace;
pub mod tres;
