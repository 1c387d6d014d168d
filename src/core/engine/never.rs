//! Jobs that can never start: counted by cause.

use crate::job::JobId;
use crate::schedule::NeverStarts;
use crate::text::{counted, grouped};

/// How many causes are named in words.
const MOST_NAMED: usize = 4;

/// The jobs of a run that its scheduler can never start, so that they were dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NeverStarted {
    /// In the order in which they were found.
    causes: Vec<NeverCause>,
    /// The jobs, each with the place of its cause.
    jobs: Vec<(JobId, usize)>,
}

/// A cause, with the jobs that it keeps from starting.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NeverCause {
    why: NeverStarts,
    jobs: u64,
    /// The number in the log of the first of them.
    first: i64,
}

impl NeverStarted {
    pub(super) fn add(&mut self, id: JobId, number: i64, why: NeverStarts) {
        let known = self.causes.iter().position(|known| known.why.cause == why.cause);
        let at = known.unwrap_or_else(|| {
            self.causes.push(NeverCause { why, jobs: 0, first: number });
            self.causes.len() - 1
        });
        self.causes[at].jobs += 1;
        self.jobs.push((id, at));
    }

    /// Their number.
    pub fn count(&self) -> u64 {
        self.jobs.len() as u64
    }

    /// The jobs, each with its cause.
    pub fn jobs(&self) -> impl Iterator<Item = (JobId, &str)> {
        self.jobs.iter().map(|&(id, at)| (id, self.causes[at].why.cause.as_str()))
    }

    /// The causes with their counts, the most frequent first: `2 jobs: QOS a: MaxTRES cpu=4, the first is job 7: it asks for 6`.
    pub fn in_words(&self) -> String {
        let mut causes: Vec<&NeverCause> = self.causes.iter().collect();
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.jobs));
        let one = |cause: &&NeverCause| {
            let NeverCause { why: NeverStarts { cause, asks }, jobs, first } = cause;
            let asks = if asks.is_empty() { String::new() } else { format!(": {asks}") };
            match jobs {
                1 => format!("job {first}: {cause}{}", asks.replacen(':', ",", 1)),
                jobs => format!("{}: {cause}, the first is job {first}{asks}", counted(*jobs, "job")),
            }
        };
        let mut words: Vec<String> = causes.iter().take(MOST_NAMED).map(one).collect();
        if let Some(others) = causes.get(MOST_NAMED..).filter(|others| !others.is_empty()) {
            let jobs = others.iter().map(|cause| cause.jobs).sum();
            words.push(format!("{}: {} other causes", counted(jobs, "job"), grouped(others.len() as u64)));
        }
        words.join("; ")
    }
}
