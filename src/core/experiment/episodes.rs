//! Episodes: parts of a workload that a caller plays, from an empty machine or from one that is in use.

use std::collections::VecDeque;

use super::run::Setting;
use crate::engine::{Event, Gate, Observer};
use crate::job::{Job, JobId};
use crate::machine::NodeGrant;
use crate::schedule::{Episode, Machine, WarmStart};
use crate::text::counted;
use crate::time::Time;
use crate::trace::Workload;

/// The episodes of a workload.
pub struct Episodes<'a> {
    workload: &'a Workload,
    /// All starts under `easy/estimate`, in their order. None until they are needed. The machine at any instant follows from
    /// them: a start does not depend on later jobs.
    starts: Option<Vec<PlainStart>>,
    /// Whether jobs have conditions, so that they cannot be simulated without the others.
    is_gated: bool,
}

/// A start under `easy/estimate`.
struct PlainStart {
    time: Time,
    job: JobId,
    grant: NodeGrant,
}

/// What is simulated in an episode.
pub struct EpisodeRun {
    /// The jobs that wait or run when it begins, and its own.
    pub workload: Workload,
    /// The number of jobs at the beginning of the workload that are not its own.
    pub others: usize,
    /// How the jobs that run when it begins have started. None if it begins with an empty machine.
    pub warm: Option<WarmStart>,
}

impl<'a> Episodes<'a> {
    /// Episodes of this workload.
    pub fn new(workload: &'a Workload) -> Episodes<'a> {
        Episodes { workload, starts: None, is_gated: Gate::of(workload).is_some() }
    }

    /// What is simulated in an episode.
    ///
    /// # Errors
    /// If the workload has no such jobs, or its jobs depend on each other, or users react.
    pub fn run(&mut self, episode: &Episode) -> Result<EpisodeRun, String> {
        let Episode { first_job, jobs, warm } = *episode;
        let workload = self.workload;
        let all = &workload.jobs;
        let Some(own) = first_job.checked_add(jobs).and_then(|end| all.get(first_job..end)).filter(|_| jobs > 0) else {
            let (asked, known) = (counted(jobs as u64, "job"), counted(all.len() as u64, "job"));
            return Err(format!("an episode of {asked} from job {first_job} on: the workload has {known}, from 0 on"));
        };
        if workload.feedback.is_some() {
            return Err("an episode cannot be played with --feedback: its jobs follow jobs outside of it".to_string());
        }
        if self.is_gated {
            return Err("an episode cannot be played on a log whose jobs depend on each other or are held".to_string());
        }
        let begin = own[0].submission.submit;
        let (mut before, mut warm_start) = (Vec::new(), None);
        if warm {
            let starts = self.starts()?;
            (before, warm_start) = at_begin(&all[..first_job], starts, begin);
        }
        let others = before.len();
        let jobs = before.into_iter().map(|at| all[at]).chain(own.iter().copied()).collect();
        Ok(EpisodeRun { workload: workload.with_jobs(jobs), others, warm: warm_start })
    }

    /// Finds all starts once.
    fn starts(&mut self) -> Result<&[PlainStart], String> {
        struct StartList(Vec<PlainStart>);

        impl Observer for StartList {
            fn on(&mut self, time: Time, event: &Event<'_>, _machine: &Machine) {
                if let Event::Start(start) = event {
                    self.0.push(PlainStart { time, job: start.job.id, grant: start.grant.to_vec() });
                }
            }
        }

        if self.starts.is_none() {
            let mut recorder = StartList(Vec::with_capacity(self.workload.jobs.len()));
            let plain = Setting::parse("easy", "estimate").map_err(|error| error.to_string())?;
            plain.run(self.workload, Some(&mut recorder), &mut |_| ()).map_err(|error| error.to_string())?;
            self.starts = Some(recorder.0);
        }
        Ok(self.starts.as_deref().unwrap_or_default())
    }
}

/// The jobs that wait or run just before an instant, or that arrive then, and how those that run have started.
fn at_begin(jobs: &[Job], starts: &[PlainStart], begin: Time) -> (Vec<usize>, Option<WarmStart>) {
    // Starts are in order of time, and no job starts before it is submitted.
    let mut is_waiting = vec![true; jobs.len()];
    let mut running = Vec::new();
    for start in starts.iter().take_while(|start| start.time < begin) {
        let at = start.job.index();
        is_waiting[at] = false;
        // A job that ends at this very instant still runs before it.
        if start.time + jobs[at].runtime >= begin {
            running.push(start);
        }
    }
    let mut there: Vec<usize> = (0..jobs.len()).filter(|&at| is_waiting[at]).collect();
    there.extend(running.iter().map(|start| start.job.index()));
    there.sort_unstable();
    let place = |job: JobId| there.binary_search(&job.index()).expect("it runs");
    let warm = running.iter().map(|start| (start.time, JobId(place(start.job) as u32), start.grant.clone()));
    let warm: VecDeque<_> = warm.collect();
    (there, Some(WarmStart { until: begin, starts: warm }))
}
