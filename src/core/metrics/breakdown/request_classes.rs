//! Groups of jobs by what they ask for: partition, QOS, account, devices, memory.

use litemap::LiteMap;

use super::group_by::{GroupBy, width_class, width_class_name};
use crate::machine::Cluster;
use crate::request::{Request, RequestId};
use crate::trace::{Workload, shown_texts};
use crate::tres::print_memory;

/// The largest memory of each class, in MB. More is in one more class, and jobs that do not say in another.
const MEMORIES: [u64; 5] = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18];

/// The classes of all requests of a workload by one key.
#[derive(Clone, Debug)]
pub struct RequestClasses {
    /// By request.
    of_request: Vec<i64>,
    /// The class of jobs that say nothing but processors.
    of_others: i64,
    /// The names of classes, if they are names, from class 1 on. Class 0 is unknown.
    names: Vec<String>,
}

impl RequestClasses {
    /// None if groups by this key do not come from requests.
    pub fn of(by: GroupBy, workload: &Workload) -> Option<RequestClasses> {
        let all = workload.requests.all();
        let numbers = |of_others, class: &dyn Fn(&Request) -> i64| RequestClasses {
            of_request: all.iter().map(class).collect(),
            of_others,
            names: Vec::new(),
        };
        Some(match by {
            GroupBy::Device(kind) => numbers(0, &|request| device_class(request.all_of(kind))),
            GroupBy::Memory => numbers(memory_class(None), &|request| memory_class(request.all_memory())),
            GroupBy::Qos => RequestClasses::by_name(workload, workload.names.are_wanted(), |asked| asked.qos.clone()),
            GroupBy::Account => {
                RequestClasses::by_name(workload, workload.names.are_wanted(), |asked| asked.account.clone())
            }
            GroupBy::Partition => {
                let shapes = workload.shapes.as_ref()?;
                // The names are those of the machine, not of the log.
                RequestClasses::by_name(workload, true, |asked| partitions(asked, shapes.cluster()))
            }
            _ => return None,
        })
    }

    /// Classes with names, in the order of their first requests.
    fn by_name(workload: &Workload, are_shown: bool, name: impl Fn(&Request) -> String) -> RequestClasses {
        let (mut classes, mut names) = (LiteMap::<String, i64>::new(), Vec::new());
        let mut class = |name: String| match name.is_empty() {
            true => 0,
            false => *classes.entry(name.clone()).or_insert_with(|| {
                names.push(name);
                names.len() as i64
            }),
        };
        let of_request = workload.requests.all().iter().map(|request| class(name(request))).collect();
        let names = match are_shown {
            true => shown_texts(&names),
            false => (1..=names.len()).map(|number| number.to_string()).collect(),
        };
        RequestClasses { of_request, of_others: 0, names }
    }

    /// The class of a request.
    #[inline]
    pub fn class(&self, request: RequestId) -> i64 {
        request.index().map_or(self.of_others, |at| self.of_request[at])
    }

    /// The name of a class.
    pub fn value(&self, by: GroupBy, class: i64) -> String {
        match by {
            GroupBy::Device(_) if class == 0 => "0".to_string(),
            GroupBy::Device(_) => width_class_name(class - 1),
            GroupBy::Memory => memory_class_name(class),
            _ if class == 0 => "unknown".to_string(),
            _ => self.names[class as usize - 1].clone(),
        }
    }
}

/// The partitions that a job may run in, as Slurm writes them.
fn partitions(request: &Request, cluster: &Cluster) -> String {
    match (request.partitions.is_empty(), cluster.default_partition()) {
        (true, Some(default)) => cluster.partitions[default].name.clone(),
        _ => request.partitions.join(","),
    }
}

/// 0 for none, 1 for one, 2 for two, 3 for three and four.
fn device_class(count: u64) -> i64 {
    match u32::try_from(count).unwrap_or(u32::MAX) {
        0 => 0,
        count => 1 + width_class(count),
    }
}

fn memory_class(memory: Option<u64>) -> i64 {
    let class = memory.map(|memory| MEMORIES.iter().filter(|&&largest| largest < memory).count());
    class.unwrap_or(MEMORIES.len() + 1) as i64
}

fn memory_class_name(class: i64) -> String {
    match MEMORIES.get(class as usize) {
        Some(&largest) => format!("up to {}", print_memory(largest)),
        None if class as usize == MEMORIES.len() => "more".to_string(),
        None => "unsaid".to_string(),
    }
}

impl GroupBy {
    /// What jobs must ask for so that there are groups by this key, in words. None if every log has groups.
    fn asks_for(self) -> Option<&'static str> {
        match self {
            GroupBy::Qos => Some("a QOS"),
            GroupBy::Account => Some("an account"),
            GroupBy::Device(kind) => Some(kind.many()),
            GroupBy::Memory => Some("memory"),
            _ => None,
        }
    }

    /// Whether a request has that.
    fn is_asked(self, request: &Request) -> bool {
        match self {
            GroupBy::Qos => !request.qos.is_empty(),
            GroupBy::Account => !request.account.is_empty(),
            GroupBy::Device(kind) => request.all_of(kind) > 0,
            GroupBy::Memory => request.all_memory().is_some(),
            _ => true,
        }
    }

    /// Whether the jobs of a workload have what this key is about.
    pub fn is_known(self, workload: &Workload) -> bool {
        self.asks_for().is_none() || workload.requests.all().iter().any(|request| self.is_asked(request))
    }

    /// Checks that the jobs of a workload have what this key is about.
    ///
    /// # Errors
    /// If not. The message says which keys there are.
    pub fn check(self, workload: &Workload) -> Result<(), String> {
        let Some(what) = self.asks_for().filter(|_| !self.is_known(workload)) else { return Ok(()) };
        let known: Vec<&str> = GroupBy::all().filter(|by| by.is_known(workload)).map(GroupBy::name).collect();
        let (key, label, known) = (self.name(), &workload.label, known.join(", "));
        Err(format!(
            "no job of {label} asks for {what}, so there are no groups by {key}: this log has {known}; see `sim help logs`, \
             \"What jobs ask for\""
        ))
    }
}
