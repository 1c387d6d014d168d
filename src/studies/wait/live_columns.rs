//! Live answers as rows of named cells.

use super::live_report::{LiveJob, LiveReport};
use super::sample::WaitSample;
use crate::metrics::{Cell, Cells, Column, Given, cells, column_list};
use crate::time::Time;

impl LiveReport<'_> {
    /// The jobs as rows. `seed` is that of the random numbers.
    pub fn rows(&self, seed: u64) -> Vec<Cells> {
        let columns = live_columns();
        self.jobs.iter().map(|job| cells(&columns, &LiveRow { report: self, job, seed }, Given::default())).collect()
    }
}

/// A job of the present queue as a row.
pub struct LiveRow<'a> {
    report: &'a LiveReport<'a>,
    job: &'a LiveJob,
    seed: u64,
}

impl LiveRow<'_> {
    fn sample(&self) -> Option<&WaitSample> {
        self.report.wait(self.job).map(|answer| &answer.sample)
    }

    /// The wait from now on that is not exceeded with this probability.
    fn wait(&self, level: f64) -> Cell {
        self.sample().map(|sample| Cell::Whole(sample.quantile(level))).into()
    }

    /// The end of this wait.
    fn start(&self, level: f64) -> Cell {
        self.sample().map(|sample| self.time(self.report.now + sample.quantile(level))).into()
    }

    /// Unix times if the log says when it begins, and seconds of the log otherwise.
    fn time(&self, time: Time) -> Cell {
        Cell::Whole(self.report.unix_start.unwrap_or(0) + time)
    }

    /// The wait within which 95% of the judged jobs of its kind started.
    fn held95(&self) -> Cell {
        let test = self.report.answer.back_test(self.report.age(self.job));
        self.sample().and_then(|_| test.within(0.95)).into()
    }

    fn name(&self) -> Cell {
        let name = &self.job.name;
        match name.parse() {
            Ok(number) => Cell::Whole(number),
            Err(_) if name.is_empty() => Cell::None,
            Err(_) => Cell::Text(name.clone()),
        }
    }
}

/// The columns of answers for one job or a queue.
pub fn live_columns<'a>() -> Vec<Column<LiveRow<'a>>> {
    Vec::from(column_list! {
        |row: LiveRow<'a>|
        key "job" "its id at the site, or its number in the log" row.name();
        label "stage" "waiting or held" if row.job.place.is_some() { "waiting" } else { "held" };
        label "procs" "processors" row.job.submission.procs;
        label "estimate" "the user's estimate in seconds" row.job.submission.estimate;
        label "submit" "when it was submitted" row.time(row.job.submission.submit);
        label "waited" "seconds from then to now" (row.report.now - row.job.submission.submit).max(0);
        duration "wait50" "seconds from now on that it waits at most with this probability" row.wait(0.5);
        duration "wait80" "seconds from now on that it waits at most with this probability" row.wait(0.8);
        duration "wait95" "seconds from now on that it waits at most with this probability" row.wait(0.95);
        text "reliable" "whether the time for 95% held for past jobs: yes, no, or unknown"
            row.report.reliability(row.job).map(|reliability| reliability.word());
        label "doubt" "why the past does not tell that"
            row.report.reliability(row.job).and_then(|reliability| reliability.doubt().map(str::to_string));
        duration "held95" "seconds within which 95% of the judged past jobs started, if so many did" row.held95();
        duration "simulated50" "seconds that it waits at most in half of the simulations"
            row.report.wait(row.job).map(|answer| answer.simulated);
        count "start50" "when wait50 ends" row.start(0.5);
        count "start80" "when wait80 ends" row.start(0.8);
        count "start95" "when wait95 ends" row.start(0.95);
        duration "class_from" "the least wait of the most probable range"
            row.sample().map(|sample| sample.class().bounds().0);
        duration "class_to" "its longest wait; the last range has no end"
            row.sample().and_then(|sample| sample.class().bounds().1);
        fraction "class_probability" "its probability"
            row.sample().map(|sample| sample.probabilities()[sample.class().index()]);
        label "after" "the outage after which it starts in all simulations"
            row.report.wait(row.job).and_then(|answer| row.report.after(answer));
        label "expected_start" "the start that the site's own scheduler expects"
            row.job.expected.map(|expected| row.time(expected));
        label "reason" "why it is held" row.job.reason.clone();
        label "user" "its user, with --names" row.job.names.user.clone();
        label "queue" "its queue, with --names" row.job.names.queue.clone();
        label "partition" "its partition, with --names" row.job.names.partition.clone();
        label "now" "the present instant" row.time(row.report.now);
        label "wait" "what a job of the log waited" row.report.actual;
        label "seed" "of the random numbers" row.seed;
    })
}
