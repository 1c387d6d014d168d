//! The log embedded in the binary.

use std::borrow::Cow;

use super::clean::{Cleaning, clean};
use super::log::ReadOptions;
use super::read::read;
use super::source::Source;
use super::workload::Workload;

/// A small log made by the project itself, so that the program can be tried without any files.
pub fn demo() -> Source {
    Source::Bytes { name: "demo", bytes: Cow::Borrowed(include_bytes!("../../../traces/demo.swf.gz")) }
}

/// The workload of the embedded log, cleaned by the default rules.
pub fn demo_workload() -> Workload {
    let log = read(&demo(), ReadOptions::default(), &mut |_| ()).expect("the embedded log can be read");
    clean(&log, &Cleaning::default()).expect("the embedded log has jobs")
}
