//! What jobs ask of a machine of nodes, from the rows of logs and from files of requests.

mod fields;
pub mod file;
mod from_file;
mod node_text;
mod pbs;
mod reading;
mod sbatch;
mod slurm;
mod submit_line;
mod survey;
mod swf;

pub use fields::{REQUEST_FIELDS, RequestField, Said};
pub use file::RequestFile;
pub use from_file::with_requests;
pub use pbs::PbsAsked;
pub use reading::RequestsRead;
pub use sbatch::SbatchAsked;
pub use slurm::SlurmAsked;
pub use submit_line::{SubmitLine, split_quoted, unquoted};
pub use survey::{DeviceSurvey, MemoryRange, RequestSurvey, beyond_a_pool};
pub use swf::asked_by_wide_fields;

use crate::request::{MemoryAsked, Request};
use crate::text::printable;

/// What logs call MB is 1024 * 1024 bytes.
const MB: u64 = 1 << 20;

/// The memory of a job of which only the sum is known: the same on each node if that is a whole number of MB, else the same for
/// each CPU.
fn memory_of_total(total: u64, nodes: u32, cpus: u32) -> MemoryAsked {
    let nodes = u64::from(nodes);
    match total {
        0 => MemoryAsked::Unsaid,
        _ if nodes > 0 && total.is_multiple_of(nodes) => MemoryAsked::PerNode(total / nodes),
        _ => MemoryAsked::PerCpu(total.div_ceil(u64::from(cpus.max(1)))),
    }
}

/// A text of a log, without what cannot be printed, so that files of requests can have it as it is.
fn words(text: &[u8]) -> String {
    printable(&String::from_utf8_lossy(text.trim_ascii())).into_owned()
}

/// The names of a list such as `short,long`.
fn names(text: &[u8]) -> Vec<String> {
    text.split(|&byte| byte == b',').map(words).filter(|name| !name.is_empty()).collect()
}

/// The request, if it says more than a number of CPUs.
fn if_more_than_cpus(request: Request) -> Option<Request> {
    let only_cpus = Request { cpus: request.cpus, tasks: request.tasks, ..Request::default() };
    (request != only_cpus).then_some(request)
}
