//! Live answers as rows of named cells, and as text for people.

use std::io::{self, Write};

use super::live::{FEW_ANSWERS, JUDGED_EVERY, LiveAnswer};
use super::sample::WaitSample;
use crate::job::Submission;
use crate::metrics::{Cell, Cells, Column, cells, column_list};
use crate::report::{Table, counted, grouped, percent, write_wrapped};
use crate::text::{counted_as, printable};
use crate::time::{DAY, HOUR, MINUTE, Seconds, Time, date, readable_duration};
use crate::trace::Zone;

/// A job of the present queue that waits.
#[derive(Clone, Debug)]
pub struct LiveJob {
    /// Its id at the site, or its number in the log; empty for a job that is only asked about.
    pub name: String,
    /// As it was submitted.
    pub submission: Submission,
    /// The start that the site's scheduler expects, if it says one.
    pub expected: Option<Time>,
    /// The place of its answer. None if it is held: it would not start even if processors were free.
    pub place: Option<usize>,
    /// Why it is held.
    pub reason: Option<String>,
}

/// Everything about an answer that is printed.
pub struct LiveReport<'a> {
    /// What was asked, in words.
    pub title: String,
    /// The present instant, in the time of the log.
    pub now: Time,
    /// The Unix time of the log's time 0. None if it is not known: then no dates are printed.
    pub unix_start: Option<Time>,
    /// For dates.
    pub zone: &'a Zone,
    /// The number of jobs that run and that wait, and the processors in use.
    pub running: usize,
    /// Not counting the asked job.
    pub waiting: usize,
    /// Processors in use.
    pub occupied: u64,
    /// The processors of the machine.
    pub procs: u32,
    /// The jobs that are answered for or held, in the order of the queue.
    pub jobs: &'a [LiveJob],
    /// Whether one job was asked about, which is the only one here.
    pub asked: bool,
    /// What that job waited, if it is a job of the past.
    pub actual: Option<Seconds>,
    /// The answers.
    pub answer: &'a LiveAnswer,
}

/// The levels of an answer: "start at 50%, 80% and 95%".
const SHOWN: [(f64, &str); 3] = [(0.5, "50%"), (0.8, "80%"), (0.95, "95%")];

/// Of fewer drawn waits even the longest is exceeded with a probability above 5%.
const FEWEST_DRAWS: usize = 19;

