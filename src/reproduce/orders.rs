//! Orders of the queue: Table V of Zhang, Dai, He, Bao and Xie, "RLScheduler: an automated HPC batch job scheduler using
//! reinforcement learning" (SC'20), as the README of its program has it.

use crate::experiment::{Options, Setting, simulate};
use crate::metrics::{Measure, summarize};
use crate::parallel;
use crate::trace::{Workload, read};

use super::figure::Figure;
use super::logs::{ArchiveLog, FoundLog, HPC2N, SDSC_SP2};
use super::study::{Setup, Study, StudyError, StudyForm};

/// The logs of the table that are real.
pub const ORDERS_LOGS: [ArchiveLog; 2] = [SDSC_SP2, HPC2N];

pub(super) const FORM: StudyForm = StudyForm {
    name: "orders",
    paper: "Zhang, Dai, He, Bao and Xie: orders of the queue, with and without backfilling",
    logs: &ORDERS_LOGS,
    build: |setup| Ok(Box::new(Orders { setup, windows: 10 })),
};

/// The jobs of a window.
const WINDOW: usize = 1024;

/// The orders: the name in the table, and ours.
const NAMES: [(&str, &str); 5] =
    [("FCFS", "fcfs"), ("WFP3", "wfp3"), ("UNICEF", "unicef"), ("SJF", "spf"), ("F1", "f1")];

/// The mean bounded slowdowns of each log, first without and then with backfilling.
const PUBLISHED: [[[&str; NAMES.len()]; 2]; ORDERS_LOGS.len()] = [
    [["1727.54", "3000.88", "1848.45", "2680.55", "1232.06"], ["1595.12", "1083.12", "548.01", "2167.84", "1098.22"]],
    [["297.18", "426.99", "609.77", "157.71", "118.01"], ["127.38", "97.39", "175.12", "122.04", "71.95"]],
];

const REASON: &str =
    "the windows of the paper are not recorded, and slowdowns of windows differ by orders of magnitude";

/// The study on the logs that were found.
pub struct Orders {
    /// The logs and the threads.
    pub setup: Setup,
    /// The number of consecutive windows, from the first job on.
    pub windows: usize,
}

impl Study for Orders {
    fn name(&self) -> &'static str {
        FORM.name
    }

    fn logs(&self) -> &[FoundLog] {
        &self.setup.logs
    }

    fn steps(&self) -> (usize, &'static str) {
        (self.setup.logs.len() * NAMES.len() * 2, "orders")
    }

    fn figures(&self, progress: &(dyn Fn(usize) + Sync)) -> Result<Vec<Figure>, StudyError> {
        let mut logs = Vec::new();
        for found in &self.setup.logs {
            let options = Options::default();
            let workload = options.clean_out(&mut read(&found.source(), options.read_options(), &mut |_| ())?)?;
            let windows: Vec<Workload> = windows(&workload, self.windows).collect();
            if windows.len() < self.windows {
                let why = format!("{} has fewer than {} jobs", found.log.name, self.windows * WINDOW);
                return Err(StudyError::Usage(why));
            }
            logs.push((found, windows));
        }
        let mut cases = Vec::new();
        for log in &logs {
            for (backfilling, scheduler) in ["fcfs", "easy"].into_iter().enumerate() {
                cases.extend((0..NAMES.len()).map(|order| (log, backfilling, scheduler, order)));
            }
        }
        type Case<'a> = (&'a (&'a FoundLog, Vec<Workload>), usize, &'static str, usize);
        let figure = |((found, windows), backfilling, scheduler, order): &Case<'_>| {
            let (name, ours) = NAMES[*order];
            let setting = Setting::parse(&format!("{scheduler}:queue={ours}"), "estimate").expect("a valid setting");
            let slowdown = |window: &Workload| -> Result<f64, StudyError> {
                Ok(summarize(window, &simulate(window, &setting, &mut |_| ())?, &Measure::default()).bsld_mean)
            };
            let values = windows.iter().map(slowdown).collect::<Result<Vec<f64>, _>>()?;
            let log = ORDERS_LOGS.iter().position(|log| *log == found.log).expect("a log of the study");
            let table = ["bounded slowdown without backfilling", "bounded slowdown with backfilling"][*backfilling];
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let note = format!("mean of {} consecutive windows of {WINDOW} jobs, from the first job on", values.len());
            let figure = Figure::new((table, found.log.name, name), PUBLISHED[log][*backfilling][*order], mean, &note);
            Ok(figure.over(&values).because(REASON))
        };
        parallel::map(&cases, self.setup.threads, figure, progress).into_iter().collect()
    }
}

/// The first windows of a log. Each begins with an empty machine.
fn windows(workload: &Workload, most: usize) -> impl Iterator<Item = Workload> + '_ {
    let empty = Workload { jobs: Vec::new(), ..workload.clone() };
    let windows = workload.jobs.chunks_exact(WINDOW).take(most);
    windows.map(move |jobs| Workload { jobs: jobs.to_vec(), ..empty.clone() })
}