impl LiveReport<'_> {
    /// `2026-01-31 18:30`; of today only `18:30`. None if the log does not say when it begins.
    fn clock(&self, time: Time) -> Option<String> {
        let unix_start = self.unix_start?;
        let mut clock = self.zone.clock();
        let (local, today) = (clock.local(unix_start + time), clock.local(unix_start + self.now));
        let hours = format!("{:02}:{:02}", local.rem_euclid(DAY) / HOUR, local.rem_euclid(HOUR) / MINUTE);
        Some(match local.div_euclid(DAY) == today.div_euclid(DAY) {
            true => hours,
            false => format!("{} {hours}", date(local)),
        })
    }

    /// The end of a wait that begins now: `18:30`, or `in 2h 10m` if dates are not known. The minute is not over before the wait.
    fn by(&self, wait: Seconds) -> String {
        match wait {
            0 => "now".to_string(),
            _ => self.clock(self.now + wait + MINUTE - 1).unwrap_or_else(|| format!("in {}", duration(wait))),
        }
    }

    /// "most likely (80%) within 40 minutes; 95% sure by 18:30".
    fn bottom_line(&self, sample: &WaitSample) -> String {
        match (sample.quantile(0.8), sample.quantile(0.95)) {
            (0, 0) => "it starts at once; 95% sure".to_string(),
            (likely, sure) => {
                let likely = if likely == 0 { "at once".to_string() } else { format!("within {}", duration(likely)) };
                let sure = match self.clock(self.now + sure + MINUTE - 1) {
                    Some(clock) => format!("by {clock}"),
                    None => format!("within {}", duration(sure)),
                };
                format!("most likely (80%) {likely}; 95% sure {sure}")
            }
        }
    }

    /// The jobs as rows. `seed` is that of the random numbers.
    pub fn rows(&self, seed: u64) -> Vec<Cells> {
        let columns = live_columns();
        self.jobs.iter().map(|job| cells(&columns, &LiveRow { report: self, job, seed }, &[])).collect()
    }

    /// Writes the answer as text.
    pub fn write(&self, out: &mut dyn Write, width: usize) -> io::Result<()> {
        write_wrapped(out, "", &printable(&self.title), width)?;
        let (waiting, running) = (counted(self.waiting as u64, "job"), counted(self.running as u64, "job"));
        let (used, all) = (grouped(self.occupied), counted(u64::from(self.procs), "processor"));
        let now = match self.clock_with_zone() {
            Some(clock) => format!("{clock}: "),
            None => String::new(),
        };
        write_wrapped(out, "", &format!("{now}{waiting} waiting, {running} running on {used} of {all}"), width)?;
        writeln!(out)?;
        match self.asked {
            true => self.write_asked(out, width)?,
            false => self.write_queue(out, width)?,
        }
        writeln!(out)?;
        self.write_record(out, width)
    }

    fn clock_with_zone(&self) -> Option<String> {
        let local = self.zone.clock().local(self.unix_start? + self.now);
        let hours = format!("{:02}:{:02}", local.rem_euclid(DAY) / HOUR, local.rem_euclid(HOUR) / MINUTE);
        Some(format!("{} {hours} ({})", date(local), printable(self.zone.name())))
    }

    fn write_asked(&self, out: &mut dyn Write, width: usize) -> io::Result<()> {
        for sample in self.jobs.iter().filter_map(|job| job.place).map(|place| &self.answer.waits[place]) {
            write_wrapped(out, "", &self.bottom_line(sample), width)?;
            writeln!(out)?;
            let mut table = Table::default();
            table.headings(["it has started with probability", "within", "by"]);
            for (level, name) in SHOWN {
                let wait = sample.quantile(level);
                table.push(vec![name.to_string(), duration(wait), self.by(wait)]);
            }
            table.write(out, width)?;
        }
        if let Some(actual) = self.actual {
            writeln!(out)?;
            writeln!(out, "it waited {}", readable_duration(actual as f64))?;
        }
        Ok(())
    }

    fn write_queue(&self, out: &mut dyn Write, width: usize) -> io::Result<()> {
        let answered: Vec<(&LiveJob, &WaitSample)> =
            self.jobs.iter().filter_map(|job| Some((job, &self.answer.waits[job.place?]))).collect();
        if answered.is_empty() {
            writeln!(out, "no job waits for processors")?;
        } else {
            let within = |longest: Seconds| {
                grouped(answered.iter().filter(|(_, sample)| sample.quantile(0.8) <= longest).count() as u64)
            };
            let waiting = counted(self.waiting as u64, "waiting job");
            let all = match answered.len() == self.waiting {
                true => waiting,
                false => format!("{} of {waiting}", grouped(answered.len() as u64)),
            };
            let bottom = format!(
                "{all}: most likely (80%) started within an hour {}, within 6 hours {}, within a day {}",
                within(HOUR),
                within(6 * HOUR),
                within(DAY)
            );
            write_wrapped(out, "", &bottom, width)?;
            writeln!(out)?;
            let mut table = Table::default();
            let headings = ["job", "processors", "estimate", "has waited", "50%: by", "80%: by", "95%: by"];
            let expects = answered.iter().any(|(job, _)| job.expected.is_some());
            table.headings(headings.into_iter().chain(expects.then_some("site expects")));
            for (job, sample) in answered {
                let mut cells = vec![
                    printable(&job.name).into_owned(),
                    grouped(u64::from(job.submission.procs)),
                    duration(job.submission.estimate),
                    duration((self.now - job.submission.submit).max(0)),
                ];
                cells.extend(SHOWN.map(|(level, _)| self.by(sample.quantile(level))));
                if expects {
                    let expected = job.expected.map(|time| self.by((time - self.now).max(0)));
                    cells.push(expected.unwrap_or("-".to_string()));
                }
                table.push(cells);
            }
            table.write(out, width)?;
        }
        let held: Vec<String> = self
            .jobs
            .iter()
            .filter(|job| job.place.is_none())
            .map(|job| format!("{} ({})", printable(&job.name), printable(job.reason.as_deref().unwrap_or("held"))))
            .collect();
        if !held.is_empty() {
            writeln!(out)?;
            let (count, jobs) = (counted(held.len() as u64, "job"), held.join(", "));
            write_wrapped(out, "", &format!("{count} held, not waiting for processors: {jobs}"), width)?;
        }
        Ok(())
    }

    /// How good such answers were lately.
    fn write_record(&self, out: &mut dyn Write, width: usize) -> io::Result<()> {
        let record = &self.answer.record;
        if record.predictions == 0 {
            let text = "how good such answers are is not known: the log has too few jobs before now";
            return write_wrapped(out, "", text, width);
        }
        let share = |share: &super::figures::HitRate| percent(share.percent() / 100.0);
        let text = format!(
            "How good such answers were when jobs arrived: of {} (every {JUDGED_EVERY}th of the last {}), {} started by the time given for 50%, {} \
             by that for 80% and {} by that for 95%. The time for 50% was {} off on average; within 10 minutes for {}, \
             within a factor of 2 for {}.",
            counted_as(record.predictions, "past job", "past jobs"),
            grouped(self.answer.judged_of as u64),
            share(&record.bounds[0]),
            share(&record.bounds[1]),
            share(&record.bounds[3]),
            readable_duration(record.mean_error()),
            share(&record.within_minutes[1]),
            share(&record.within_factors[0]),
        );
        write_wrapped(out, "", &text, width)
    }

    /// For how many of these jobs the answer is recalibrated.
    pub fn recalibrated(&self) -> usize {
        self.jobs.iter().filter(|job| job.place.is_some_and(|place| self.answer.recalibrated[place])).count()
    }

    /// Why the answer may be worth little, in sentences. `recalibrated` is what was asked for.
    pub fn weaknesses(&self, recalibrated: bool) -> Vec<String> {
        let mut weak = Vec::new();
        if !recalibrated && self.answer.draws < FEWEST_DRAWS {
            let draws = counted(self.answer.draws as u64, "simulation");
            weak.push(format!("{draws} cannot tell a time for 95%: at least {FEWEST_DRAWS} are needed (see --draws)"));
        }
        let simulated =
            self.jobs.len() - self.recalibrated() - self.jobs.iter().filter(|job| job.place.is_none()).count();
        if recalibrated && simulated > 0 {
            let jobs = counted_as(simulated as u64, "job", "jobs");
            weak.push(format!(
                "too few past jobs waited as long as {jobs}: the times of these are as simulated, not recalibrated"
            ));
        }
        if recalibrated && self.answer.past < FEW_ANSWERS {
            let past = counted_as(self.answer.past as u64, "past answer", "past answers");
            weak.push(format!("the ranges come from only {past}: at least {FEW_ANSWERS} are needed to trust them"));
        }
        let (widest, longest) = self.answer.largest;
        let answered = || self.jobs.iter().filter(|job| job.place.is_some()).map(|job| &job.submission);
        let wider = answered().filter(|job| job.procs > widest).count();
        let longer = answered().filter(|job| job.estimate > longest).count();
        let unlike = |count: usize, what: &str, limit: String| {
            let jobs = counted_as(count as u64, "job asks", "jobs ask");
            format!("{jobs} for {what} than any past job that was looked at ({limit}): that answer is a guess")
        };
        if recalibrated && self.answer.past > 0 {
            if wider > 0 {
                weak.push(unlike(wider, "more processors", counted(u64::from(widest), "processor")));
            }
            if longer > 0 {
                weak.push(unlike(longer, "a longer time", duration(longest)));
            }
        }
        weak
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
        self.job.place.map(|place| &self.report.answer.waits[place])
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
        count "start50" "when that wait ends" row.start(0.5);
        count "start80" "when that wait ends" row.start(0.8);
        count "start95" "when that wait ends" row.start(0.95);
        duration "class_from" "the least wait of the most probable range"
            row.sample().map(|sample| sample.class().bounds().0);
        duration "class_to" "its longest wait; the last range has no end"
            row.sample().and_then(|sample| sample.class().bounds().1);
        fraction "class_probability" "its probability"
            row.sample().map(|sample| sample.probabilities()[sample.class().index()]);
        label "expected_start" "the start that the site's own scheduler expects"
            row.job.expected.map(|expected| row.time(expected));
        label "reason" "why it is held" row.job.reason.clone();
        label "now" "the present instant" row.time(row.report.now);
        label "wait" "what a job of the log waited" row.report.actual;
        label "seed" "of the random numbers" row.seed;
    })
}

fn duration(seconds: Seconds) -> String {
    readable_duration(seconds as f64)
}
